/*
 * thr_protocol.c [ROUNDS] - mutexes with a protocol: PTHREAD_PRIO_INHERIT and
 * PTHREAD_PRIO_PROTECT.  Priority inversion without a protocol and with each, on one CPU, where
 * the order in which threads end follows from their priorities alone; along a chain, after a
 * time-out, with a condition variable, after an owner's death.  All functions with good and bad
 * arguments; exclusion on all CPUs.
 *
 * Priorities are real-time ones of LWPs in model lwp, and those of threads in the others.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/priocntl.h>
#include <sys/processor.h>
#include <sys/procset.h>
#include <synch.h>
#include <thread.h>
#include <time.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include "tap.h"

static long rounds = 2000;
static bool kernel_schedules; /* model lwp */

#define RT_FIRST 100 /* the global priority of real-time 0 */

static void set_priority(int pri)
{
	if (kernel_schedules) {
		struct pcparms p = {.pc_cid = WEFT_CLASS_RT};

		p.rt = (struct rtparms){.rt_pri = pri, .rt_tqnsecs = RT_TQINF};
		if (__sys_priocntl(WEFT_P_LWPID, WEFT_P_MYID, PC_SETPARMS, &p) < 0)
			bail("priocntl");
	} else if (thr_setprio(thr_self(), pri) != 0) {
		bail("thr_setprio");
	}
}

static void reprice(pthread_t t, int pri)
{
	struct sched_param p = {.sched_priority = pri};

	is("setschedparam",
	   pthread_setschedparam(t, kernel_schedules ? SCHED_FIFO : SCHED_OTHER, &p), 0);
}

/* What the kernel goes by; model lwp. */
static int lwp_priority(void)
{
	struct lwp_info info;

	if (__sys_lwp_info(__sys_getpid(), __sys_lwp_self(), &info) < 0)
		bail("lwp_info");
	return info.pri;
}

#define SHARED 2 /* besides PTHREAD_MUTEX_STALLED and _ROBUST */

static bool by_ui; /* mutex_init instead of pthread_mutex_init */

/* As UNIX International's interface has it. */
static void init_ui(mutex_t *m, int protocol, int ceiling, int type, int kind)
{
	static const int protocols[] = {
		[PTHREAD_PRIO_INHERIT] = LOCK_PRIO_INHERIT,
		[PTHREAD_PRIO_PROTECT] = LOCK_PRIO_PROTECT,
	};
	static const int types[] = {
		[PTHREAD_MUTEX_RECURSIVE] = LOCK_RECURSIVE,
		[PTHREAD_MUTEX_ERRORCHECK] = LOCK_ERRORCHECK,
	};
	static const int kinds[] = {
		[PTHREAD_MUTEX_ROBUST] = LOCK_ROBUST,
		[SHARED] = USYNC_PROCESS,
	};

	if (mutex_init(m, protocols[protocol] | types[type] | kinds[kind], &ceiling) != 0)
		bail("mutex_init");
}

static void init(pthread_mutex_t *m, int protocol, int ceiling, int type, int kind)
{
	pthread_mutexattr_t attr;

	if (by_ui) {
		init_ui(m, protocol, ceiling, type, kind);
		return;
	}
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setprioceiling(&attr, ceiling);
	pthread_mutexattr_settype(&attr, type);
	if (kind == SHARED)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	else
		pthread_mutexattr_setrobust(&attr, kind);
	if (pthread_mutex_init(m, &attr) != 0)
		bail("mutex_init");
}

/* --- actors --------------------------------------------------------------------------------- */

static char order[16];
static sem_t ready;

struct actor;

struct role {
	char name;
	int pri;
	void (*play)(struct actor *);
};

static struct actor {
	struct role role;
	sem_t go;
	pthread_t thread;
	int result;
} actors[4];

static void record(char c)
{
	order[strlen(order)] = c;
}

static void *act(void *arg)
{
	struct actor *a = arg;

	set_priority(a->role.pri);
	sem_post(&ready);
	sem_wait(&a->go);
	a->role.play(a);
	record(a->role.name);
	return NULL;
}

/* All but the first wait for their cue; it is up to the first to give it. */
static void perform(const struct role *cast, int n)
{
	memset(order, 0, sizeof(order));
	sem_init(&ready, 0, 0);
	for (int i = 0; i < n; i++) {
		actors[i] = (struct actor){.role = cast[i]};
		sem_init(&actors[i].go, 0, 0);
		if (pthread_create(&actors[i].thread, NULL, act, &actors[i]) != 0)
			bail("pthread_create");
		sem_wait(&ready);
	}
	sem_post(&actors[0].go);
	for (int i = 0; i < n; i++)
		pthread_join(actors[i].thread, NULL);
}

