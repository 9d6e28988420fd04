/*
 * mutex.c - mutexes: one compare-and-swap if no other thread wants the mutex, otherwise a spin or a
 * sleep.
 *
 * (Say here what your mutex relies on: which flag tells a releaser of sleepers, which lock guards it,
 * and which race which line closes.)
 *
 * The first part of the file is yours, the second is given.
 */
#include <errno.h>
#include <limits.h>
#include "mutex.h"
#include "shared.h"
#include "../core/model.h"
#include "../core/sleepq.h"
#include "../lockstat/lockstat.h"

/* --- yours ---------------------------------------------------------------------------------------- */

/*
 * Makes the caller the owner of m, whose word was `seen` and said "free".  The flags in the word
 * stay.  False: the word is another one by now.  As it stands, it does not look.
 */
static inline bool try_take(pthread_mutex_t *m, unsigned long seen)
{
	__atomic_store_n(&m->__owner, (unsigned long)thread_self(), __ATOMIC_RELAXED);
	return true;
}

/*
 * Acquires m, which the caller does not own: spins while the owner is on a CPU, or about to be, and
 * otherwise sleeps in m's queue.  Returns 0, or ETIMEDOUT when the deadline has passed.  As it
 * stands, it returns at once: weft boots with it, and two threads own m.
 */
int __mutex_lock_slow(pthread_mutex_t *m, deadline_t deadline)
{
	return 0;
}

/*
 * Releases m, which is held and may have sleepers, and wakes one of them.  Returns 0.  Does not touch
 * m after the store that frees it.  As it stands, it wakes no thread.
 */
static int mutex_release(pthread_mutex_t *m)
{
	__atomic_store_n(&m->__owner, 0, __ATOMIC_RELEASE);
	return 0;
}

/* --- given ---------------------------------------------------------------------------------------- */

int __mutex_lock_plain(pthread_mutex_t *m, bool try, deadline_t deadline)
{
	unsigned long seen;

	if (!try)
		return __mutex_lock_slow(m, deadline);
	do {
		seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);
		if ((seen & ~M_FLAGS) != 0)
			return EBUSY;
	} while (!try_take(m, seen));
	return 0;
}

static bool owned_by_caller(const pthread_mutex_t *m)
{
	return mutex_is_shared(m) ? __shared_owned(m) : mutex_owner(m) == thread_self();
}

/* The caller owns m already. */
static int mutex_relock(pthread_mutex_t *m)
{
	switch (m->__type) {
	case PTHREAD_MUTEX_ERRORCHECK:
		return EDEADLK;
	case PTHREAD_MUTEX_RECURSIVE:
		if (m->__count == UINT_MAX)
			return EAGAIN;
		if (m->__count++ == 0)
			__atomic_or_fetch(&m->__owner, M_RECURSED, __ATOMIC_RELAXED);
		return 0;
	default:
		return __mutex_lock_slow(m, NEVER); /* a deadlock, as POSIX wants it */
	}
}

static int __attribute__((noinline)) mutex_lock_slow(pthread_mutex_t *m)
{
	if (mutex_is_shared(m))
		return __shared_lock(m, NEVER);
	if (m->__protocol != PTHREAD_PRIO_NONE)
		return __protocol_lock(m, false, NEVER);
	return mutex_owner(m) == thread_self() ? mutex_relock(m) : __mutex_lock_slow(m, NEVER);
}

/*
 * Acquires m; waits while another thread owns it.  EDEADLK: the caller owns it (error check).
 * EINVAL: its ceiling is below the caller's priority.  EAGAIN: it was locked too often (recursive),
 * or it is robust and no more mutexes can be registered.  EOWNERDEAD: acquired, and its last owner
 * died as the owner.  ENOTRECOVERABLE: not acquired, and it never can be again.
 */
int pthread_mutex_lock(pthread_mutex_t *m)
{
	unsigned long none = 0;

	if (likely(__atomic_compare_exchange_n(&m->__owner, &none, (unsigned long)thread_self(),
					       false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
		return 0;
	return mutex_lock_slow(m);
}

/*
 * EBUSY: a thread owns it, perhaps the caller.  EAGAIN, EINVAL, EOWNERDEAD, ENOTRECOVERABLE: as for
 * pthread_mutex_lock.
 */
int pthread_mutex_trylock(pthread_mutex_t *m)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);

	while ((seen & ~M_WAITERS) == 0) {
		if (try_take(m, seen))
			return 0;
		seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);
	}
	if (mutex_is_shared(m))
		return __shared_trylock(m);
	if (m->__protocol != PTHREAD_PRIO_NONE)
		return __protocol_lock(m, true, NEVER);
	if (m->__type == PTHREAD_MUTEX_RECURSIVE && mutex_owner(m) == thread_self())
		return mutex_relock(m);
	return EBUSY;
}

