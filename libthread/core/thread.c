/*
 * thread.c - the life of threads: creation, exit, joining, detaching, and finding one by its id.
 *
 * All threads of the program are in a circular list and in a hash table by id.  Ids count up from
 * 1, the first thread's.  They are not used again until they wrap, so a stale id is recognised.
 * __threads_lock guards both, and everything marked "list" in tcb.h.
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
#include "core.h"
#include "model.h"
#include "sleepq.h"
#include "tls.h"

struct ilock __threads_lock;
struct thread *__thread_list;

static unsigned running; /* atomic: threads, except daemons, that have not begun to exit */

static struct thread *first_table[64];
static struct thread **table = first_table; /* by id; chained by hash_next */
static uint32_t table_mask = 63;
static uint32_t listed; /* threads in the table */
static uint32_t last_id;
static bool ids_wrapped; /* the next id may be in use */

static struct thread *exited_first, *exited_last; /* not claimed, oldest first */
static unsigned unclaimed;                        /* neither claimed, nor detached, nor daemons */
static unsigned any_waiters;                      /* threads in thr_join(0, ...) */
char __any_exit;                                  /* the object for which they wait */

/* NULL: no such thread.  The caller holds __threads_lock. */
struct thread *__thread_find(unsigned long id)
{
	struct thread *t = table[id & table_mask];

	while (t != NULL && t->id != id)
		t = t->hash_next;
	return t;
}

/*
 * Keeps chains short.  If there is no memory for a larger table, the chains grow, and no call
 * fails.
 */
static void grow_table(void)
{
	uint32_t mask = table_mask * 4 + 3;
	struct thread **grown = __pages_alloc((mask + 1ul) * sizeof(*grown)), **old = NULL, *t;
	size_t old_size = (table_mask + 1ul) * sizeof(*grown);

	if (grown == NULL)
		return;
	ilock_lock(&__threads_lock);
	if (mask == table_mask * 4 + 3) { /* no other thread has grown it meanwhile */
		t = __thread_list;
		do {
			t->hash_next = grown[t->id & mask];
			grown[t->id & mask] = t;
			t = t->list_next;
		} while (t != __thread_list);
		old = table;
		table = grown;
		table_mask = mask;
	}
	ilock_unlock(&__threads_lock);
	if (old == NULL)
		__sys_munmap(grown, (mask + 1ul) * sizeof(*grown));
	else if (old != first_table)
		__sys_munmap(old, old_size);
}

/* last_id becomes an id that no thread has, and is not 0. */
static void __attribute__((noinline)) look_for_id(void)
{
	ids_wrapped = true;
	while (last_id == 0 || __thread_find(last_id) != NULL)
		last_id++;
}

static inline void thread_enlist(struct thread *t)
{
	struct thread **p;

	if (unlikely(++last_id == 0 || ids_wrapped))
		look_for_id();
	t->id = last_id;
	p = &table[last_id & table_mask];
	t->hash_next = *p;
	*p = t;
	if (unlikely(__thread_list == NULL)) {
		t->list_next = t->list_prev = __thread_list = t;
	} else {
		t->list_next = __thread_list;
		t->list_prev = __thread_list->list_prev;
		t->list_prev->list_next = t;
		__thread_list->list_prev = t;
	}
	listed++;
	if (likely(t->detached == 0))
		unclaimed++;
	if (likely(!(t->detached & DAEMON)))
		__atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
}

static void thread_delist(struct thread *t)
{
	struct thread **p = &table[t->id & table_mask];

	while (*p != t)
		p = &(*p)->hash_next;
	*p = t->hash_next;
	t->list_prev->list_next = t->list_next;
	t->list_next->list_prev = t->list_prev;
	if (__thread_list == t)
		__thread_list = t->list_next == t ? NULL : t->list_next;
	listed--;
	t->id = 0;
}

int __thread_with(unsigned long id, int (*op)(struct thread *t, void *arg), void *arg)
{
	unsigned turns = 0;
	int error;

	for (;;) {
		struct thread *t;

		ilock_lock(&__threads_lock);
		t = __thread_find(id);
		error = t == NULL || t->exited ? ESRCH : op(t, arg);
		ilock_unlock(&__threads_lock);
		if (error != EAGAIN)
			return error;
		__backoff(&turns);
	}
}

