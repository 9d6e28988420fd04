/*
 * labpool.c PART THREADS CHANCE - the scheduler of the M:N library on several LWPs, rule by rule: which
 * LWP runs a woken thread, and what an LWP does without a thread.
 */
#include "labmxn.h"

#define SOON 200000l /* ns: from the event that lets a thread run until it runs, at most */

extern int __pool_size;

static volatile unsigned arrived;
static volatile int64_t began;
static volatile uint32_t on_lwp[THREADS];
static pthread_barrier_t barrier;

/*
 * Keeps the caller's LWP, in the kernel.  It sleeps long enough: LWPs that look again and again would
 * keep the only CPU from an LWP of lower priority.
 */
static void keep_lwp_until(volatile unsigned *n, unsigned until)
{
	while (now_in(n) < until)
		nap(20000);
}

/* The caller keeps its LWP until all threads that were made are blocked. */
static void until_blocked(void)
{
	for (unsigned i = 0; i < made_count; i++)
		while (!is_blocked(made[i]))
			nap(3000);
}

/* --- idle: idle LWPs ----------------------------------------------------------------------------- */

static void *meets(void *arg)
{
	unsigned me = (uintptr_t)arg;
	uint32_t state = chance + 77 * (me + 1);

	for (unsigned round = 1; round <= 12; round++) {
		sem_wait(&gate[me]);
		on_lwp[me] = __sys_lwp_self();
		add_one(&arrived);
		keep_lwp_until(&arrived, round * count);
		for (unsigned i = 0; i < count; i++)
			EXPECT3(i == me || on_lwp[i] != on_lwp[me],
				"threads %ld and %ld compute at the same time on LWP %ld", i, me,
				on_lwp[me]);
		sem_post(&done);
		turns(draw(&state, 400));
	}
	return NULL;
}

static void part_idle(void)
{
	made_count = 0;
	for (unsigned i = 0; i < count; i++)
		make(meets, i);
	until_blocked();
	for (unsigned round = 1; round <= 12; round++) {
		turns(draw(&chance, 3000));
		for (unsigned i = 0; i < count; i++) {
			sem_post(&gate[i]);
			turns(draw(&chance, 200));
		}
		/* Keeps the caller's LWP, so the threads can only run on the idle LWPs. */
		int64_t limit = gethrtime() + 4 * MS;
		while (now_in(&arrived) < round * count) {
			EXPECT3(gethrtime() < limit,
				"%ld threads have been woken while as many LWPs were idle, and %ld "
				"of them run: is an idle LWP not woken, or does it sleep on?",
				count, now_in(&arrived) - (round - 1) * count, 0);
			nap(20000);
		}
		for (unsigned i = 0; i < count; i++)
			sem_wait(&done);
	}
	join_all();
}

/* The same by one call that wakes all; and LWPs that only one thread wants. */
static void *meets_at_barrier(void *arg)
{
	for (unsigned round = 1; round <= 8; round++) {
		pthread_barrier_wait(&barrier);
		add_one(&arrived);
		keep_lwp_until(&arrived, round * (count + 1));
	}
	return NULL;
}

static void part_together(void)
{
	pthread_barrier_init(&barrier, NULL, count + 1);
	for (unsigned i = 0; i < count; i++)
		make(meets_at_barrier, i);
	for (unsigned round = 1; round <= 8; round++) {
		until_blocked();
		pthread_barrier_wait(&barrier);
		add_one(&arrived);
		int64_t limit = gethrtime() + 4 * MS;
		while (now_in(&arrived) < round * (count + 1)) {
			EXPECT3(gethrtime() < limit,
				"one call has woken %ld threads while as many LWPs were idle, and "
				"%ld of them run",
				count, now_in(&arrived) - (round - 1) * (count + 1) - 1, 0);
			nap(20000);
		}
	}
	join_all();
}

/* --- meets the moment at which a thread leaves its LWP, and the LWP goes idle -------------------------- */

#define MOMENTS 600

