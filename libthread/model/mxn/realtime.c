/*
 * realtime.c - unbound threads of SCHED_FIFO and SCHED_RR: preemption, time slices.
 *
 * POSIX.1-2008, XSH 2.8.4 (policies) and 2.9.4 (contention scope).  The scope of an unbound thread
 * is the process.  The thread contends with the unbound threads of its process for the LWPs of the
 * pool, by its priority in the run queue.  The kernel decides how much CPU time an LWP gets, and
 * does not know these priorities.  A thread is "real-time" here if its priority, with what it
 * inherits, is PRI_REALTIME or above.
 *
 * Of the runnable threads, the real-time threads of the highest priorities are on the LWPs:
 *
 *  - A real-time thread that enters the run queue takes the LWP of the lowest thread below it
 *    (__realtime_look).  This LWP is asked to look (lwp_preempt, weft/lwp.h), enters
 *    __mxn_preempted, and hands its thread back.  An LWP that sleeps in the kernel is the last
 *    choice: it looks when its call returns.
 *  - The preempted thread becomes the head of the list of its priority, and keeps the rest of its
 *    slice.  At the end of its slice, or when it yields, it becomes the tail.
 *
 * Lists are by priority, not by policy.  A thread of SCHED_FIFO has no slice.  A thread of SCHED_RR
 * has RR_TICKS.  The ticker is an LWP of the library's own.  At each tick it charges one tick to
 * every such thread that is on an LWP while a thread of equal priority waits in the run queue.
 * Without such a waiter there is no tick.  So a slice is exact to a tick, and the time that a
 * thread runs without a waiter does not count.
 *
 * A switch between threads of priority 0 does nothing for all this.  This is possible because every
 * other switch goes through __switch_special, which notes what the LWP runs (struct ulwp: pri, rr).
 *
 * All fields and static variables are under _schedlock.  `idle` of an LWP is not, in model sa (claim.c).
 */
#include <errno.h>
#include <sched.h>
#include "mxn.h"

static struct thread *volatile ticker; /* the LWP's context, once it is created */
static struct ilock ticker_lock;       /* held while it is created; before __threads_lock */
static bool ticking;                   /* it parks for the next tick, or is about to */

static void ticker_arm(void)
{
	if (ticking || ticker == NULL)
		return;
	ticking = true;
	__sys_lwp_unpark(ticker->own_lwp.id);
}

static bool equal_waits(int pri)
{
	return __runq.bitmap[pri / 64] >> pri % 64 & 1;
}

/* l runs t, whose priority and policy may be new. */
static void lwp_notes(struct ulwp *l, struct thread *t)
{
	l->pri = t->pri;
	l->rr = t->policy == SCHED_RR && t->pri >= PRI_REALTIME ? t : NULL;
	if (l->rr != NULL && equal_waits(t->pri))
		ticker_arm();
}

void __switch_special(struct thread *from, struct thread *to)
{
	struct ulwp *l = from->lwp;

	if (from->pri != 0 || to->pri != 0) {
		lwp_notes(l, to);
		l->told = false;
	}
	__masks_move(from, to);
}

/* --- preemption ------------------------------------------------------------------------------ */

/*
 * *Race:* l is asked for its thread, this thread blocks, and another thread comes onto l before l
 * looks; *without this:* the other thread, which may have the highest priority, is preempted;
 * *closed by:* __mxn_preempted compares the caller with the run queue, under the lock.
 */
static void lwp_ask(struct ulwp *l)
{
	__siglwp_catch();
	l->told = true;
	__sys_lwp_preempt(l->id);
}

/* Is it better to take l than to take `other`, which may be NULL? */
static bool gives_sooner(const struct ulwp *l, const struct ulwp *other)
{
	bool asleep = l->sc->state == SC_SLEEPING;

	if (other == NULL)
		return true;
	if (asleep != (other->sc->state == SC_SLEEPING))
		return !asleep;
	return l->pri < other->pri;
}

/*
 * A thread of priority pri has entered the run queue.  If it is real-time, it gets the LWP of a
 * thread of lower priority.  gives_way: the caller calls __mxn_give_way as soon as it has released
 * _schedlock, so its own LWP need not be asked.
 *
 * An LWP that has been asked is not asked for another thread until it has looked or switched.
 */
void __realtime_look(int pri, bool gives_way)
{
	struct ulwp *lowest = NULL;

	if (pri < PRI_REALTIME)
		return;
	/* `above` before `idle`: partner_run_local (claim.c) */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next) {
		struct ulwp *l = &c->own_lwp;

		if (l->sc->idle || l->sc->state == SC_STOPPED)
			continue;
		if (l->rr != NULL && l->pri == pri)
			ticker_arm();
		if (!l->told && l->pri < pri && gives_sooner(l, lowest))
			lowest = l;
	}
	if (lowest == NULL)
		return;
	if (gives_way && lowest == thread_self()->lwp)
		lowest->told = true;
	else
		lwp_ask(lowest);
}

struct thread *__realtime_instead_of(struct thread *partner)
{
	if (__runq_top() < PRI_REALTIME || __runq_top() <= partner->pri)
		return partner;
	partner->state = TS_RUNQUEUE;
	PROBE(thread_state, "thread state", partner, TS_RUNQUEUE, 0);
	__runq_push_head(partner);
	return __runq_pop();
}

void __give_up_lwp(struct thread *self, bool to_tail)
{
	struct thread *next = __runq_pop();

	self->state = TS_RUNQUEUE;
	if (to_tail)
		runq_push(self);
	else
		__slice_keep(self);
	prepare_switch(self, next);
	__realtime_look(self->pri, false); /* another LWP may run a lower thread */
	__mxn_switch(self, next, lwp_hand_over(self, next));
}

