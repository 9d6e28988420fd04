/*
 * races_more.c RACE [ROUNDS] - the races that the rest of the library claims to close (race.h):
 * semaphores with names, keys, timers that call functions, threads that begin with a signal or a
 * policy, malloc=mt, fork, rows of lock statistics, what newlib has, the table of ids.
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/syscall.h>
#include "../../libthread/lockstat/lockstat.h"
#include "race.h"

static void *returns(void *arg)
{
	return arg;
}

/* --- a semaphore with a name ------------------------------------------------------------------ */

static sem_t *volatile opened[2];

static void name_open(unsigned round, int i)
{
	opened[i] = sem_open("/race", O_CREAT, 0600, 1);
	MUST(opened[i] != SEM_FAILED);
}

static void name_open_0(unsigned round)
{
	name_open(round, 0);
}

static void name_open_1(unsigned round)
{
	name_open(round, 1);
}

static void name_check(unsigned round)
{
	MUST(opened[0] == opened[1]);
	sem_close(opened[0]);
	MUST(sem_close(opened[1]) == 0);
	sem_unlink("/race");
}

/* --- keys ------------------------------------------------------------------------------------- */

static pthread_key_t key[2];

static void key_0(unsigned round)
{
	pthread_key_create(&key[0], NULL);
}

static void key_1(unsigned round)
{
	pthread_key_create(&key[1], NULL);
}

static void key_check(unsigned round)
{
	MUST(key[0] != key[1]);
	pthread_key_delete(key[0]);
	pthread_key_delete(key[1]);
}

/* --- a timer that is gone when its function would be called ----------------------------------- */

static volatile unsigned calls_of_other;

static void expected(union sigval v)
{
}

static void other(union sigval v)
{
	calls_of_other++;
}

static timer_t new_timer(void (*function)(union sigval))
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = function};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		bail("timer_create");
	return timer;
}

static void notify(unsigned round)
{
	const struct itimerspec at_once = {.it_value.tv_nsec = 1};
	timer_t timer = new_timer(expected);

	timer_settime(timer, 0, &at_once, NULL);
	turns(draw(3000));
	timer_delete(timer);
	timer = new_timer(other);
	until(gethrtime() + 30000);
	timer_delete(timer);
	MUST(calls_of_other == 0);
}

/* --- a signal for a thread that begins, whose handler waits ----------------------------------- */

static sem_t sem;
static volatile unsigned entered, left;

static void takes_unit(int sig)
{
	entered = started;
	MUST(sem_wait(&sem) == 0);
	left = started;
}

static void first_handler_begin(void)
{
	sem_init(&sem, 0, 0);
	signal(SIGUSR1, takes_unit);
}

static void *stays(void *arg)
{
	UNTIL(left == started);
	return NULL;
}

/* Only the new thread lets the signal through. */
static void first_handler(unsigned round)
{
	pthread_t t;
	sigset_t usr1 = 0;

	sigaddset(&usr1, SIGUSR1);
	t = new_thread(stays, NULL);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	kill(getpid(), SIGUSR1);
	UNTIL(entered == round);
	turns(2000);
	sem_post(&sem);
	UNTIL(left == round);
	pthread_join(t, NULL);
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
}

/* --- a thread with a policy of its own -------------------------------------------------------- */

static void *looks_at_policy(void *arg)
{
	struct sched_param param;
	int policy;

	MUST(pthread_getschedparam(pthread_self(), &policy, &param) == 0);
	MUST(policy == SCHED_RR && param.sched_priority == 5);
	return NULL;
}

static void policy(unsigned round)
{
	struct sched_param param = {.sched_priority = 5};
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_RR);
	pthread_attr_setschedparam(&attr, &param);
	MUST(pthread_create(&t, &attr, looks_at_policy, NULL) == 0);
	pthread_join(t, NULL);
}

/* --- a handler while a thread's variables of newlib are made ---------------------------------- */

static volatile bool uses, has_streams;

static void looks_for_streams(int sig)
{
	has_streams = stdout != NULL;
	entered = started;
}

static void variables_begin(void)
{
	signal(SIGUSR1, looks_for_streams);
}

static void *uses_variables(void *arg)
{
	drawn = (uintptr_t)arg;
	uses = true;
	turns(100 + draw(100));
	errno = 0;
	UNTIL(entered == started);
	return NULL;
}

