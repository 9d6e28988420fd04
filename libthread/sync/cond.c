/*
 * cond.c - condition variables.
 *
 * *Race:* a waiter releases the mutex in order to sleep, and another thread changes the condition
 * under the mutex and signals; *without this:* the signal comes before the sleep and is lost;
 * *closed by:* the waiter, which enters the condition variable's queue before it releases the
 * mutex.  The signaller finds the waiter in the queue, or at least finds __waiters set.  The waiter
 * then finds, in block(), that it has been taken out of the queue, and does not sleep.
 *
 * __waiters is set when a thread enters the queue.  It is cleared by a signaller that found the
 * queue empty.  Both hold the lock of the queue.  __waiters may be set although no thread waits,
 * because a waiter has timed out.  It is never 0 while a thread waits.
 *
 * If the signaller owns the waiter's mutex, a woken waiter would only block on that mutex.  So the
 * waiter is moved to the mutex's queue instead, and wakes up when the mutex is released (alone, or
 * with all others: mutex.c).  This takes the locks of both queues, the condition variable's first.
 * The waiter's wait_arg is the mutex; the mutex exists at least until the waiter has reacquired it.
 *
 * A waiter has timed out only if it was in the condition variable's queue until its deadline.  If
 * it had been moved to the mutex's queue, it was signalled.
 *
 * The signaller does not touch the condition variable after the wake-up, because the woken thread
 * may destroy it at once.
 */
#include <errno.h>
#include "mutex.h"
#include "shared.h"
#include "../core/model.h"
#include "../core/sleepq.h"
#include "../lockstat/lockstat.h"

/*
 * The caller has entered c's queue cq and holds its lock.  Releases m, blocks, and reacquires m.
 * In the contended case the wake-up of m's first waiter and the park are one system call.  Returns
 * what block returns.
 */
static const void *release_and_block(pthread_mutex_t *m, struct sleepq *cq, deadline_t deadline)
{
	struct sleepq *mq;
	struct thread *next;
	unsigned long self = (unsigned long)thread_self();
	unsigned count = m->__count;
	const void *waited_for;
	bool more;

	if (count != 0) { /* a recursive mutex is released completely */
		m->__count = 0;
		__atomic_and_fetch(&m->__owner, ~M_RECURSED, __ATOMIC_RELAXED);
	}
	if (likely(__atomic_compare_exchange_n(&m->__owner, &self, 0, false, __ATOMIC_RELEASE,
					       __ATOMIC_RELAXED))) {
		waited_for = __ops->block(cq, deadline, NULL);
	} else {
		mq = sleepq_of(m);
		sleepq_also_lock(mq);
		sleepq_also_unlock(cq);
		next = sleepq_take(mq, m, &more);
		PROBE(lock_free, "lock kind", m, PROBE_MUTEX, 0);
		__atomic_store_n(&m->__owner, more ? M_WAITERS : 0, __ATOMIC_RELEASE);
		waited_for = __ops->block(mq, deadline, next);
	}
	pthread_mutex_lock(m);
	if (count != 0) {
		m->__count = count;
		__atomic_or_fetch(&m->__owner, M_RECURSED, __ATOMIC_RELAXED);
	}
	return waited_for;
}

/*
 * The same for a mutex that is shared, or has a protocol, or has its queue in the kernel.  The
 * release and the sleep need not be one step, because the caller is in cq already.
 */
static const void *release_special_and_block(pthread_mutex_t *m, struct sleepq *cq,
					     deadline_t deadline, int *error)
{
	unsigned count = m->__count;
	const void *waited_for;

	__ops->unlock(cq);
	m->__count = 0;
	pthread_mutex_unlock(m);
	__ops->lock(cq);
	waited_for = __ops->block(cq, deadline, NULL);
	*error = pthread_mutex_lock(m);
	if (*error == 0)
		m->__count = count;
	return waited_for;
}

/* c's queue is the kernel's. */
static int __attribute__((noinline))
wait_in_kernel(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline)
{
	if (cond_is_shared(c) && !mutex_is_shared(m))
		return EINVAL;
	if (!__shared_owned(m))
		return EPERM;
	COUNT(blocks, 1);
	return __shared_cond_wait(c, m, deadline);
}