/* The caller, unbound and in no critical section, has made a real-time thread runnable. */
void __mxn_give_way(void)
{
	struct thread *self = thread_self();

	schedlock();
	self->lwp->told = false;
	if (__runq_top() > self->pri)
		__give_up_lwp(self, false);
	else
		schedunlock();
}

/*
 * Where an LWP looks after it has been asked.  Called like a signal handler, at any place outside a
 * critical section (core/signal.c).  A thread for which others wait (no_suspend) goes on first, and
 * looks as soon as they wait no more.
 *
 * *Race:* an LWP is asked for its thread, and the thread gets a ceiling above the real-time thread that waits; *without this:* the
 * real-time thread waits although a lower thread runs on another LWP; *closed by:* the caller, which keeps its LWP, asks
 * another LWP.
 */
void __realtime_preempt(struct thread *self)
{
	bool over;
	int top;

	self->lwp->told = false;
	top = __runq_top();
	over = self->pri >= PRI_REALTIME && self->slice == 0;
	if (self->bound || top < PRI_REALTIME || top + over <= self->pri) {
		if (over)
			self->slice = RR_TICKS;
		if (!self->bound)
			__realtime_look(top, false);
		schedunlock();
	} else if (self->no_suspend != 0) {
		self->no_suspend |= LOOK_OWED;
		schedunlock();
	} else {
		__give_up_lwp(self, over);
	}
}

void __mxn_preempted(void)
{
	schedlock();
	__realtime_preempt(thread_self());
}

/* --- changes of priority and policy ---------------------------------------------------------- */

/*
 * t has a new priority, its own or an inherited one.  A real-time t in the run queue becomes the
 * head of its list if its priority was lowered (POSIX: pthread_setschedprio), else the tail.
 */
void __realtime_changed(struct thread *t, bool lowered)
{
	if (t->state == TS_RUNQUEUE) {
		if (lowered && t->pri >= PRI_REALTIME)
			__runq_push_head(t);
		else
			runq_push(t);
		__realtime_look(t->pri, false);
	} else if (!t->bound && t->lwp != &__nowhere) {
		if (t->lwp->pri < PRI_REALTIME)
			t->slice = RR_TICKS; /* 0 says that a real-time thread becomes the tail */
		lwp_notes(t->lwp, t);
		if (lowered && t->owes_slice && t->pri == t->base_pri) {
			t->owes_slice = false;
			__slice_owed(t->lwp);
		}
		if (lowered && __runq_top() > t->pri)
			__realtime_look(__runq_top(), false);
	}
}

void __mxn_rescheduled(struct thread *t, bool to_tail)
{
	if (t->bound)
		return;
	if (t->lwp != &__nowhere)
		lwp_notes(t->lwp, t);
	if (!to_tail || t->pri < PRI_REALTIME)
		return;
	if (t->state == TS_RUNQUEUE) {
		__runq_remove(t);
		runq_push(t);
	} else if (t->lwp != &__nowhere && equal_waits(t->pri)) {
		t->slice = 0;
		lwp_ask(t->lwp);
	} else {
		t->slice = RR_TICKS;
	}
}

/* --- the tick -------------------------------------------------------------------------------- */

/* Charges a tick.  False: no thread needs another tick. */
static bool tick(void)
{
	bool more = false;

	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next) {
		struct ulwp *l = &c->own_lwp;
		struct thread *t = l->rr;

		if (t == NULL || !equal_waits(t->pri))
			continue;
		more = true;
		if (l->sc->state == SC_SLEEPING || l->sc->state == SC_STOPPED)
			continue;
		if (t->slice > 0)
			t->slice--;
		if (t->slice == 0)
			lwp_ask(l);
	}
	return more;
}

/*
 * self, a real-time thread, leaves its LWP's CPU to another LWP.  This may be the ticker, which then does not see self on an LWP.  Or
 * it is another process, at each tick.  So self is charged a tick here.  True: its slice is over.
 */
bool __realtime_charge(struct thread *self)
{
	if (self->lwp->rr != self || !equal_waits(self->pri))
		return false;
	if (self->slice > 0)
		self->slice--;
	return self->slice == 0;
}

static void __attribute__((noreturn)) ticker_main(struct thread *self)
{
	deadline_t next = NEVER;

	for (;;) {
		deadline_t now;

		schedlock();
		now = gethrtime();
		if (ticking && next == NEVER) {
			next = now + WEFT_TICK_NS;
		} else if (ticking && now >= next) {
			ticking = tick();
			next = next + WEFT_TICK_NS > now ? next + WEFT_TICK_NS : now + WEFT_TICK_NS;
		}
		if (!ticking)
			next = NEVER;
		schedunlock();
		__lwp_park(next, 0);
	}
}

/* Creates the ticker if there is none.  0, EAGAIN, ENOMEM. */
int __realtime_prepare(void)
{
	struct thread *t = NULL;
	int error = 0;

	if (__atomic_load_n(&ticker, __ATOMIC_ACQUIRE) != NULL)
		return 0;
	ilock_lock(&ticker_lock);
	if (ticker == NULL) {
		error = __service_start(ticker_main, "ticker", &t);
		if (error == 0)
			__atomic_store_n(&ticker, t, __ATOMIC_RELEASE);
	}
	ilock_unlock(&ticker_lock);
	if (t != NULL)
		__sys_lwp_yield(); /* else its first tick comes when it gets a CPU */
	return error;
}

/* As for the LWP of time-outs (timeout.c). */
void __realtime_forked(void)
{
	__service_forgotten(ticker);
	ticker = NULL;
	ticker_lock.held = 0;
	ticking = false;
}