static void variables(unsigned round)
{
	pthread_t t;

	uses = false;
	t = new_thread(uses_variables, (void *)(uintptr_t)round);
	UNTIL(uses);
	pthread_kill(t, SIGUSR1);
	UNTIL(entered == round);
	MUST(has_streams);
	pthread_join(t, NULL);
}

/* --- two threads that enlarge the table of ids ------------------------------------------------ */

#define LISTED 511 /* with so many, the creation of one more enlarges it, from one page to two */
#define SLAB 65536 /* what is mapped for further threads, perhaps at the same time */

static char never_used[PTHREAD_STACK_MIN] __attribute__((aligned(16)));
static uint64_t mapped;

static uint64_t bytes_mapped(void)
{
	struct weft_procinfo info;

	MUST(__sys_procinfo(getpid(), &info) == getpid());
	return info.size;
}

/* Nobody will run on the stack, so it is everybody's. */
static void never_runs(unsigned round)
{
	MUST(thr_create(never_used, sizeof(never_used), returns, NULL,
			THR_SUSPENDED | THR_DAEMON | THR_DETACHED, NULL) == 0);
}

/* Besides the two that race. */
static void table_begin(void)
{
	for (int i = 2; i < LISTED; i++)
		never_runs(0);
}

static void table_prepare(unsigned round)
{
	mapped = bytes_mapped();
}

static void table_check(unsigned round)
{
	MUST((bytes_mapped() - mapped) % SLAB == WEFT_PAGE_SIZE);
}

/* --- lock statistics: each round a lock of its own, and one caller ---------------------------- */

static pthread_rwlock_t counted[500];

static void row_use(unsigned round)
{
	pthread_rwlock_rdlock(&counted[round % 500]);
	pthread_rwlock_unlock(&counted[round % 500]);
}

static void row_check(unsigned round)
{
	uint64_t key = (uintptr_t)&counted[round % 500] | (uint64_t)LOCK_READ << LOCK_KIND;
	unsigned rows = 0;

	for (unsigned i = 0; i < LOCK_ROWS; i++)
		rows += __lock_rows[i].lock == key && __lock_rows[i].caller != 0;
	MUST(rows == 1);
}

/* --- malloc=mt -------------------------------------------------------------------------------- */

/* 7 such objects fill a span, which is aligned to its size. */
#define SPAN 262144ul
#define SEVENTH 32768ul

static void fill_spans(unsigned n, char tag)
{
	char *p[2 * 7];

	for (unsigned i = 0; i < n * 7; i++) {
		p[i] = malloc(SEVENTH);
		MUST((uintptr_t)p[i] % SPAN + SEVENTH <= SPAN);
		*p[i] = tag + i;
	}
	for (unsigned i = 0; i < n * 7; i++) {
		MUST(*p[i] == (char)(tag + i));
		free(p[i]);
	}
}

/* An arena keeps one span: of two, one is the pool's again. */
static void pool_use_0(unsigned round)
{
	fill_spans(2, 0);
}

static void pool_use_1(unsigned round)
{
	fill_spans(2, 100);
}

static void fill_span(void)
{
	fill_spans(1, 0);
}

/* What one party allocates, the other frees a round later. */
#define OBJECTS 10
static unsigned *object[2][OBJECTS];

static void arena_allocate(unsigned round)
{
	for (unsigned i = 0; i < OBJECTS; i++) {
		object[round % 2][i] = malloc(sizeof(unsigned));
		*object[round % 2][i] = i;
	}
}

static void arena_free(unsigned round)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		free(object[!(round % 2)][i]);
}

static void arena_check(unsigned round)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		MUST(*object[round % 2][i] == i);
}

/* --- fork: a child has whole what others were changing ---------------------------------------- */

static volatile unsigned at_work, forked; /* in this round */

static void fork_and(void (*what)(void))
{
	int status = 0;
	pid_t pid;

	UNTIL(at_work == started);
	come_late();
	pid = fork();
	if (pid == 0) {
		what();
		_exit(0);
	}
	forked = started;
	MUST(pid > 0);
	UNTIL(waitpid(pid, &status, WNOHANG) == pid);
	MUST(status == 0);
}

