/*
 * mxn.c - model mxn: creation, exit and suspension of threads; the table of operations.
 *
 * A bound thread lives as in any 1:1 model, on own_lwp, except that its sleep queues are under
 * _schedlock.
 */
#include <errno.h>
#include <weft/lwp.h>
#include "mxn.h"

static void mxn_init(void)
{
	__one_lock = &_schedlock.lock;
	__runq_init();
	__pool_init();
	if (__options.waiting == WAITING_ACTIVATION)
		__activation_init();
	else if (__model->scope == SCOPE_EITHER) /* the four LWPs of the Solaris paper (p. 16) */
		__services_start();
}

static void mxn_lock(struct sleepq *q)
{
	schedlock();
}

static void mxn_unlock(struct sleepq *q)
{
	schedunlock();
}

void __mxn_begin(void)
{
	__thread_main(thread_self());
}

static void begin_bound(struct thread *self)
{
	__thread_main(self);
}

/* The LWP is LWP_NOPOOL: it may sleep as long as it likes, and that helps no unbound thread. */
static int create_bound(struct thread *t, bool suspended)
{
	t->lwp = &t->own_lwp;
	t->state = suspended ? TS_STOPPED : TS_ONLWP;
	return __lwp_start(t, begin_bound, LWP_NOPOOL | (suspended ? LWP_SUSPENDED : 0), NULL);
}

static void push_above(struct thread *t)
{
	__runq_push_above(t);
	__realtime_look(t->pri, false);
}

#define IS_UNBOUND (-1)

/* 0 or an error number; IS_UNBOUND: the model is ready for this unbound thread. */
static int __attribute__((noinline)) create_special(struct thread *t, bool suspended)
{
	int error = 0;

	if (t->bound)
		return create_bound(t, suspended);
	if (t->pri >= PRI_REALTIME)
		error = __realtime_prepare();
	return error != 0 ? error : IS_UNBOUND;
}

int __mxn_create(struct thread *t, bool new_lwp, bool suspended)
{
	uint32_t unpark = 0;
	int error;

	if (unlikely(t->special != 0)) {
		error = create_special(t, suspended);
		if (error != IS_UNBOUND)
			return error;
	}
	if (new_lwp || unlikely(!__pool_ready)) {
		error = new_lwp ? __pool_one_more() : 0;
		if (error == 0)
			error = __pool_make_ready();
		if (error != 0)
			return error;
	}
	schedlock();
	mxn_prepare(t, __mxn_begin); /* mxn_resume looks at rsp, under this lock */
	if (unlikely(suspended || t->suspended)) {
		t->suspended = true;
	} else if (likely(__pool_idle == NULL)) {
		t->state = TS_RUNQUEUE;
		PROBE(thread_state, "thread state", t, TS_RUNQUEUE, 0);
		if (likely(t->pri == 0))
			run_list_append(&__runq.zero, t);
		else
			push_above(t);
	} else {
		unpark = __make_runnable(t);
	}
	if (likely(unpark == 0)) {
		schedunlock();
		return 0;
	}
	thread_self()->lwp->owes = unpark;
	schedunlock();
	__lwp_unpark_owed(thread_self()->lwp, unpark);
	return 0;
}

static void __attribute__((noreturn)) exit_bound(struct thread *self, struct thread *wake)
{
	if (wake != NULL) {
		uint32_t unpark = __release(wake);

		critical_enter();
		schedunlock();
		if (unpark != 0)
			__sys_lwp_unpark(unpark);
	}
	__lwp_leave(self);
}

static void __attribute__((noreturn, noinline))
exit_special(struct thread *self, struct thread *wake)
{
	struct thread *next;

	if (self->bound)
		exit_bound(self, wake);
	if (wake != NULL) {
		__wake_first(wake);
	} else {
		schedlock();
		self->critical->nopreempt -= 1; /* the caller's section; the LWP goes on */
	}
	next = next_for(self);
	prepare_switch(self, next);
	if (wake != NULL)
		__left_behind(wake, next);
	__mxn_leave(self, next, lwp_hand_over(self, next));
}