/* The first thread, before main. */
void __thread_first(struct thread *t)
{
	ilock_lock(&__threads_lock);
	thread_enlist(t);
	PROBE(thread_first, "thread id bound", t, t->id, t->bound);
	ilock_unlock(&__threads_lock);
}

/* Where every thread except the first begins, on its own stack. */
void __thread_main(struct thread *self)
{
	PROBE(thread_begin, "thread start", self, self->start, 0);
	__thread_exit(self->start(self->arg));
}

/* *id gets the new thread's id before the thread runs.  0, EAGAIN, ENOMEM. */
int __thread_create(const struct create_args *args, void *(*start)(void *), void *arg,
		    unsigned long *id)
{
	struct thread *self = thread_self(), *t;
	int error;

	if (unlikely(listed > 2 * table_mask))
		grow_table();
	ilock_lock(&__threads_lock);
	t = __thread_take(args->stack_size, args->guard_size, args->stack);
	if (unlikely(t == NULL)) {
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
	t->exited = false;
	if (unlikely(self->carries))
		t->carries = self->carries & CARRIES_MASK;
	t->sigmask = self->sigmask;
	t->sigkept = 0;
	t->on_stack = 1;
	t->joiner = NULL;
	t->owns_special = false;
	t->start = start;
	t->arg = arg;
	thread_enlist(t);
	*id = t->id;
	ilock_unlock(&__threads_lock);
	PROBE(thread_new, "thread id bound", t, t->id, t->bound);

	tls_fill(t);
	error = __ops->create(t, args->new_lwp, args->suspended);
	if (error == 0)
		return 0;
	PROBE(thread_exit, "thread", t, 0, 0);
	if (!(t->detached & DAEMON))
		__atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
	ilock_lock(&__threads_lock);
	unclaimed -= t->detached == 0;
	thread_delist(t);
	t->on_stack = 0;
	__thread_put(t);
	ilock_unlock(&__threads_lock);
	return error;
}

/* Wakes one thread that waits in q for obj, if there is one.  The caller holds __threads_lock. */
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
	t->free_next = NULL;
	t->free_prev = exited_last;
	if (exited_last != NULL)
		exited_last->free_next = t;
	else
		exited_first = t;
	exited_last = t;
}

/* t, which is not claimed, can no longer be taken by thr_join(0, ...). */
static inline void thread_claim(struct thread *t)
{
	if (unlikely(t->detached != 0)) /* thr_join(0, ...) does not count a daemon */
		return;
	unclaimed--;
	if (!t->exited)
		return;
	if (t->free_prev != NULL)
		t->free_prev->free_next = t->free_next;
	else
		exited_first = t->free_next;
	if (t->free_next != NULL)
		t->free_next->free_prev = t->free_prev;
	else
		exited_last = t->free_prev;
}

/* The thread that had claimed t joins it no more. */
static void thread_unclaim(struct thread *t)
{
	t->joiner = NULL;
	if (t->detached != 0)
		return;
	unclaimed++;
	if (!t->exited)
		return;
	add_exited(t);
	if (any_waiters > 0)
		wake_one(&__any_exit);
}

/*
 * The end of the caller's exit, if its joiner sleeps: releases __threads_lock, and wakes the joiner
 * on the way out.  If the joiner does not sleep, it returns and still holds the lock.
 */
