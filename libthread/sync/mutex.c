/*
 * mutex.c - mutexes.
 *
 * __owner holds the owner's struct thread, or 0, and flags.  The fast paths are one
 * compare-and-swap between 0 and the caller.  The acquisition fails on any mutex that is held or
 * has M_WAITERS.  The release fails if there are waiters, if the owner has locked the mutex more
 * than once, or if the caller is not the owner.  Therefore no fast path looks at the type.
 *
 * M_WAITERS.  The flag is set whenever a thread is in the mutex's sleep queue, whether the mutex is
 * free or held.  The flag may also be set when no thread sleeps.  It is set and cleared only under
 * the lock of the queue, with one exception: the adaptive unlock may set it once more while another
 * thread clears it.  A thread that acquires the mutex keeps the flag.
 *
 * *Race:* a thread finds the mutex held and goes to sleep, and the owner releases the mutex;
 * *without this:* the owner wakes no thread, and the sleeper is lost; *closed by:* M_WAITERS.  The
 * sleeper sets it under the lock of the queue, in a word that says "held".  The owner's release
 * then finds the flag, goes to the queue, and finds the sleeper there.
 *
 * A woken thread does not own the mutex.  It competes for the mutex like every other thread; a
 * thread that is on a CPU wins, as in the Solaris paper.  A woken thread tries at least once before
 * it returns ETIMEDOUT, so that its wake-up is not wasted while others sleep.  Either it acquires
 * the mutex, or another thread has acquired it and keeps the flag.
 *
 * Use after release.  As soon as a mutex is free, another thread may acquire it, release it and
 * unmap the memory.  So the releaser does not touch the mutex after the store that releases it.
 * The wake-up works on the queue, and uses the mutex's address only as a name.
 *
 * Adaptive lock.  A thread that wants the mutex spins while the owner is on a CPU, or about to be.
 * It spins with ordinary loads of __owner and of the kernel's record of the owner's LWP.  The owner
 * may have just been woken, perhaps by the spinner itself.  SC_COMING (weft/schedctl.h) says why it
 * pays to wait for such an owner.
 *
 * Adaptive unlock.  If there are sleepers and a thread spins (queue->spinners), the releaser leaves
 * M_WAITERS in the free mutex.  The releaser then looks for a moment whether the spinner acquires
 * the mutex.  If so, the new owner is responsible for the sleepers.  The sign is that the spinner
 * wrote the mutex's address into queue->taken.  The sign cannot be in the mutex, because of "use
 * after release".
 *
 * An old sign does no harm.  The releaser clears the sign while it still owns the mutex, and all
 * earlier owners wrote theirs before they released the mutex.  So the address appears again only
 * when a thread has acquired the mutex after this release.  If another mutex of the same queue
 * overwrites a sign, one wake-up is needless.  A spinner may lose its CPU.  So M_WAITERS is cleared
 * with the last sleeper; otherwise each release would wait for this spinner in vain.
 *
 * Sleepers that a signal has moved here (cond.c).  A release wakes one sleeper, and a moved one only
 * wants to release the mutex again: each wakes the next.  In a model with time slices, a woken thread may
 * wait for the end of a slice while no LWP is idle, so the last of n threads would begin n slices
 * late.  There a plain release (pthread_mutex_unlock) wakes all moved sleepers that stand before the first other one.  (The
 * mutex is free before the first wakes.  Ten threads of 12 slices' work on four CPUs come to the next
 * barrier after 31.0 slices, and otherwise after 31.6.)
 */
#include <errno.h>
#include <limits.h>
#include "mutex.h"
#include "shared.h"
#include "../core/cancel.h"
#include "../core/model.h"
#include "../core/sleepq.h"
#include "../lockstat/lockstat.h"

#define LOCK_SPINS 1000   /* turns of the adaptive lock before it sleeps after all */
#define RELEASE_SPINS 200 /* turns of the adaptive unlock */

/* Has a signal moved t, which sleeps for m, to m's queue?  wait_arg of other sleepers is NULL. */
static inline bool sleeper_was_moved(const struct thread *t, const pthread_mutex_t *m)
{
	return t->wait_arg == m;
}