static void *waits_again(void *arg)
{
	for (unsigned i = 0; i < MOMENTS; i++) {
		sem_wait(&gate[0]);
		__atomic_store_n(&arrived, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The caller keeps its LWP and its CPU. */
static void part_moment(void)
{
	make(waits_again, 0);
	for (unsigned i = 0; i < MOMENTS; i++) {
		turns(draw(&chance, 25 + 5 * count));
		int64_t limit = gethrtime() + MS;
		sem_post(&gate[0]);
		while (now_in(&arrived) != i + 1)
			EXPECT3(gethrtime() < limit,
				"a thread is woken as it leaves its LWP, and does not run again "
				"(its "
				"state is %ld; 2: RunQueue, 3: Dispatchable) although an LWP has "
				"no thread",
				thread_of(made[0])->state, 0, 0);
	}
	join_all();
}

/* --- one: a thread runs on one LWP at a time --------------------------------------------------------- */

static volatile unsigned inside[THREADS];

/* The caller runs here, for some time. */
static void runs_here(unsigned me, unsigned n)
{
	EXPECT(__atomic_fetch_add(&inside[me], 1, __ATOMIC_ACQ_REL) == 0,
	       "thread %ld runs on two LWPs at once", me);
	turns(n);
	__atomic_sub_fetch(&inside[me], 1, __ATOMIC_ACQ_REL);
}

static void *yields_away(void *arg)
{
	unsigned me = (uintptr_t)arg;
	uint32_t state = chance + 77 * (me + 1);

	for (unsigned i = 0; i < 500; i++) {
		runs_here(me, draw(&state, 8));
		thr_yield();
		EXPECT3(me == (uintptr_t)arg, "thread %ld has the registers of thread %ld",
			(uintptr_t)arg, me, 0);
	}
	return NULL;
}

static void part_one(void)
{
	for (unsigned i = 0; i < count; i++)
		make(yields_away, i);
	join_all();
}

/* --- quiet: LWPs without a thread ------------------------------------------------------------------ */

static void *waits_at_gate(void *arg)
{
	unsigned me = (uintptr_t)arg;

	sem_wait(&gate[me]);
	ran[me] = 1;
	began = gethrtime();
	on_lwp[me] = __sys_lwp_self();
	return NULL;
}

static void part_quiet(void)
{
	uint64_t before;

	for (unsigned i = 0; i < count; i++)
		make(waits_at_gate, i);
	until_blocked();
	nap(MS);
	before = cpu_of_process();
	nap(20 * MS);
	EXPECT(cpu_of_process() - before < 30000,
	       "all threads are blocked for 20 ms, and the process uses %ld ns of CPU time "
	       "meanwhile: does an idle LWP look again and again?",
	       cpu_of_process() - before);
	for (unsigned i = 0; i < count; i++)
		sem_post(&gate[i]);
	join_all();
}

/* --- hand-over: a thread that blocks gives its LWP to the thread that it wakes --------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile uint32_t from_lwp;
static volatile bool holds;

static void *takes_mutex(void *arg)
{
	pthread_mutex_lock(&mutex);
	on_lwp[(uintptr_t)arg] = __sys_lwp_self();
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *holds_and_waits(void *arg)
{
	pthread_mutex_lock(&mutex);
	holds = true;
	sem_wait(&gate[0]);
	from_lwp = __sys_lwp_self();
	pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Leaves its LWP to the thread that joins it. */
static void *ends_late(void *arg)
{
	sem_wait(&gate[2]);
	from_lwp = __sys_lwp_self();
	return NULL;
}

static void *joins(void *arg)
{
	thr_join((thread_t)(uintptr_t)arg, NULL, NULL);
	on_lwp[3] = __sys_lwp_self();
	return NULL;
}

static void part_hand_over(void)
{
	for (unsigned round = 0; round < count; round++) {
		holds = false;
		make(holds_and_waits, 0);
		while (!holds)
			nap(3000);
		make(takes_mutex, 1);
		until_blocked();
		sem_post(&gate[0]); /* to one of the idle LWPs */
		join_all();
		EXPECT3(on_lwp[1] == from_lwp,
			"a thread releases a mutex and blocks in one call, on LWP %ld, and the "
			"thread that it wakes runs on LWP %ld: it is to get the LWP at once",
			from_lwp, on_lwp[1], 0);
		make(ends_late, 2);
		thread_t joined = made[--made_count];
		make_with(joins, joined, 0);
		until_blocked();
		sem_post(&gate[2]);
		join_all();
		EXPECT3(on_lwp[3] == from_lwp,
			"a thread exits on LWP %ld, and the thread that it wakes runs on LWP %ld: "
			"it is to get the LWP at once",
			from_lwp, on_lwp[3], 0);
	}
}

/* --- bound ------------------------------------------------------------------------------------------ */

static sem_t ball[2];
static uint32_t bound_lwp[THREADS];

static void stays_on(unsigned me, bool bound)
{
	uint32_t lwp = __sys_lwp_self();

	if (bound)
		EXPECT3(lwp == bound_lwp[me],
			"a bound thread has begun on LWP %ld, and now runs on LWP %ld",
			bound_lwp[me], lwp, 0);
	else
		for (unsigned i = 0; i < THREADS; i++)
			EXPECT3(lwp != bound_lwp[i],
				"an unbound thread runs on LWP %ld of a bound thread", lwp, 0, 0);
}

static void *plays_ball(void *arg)
{
	unsigned me = (uintptr_t)arg;
	bool bound = thread_self()->bound;
	uint32_t state = chance + 77 * (me + 1);

	if (bound)
		bound_lwp[me] = __sys_lwp_self();
	add_one(&arrived);
	for (int i = 0; i < 25; i++) {
		switch (draw(&state, 4)) {
		case 0:
			thr_yield();
			break;
		case 1:
			turns(draw(&state, 500));
			break;
		default:
			sem_wait(&ball[me & 1]);
			stays_on(me, bound);
			sem_post(&ball[draw(&state, 2)]);
		}
		stays_on(me, bound);
	}
	sem_post(&ball[0]);
	sem_post(&ball[1]);
	return NULL;
}

static void part_bound(void)
{
	for (int i = 0; i < 2; i++)
		sem_init(&ball[i], 0, 0);
	for (unsigned i = 0; i < count; i++) {
		make_with(plays_ball, i, i % 2 == 0 ? THR_BOUND : 0);
		thr_setprio(made[i], draw(&chance, 3) * 10);
	}
	nap(300000); /* until they want a ball, and there is none */
	/* The caller feeds the game: no thread waits for a ball that went to the other side. */
	for (unsigned i = 0; i < 50 * count; i++) {
		sem_post(&ball[i & 1]);
		thr_yield();
	}
	join_all();
}

/* --- stop ----------------------------------------------------------------------------------------------- */

static void *computes(void *arg)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		turn++;
	return NULL;
}

static void *runs_once(void *arg)
{
	return NULL;
}

static void part_stop(void)
{
	/* Blocked; then woken; then continued. */
	for (unsigned i = 0; i < count; i++)
		make(waits_at_gate, i);
	until_blocked();
	for (unsigned i = 0; i < count; i++)
		EXPECT(thr_suspend(made[i]) == 0, "thr_suspend of a blocked thread fails", 0);
	for (unsigned i = 0; i < count; i++)
		sem_post(&gate[i]);
	nap(SOON);
	for (unsigned i = 0; i < count; i++)
		EXPECT(ran[i] == 0 && thread_of(made[i])->state == TS_STOPPED,
		       "a thread is suspended while it is blocked, and is woken: its state is %ld, "
		       "not Stopped (0)",
		       thread_of(made[i])->state);
	for (unsigned i = 0; i < count; i++)
		thr_continue(made[i]);
	join_all();
	/* On an LWP: the LWP stops too, and another takes its place until the thread goes on. */
	int size = __pool_size;
	for (unsigned round = 0; round < 3; round++) {
		arrived = 0;
		stop = false;
		make(computes, 0);
		keep_lwp_until(&arrived, 1);
		while (thr_suspend(made[0]) != 0)
			nap(3000);
		make(runs_once, 1);
		thr_join(made[--made_count], NULL, NULL);
		stop = true;
		thr_continue(made[0]);
		join_all();
		nap(SOON);
		EXPECT3(__pool_size == size,
			"a suspended thread has gone on, and the pool has %ld LWPs, not %ld: the "
			"next idle LWP beyond __pool_wanted is to exit",
			__pool_size, size, 0);
	}
}

/* --- real-time ---------------------------------------------------------------------------------------- */

static volatile int64_t woken_at;

/* Wakes a real-time thread while threads compute on all LWPs; a bound thread is the waker. */
static void *wakes_realtime(void *arg)
{
	nap(300000);
	woken_at = gethrtime();
	sem_post(&gate[0]);
	return NULL;
}

static void part_realtime(void)
{
	struct sched_param p = {.sched_priority = 10};

	make(waits_at_gate, 0);
	if (pthread_setschedparam((pthread_t)made[0], SCHED_FIFO, &p) != 0)
		test_fails("pthread_setschedparam fails", 0, 0, 0);
	until_blocked();
	for (unsigned i = 0; (int)i + 1 < __pool_size; i++)
		make(computes, i);
	keep_lwp_until(&arrived, (unsigned)__pool_size - 1);
	make_with(wakes_realtime, 0, THR_BOUND);
	int64_t limit = gethrtime() + 5 * MS;
	while (ran[0] == 0)
		EXPECT(gethrtime() < limit,
		       "a real-time thread is woken, threads of priority 0 compute on all LWPs, "
		       "and it gets none of them (state %ld)",
		       thread_of(made[0])->state);
	EXPECT(began - woken_at < SOON, "a real-time thread gets an LWP %ld ns after it was woken",
	       began - woken_at);
	stop = true;
	join_all();
}

/* --- ends: what ends a wait that is about to begin ------------------------------------------------------ */

static volatile unsigned handled;

static void handler(int sig)
{
	handled++;
}

static void *comes_late(void *arg)
{
	uint32_t state = chance + (uintptr_t)arg;

	add_one(&arrived);
	turns(draw(&state, 60));
	sem_wait(&gate[0]);
	return NULL;
}

static void ends_by(bool cancel, unsigned round)
{
	arrived = 0;
	handled = 0;
	make(comes_late, round);
	while (now_in(&arrived) == 0) /* without a sleep: the two are to come at the same time */
		;
	turns(draw(&chance, 60));
	if (cancel) {
		pthread_cancel((pthread_t)made[0]);
	} else {
		thr_kill(made[0], SIGUSR1);
		int64_t limit = gethrtime() + MS;
		while (handled == 0)
			EXPECT(gethrtime() < limit,
			       "a thread gets a signal as it goes to sleep, and its handler is not "
			       "called (the thread's state is %ld; 1: Blocked)",
			       thread_of(made[0])->state);
		sem_post(&gate[0]);
	}
	join_all();
}

static void part_ends(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < 40 * count; i++)
		ends_by(i & 1, i);
}

/* --- storm ---------------------------------------------------------------------------------------------- */

static sem_t tokens;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static volatile unsigned owners;

static void *by_chance(void *arg)
{
	unsigned me = (uintptr_t)arg;
	uint32_t state = chance + 77 * (me + 1);

	for (int i = 0; i < 40; i++) {
		runs_here(me, draw(&state, 60));
		switch (draw(&state, 7)) {
		case 0:
			sem_post(&tokens);
			sem_wait(&tokens);
			break;
		case 1:
			thr_yield();
			break;
		case 2:
			pthread_mutex_lock(&mutex);
			EXPECT(__atomic_fetch_add(&owners, 1, __ATOMIC_ACQ_REL) == 0,
			       "two threads own a mutex", 0);
			turns(draw(&state, 200));
			if (draw(&state, 2))
				thr_yield();
			__atomic_sub_fetch(&owners, 1, __ATOMIC_ACQ_REL);
			pthread_mutex_unlock(&mutex);
			break;
		case 3:
			wait_until(me, gethrtime() + draw(&state, 40000));
			break;
		case 4:
			sem_post(&gate[draw(&state, count)]);
			break;
		case 5:
			thr_setprio(thr_self(), draw(&state, 4) * 10);
			break;
		default:
			if (draw(&state, 3) == 0)
				pthread_rwlock_wrlock(&shared);
			else
				pthread_rwlock_rdlock(&shared);
			thr_yield();
			pthread_rwlock_unlock(&shared);
		}
	}
	return NULL;
}

static void part_storm(void)
{
	sem_init(&tokens, 0, 0);
	for (unsigned i = 0; i < count; i++)
		make(by_chance, i);
	join_all();
}

/* The thread runs on an idle LWP; the caller keeps its own. */
static void part_cost_idle(void)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < count; i++) {
		make(waits_at_gate, i);
		until_blocked();
		nap(20000);
		int64_t begin = gethrtime();
		sem_post(&gate[i]);
		nap(100000);
		EXPECT(ran[i] == 1, "a thread that was woken does not run on the idle LWP", 0);
		sum += began - begin;
		join_all();
	}
	lab_figure("idle-wake", sum / count);
}

/* --- main --------------------------------------------------------------------------------------- */

static const struct part parts[] = {
	{"idle", part_idle, 60},         {"together", part_together, 60},
	{"moment", part_moment, 60},     {"one", part_one, 60},
	{"quiet", part_quiet, 60},       {"hand-over", part_hand_over, 40},
	{"bound", part_bound, 60},       {"stop", part_stop, 60},
	{"realtime", part_realtime, 40}, {"ends", part_ends, 120},
	{"storm", part_storm, 60},       {"cost-idle", part_cost_idle, 40},
};

int main(int argc, char **argv)
{
	return part_play(part_choose(parts, sizeof(parts) / sizeof(parts[0]), argc, argv), argv);
}