void __mxn_exit(struct sleepq *q, struct thread *wake)
{
	struct thread *self = thread_self();

	if (unlikely(self->special != 0 || wake == NULL || !goes_next(wake)))
		exit_special(self, wake);
	PROBE(thread_wake, "thread", wake, 0, 0);
	wake->wchan = NULL;
	__mxn_leave(self, wake, lwp_hand_over(self, wake));
}

/*
 * An unbound thread that runs on another LWP stops together with that LWP, because only the kernel
 * can stop it there.  The pool gets another LWP instead.
 *
 * *Race:* an LWP is asked to look for a real-time thread, and its thread is suspended before the LWP looks; *without this:* the
 * real-time thread waits until the LWP goes on, although other LWPs run lower threads; *closed by:* lwp_stopped.
 */
static void lwp_stopped(struct ulwp *l)
{
	bool asked = l->told;

	__pool_stopped(1);
	l->told = true; /* so no thread asks it */
	if (asked)
		__realtime_look(__runq_top(), false);
}

/* The request from before the stop may still make the LWP look: that does no harm. */
static void lwp_goes_on(struct ulwp *l)
{
	__pool_stopped(-1);
	l->told = false;
	__sys_lwp_continue(l->id);
}

static int suspend_unbound(struct thread *t)
{
	int error;

	if (t->no_suspend != 0) /* the thread has yielded in a handler meanwhile */
		return EAGAIN;
	switch (t->state) {
	case TS_RUNQUEUE:
		__runq_remove(t);
		PROBE(thread_state, "thread state", t, TS_STOPPED, 0);
		t->state = TS_STOPPED;
		break;
	case TS_DISPATCHABLE: /* its LWP is waking up, and will find no partner */
		t->partner->partner = NULL;
		PROBE(thread_state, "thread state", t, TS_STOPPED, 0);
		t->state = TS_STOPPED;
		break;
	case TS_ONLWP:
		error = __lwp_try_suspend(t);
		if (error != 0)
			return error;
		lwp_stopped(t->lwp);
		PROBE(thread_stop, "thread", t, 0, 0);
		t->state = TS_STOPPED;
		break;
	}
	t->suspended = true; /* a Blocked thread stops when it is woken */
	return 0;
}

/*
 * *Race:* two threads suspend each other at the same time, with the locks of two sets of ids (core/ids.h); *without this:*
 * both LWPs stop inside the library, and keep these locks; *closed by:* _schedlock: the thread that has to wait for it is in
 * a critical section, so the other thread lets it go on (__lwp_try_suspend).  suspend_unbound is called with _schedlock, too.
 */
static int suspend_bound(struct thread *t)
{
	int error;

	if (t == thread_self())
		return __lwp_suspend(t);
	schedlock();
	error = __lwp_suspend(t);
	schedunlock();
	return error;
}

/*
 * A thread that is on no LWP may have been made to look for a signal, in the run queue or in its wait.  It may also wait
 * again, in a handler that came first.  So others look (__mxn_signals_again).
 */
static int mxn_suspend(struct thread *t)
{
	int error = 0;

	if (t->bound)
		return suspend_bound(t);
	schedlock();
	if (t == thread_self()) {
		t->suspended = true;
		t->state = TS_STOPPED;
		return switch_to(t, next_for(t));
	}
	local_freeze_for(t);
	if (!t->suspended) {
		if (t->state != TS_ONLWP)
			signals_left(~0ul);
		error = suspend_unbound(t);
	}
	local_thaw();
	schedunlock();
	return error;
}

static int mxn_resume(struct thread *t)
{
	uint32_t unpark = 0;

	if (t->bound)
		return __lwp_resume(t);
	schedlock();
	/* A thread whose id can be seen, and that has not begun, is made runnable in __mxn_create. */
	if (t->suspended && t->state == TS_STOPPED && t->rsp != 0) {
		if (t->lwp != &__nowhere) {
			t->state = TS_ONLWP;
			PROBE(thread_continue, "thread", t, 0, 0);
			lwp_goes_on(t->lwp);
			if (__runq_top() > t->pri)
				__realtime_look(__runq_top(), false);
		} else {
			unpark = __make_runnable(t);
		}
	}
	t->suspended = false;
	schedunlock();
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
	return 0;
}

