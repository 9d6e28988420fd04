/*
 * lone.c - model sa with several CPUs: two threads that wake each other by semaphores, without _schedlock.
 *
 * A thread that waits alone for a semaphore stands in no sleep queue.  The semaphore's word is the thread's name
 * (LWP_SEMA_WAITING, and a part of the address of its struct thread), and the field `lone` of the thread is the LWP that
 * the thread has left.  The thread left it to a thread of the LWP's own list (local.c).  A post by a thread of the same
 * LWP puts the waiter into this list.  So pairs of threads on different LWPs have no lock in common.
 *
 * A thread that joins another waits alone in the same way (life.c); no word has its name.
 *
 * All else first makes the waiter an ordinary one, in the queue of the semaphore (lone_settle): a post from another
 * LWP or from a bound thread, a second waiter, and whatever finds the waiter by its struct thread: a cancellation, a
 * signal, a new priority.  So a lone waiter is plain (struct thread: special), and no other file knows of it.
 *
 * Locks.  lone, and the word while it is a name, change under the run_lock of the LWP `lone`.  The word becomes a
 * name by compare-and-swap, because other posts make 0 to 1 without a lock.  Lock order: _schedlock, run_lock, the lock of
 * the queue.
 *
 * *Race:* a thread waits alone, and the post comes before the switch has saved its registers; *without this:* the thread
 * runs on with old registers; *closed by:* run_lock, which is held across the switch.
 *
 * *Race:* a thread is about to wait alone, and gets a signal, or is cancelled; *without this:* it sleeps on; *closed by:*
 * the waiter looks at `special` with run_lock, and the sender holds all run_locks (__local_freeze).
 */
#include <semaphore.h>
#include <weft/ksync.h>
#include "local.h"

/*
 * The names of threads.  struct threads lie at the top of the address space.  A thread that lies too low for a name
 * waits in the queue.
 */
#define NAME_SHIFT 6 /* they are aligned to 64 bytes */
#define NAME_BITS 31
#define NAMED_FROM (0x800000000000ull - (1ull << (NAME_BITS + NAME_SHIFT)))

static inline bool has_name(const struct thread *t)
{
	return (uintptr_t)t >= NAMED_FROM;
}

static inline uint32_t name_of(const struct thread *t)
{
	return (uint32_t)((uintptr_t)t >> NAME_SHIFT) | LWP_SEMA_WAITING;
}

static inline bool word_is_name(uint32_t word)
{
	return word > LWP_SEMA_WAITING;
}

static inline struct thread *thread_named(uint32_t name)
{
	return (struct thread *)(((uint64_t)name << NAME_SHIFT) + NAMED_FROM -
				 ((uint64_t)LWP_SEMA_WAITING << NAME_SHIFT));
}

/*
 * sem_wait of a thread that has found no unit.  The case of a thread that waits alone, and whose LWP has a thread that
 * goes on.  All else is for `ordinary`.
 */
static int lone_wait(sem_t *s, struct sleepq *q, int (*ordinary)(sem_t *))
{
	struct thread *self = thread_self(), *next;
	uint32_t none = 0;
	struct ulwp *l;

	critical_enter();
	l = self->lwp;
	if (unlikely(!own_turn_now(l) || !ilock_try(&l->run_lock))) {
		critical_exit();
		return ordinary(s);
	}
	next = l->run.first;
	if (unlikely((self->special | __runq.above) != 0 || next == run_end(&l->run) ||
		     !has_name(self)))
		goto no;
	self->wchan = s;
	self->q = q;
	self->wait_arg = &__ends_in_sleep;
	self->lone = l;
	if (unlikely(!__atomic_compare_exchange_n(&s->__word, &none, name_of(self), false,
						  __ATOMIC_RELEASE, __ATOMIC_RELAXED))) {
		self->wchan = NULL;
		self->lone = NULL;
		goto no;
	}
	PROBE(lock_wait, "lock kind", s, PROBE_SEMA, 0);
	self->state = TS_BLOCKED;
	l->run.first = next->run_next;
	next->run_next->run_prev = run_end(&l->run);
	return local_hand_over(self, next, l);
no:
	ilock_unlock(&l->run_lock);
	return ordinary(s);
}

/*
 * sem_post that has found a name.  A waiter whose `lone` is the caller's LWP cannot be woken by another thread now.
 *
 * *Race:* an LWP has no thread, looks at the caller's list, and finds it empty; *without this:* the LWP goes idle,
 * and the waiter waits in the list although an LWP is idle; *closed by:* the caller looks at __local_open with run_lock
 * (local.c, __local_pop).
 */
