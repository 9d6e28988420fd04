/*
 * rwlock.c - reader-writer locks.
 *
 * __word is WRITER while a writer owns the lock, otherwise the number of readers.  WAITING is set
 * too if threads may be in the lock's queue.  While WAITING is set, the word changes only under the
 * lock of the queue.  __writer names the writer.  Threads only ask whether __writer is the caller,
 * so the writer may set and clear it without the lock of the queue.
 *
 * The word of a lock that processes share has SHARED set, so that no fast path of an acquisition
 * succeeds.  The queue of such a lock is in the kernel and follows the same rules (weft/ksync.h).
 *
 * The thread that releases the last hold while threads wait hands the lock over (rwlock_grant).
 * The first waiter in the queue gets it if it is a writer; otherwise all readers up to the first
 * writer get it.  The woken threads own the lock already.  The queue is FIFO within a priority, and
 * a new reader waits if any thread waits.  So neither writers nor readers starve.  Under SCHED_FIFO
 * and SCHED_RR, writers go before readers of the same priority (POSIX).
 *
 * Two kinds of readers do not queue behind waiting writers while readers hold the lock.  The first
 * is a thread that already holds some lock for reading; if it is this lock, the thread would wait
 * for itself.  The second is a thread with a higher priority than all waiters (POSIX, for
 * SCHED_FIFO and SCHED_RR).
 *
 * A waiter's wait_arg tells rwlock_grant what the waiter wants.  The waker does not touch the lock
 * after the wake-up.
 */
#include <errno.h>
#include "shared.h"
#include "../core/cancel.h"
#include "../core/model.h"
#include "../core/sleepq.h"
#include "../lockstat/lockstat.h"

#define WRITER LWP_RWLOCK_WRITER
#define WAITING LWP_RWLOCK_WAITING
#define READERS_MAX LWP_RWLOCK_READERS

static inline bool rwlock_cas(pthread_rwlock_t *l, unsigned *seen, unsigned to, int order)
{
	return __atomic_compare_exchange_n(&l->__word, seen, to, false, order, __ATOMIC_RELAXED);
}

static inline bool try_read(pthread_rwlock_t *l)
{
	unsigned seen = __atomic_load_n(&l->__word, __ATOMIC_RELAXED);

	while (likely(seen < READERS_MAX)) { /* no flag is set either */
		if (likely(rwlock_cas(l, &seen, seen + 1, __ATOMIC_ACQUIRE))) {
			thread_self()->readlocks++;
			return true;
		}
	}
	return false;
}

static inline bool try_write(pthread_rwlock_t *l)
{
	unsigned free = 0;

	if (!rwlock_cas(l, &free, WRITER, __ATOMIC_ACQUIRE))
		return false;
	__atomic_store_n(&l->__writer, (unsigned long)thread_self(), __ATOMIC_RELAXED);
	return true;
}

static inline bool is_writer(pthread_rwlock_t *l)
{
	return __atomic_load_n(&l->__writer, __ATOMIC_RELAXED) == (unsigned long)thread_self();
}

/* t is the first in the queue, or NULL.  Returns the writer that goes before t, or t. */
static struct thread *writer_first(struct thread *t)
{
	struct thread *w = t;

	if (t == NULL || t->pri < PRI_REALTIME)
		return t;
	while (w != NULL && w->pri == t->pri && w->wait_arg == WAIT_READ)
		w = w->q_next;
	return w != NULL && w->pri == t->pri ? w : t;
}

/* Takes w out of the queue of l; w need not be the first. */
static void rwlock_waiter_remove(struct sleepq *q, const pthread_rwlock_t *l, struct thread *w,
				 bool *more)
{
	if (w == __sleepq_first(q, l)) {
		sleepq_take(q, l, more);
		return;
	}
	__sleepq_remove(q, w);
	w->q_next = NULL;
	*more = true;
}