static pthread_mutex_t m1, m2;

static void cue(int i)
{
	sem_post(&actors[i].go);
}

/* Low has the mutex that high wants, when middle comes. */
static void low(struct actor *a)
{
	a->result = pthread_mutex_lock(&m1);
	cue(1);
	cue(2);
	pthread_mutex_unlock(&m1);
}

static void high(struct actor *a)
{
	a->result = pthread_mutex_lock(&m1);
	pthread_mutex_unlock(&m1);
}

static void middle(struct actor *a)
{
}

static const char *inversion(int protocol, int robust)
{
	static const struct role cast[] = {{'L', 10, low}, {'H', 30, high}, {'M', 20, middle}};

	init(&m1, protocol, 30, PTHREAD_MUTEX_NORMAL, robust);
	perform(cast, 3);
	is("all locked it", actors[0].result | actors[1].result, 0);
	return order;
}

static void same(const char *what, const char *got, const char *want)
{
	tap_report(strcmp(got, want) == 0, what, "the order is %s, not %s", got, want);
}

static void test_inversion(void)
{
	same("no protocol: the middle one goes before the high one",
	     inversion(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED), "MHL");
	same("inheritance: it does not", inversion(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED),
	     "HML");
	same("a ceiling: it does not", inversion(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_STALLED),
	     "HML");
	if (kernel_schedules) { /* in the others a robust mutex belongs to LWPs */
		same("inheritance, robust", inversion(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST),
		     "HML");
		same("a ceiling, robust", inversion(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_ROBUST),
		     "HML");
	}
}

/* Who waits becomes higher than the middle one while it waits. */
static void low_and_repricing(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	reprice(actors[1].thread, 30);
	cue(2);
	pthread_mutex_unlock(&m1);
}

static void test_repriced(void)
{
	static const struct role cast[] = {
		{'L', 10, low_and_repricing}, {'H', 15, high}, {'M', 20, middle}};

	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	perform(cast, 3);
	same("what a waiter's new priority is, is inherited", order, "HML");
	init(&m1, PTHREAD_PRIO_NONE, 0, 0, 0);
	perform(cast, 3);
	same("... and else is not", order, "MHL");
}

/* High waits for second, who waits for first. */
static void chain_first(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	cue(2);
	cue(3);
	pthread_mutex_unlock(&m1);
}

static void chain_second(struct actor *a)
{
	pthread_mutex_lock(&m2);
	pthread_mutex_lock(&m1);
	pthread_mutex_unlock(&m1);
	pthread_mutex_unlock(&m2);
}

static void chain_high(struct actor *a)
{
	pthread_mutex_lock(&m2);
	pthread_mutex_unlock(&m2);
}

static void test_chain(void)
{
	static const struct role cast[] = {{'1', 10, chain_first},
					   {'2', 20, chain_second},
					   {'H', 40, chain_high},
					   {'M', 30, middle}};

	init(&m1, PTHREAD_PRIO_NONE, 0, 0, 0);
	init(&m2, PTHREAD_PRIO_NONE, 0, 0, 0);
	perform(cast, 4);
	same("a chain without inheritance", order, "MH21");
	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	init(&m2, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	perform(cast, 4);
	same("a chain with inheritance", order, "HM21");
}

/* High gives up: low is low again. */
static volatile bool gave_up;

static void impatient(struct actor *a)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	a->result = pthread_mutex_clocklock(&m1, CLOCK_MONOTONIC, &t);
	gave_up = true;
}

static void outlasts(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	while (!gave_up)
		sched_yield();
	cue(2);
	record('u');
	pthread_mutex_unlock(&m1);
}

static void test_timeout(void)
{
	static const struct role cast[] = {
		{'L', 10, outlasts}, {'H', 30, impatient}, {'M', 20, middle}};

	gave_up = false;
	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	perform(cast, 3);
	is("time is up", actors[1].result, ETIMEDOUT);
	same("what was inherited from one who gave up is gone", order, "HMuL");
}

/* Of those who wait, the one of the highest priority is next, then who came first. */
static void holds(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	cue(2);
	cue(3);
	pthread_mutex_unlock(&m1);
}

static void test_order(void)
{
	static const struct role cast[] = {
		{'L', 10, holds}, {'a', 20, high}, {'b', 40, high}, {'c', 30, high}};

	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	perform(cast, 4);
	same("the highest first", order, "bcaL");
}

