/*
 * labgrow.c PART LWPS CHANCE - the pool grows when its LWPs are blocked in the kernel.
 *
 * A thread blocks its LWP by a read from a pipe of its own, which another thread ends by a write.
 * The first thread of the program is unbound; it plays the part, and waits in the kernel too.
 */
#include "labthreads.h"
#include <sys/resource.h>

#define LWPS 40      /* at most */
#define SOON 200000l /* ns within which an LWP is added */

extern int __pool_size; /* LWPs of the pool, as the library counts them */

static unsigned lwps;
static int pipes[LWPS + 1][2];
static volatile int64_t began[LWPS];
static volatile unsigned started, ended, computing, most_computing;
static volatile bool stop;
static volatile int64_t compute_until = INT64_MAX, size_at_stop;

#define MAIN LWPS /* the pipe of the first thread */

static void block_in_read(unsigned me)
{
	char byte;

	while (read(pipes[me][0], &byte, 1) != 1)
		;
}

static void release(unsigned who)
{
	if (write(pipes[who][1], "", 1) != 1)
		test_fails("write fails: %ld", errno, 0, 0);
}

static void begins(unsigned me)
{
	began[me] = gethrtime();
	__atomic_add_fetch(&started, 1, __ATOMIC_ACQ_REL);
}

