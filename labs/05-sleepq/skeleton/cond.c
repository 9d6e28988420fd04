/*
 * cond.c - condition variables.
 *
 * (Say here which race which line closes: a signal that comes as a thread is about to wait; a waiter
 * that is moved to the mutex's queue; a deadline that passes meanwhile.)
 *
 * The first part of the file is yours, the second is given.
 */
#include <errno.h>
#include "mutex.h"
#include "shared.h"
#include "../core/model.h"
#include "../core/sleepq.h"
#include "../lockstat/lockstat.h"

/* --- yours ---------------------------------------------------------------------------------------- */

/*
 * Releases m and waits for a signal of c, until the deadline (NEVER: without one).  The caller owns m
 * again on return.  0, ETIMEDOUT, or EPERM if the caller does not own m.  As it stands, it does not
 * wait.
 */
static int cond_wait(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline)
{
	return 0;
}

/* One waiter of c, if any, goes on.  Returns 0. */
static int cond_signal(pthread_cond_t *c)
{
	return 0;
}

/* All waiters of c go on, in the order of the queue.  Returns 0. */
static int cond_broadcast(pthread_cond_t *c)
{
	return 0;
}

/* --- given ---------------------------------------------------------------------------------------- */

/* c's queue is the kernel's, because processes share it. */
static int wait_in_kernel(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline)
{
	if (!mutex_is_shared(m))
		return EINVAL;
	return __shared_owned(m) ? __shared_cond_wait(c, m, deadline) : EPERM;
}

static int cond_wait_until(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline)
{
	return cond_is_shared(c) ? wait_in_kernel(c, m, deadline) : cond_wait(c, m, deadline);
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

/* One waiter, if any, goes on. */
int pthread_cond_signal(pthread_cond_t *c)
{
	return cond_is_shared(c) ? __shared_cond_wake(c, false) : cond_signal(c);
}

/* All waiters go on, in the order of the queue. */
int pthread_cond_broadcast(pthread_cond_t *c)
{
	return cond_is_shared(c) ? __shared_cond_wake(c, true) : cond_broadcast(c);
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