static int __attribute__((noinline))
cond_wait_here(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline)
{
	struct thread *self = thread_self();
	struct sleepq *q = sleepq_of_point(c);
	bool plain = mutex_is_plain_and_own(m);
	const void *waited_for;
	int error = 0;

	if (unlikely(!plain) && mutex_owner(m) != self &&
	    !(mutex_is_shared(m) && __shared_owned(m)))
		return EPERM;
	sleepq_lock(q);
	c->__waiters = 1;
	self->wait_arg = m;
	sleepq_enter(q, c, self, ORDER_OPTION);
	COUNT(blocks, 1);
	PROBE(lock_wait, "lock kind mutex", c, PROBE_COND, m);
	waited_for = likely(plain) ? release_and_block(m, q, deadline)
				   : release_special_and_block(m, q, deadline, &error);
	if (unlikely(waited_for == c)) {
		pthread_testcancel();
		if (error == 0)
			error = ETIMEDOUT;
	}
	return error;
}

/*
 * The wait if c's queue is the kernel's, or if the caller has asynchronous cancellation on.
 * Asynchronous cancellation is off during the wait.  The wait is a cancellation point, and its
 * cleanup handlers own m; at any other moment of the wait the thread may have released m.
 */
static int __attribute__((noinline))
cond_wait_special(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline)
{
	struct thread *self = thread_self();
	bool async = __atomic_exchange_n(&self->cancel_async, false, __ATOMIC_SEQ_CST);
	int error = cond_is_in_kernel(c) ? wait_in_kernel(c, m, deadline)
					 : cond_wait_here(c, m, deadline);

	if (async) {
		__atomic_store_n(&self->cancel_async, true, __ATOMIC_SEQ_CST);
		pthread_testcancel();
	}
	return error;
}

static int cond_wait_until(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline)
{
	if (unlikely(__options.sleep_special || cond_is_shared(c)))
		return cond_wait_special(c, m, deadline);
	return cond_wait_here(c, m, deadline);
}

/*
 * Releases m and waits for a signal; the caller owns m again on return.  A cancellation point.
 * EPERM: the caller did not own m.  EINVAL: c is shared and m is not.  EOWNERDEAD, ENOTRECOVERABLE:
 * of m.
 */
int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return cond_wait_until(c, m, NEVER);
}

/* The same until abstime, by c's clock.  Errors of pthread_cond_clockwait. */
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *abstime)
{
	return pthread_cond_clockwait(
		c, m, c->__clock != 0 ? (clockid_t)c->__clock : CLOCK_REALTIME, abstime);
}

/*
 * The same by a clock that the caller chooses, CLOCK_REALTIME or CLOCK_MONOTONIC.  ETIMEDOUT: no
 * signal came.  EINVAL: also another clock, or nanoseconds of abstime out of range.  ENOMEM: the
 * model could not prepare for deadlines (m has not been released then).  Errors of
 * pthread_cond_wait.
 */
int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
			   const struct timespec *abstime)
{
	deadline_t deadline;
	int error = __deadline(clock, abstime, &deadline);

	return error != 0 ? error : cond_wait_until(c, m, deadline);
}

/*
 * Moves a list of threads, taken from a condition variable's queue, to the queue of m.  The caller
 * owns m and holds the lock of the condition variable's queue.
 */
static void move_to_mutex(struct thread *list, pthread_mutex_t *m)
{
	struct sleepq *mq = sleepq_of(m);

	sleepq_also_lock(mq);
	__atomic_or_fetch(&m->__owner, M_WAITERS, __ATOMIC_RELAXED);
	while (list != NULL) {
		struct thread *t = list;

		list = t->q_next;
		COUNT(wakes, 1);
		PROBE(lock_move, "thread lock", t, m, 0);
		sleepq_enter(mq, m, t, ORDER_FIFO);
	}
	sleepq_also_unlock(mq);
}

