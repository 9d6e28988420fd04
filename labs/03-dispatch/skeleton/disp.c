/*
 * disp.c - the dispatcher: which LWP runs where, and when it leaves its CPU to another.
 *
 * (Say here what your dispatcher does: where a woken LWP goes, what an idle CPU looks at and in which
 * order, which locks it holds meanwhile, and which race which line closes.)
 */
#include "queue.h"
#include <kern/proc.h>
#include <kern/timing.h>
#include <kern/upcall.h>

/*
 * Yours.  Makes c, which may be this CPU, look at its queue on its way to user mode, or out of its
 * halt.  Interrupts off.  As it stands, it does nothing for a CPU that runs an LWP.
 */
void resched(struct cpu *c)
{
	if (running_pri(c) == PRI_IDLE) {
		c->need_resched = 1;
		if (c != this_cpu())
			timing_kick(c);
	}
}

/*
 * Yours.  Puts l, which is on no queue, on the queue of a CPU that it may run on, and tells the CPU
 * that should run it.  The caller owns l.  As it stands, all LWPs go to CPU 0, the last first.
 */
void sched_place(struct lwp *l)
{
	struct cpu *c = cpus[0];
	struct dispq *q = c->dispq;

	spin_acquire(&q->lock);
	l->cpu = c->id;
	__atomic_thread_fence(__ATOMIC_RELEASE); /* before the link (dispq_lock_of) */
	if (l->sc)
		__atomic_store_n(&l->sc->state, SC_RUNNABLE, __ATOMIC_RELEASE);
	l->state = LWP_ST_RUN;
	dispq_insert(q, l, true);
	spin_release(&q->lock);
	resched(c);
}

/* Yours, except for what stands before the last line.  IDLE, SLEEP or STOP -> RUN.  l->lock held. */
void lwp_runnable(struct lwp *l, int place)
{
	assert(spin_held(&l->lock) && l->state != LWP_ST_RUN && l->state != LWP_ST_ONPROC);
	if (l->blocked)
		upcall_unblocks(l);
	l->enqueued = time_now();
	lwp_mstate_at(l, MS_WAITCPU, l->enqueued);
	sched_place(l);
}

/*
 * Yours.  An LWP was placed with PLACE_HANDOFF, and its waker did not sleep after all: offers what
 * waits on this CPU's queue to an idle CPU.
 */
void sched_handoff_failed(void)
{
}

/*
 * Yours.  Should l, the current LWP, leave its CPU, and has its slice ended (*slice_over)?  l->lock
 * held.  As it stands, an LWP keeps its CPU until it sleeps.
 */
bool sched_must_go(struct lwp *l, struct dispq *q, hrtime_t now, bool *slice_over)
{
	*slice_over = false;
	return false;
}

/*
 * Yours.  Each CPU ends up here, on its idle LWP, and stays: runs what is on its queue, steals, and
 * halts.  As it stands, it steals nothing.
 */
void sched_cpu_main(void)
{
	struct cpu *c = this_cpu();

	irq_save();
	sched_open_first(c);
	for (;;) {
		if (dispq_count(c->dispq) == 0) {
			hrtime_t start = time_now();
			timing->idle();
			c->idle_ns += time_now() - start;
		}
		if (dispq_count(c->dispq) != 0) {
			spin_acquire(&c->idle->lock);
			c->idle->state = LWP_ST_SLEEP;
			sched_switch(MS_SLEEP);
		}
	}
}