static void exit_to_joiner(struct thread *self)
{
	struct sleepq *q = sleepq_of_point(self);
	struct thread *t;
	bool more;

	sleepq_lock(q);
	t = sleepq_take(q, self, &more);
	if (t == NULL) {
		__ops->unlock(q);
		return;
	}
	ilock_unlock_inner(&__threads_lock);
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

	ilock_lock(&__threads_lock);
	self->exited = true;
	if (self->detached & DETACHED) {
		thread_delist(self);
		if (self != __main_thread)
			__thread_put(self);
	} else if (self->joiner != NULL) {
		exit_to_joiner(self);
	} else if (self->detached == 0) {
		add_exited(self);
		if (any_waiters > 0)
			wake_one(&__any_exit);
	}
	ilock_drop(&__threads_lock);
	__ops->exit(NULL, NULL);
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

/*
 * Blocks in the queue of obj.  Called with __threads_lock held, and returns with it held.  False:
 * the deadline has passed, or the caller is to be cancelled.
 */
static bool wait_for_exit(const void *obj, deadline_t deadline)
{
	struct sleepq *q = sleepq_of_point(obj);
	bool woken;

	PROBE(lock_wait, "lock kind", obj, PROBE_JOIN, 0);
	sleepq_lock(q);
	sleepq_enter(q, obj, thread_self(), ORDER_FIFO);
	thread_self()->wait_arg = NULL;
	ilock_unlock_inner(&__threads_lock);
	woken = __ops->block(q, deadline, NULL) == NULL;
	ilock_lock(&__threads_lock);
	return woken;
}

/* Frees t, which has exited and is claimed or detached.  Releases __threads_lock. */
static void thread_reap(struct thread *t)
{
	unsigned turns = 0;

	PROBE(thread_join, "thread", t, 0, 0);
	thread_delist(t);
	if (t->on_stack != 0) { /* t still executes its last few instructions on another LWP */
		ilock_unlock(&__threads_lock);
		while (__atomic_load_n(&t->on_stack, __ATOMIC_ACQUIRE) != 0)
			__backoff(&turns);
		ilock_lock(&__threads_lock);
	}
	if (t != __main_thread)
		__thread_put(t);
	ilock_unlock(&__threads_lock);
	if (stacks_many())
		__stacks_trim();
}

/*
 * For id 0: claims any thread that has exited, and returns it in *t.  The caller holds
 * __threads_lock.
 */
static int claim_any(struct thread *self, struct thread **t)
{
	bool woken;

	while (exited_first == NULL) {
		if (unclaimed == (self->detached == 0 && self->joiner == NULL))
			return EDEADLK; /* there is no thread except the caller */
		any_waiters++;
		woken = wait_for_exit(&__any_exit, NEVER);
		any_waiters--;
		if (!woken)
			return ETIMEDOUT;
	}
	*t = exited_first;
	thread_claim(*t);
	(*t)->joiner = self;
	return 0;
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
	struct thread *self = thread_self(), *t;
	int error = 0;

	if (unlikely(cancel_due()))
		return __cancelled();
	ilock_lock(&__threads_lock);
	if (id == 0) {
		error = claim_any(self, &t);
	} else if ((t = __thread_find(id)) == NULL) {
		error = ESRCH;
	} else if (t == self || self->joiner == t) {
		error = EDEADLK;
	} else if (t->detached & DETACHED || t->joiner != NULL) {
		error = EINVAL;
	} else if (!t->exited && deadline == 0) {
		error = EBUSY;
	} else {
		thread_claim(t);
		t->joiner = self;
		if (unlikely(any_waiters != 0))
			recount_any();
		if (!t->exited && !wait_for_exit(t, deadline)) {
			thread_unclaim(t);
			error = ETIMEDOUT;
		} else {
			ASSERT(t->exited);
		}
	}
	if (error != 0) {
		ilock_unlock(&__threads_lock);
		if (error == ETIMEDOUT)
			pthread_testcancel();
		return error;
	}
	if (departed != NULL)
		*departed = t->id;
	if (status != NULL)
		*status = t->status;
	thread_reap(t);
	return 0;
}

/* ESRCH: no such thread; EINVAL: detached already, or another thread joins it. */
int __thread_detach(unsigned long id)
{
	struct thread *t;
	int error = 0;

	ilock_lock(&__threads_lock);
	t = __thread_find(id);
	if (t == NULL)
		error = ESRCH;
	else if (t->detached & DETACHED || t->joiner != NULL)
		error = EINVAL;
	if (error != 0) {
		ilock_unlock(&__threads_lock);
		return error;
	}
	thread_claim(t);
	t->detached |= DETACHED;
	if (any_waiters != 0)
		recount_any();
	if (t->exited)
		thread_reap(t);
	else
		ilock_unlock(&__threads_lock);
	return 0;
}

/* t is gone with the parent's LWPs.  Leaves its memory as a thread that has exited leaves it. */
static void thread_forget(struct thread *t)
{
	thread_delist(t);
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

/* In a child of fork: self is the only thread, and __threads_lock is free. */
void __threads_forked(struct thread *self)
{
	__threads_lock.held = 0;
	__stacks_forked();
	while (self->list_next != self)
		thread_forget(self->list_next);
	running = 1;
	self->detached &= ~DAEMON; /* it is the last thread */
	unclaimed = self->detached == 0;
	exited_first = exited_last = NULL;
	any_waiters = 0;
	self->joiner = NULL;
	PROBE(thread_first, "thread id bound", self, self->id, self->bound);
}