/* One party does `what` while the other forks, and then its child `in_child`. */
#define FORK_RACE(name, what, in_child)                                                            \
	static void fork_##name(unsigned round)                                                    \
	{                                                                                          \
		fork_and(in_child);                                                                \
	}                                                                                          \
	static void fork_##name##_meanwhile(unsigned round)                                        \
	{                                                                                          \
		for (at_work = round; forked != round;)                                            \
			what();                                                                    \
	}

static void one_more_thread(void)
{
	MUST(pthread_join(new_thread(returns, NULL), NULL) == 0);
}

static void some_memory(void)
{
	void *volatile p = malloc(100); /* volatile: else the compiler needs none */

	free(p);
}

static void one_more_stream(void)
{
	FILE *f = fopen("/dev/null", "w");

	MUST(f != NULL && fclose(f) == 0);
}

static void fill_span_of_each(void)
{
	for (int cpu = 0; cpu < 4; cpu++) {
		cpu_set_t one = {1ul << cpu};

		MUST(pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0);
		fill_span();
	}
}

static void one_more_key(void)
{
	MUST(pthread_key_create(&key[0], NULL) == 0);
	MUST(pthread_key_delete(key[0]) == 0);
}

static void one_more_timer(void)
{
	timer_delete(new_timer(expected));
}

/* For the first deadline of a process the model mxn makes an LWP. */
static void one_deadline(void)
{
	struct timespec t = timespec_of(gethrtime() + 100);

	MUST(sem_clockwait(&sem, CLOCK_MONOTONIC, &t) == -1 && errno == ETIMEDOUT);
}

static void deadline_begin(void)
{
	sem_init(&sem, 0, 0);
}

FORK_RACE(deadline, one_deadline, one_deadline)
FORK_RACE(keys, one_more_key, one_more_key)
FORK_RACE(timers, one_more_timer, one_more_timer)
FORK_RACE(threads, one_more_thread, one_more_thread)
FORK_RACE(malloc, some_memory, some_memory)
FORK_RACE(streams, one_more_stream, one_more_stream)
FORK_RACE(arenas, fill_span, fill_span_of_each)

/* --- a thread that may be cancelled anywhere, while it has a lock of newlib ------------------- */

/* POSIX lets it call no such thing then, but the library does. */
static void *uses_memory(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (uses = true;; pthread_testcancel())
		some_memory();
	return NULL;
}

static void cancel_in_malloc(unsigned round)
{
	void *status;
	pthread_t t;

	uses = false;
	t = new_thread(uses_memory, NULL);
	UNTIL(uses);
	turns(draw(200));
	pthread_cancel(t);
	MUST(pthread_join(t, &status) == 0 && status == PTHREAD_CANCELED);
	some_memory();
}

static const struct race races[] = {
	{.name = "name", .spread = 300, .act = {name_open_0, name_open_1}, .check = name_check},
	{.name = "key", .act = {key_0, key_1}, .check = key_check},
	{.name = "notify", .act = {notify}},
	{.name = "first-handler", .begin = first_handler_begin, .act = {first_handler}},
	{.name = "policy", .act = {policy}},
	{.name = "pool", .spread = 10, .act = {pool_use_0, pool_use_1}},
	{.name = "arena", .spread = 30, .act = {arena_allocate, arena_free}, .check = arena_check},
	{.name = "fork-keys", .spread = 300, .act = {fork_keys, fork_keys_meanwhile}},
	{.name = "fork-timers", .spread = 300, .act = {fork_timers, fork_timers_meanwhile}},
	{.name = "fork-threads", .spread = 300, .act = {fork_threads, fork_threads_meanwhile}},
	{.name = "fork-malloc", .spread = 300, .act = {fork_malloc, fork_malloc_meanwhile}},
	{.name = "fork-arenas", .spread = 300, .act = {fork_arenas, fork_arenas_meanwhile}},
	{.name = "fork-streams", .spread = 300, .act = {fork_streams, fork_streams_meanwhile}},
	{.name = "fork-deadline",
	 .spread = 50,
	 .begin = deadline_begin,
	 .act = {fork_deadline, fork_deadline_meanwhile}},
	{.name = "cancel-in-malloc", .act = {cancel_in_malloc}},
	{.name = "variables", .begin = variables_begin, .act = {variables}},
	{.name = "table",
	 .spread = 20,
	 .begin = table_begin,
	 .prepare = table_prepare,
	 .act = {never_runs, never_runs},
	 .check = table_check},
	{.name = "row", .act = {row_use, row_use, row_use}, .check = row_check},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