/* The owner ends without giving it up. */
static void dies(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	cue(2);
	record('d');
}

static void inherits_data(struct actor *a)
{
	a->result = pthread_mutex_lock(&m1);
	pthread_mutex_consistent(&m1);
	pthread_mutex_unlock(&m1);
}

static void test_death(void)
{
	static const struct role cast[] = {
		{'L', 10, dies}, {'H', 30, inherits_data}, {'M', 20, middle}};

	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, PTHREAD_MUTEX_ROBUST);
	perform(cast, 3);
	is("the owner died", actors[1].result, EOWNERDEAD);
	same("... at the priority that it inherited", order, "dLHM");
	is("as new", pthread_mutex_lock(&m1) | pthread_mutex_unlock(&m1), 0);
}

/* --- with a condition variable -------------------------------------------------------------- */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int stage;

static void waits(struct actor *a)
{
	a->result = pthread_mutex_lock(&m1) | pthread_mutex_lock(&m1);
	while (stage == 0)
		a->result |= pthread_cond_wait(&cond, &m1);
	a->result |= pthread_mutex_unlock(&m1) | pthread_mutex_unlock(&m1);
}

static void signals(struct actor *a)
{
	cue(1);
	cue(2);
	a->result = pthread_mutex_lock(&m1);
	stage = 1;
	a->result |= pthread_cond_broadcast(&cond);
	record('s');
	a->result |= pthread_mutex_unlock(&m1);
}

static void test_condition(int protocol)
{
	static const struct role cast[] = {{'L', 10, signals}, {'a', 20, waits}, {'b', 30, waits}};

	stage = 0;
	init(&m1, protocol, 40, PTHREAD_MUTEX_RECURSIVE, 0);
	perform(cast, 3);
	is("no errors", actors[0].result | actors[1].result | actors[2].result, 0);
	same("waiters go on by priority", order, "sbaL");
	is("free at the end", pthread_mutex_destroy(&m1), 0);
}

/* --- results and errors ------------------------------------------------------------------------ */

static void test_attributes(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	int v;

	pthread_mutexattr_init(&attr);
	is("getprotocol", (pthread_mutexattr_getprotocol(&attr, &v), v), PTHREAD_PRIO_NONE);
	is("setprotocol: EINVAL", pthread_mutexattr_setprotocol(&attr, 3), EINVAL);
	for (int p = PTHREAD_PRIO_NONE; p <= PTHREAD_PRIO_PROTECT; p++) {
		is("setprotocol", pthread_mutexattr_setprotocol(&attr, p), 0);
		is("getprotocol again", (pthread_mutexattr_getprotocol(&attr, &v), v), p);
	}
	int min = sched_get_priority_min(SCHED_FIFO), max = sched_get_priority_max(SCHED_FIFO);
	is("setprioceiling, too low", pthread_mutexattr_setprioceiling(&attr, min - 1), EINVAL);
	is("setprioceiling, too high", pthread_mutexattr_setprioceiling(&attr, max + 1), EINVAL);
	is("setprioceiling, lowest", pthread_mutexattr_setprioceiling(&attr, min), 0);
	is("setprioceiling, highest", pthread_mutexattr_setprioceiling(&attr, max), 0);
	is("getprioceiling", (pthread_mutexattr_getprioceiling(&attr, &v), v), max);

	pthread_mutex_init(&m, &attr);
	is("mutex_getprioceiling", (pthread_mutex_getprioceiling(&m, &v), v), max);
	is("mutex_setprioceiling", pthread_mutex_setprioceiling(&m, 17, &v), 0);
	is("... the old one", v, max);
	is("... the new one", (pthread_mutex_getprioceiling(&m, &v), v), 17);
	is("mutex_setprioceiling: EINVAL", pthread_mutex_setprioceiling(&m, max + 1, &v), EINVAL);
	is("... nothing changed", (pthread_mutex_getprioceiling(&m, &v), v), 17);
	is("free", pthread_mutex_destroy(&m), 0);
	pthread_mutex_init(&m, NULL);
	is("mutex_getprioceiling, none: EINVAL", pthread_mutex_getprioceiling(&m, &v), EINVAL);
	is("mutex_setprioceiling, none: EINVAL", pthread_mutex_setprioceiling(&m, 1, &v), EINVAL);
	pthread_mutexattr_destroy(&attr);
}

