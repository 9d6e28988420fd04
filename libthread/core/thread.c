/*
 * thread.c - creation and exit of threads, and finding one by its id.
 *
 * All threads of the program are in a circular list and in a table by id (ids.h).  The lock of a thread's id guards
 * everything marked "list" in tcb.h.  It is __threads_lock, except in a model whose threads have many locks (`apart`).
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "join.h"
#include "model.h"
#include "sleepq.h"
#include "tls.h"

static unsigned running; /* atomic: threads, except daemons, that have not begun to exit */

static inline void thread_count(struct thread *t)
{
	uint8_t detached = t->detached;

	t->exited = false;
	if (likely(detached == 0))
		__atomic_add_fetch(&__unclaimed, 1, __ATOMIC_RELAXED);
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

#define YIELDS_A_SLEEP 50 /* as in __backoff */

/* That thread may have yielded or blocked in a handler, and may need the caller's LWP.  So an unbound caller leaves its LWP. */
void __let_others_run(unsigned *turns)
{
	struct thread *self = thread_self();

	if (!waits_here(self) || in_critical(self->lwp) || __ops->prepare_timed() != 0) {
		__backoff(turns);
	} else if (++*turns % YIELDS_A_SLEEP != 0) {
		__ops->yield();
	} else {
		self->caught = false; /* as in sleep_here */
		__ops->await_signal(0, gethrtime() + WEFT_TICK_NS);
	}
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
		__let_others_run(&turns);
	}
}

/* The first thread, before main. */
void __thread_first(struct thread *t)
{
	t->id = ++__last_id;
	PROBE(thread_first, "thread id bound", t, t->id, t->bound);
	__thread_list = __last_taker = t->list_next = t->list_prev = t;
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
		__atomic_sub_fetch(&__unclaimed, 1, __ATOMIC_RELAXED);
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

	if (apart && self->joiner->lone != NULL) {
		__ops->exit_alone(self->joiner, lock);
		__ops->join_settle(self->joiner);
	}
	q = sleepq_of_point(self);
	sleepq_lock(q);
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
		exited_offer(self);
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
	t->own_lwp.run_lock.held = 0;
	t->slice = 0; /* it is in no run queue */
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
	self->detached &= ~DAEMON;       /* it is the last thread */
	self->own_lwp.run_lock.held = 0; /* as in __stacks_forked */
	__unclaimed = self->detached == 0;
	self->lwp->kept = NULL;
	self->lwp->may_keep = self->bound ? 0 : LWP_KEEPS;
	__any_waiters = 0;
	self->joiner = NULL;
	PROBE(thread_first, "thread id bound", self, self->id, self->bound);
}
