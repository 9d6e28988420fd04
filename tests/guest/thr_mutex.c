/*
 * thr_mutex.c [ROUNDS] - mutexes: every function with good and bad arguments, and
 * exclusion when threads are preempted inside and outside of the critical section.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <synch.h>
#include <thread.h>
#include <time.h>
#include "start.h"
#include "tap.h"

#define THREADS 8

static long rounds = 3000;

/* --- one thread --------------------------------------------------------------------- */

static pthread_mutex_t of_type(int type)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutex_init(&m, &attr);
	pthread_mutexattr_destroy(&attr);
	return m;
}

static void test_attributes(void)
{
	pthread_mutexattr_t attr;
	int v = -1;

	is("mutexattr_init", pthread_mutexattr_init(&attr), 0);
	is("gettype", pthread_mutexattr_gettype(&attr, &v), 0);
	is("default type", v, PTHREAD_MUTEX_DEFAULT);
	is("settype unknown", pthread_mutexattr_settype(&attr, 77), EINVAL);
	is("settype negative", pthread_mutexattr_settype(&attr, -1), EINVAL);
	is("settype recursive", pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE), 0);
	is("gettype again", (pthread_mutexattr_gettype(&attr, &v), v), PTHREAD_MUTEX_RECURSIVE);
	is("setpshared private", pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_PRIVATE), 0);
	is("setpshared, odd", pthread_mutexattr_setpshared(&attr, 2), EINVAL);
	is("setpshared unknown", pthread_mutexattr_setpshared(&attr, 9), EINVAL);
	is("getpshared", (pthread_mutexattr_getpshared(&attr, &v), v), PTHREAD_PROCESS_PRIVATE);
	is("mutexattr_destroy", pthread_mutexattr_destroy(&attr), 0);
	is("mutexattr_init, once more", pthread_mutexattr_init(&attr), 0);
	is("the default again", (pthread_mutexattr_gettype(&attr, &v), v), PTHREAD_MUTEX_DEFAULT);
}

/* What becomes of the attributes is nothing to the mutexes that have been made with them. */
static void test_attributes_later(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&m, &attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	pthread_mutexattr_setprioceiling(&attr, 30);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_lock(&m);
	is("attributes that change later: no matter", pthread_mutex_lock(&m), EDEADLK);
	pthread_mutex_unlock(&m);
	pthread_mutexattr_destroy(&attr);
	memset(&attr, 0xff, sizeof(attr));
	pthread_mutex_lock(&m);
	is("attributes that are gone: no matter", pthread_mutex_lock(&m), EDEADLK);
	is("a protocol that is set later: no matter", pthread_mutex_getprioceiling(&m, &(int){0}),
	   EINVAL);
	pthread_mutex_unlock(&m);
}

static void test_normal(const pthread_mutexattr_t *attr)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct timespec soon = later(CLOCK_REALTIME, 20000), bad = {.tv_nsec = 1000000000};

	if (attr != NULL)
		is("init, default attributes", pthread_mutex_init(&m, attr), 0);
	is("free at first", pthread_mutex_trylock(&m), 0);
	pthread_mutex_unlock(&m);
	is("lock", pthread_mutex_lock(&m), 0);
	is("trylock, own", pthread_mutex_trylock(&m), EBUSY);
	is("destroy, locked", pthread_mutex_destroy(&m), EBUSY);
	is("normal: its owner would wait for ever", pthread_mutex_timedlock(&m, &soon), ETIMEDOUT);
	is("timedlock, time out of range", pthread_mutex_timedlock(&m, &bad), EINVAL);
	is("unlock", pthread_mutex_unlock(&m), 0);
	is("unlock, free", pthread_mutex_unlock(&m), EPERM);
	is("trylock, free", pthread_mutex_trylock(&m), 0);
	is("unlock again", pthread_mutex_unlock(&m), 0);
	is("timedlock, free, bad time", pthread_mutex_timedlock(&m, &bad), 0);
	pthread_mutex_unlock(&m);
	is("destroy", pthread_mutex_destroy(&m), 0);
	memset(&m, 0xff, sizeof(m));
	is("init, destroyed", pthread_mutex_init(&m, NULL), 0);
	is("as new: free", pthread_mutex_trylock(&m), 0);
	is("as new: normal", pthread_mutex_trylock(&m), EBUSY);
	pthread_mutex_unlock(&m);
}

static void test_errorcheck(void)
{
	pthread_mutex_t m = of_type(PTHREAD_MUTEX_ERRORCHECK);
	struct timespec soon = later(CLOCK_REALTIME, 20000);

	is("errorcheck: unlock, free", pthread_mutex_unlock(&m), EPERM);
	is("errorcheck: lock", pthread_mutex_lock(&m), 0);
	is("errorcheck: relock", pthread_mutex_lock(&m), EDEADLK);
	is("errorcheck: trylock", pthread_mutex_trylock(&m), EBUSY);
	is("errorcheck: timedlock", pthread_mutex_timedlock(&m, &soon), EDEADLK);
	is("errorcheck: unlock", pthread_mutex_unlock(&m), 0);
}