/*
 * With the lock of the queue and WAITING set, and no writer: hands the lock to the waiters that may
 * have it now, and returns them as a list to be woken.  The word then counts the new owners.
 */
static struct thread *rwlock_grant(pthread_rwlock_t *l, struct sleepq *q)
{
	unsigned readers = l->__word & READERS_MAX;
	struct thread *t = writer_first(__sleepq_first(q, l)), *list = NULL, **end = &list;
	bool more = t != NULL;

	if (t != NULL && t->wait_arg == WAIT_WRITE) {
		if (readers == 0) {
			list = t;
			rwlock_waiter_remove(q, l, t, &more);
			COUNT(wakes, 1);
			__atomic_store_n(&l->__writer, (unsigned long)list, __ATOMIC_RELAXED);
			__atomic_store_n(&l->__word, WRITER | (more ? WAITING : 0),
					 __ATOMIC_RELEASE);
		}
		return list;
	}
	while (t != NULL && t->wait_arg == WAIT_READ) {
		int pri = t->pri;

		*end = sleepq_take(q, l, &more);
		COUNT(wakes, 1);
		end = &(*end)->q_next;
		readers++;
		t = __sleepq_first(q, l);
		if (t != NULL && t->pri != pri)
			t = writer_first(t);
	}
	__atomic_store_n(&l->__word, readers | (more ? WAITING : 0), __ATOMIC_RELEASE);
	return list;
}

/* Grants the lock and wakes the new owners; releases the lock of the queue. */
static void grant_and_wake(pthread_rwlock_t *l, struct sleepq *q)
{
	struct thread *list = rwlock_grant(l, q);

	if (list != NULL)
		__ops->wake(q, list);
	else
		__ops->unlock(q);
}

/*
 * May the caller read past waiting writers?  See the two kinds of readers at the top.  With the
 * lock of the queue.
 */
static bool reads_past(pthread_rwlock_t *l)
{
	struct thread *self = thread_self(), *first = __sleepq_first(sleepq_of(l), l);

	return self->readlocks > 0 || (first != NULL && first->pri < self->pri);
}

/*
 * With the lock of the queue: acquires l if the caller may have it now; otherwise makes sure that
 * WAITING is set.
 */
static bool rwlock_take_or_mark(pthread_rwlock_t *l, bool write)
{
	unsigned seen = __atomic_load_n(&l->__word, __ATOMIC_RELAXED);

	for (;;) {
		bool free = write ? seen == 0 : seen < READERS_MAX;

		if (!write && (seen & (WRITER | WAITING)) == WAITING &&
		    (seen & READERS_MAX) < READERS_MAX && reads_past(l))
			free = true;
		if (free) {
			if (!rwlock_cas(l, &seen, write ? WRITER : seen + 1, __ATOMIC_ACQUIRE))
				continue;
			if (write)
				__atomic_store_n(&l->__writer, (unsigned long)thread_self(),
						 __ATOMIC_RELAXED);
			else
				thread_self()->readlocks++;
			return true;
		}
		if (seen & WAITING || rwlock_cas(l, &seen, seen | WAITING, __ATOMIC_RELAXED))
			return false;
	}
}

/* 0, EDEADLK, EAGAIN, ETIMEDOUT. */
static inline int lock_here(pthread_rwlock_t *l, bool write, deadline_t deadline)
{
	struct sleepq *q = sleepq_of(l);
	struct thread *self = thread_self();

	if (is_writer(l))
		return EDEADLK;
	if (!write && (__atomic_load_n(&l->__word, __ATOMIC_RELAXED) & ~WAITING) == READERS_MAX)
		return EAGAIN;
	__ops->lock(q);
	if (rwlock_take_or_mark(l, write)) {
		__ops->unlock(q);
		return 0;
	}
	self->wait_arg = write ? WAIT_WRITE : WAIT_READ;
	sleepq_enter(q, l, self, ORDER_FIFO);
	COUNT(blocks, 1);
	PROBE(rwlock_wait, "lock write", l, write, 0);
	if (__ops->block(q, deadline, NULL) == NULL) {
		self->readlocks += !write;
		return 0;
	}
	/* Readers may have waited only because of this writer, and have nothing to wait for now. */
	__ops->lock(q);
	if ((l->__word & (WRITER | WAITING)) == WAITING)
		grant_and_wake(l, q);
	else
		__ops->unlock(q);
	return ETIMEDOUT;
}

