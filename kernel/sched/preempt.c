/*
 * preempt.c - giving up the CPU without blocking: preemption on the way to user
 * mode, preemption control (weft/schedctl.h).
 *
 * An LWP that runs a thread of a process with activations (proc/activation.c) does not keep the thread
 * while another process has its CPU, because another LWP of its process could run the thread.  So it is not
 * preempted at once: `yield` of its record is set, and it enters the library as after lwp_preempt.
 * The library puts the thread into its queue, and calls lwp_yield.  In a critical section, the LWP enters at
 * the end of the section.  For all this it has SC_GRACE_TICKS, as for a section.
 *
 * The kernel itself is not preempted: need_resched and the ASTs take effect when
 * an LWP is about to return to user mode, or at preempt_point().
 */
#include "disp.h"
#include <kern/activation.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/timing.h>
#include <kern/trace.h>

/* The sender has set need_resched or an AST first (resched, lwp_post_ast).  The CPU looks at them
 * on the way back to user mode. */
void resched_interrupt(void)
{
	this_cpu()->nipi++;
}

/* Called from the timer interrupt.  If the slice or the grace period is over, sets need_resched.
 * The CPU looks at it on the way back to user mode. */
void sched_slice_check(void)
{
	struct cpu *c = this_cpu();
	struct lwp *l = c->lwp;
	hrtime_t end = c->dispq->slice_end;

	if (end == HRTIME_NEVER)
		return;
	hrtime_t now = time_now();
	bool grace = l->grace & GRACE_USED;
	if (now >= end || (grace && now >= l->grace_end))
		c->need_resched = 1;
	if (now < end)
		timerq_want(end);
	if (grace && now < l->grace_end)
		timerq_want(l->grace_end);
}

/* May l, whose preemption was held off, still keep the CPU? */
static bool in_grace(struct lwp *l, hrtime_t now, bool slice_over)
{
	if (now >= l->grace_end)
		return false;
	if (slice_over)
		l->grace |= GRACE_OWES;
	timerq_want(l->grace_end);
	return true;
}

/*
 * Preemption control: delays preemption once, for at most SC_GRACE_TICKS.  If a slice ends
 * meanwhile, the LWP still owes the preemption (GRACE_OWES).  User mode can write the record.  So
 * the kernel reads it once, and trusts it for nothing except this decision.
 */
static bool preempt_hold_off(struct lwp *l, hrtime_t now, bool slice_over)
{
	if (l->sc == NULL || !l->sc->nopreempt)
		return false;
	if (!(l->grace & GRACE_USED)) {
		/* First in the block: behind the stores GCC may leave a short jump, which has no room for a patch. */
		PROBE(preempt_deferred, "lwp", l, 0, 0);
		l->grace |= GRACE_USED;
		l->grace_end = now + SC_GRACE_TICKS * WEFT_TICK_NS;
		l->sc->yield = 1;
		if (activation_hands_over(l))
			l->grace |= GRACE_HAND;
	}
	return in_grace(l, now, slice_over);
}

/*
 * The same for the LWP of a thread that another LWP could run: it is to hand its thread over first.  An
 * LWP that has been told so has the rest of its time, and owes the preemption then.
 */
static __attribute__((noinline)) bool preempt_hand_over(struct lwp *l)
{
	hrtime_t now = time_now();

	if (!is_activation(l) || !cpu_may_run(this_cpu(), l))
		return false;
	if (!(l->grace & GRACE_USED)) {
		if (!activation_hands_over(l))
			return false;
		l->grace |= GRACE_USED;
		l->grace_end = now + SC_GRACE_TICKS * WEFT_TICK_NS;
		l->sc->yield = 1;
		__atomic_fetch_or(&l->ast, AST_PREEMPT, __ATOMIC_SEQ_CST);
	}
	return in_grace(l, now, true);
}

void sched_call_handler(struct lwp *l)
{
	l->grace &= ~GRACE_SIGNAL;
	__atomic_fetch_or(&l->ast, AST_SIG, __ATOMIC_SEQ_CST);
}

static void sched_clear_grace(struct lwp *l)
{
	if (l->grace & GRACE_SIGNAL)
		sched_call_handler(l);
	if (l->grace & GRACE_PREEMPT)
		__atomic_fetch_or(&l->ast, AST_PREEMPT, __ATOMIC_SEQ_CST);
	l->grace = 0;
	if (l->sc != NULL)
		l->sc->yield = l->sc->signalled = 0;
}

void sched_leaves(struct lwp *l)
{
	if (l->grace != 0)
		sched_clear_grace(l);
	if (l->summed)
		sums_charge(l, time_now());
}

bool sched_yields(void)
{
	struct lwp *l = curlwp();

	if (!(l->grace & GRACE_HAND)) {
		sched_leaves(l);
		return true;
	}
	l->grace &= ~GRACE_HAND;
	__atomic_fetch_or(&l->ast, AST_PREEMPT, __ATOMIC_SEQ_CST);
	return false;
}

/* Puts the current LWP back on a queue if it must leave the CPU.  Interrupts off. */
static void maybe_preempt(void)
{
	struct cpu *c = this_cpu();
	struct lwp *l = c->lwp;
	struct dispq *q = c->dispq;
	bool slice_over;

	c->need_resched = 0;
	spin_acquire(&l->lock);
	hrtime_t now = time_now();
	bool go = sched_must_go(l, q, now, &slice_over);
	/* Preemption control does not keep an LWP on a CPU where it may not run. */
	go = !cpu_may_run(c, l) || (go && !preempt_hold_off(l, now, slice_over));
	spin_release(&l->lock);
	if (go) {
		if (l->leaving != 0 || is_activation(l)) {
			if (preempt_hand_over(l))
				return;
			l->grace &= ~GRACE_OWES;
			if (l->summed)
				sums_charge(l, time_now());
		}
		l->nivcsw++;
		PROBE(preempt, "lwp", l, 0, 0);
		sched_put_back(!slice_over);
	}
}

/* l has unblocked, and too many LWPs of its process ran then.  False: not any more. */
static __attribute__((noinline)) bool preempt_surplus(struct lwp *l)
{
	__atomic_fetch_and(&l->ast, ~AST_UPCALL, __ATOMIC_SEQ_CST);
	if (!activation_is_surplus(l, l->proc))
		return false;
	__atomic_fetch_or(&l->ast, AST_PREEMPT, __ATOMIC_SEQ_CST);
	return true;
}

void user_return_work(struct trapframe *f)
{
	struct lwp *l = curlwp();

	assert(!irq_enabled());
	lwp_mstate_at(l, MS_SYSTEM, time_now());
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
			lwp_mstate_at(l, MS_SYSTEM, time_now());
			irq_restore(0x200);
			sig_deliver(f);
			irq_save();
		} else if (l->ast & (AST_PREEMPT | AST_UPCALL)) {
			if ((l->ast & AST_UPCALL) && !preempt_surplus(l))
				continue;
			lwp_mstate_at(l, MS_SYSTEM, time_now());
			irq_restore(0x200);
			sig_preempt(f);
			irq_save();
		} else if (this_cpu()->need_resched) {
			maybe_preempt();
		} else {
			break;
		}
	}
	lwp_mstate_at(l, MS_USER, time_now());
}

void preempt_now(void)
{
	irqstate_t s = irq_save();
	maybe_preempt();
	irq_restore(s);
}
