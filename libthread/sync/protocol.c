/*
 * protocol.c - mutexes with a protocol: PTHREAD_PRIO_INHERIT and PTHREAD_PRIO_PROTECT.
 *
 * The scheduler that decides on the priorities also decides how a protocol works:
 *
 *	PRIO_INHERIT, and the kernel schedules all threads (model lwp), or the mutex is robust or
 *			shared: the word is the kernel's, with INHERIT (weft/ksync.h).  An
 *			unbound thread owns such a mutex under a number that is no LWP's.
 *			It inherits nothing, because its LWP is not its own.
 *	PRIO_INHERIT, threads scheduled by the library: below, by the priorities of threads.
 *	PRIO_PROTECT, a thread with an LWP of its own: lwp_ceiling, by real-time priorities.
 *	PRIO_PROTECT, an unbound thread: by its own priority.
 *
 * If a mutex has a protocol and its word is not the kernel's, the word has M_PROTOCOL set, whether
 * the mutex is free or held.  So the fast paths of other mutexes never succeed on it.
 *
 * Inheritance in the library.  The lock of priorities guards all its data: the one lock of all queues, or a
 * lock before theirs.  A thread's priority is the highest of three: its own (base_pri), the ceilings of
 * mutexes that it owns, and the priorities of the first waiters of the inheriting mutexes that it
 * owns.  `inherits`, linked by __next, lists those inheriting mutexes that have M_WAITERS, from the
 * moment when a thread had to wait.  If the priority changes while the thread itself waits for an
 * inheriting mutex (pi_wait), the owner of that mutex is recomputed next (thread_pri_recompute).  A
 * mutex is handed over to its first waiter.  The new owner inherits nothing through it, because no
 * other waiter has a higher priority.
 *
 * Ceilings.  `protects`, linked by __next, lists the mutexes with a ceiling that a thread owns;
 * only the thread itself uses the list.  The thread runs at the highest of their ceilings
 * (`ceiling`, under the lock of priorities).  The thread is raised before it acquires a mutex, and lowered after
 * it has released it.  A mutex that the thread does not own yet is not in the list, because __next
 * belongs to the owner.
 */
#include <errno.h>
#include <limits.h>
#include "mutex.h"
#include "shared.h"
#include "../core/cancel.h"
#include "../core/model.h"
#include "../core/sleepq.h"
#include "../lockstat/lockstat.h"

static pthread_mutex_t *next_of(const pthread_mutex_t *m)
{
	return m->__next;
}

static void mutex_list_add(void **list, pthread_mutex_t *m)
{
	m->__next = *list;
	*list = m;
}

static void mutex_list_remove(void **list, pthread_mutex_t *m)
{
	while (*list != NULL && *list != m)
		list = &((pthread_mutex_t *)*list)->__next;
	if (*list != NULL)
		*list = m->__next;
}

static int highest_ceiling(const struct thread *t)
{
	int ceiling = -1;

	for (const pthread_mutex_t *m = t->protects; m != NULL; m = next_of(m))
		if (m->__ceiling > ceiling)
			ceiling = m->__ceiling;
	return ceiling;
}

/* --- inheritance between threads ----------------------------------------------------------- */

static void priorities_lock(void)
{
	if (__ops->priorities_lock != NULL)
		__ops->priorities_lock();
	else
		__ops->lock(__sleepq_other); /* the one lock of all queues */
}

static void priorities_unlock(void)
{
	if (__ops->priorities_unlock != NULL)
		__ops->priorities_unlock();
	else
		__ops->unlock(__sleepq_other);
}

/* Both locks; q is the queue of a mutex. */
static void priorities_and_queue_lock(struct sleepq *q)
{
	priorities_lock();
	sleepq_also_lock(q);
}

static void priorities_and_queue_unlock(struct sleepq *q)
{
	sleepq_also_unlock(q);
	priorities_unlock();
}