static void *reads(void *arg)
{
	unsigned me = (uintptr_t)arg;

	begins(me);
	block_in_read(me);
	__atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

static void *sleeps(void *arg)
{
	begins((uintptr_t)arg);
	nap(20 * MS);
	__atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

/* The last in the run queue: lets the first thread go on. */
static void *calls_main(void *arg)
{
	begins((uintptr_t)arg);
	release(MAIN);
	__atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

static void *computes(void *arg)
{
	begins((uintptr_t)arg);
	unsigned n = __atomic_add_fetch(&computing, 1, __ATOMIC_ACQ_REL);
	unsigned most = now_in(&most_computing);

	while (n > most && !__atomic_compare_exchange_n(&most_computing, &most, n, false,
							__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		if (gethrtime() > compute_until) {
			size_at_stop = __pool_size;
			__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
			release(MAIN);
		}
	__atomic_sub_fetch(&computing, 1, __ATOMIC_ACQ_REL);
	__atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

/* The LWPs that the kernel has, of the whole process. */
static unsigned lwps_of_process(void)
{
	struct lwp_info info;
	unsigned n = 0;

	for (uint32_t id = 1; __sys_lwp_info(__sys_getpid(), id, &info) >= 0 && info.id >= id;
	     id = info.id + 1)
		n += info.state != LWP_ST_ZOMB;
	return n;
}

static void size_is(long before, long added, const char *text)
{
	EXPECT3(__pool_size == before + added, text, __pool_size, before + added, 0);
}

/*
 * lwps threads block one after the other, each on an LWP that was added when the one before it had
 * blocked.  The last one lets the first thread go on.
 */
static void grow_by_reads(void *(*fn)(void *), int64_t within)
{
	unsigned processes = lwps_of_process();
	long size = __pool_size, added = lwps - (size - 1); /* one LWP runs the caller */
	int64_t last;

	started = ended = 0;
	for (unsigned i = 0; i < lwps; i++)
		make(i + 1 < lwps ? fn : calls_main, i);
	last = gethrtime();
	block_in_read(MAIN);
	EXPECT3(started == lwps, "%ld of %ld threads have run", started, lwps, 0);
	for (unsigned i = 0; i < lwps; i++) {
		EXPECT3(began[i] - last < within,
			"thread %ld of %ld has got an LWP %ld ns after all LWPs were blocked",
			i + 1, lwps, began[i] - last);
		last = began[i];
	}
	/* The first LWP waits for the pipe, each thread but the last for its own. */
	size_is(size, added, "the pool has %ld LWPs, not %ld: one for each thread is enough");
	EXPECT3(lwps_of_process() == processes + added,
		"the process has %ld LWPs, and had %ld before the pool grew by %ld",
		lwps_of_process(), processes, added);
}

static void release_all(void)
{
	for (unsigned i = 0; i + 1 < lwps; i++)
		release(i);
	join_all();
}

static void part_blocked(void)
{
	grow_by_reads(reads, SOON);
	release_all();
	/* The LWPs are there now, and are used again. */
	long size = __pool_size;
	for (int round = 0; round < 10; round++) {
		started = ended = 0;
		for (unsigned i = 0; i < lwps; i++)
			make(i + 1 < lwps ? reads : calls_main, i);
		block_in_read(MAIN);
		release_all();
		size_is(size, 0, "the pool has %ld LWPs, not %ld: idle LWPs are to be used again");
	}
}

static void part_timed(void)
{
	grow_by_reads(sleeps, SOON);
	join_all();
}

/* With waiting=signal a sleep with a deadline is no reason for an LWP. */
static void part_signal(void)
{
	long size = __pool_size;

	make(calls_main, 0);
	nap(10 * MS);
	EXPECT(started == 0,
	       "a thread gets an LWP of its own while the only LWP sleeps with a "
	       "deadline: SIGWAITING is not sent then (%ld)",
	       __pool_size);
	size_is(size, 0, "the pool has %ld LWPs, not %ld: SIGWAITING was not sent yet");
	block_in_read(MAIN);
	join_all();
	grow_by_reads(reads, SOON);
	release_all();
}

static sem_t told, gate;

static void *waits_at_gate(void *arg)
{
	sem_post(&told);
	sem_wait(&gate);
	return NULL;
}

/* All LWPs block again and again, with no thread in the run queue. */
static void part_needed(void)
{
	long size = __pool_size;

	for (unsigned i = 0; i < lwps; i++)
		make(waits_at_gate, i);
	for (unsigned i = 0; i < lwps; i++)
		sem_wait(&told);
	for (int i = 0; i < 20; i++)
		nap(100000);
	size_is(size, 0,
		"the pool has %ld LWPs, not %ld: there was no thread in the run queue for more");
	for (unsigned i = 0; i < lwps; i++)
		sem_post(&gate);
	join_all();
	grow_by_reads(reads, SOON);
	release_all();
}

static struct rlimit no_limit;

/*
 * Of a bound thread: memory comes back.  From then on the thread computes, so that the kernel has no
 * reason to say again that all LWPs are blocked.
 */
static void *raises_limit(void *arg)
{
	nap(15 * MS);
	int64_t raised = gethrtime();
	*(volatile int64_t *)arg = raised;
	setrlimit(RLIMIT_AS, &no_limit);
	while (gethrtime() < raised + 25 * MS)
		;
	return NULL;
}

static void part_memory(void)
{
	static volatile int64_t raised;
	struct rlimit limit;
	long size = __pool_size;

	getrlimit(RLIMIT_AS, &no_limit);
	limit = (struct rlimit){.rlim_cur = 0, .rlim_max = no_limit.rlim_max};
	make(calls_main, 0);
	if (thr_create(NULL, 0, raises_limit, (void *)&raised, THR_BOUND | THR_DAEMON, NULL) != 0 ||
	    setrlimit(RLIMIT_AS, &limit) != 0)
		test_fails("no limit", 0, 0, 0);
	block_in_read(MAIN);
	EXPECT(raised != 0, "the pool has %ld LWPs, and there is no memory for so many",
	       __pool_size);
	EXPECT(began[0] - raised < 20 * MS,
	       "there is memory for an LWP again, and a thread gets one %ld ns later: the library "
	       "is to try again with each tick, of 10 ms",
	       began[0] - raised);
	size_is(size, 1, "the pool has %ld LWPs, not %ld: an attempt that fails changes nothing");
	join_all();
}

static void part_idle(void)
{
	uint64_t before;

	grow_by_reads(reads, SOON);
	before = cpu_of_process();
	nap(80 * MS);
	EXPECT(cpu_of_process() - before < 30000,
	       "all LWPs are blocked for 80 ms, and the process uses %ld ns of CPU time meanwhile: "
	       "does an LWP look again and again?",
	       cpu_of_process() - before);
	release_all();
}

static void part_aging(void)
{
	long asked = __pool_size;
	unsigned processes = lwps_of_process();

	grow_by_reads(reads, SOON);
	release_all();
	nap(900 * MS);
	size_is(1, lwps,
		"the pool has %ld LWPs, not %ld, 0.9 s after it has grown, and LWPs "
		"age in 1 s");
	nap(400 * MS);
	size_is(asked, 0,
		"the pool has %ld LWPs, not %ld, 1.3 s after all threads have ended: LWPs "
		"age in 1 s, and those that were asked for stay");
	EXPECT3(lwps_of_process() == processes, "the process has %ld LWPs, not %ld",
		lwps_of_process(), processes, 0);
	thr_setconcurrency(asked);
	size_is(asked, 0, "the pool has %ld LWPs, not %ld: an LWP that has aged is wanted no more");
	nap(1200 * MS);
	size_is(asked, 0, "the pool has %ld LWPs, not %ld: those that were asked for stay");
	grow_by_reads(reads, SOON);
	release_all();
}

/* --- waiting=early --------------------------------------------------------------------------- */

/*
 * The first LWP blocks in a read, and so do `lwps` threads one after the other, while others
 * compute: each time another LWP begins.
 */
static void part_early(void)
{
	unsigned cpus = __ncpu;

	/* In the run queue: threads that compute on all CPUs except one, and threads that block. */
	for (unsigned i = 0; i + 1 < cpus; i++)
		make(computes, i);
	for (unsigned i = 0; i < lwps; i++)
		make(reads, cpus + i);
	make(calls_main, cpus + lwps);
	int64_t last = gethrtime();
	block_in_read(MAIN);
	EXPECT3(computing == cpus - 1 && began[cpus + lwps] != 0,
		"%ld threads compute on %ld CPUs, and %ld others have run, each until it blocked",
		computing, cpus, started - computing);
	EXPECT(began[cpus + lwps] - last < (lwps + cpus) * SOON,
	       "the last thread has begun %ld ns after the first LWP has blocked",
	       began[cpus + lwps] - last);
	stop = true;
	for (unsigned i = 0; i < lwps; i++)
		release(cpus + i);
	join_all();
}

/* Few LWPs block, and many threads would compute: each CPU gets one of them, and no more. */
static void part_enough(void)
{
	unsigned cpus = __ncpu, last = 2 * cpus + lwps;
	long size = __pool_size;

	make(reads, 0);
	for (unsigned i = 1; i < last; i++)
		make(computes, i);
	make(calls_main, last);
	compute_until = gethrtime() + 5 * MS;
	block_in_read(MAIN);
	EXPECT3(most_computing >= cpus,
		"%ld threads compute on %ld CPUs, and others wait for an LWP", most_computing, cpus,
		0);
	EXPECT3(most_computing <= cpus,
		"%ld threads compute at once on %ld CPUs: LWPs were added for which there is no "
		"CPU",
		most_computing, cpus, 0);
	EXPECT3(size_at_stop == size + 1 + cpus,
		"the pool has %ld LWPs, not %ld: two that are blocked, and one for each CPU",
		size_at_stop, size + 1 + cpus, 0);
	release(0);
	join_all();
}

/* One thread computes, the others are blocked: nothing is to be done until an LWP blocks again. */
static void part_quiet(void)
{
	uint64_t before;
	int64_t begin;

	make(reads, 0);
	make(computes, 1);
	make(calls_main, 2);
	block_in_read(MAIN);
	begin = gethrtime();
	before = cpu_of_process();
	compute_until = begin + 5 * MS;
	block_in_read(MAIN);
	EXPECT(cpu_of_process() - before < (uint64_t)(gethrtime() - begin) + 50000,
	       "one thread computes for 5 ms, and the process uses %ld ns of CPU time meanwhile: "
	       "does "
	       "an LWP look again and again?",
	       cpu_of_process() - before);
	release(0);
	join_all();
}

/* --- chance ------------------------------------------------------------------------------------ */

static sem_t tokens;

static void *by_chance(void *arg)
{
	unsigned me = (uintptr_t)arg;
	uint32_t state = chance + 77 * (me + 1);

	for (int i = 0; i < 25; i++) {
		switch (draw(&state, 5)) {
		case 0: /* blocks, until its neighbour or main writes */
			block_in_read(me);
			break;
		case 1:
			nap(draw(&state, 50000));
			break;
		case 2:
			sem_post(&tokens);
			sem_wait(&tokens);
			break;
		case 3:
			sched_yield();
			break;
		default:
			for (volatile unsigned n = draw(&state, 3000); n > 0; n--)
				;
		}
	}
	__atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

/* Writes to all pipes until all threads have ended; blocks in the kernel itself meanwhile. */
static void part_storm(void)
{
	sem_init(&tokens, 0, 0);
	for (unsigned i = 0; i < lwps; i++)
		make(by_chance, i);
	while (now_in(&ended) != lwps) {
		for (unsigned i = 0; i < lwps; i++)
			release(i);
		nap(100000);
	}
	join_all();
	EXPECT3(__pool_size > 1 && __pool_size <= (long)lwps + 1,
		"%ld threads have blocked by chance, and the pool has %ld LWPs", lwps, __pool_size,
		0);
}

static void part_cost(void)
{
	int64_t most = 0;

	grow_by_reads(reads, SOON);
	for (unsigned i = 2; i < lwps; i++)
		if (began[i] - began[i - 1] > most)
			most = began[i] - began[i - 1];
	lab_figure("growth", most);
	release_all();
}

/* --- main ---------------------------------------------------------------------------------------- */

static const struct part parts[] = {
	{"blocked", part_blocked, 40}, {"timed", part_timed, 80},    {"signal", part_signal, 40},
	{"needed", part_needed, 40},   {"memory", part_memory, 200}, {"idle", part_idle, 200},
	{"aging", part_aging, 4000},   {"early", part_early, 40},    {"enough", part_enough, 40},
	{"quiet", part_quiet, 40},     {"storm", part_storm, 80},    {"cost", part_cost, 40},
};

int main(int argc, char **argv)
{
	const struct part *part = part_choose(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);

	if (part == NULL)
		return 2;
	lwps = atoi(argv[2]);
	for (unsigned n = 0; n <= LWPS; n++)
		if (pipe(pipes[n]) != 0)
			return 2;
	watchdog_start(argv[1], part->ms, "Does a thread wait for an LWP?");
	part->play();
	return test_passes();
}
