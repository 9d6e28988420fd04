/*
 * join.c - joining and detaching.
 *
 * A joiner first claims the thread that it joins (joiner), so that no two threads join it.  A thread that exits unclaimed
 * and not detached enters the list of exited threads, from which thr_join(0, ...) takes one.  A joiner waits in the sleep
 * queue of the thread that it has claimed, or of __any_exit.  In a model whose threads have many locks it first tries to
 * wait alone, in no queue (join_alone of the model).
 */
#include <errno.h>
#include <pthread.h>
#include "join.h"
#include "model.h"
#include "sleepq.h"

unsigned __unclaimed, __any_waiters;
char __any_exit; /* the object for which a thread in thr_join(0, ...) waits */

void __any_exit_wake(void)
{
	struct sleepq *q = sleepq_of_point(&__any_exit);
	struct thread *t;
	bool more;

	__ops->lock(q);
	t = sleepq_take(q, &__any_exit, &more);
	if (t != NULL)
		__ops->wake(q, t);
	else
		__ops->unlock(q);
}

/* The threads that wait for any thread to exit count again how many threads are left. */
static void recount_any(void)
{
	struct sleepq *q = sleepq_of_point(&__any_exit);
	struct thread *list;

	__ops->lock(q);
	list = __sleepq_take_all(q, &__any_exit);
	if (list != NULL)
		__ops->wake(q, list);
	else
		__ops->unlock(q);
}

/* t, which is not claimed, can no longer be taken by thr_join(0, ...). */
static inline void thread_claim(struct thread *t)
{
	struct id_set *set;

	if (unlikely(t->detached != 0)) /* thr_join(0, ...) does not count a daemon */
		return;
	__atomic_sub_fetch(&__unclaimed, 1, __ATOMIC_RELAXED);
	if (!t->exited)
		return;
	set = id_set_of(t->id);
	if (t->free_prev != NULL)
		t->free_prev->free_next = t->free_next;
	else
		set->exited_first = t->free_next;
	if (t->free_next != NULL)
		t->free_next->free_prev = t->free_prev;
	else
		set->exited_last = t->free_prev;
}

/* The thread that had claimed t joins it no more. */
static void thread_unclaim(struct thread *t)
{
	t->joiner = NULL;
	if (t->detached != 0)
		return;
	__atomic_add_fetch(&__unclaimed, 1, __ATOMIC_RELAXED);
	if (!t->exited)
		return;
	exited_offer(t);
}

/* The caller holds the lock that guards obj.  It now stands in the queue of obj. */
static inline struct sleepq *enter_wait(const void *obj)
{
	struct sleepq *q = sleepq_of_point(obj);

	PROBE(lock_wait, "lock kind", obj, PROBE_JOIN, 0);
	sleepq_lock(q);
	sleepq_enter(q, obj, thread_self(), ORDER_FIFO);
	thread_self()->wait_arg = NULL;
	return q;
}

/*
 * Waits until t exits.  Called with lock held, of t's id, and returns with it held.  False: the deadline has passed, or
 * the caller is to be cancelled.
 */
static inline bool wait_for_exit(struct thread *t, deadline_t deadline, struct ilock *lock,
				 bool apart)
{
	struct sleepq *q;
	const void *in_vain;

	if (apart && deadline == NEVER && __ops->join_alone != NULL) {
		in_vain = __ops->join_alone(t, lock);
		if (likely(in_vain != lock)) {
			ilock_lock(lock);
			return in_vain == NULL;
		}
	}
	q = enter_wait(t);
	ilock_unlock_inner(lock);
	in_vain = __ops->block(q, deadline, NULL);
	ilock_lock(lock);
	return in_vain == NULL;
}

/* Waits until any thread exits.  Called with all locks held, and returns with them held. */
static bool wait_for_any(void)
{
	struct sleepq *q = enter_wait(&__any_exit);
	bool woken;

	__threads_unlock_all();
	woken = __ops->block(q, NEVER, NULL) == NULL;
	__threads_lock_all();
	return woken;
}

/*
 * t has exited, and still executes its last few instructions on another LWP.  While that LWP is on a CPU, the caller keeps
 * its own: t may wait for a lock that many want, and a caller that slept a tick would leave its CPU without a thread.
 */
static void exiting_await(const struct thread *t)
{
	unsigned turns = 0;

	while (__atomic_load_n(&t->on_stack, __ATOMIC_ACQUIRE) != 0) {
		const struct ulwp *l = __atomic_load_n(&t->lwp, __ATOMIC_RELAXED);

		if (l == &__nowhere || l->sc->state == SC_ONCPU)
			spin_hint();
		else
			__backoff(&turns);
	}
}

/* Frees t, which has exited and is claimed or detached.  Releases the lock of t's id. */
static inline __attribute__((always_inline)) void thread_reap(struct thread *t, struct ilock *lock,
							      bool apart)
{
	PROBE(thread_join, "thread", t, 0, 0);
	thread_delist(t, apart);
	if (t->on_stack != 0) {
		ilock_unlock(lock);
		exiting_await(t);
		ilock_lock(lock);
	}
	thread_free(t, lock, apart);
	critical_exit();
	if (stacks_many())
		__stacks_trim();
}

/* A thread that has exited and is not claimed, or NULL.  The caller holds all locks. */
static struct thread *any_exited(void)
{
	struct thread *t = NULL;

