/*
 * thr_rtsched.c - threads of SCHED_FIFO and SCHED_RR: the order in which they run on one CPU (lwp)
 * or one LWP (unbound threads of mxn, n1 and sa), which follows from their policies and priorities
 * alone.  Each thread records its letter; the first thread, of a high priority, makes the others
 * ready.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/processor.h>
#include <sys/procset.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include <weft/sys.h>
#include "tap.h"

#define MS 1000000l
#define MAIN 50 /* the first thread's priority */

static bool lwp, mxn, sa;
static char order[64];
static sem_t sem;

static void record(char c)
{
	order[strlen(order)] = c;
}

static void went(const char *what, const char *want)
{
	tap_report(strcmp(order, want) == 0, what, "\"%s\", not \"%s\"", order, want);
	memset(order, 0, sizeof(order));
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000l + ts.tv_nsec;
}

static void compute(int64_t ns)
{
	for (int64_t end = now() + ns; now() < end;)
		;
}

static pthread_t start(int policy, int pri, void *(*f)(void *), const char *arg)
{
	struct sched_param p = {.sched_priority = pri};
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&a, policy);
	pthread_attr_setschedparam(&a, &p);
	if (pthread_create(&t, &a, f, (void *)arg) != 0)
		bail("pthread_create");
	return t;
}

static int set(pthread_t t, int policy, int pri)
{
	return pthread_setschedparam(t, policy, &(struct sched_param){.sched_priority = pri});
}

static bool has(pthread_t t, int policy, int pri)
{
	struct sched_param p;
	int is_policy;

	return pthread_getschedparam(t, &is_policy, &p) == 0 && is_policy == policy &&
	       p.sched_priority == pri;
}