/*
 * The part of rwlock_lock_slow for a queue in the kernel, and for a wait that may be cancelled
 * (cancel.h).
 */
static int __attribute__((noinline))
rwlock_lock_special(pthread_rwlock_t *l, bool write, deadline_t deadline)
{
	struct thread *self = thread_self();
	int error;

	if (rwlock_is_shared(l) || __options.kernel_sleep)
		return __shared_rwlock(l, write, deadline);
	wait_async_begin(self);
	error = lock_here(l, write, deadline);
	if (wait_async_end(self)) {
		if (error == 0)
			pthread_rwlock_unlock(l);
		__cancelled();
	}
	return error;
}

static int __attribute__((noinline))
rwlock_lock_slow(pthread_rwlock_t *l, bool write, deadline_t deadline)
{
	if (rwlock_is_shared(l) || __options.sleep_special)
		return rwlock_lock_special(l, write, deadline);
	return lock_here(l, write, deadline);
}

/* EDEADLK: the caller owns it for writing.  EAGAIN: too many readers.  Blocks. */
int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	if (likely(try_read(l)))
		return 0;
	return rwlock_lock_slow(l, false, NEVER);
}

static int rwlock_timed(pthread_rwlock_t *l, bool write, clockid_t clock,
			const struct timespec *abstime)
{
	deadline_t deadline;
	int error = write ? pthread_rwlock_trywrlock(l) : pthread_rwlock_tryrdlock(l);

	if (error != EBUSY)
		return error;
	error = __deadline(clock, abstime, &deadline);
	return error != 0 ? error : rwlock_lock_slow(l, write, deadline);
}

/* If rdlock would not wait, tryrdlock succeeds too: see the two kinds of readers at the top. */
static int __attribute__((noinline)) tryread_slow(pthread_rwlock_t *l)
{
	struct sleepq *q = sleepq_of(l);
	unsigned seen = __atomic_load_n(&l->__word, __ATOMIC_RELAXED);
	bool taken;
	int error;

	if (seen & WRITER)
		return EBUSY;
	if (rwlock_is_shared(l) || __options.kernel_sleep) {
		error = __shared_rwlock(l, false, 0);
		return error == ETIMEDOUT ? EBUSY : error;
	}
	if ((seen & ~WAITING) == READERS_MAX)
		return EAGAIN;
	__ops->lock(q);
	taken = rwlock_take_or_mark(l, false);
	__ops->unlock(q);
	return taken ? 0 : EBUSY;
}

static bool try_shared(pthread_rwlock_t *l, bool write)
{
	return rwlock_is_shared(l) && __shared_tryrwlock(l, write);
}

/*
 * EBUSY: a writer owns it; or a writer waits for it, and the caller holds no lock for reading and
 * has no higher priority.  EAGAIN: too many readers.
 */
int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return try_read(l) ? 0 : tryread_slow(l);
}

/* EDEADLK: the caller owns it for writing.  Blocks. */
int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	if (likely(try_write(l)))
		return 0;
	return rwlock_lock_slow(l, true, NEVER);
}

/* EBUSY: a thread owns it. */
int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return try_write(l) || try_shared(l, true) ? 0 : EBUSY;
}

/*
 * As rdlock, until abstime by the clock, CLOCK_REALTIME or CLOCK_MONOTONIC.  A free lock is
 * acquired whatever the clock and abstime are.  ETIMEDOUT: the lock was not free before abstime.
 * EINVAL: another clock, or nanoseconds of abstime out of range.  ENOMEM: the model could not
 * prepare for deadlines.  Errors of pthread_rwlock_rdlock.
 */