static inline bool try_take(pthread_mutex_t *m, unsigned long seen)
{
	return __atomic_compare_exchange_n(&m->__owner, &seen,
					   (unsigned long)thread_self() | (seen & M_FLAGS), false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * Is t on a CPU, or will it soon be on an idle CPU?  A hint.  For a Dispatchable thread, the LWP
 * that was found for it decides.  If that LWP sleeps, it is being unparked.  If it is runnable, all
 * CPUs have other work (the spinner, for example), and it may wait for long.
 */
static inline bool runs_or_will(const struct thread *t)
{
	const struct thread *partner = __atomic_load_n(&t->partner, __ATOMIC_RELAXED);
	uint32_t on;

	if (t->state == TS_DISPATCHABLE && partner != NULL)
		return partner->own_lwp.sc->state != SC_RUNNABLE;
	on = __atomic_load_n(&t->lwp, __ATOMIC_RELAXED)->sc->state;
	return on == SC_ONCPU || on == SC_COMING;
}

/* Acquires m if it is free, or if it becomes free while spinning makes sense. */
static inline __attribute__((always_inline)) bool mutex_spin(pthread_mutex_t *m)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);
	struct sleepq *q;
	bool taken = false;

	if ((seen & ~M_FLAGS) == 0 && try_take(m, seen))
		return true;
	if (!__options.may_spin || (seen & ~M_FLAGS) == (unsigned long)thread_self())
		return false;
	q = sleepq_of(m);
	__atomic_add_fetch(&q->spinners, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < LOCK_SPINS; i++) {
		struct thread *owner;

		COUNT(turns, 1);
		seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);
		owner = (struct thread *)(seen & ~M_FLAGS);
		if (owner == NULL) {
			taken = try_take(m, seen);
			if (taken) {
				COUNT(spun, 1);
				__atomic_store_n(&q->taken, m, __ATOMIC_RELAXED);
				break;
			}
		} else if (__options.spin == SPIN_ADAPTIVE && !runs_or_will(owner)) {
			break;
		}
		spin_hint();
	}
	__atomic_sub_fetch(&q->spinners, 1, __ATOMIC_RELAXED);
	return taken;
}

/*
 * With the lock of m's queue held: acquires m if it is free; otherwise makes sure that M_WAITERS is
 * set.
 */
static inline __attribute__((always_inline)) bool mutex_take_or_mark(pthread_mutex_t *m)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);

	for (;;) {
		if ((seen & ~M_FLAGS) == 0) {
			if (try_take(m, seen))
				return true;
			seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);
		} else if (seen & M_WAITERS ||
			   __atomic_compare_exchange_n(&m->__owner, &seen, seen | M_WAITERS, false,
						       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			return false;
		}
	}
}

/* mutex_lock_special for a thread that may be cancelled at any time. */
static int lock_async(pthread_mutex_t *m, deadline_t deadline)
{
	struct sleepq *q = sleepq_of(m);
	struct thread *self = thread_self();
	const void *in_vain = NULL;

	wait_async_begin(self);
	do {
		sleepq_lock(q);
		if (mutex_take_or_mark(m)) {
			__ops->unlock(q);
			break;
		}
		self->wait_arg = NULL;
		sleepq_enter(q, m, self, ORDER_OPTION);
		COUNT(blocks, 1);
		PROBE(lock_wait, "lock kind owner", m, PROBE_MUTEX, m->__owner);
		in_vain = __ops->block(q, deadline, NULL);
	} while (in_vain == NULL && !mutex_spin(m));
	if (wait_async_end(self)) {
		if (in_vain == NULL)
			__mutex_unlock_plain(m);
		__protocol_lost(m);
		__cancelled();
	}
	return in_vain == NULL ? 0 : ETIMEDOUT;
}

/*
 * The part of __mutex_lock_slow for a wait in the kernel's queue, and for a wait that may be
 * cancelled.
 */
static int __attribute__((noinline)) mutex_lock_special(pthread_mutex_t *m, deadline_t deadline)
{
	if (!__options.kernel_sleep)
		return lock_async(m, deadline);
	COUNT(blocks, 1);
	return __kernel_mutex_lock(m, deadline);
}

/* A function, so that no other way out leads into the last instructions of its caller. */
static int __attribute__((noinline)) mutex_timed_out(void)
{
	return ETIMEDOUT;
}

int __mutex_lock_slow(pthread_mutex_t *m, deadline_t deadline)
{
	struct sleepq *q = sleepq_of(m);

	while (!mutex_spin(m)) {
		if (unlikely(__options.sleep_special))
			return mutex_lock_special(m, deadline);
		sleepq_lock(q);
		if (mutex_take_or_mark(m)) {
			__ops->unlock(q);
			break;
		}
		thread_self()->wait_arg = NULL;
		sleepq_enter(q, m, thread_self(), ORDER_OPTION);
		COUNT(blocks, 1);
		PROBE(lock_wait, "lock kind owner", m, PROBE_MUTEX, m->__owner);
		if (likely(deadline == NEVER))
			__ops->sleep(q);
		else if (__ops->block(q, deadline, NULL) != NULL)
			return mutex_timed_out();
	}
	PROBE(lock_own, "lock kind", m, PROBE_MUTEX, 0);
	return 0;
}

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

/*
 * The adaptive unlock of m, which the caller owns; see the top.  The mutex must not stay free while
 * it has sleepers, so the caller is in a critical section meanwhile, and cannot be suspended.
 */