static void join(pthread_t *t, int n)
{
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void *once(void *arg)
{
	record(*(char *)arg);
	return NULL;
}

/* --- which thread runs first ------------------------------------------------------------------ */

static void *own_policy(void *arg)
{
	return (void *)has(pthread_self(), SCHED_FIFO, MAIN);
}

static void test_creation(void)
{
	pthread_t t[4] = {start(SCHED_FIFO, 10, once, "a"), start(SCHED_RR, 30, once, "b"),
			  start(SCHED_FIFO, 20, once, "c"), start(SCHED_FIFO, 20, once, "d")};
	void *same;

	ok("a thread has its attributes' policy", has(t[0], SCHED_FIFO, 10));
	ok("... and priority", has(t[1], SCHED_RR, 30));
	join(t, 4);
	went("the highest first, equals in their order", "bcda");

	t[0] = start(SCHED_FIFO, MAIN + 1, once, "x");
	record('m');
	join(t, 1);
	went("a higher one runs before its creator goes on", "xm");
	t[0] = start(SCHED_FIFO, MAIN, once, "x");
	record('m');
	join(t, 1);
	went("an equal one does not", "mx");
	t[0] = start(SCHED_OTHER, 0, once, "o");
	t[1] = start(SCHED_FIFO, 0, once, "f");
	join(t, 2);
	went("real time comes before SCHED_OTHER", "fo");

	pthread_create(t, NULL, own_policy, NULL);
	pthread_join(t[0], &same);
	ok("a new thread inherits policy and priority", same != NULL);
}

static void *yields(void *arg)
{
	for (int i = 0; i < 2; i++) {
		record(*(char *)arg);
		sched_yield();
	}
	return NULL;
}

static void *waits(void *arg)
{
	sem_wait(&sem);
	record(*(char *)arg);
	return NULL;
}

static void *posts(void *arg)
{
	record(*(char *)arg);
	sem_post(&sem);
	record(*(char *)arg);
	return NULL;
}

static void test_yield_and_wake(void)
{
	pthread_t t[4] = {start(SCHED_FIFO, 20, yields, "a"), start(SCHED_FIFO, 20, yields, "b"),
			  start(SCHED_FIFO, 10, yields, "l")};

	join(t, 3);
	went("a thread yields to its equals, not to lower ones", "ababll");

	t[0] = start(SCHED_FIFO, MAIN + 1, waits, "a");
	t[1] = start(SCHED_FIFO, MAIN + 3, waits, "b");
	t[2] = start(SCHED_FIFO, MAIN + 2, waits, "c");
	t[3] = start(SCHED_FIFO, MAIN + 2, waits, "d");
	for (int i = 0; i < 4; i++) {
		record('m');
		sem_post(&sem);
	}
	join(t, 4);
	went("the highest waiter is woken, and preempts its waker", "mbmcmdma");

	t[0] = start(SCHED_FIFO, MAIN + 1, waits, "h");
	t[1] = start(SCHED_FIFO, 10, posts, "l");
	t[2] = start(SCHED_FIFO, 10, once, "e");
	join(t, 3);
	went("a preempted thread goes on before its equals", "lhle");
}

/* --- changes ---------------------------------------------------------------------------------- */

static void *sets_itself(void *arg)
{
	record('a');
	set(pthread_self(), SCHED_FIFO, 20);
	record('a');
	return NULL;
}

static void *raises(void *arg)
{
	record('a');
	pthread_setschedprio(pthread_self(), 30);
	record('a');
	pthread_setschedprio(pthread_self(), 20);
	record('a');
	pthread_setschedprio(pthread_self(), 10);
	record('a');
	return NULL;
}

static void test_changes(void)
{
	pthread_t t[3];

	t[0] = start(SCHED_FIFO, 20, once, "x");
	is("pthread_setschedprio", pthread_setschedprio(t[0], MAIN + 1), 0);
	record('m');
	join(t, 1);
	went("a thread that is raised above the caller runs at once", "xm");

	t[0] = start(SCHED_FIFO, 30, once, "a");
	t[1] = start(SCHED_FIFO, 20, once, "b");
	t[2] = start(SCHED_FIFO, 20, once, "c");
	set(t[0], SCHED_FIFO, 20);
	join(t, 3);
	went("pthread_setschedparam puts a thread behind its equals", "bca");
	t[0] = start(SCHED_FIFO, 20, once, "a");
	t[1] = start(SCHED_FIFO, 20, once, "b");
	set(t[0], SCHED_FIFO, 20);
	join(t, 2);
	went("... also if nothing changes", "ba");
	if (lwp) /* sched_classes.c */
		return;
	t[0] = start(SCHED_FIFO, 20, sets_itself, NULL);
	t[1] = start(SCHED_FIFO, 20, once, "b");
	join(t, 2);
	went("... and the caller", "aba");
	t[0] = start(SCHED_FIFO, 30, once, "a");
	t[1] = start(SCHED_FIFO, 20, once, "b");
	t[2] = start(SCHED_FIFO, 20, once, "c");
	pthread_setschedprio(t[0], 20);
	pthread_setschedprio(t[1], 20);
	join(t, 3);
	went("pthread_setschedprio puts one that it lowers before its equals", "abc");
	t[0] = start(SCHED_FIFO, 10, once, "a");
	t[1] = start(SCHED_FIFO, 20, once, "b");
	pthread_setschedprio(t[0], 20);
	join(t, 2);
	went("... and one that it raises behind them", "ba");
	t[0] = start(SCHED_FIFO, 20, raises, NULL);
	t[1] = start(SCHED_FIFO, 20, once, "b");
	t[2] = start(SCHED_FIFO, 10, once, "l");
	join(t, 3);
	went("the caller keeps its place when it lowers itself", "aaabal");
}

/* --- preemption of a thread that calls nothing ------------------------------------------------ */

static volatile bool over;

static void *sleeps(void *arg)
{
	struct timespec ts = {.tv_nsec = 30 * MS};

	nanosleep(&ts, NULL);
	record(*(char *)arg);
	over = true;
	return NULL;
}

static void *computes(void *arg)
{
	record(*(char *)arg);
	compute(100 * MS);
	record(*(char *)arg);
	return NULL;
}

static void *until_over(void *arg)
{
	record(*(char *)arg);
	while (!over)
		;
	record(*(char *)arg);
	return NULL;
}

static void on_alarm(int sig)
{
	sem_post(&sem);
	over = true;
}

static void test_preemption(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	pthread_t t[3];

	t[0] = start(SCHED_FIFO, 30, sleeps, "h");
	t[1] = start(SCHED_FIFO, 20, computes, "a");
	t[2] = start(SCHED_FIFO, 20, once, "b");
	join(t, 3);
	went("one whose sleep is over preempts a lower one", "ahab");

	over = false;
	t[0] = start(SCHED_RR, 0, sleeps, "h");
	t[1] = start(SCHED_OTHER, lwp ? 0 : 60, until_over, "o");
	join(t, 2);
	went("... and one of SCHED_OTHER", "oho");

	over = false;
	signal(SIGALRM, on_alarm);
	t[0] = start(SCHED_FIFO, 30, waits, "h");
	t[1] = start(SCHED_FIFO, 20, until_over, "a");
	setitimer(ITIMER_REAL, &soon, NULL);
	join(t, 2);
	went("one that a handler wakes preempts the thread it interrupts", "aha");
}

/* --- slices ----------------------------------------------------------------------------------- */

#define TURNS 6

static volatile char last;
static volatile int turns;
static int64_t began[TURNS];

/* Until so many turns have been taken; gives up after a while. */
static void *takes_turns(void *arg)
{
	char me = *(char *)arg;

	for (int64_t end = now() + 20000 * MS; turns < TURNS && now() < end;)
		if (last != me) {
			int turn = __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);

			last = me;
			if (turn < TURNS) {
				began[turn] = now();
				record(me);
			}
		}
	return NULL;
}