static void test_recursive(void)
{
	pthread_mutex_t m = of_type(PTHREAD_MUTEX_RECURSIVE);
	struct timespec soon = later(CLOCK_REALTIME, 20000);
	int errors = 0;

	for (int i = 0; i < 100; i++)
		errors += pthread_mutex_lock(&m) != 0;
	errors += pthread_mutex_trylock(&m) != 0;
	errors += pthread_mutex_timedlock(&m, &soon) != 0;
	for (int i = 0; i < 102; i++)
		errors += pthread_mutex_unlock(&m) != 0;
	is("recursive: 102 locks and unlocks", errors, 0);
	is("recursive: one unlock too many", pthread_mutex_unlock(&m), EPERM);
	pthread_mutex_lock(&m);
	m.__count = UINT_MAX;
	is("recursive: too often", pthread_mutex_lock(&m), EAGAIN);
}

static void test_ui(void)
{
	mutex_t m = DEFAULTMUTEX;

	is("mutex_lock", mutex_lock(&m), 0);
	is("mutex_trylock", mutex_trylock(&m), EBUSY);
	ok("MUTEX_HELD: the caller has it", MUTEX_HELD(&m));
	is("a mutex_t is a pthread_mutex_t", pthread_mutex_unlock(&m), 0);
	ok("MUTEX_HELD: nobody has it", !MUTEX_HELD(&m));
	memset(&m, 0, sizeof(m));
	is("all zero is a mutex_t", mutex_lock(&m), 0);
	is("mutex_unlock", mutex_unlock(&m), 0);
	is("mutex_trylock, free", mutex_trylock(&m), 0);
	mutex_unlock(&m);
	is("mutex_destroy", mutex_destroy(&m), 0);
	is("mutex_init, no such type", mutex_init(&m, 0x40, NULL), EINVAL);
	is("mutex_init, unknown", mutex_init(&m, 0x400, NULL), EINVAL);
	is("mutex_init, recursive", mutex_init(&m, USYNC_THREAD | LOCK_RECURSIVE, NULL), 0);
	is("mutex_lock twice", mutex_lock(&m) | mutex_lock(&m), 0);
	is("mutex_unlock once", mutex_unlock(&m), 0);
	ok("mutex_unlock as often as locked", MUTEX_HELD(&m));
	is("mutex_unlock twice", mutex_unlock(&m), 0);
	ok("... then it is free", !MUTEX_HELD(&m));
	is("mutex_init, errorcheck", mutex_init(&m, LOCK_ERRORCHECK, NULL), 0);
	is("mutex_unlock, free", mutex_unlock(&m), EPERM);
}

/* --- two threads -------------------------------------------------------------------- */

struct other {
	pthread_mutex_t *m;
	sem_t go;
	volatile bool began;
	int try, unlock, timed, held;
};

static void *other(void *arg)
{
	struct other *o = arg;
	struct timespec soon;

	o->began = true;
	sem_wait(&o->go); /* a wait that leaves nothing behind which the timed one could take up */
	soon = later(CLOCK_REALTIME, 30000);
	o->held = MUTEX_HELD(o->m);
	o->try = pthread_mutex_trylock(o->m);
	o->timed = pthread_mutex_timedlock(o->m, &soon);
	o->unlock = pthread_mutex_unlock(o->m);
	return NULL;
}

static struct other ask_other(pthread_mutex_t *m)
{
	struct other o = {.m = m, .timed = -1};
	pthread_t t;

	sem_init(&o.go, 0, 0);
	if (pthread_create(&t, NULL, other, &o) != 0)
		bail("pthread_create");
	while (!o.began) /* an unbound one then runs until it waits */
		sched_yield();
	sem_post(&o.go);
	pthread_join(t, NULL);
	return o;
}

static void test_other(void)
{
	static const int types[] = {PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};

	for (int i = 0; i < 2; i++) {
		pthread_mutex_t m = of_type(types[i]);
		struct other o;

		pthread_mutex_lock(&m);
		o = ask_other(&m);
		ok("MUTEX_HELD: another has it", !o.held);
		is("trylock, another's", o.try, EBUSY);
		is("timedlock, another's", o.timed, ETIMEDOUT);
		is("unlock, another's", o.unlock, EPERM);
		is("unlock, after all that", pthread_mutex_unlock(&m), 0);
	}
}

/* Locked three times, it is another's only after three unlocks. */
static void *tries(void *m)
{
	int error = pthread_mutex_trylock(m);

	if (error == 0)
		pthread_mutex_unlock(m);
	return (void *)(long)error;
}

