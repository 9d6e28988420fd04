/*
 * life.c - model sa with several CPUs: creation, exit and join without _schedlock.
 *
 * A new thread goes to an idle LWP (claim.h), or enters the list of its creator's LWP (local.c).  A thread that joins another one
 * waits alone, as in lone.c: it stands in no sleep queue, and its field `lone` is the LWP that it has left to a thread of the LWP's list.  If the
 * other thread exits on the same LWP, the LWP goes on with the next thread of its list, which is the joiner if the list is
 * empty.  So a thread that creates threads and joins them needs no lock that threads on other LWPs need.  A thread that exits
 * and has no joiner leaves its LWP as a thread that blocks does (queue.c).
 *
 * All else is as in mxn, with _schedlock.  If the thread exits on another LWP, or on none of the pool, its joiner first
 * enters the queue (__lone_settle_for).  A cancellation, a signal and a new priority of the joiner make it enter the queue,
 * too (lone.c).
 *
 * Locks.  A joiner begins to wait alone with the lock of the id of the thread that it joins (core/ids.h).  So a thread that
 * exits, with this lock, finds its joiner waiting, or the joiner has given up.  Lock order: the lock of the id, _schedlock,
 * run_lock, the lock of a queue.
 */
#include "claim.h"
#include "local.h"

/* What a creation does while the lists are closed, or the thread or its creator is not plain. */
static int __attribute__((noinline))
life_create_special(struct thread *t, bool new_lwp, bool suspended)
{
	struct thread *self = thread_self();

	if (!new_lwp && !suspended && __pool_ready) {
		schedlock();
		if (!__idle_any() && t->special == 0 && !self->bound && __runq.above == 0) {
			mxn_prepare(t, __mxn_begin);
			t->state = TS_RUNQUEUE;
			PROBE(thread_state, "thread state", t, TS_RUNQUEUE, 0);
			local_open_lists();
			run_list_append(&self->lwp->run, t);
			schedunlock();
			return 0;
		}
		schedunlock();
	}
	return __mxn_create(t, new_lwp, suspended);
}

/* What a creation does while an LWP is idle, as it seems: the thread is for this LWP. */
static int __attribute__((noinline)) life_create_idle(struct thread *t)
{
	struct thread *self = thread_self(), *idle = NULL;
	struct ulwp *l;
	uint32_t unpark;

	critical_enter();
	l = self->lwp;
	if (unlikely(!ilock_try(&l->run_lock))) {
		critical_exit();
		return life_create_special(t, false, false);
	}
	if (likely(t->special == 0 && !self->bound)) /* thr_suspend knows t already */
		idle = idle_find(NULL);
	if (unlikely(idle == NULL)) {
		ilock_unlock(&l->run_lock);
		return life_create_special(t, false, false);
	}
	mxn_prepare(t, __mxn_begin);
	unpark = partner_give(idle, t);
	ilock_drop(&l->run_lock);
	if (likely(unpark != 0))
		__sys_upcall_unpark(unpark);
	critical_exit();
	return 0;
}

/* thr_suspend and others look at t with all run_locks (__local_freeze). */
static int life_create(struct thread *t, bool new_lwp, bool suspended)
{
	struct thread *self = thread_self();
	struct ulwp *l;

	if (unlikely(new_lwp || suspended))
		return life_create_special(t, new_lwp, suspended);
	if (unlikely(!__local_open) && __pool_idle > WAITING_UNTOLD)
		return life_create_idle(t);
	critical_enter();
	l = self->lwp;
	if (unlikely(!ilock_try(&l->run_lock))) {
		critical_exit();
		return life_create_special(t, new_lwp, suspended);
	}
	if (unlikely(!__local_open || t->special != 0 || self->bound)) {
		ilock_unlock(&l->run_lock);
		return life_create_special(t, new_lwp, suspended);
	}
	mxn_prepare(t, __mxn_begin);
	t->state = TS_RUNQUEUE;
	PROBE(thread_state, "thread state", t, TS_RUNQUEUE, 0);
	run_list_append(&l->run, t);
	ilock_unlock(&l->run_lock);
	return 0;
}