/* Releases the lock of priorities.  The caller keeps the lock of a queue: in a model with one lock, it is this lock. */
static void priorities_unlock_not_queue(void)
{
	if (__ops->priorities_unlock != NULL)
		__ops->priorities_unlock();
}

/* The priority of the first waiter for m, or -1.  The caller holds the lock of priorities, and of no queue. */
static int first_pri(const pthread_mutex_t *m)
{
	struct sleepq *q = sleepq_of(m);
	const struct thread *first;
	int pri;

	sleepq_also_lock(q);
	first = __sleepq_first(q, m);
	pri = first != NULL ? first->pri : -1;
	sleepq_also_unlock(q);
	return pri;
}

/*
 * Recomputes the priorities of t and of the owners along the chain that starts at t.  The caller holds the lock of
 * priorities, and of no queue.
 */
static void thread_pri_recompute(struct thread *t)
{
	while (t != NULL) {
		int pri = t->ceiling > t->base_pri ? t->ceiling : t->base_pri;
		pthread_mutex_t *m;

		for (m = t->inherits; m != NULL; m = next_of(m)) {
			int inherited = first_pri(m);

			if (inherited > pri)
				pri = inherited;
		}
		if (pri == t->pri)
			return;
		__ops->change_priority(t, pri);
		m = t->pi_wait;
		if (m == NULL || t->wchan != m)
			return;
		t = mutex_owner(m);
	}
}

/*
 * A thread keeps its place in the queue while it inherits a priority, while it owns a mutex with a
 * ceiling, and while it owns an inheriting mutex that has waiters (POSIX:
 * pthread_mutexattr_getprotocol).
 */
void __thread_set_sched(struct thread *t, int policy, int pri, bool to_tail)
{
	if (__ops->change_priority == NULL) {
		t->policy = policy;
		t->base_pri = pri;
		__ops->set_priority(t, pri);
		return;
	}
	priorities_lock();
	t->policy = policy;
	t->base_pri = pri;
	thread_pri_recompute(t);
	__ops->rescheduled(t, to_tail && t->ceiling == 0 && t->inherits == NULL);
	priorities_unlock();
}

/*
 * The caller exits.  It may still own mutexes with a protocol.  It stays their owner, so that no
 * thread acquires them any more.  The next thread in this memory must not inherit the lists.
 */
void __protocol_thread_exit(void)
{
	struct thread *self = thread_self();

	priorities_lock();
	self->inherits = self->protects = NULL;
	self->ceiling = 0;
	priorities_unlock();
}

static bool inherits_here(const pthread_mutex_t *m)
{
	return m->__protocol == PTHREAD_PRIO_INHERIT && !mutex_is_shared(m);
}