int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *abstime)
{
	return rwlock_timed(l, false, clock, abstime);
}

/*
 * The same for writing.  ETIMEDOUT, EINVAL, ENOMEM: as for clockrdlock.  Errors of
 * pthread_rwlock_wrlock.
 */
int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *abstime)
{
	return rwlock_timed(l, true, clock, abstime);
}

/* By CLOCK_REALTIME.  Errors of pthread_rwlock_clockrdlock. */
int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *abstime)
{
	return rwlock_timed(l, false, CLOCK_REALTIME, abstime);
}

/* By CLOCK_REALTIME.  Errors of pthread_rwlock_clockwrlock. */
int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *abstime)
{
	return rwlock_timed(l, true, CLOCK_REALTIME, abstime);
}

/* Threads wait, or waited a moment ago.  Releases one hold under the lock of the queue. */
static int __attribute__((noinline)) rwlock_unlock_slow(pthread_rwlock_t *l)
{
	struct sleepq *q = sleepq_of(l);
	unsigned seen, holders;

	if (rwlock_is_shared(l))
		return __shared_rwlock_unlock(l);
	if (__options.kernel_sleep)
		return __kernel_rwlock_unlock(l);
	__ops->lock(q);
	seen = __atomic_load_n(&l->__word, __ATOMIC_RELAXED);
	do {
		holders = seen & ~WAITING;
		holders = holders == WRITER ? 0 : holders - 1;
	} while (!rwlock_cas(l, &seen, holders | (seen & WAITING), __ATOMIC_RELEASE));
	if (holders == 0 && seen & WAITING)
		grant_and_wake(l, q);
	else
		__ops->unlock(q);
	return 0;
}

/* EPERM: no thread owns it, or another thread owns it for writing. */
int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	unsigned seen = __atomic_load_n(&l->__word, __ATOMIC_RELAXED);

	if (seen & WRITER) {
		if (rwlock_is_shared(l))
			return __shared_rwlock_unlock(l);
		if (!is_writer(l))
			return EPERM;
		__atomic_store_n(&l->__writer, 0, __ATOMIC_RELAXED);
		seen = WRITER;
		if (likely(rwlock_cas(l, &seen, 0, __ATOMIC_RELEASE)))
			return 0;
		return rwlock_unlock_slow(l);
	}
	if (unlikely((seen & READERS_MAX) == 0))
		return EPERM;
	thread_self()->readlocks--;
	while (!(seen & WAITING))
		if (likely(rwlock_cas(l, &seen, seen - 1, __ATOMIC_RELEASE)))
			return 0;
	return rwlock_unlock_slow(l);
}

int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attr)
{
	bool shared = attr != NULL && attr->__pshared == PTHREAD_PROCESS_SHARED;

	*l = (pthread_rwlock_t){.__word = shared ? LWP_RWLOCK_SHARED : 0};
	return 0;
}

/* EBUSY: a thread owns it. */
int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	return l->__word & (WRITER | READERS_MAX) ? EBUSY : 0;
}

LOCKSTAT_ENTRY(pthread_rwlock_rdlock);
LOCKSTAT_ENTRY(pthread_rwlock_tryrdlock);
LOCKSTAT_ENTRY(pthread_rwlock_timedrdlock);
LOCKSTAT_ENTRY(pthread_rwlock_clockrdlock);
LOCKSTAT_ENTRY(pthread_rwlock_wrlock);
LOCKSTAT_ENTRY(pthread_rwlock_trywrlock);
LOCKSTAT_ENTRY(pthread_rwlock_timedwrlock);
LOCKSTAT_ENTRY(pthread_rwlock_clockwrlock);
LOCKSTAT_ENTRY(pthread_rwlock_unlock);
