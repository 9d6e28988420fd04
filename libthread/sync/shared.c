/*
 * shared.c - mutexes, condition variables, semaphores and reader-writer locks that processes share,
 * and robust mutexes, over the kernel's calls on locks in user memory (weft/ksync.h).
 *
 * The code is the same in every model: a thread that waits blocks its LWP in the kernel.  A model
 * that multiplexes threads runs no other thread on that LWP meanwhile.  In exchange, these objects
 * need neither the model's lock nor its queues.
 *
 * A robust mutex is handled here even if only one process uses it, because only the kernel can see
 * a process die.  A process registers a robust mutex before the first acquisition.  A small table
 * here remembers the registration.  The table may forget one; the mutex is then registered once
 * more, which costs a system call and does no harm.  When a thread exits as the owner of robust
 * mutexes, the library tells the kernel (__thread_exit).  When the process ends, the kernel sees it
 * itself.
 *
 * Adaptive spinning is not possible here, because the owner's LWP may belong to another process.
 * As in the library of Solaris 9, a thread spins for a while if there is more than one CPU.  In the
 * models that follow the old library, it does not spin (options.spin_shared).
 */
#include <errno.h>
#include <limits.h>
#include <weft/point.h>
#include "mutex.h"
#include "shared.h"
#include "../core/model.h"
#include "../lockstat/lockstat.h"

#define SPINS 1000

static int cached_pid; /* 0: not known */

/* The number by which the kernel knows the thread. */
static inline uint32_t owner_number(const struct thread *t)
{
	return t->id | LWP_OWNER_THREAD;
}

static struct weft_timespec timespec_of(deadline_t deadline)
{
	deadline = deadline_by(deadline, clock_offset());
	return (struct weft_timespec){deadline / 1000000000, deadline % 1000000000};
}

static unsigned long owner_word_as(uint32_t number)
{
	int pid = __atomic_load_n(&cached_pid, __ATOMIC_RELAXED);

	if (pid == 0) {
		pid = __sys_getpid();
		__atomic_store_n(&cached_pid, pid, __ATOMIC_RELAXED);
	}
	return lwp_mutex_owner(pid, number);
}

static inline unsigned long owner_word(void)
{
	return owner_word_as(owner_number(thread_self()));
}

/*
 * The caller's number as the owner of m.  If m inherits priorities and the thread has an LWP of its
 * own, this is the LWP's number.
 */
static uint32_t number_for(const pthread_mutex_t *m)
{
	const struct thread *t = thread_self();

	return m->__protocol == PTHREAD_PRIO_INHERIT && t->bound ? t->lwp->id : owner_number(t);
}

bool __shared_owned(const pthread_mutex_t *m)
{
	if (!mutex_is_shared(m))
		return mutex_owner(m) == thread_self();
	return (__atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & LWP_MUTEX_OWNER) ==
	       owner_word_as(number_for(m));
}

static struct lwp_mutex *shared_word(pthread_mutex_t *m)
{
	return (struct lwp_mutex *)&m->__owner;
}

/* --- robust mutexes --------------------------------------------------------------------- */

#define CACHE_BITS 8
static const pthread_mutex_t *registered[1 << CACHE_BITS]; /* atomic */

static const pthread_mutex_t **cache_slot(const pthread_mutex_t *m)
{
	return &registered[(uintptr_t)m * 0x9e3779b97f4a7c15u >> (64 - CACHE_BITS)];
}

/* Called in a child of fork, which owns no mutex and has none registered. */
void __shared_forked(void)
{
	cached_pid = 0;
	for (unsigned i = 0; i < 1 << CACHE_BITS; i++)
		registered[i] = NULL;
}

/* Registers m before the caller acquires it.  0, EAGAIN, ENOMEM. */
static int make_known(pthread_mutex_t *m)
{
	const pthread_mutex_t **slot = cache_slot(m);

	thread_self()->owns_special = true;
	if (likely(__atomic_load_n(slot, __ATOMIC_RELAXED) == m))
		return 0;
	long r = __sys_lwp_mutex_register(shared_word(m));
	if (r == 0)
		__atomic_store_n(slot, m, __ATOMIC_RELAXED);
	return -r;
}

/* The calling thread, which may own robust mutexes, exits. */
void __shared_thread_exit(void)
{
	const struct thread *self = thread_self();

	__sys_lwp_mutex_abandon(owner_number(self));
	if (self->bound)
		__sys_lwp_mutex_abandon(self->lwp->id);
}