static int64_t slice_of(pthread_t *t, int policy)
{
	struct timespec ts = {.tv_sec = -1};
	struct sched_param p;
	int before;

	pthread_getschedparam(pthread_self(), &before, &p);
	set(pthread_self(), policy, p.sched_priority);
	is("sched_rr_get_interval", sched_rr_get_interval(0, &ts), 0);
	set(pthread_self(), before, p.sched_priority);
	return ts.tv_sec * 1000000000l + ts.tv_nsec;
}

static void test_slices(void)
{
	int64_t slice = slice_of(NULL, SCHED_RR), longest = 0, shortest = INT64_MAX;
	pthread_t t[2];

	t[0] = start(SCHED_FIFO, 20, computes, "a");
	t[1] = start(SCHED_FIFO, 20, computes, "b");
	join(t, 2);
	went("no slice ends a turn of SCHED_FIFO", "aabb");
	if (lwp) /* sched_classes.c */
		return;
	is("SCHED_FIFO has no slice", slice_of(NULL, SCHED_FIFO), 0);
	is("SCHED_RR has one of 100 ms", slice, 100 * MS);
	turns = last = 0;
	t[0] = start(SCHED_RR, 20, takes_turns, "a");
	t[1] = start(SCHED_RR, 20, takes_turns, "b");
	join(t, 2);
	went("threads of SCHED_RR take turns", "ababab");
	for (int i = 1; i < TURNS; i++) {
		int64_t turn = began[i] - began[i - 1];

		longest = turn > longest ? turn : longest;
		shortest = turn < shortest ? turn : shortest;
	}
	ok("... of a slice", shortest > slice - 10 * MS && longest < slice + 10 * MS);
	turns = last = 0;
	t[0] = start(SCHED_RR, 20, takes_turns, "a");
	t[1] = start(SCHED_FIFO, 20, once, "f");
	pthread_join(t[1], NULL);
	turns = TURNS;
	pthread_join(t[0], NULL);
	went("one of SCHED_RR yields to one of SCHED_FIFO, too", "af");
}

/* Preempted by a higher one in the midst of its slice, it has the rest of it. */
static void test_rest_of_slice(void)
{
	pthread_t t[3];

	if (lwp)
		return;
	turns = TURNS - 2;
	last = 0;
	t[0] = start(SCHED_FIFO, 30, sleeps, "h");
	t[1] = start(SCHED_RR, 20, takes_turns, "a");
	t[2] = start(SCHED_RR, 20, takes_turns, "b");
	join(t, 3);
	went("a preempted one completes its slice", "ahb");
	ok("... not a new slice", began[TURNS - 1] - began[TURNS - 2] < 120 * MS);
}

/* --- with mutexes, suspension, cancellation, fork --------------------------------------------- */

static pthread_mutex_t mutex;