static int __attribute__((noinline)) unlock_adaptive(pthread_mutex_t *m, struct sleepq *q)
{
	struct thread *t;
	bool more;

	critical_enter();
	PROBE(lock_free, "lock kind", m, PROBE_MUTEX, 0);
	__atomic_store_n(&q->taken, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&m->__owner, M_WAITERS | (m->__owner & M_PROTOCOL), __ATOMIC_RELEASE);
	for (int i = 0; i < RELEASE_SPINS; i++) {
		if (__atomic_load_n(&q->taken, __ATOMIC_RELAXED) == m) {
			critical_exit();
			return 0;
		}
		spin_hint();
	}
	__ops->lock(q);
	critical_exit_inner();
	t = sleepq_take(q, m, &more);
	COUNT(wakes, t != NULL);
	if (t == NULL) {
		__ops->unlock(q);
		return 0;
	}
	/*
	 * A new owner of m would find the flag and come here for nothing.  If it is in its own
	 * adaptive unlock, it may still come.  m exists until t is woken.
	 */
	if (!more)
		__atomic_and_fetch(&m->__owner, ~M_WAITERS, __ATOMIC_RELAXED);
	return __ops->wake_one(q, t);
}

/*
 * unlock_locked, if the first sleeper, t, and the next have been moved here.  t has been taken out of
 * the queue.
 */
static int __attribute__((noinline))
unlock_for_moved(pthread_mutex_t *m, struct sleepq *q, struct thread *t)
{
	struct thread *last = t, *others;

	t->q_next = __sleepq_take_all(q, m);
	while (last->q_next != NULL && sleeper_was_moved(last->q_next, m))
		last = last->q_next;
	others = last->q_next;
	last->q_next = NULL;
	PROBE(lock_free, "lock kind", m, PROBE_MUTEX, 0);
	__atomic_store_n(&m->__owner, (others != NULL ? M_WAITERS : 0) | (m->__owner & M_PROTOCOL),
			 __ATOMIC_RELEASE);
	while (others != NULL) {
		struct thread *other = others;

		others = other->q_next;
		sleepq_enter(q, m, other, ORDER_FIFO);
	}
	COUNT(wakes, sleepq_length(t));
	__ops->wake(q, t);
	return 0;
}

/*
 * The general release of m, which may have sleepers.  The caller holds the lock of the queue; this
 * function releases it.
 */
static int __attribute__((noinline)) unlock_locked(pthread_mutex_t *m, struct sleepq *q)
{
	struct thread *t;
	bool more;

	t = sleepq_take(q, m, &more);
	if (more && sleeper_was_moved(t, m) && __options.slices &&
	    sleeper_was_moved(__sleepq_first(q, m), m))
		return unlock_for_moved(m, q, t);
	PROBE(lock_free, "lock kind", m, PROBE_MUTEX, 0);
	__atomic_store_n(&m->__owner, (more ? M_WAITERS : 0) | (m->__owner & M_PROTOCOL),
			 __ATOMIC_RELEASE);
	COUNT(wakes, t != NULL);
	if (t != NULL)
		return __ops->wake_one(q, t);
	__ops->unlock(q);
	return 0;
}

static int __attribute__((noinline)) unlock_recursed(pthread_mutex_t *m)
{
	if (--m->__count == 0)
		__atomic_and_fetch(&m->__owner, ~M_RECURSED, __ATOMIC_RELAXED);
	return 0;
}

int __mutex_unlock_plain(pthread_mutex_t *m)
{
	struct sleepq *q = sleepq_of(m);

	if (__options.kernel_sleep)
		return __kernel_mutex_unlock(m, thread_self());
	if (__options.adaptive_unlock && __atomic_load_n(&q->spinners, __ATOMIC_RELAXED) != 0)
		return unlock_adaptive(m, q);
	sleepq_lock(q);
	return unlock_locked(m, q);
}

static int __attribute__((noinline)) mutex_unlock_slow(pthread_mutex_t *m)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);
	struct sleepq *q = sleepq_of(m);
	struct thread *t;

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
	if (__options.unlock_special) {
		if (__options.kernel_sleep)
			return __kernel_mutex_unlock(m, (struct thread *)(seen & ~M_FLAGS));
		if (__atomic_load_n(&q->spinners, __ATOMIC_RELAXED) != 0 &&
		    (seen & ~M_FLAGS) == (unsigned long)thread_self())
			return unlock_adaptive(m, q);
	}
	sleepq_lock(q);
	t = sleepq_only(q, m);
	if (unlikely(t == NULL))
		return unlock_locked(m, q);
	q->first = t->q_chain;
	PROBE(lock_free, "lock kind", m, PROBE_MUTEX, 0);
	__atomic_store_n(&m->__owner, 0, __ATOMIC_RELEASE);
	COUNT(wakes, 1);
	return __ops->wake_one(q, t);
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
