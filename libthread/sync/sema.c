/*
 * sema.c - semaphores.
 *
 * __word is the value, or WAITING.  WAITING means that the value is 0 and that threads may be in
 * the semaphore's queue.  While WAITING is set, the word changes only under the lock of the queue.
 * A post that finds waiters gives its unit directly to the first of them.  So the woken thread owns
 * the unit, and no other thread can take it before.  The poster touches the semaphore last before
 * the wake-up, because the woken thread may destroy it.
 *
 * A model may let a thread wait alone, in no queue: its name, larger than WAITING, is the word then (model.h,
 * sema_wait).
 *
 * *Race:* a thread finds no unit and goes to sleep, and another thread posts; *without this:* the
 * post adds a unit and wakes no thread, and the sleeper is lost; *closed by:* WAITING.  The waiter
 * sets it under the lock of the queue, in a word that is 0, and enters the queue before it releases
 * the lock.  An earlier post made the word nonzero.  A later post finds WAITING, takes the lock,
 * and finds the waiter.
 */
#include <errno.h>
#include <semaphore.h>
#include "shared.h"
#include "../core/core.h"
#include "../core/model.h"
#include "../core/sleepq.h"
#include "../lockstat/lockstat.h"

#define WAITING LWP_SEMA_WAITING

_Static_assert(SEM_VALUE_MAX == WAITING - 1, "values leave room for the flag");

static int sema_fail(int error)
{
	errno = error;
	return -1;
}

/* Are its waiters in queues of the kernel?  LWP_SEMA_SHARED is the only flag. */
static inline bool in_kernel(const sem_t *s)
{
	return (s->__flags | __options.kernel_sleep) != 0;
}

