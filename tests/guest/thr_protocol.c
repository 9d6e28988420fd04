/*
 * thr_protocol.c [ROUNDS] - mutexes with a protocol, PTHREAD_PRIO_INHERIT and PTHREAD_PRIO_PROTECT:
 * all functions with good and bad arguments, by both interfaces; what priority a thread has with a
 * ceiling; exclusion on all CPUs.  What the protocols are for: thr_inversion.c.
 */
#include <errno.h>
#include <time.h>
#include "protocol.h"

static long rounds = 2000;

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
	struct sched_param own;
	pthread_mutex_t a, b;
	int old, policy;

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
	pthread_getschedparam(pthread_self(), &policy, &own);
	is("pthread_getschedparam knows of no ceiling", own.sched_priority, 10);
	pthread_mutex_unlock(&b);
	if (kernel_schedules)
		is("the other mutex", lwp_priority(), RT_FIRST + 20);
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
	pthread_t t;

	if (argc > 1)
		rounds = atol(argv[1]);
	find_model();
	test_attributes();
	test_all_results();
	by_ui = true;
	test_all_results();
	by_ui = false;
	pthread_create(&t, NULL, ceilings, NULL);
	pthread_join(t, NULL);
	pthread_setconcurrency(4);
	test_exclusion(PTHREAD_PRIO_INHERIT);
	test_exclusion(PTHREAD_PRIO_PROTECT);
	return tap_done();
}
