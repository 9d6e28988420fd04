/*
 * thread.c - the life of threads: creation, exit, joining, detaching, and finding one by its id.
 *
 * All threads of the program are in a circular list and in a table by id (ids.h).  The lock of a thread's id guards
 * everything marked "list" in tcb.h.  It is __threads_lock, except in a model whose threads have many locks (`apart`).
 *
 * A joiner first claims the thread that it joins (joiner), so that no two threads join it.  A
 * thread that exits unclaimed and not detached enters the list of exited threads, from which
 * thr_join(0, ...) takes one.  A joiner waits in the sleep queue of the thread that it has claimed,
 * or of __any_exit.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "ids.h"
#include "model.h"
#include "sleepq.h"
#include "tls.h"

static unsigned running; /* atomic: threads, except daemons, that have not begun to exit */

static unsigned unclaimed;   /* atomic: neither claimed, nor detached, nor daemons */
static unsigned any_waiters; /* threads in thr_join(0, ...); changes under all locks */
char __any_exit;             /* the object for which they wait */

static inline void thread_count(struct thread *t)
{
	uint8_t detached = t->detached;

	t->exited = false;
	if (likely(detached == 0))
		__atomic_add_fetch(&unclaimed, 1, __ATOMIC_RELAXED);
	if (likely(!(detached & DAEMON)))
		__atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
}

/* Called with __threads_lock held, or with no lock if `apart`.  Returns with the id's lock held. */
static inline struct ilock *thread_enlist(struct thread *t, bool apart)
{
	if (apart) {
		__id_give_apart(t);
	} else {
		if (unlikely(++__last_id == 0 || __ids_wrapped))
			__id_search();
		t->id = __last_id;
		id_insert(t);
		thread_list_append(t);
	}
	thread_count(t);
	return id_lock_among(t->id, apart);
}

/* The program no longer knows t.  The caller holds the lock of t's id. */
static inline void thread_delist(struct thread *t, bool apart)
{
	id_remove(t);
	if (!apart)
		thread_list_remove(t);
}

/*
 * t, which has been delisted, is free, or will be free when on_stack is 0.  Releases the lock of t's id, and stays in
 * its critical section.  The struct thread of the first thread is not used again.
 */
static inline __attribute__((always_inline)) void thread_free(struct thread *t, struct ilock *lock,
							      bool apart)
{
	if (apart) {
		bool kept = kept_put(t);

		ilock_drop(lock);
		if (likely(kept) || t == __main_thread)
			return;
		ilock_lock(&__threads_lock);
		thread_list_remove(t);
		__thread_put(t);
		ilock_unlock_inner(&__threads_lock);
		return;
	}
	if (t != __main_thread)
		__thread_put(t);
	ilock_drop(lock);
}

int __thread_with(unsigned long id, int (*op)(struct thread *t, void *arg), void *arg)
{
	struct ilock *lock = id_lock(id);
	unsigned turns = 0;
	int error;

	for (;;) {
		struct thread *t;

		ilock_lock(lock);
		t = id_find(id);
		error = t == NULL || t->exited ? ESRCH : op(t, arg);
		ilock_unlock(lock);
		if (error != EAGAIN)
			return error;
		__backoff(&turns);
	}
}

/* The first thread, before main. */
void __thread_first(struct thread *t)
{
	t->id = ++__last_id;
	PROBE(thread_first, "thread id bound", t, t->id, t->bound);
	__thread_list = t->list_next = t->list_prev = t;
	id_insert(t);
	thread_count(t);
}

/* Where every thread except the first begins, on its own stack. */
void __thread_main(struct thread *self)
{
	PROBE(thread_begin, "thread start", self, self->start, 0);
	__thread_exit(self->start(self->arg));
}

/* A free thread, in the list of threads.  NULL: out of memory. */
static struct thread *thread_take_apart(const struct create_args *args)
{
	struct thread *t = NULL;

	if (likely(args->stack == NULL))
		t = kept_take(args->stack_size, args->guard_size);
	if (unlikely(t == NULL)) {
		ilock_lock(&__threads_lock);
		t = __thread_take(args->stack_size, args->guard_size, args->stack);
		if (t != NULL) {
			t->exited = true; /* until it has an id */
			thread_list_append(t);
		}
		ilock_unlock(&__threads_lock);
	}
	return t;
}