/* Takes a unit if there is one. */
static inline bool sema_try(sem_t *s)
{
	unsigned seen = __atomic_load_n(&s->__word, __ATOMIC_RELAXED);

	while ((int)seen > 0)
		if (likely(__atomic_compare_exchange_n(&s->__word, &seen, seen - 1, false,
						       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
			return true;
	return false;
}

/*
 * With the lock of the queue: takes a unit if there is one; otherwise makes sure that WAITING is
 * set.  Meanwhile it may release the lock.
 */
static bool try_or_mark(sem_t *s, struct sleepq *q)
{
	for (;;) {
		unsigned seen = 0;

		if (__atomic_compare_exchange_n(&s->__word, &seen, WAITING, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    seen == WAITING)
			return false;
		if (sema_try(s))
			return true;
		if (__ops->sema_settle != NULL) {
			__ops->unlock(q);
			__ops->sema_settle(s);
			__ops->lock(q);
		}
	}
}

/*
 * The general slow path of a wait.  The caller holds the lock of the queue; this function releases
 * it.  0, or -1: ETIMEDOUT.
 */
static int __attribute__((noinline)) wait_locked(sem_t *s, struct sleepq *q, deadline_t deadline)
{
	if (try_or_mark(s, q)) {
		__ops->unlock(q);
		return 0;
	}
	PROBE(lock_wait, "lock kind", s, PROBE_SEMA, 0);
	sleepq_enter(q, s, thread_self(), ORDER_OPTION);
	COUNT(blocks, 1);
	thread_self()->wait_arg = NULL;
	if (__ops->block(q, deadline, NULL) == NULL)
		return 0;
	pthread_testcancel();
	return sema_fail(ETIMEDOUT);
}

/* 0; -1: ETIMEDOUT, EINTR. */
static int __attribute__((noinline)) wait_shared(sem_t *s, deadline_t deadline)
{
	int error = __shared_sem_wait(s, deadline);

	COUNT(blocks, 1);
	return error != 0 ? sema_fail(error) : 0;
}

/*
 * The code written out here is for two threads that take turns: no thread waits yet for this object
 * or for another object of the queue.
 */
static inline __attribute__((always_inline)) int wait_in_queue(sem_t *s, struct sleepq *q,
							       deadline_t deadline)
{
	unsigned none = 0;

	sleepq_lock(q);
	if (unlikely(deadline != NEVER || q->first != NULL ||
		     !__atomic_compare_exchange_n(&s->__word, &none, WAITING, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
		return wait_locked(s, q, deadline);
	sleepq_enter_empty(q, s, thread_self());
	COUNT(blocks, 1);
	PROBE(lock_wait, "lock kind", s, PROBE_SEMA, 0);
	thread_self()->wait_arg = &__ends_in_sleep;
	return __ops->sleep(q);
}

/* A wait for which the model has no fast path of its own. */
static int __attribute__((noinline)) wait_ordinary(sem_t *s)
{
	return wait_in_queue(s, sleepq_of_point(s), NEVER);
}

static int __attribute__((noinline)) wait_special(sem_t *s, struct sleepq *q, deadline_t deadline)
{
	if (in_kernel(s))
		return wait_shared(s, deadline);
	return wait_in_queue(s, q, deadline);
}

/* While waits are counted, the model's own fast path is not used. */
static inline __attribute__((always_inline)) int wait_slow(sem_t *s, deadline_t deadline)
{
	struct sleepq *q = sleepq_of_point(s);
	unsigned special = s->__flags | __options.sema_special;

	if (likely(special == 0))
		return wait_in_queue(s, q, deadline);
	if (special == SEMA_MODEL && deadline == NEVER && !COUNTING)
		return __ops->sema_wait(s, q, wait_ordinary);
	return wait_special(s, q, deadline);
}

/*
 * Takes a unit; waits until there is one.  A cancellation point.  EINTR: a handler was called
 * meanwhile (only for a shared semaphore).
 */
int sem_wait(sem_t *s)
{
	if (unlikely(cancel_due()))
		return __cancelled();
	if (likely(sema_try(s)))
		return 0;
	return wait_slow(s, NEVER);
}

/* EAGAIN: there is no unit. */
int sem_trywait(sem_t *s)
{
	return sema_try(s) ? 0 : sema_fail(EAGAIN);
}

/*
 * The same until abstime by the clock, CLOCK_REALTIME or CLOCK_MONOTONIC.  An available unit is
 * taken whatever the clock and abstime are.  ETIMEDOUT: there was no unit before abstime.  EINVAL:
 * another clock, or nanoseconds of abstime out of range.  ENOMEM: the model could not prepare for
 * deadlines.  Errors of sem_wait.
 */
int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *abstime)
{
	deadline_t deadline;
	int error;

	pthread_testcancel();
	if (likely(sema_try(s)))
		return 0;
	error = __deadline(clock, abstime, &deadline);
	return error != 0 ? sema_fail(error) : wait_slow(s, deadline);
}

/* By CLOCK_REALTIME.  Errors of sem_clockwait. */
int sem_timedwait(sem_t *s, const struct timespec *abstime)
{
	return sem_clockwait(s, CLOCK_REALTIME, abstime);
}

static int post_shared(sem_t *s)
{
	int error = __shared_sem_post(s);

	COUNT(wakes, error == 0);
	return error != 0 ? sema_fail(error) : 0;
}

/*
 * The general slow path of a post.  The caller holds the lock of the queue; this function releases
 * it.
 */
static int __attribute__((noinline)) post_locked(sem_t *s, struct sleepq *q)
{
	struct thread *t;
	bool more;

	if (in_kernel(s)) {
		__ops->unlock(q);
		return post_shared(s);
	}
	if (__atomic_load_n(&s->__word, __ATOMIC_RELAXED) != WAITING) {
		__ops->unlock(q);
		return sem_post(s); /* other posts have woken all waiters meanwhile */
	}
	t = sleepq_take(q, s, &more);
	if (t == NULL) { /* all waiters have timed out */
		__atomic_store_n(&s->__word, 1, __ATOMIC_RELEASE);
		__ops->unlock(q);
		return 0;
	}
	if (!more)
		__atomic_store_n(&s->__word, 0, __ATOMIC_RELAXED);
	COUNT(wakes, 1);
	return __ops->wake_one(q, t);
}

static int __attribute__((noinline)) post_ordinary(sem_t *s)
{
	struct sleepq *q = sleepq_of_point(s);

	__ops->sema_settle(s);
	sleepq_lock(q);
	return post_locked(s, q);
}

static int __attribute__((noinline)) sema_overflow(void)
{
	return sema_fail(EOVERFLOW);
}

/* Adds a unit, or gives it to a waiter.  EOVERFLOW: the value is SEM_VALUE_MAX. */
int sem_post(sem_t *s)
{
	unsigned seen = __atomic_load_n(&s->__word, __ATOMIC_RELAXED);
	struct sleepq *q;
	struct thread *t;

	while (likely(seen < SEM_VALUE_MAX))
		if (likely(__atomic_compare_exchange_n(&s->__word, &seen, seen + 1, false,
						       __ATOMIC_RELEASE, __ATOMIC_RELAXED)))
			return 0;
	if (unlikely(seen != WAITING)) {
		if (seen <= SEM_VALUE_MAX || __ops->sema_post == NULL)
			return sema_overflow();
		return COUNTING ? post_ordinary(s) : __ops->sema_post(s, seen, post_ordinary);
	}
	q = sleepq_of_point(s);
	sleepq_lock(q);
	t = sleepq_only(q, s); /* if not NULL: the word is still WAITING, and s is not shared */
	if (unlikely(t == NULL))
		return post_locked(s, q);
	q->first = t->q_chain;
	__atomic_store_n(&s->__word, 0, __ATOMIC_RELAXED);
	COUNT(wakes, 1);
	return __ops->wake_one(q, t);
}

/* Stores the value; 0 while threads wait. */
int sem_getvalue(sem_t *s, int *value)
{
	unsigned seen = __atomic_load_n(&s->__word, __ATOMIC_RELAXED);

	*value = (int)seen < 0 ? 0 : seen;
	return 0;
}

/* EINVAL: value is larger than SEM_VALUE_MAX. */
int sem_init(sem_t *s, int pshared, unsigned value)
{
	if (value > SEM_VALUE_MAX)
		return sema_fail(EINVAL);
	s->__word = value;
	s->__flags = pshared ? LWP_SEMA_SHARED : 0;
	return 0;
}

/* EBUSY: threads wait for it. */
int sem_destroy(sem_t *s)
{
	struct sleepq *q = sleepq_of_point(s);
	bool busy;

	if (in_kernel(s))
		return s->__word == WAITING ? sema_fail(EBUSY) : 0;
	if (__ops->sema_settle != NULL)
		__ops->sema_settle(s);
	__ops->lock(q);
	busy = __sleepq_first(q, s) != NULL;
	__ops->unlock(q);
	return busy ? sema_fail(EBUSY) : 0;
}

LOCKSTAT_ENTRY(sem_wait);
LOCKSTAT_ENTRY(sem_trywait);
LOCKSTAT_ENTRY(sem_timedwait);
LOCKSTAT_ENTRY(sem_clockwait);
LOCKSTAT_ENTRY(sem_post);