/*
 * The caller owns the mutex that t released when it began to wait, and the mutex's waiters are in a
 * queue of the library.
 */
static bool owns_mutex_of(struct thread *t)
{
	return mutex_is_plain_and_own(t->wait_arg);
}

/*
 * Lets t go on, which was taken from c's queue q, as far as its mutex allows.  Releases q's lock.
 */
static inline int let_go(struct sleepq *q, struct thread *t)
{
	pthread_mutex_t *m = (pthread_mutex_t *)t->wait_arg;
	struct sleepq *mq;

	COUNT(wakes, 1);
	PROBE(cond_signal, "thread", t, 0, 0);
	if (!owns_mutex_of(t))
		return __ops->wake_one(q, t);
	mq = sleepq_of(m);
	sleepq_also_lock(mq);
	__atomic_or_fetch(&m->__owner, M_WAITERS, __ATOMIC_RELAXED);
	PROBE(lock_move, "thread lock", t, m, 0);
	sleepq_enter(mq, m, t, ORDER_OPTION);
	sleepq_also_unlock(mq);
	__ops->unlock(q);
	return 0;
}

static int __attribute__((noinline)) signal_locked(pthread_cond_t *c, struct sleepq *q)
{
	bool more;
	struct thread *t = sleepq_take(q, c, &more);

	if (!more)
		c->__waiters = 0;
	if (t != NULL)
		return let_go(q, t);
	__ops->unlock(q);
	return 0;
}

/* One waiter, if any, goes on. */
int pthread_cond_signal(pthread_cond_t *c)
{
	struct sleepq *q = sleepq_of_point(c);
	struct thread *t;

	if (__atomic_load_n(&c->__waiters, __ATOMIC_RELAXED) == 0)
		return 0;
	if (unlikely(cond_is_in_kernel(c)))
		return __shared_cond_wake(c, false);
	sleepq_lock(q);
	t = sleepq_only(q, c);
	if (unlikely(t == NULL))
		return signal_locked(c, q);
	q->first = t->q_chain;
	c->__waiters = 0;
	return let_go(q, t);
}

/* All waiters go on, in the order of the queue. */
int pthread_cond_broadcast(pthread_cond_t *c)
{
	struct sleepq *q = sleepq_of_point(c);
	struct thread *list;

	if (__atomic_load_n(&c->__waiters, __ATOMIC_RELAXED) == 0)
		return 0;
	if (unlikely(cond_is_in_kernel(c)))
		return __shared_cond_wake(c, true);
	__ops->lock(q);
	list = __sleepq_take_all(q, c);
	PROBE(cond_broadcast, "lock", c, 0, 0);
	c->__waiters = 0;
	/* POSIX: all threads that wait at one time use the same mutex. */
	if (list != NULL && !owns_mutex_of(list)) {
		COUNT(wakes, sleepq_length(list));
		__ops->wake(q, list);
		return 0;
	}
	if (list != NULL)
		move_to_mutex(list, (pthread_mutex_t *)list->wait_arg);
	__ops->unlock(q);
	return 0;
}

int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	*c = (pthread_cond_t){.__clock = attr != NULL ? attr->__clock : 0};
	if (attr != NULL && attr->__pshared == PTHREAD_PROCESS_SHARED)
		c->__waiters = LWP_COND_SHARED;
	return 0;
}

/* EBUSY: threads wait for it. */
int pthread_cond_destroy(pthread_cond_t *c)
{
	struct sleepq *q = sleepq_of_point(c);
	bool busy;

	if (cond_is_in_kernel(c))
		return c->__waiters & LWP_COND_WAITERS ? EBUSY : 0;
	__ops->lock(q);
	busy = __sleepq_first(q, c) != NULL;
	__ops->unlock(q);
	return busy ? EBUSY : 0;
}

LOCKSTAT_ENTRY(pthread_cond_wait);
LOCKSTAT_ENTRY(pthread_cond_timedwait);
LOCKSTAT_ENTRY(pthread_cond_clockwait);
LOCKSTAT_ENTRY(pthread_cond_signal);
LOCKSTAT_ENTRY(pthread_cond_broadcast);