static inline __attribute__((always_inline)) int thread_create(const struct create_args *args,
							       void *(*start)(void *), void *arg,
							       unsigned long *id, bool apart)
{
	struct thread *self = thread_self(), *t;
	struct ilock *lock;
	int error;

	if (id_table_full())
		__id_table_grow();
	if (apart) {
		t = thread_take_apart(args);
	} else {
		ilock_lock(&__threads_lock);
		t = __thread_take(args->stack_size, args->guard_size, args->stack);
	}
	if (unlikely(t == NULL)) {
		if (!apart)
			ilock_unlock(&__threads_lock);
		return EAGAIN;
	}
	t->self = t;
	t->reent = NULL;
	t->lwp = &__nowhere;
	/*
	 * Once enlisted, the thread can be found.  It has no registers and no LWP until the model
	 * has begun it.
	 */
	t->rsp = 0;
	t->own_lwp.id = 0;
	t->state_and_special = TS_STOPPED;
	t->readlocks = 0;
	t->cancel_all = 0;
	t->cleanup = NULL;
	save_fp_control(&t->fp_control); /* a new thread has its creator's */
	t->wchan = NULL;
	t->base = self->base;
	t->pri = t->base_pri;
	t->bound = __model->scope == SCOPE_EITHER ? args->bound : __model->scope == SCOPE_ALL_BOUND;
	t->detached = args->detached;
	if (unlikely(self->carries))
		t->carries = self->carries & CARRIES_MASK;
	t->sigmask = self->sigmask;
	t->sigkept = 0;
	t->on_stack = 1;
	t->joiner = NULL;
	t->owns_special = false;
	t->start = start;
	t->arg = arg;
	lock = thread_enlist(t, apart);
	*id = t->id;
	ilock_unlock(lock);
	PROBE(thread_new, "thread id bound", t, t->id, t->bound);

	tls_fill(t);
	error = __ops->create(t, args->new_lwp, args->suspended);
	if (error == 0)
		return 0;
	PROBE(thread_exit, "thread", t, 0, 0);
	if (!(t->detached & DAEMON))
		__atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
	ilock_lock(lock);
	if (t->detached == 0)
		__atomic_sub_fetch(&unclaimed, 1, __ATOMIC_RELAXED);
	t->exited = true;
	thread_delist(t, apart);
	t->on_stack = 0;
	thread_free(t, lock, apart);
	critical_exit();
	return error;
}

static int __attribute__((noinline))
create_apart(const struct create_args *args, void *(*start)(void *), void *arg, unsigned long *id)
{
	return thread_create(args, start, arg, id, true);
}

/* *id gets the new thread's id before the thread runs.  0, EAGAIN, ENOMEM. */
int __thread_create(const struct create_args *args, void *(*start)(void *), void *arg,
		    unsigned long *id)
{
	if (are_apart())
		return create_apart(args, start, arg, id);
	return thread_create(args, start, arg, id, false);
}