	for (uint32_t i = 0; t == NULL && i <= __id_sets_mask; i++)
		t = __id_sets[i].exited_first;
	return t;
}

/*
 * For id 0: claims any thread that has exited, and returns it in *t.  Acquires the lock of its id.  No lock is held
 * after an error.
 */
static int claim_any(struct thread *self, struct thread **t)
{
	bool woken = true;

	__threads_lock_all();
	while (woken && (*t = any_exited()) == NULL) {
		/* Is there no thread except the caller? */
		if (__unclaimed == (self->detached == 0 && self->joiner == NULL)) {
			__threads_unlock_all();
			return EDEADLK;
		}
		__any_waiters++;
		woken = wait_for_any();
		__any_waiters--;
	}
	if (!woken) {
		__threads_unlock_all();
		return ETIMEDOUT;
	}
	thread_claim(*t);
	(*t)->joiner = self;
	__threads_unlock_all_but(id_lock((*t)->id));
	return 0;
}

/* self claims t, which is NULL if there is no such thread.  The caller holds the lock of the id. */
static inline int join_claim(struct thread *self, struct thread *t, deadline_t deadline)
{
	if (t == NULL)
		return ESRCH;
	if (t == self || self->joiner == t)
		return EDEADLK;
	if (t->detached & DETACHED || t->joiner != NULL)
		return EINVAL;
	if (!t->exited && deadline == 0)
		return EBUSY;
	thread_claim(t);
	t->joiner = self;
	if (unlikely(__any_waiters != 0))
		recount_any();
	return 0;
}

/*
 * self and t join each other, so it seems, and self has claimed t: self tries again with all locks.  Returns with the
 * lock of t's id, as before.
 */
static int __attribute__((noinline))
join_claim_again(struct thread *self, struct thread *t, deadline_t deadline, struct ilock *lock)
{
	unsigned long id = t->id;
	int error;

	thread_unclaim(t);
	ilock_unlock(lock);
	__threads_lock_all();
	error = join_claim(self, id_find(id), deadline);
	__threads_unlock_all_but(lock);
	return error;
}

/*
 * *Race:* threads A and B join each other, and each looks whether it is joined by the other before it claims the other;
 * *without this:* both wait for ever; *closed by:* each claims first, and then looks again.
 */
static inline bool join_each_other(struct thread *self, struct thread *t)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return unlikely(__atomic_load_n(&self->joiner, __ATOMIC_RELAXED) == t);
}

static inline __attribute__((always_inline)) int thread_join(unsigned long id, deadline_t deadline,
							     unsigned long *departed, void **status,
							     bool apart)
{
	struct thread *self = thread_self(), *t, *any;
	struct ilock *lock;
	int error;

	if (unlikely(cancel_due()))
		return __cancelled();
	if (unlikely(id == 0)) {
		error = claim_any(self, &any);
		if (error != 0) {
			if (error == ETIMEDOUT)
				pthread_testcancel();
			return error;
		}
		t = any;
		lock = id_lock_among(t->id, apart);
	} else {
		lock = id_lock_among(id, apart);
		ilock_lock(lock);
		t = id_find(id);
		error = join_claim(self, t, deadline);
		if (apart && error == 0 && join_each_other(self, t))
			error = join_claim_again(self, t, deadline, lock);
		if (error == 0 && !t->exited && !wait_for_exit(t, deadline, lock, apart)) {
			thread_unclaim(t);
			error = ETIMEDOUT;
		}
		if (error != 0) {
			ilock_unlock(lock);
			if (error == ETIMEDOUT)
				pthread_testcancel();
			return error;
		}
	}
	ASSERT(t->exited);
	if (departed != NULL)
		*departed = t->id;
	if (status != NULL)
		*status = t->status;
	thread_reap(t, lock, apart);
	return 0;
}

static int __attribute__((noinline))
join_apart(unsigned long id, deadline_t deadline, unsigned long *departed, void **status)
{
	return thread_join(id, deadline, departed, status, true);
}

/*
 * Waits until the thread has exited, and frees it.  id 0: any thread that no other thread joins.
 * ESRCH: no such thread.  EINVAL: the thread is detached, or another thread joins it.  EDEADLK: the
 * thread is the caller, or it is joining the caller, or there is no thread to wait for.  ETIMEDOUT,
 * or EBUSY with a deadline of 0: the thread has not exited.  Blocks.  A cancellation point: after a
 * cancellation the thread is as if the caller had never joined it.
 */
int __thread_join(unsigned long id, deadline_t deadline, unsigned long *departed, void **status)
{
	if (are_apart())
		return join_apart(id, deadline, departed, status);
	return thread_join(id, deadline, departed, status, false);
}

/* ESRCH: no such thread; EINVAL: detached already, or another thread joins it. */
int __thread_detach(unsigned long id)
{
	bool apart = are_apart();
	struct ilock *lock = id_lock(id);
	struct thread *t;
	int error = 0;

	ilock_lock(lock);
	t = id_find(id);
	if (t == NULL)
		error = ESRCH;
	else if (t->detached & DETACHED || t->joiner != NULL)
		error = EINVAL;
	if (error != 0) {
		ilock_unlock(lock);
		return error;
	}
	thread_claim(t);
	t->detached |= DETACHED;
	if (__any_waiters != 0)
		recount_any();
	if (t->exited)
		thread_reap(t, lock, apart);
	else
		ilock_unlock(lock);
	return 0;
}