static void *tries(void *arg)
{
	struct timespec past = {0, 0}, odd = {0, -1};

	is("trylock, held: EBUSY", pthread_mutex_trylock(arg), EBUSY);
	is("timedlock, held: ETIMEDOUT", pthread_mutex_timedlock(arg, &past), ETIMEDOUT);
	is("timedlock, bad time: EINVAL", pthread_mutex_timedlock(arg, &odd), EINVAL);
	is("unlock, another's: EPERM", pthread_mutex_unlock(arg), EPERM);
	return NULL;
}

/* Given up as often as it is held, and taken as often again. */
static void test_timed_wait(pthread_mutex_t *m, bool shared)
{
	struct timespec past = {0, 0};
	pthread_condattr_t attr;
	pthread_cond_t c;

	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr,
				    shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	pthread_cond_init(&c, &attr);
	is("a timed wait for a condition", pthread_cond_timedwait(&c, m, &past), ETIMEDOUT);
	is("the condition variable is free", pthread_cond_destroy(&c), 0);
}

static void test_results(int protocol, int type, int kind)
{
	struct timespec past = {0, 0};
	pthread_mutex_t m;
	pthread_t t;

	init(&m, protocol, 59, type, kind);
	is("unlock, free: EPERM", pthread_mutex_unlock(&m), EPERM);
	is("trylock", pthread_mutex_trylock(&m), 0);
	is("unlock", pthread_mutex_unlock(&m), 0);
	is("timedlock, free, past", pthread_mutex_timedlock(&m, &past), 0);
	is("unlock", pthread_mutex_unlock(&m), 0);
	is("lock", pthread_mutex_lock(&m), 0);
	is("destroy, held: EBUSY", pthread_mutex_destroy(&m), EBUSY);
	pthread_create(&t, NULL, tries, &m);
	pthread_join(t, NULL);
	test_timed_wait(&m, kind == SHARED);
	if (type == PTHREAD_MUTEX_RECURSIVE) {
		is("recursive: lock, trylock, timedlock",
		   pthread_mutex_lock(&m) | pthread_mutex_trylock(&m) |
			   pthread_mutex_timedlock(&m, &past),
		   0);
		test_timed_wait(&m, kind == SHARED);
		for (int i = 0; i < 3; i++)
			is("recursive: unlock", pthread_mutex_unlock(&m), 0);
	} else {
		is("its owner tries: EBUSY", pthread_mutex_trylock(&m), EBUSY);
		if (type == PTHREAD_MUTEX_ERRORCHECK) {
			is("error check: EDEADLK", pthread_mutex_lock(&m), EDEADLK);
			is("error check: timedlock: EDEADLK", pthread_mutex_timedlock(&m, &past),
			   EDEADLK);
		} else {
			is("its owner waits: ETIMEDOUT", pthread_mutex_timedlock(&m, &past),
			   ETIMEDOUT);
		}
	}
	is("unlock", pthread_mutex_unlock(&m), 0);
	is("once too often: EPERM", pthread_mutex_unlock(&m), EPERM);
	is("destroy", pthread_mutex_destroy(&m), 0);
}

static void *ceilings(void *arg)
{
	pthread_mutex_t a, b;
	int old;

	init(&a, PTHREAD_PRIO_PROTECT, 20, PTHREAD_MUTEX_NORMAL, 0);
	init(&b, PTHREAD_PRIO_PROTECT, 30, PTHREAD_MUTEX_RECURSIVE, 0);
	if (kernel_schedules) {
		int before = lwp_priority();

		ok("time-share", before < RT_FIRST);
		pthread_mutex_lock(&a);
		is("a time-sharing thread goes up", lwp_priority(), RT_FIRST + 20);
		pthread_mutex_unlock(&a);
		is("... and down", lwp_priority(), before);
	}
	set_priority(10);
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	if (kernel_schedules)
		is("the highest of two", lwp_priority(), RT_FIRST + 30);
	pthread_mutex_unlock(&b);
	if (kernel_schedules)
		is("the other one", lwp_priority(), RT_FIRST + 20);
	pthread_mutex_unlock(&a);
	if (kernel_schedules)
		is("its own", lwp_priority(), RT_FIRST + 10);
	pthread_mutex_lock(&a);
	reprice(pthread_self(), 15);
	if (kernel_schedules)
		is("its own becomes another: the ceiling stays", lwp_priority(), RT_FIRST + 20);
	reprice(pthread_self(), 25);
	if (kernel_schedules)
		is("... a higher one: that counts", lwp_priority(), RT_FIRST + 25);
	reprice(pthread_self(), 15);
	pthread_mutex_unlock(&a);
	if (kernel_schedules)
		is("... and is left", lwp_priority(), RT_FIRST + 15);
	set_priority(20);
	is("its priority is the ceiling", pthread_mutex_lock(&a) | pthread_mutex_unlock(&a), 0);
	set_priority(21);
	is("lock, above the ceiling: EINVAL", pthread_mutex_lock(&a), EINVAL);
	is("trylock, above the ceiling: EINVAL", pthread_mutex_trylock(&a), EINVAL);
	is("the ceiling is changed all the same", pthread_mutex_setprioceiling(&a, 25, &old), 0);
	is("... and lets it in", pthread_mutex_lock(&a), 0);
	is("its owner changes it: EDEADLK", pthread_mutex_setprioceiling(&a, 26, &old), EDEADLK);
	is("a recursive one", pthread_mutex_lock(&b) | pthread_mutex_setprioceiling(&b, 40, &old),
	   0);
	if (kernel_schedules)
		is("... at once", lwp_priority(), RT_FIRST + 40);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return NULL;
}

