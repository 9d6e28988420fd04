/*
 * sleep.c - how an LWP blocks and how it is woken: the one mechanism under wait
 * queues, timed sleeps, parking and suspension.  Parking itself is in park.c.
 *
 * *Race:* the sleeper is about to sleep, the waker wakes it up; *without this:* the wake-up is
 * lost, and the LWP sleeps for ever; *closed by:* both decide under l->lock.  The sleeper sets
 * SLEEP with the lock held, and holds it until its registers are saved.  A waker that gets the lock
 * first leaves a permit or an AST, which the sleeper checks under the same lock.  A waker that gets
 * the lock later finds SLEEP.
 *
 * Lock order: the object's lock (`also`), l->lock, then the dispatch queue's or
 * the timer queue's.
 */
#include "disp.h"
#include "wake.h"
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/timing.h>
#include <kern/upcall.h>

/* The time-out of a sleep.  l sleeps, or has been woken and has not run yet, because the sleeper
 * cancels the timer before it goes on. */
static void sleep_timeout(struct ktimer *t)
{
	lwp_wake(CONTAINER_OF(t, struct lwp, timer), WAKE_TIMEOUT);
}

int lwp_sleep_locked(struct lwp *l, struct spinlock *also, const char *wchan, uint32_t flags,
		     hrtime_t deadline)
{
	assert(l == curlwp()); /* with its lock held: see sched_switch */
	if (l->grace & GRACE_SIGNAL)
		sched_call_handler(l);
	uint32_t ends = flags & SLEEP_INTR ? AST_EXIT | AST_SIG : flags & SLEEP_KILL ? AST_EXIT : 0;
	if ((l->ast & ends) || ((flags & SLEEP_INTR) && lwp_cancelled(l))) {
		spin_release(&l->lock);
		if (also)
			spin_release(also);
		return WAKE_INTR;
	}
	l->state = LWP_ST_SLEEP;
	l->sleep_flags = flags;
	l->wchan = wchan;
	l->wake_reason = WAKE_NONE;
	if (deadline != HRTIME_NEVER)
		ktimer_arm(&l->timer, deadline, sleep_timeout);
	if (l->watched && upcall_blocked_by(l, flags, deadline != HRTIME_NEVER))
		upcall_blocks(l);
	/* l counts as asleep for every LWP that looks under l->lock, so `also` may be released. */
	if (also)
		spin_release(also);
	if (l->leaving != 0)
		sched_leaves(l);
	l->nvcsw++;
	sched_switch(flags & SLEEP_LOCK ? MS_LOCK : MS_SLEEP);
	if (deadline != HRTIME_NEVER)
		ktimer_cancel(&l->timer);
	l->wchan = NULL;
	return l->wake_reason;
}

bool lwp_wake_locked(struct lwp *l, int reason, uint32_t flags, int place)
{
	return sleeper_wake(l, reason, flags, place);
}

bool lwp_wake(struct lwp *l, int reason)
{
	irqstate_t s = spin_lock(&l->lock);
	bool woke = lwp_wake_locked(l, reason, 0, PLACE_ANY);
	spin_unlock(&l->lock, s);
	return woke;
}

void lwp_cancel_locked(struct lwp *l, uint32_t thread, vaddr_t pc)
{
	l->cancel = thread;
	l->cancel_pc = pc;
	/* An LWP that sleeps is in a system call, so its frame does not change. */
	if (l->state == LWP_ST_SLEEP && lwp_cancelled(l))
		lwp_wake_locked(l, WAKE_INTR, SLEEP_INTR, PLACE_ANY);
}

void lwp_stop_self(void)
{
	struct lwp *l = curlwp();

	spin_acquire(&l->lock);
	/* lwp_clear_stop works under the same lock. */
	if ((l->ast & AST_STOPS) && !(l->ast & AST_EXIT)) {
		l->state = LWP_ST_STOP;
		if (l->watched)
			upcall_blocks(l);
		if (l->summed)
			sums_charge(l, time_now());
		l->nvcsw++;
		sched_switch(MS_STOPPED);
	} else {
		spin_release(&l->lock);
	}
}