static bool take_free(pthread_mutex_t *m)
{
	unsigned long free = M_PROTOCOL;

	return __atomic_compare_exchange_n(&m->__owner, &free,
					   (unsigned long)thread_self() | M_PROTOCOL, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Acquires m.  0 or ETIMEDOUT.  Blocks. */
static int inherit_lock(pthread_mutex_t *m, deadline_t deadline)
{
	struct sleepq *q = sleepq_of(m);
	struct thread *self = thread_self(), *owner;
	unsigned long seen;

	if (take_free(m))
		return 0;
	priorities_and_queue_lock(q);
	do {
		if (take_free(m)) {
			priorities_and_queue_unlock(q);
			return 0;
		}
		seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);
		/* Without waiters the owner may release m at any moment. */
	} while ((seen & ~M_FLAGS) == 0 ||
		 (!(seen & M_WAITERS) &&
		  !__atomic_compare_exchange_n(&m->__owner, &seen, seen | M_WAITERS, false,
					       __ATOMIC_RELAXED, __ATOMIC_RELAXED)));
	owner = (struct thread *)(seen & ~M_FLAGS);
	if (!(seen & M_WAITERS))
		mutex_list_add(&owner->inherits, m);
	self->pi_wait = m;
	sleepq_enter(q, m, self, ORDER_OPTION);
	COUNT(blocks, 1);
	PROBE(lock_wait, "lock kind owner", m, PROBE_MUTEX, m->__owner);
	sleepq_also_unlock(q);
	thread_pri_recompute(owner);
	sleepq_also_lock(q);
	priorities_unlock_not_queue();
	if (__ops->block(q, deadline, NULL) == NULL) {
		self->pi_wait = NULL;
		return 0;
	}
	priorities_lock();
	self->pi_wait = NULL;
	thread_pri_recompute(mutex_owner(m)); /* NULL if m has been released since */
	priorities_unlock();
	return ETIMEDOUT;
}

static void inherit_unlock(pthread_mutex_t *m)
{
	struct sleepq *q = sleepq_of(m);
	struct thread *self = thread_self(), *t;
	unsigned long held = (unsigned long)self | M_PROTOCOL;
	bool more;

	if (__atomic_compare_exchange_n(&m->__owner, &held, M_PROTOCOL, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		return;
	priorities_and_queue_lock(q);
	t = sleepq_take(q, m, &more);
	PROBE(lock_free, "lock kind", m, PROBE_MUTEX, 0);
	mutex_list_remove(&self->inherits, m);
	if (more)
		mutex_list_add(&t->inherits, m);
	__atomic_store_n(&m->__owner, (unsigned long)t | M_PROTOCOL | (more ? M_WAITERS : 0),
			 __ATOMIC_RELEASE);
	if (t != NULL)
		t->wchan = &__sleepq_taken;
	sleepq_also_unlock(q);
	thread_pri_recompute(self);
	COUNT(wakes, t != NULL);
	if (t == NULL) {
		priorities_unlock();
		return;
	}
	sleepq_also_lock(q);
	priorities_unlock_not_queue();
	__ops->wake_one(q, t);
}

/* inherit_lock for a thread that may be cancelled at any time. */
static int inherit_lock_async(pthread_mutex_t *m, deadline_t deadline)
{
	struct thread *self = thread_self();
	int error;

	wait_async_begin(self);
	error = inherit_lock(m, deadline);
	if (wait_async_end(self)) {
		if (error == 0)
			inherit_unlock(m);
		__cancelled();
	}
	return error;
}

/* --- ceilings ------------------------------------------------------------------------------ */

/*
 * Sets the caller's ceiling to the highest ceiling that it owns, and to no less than the ceiling of
 * `more`, if not NULL, which the caller is about to acquire.  EINVAL: the caller's own priority is
 * above the ceiling of `more`.
 */
static int apply_ceilings(struct thread *self, const pthread_mutex_t *more)
{
	int limit = more != NULL ? more->__ceiling : -1, ceiling = highest_ceiling(self), before;

	if (ceiling < limit)
		ceiling = limit;
	if (self->bound)
		return -__sys_lwp_ceiling(ceiling, limit);
	if (limit >= 0 && self->base_pri > PRI_REALTIME + limit)
		return EINVAL;
	priorities_lock();
	before = self->pri;
	self->ceiling = ceiling >= 0 ? PRI_REALTIME + ceiling : 0;
	thread_pri_recompute(self);
	priorities_unlock();
	/*
	 * Other threads may have a higher priority now.  A real-time thread keeps its place before
	 * threads of equal priority.
	 */
	if (self->pri < before && self->pri < PRI_REALTIME)
		__ops->yield();
	return 0;
}

/* --- mutexes ----------------------------------------------------------------------------------- */

static bool mutex_is_owned(const pthread_mutex_t *m)
{
	return mutex_is_shared(m) ? __shared_owned(m) : mutex_owner(m) == thread_self();
}

/* Acquires m after the priority has been set by the protocol; does not wait if `try`. */
static int protocol_lock(pthread_mutex_t *m, bool try, deadline_t deadline)
{
	if (mutex_is_shared(m))
		return __shared_take(m, try, deadline);
	if (inherits_here(m))
		return !try ? inherit_lock_async(m, deadline) : take_free(m) ? 0 : EBUSY;
	return __mutex_lock_plain(m, try, deadline);
}

/* The caller owns m already. */
static int protocol_relock(pthread_mutex_t *m, bool try, deadline_t deadline)
{
	if (m->__type == PTHREAD_MUTEX_RECURSIVE) {
		if (m->__count == UINT_MAX)
			return EAGAIN;
		m->__count++;
		return 0;
	}
	if (try)
		return EBUSY;
	return m->__type == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : protocol_lock(m, false, deadline);
}

int __protocol_lock(pthread_mutex_t *m, bool try, deadline_t deadline)
{
	bool protect = m->__protocol == PTHREAD_PRIO_PROTECT;
	int error;

	if (mutex_is_owned(m))
		return protocol_relock(m, try, deadline);
	thread_self()->owns_special = true;
	if (protect && (error = apply_ceilings(thread_self(), m)) != 0)
		return error;
	error = protocol_lock(m, try, deadline);
	if (protect && (error == 0 || error == EOWNERDEAD))
		mutex_list_add(&thread_self()->protects, m);
	else if (protect)
		apply_ceilings(thread_self(), NULL);
	return error;
}

int __protocol_unlock(pthread_mutex_t *m)
{
	int error = 0;

	if (!mutex_is_owned(m))
		return EPERM;
	if (m->__count > 0) {
		m->__count--;
		return 0;
	}
	if (inherits_here(m)) {
		inherit_unlock(m);
		return 0;
	}
	if (m->__protocol != PTHREAD_PRIO_PROTECT)
		return __shared_give_up(m);
	/* Once m is free, its memory may be unmapped. */
	mutex_list_remove(&thread_self()->protects, m);
	error = mutex_is_shared(m) ? __shared_give_up(m) : __mutex_unlock_plain(m);
	apply_ceilings(thread_self(), NULL);
	return error;
}

/* The caller owned m, released it without its protocol, and did not reacquire it. */
void __protocol_lost(pthread_mutex_t *m)
{
	if (m->__protocol == PTHREAD_PRIO_PROTECT) {
		mutex_list_remove(&thread_self()->protects, m);
		apply_ceilings(thread_self(), NULL);
	}
}

/* EINVAL: m has no ceiling. */
int pthread_mutex_getprioceiling(const pthread_mutex_t *m, int *ceiling)
{
	if (m->__protocol != PTHREAD_PRIO_PROTECT)
		return EINVAL;
	*ceiling = m->__ceiling;
	return 0;
}

/*
 * Acquires m, whatever the caller's priority, gives it the new ceiling, and releases it.  Blocks.
 * EINVAL: m has no ceiling, or the new one is no priority of SCHED_FIFO.  EDEADLK: the caller owns
 * m, and m is not recursive.  EAGAIN, EOWNERDEAD, ENOTRECOVERABLE: as for pthread_mutex_lock.
 */
int pthread_mutex_setprioceiling(pthread_mutex_t *m, int ceiling, int *old)
{
	int error;

	if (m->__protocol != PTHREAD_PRIO_PROTECT || ceiling < PRIO_CEILING_MIN ||
	    ceiling > PRIO_CEILING_MAX)
		return EINVAL;
	if (mutex_is_owned(m)) {
		if (m->__type != PTHREAD_MUTEX_RECURSIVE)
			return EDEADLK;
		if (old != NULL)
			*old = m->__ceiling;
		m->__ceiling = ceiling;
		apply_ceilings(thread_self(), NULL);
		return 0;
	}
	error = protocol_lock(m, false, NEVER);
	if (error != 0 && error != EOWNERDEAD)
		return error;
	if (old != NULL)
		*old = m->__ceiling;
	m->__ceiling = ceiling;
	if (error != EOWNERDEAD)
		return mutex_is_shared(m) ? __shared_give_up(m) : __mutex_unlock_plain(m);
	/* The caller owns m, and must make it consistent. */
	mutex_list_add(&thread_self()->protects, m);
	apply_ceilings(thread_self(), NULL);
	return error;
}
