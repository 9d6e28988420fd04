/*
 * c11.c - threads.h (C11, 7.26) over pthread.h.  It is a file of its own, because a program may use
 * these names for something else.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

static int c11_result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	default:
		return thrd_error;
	}
}

/* --- threads ------------------------------------------------------------------------- */

struct start {
	thrd_start_t fn;
	void *arg;
};

static void *c11_run(void *arg)
{
	struct start s = *(struct start *)arg;

	free(arg);
	return (void *)(intptr_t)s.fn(s.arg);
}

/* thrd_nomem: no memory or no LWP for the thread. */
int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	struct start *s = malloc(sizeof(*s));
	int error;

	if (s == NULL)
		return thrd_nomem;
	*s = (struct start){start, arg};
	error = pthread_create(thread, NULL, c11_run, s);
	if (error != 0)
		free(s);
	return error == EAGAIN ? thrd_nomem : c11_result(error);
}

thrd_t thrd_current(void)
{
	return pthread_self();
}

/* thrd_error: no such thread, or detached already, or another thread joins it. */
int thrd_detach(thrd_t thread)
{
	return c11_result(pthread_detach(thread));
}

int thrd_equal(thrd_t a, thrd_t b)
{
	return a == b;
}

void thrd_exit(int value)
{
	pthread_exit((void *)(intptr_t)value);
}

/* thrd_error: as thrd_detach, or the call would wait for ever. */
int thrd_join(thrd_t thread, int *value)
{
	void *status;
	int error = pthread_join(thread, &status);

	if (error == 0 && value != NULL)
		*value = (intptr_t)status;
	return c11_result(error);
}

/* 0; -1: a signal came; -2: the length is not valid. */
int thrd_sleep(const struct timespec *length, struct timespec *left)
{
	int error = clock_nanosleep(CLOCK_REALTIME, 0, length, left);

	return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

void thrd_yield(void)
{
	sched_yield();
}

/* --- mutexes ---------------------------------------------------------------------------- */

/* thrd_error: type is not mtx_plain or mtx_timed, either with mtx_recursive or without. */
int mtx_init(mtx_t *mutex, int type)
{
	if (type & ~(mtx_timed | mtx_recursive))
		return thrd_error;
	*mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (type & mtx_recursive)
		*mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	return thrd_success;
}

void mtx_destroy(mtx_t *mutex)
{
	pthread_mutex_destroy(mutex);
}

/* thrd_error: locked too often (recursive). */
int mtx_lock(mtx_t *mutex)
{
	return c11_result(pthread_mutex_lock(mutex));
}

/* thrd_busy: a thread owns it, perhaps the caller; thrd_error: locked too often (recursive). */
int mtx_trylock(mtx_t *mutex)
{
	return c11_result(pthread_mutex_trylock(mutex));
}

/* thrd_timedout: the mutex was not free by then; thrd_error: nanoseconds of utc out of range. */
int mtx_timedlock(mtx_t *mutex, const struct timespec *utc)
{
	return c11_result(pthread_mutex_timedlock(mutex, utc));
}

/* thrd_error: the caller does not own it. */
int mtx_unlock(mtx_t *mutex)
{
	return c11_result(pthread_mutex_unlock(mutex));
}

/* --- condition variables ------------------------------------------------------------------- */

int cnd_init(cnd_t *cond)
{
	return c11_result(pthread_cond_init(cond, NULL));
}

void cnd_destroy(cnd_t *cond)
{
	pthread_cond_destroy(cond);
}

/* thrd_error: the caller does not own the mutex. */
int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	return c11_result(pthread_cond_wait(cond, mutex));
}

/*
 * thrd_timedout: no signal came; thrd_error: also nanoseconds of utc out of range.  Errors of
 * cnd_wait.
 */
int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *utc)
{
	return c11_result(pthread_cond_timedwait(cond, mutex, utc));
}

int cnd_signal(cnd_t *cond)
{
	return c11_result(pthread_cond_signal(cond));
}

int cnd_broadcast(cnd_t *cond)
{
	return c11_result(pthread_cond_broadcast(cond));
}

/* --- thread-specific data ----------------------------------------------------------------- */

/* thrd_error: there are PTHREAD_KEYS_MAX keys. */
int tss_create(tss_t *key, tss_dtor_t destructor)
{
	return c11_result(pthread_key_create(key, destructor));
}

void tss_delete(tss_t key)
{
	pthread_key_delete(key);
}

void *tss_get(tss_t key)
{
	return pthread_getspecific(key);
}

/* thrd_error: no such key, or no memory for its value. */
int tss_set(tss_t key, void *value)
{
	return c11_result(pthread_setspecific(key, value));
}

/* --- the rest -------------------------------------------------------------------------------- */

void call_once(once_flag *flag, void (*init)(void))
{
	pthread_once(flag, init);
}

int timespec_get(struct timespec *now, int base)
{
	return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}