/* Wakes one thread that waits in q for obj, if there is one.  The caller holds the lock of an id. */
static void wake_one(const void *obj)
{
	struct sleepq *q = sleepq_of_point(obj);
	struct thread *t;
	bool more;

	__ops->lock(q);
	t = sleepq_take(q, obj, &more);
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

static void add_exited(struct thread *t)
{
	struct id_set *set = id_set_of(t->id);

	t->free_next = NULL;
	t->free_prev = set->exited_last;
	if (set->exited_last != NULL)
		set->exited_last->free_next = t;
	else
		set->exited_first = t;
	set->exited_last = t;
}

/* t, which is not claimed, can no longer be taken by thr_join(0, ...). */
static inline void thread_claim(struct thread *t)
{
	struct id_set *set;

	if (unlikely(t->detached != 0)) /* thr_join(0, ...) does not count a daemon */
		return;
	__atomic_sub_fetch(&unclaimed, 1, __ATOMIC_RELAXED);
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
	__atomic_add_fetch(&unclaimed, 1, __ATOMIC_RELAXED);
	if (!t->exited)
		return;
	add_exited(t);
	if (any_waiters > 0)
		wake_one(&__any_exit);
}

/*
 * The end of the caller's exit, if its joiner sleeps: releases lock, of the caller's id, and wakes the joiner on the way
 * out.  If the joiner does not sleep, it returns and still holds the lock.
 */
static inline __attribute__((always_inline)) void exit_to_joiner(struct thread *self,
								 struct ilock *lock, bool apart)
{
	struct sleepq *q;
	struct thread *t;
	bool more;

	if (apart && self->joiner->lone != NULL)
		__ops->exit_alone(self->joiner, lock);
	q = sleepq_of_point(self);
	sleepq_lock(q);
	if (apart && self->joiner->lone != NULL)
		__ops->join_settle(self->joiner);
	t = sleepq_take(q, self, &more);
	if (t == NULL) {
		__ops->unlock(q);
		return;
	}
	ilock_unlock_inner(lock);
	__ops->exit(q, t);
}

static inline bool was_last(void)
{
	return __atomic_sub_fetch(&running, 1, __ATOMIC_ACQ_REL) == 0;
}

/* was_last in the exit of a thread that is detached or a daemon. */
static bool __attribute__((noinline)) unjoined_was_last(struct thread *self)
{
	if (self->detached & DETACHED && stacks_many())
		__ops->reap();
	return !(self->detached & DAEMON) && was_last();
}

/* The end of __thread_exit: the thread is joined, waits to be joined, or is free. */
static inline __attribute__((always_inline, noreturn)) void thread_leave(struct thread *self,
									 bool apart)
{
	struct ilock *lock = id_lock_among(self->id, apart);

	ilock_lock(lock);
	self->exited = true;
	if (self->detached & DETACHED) {
		thread_delist(self, apart);
		thread_free(self, lock, apart);
		__ops->exit(NULL, NULL);
	}
	if (self->joiner != NULL) {
		exit_to_joiner(self, lock, apart);
	} else if (self->detached == 0) {
		add_exited(self);
		if (any_waiters > 0)
			wake_one(&__any_exit);
	}
	ilock_drop(lock);
	__ops->exit(NULL, NULL);
}

static void __attribute__((noinline, noreturn)) exit_apart(struct thread *self)
{
	thread_leave(self, true);
}

/*
 * Ends the calling thread.  If only daemons are left, ends the process too, with status 0.
 *
 * Once the caller is in the critical section, a joiner or creator may wait for on_stack until the
 * model has left the stack.  So nothing here blocks.
 */
void __thread_exit(void *status)
{
	struct thread *self = thread_self();

	self->held++; /* can no longer be cancelled */
	if (self->tsd_top != 0)
		__tsd_exit(self);
	if (self->owns_special) {
		__shared_thread_exit();
		__protocol_thread_exit();
	}
	if (unlikely(self->detached != 0) ? unjoined_was_last(self) : was_last())
		exit(0);
	if (self->reent == &self->own_reent)
		_reclaim_reent(self->reent);
	PROBE(thread_exit, "thread", self, 0, 0);
	self->status = status;

	if (are_apart())
		exit_apart(self);
	thread_leave(self, false);
}

void __thread_terminate(void (*last)(void *), void *arg)
{
	struct thread *self = thread_self();

	if (self->wchan != NULL)
		__sleepq_give_up(self);
	last(arg);
	__tsd_forget(self);
	self->reent = _GLOBAL_REENT; /* its own is not reclaimed */
	__thread_exit(NULL);
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

	if (apart && deadline == NEVER) {
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

/* Frees t, which has exited and is claimed or detached.  Releases the lock of t's id. */
static inline __attribute__((always_inline)) void thread_reap(struct thread *t, struct ilock *lock,
							      bool apart)
{
	unsigned turns = 0;

	PROBE(thread_join, "thread", t, 0, 0);
	thread_delist(t, apart);
	if (t->on_stack != 0) { /* t still executes its last few instructions on another LWP */
		ilock_unlock(lock);
		while (__atomic_load_n(&t->on_stack, __ATOMIC_ACQUIRE) != 0)
			__backoff(&turns);
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
		if (unclaimed == (self->detached == 0 && self->joiner == NULL)) {
			__threads_unlock_all();
			return EDEADLK;
		}
		any_waiters++;
		woken = wait_for_any();
		any_waiters--;
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
	if (unlikely(any_waiters != 0))
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
	if (any_waiters != 0)
		recount_any();
	if (t->exited)
		thread_reap(t, lock, apart);
	else
		ilock_unlock(lock);
	return 0;
}

/* t is gone with the parent's LWPs.  Leaves its memory as a thread that has exited leaves it. */
static void thread_forget(struct thread *t)
{
	if (t->id != 0)
		id_remove(t);
	thread_list_remove(t);
	for (unsigned k = 0; k < TSD_FAST; k++)
		t->tsd[k] = NULL;
	t->tsd_more = NULL;
	t->tsd_top = 0;
	t->gave_up = NULL;
	t->lone = NULL;
	t->no_suspend = 0;
	t->inherits = t->protects = t->pi_wait = NULL;
	t->ceiling = 0;
	t->on_stack = 0;
	if (t != __main_thread)
		__thread_put(t);
}

/* In a child of fork: self is the only thread. */
void __threads_forked(struct thread *self)
{
	__threads_locks_forked();
	__stacks_forked();
	while (self->list_next != self)
		thread_forget(self->list_next);
	running = 1;
	self->detached &= ~DAEMON; /* it is the last thread */
	unclaimed = self->detached == 0;
	self->lwp->kept = NULL;
	self->lwp->may_keep = self->bound ? 0 : LWP_KEEPS;
	any_waiters = 0;
	self->joiner = NULL;
	PROBE(thread_first, "thread id bound", self, self->id, self->bound);
}