static void test_levels(void)
{
	pthread_mutex_t m = of_type(PTHREAD_MUTEX_RECURSIVE);
	int errors = 0;

	for (int i = 0; i < 3; i++)
		pthread_mutex_lock(&m);
	for (int i = 3; i >= 0; i--) {
		pthread_t t;
		void *error;

		pthread_create(&t, NULL, tries, &m);
		pthread_join(t, &error);
		errors += (long)error != (i > 0 ? EBUSY : 0);
		pthread_mutex_unlock(&m);
	}
	is("recursive: another's after as many unlocks", errors, 0);
}

/* A thread times out and leaves other threads in the queue, which must still be woken. */
static pthread_mutex_t crowded = PTHREAD_MUTEX_INITIALIZER;
static long got, timed_out;

static void *impatient(void *arg)
{
	for (long i = 0; i < rounds / 10 + 1; i++) {
		struct timespec t = later(CLOCK_REALTIME, 0);

		t.tv_nsec += (i * 7919 + (long)arg * 104729) % 300000;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		if ((long)arg % 2) {
			pthread_mutex_lock(&crowded);
		} else if (pthread_mutex_timedlock(&crowded, &t) != 0) {
			__atomic_add_fetch(&timed_out, 1, __ATOMIC_RELAXED);
			continue;
		}
		got++;
		if (i % 16 == 0)
			sched_yield();
		pthread_mutex_unlock(&crowded);
	}
	return NULL;
}

/* --- exclusion ---------------------------------------------------------------------- */

static pthread_mutex_t *lock;
static volatile long counter, inside;
static long overlaps;

static void spend(long turns)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

static void *work(void *arg)
{
	unsigned long seed = (unsigned long)arg;

	for (long i = 0; i < rounds; i++) {
		long seen;

		seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		while ((seed >> 60) == 3 ? pthread_mutex_trylock(lock) : pthread_mutex_lock(lock))
			sched_yield();
		if (inside++ != 0)
			overlaps++;
		seen = counter;
		if (seed >> 56 == 1)
			sched_yield(); /* the next thread runs into a held mutex */
		spend(seed >> 33 & 63);
		counter = seen + 1;
		inside--;
		pthread_mutex_unlock(lock);
		spend(seed >> 40 & 63);
	}
	return NULL;
}

static void all(void *(*fn)(void *), int scope)
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		t[i] = start(fn, (void *)i, scope >= 0 ? scope : i % 2);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void test_exclusion(const char *what, int type, int scope)
{
	pthread_mutex_t m = of_type(type);
	char name[60];

	lock = &m;
	counter = overlaps = 0;
	all(work, scope);
	snprintf(name, sizeof(name), "%s: count", what);
	is(name, counter, rounds * THREADS);
	snprintf(name, sizeof(name), "%s: nobody else inside", what);
	is(name, overlaps, 0);
	is("no owner is left", pthread_mutex_destroy(&m), 0);
}

/*
 * The last user of an object destroys it: mutex and memory are gone as soon as the count
 * is 0, while the other thread may be in the last instructions of its unlock.
 */
struct shared {
	pthread_mutex_t m;
	int users;
	long poison[6];
};

static void drop(struct shared *s)
{
	int left;

	pthread_mutex_lock(&s->m);
	left = --s->users;
	pthread_mutex_unlock(&s->m);
	if (left == 0) {
		pthread_mutex_destroy(&s->m);
		memset(s, 0xa5, sizeof(*s));
		free(s);
	}
}

static struct shared *volatile baton;
static pthread_barrier_t both;

static void *dropper(void *arg)
{
	for (long i = 0; i < rounds / 4; i++) {
		pthread_barrier_wait(&both);
		drop(baton);
		pthread_barrier_wait(&both);
	}
	return NULL;
}

static void test_last_user_frees(void)
{
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, dropper, NULL);
	for (long i = 0; i < rounds / 4; i++) {
		struct shared *s = malloc(sizeof(*s));

		pthread_mutex_init(&s->m, NULL);
		s->users = 2;
		baton = s;
		pthread_barrier_wait(&both);
		drop(s);
		pthread_barrier_wait(&both);
	}
	pthread_join(t, NULL);
	ok("the last user may free a mutex", true);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;

	if (argc > 1)
		rounds = atol(argv[1]);
	pthread_mutexattr_init(&attr);
	test_attributes();
	test_attributes_later();
	test_normal(NULL);
	test_normal(&attr);
	test_errorcheck();
	test_recursive();
	test_ui();
	test_other();
	test_levels();
	for (int concurrency = 1; concurrency <= 4; concurrency *= 4) {
		is("setconcurrency", pthread_setconcurrency(concurrency), 0);
		test_exclusion("unbound", PTHREAD_MUTEX_NORMAL, PTHREAD_SCOPE_PROCESS);
		test_exclusion("bound", PTHREAD_MUTEX_NORMAL, PTHREAD_SCOPE_SYSTEM);
		test_exclusion("both", PTHREAD_MUTEX_RECURSIVE, -1);
		got = timed_out = 0;
		all(impatient, -1);
		is("locks and time-outs", got + timed_out, THREADS * (rounds / 10 + 1));
		test_last_user_frees();
	}
	return tap_done();
}
