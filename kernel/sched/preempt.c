/*
 * preempt.c - giving up the CPU without blocking: preemption on the way to user
 * mode, preemption control (weft/schedctl.h), yielding.
 *
 * The kernel itself is not preempted: need_resched and the ASTs take effect when
 * an LWP is about to return to user mode, or at preempt_point().
 */
#include "disp.h"
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/timing.h>
#include <kern/trace.h>

void resched_interrupt(void)
{
	struct cpu *c = this_cpu();
	c->nipi++;
	c->need_resched = 1;
}

/* From the timer interrupt: a slice that is over is looked at on the way out. */
void sched_slice_check(void)
{
	struct cpu *c = this_cpu();
	hrtime_t end = c->dispq->slice_end;
	if (end == HRTIME_NEVER)
		return;
	if (time_now() >= end)
		c->need_resched = 1;
	else
		timerq_want(end);
}

/*
 * Should the current LWP make room?  A higher priority waits, or its slice is
 * over (its class says what that means for its priority) and an equal one waits.
 * l->lock held.
 */
static bool must_go(struct lwp *l, struct dispq *q, hrtime_t now, bool *slice_over)
{
	*slice_over = now >= q->slice_end;
	if (*slice_over) {
		l->sclass->slice_used(l);
		q->running_pri = l->pri;
		l->slice_left = l->sclass->quantum(l);
		q->slice_end = now + l->slice_left;
		timerq_want(q->slice_end);
		sched_balance();
	}
	int best = dispq_best(q); /* without the queue's lock: a hint; sched_switch looks again */
	return best > l->pri || (*slice_over && best == l->pri);
}

/*
 * Preemption control: holds off once, for at most SC_GRACE_TICKS.  The record is
 * the user's to write: read once, and trusted for nothing but this.
 */
static bool hold_off(struct lwp *l, struct dispq *q, hrtime_t now)
{
	if (l->sc == NULL || !l->sc->nopreempt)
		return false;
	if (l->grace_used)
		return now < l->grace_end;
	l->grace_used = true;
	l->grace_end = now + SC_GRACE_TICKS * WEFT_TICK_NS;
	l->sc->yield = 1;
	return true;
}

/* Makes room if it must.  Interrupts off. */
static void maybe_preempt(void)
{
	struct cpu *c = this_cpu();
	struct lwp *l = c->lwp;
	struct dispq *q = c->dispq;
	bool slice_over;

	c->need_resched = 0;
	spin_acquire(&l->lock);
	hrtime_t now = time_now();
	if (!must_go(l, q, now, &slice_over)) {
		spin_release(&l->lock);
		return;
	}
	if (hold_off(l, q, now)) {
		/* Look again when the grace is over; a slice that ended stays so. */
		q->slice_end = l->grace_end;
		timerq_want(q->slice_end);
		spin_release(&l->lock);
		return;
	}
	l->state = LWP_ST_RUN;
	l->nivcsw++;
	sched_switch(!slice_over);
}

void user_return_work(struct trapframe *f)
{
	struct lwp *l = curlwp();

	assert(!irq_enabled());
	lwp_mstate_at(l, MS_SYSTEM, time_now_here());
	for (;;) {
		if (l->ast & AST_EXIT) {
			irq_restore(0x200);
			lwp_exit_self();
		}
		if (l->ast & AST_STOPS) {
			lwp_stop_self();
		} else if (l->ast & AST_TRACE) {
			trace_hold_self();
		} else if (l->ast & AST_SIG) {
			lwp_mstate_at(l, MS_SYSTEM, time_now_here());
			irq_restore(0x200);
			sig_deliver(f);
			irq_save();
		} else if (this_cpu()->need_resched) {
			maybe_preempt();
		} else {
			break;
		}
	}
	lwp_mstate_at(l, MS_USER, time_now_here());
}

void sched_yield(void)
{
	struct lwp *l = curlwp();
	irqstate_t s = spin_lock(&l->lock);

	l->grace_used = false;
	if (l->sc)
		l->sc->yield = 0;
	if (sched_best_waiting() >= l->pri) {
		l->state = LWP_ST_RUN;
		l->nvcsw++;
		sched_switch(false);
	} else {
		spin_release(&l->lock);
	}
	irq_restore(s);
}

void preempt_point(void)
{
	if (!this_cpu()->need_resched)
		return;
	irqstate_t s = irq_save();
	maybe_preempt();
	irq_restore(s);
}