/*
 * As pthread_mutex_lock, until abstime by the clock, CLOCK_REALTIME or CLOCK_MONOTONIC.  A free
 * mutex is acquired whatever the clock and abstime are.  ETIMEDOUT: the mutex was not free before
 * abstime.  EINVAL: also another clock, or nanoseconds of abstime out of range.  ENOMEM: the model
 * could not prepare for deadlines.  Errors of pthread_mutex_lock.
 */
int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *abstime)
{
	deadline_t deadline;
	int error = pthread_mutex_trylock(m);

	if (error != EBUSY)
		return error;
	if (m->__type == PTHREAD_MUTEX_ERRORCHECK && owned_by_caller(m))
		return EDEADLK;
	error = __deadline(clock, abstime, &deadline);
	if (error != 0)
		return error;
	if (mutex_is_shared(m))
		return __shared_lock(m, deadline);
	return m->__protocol != PTHREAD_PRIO_NONE ? __protocol_lock(m, false, deadline)
						  : __mutex_lock_slow(m, deadline);
}

/* By CLOCK_REALTIME.  Errors of pthread_mutex_clocklock. */
int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *abstime)
{
	return pthread_mutex_clocklock(m, CLOCK_REALTIME, abstime);
}

static int __attribute__((noinline)) unlock_recursed(pthread_mutex_t *m)
{
	if (--m->__count == 0)
		__atomic_and_fetch(&m->__owner, ~M_RECURSED, __ATOMIC_RELAXED);
	return 0;
}

int __mutex_unlock_plain(pthread_mutex_t *m)
{
	return mutex_release(m);
}

static int __attribute__((noinline)) mutex_unlock_slow(pthread_mutex_t *m)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);

	if (mutex_is_shared(m))
		return __shared_unlock(m);
	if (m->__protocol != PTHREAD_PRIO_NONE)
		return __protocol_unlock(m);
	if ((seen & ~M_FLAGS) != (unsigned long)thread_self()) {
		/* Solaris lets any thread release a normal mutex, and programs rely on it. */
		if (m->__type != PTHREAD_MUTEX_NORMAL || (seen & ~M_FLAGS) == 0)
			return EPERM;
	} else if (seen & M_RECURSED) {
		return unlock_recursed(m);
	}
	return mutex_release(m);
}

/*
 * EPERM: no thread owns the mutex, or the caller does not (recursive, error check, shared, robust).
 */
int pthread_mutex_unlock(pthread_mutex_t *m)
{
	unsigned long self = (unsigned long)thread_self();

	if (likely(__atomic_compare_exchange_n(&m->__owner, &self, 0, false, __ATOMIC_RELEASE,
					       __ATOMIC_RELAXED)))
		return 0;
	return mutex_unlock_slow(m);
}

int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	*m = (pthread_mutex_t){.__type = attr != NULL ? attr->__type : PTHREAD_MUTEX_DEFAULT};
	if (attr == NULL)
		return 0;
	bool inherit = attr->__protocol == PTHREAD_PRIO_INHERIT;
	bool robust = attr->__robust == PTHREAD_MUTEX_ROBUST;

	m->__protocol = attr->__protocol;
	m->__ceiling = attr->__ceiling;
	if (robust || attr->__pshared == PTHREAD_PROCESS_SHARED ||
	    (inherit && __ops->change_priority == NULL))
		m->__owner = LWP_MUTEX_SHARED | (robust ? LWP_MUTEX_ROBUST : 0) |
			     (inherit                                    ? LWP_MUTEX_INHERIT
			      : attr->__protocol == PTHREAD_PRIO_PROTECT ? LWP_MUTEX_CEILING
									 : 0);
	else if (attr->__protocol != PTHREAD_PRIO_NONE)
		m->__owner = M_PROTOCOL;
	return 0;
}

/* EBUSY: a thread owns it. */
int pthread_mutex_destroy(pthread_mutex_t *m)
{
	if (mutex_is_shared(m))
		return __shared_destroy(m);
	return mutex_owner(m) != NULL ? EBUSY : 0;
}

LOCKSTAT_ENTRY(pthread_mutex_lock);
LOCKSTAT_ENTRY(pthread_mutex_trylock);
LOCKSTAT_ENTRY(pthread_mutex_clocklock);
LOCKSTAT_ENTRY(pthread_mutex_timedlock);
LOCKSTAT_ENTRY(pthread_mutex_unlock);
