/*
 * thr_clocks.c - waits that end at a time, of every object and by either clock: what a free
 * object does with a bad time, what a held one does, and that no wait ends early.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include "tap.h"

static pthread_mutex_t mutex;
static pthread_cond_t cond;
static pthread_rwlock_t lock;
static sem_t sem;

/* 0 or an error number.  Each waits for what the first thread has. */
static int wait_mutex(clockid_t c, const struct timespec *t)
{
	int error = c == CLOCK_REALTIME ? pthread_mutex_timedlock(&mutex, t)
					: pthread_mutex_clocklock(&mutex, c, t);

	if (error == 0)
		pthread_mutex_unlock(&mutex);
	return error;
}

static int wait_read(clockid_t c, const struct timespec *t)
{
	int error = c == CLOCK_REALTIME ? pthread_rwlock_timedrdlock(&lock, t)
					: pthread_rwlock_clockrdlock(&lock, c, t);

	if (error == 0)
		pthread_rwlock_unlock(&lock);
	return error;
}

static int wait_write(clockid_t c, const struct timespec *t)
{
	int error = c == CLOCK_REALTIME ? pthread_rwlock_timedwrlock(&lock, t)
					: pthread_rwlock_clockwrlock(&lock, c, t);

	if (error == 0)
		pthread_rwlock_unlock(&lock);
	return error;
}

static int wait_sem(clockid_t c, const struct timespec *t)
{
	int r = c == CLOCK_REALTIME ? sem_timedwait(&sem, t) : sem_clockwait(&sem, c, t);

	if (r == 0)
		sem_post(&sem);
	return r < 0 ? errno : 0;
}

/* By the clock of an attribute, too. */
static int wait_cond(clockid_t c, const struct timespec *t)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_condattr_t attr;
	pthread_cond_t own;
	int error, same;

	pthread_mutex_lock(&m);
	error = c == CLOCK_REALTIME ? pthread_cond_timedwait(&cond, &m, t)
				    : pthread_cond_clockwait(&cond, &m, c, t);
	pthread_condattr_init(&attr);
	if (pthread_condattr_setclock(&attr, c) == 0) {
		pthread_cond_init(&own, &attr);
		same = pthread_cond_timedwait(&own, &m, t);
		is("the same by the attribute's clock", same, error);
	}
	is("it has the mutex", pthread_mutex_unlock(&m), 0);
	return error;
}

static const struct kind {
	const char *name;
	int (*wait)(clockid_t, const struct timespec *);
} kinds[] = {
	{"mutex", wait_mutex},   {"read lock", wait_read}, {"write lock", wait_write},
	{"semaphore", wait_sem}, {"condition", wait_cond},
};
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct timespec from_now(clockid_t c, long ns)
{
	struct timespec t;

	clock_gettime(c, &t);
	t.tv_nsec += ns;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

static int earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void *held(void *arg)
{
	static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
	const struct timespec negative = {0, -1}, large = {0, 1000000000};
	const struct timespec before = {-5, 0}, start = {0, 0};

	for (unsigned k = 0; k < NKINDS; k++) {
		struct timespec t;

		printf("# %s, held\n", kinds[k].name);
		for (unsigned i = 0; i < 2; i++) {
			clockid_t c = clocks[i];
			struct timespec now;

			is("nanoseconds below 0", kinds[k].wait(c, &negative), EINVAL);
			is("nanoseconds of a second", kinds[k].wait(c, &large), EINVAL);
			is("before all time", kinds[k].wait(c, &before), ETIMEDOUT);
			is("the beginning of time", kinds[k].wait(c, &start), ETIMEDOUT);
			t = from_now(c, 3000000);
			is("soon", kinds[k].wait(c, &t), ETIMEDOUT);
			clock_gettime(c, &now);
			ok("and not before", !earlier(&now, &t));
		}
		t = from_now(CLOCK_REALTIME, 0);
		is("no such clock", kinds[k].wait(CLOCK_PROCESS_CPUTIME_ID, &t), EINVAL);
	}
	return NULL;
}

/* By CLOCK_REALTIME alone; the thread that is waited for goes on. */
static void *stays(void *go)
{
	sem_wait(go);
	return go;
}

static void test_join(void)
{
	struct timespec t, now;
	pthread_t thread;
	void *status;
	sem_t go;

	sem_init(&go, 0, 0);
	if (pthread_create(&thread, NULL, stays, &go) != 0)
		bail("pthread_create");
	t = from_now(CLOCK_REALTIME, 3000000);
	is("timedjoin: soon", pthread_timedjoin_np(thread, &status, &t), ETIMEDOUT);
	clock_gettime(CLOCK_REALTIME, &now);
	ok("timedjoin: and not before", !earlier(&now, &t));
	sem_post(&go);
	is("timedjoin: it can be joined still", pthread_join(thread, &status), 0);
	ok("timedjoin: with its status", status == &go);
}

static void test_free(void)
{
	const struct timespec odd = {0, -1};

	for (unsigned k = 0; k < NKINDS - 1; k++) {
		printf("# %s, free\n", kinds[k].name);
		is("a bad time", kinds[k].wait(CLOCK_REALTIME, &odd), 0);
		is("a bad time, monotonic", kinds[k].wait(CLOCK_MONOTONIC, &odd), 0);
	}
}

static void test_condattr(void)
{
	pthread_condattr_t attr;
	clockid_t c;

	is("condattr_init", pthread_condattr_init(&attr), 0);
	is("getclock", (pthread_condattr_getclock(&attr, &c), c), CLOCK_REALTIME);
	is("setclock", pthread_condattr_setclock(&attr, CLOCK_MONOTONIC), 0);
	is("setclock, CPU time", pthread_condattr_setclock(&attr, CLOCK_THREAD_CPUTIME_ID), EINVAL);
	is("setclock, no clock", pthread_condattr_setclock(&attr, 99), EINVAL);
	is("getclock again", (pthread_condattr_getclock(&attr, &c), c), CLOCK_MONOTONIC);
	is("condattr_destroy", pthread_condattr_destroy(&attr), 0);
}

static void test_all(int pshared)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_rwlockattr_t ra;
	pthread_t t;

	printf("# process-shared: %d\n", pshared);
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, pshared);
	pthread_mutex_init(&mutex, &ma);
	pthread_rwlockattr_init(&ra);
	pthread_rwlockattr_setpshared(&ra, pshared);
	pthread_rwlock_init(&lock, &ra);
	pthread_condattr_init(&ca);
	pthread_cond_init(&cond, &ca);
	sem_init(&sem, pshared, 1);
	test_free();
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&lock);
	sem_wait(&sem);
	if (pthread_create(&t, NULL, held, NULL) != 0)
		bail("pthread_create");
	pthread_join(t, NULL);
	is("the mutex was the first thread's", pthread_mutex_unlock(&mutex), 0);
	is("the lock too", pthread_rwlock_unlock(&lock), 0);
}

int main(void)
{
	test_condattr();
	test_join();
	test_all(PTHREAD_PROCESS_PRIVATE);
	test_all(PTHREAD_PROCESS_SHARED);
	return tap_done();
}