/* EINVAL: m is not robust, or its last owner did not die, or the caller does not own it. */
int pthread_mutex_consistent(pthread_mutex_t *m)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);

	if (!mutex_is_shared(m) || !(seen & LWP_MUTEX_OWNERDEAD) || !__shared_owned(m))
		return EINVAL;
	__atomic_and_fetch(&m->__owner, ~LWP_MUTEX_OWNERDEAD, __ATOMIC_RELAXED);
	return 0;
}

/* --- mutexes ----------------------------------------------------------------------------- */

/* The caller owns m already. */
static int shared_relock(pthread_mutex_t *m)
{
	if (m->__type != PTHREAD_MUTEX_RECURSIVE)
		return EBUSY;
	if (m->__count == UINT_MAX)
		return EAGAIN;
	m->__count++;
	return 0;
}

/* The caller has acquired m; if `dead`, the last owner died. */
static int shared_taken(pthread_mutex_t *m, bool dead)
{
	if (!dead)
		return 0;
	m->__count = 0;
	return EOWNERDEAD;
}

/* Tries to acquire m.  EBUSY also if m has one of the flags in `unwanted`. */
static inline int shared_try(pthread_mutex_t *m, unsigned long self, unsigned long unwanted)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);

	if (seen & (LWP_MUTEX_ROBUST | unwanted)) {
		if (seen & unwanted)
			return EBUSY;
		int error = make_known(m);
		if (error != 0)
			return error;
	}
	do {
		if (seen & LWP_MUTEX_NOTRECOVERABLE)
			return ENOTRECOVERABLE;
		if (seen & LWP_MUTEX_OWNER)
			return (seen & LWP_MUTEX_OWNER) == self ? shared_relock(m) : EBUSY;
	} while (!__atomic_compare_exchange_n(&m->__owner, &seen, seen | self, false,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	return shared_taken(m, seen & LWP_MUTEX_OWNERDEAD);
}

int __shared_trylock(pthread_mutex_t *m)
{
	int error = shared_try(m, owner_word(), LWP_MUTEX_PROTOCOL);

	return error == EBUSY && m->__protocol != PTHREAD_PRIO_NONE ? __protocol_lock(m, true, 0)
								    : error;
}

static bool becomes_free(pthread_mutex_t *m)
{
	if (!__options.may_spin || !__options.spin_shared || m->__protocol == PTHREAD_PRIO_INHERIT)
		return false;
	for (int i = 0; i < SPINS; i++) {
		if (!(__atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & LWP_MUTEX_OWNER)) {
			COUNT_IN_KERNEL(turns, i);
			return true;
		}
		spin_hint();
	}
	COUNT_IN_KERNEL(turns, SPINS);
	return false;
}

/* The caller may have to wait. */
static int shared_wait_for(pthread_mutex_t *m, deadline_t deadline)
{
	struct weft_timespec ts = timespec_of(deadline);
	uint32_t me = number_for(m);
	int error;
	long r;

	if (m->__type == PTHREAD_MUTEX_ERRORCHECK && __shared_owned(m))
		return EDEADLK;
	if (becomes_free(m)) {
		error = shared_try(m, owner_word_as(me), 0);
		if (error != EBUSY) {
			COUNT_IN_KERNEL(spun, 1);
			return error;
		}
	}
	COUNT_IN_KERNEL(blocks, 1);
	do {
		PROBE(lock_wait, "lock kind owner", m, PROBE_MUTEX, m->__owner);
		r = deadline == NEVER ? __sys_lwp_mutex_lock(shared_word(m), me)
				      : __sys_lwp_mutex_timedlock(shared_word(m), me, &ts);
	} while (r == -EINTR);
	return r == 0 || r == -EOWNERDEAD ? shared_taken(m, r != 0) : -r;
}

int __shared_take(pthread_mutex_t *m, bool only_try, deadline_t deadline)
{
	int error = shared_try(m, owner_word_as(number_for(m)), 0);

	return error != EBUSY || only_try ? error : shared_wait_for(m, deadline);
}

static int __attribute__((noinline)) shared_lock_slow(pthread_mutex_t *m, deadline_t deadline)
{
	return m->__protocol != PTHREAD_PRIO_NONE ? __protocol_lock(m, false, deadline)
						  : shared_wait_for(m, deadline);
}

int __shared_lock(pthread_mutex_t *m, deadline_t deadline)
{
	int error = shared_try(m, owner_word(), LWP_MUTEX_PROTOCOL);

	return error != EBUSY ? error : shared_lock_slow(m, deadline);
}

/* Releases m, which the caller owns; `seen` is m's word. */
static inline int shared_release(pthread_mutex_t *m, unsigned long seen)
{
	if (m->__count > 0) {
		m->__count--;
		return 0;
	}
	if (!(seen & (LWP_MUTEX_WAITERS | LWP_MUTEX_OWNERDEAD)) &&
	    __atomic_compare_exchange_n(&m->__owner, &seen, seen & LWP_MUTEX_KIND, false,
					__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return 0;
	COUNT_IN_KERNEL(wakes, (seen & LWP_MUTEX_WAITERS) != 0);
	return -__sys_lwp_mutex_unlock(shared_word(m), number_for(m));
}

int __shared_give_up(pthread_mutex_t *m)
{
	return shared_release(m, __atomic_load_n(&m->__owner, __ATOMIC_RELAXED));
}

int __shared_unlock(pthread_mutex_t *m)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);

	if (unlikely((seen & (LWP_MUTEX_OWNER | LWP_MUTEX_PROTOCOL)) != owner_word()))
		return m->__protocol != PTHREAD_PRIO_NONE ? __protocol_unlock(m) : EPERM;
	return shared_release(m, seen);
}

int __shared_destroy(pthread_mutex_t *m)
{
	unsigned long seen = __atomic_load_n(&m->__owner, __ATOMIC_RELAXED);
	const pthread_mutex_t **slot = cache_slot(m), *expected = m;

	if (seen & LWP_MUTEX_OWNER)
		return EBUSY;
	if (seen & LWP_MUTEX_ROBUST) {
		__atomic_compare_exchange_n(slot, &expected, NULL, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
		__sys_lwp_mutex_unregister(shared_word(m));
	}
	return 0;
}

static uint64_t as_word(const struct thread *owner)
{
	return (uint64_t)owner | LWP_OWNER_WORD;
}

int __kernel_mutex_lock(pthread_mutex_t *m, deadline_t deadline)
{
	struct weft_timespec ts = timespec_of(deadline);
	uint64_t me = as_word(thread_self());
	long r;

	do {
		PROBE(lock_wait, "lock kind owner", m, PROBE_MUTEX, m->__owner);
		r = deadline == NEVER ? __sys_lwp_mutex_lock(shared_word(m), me)
				      : __sys_lwp_mutex_timedlock(shared_word(m), me, &ts);
	} while (r == -EINTR);
	return -r;
}

int __kernel_mutex_unlock(pthread_mutex_t *m, const struct thread *owner)
{
	COUNT_IN_KERNEL(wakes,
			(__atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & LWP_MUTEX_WAITERS) != 0);
	return -__sys_lwp_mutex_unlock(shared_word(m), as_word(owner));
}

/* --- condition variables ------------------------------------------------------------------ */

/* Reacquires m, of whatever kind, and restores its count. */
static int shared_retake(pthread_mutex_t *m, unsigned count)
{
	bool shared = mutex_is_shared(m);
	int error = 0;

	/* If the caller is being cancelled, m may not have been released. */
	if (!__shared_owned(m))
		error = shared ? __shared_take(m, false, NEVER)
			       : __mutex_lock_plain(m, false, NEVER);
	if (error != 0)
		return error;
	m->__count = count;
	if (count != 0 && !shared && m->__protocol == PTHREAD_PRIO_NONE)
		__atomic_or_fetch(&m->__owner, M_RECURSED, __ATOMIC_RELAXED);
	return 0;
}

/*
 * If m has a ceiling, the caller keeps its raised priority, because it needs that priority again
 * before it reacquires m.
 */
int __shared_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline)
{
	struct weft_timespec ts = timespec_of(deadline);
	struct lwp_cond *word = (struct lwp_cond *)&c->__waiters;
	uint64_t me = mutex_is_shared(m) ? number_for(m) : as_word(thread_self());
	unsigned count = m->__count;
	int error;
	long r;

	m->__count = 0; /* a recursive mutex is released completely */
	r = deadline == NEVER ? __point_lwp_cond_wait(word, shared_word(m), me)
			      : __point_lwp_cond_timedwait(word, shared_word(m), me, &ts);
	if (r != 0 && r != -ETIMEDOUT && r != -EINTR) {
		m->__count = count;
		return -r;
	}
	error = shared_retake(m, count);
	if (error != 0 && error != EOWNERDEAD)
		__protocol_lost(m);
	if (r == -EINTR)
		pthread_testcancel();
	return error != 0 ? error : r == -ETIMEDOUT ? ETIMEDOUT : 0;
}

int __shared_cond_wake(pthread_cond_t *c, bool all)
{
	struct lwp_cond *word = (struct lwp_cond *)&c->__waiters;

	if (!(__atomic_load_n(&c->__waiters, __ATOMIC_RELAXED) & LWP_COND_WAITERS))
		return 0;
	COUNT_IN_KERNEL(wakes, 1);
	return -(all ? __sys_lwp_cond_broadcast(word) : __sys_lwp_cond_signal(word));
}

/* --- semaphores ----------------------------------------------------------------------------- */

_Static_assert(sizeof(sem_t) == sizeof(struct lwp_sema), "the same, for the kernel");

int __shared_sem_wait(sem_t *s, deadline_t deadline)
{
	struct weft_timespec ts = timespec_of(deadline);

	long r = deadline == NEVER ? __point_lwp_sema_wait((struct lwp_sema *)s)
				   : __point_lwp_sema_timedwait((struct lwp_sema *)s, &ts);

	if (r == -EINTR)
		pthread_testcancel();
	return -r;
}

int __shared_sem_post(sem_t *s)
{
	return -__sys_lwp_sema_post((struct lwp_sema *)s);
}

/* --- reader-writer locks ----------------------------------------------------------------- */

/* In a shared lock __writer names the process and the thread, as a mutex's word does. */
static unsigned long writer_word(const pthread_rwlock_t *l)
{
	return rwlock_is_shared(l) ? owner_word() : (unsigned long)thread_self();
}

bool __rwlock_is_writer(const pthread_rwlock_t *l)
{
	return __atomic_load_n(&l->__writer, __ATOMIC_RELAXED) == writer_word(l);
}

static void rwlock_taken(pthread_rwlock_t *l, bool write)
{
	if (write)
		__atomic_store_n(&l->__writer, writer_word(l), __ATOMIC_RELAXED);
	else
		thread_self()->readlocks++;
}

bool __shared_tryrwlock(pthread_rwlock_t *l, bool write)
{
	const unsigned closed = LWP_RWLOCK_WRITER | LWP_RWLOCK_WAITING;
	unsigned seen = __atomic_load_n(&l->__word, __ATOMIC_RELAXED);

	do {
		if (write ? (seen & ~LWP_RWLOCK_SHARED) != 0
			  : (seen & closed) || (seen & LWP_RWLOCK_READERS) == LWP_RWLOCK_READERS)
			return false;
	} while (!__atomic_compare_exchange_n(&l->__word, &seen,
					      write ? seen | LWP_RWLOCK_WRITER : seen + 1, false,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	rwlock_taken(l, write);
	return true;
}

int __shared_rwlock(pthread_rwlock_t *l, bool write, deadline_t deadline)
{
	struct weft_timespec ts = timespec_of(deadline), *until = deadline == NEVER ? NULL : &ts;
	struct lwp_rwlock *word = (struct lwp_rwlock *)&l->__word;
	unsigned again = thread_self()->readlocks > 0 ? LWP_RWLOCK_AGAIN : 0;
	long r;

	if (__shared_tryrwlock(l, write))
		return 0;
	if (__rwlock_is_writer(l))
		return EDEADLK;
	COUNT_IN_KERNEL(blocks, deadline != 0);
	do {
		r = write ? __sys_lwp_rwlock_wrlock(word, until)
			  : __sys_lwp_rwlock_rdlock(word, again, until);
	} while (r == -EINTR);
	if (r == 0)
		rwlock_taken(l, write);
	return -r;
}

int __shared_rwlock_unlock(pthread_rwlock_t *l)
{
	struct lwp_rwlock *word = (struct lwp_rwlock *)&l->__word;
	unsigned seen = __atomic_load_n(&l->__word, __ATOMIC_RELAXED);

	if (seen & LWP_RWLOCK_WRITER) {
		if (!__rwlock_is_writer(l))
			return EPERM;
		__atomic_store_n(&l->__writer, 0, __ATOMIC_RELAXED);
		if (!(seen & LWP_RWLOCK_WAITING) &&
		    __atomic_compare_exchange_n(&l->__word, &seen, LWP_RWLOCK_SHARED, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return 0;
	}
	COUNT_IN_KERNEL(wakes, (seen & LWP_RWLOCK_WAITING) != 0);
	return -__sys_lwp_rwlock_unlock(word);
}

int __kernel_rwlock_unlock(pthread_rwlock_t *l)
{
	COUNT_IN_KERNEL(wakes,
			(__atomic_load_n(&l->__word, __ATOMIC_RELAXED) & LWP_RWLOCK_WAITING) != 0);
	return -__sys_lwp_rwlock_unlock((struct lwp_rwlock *)&l->__word);
}