/*
 * The caller is in the critical section of `lock`, which becomes that of run_lock.
 *
 * *Race:* a thread is about to join, and is cancelled; *without this:* it waits on, although it is cancelled; *closed by:*
 * the joiner looks at `special` with run_lock, and pthread_cancel holds all run_locks (__local_freeze).
 */
static const void *life_join(struct thread *t, struct ilock *lock)
{
	struct thread *self = thread_self(), *next;
	struct ulwp *l = self->lwp;

	if (unlikely(!own_turn_now(l) || !ilock_try(&l->run_lock)))
		return lock;
	next = l->run.first;
	if (unlikely((self->special | __runq.above) != 0 || next == run_end(&l->run))) {
		ilock_drop(&l->run_lock);
		return lock;
	}
	PROBE(lock_wait, "lock kind", t, PROBE_JOIN, 0);
	self->wchan = t;
	self->q = sleepq_of_point(t);
	self->wait_arg = NULL;
	self->lone = l;
	self->state = TS_BLOCKED;
	local_take_first(l, next);
	ilock_drop(lock);
	return local_hand_over_null(self, next, l);
}

/* The caller is in the critical section of `lock`, as in life_join. */
static void life_exit_joined(struct thread *joiner, struct ilock *lock)
{
	struct thread *self = thread_self(), *next;
	struct ulwp *l = self->lwp;

	if (unlikely(!own_turn_now(l) || !ilock_try(&l->run_lock)))
		return;
	if (unlikely(joiner->lone != l || joiner->wchan != self || !__local_open ||
		     (self->special | __runq.above) != 0)) {
		ilock_drop(&l->run_lock);
		return;
	}
	joiner->lone = NULL;
	joiner->wchan = NULL;
	next = l->run.first;
	if (likely(next == run_end(&l->run))) {
		PROBE(thread_wake, "thread", joiner, 0, 0);
		next = joiner;
	} else {
		PROBE(thread_woken, "thread", joiner, 0, 0);
		joiner->state = TS_RUNQUEUE;
		run_list_append(&l->run, joiner);
		local_take_first(l, next);
	}
	ilock_drop(lock);
	local_leave(self, next, l);
}

/* The caller holds the lock of its id. */
static void life_settle(struct thread *joiner)
{
	__lone_settle_for(joiner, thread_self());
}

/*
 * The caller holds _schedlock, and no LWP is idle.  The joiner has stood in the queue.  It enters the list, and not
 * __runq: so it goes on on this LWP, and its next threads need no common lock.
 */
static void __attribute__((noreturn, noinline))
life_exit_waking(struct sleepq *q, struct thread *wake)
{
	struct thread *self = thread_self(), *next;
	struct ulwp *l = self->lwp;

	if (self->special != 0 || !just_blocked(wake) || __runq.above != 0)
		__mxn_exit(q, wake);
	local_open_lists();
	local_enter_woken(l, wake);
	if (own_turn(l)) {
		next = l->run.first;
		local_take_first(l, next);
	} else {
		next = __runq_pop();
		prepare_switch(self, next);
	}
	__mxn_leave(self, next, lwp_hand_over(self, next));
}

/* As exit of the model; if there is `wake`, the caller holds _schedlock, and not the lock of q. */
void __life_exit(struct sleepq *q, struct thread *wake)
{
	struct thread *self = thread_self(), *next;
	struct ulwp *l = self->lwp;

	if (wake != NULL && !__idle_any())
		life_exit_waking(q, wake);
	if (wake != NULL || !own_turn(l) || !ilock_try(&l->run_lock))
		__mxn_exit(q, wake);
	if (unlikely((self->special | __runq.above) != 0 || !local_next(self, l, &next))) {
		ilock_drop(&l->run_lock);
		__mxn_exit(q, wake);
	}
	local_leave(self, next, l);
}

void __life_init(void)
{
	__ops->create = life_create;
	__threads_apart();
	if (!__options.lone)
		return;
	__ops->join_alone = life_join;
	__ops->exit_alone = life_exit_joined;
	__ops->join_settle = life_settle;
}