/* Sets t's priority.  If t is in a sleep queue, t moves to the place of this priority; false: t is in none. */
static bool waiter_set_priority(struct thread *t, int pri)
{
	struct sleepq *q = wait_queue_lock(t);

	if (q != NULL)
		__sleepq_remove(q, t);
	t->pri = pri;
	if (q == NULL)
		return false;
	sleepq_enter(q, t->wchan, t, ORDER_OPTION);
	wait_queue_unlock(q);
	return true;
}

static void mxn_change_priority(struct thread *t, int pri)
{
	bool lowered = pri < t->pri;

	local_freeze_for(t);
	if (t->state == TS_RUNQUEUE)
		__runq_remove(t);
	if (!waiter_set_priority(t, pri) && __queues_apart) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		waiter_set_priority(t, pri); /* __sleepq_enter_among */
	}
	__realtime_changed(t, lowered);
	local_thaw();
}

static void mxn_set_priority(struct thread *t, int pri)
{
	schedlock();
	mxn_change_priority(t, pri);
	schedunlock();
}

static void mxn_before_fork(void)
{
	schedlock();
	local_freeze();
}

static void mxn_after_fork(void)
{
	local_thaw();
	schedunlock();
}

/* The caller's LWP is the only LWP, and it is in no list. */
static void mxn_forked(bool had_others)
{
	_schedlock = (struct schedlock){.lock.held = SAMPLE_NOW};
	__runq_init();
	if (had_others)
		__sleepq_forked();
	__timeout_forked();
	__realtime_forked();
	__services_forked();
	__pool_forked(thread_self());
	if (__options.waiting == WAITING_ACTIVATION)
		__activation_forked(thread_self());
}

/* A thread that is about to block, or blocks later, finds `cancelled` in block. */
static void mxn_cancel(struct thread *t)
{
	uint32_t lwp, unpark = 0;

	schedlock();
	local_freeze_for(t);
	t->cancelled = true;
	lwp = t->lwp->id;
	if (lwp != 0)
		__cancel_call(lwp, t);
	if (t->bound)
		unpark = lwp;
	else if (t->state == TS_BLOCKED && t->cancel == CANCEL_DUE && sleepq_ends_cancelled(t))
		unpark = __give_up(t);
	local_thaw();
	schedunlock();
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
}

static void mxn_schedlock_stats(struct thr_schedlock_stats *stats)
{
	schedlock();
	*stats = _schedlock.stats;
	stats->acquisitions += _schedlock.lock.held - (ILOCK_HELD | SAMPLE_NOW);
	schedunlock();
}

static const struct model_ops ops = {
	.init = mxn_init,
	.lock = mxn_lock,
	.unlock = mxn_unlock,
	.one_lock_wait = __schedlock_wait,
	.timed_hold_over = __schedlock_timed,
	.block = __mxn_block,
	.sleep = __mxn_sleep,
	.wake = __mxn_wake,
	.wake_one = __mxn_wake_one,
	.prepare_timed = __timeout_prepare,
	.create = __mxn_create,
	.exit = __mxn_exit,
	.yield = __mxn_yield,
	.suspend = mxn_suspend,
	.resume = mxn_resume,
	.set_priority = mxn_set_priority,
	.change_priority = mxn_change_priority,
	.rescheduled = __mxn_rescheduled,
	.prepare_realtime = __realtime_prepare,
	.preempted = __mxn_preempted,
	.kill = __mxn_kill,
	.await_signal = __mxn_await_signal,
	.leave_signals = __mxn_leave_signals,
	.signals_again = __mxn_signals_again,
	.cancel = mxn_cancel,
	.set_concurrency = __pool_set_concurrency,
	.before_fork = mxn_before_fork,
	.after_fork = mxn_after_fork,
	.forked = mxn_forked,
	.schedlock_stats = mxn_schedlock_stats,
	.reap = __reap,
};

const struct model __model_mxn = {
	.name = "mxn",
	.ops = &ops,
	.scope = SCOPE_EITHER,
	.options = OPT_SPIN | OPT_QUEUE | OPT_UNLOCK | OPT_SCHEDCTL | OPT_CONCURRENCY |
		   OPT_WAITING | OPT_AGING,
	.defaults = {.spin = SPIN_ADAPTIVE,
		     .fifo = true,
		     .schedctl = true,
		     .concurrency = 1,
		     .max_concurrency = 1024,
		     .aging = 300},
};
