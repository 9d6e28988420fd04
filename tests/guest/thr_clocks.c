/*
 * thr_clocks.c - waits that end at a time, of every object and by either clock: what a free
 * object does with a bad time, what a held one does, and that no wait ends early.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <synch.h>
#include <threads.h>
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

/* The same by the other interfaces, which know one clock. */
static int wait_cond_ui(clockid_t c, const struct timespec *t)
{
	mutex_t m = DEFAULTMUTEX;
	int error;

	mutex_lock(&m);
	error = cond_timedwait(&cond, &m, (timestruc_t *)t);
	is("it has the mutex", mutex_unlock(&m), 0);
	return error == ETIME ? ETIMEDOUT : error;
}

static int error_of(int result)
{
	return result == thrd_timedout ? ETIMEDOUT : result == thrd_error ? EINVAL : result;
}

static int wait_mtx(clockid_t c, const struct timespec *t)
{
	int result = mtx_timedlock(&mutex, t);

	if (result == thrd_success)
		mtx_unlock(&mutex);
	return error_of(result);
}

static int wait_cnd(clockid_t c, const struct timespec *t)
{
	int result;
	mtx_t m;

	mtx_init(&m, mtx_plain);
	mtx_lock(&m);
	result = cnd_timedwait(&cond, &m, t);
	is("it has the mutex", mtx_unlock(&m), thrd_success);
	return error_of(result);
}

static const struct kind {
	const char *name;
	int (*wait)(clockid_t, const struct timespec *);
	bool one_clock, can_be_free;
} kinds[] = {
	{"mutex", wait_mutex, false, true},      {"read lock", wait_read, false, true},
	{"write lock", wait_write, false, true}, {"semaphore", wait_sem, false, true},
	{"condition", wait_cond, false, false},  {"cond_timedwait", wait_cond_ui, true, false},
	{"mtx_timedlock", wait_mtx, true, true}, {"cnd_timedwait", wait_cnd, true, false},
};
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *label(const struct kind *k, const char *what)
{
	static char text[80];

	snprintf(text, sizeof(text), "%s: %s", k->name, what);
	return text;
}

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

	for (const struct kind *k = kinds; k < kinds + NKINDS; k++) {
		struct timespec t;

		for (unsigned i = 0; i < (k->one_clock ? 1 : 2); i++) {
			clockid_t c = clocks[i];
			struct timespec now;

			is(label(k, "nanoseconds below 0"), k->wait(c, &negative), EINVAL);
			is(label(k, "nanoseconds of a second"), k->wait(c, &large), EINVAL);
			is(label(k, "before all time"), k->wait(c, &before), ETIMEDOUT);
			is(label(k, "the beginning of time"), k->wait(c, &start), ETIMEDOUT);
			t = from_now(c, 3000000);
			is(label(k, "soon"), k->wait(c, &t), ETIMEDOUT);
			clock_gettime(c, &now);
			ok(label(k, "and not before"), !earlier(&now, &t));
		}
		t = from_now(CLOCK_REALTIME, 0);
		if (!k->one_clock)
			is(label(k, "no such clock"), k->wait(CLOCK_PROCESS_CPUTIME_ID, &t),
			   EINVAL);
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
	const struct timespec odd = {0, -1}, past = {0, 0};

	for (const struct kind *k = kinds; k < kinds + NKINDS; k++) {
		if (!k->can_be_free)
			continue;
		is(label(k, "free, a bad time"), k->wait(CLOCK_REALTIME, &odd), 0);
		is(label(k, "free, a bad time, monotonic"), k->wait(CLOCK_MONOTONIC, &odd), 0);
		is(label(k, "free, a time that is past"), k->wait(CLOCK_REALTIME, &past), 0);
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