static void *locks_and_posts(void *arg)
{
	pthread_mutex_lock(&mutex);
	record('l');
	sem_post(&sem);
	sem_post(&sem);
	record('l');
	pthread_mutex_unlock(&mutex);
	record('l');
	return NULL;
}

static void *waits_and_locks(void *arg)
{
	sem_wait(&sem);
	pthread_mutex_lock(&mutex);
	record('h');
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void mutex_make(int protocol, int ceiling)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, protocol);
	pthread_mutexattr_setprioceiling(&a, ceiling);
	pthread_mutex_init(&mutex, &a);
}

static void test_mutex(int protocol, const char *what, const char *want)
{
	pthread_t t[4];

	mutex_make(protocol, 30);
	t[0] = start(SCHED_FIFO, 30, waits_and_locks, NULL);
	t[1] = start(SCHED_FIFO, 20, waits, "m");
	t[2] = start(SCHED_FIFO, 10, locks_and_posts, NULL);
	t[3] = start(SCHED_FIFO, 10, once, "e");
	join(t, 4);
	went(what, want);
	pthread_mutex_destroy(&mutex);
}

static void *locks_and_computes(void *arg)
{
	pthread_mutex_lock(&mutex);
	compute(300 * MS);
	record('o');
	pthread_mutex_unlock(&mutex);
	return NULL;
}

struct sleeper {
	long ms;
	char name;
};

static void *sleeps_for(void *arg)
{
	const struct sleeper *s = arg;

	nanosleep(&(struct timespec){.tv_nsec = s->ms * MS}, NULL);
	record(s->name);
	return NULL;
}

/*
 * Neither a higher thread nor, in sa, the end of a slice makes the owner the tail of its list.  (An LWP at a ceiling keeps
 * the time slices of its class.)
 */
static void test_owner_stays_first(void)
{
	static const struct sleeper equal = {30, 'e'}, higher = {60, 'h'};
	pthread_t t[3];

	mutex_make(PTHREAD_PRIO_PROTECT, 10);
	t[0] = start(SCHED_FIFO, 20, sleeps_for, (const char *)&higher);
	t[1] = start(SCHED_FIFO, 10, sleeps_for, (const char *)&equal);
	t[2] = start(SCHED_OTHER, 0, locks_and_computes, NULL);
	join(t, 3);
	went("a thread of the ceiling's priority runs after the owner", "hoe");
	pthread_mutex_destroy(&mutex);
}

static void says_c(void *arg)
{
	record('c');
}

static void *cancelled(void *arg)
{
	pthread_cleanup_push(says_c, NULL);
	sem_wait(&sem);
	pthread_cleanup_pop(0);
	return NULL;
}

static void test_others(void)
{
	pthread_t t[2];
	int status;
	pid_t pid;

	t[0] = start(SCHED_FIFO, 20, once, "a");
	t[1] = start(SCHED_FIFO, 20, once, "b");
	thr_suspend(t[0]);
	pthread_setschedprio(t[0], MAIN + 1);
	record('m');
	thr_continue(t[0]);
	record('m');
	join(t, 2);
	went("one that is continued runs before a lower caller goes on", "mamb");

	t[0] = start(SCHED_FIFO, MAIN + 1, cancelled, NULL);
	record('m');
	pthread_cancel(t[0]);
	record('m');
	join(t, 1);
	went("one that is cancelled, the same", "mcm");

	pid = fork();
	if (pid == 0) {
		bool same = has(pthread_self(), SCHED_FIFO, MAIN);

		turns = last = 0;
		t[0] = start(SCHED_RR, 20, takes_turns, "a");
		t[1] = start(SCHED_RR, 20, takes_turns, "b");
		join(t, 2);
		_exit(same ? strcmp(order, "ababab") == 0 ? 7 : 6 : 5);
	}
	waitpid(pid, &status, 0);
	is("a child of fork has it all", WEXITSTATUS(status), lwp ? WEXITSTATUS(status) : 7);
}

/* --- in the kernel, and with several LWPs ----------------------------------------------------- */

static void *polls(void *arg)
{
	record(*(char *)arg);
	is("no call ends by it", poll(NULL, 0, 100), 0);
	record(*(char *)arg);
	return NULL;
}