static int lone_post(sem_t *s, uint32_t name, int (*ordinary)(sem_t *))
{
	struct thread *t = thread_named(name);
	struct ulwp *l;

	critical_enter();
	l = thread_self()->lwp;
	if (unlikely(!ilock_try(&l->run_lock))) {
		critical_exit();
		return ordinary(s);
	}
	if (unlikely(t->lone != l || t->wchan != s || !__local_open || thread_self()->bound)) {
		ilock_unlock(&l->run_lock);
		return ordinary(s);
	}
	__atomic_store_n(&s->__word, 0, __ATOMIC_RELAXED);
	t->lone = NULL;
	t->wchan = NULL;
	PROBE(thread_woken, "thread", t, 0, 0);
	t->state = TS_RUNQUEUE;
	run_list_append(&l->run, t);
	ilock_unlock(&l->run_lock);
	return 0;
}

/*
 * With the run_lock of l, or with all run_locks of the pool.  The switch of t is complete.
 *
 * *Race:* the LWP l has aged and exited, so its run_lock is none of those that __local_freeze acquires; a post and a sender both
 * settle t; *without this:* t enters its queue twice; *closed by:* the look at t->lone with the lock of the queue.
 */
static void lone_move(struct thread *t, const struct ulwp *l)
{
	const void *obj = t->wchan;
	struct sleepq *q = t->q;

	ilock_lock(&q->lock);
	if (t->lone != l) {
		ilock_unlock_inner(&q->lock);
		return;
	}
	if (t->wait_arg == &__ends_in_sleep) /* else obj is a thread: life.c */
		__atomic_store_n(&((sem_t *)obj)->__word, LWP_SEMA_WAITING, __ATOMIC_RELAXED);
	t->lone = NULL;
	sleepq_enter(q, obj, t, ORDER_OPTION);
	ilock_unlock_inner(&q->lock);
}

/* The caller holds _schedlock and has called __local_freeze. */
void __lone_settle(struct thread *t)
{
	const struct ulwp *l = __atomic_load_n(&t->lone, __ATOMIC_ACQUIRE);

	if (l != NULL)
		lone_move(t, l);
}

void __lone_settle_for(struct thread *t, const void *obj)
{
	struct ulwp *l = __atomic_load_n(&t->lone, __ATOMIC_ACQUIRE);

	if (l == NULL)
		return;
	ilock_lock(&l->run_lock);
	if (t->lone == l && t->wchan == obj)
		lone_move(t, l);
	ilock_unlock(&l->run_lock);
}

static inline bool name_unused(const sem_t *s, uint32_t name)
{
	const struct thread *t = thread_named(name);

	return s->__word == name && (t->lone == NULL || t->wchan != s);
}

/*
 * The word of s was `name`, of a thread that did not seem to wait for s: it has just been woken.  In a child of fork
 * the word may be the name of a thread of the parent, and stays so.
 *
 * *Race:* the thread has been looked at, and waits for s again, with the same name; *without this:* the word loses the
 * name of a thread that waits, and no post finds it; *closed by:* all run_locks (__local_freeze), with which no thread
 * begins to wait alone, or is woken.
 */
static void name_forget(sem_t *s, uint32_t name)
{
	schedlock();
	__local_freeze();
	if (name_unused(s, name))
		__atomic_store_n(&s->__word, LWP_SEMA_WAITING, __ATOMIC_RELAXED);
	__local_thaw();
	schedunlock();
}

/* If a thread waits alone for s, it enters the queue. */
static void lone_settle(sem_t *s)
{
	uint32_t word;

	while (word_is_name(word = __atomic_load_n(&s->__word, __ATOMIC_ACQUIRE))) {
		struct thread *t = thread_named(word);
		struct ulwp *l = __atomic_load_n(&t->lone, __ATOMIC_ACQUIRE);
		bool waits = false;

		if (l != NULL) {
			ilock_lock(&l->run_lock);
			waits = t->lone == l && t->wchan == s;
			if (waits)
				lone_move(t, l);
			ilock_unlock(&l->run_lock);
		}
		if (!waits)
			name_forget(s, word);
	}
}

void __lone_init(void)
{
	__options.sema_special = SEMA_MODEL;
	__ops->sema_wait = lone_wait;
	__ops->sema_post = lone_post;
	__ops->sema_settle = lone_settle;
}