/* --- exclusion --------------------------------------------------------------------------------- */

#define THREADS 6

static pthread_mutex_t guard[2];
static volatile long counter[2];

static void *mixes(void *arg)
{
	unsigned seed = (long)arg;

	for (long i = 0; i < rounds; i++) {
		int k = (seed = seed * 1103515245 + 12345) >> 16 & 1;

		if (seed >> 20 & 1 && !kernel_schedules) /* its own, while it may wait or hold */
			set_priority(seed >> 21 & 31);
		if (pthread_mutex_lock(&guard[0]) != 0)
			bail("lock");
		if (k && pthread_mutex_lock(&guard[1]) != 0)
			bail("lock");
		long v = counter[0], w = counter[1];
		if (i % 8 == 0)
			sched_yield();
		counter[0] = v + 1;
		if (k) {
			counter[1] = w + 1;
			pthread_mutex_unlock(&guard[1]);
		}
		pthread_mutex_unlock(&guard[0]);
		if (!k) {
			struct timespec soon;
			clock_gettime(CLOCK_REALTIME, &soon);
			if (pthread_mutex_timedlock(&guard[1], &soon) == 0) {
				__atomic_fetch_add(&counter[1], 1, __ATOMIC_RELAXED);
				pthread_mutex_unlock(&guard[1]);
			} else {
				pthread_mutex_lock(&guard[1]);
				counter[1] = counter[1] + 1;
				pthread_mutex_unlock(&guard[1]);
			}
		}
	}
	return NULL;
}

static void test_exclusion(int protocol)
{
	pthread_t t[THREADS];

	for (int i = 0; i < 2; i++) {
		init(&guard[i], protocol, 59, PTHREAD_MUTEX_NORMAL, 0);
		counter[i] = 0;
	}
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, mixes, (void *)i) != 0)
			bail("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	is("no change is lost", counter[0], THREADS * rounds);
	is("nor of the second one", counter[1], THREADS * rounds);
}

static void test_all_results(void)
{
	for (int p = PTHREAD_PRIO_INHERIT; p <= PTHREAD_PRIO_PROTECT; p++)
		for (int type = 0; type < 3; type++)
			for (int kind = 0; kind <= SHARED; kind++)
				test_results(p, type, kind);
}

int main(int argc, char **argv)
{
	const char *model = getenv("LIBTHREAD");

	if (argc > 1)
		rounds = atol(argv[1]);
	kernel_schedules = model == NULL || strcmp(model, "lwp") == 0;
	test_attributes();
	test_all_results();
	by_ui = true;
	test_all_results();
	by_ui = false;
	pthread_t t;
	pthread_create(&t, NULL, ceilings, NULL);
	pthread_join(t, NULL);
	if (processor_bind(P_PID, P_MYID, 0, NULL) < 0)
		bail("processor_bind: %d", errno);
	test_inversion();
	by_ui = true;
	test_inversion();
	test_chain();
	by_ui = false;
	test_repriced();
	test_chain();
	test_timeout();
	test_order();
	if (kernel_schedules)
		test_death();
	test_condition(PTHREAD_PRIO_INHERIT);
	test_condition(PTHREAD_PRIO_PROTECT);
	processor_bind(P_PID, P_MYID, PBIND_NONE, NULL);
	pthread_setconcurrency(4);
	test_exclusion(PTHREAD_PRIO_INHERIT);
	test_exclusion(PTHREAD_PRIO_PROTECT);
	return tap_done();
}