/* Its LWP is asked to look, or in mxn the pool grows. */
static void test_in_kernel(void)
{
	pthread_t t[2];

	t[0] = start(SCHED_FIFO, 30, sleeps, "h");
	t[1] = start(SCHED_FIFO, 20, polls, "a");
	join(t, 2);
	went("a thread in the kernel is preempted when its call returns", "aha");
}

static volatile unsigned long middle, low;
static unsigned long middle_went, low_went;

static void *counts(void *arg)
{
	while (!over)
		++*(volatile unsigned long *)arg;
	return NULL;
}

/* Once it runs, one of the two others has no LWP any more, which must be the lower one. */
static void *looks(void *arg)
{
	unsigned long m, l;

	sem_wait(&sem);
	l = low;
	for (m = middle; middle == m;)
		;
	compute(20 * MS);
	middle_went = middle - m;
	low_went = low - l;
	over = true;
	return NULL;
}

static void *posts_bound(void *arg)
{
	compute(20 * MS);
	sem_post(&sem);
	return NULL;
}

static bool lowest_is_taken(void)
{
	pthread_attr_t a;
	pthread_t t[4];

	over = false;
	pthread_setconcurrency(2);
	t[0] = start(SCHED_FIFO, 30, looks, NULL);
	t[1] = start(SCHED_FIFO, 20, counts, (char *)&middle);
	t[2] = start(SCHED_OTHER, 0, counts, (char *)&low);
	pthread_attr_init(&a);
	pthread_attr_setscope(&a, PTHREAD_SCOPE_SYSTEM);
	pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
	pthread_create(&t[3], &a, posts_bound, NULL);
	join(t, 4);
	return middle_went > 0 && low_went == 0;
}

/* In another process: the LWPs of sa are as many as at its start. */
static bool lowest_is_taken_in_sa(void)
{
	char *args[] = {"thr_rtsched", "two LWPs", NULL};
	char *env[] = {"LIBTHREAD=sa", "LIBTHREAD_OPTIONS=concurrency=2", NULL};
	pid_t pid;
	int how;

	if (posix_spawnp(&pid, args[0], NULL, NULL, args, env) != 0 || waitpid(pid, &how, 0) != pid)
		bail("spawn");
	return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

static void test_several(void)
{
	if (mxn || (sa && sysconf(_SC_NPROCESSORS_ONLN) > 1))
		ok("of two LWPs, that of the lowest thread is taken",
		   mxn ? lowest_is_taken() : lowest_is_taken_in_sa());
}

int main(int argc, char **argv)
{
	const char *model = getenv("LIBTHREAD");

	lwp = model == NULL || strcmp(model, "lwp") == 0;
	mxn = !lwp && strcmp(model, "mxn") == 0;
	sa = !lwp && strcmp(model, "sa") == 0;
	if (argc > 1) {
		sem_init(&sem, 0, 0);
		set(pthread_self(), SCHED_FIFO, MAIN);
		return !lowest_is_taken();
	}
	if (sa && getenv("LIBTHREAD_OPTIONS") == NULL) {
		setenv("LIBTHREAD_OPTIONS", "concurrency=1", 1);
		execvp(argv[0], argv);
		bail("execvp");
	}
	if (lwp && processor_bind(P_PID, P_MYID, 0, NULL) != 0)
		bail("processor_bind");
	sem_init(&sem, 0, 0);
	usleep(1000); /* the library's LWP for deadlines has begun */
	is("pthread_setschedparam", set(pthread_self(), SCHED_FIFO, MAIN), 0);
	ok("the caller has it", has(pthread_self(), SCHED_FIFO, MAIN));
	test_creation();
	test_yield_and_wake();
	test_changes();
	test_preemption();
	test_slices();
	test_rest_of_slice();
	test_mutex(PTHREAD_PRIO_NONE, "without a protocol", "lmlhle");
	test_mutex(PTHREAD_PRIO_INHERIT, "an owner inherits real-time priority", "llhmle");
	test_mutex(PTHREAD_PRIO_PROTECT, "an owner runs at its ceiling", "llhmle");
	if (!lwp)
		test_owner_stays_first();
	test_others();
	test_in_kernel();
	test_several();
	return tap_done();
}
