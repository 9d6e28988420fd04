/*
 * sample.c - what runs where, at the moments at which a monitor looks (lwp_sleep with
 * LWP_SLEEP_SAMPLE).
 *
 * ThreadMon "wakes up every 10 milliseconds" (section 4.2), and its LWP then has a CPU on which
 * another LWP would run.  So what it sees of CPUs and LWPs it has changed itself.  Here the timer
 * that ends the monitor's sleep looks, in the interrupt, before the monitor runs: an LWP that is
 * interrupted still counts as running.
 *
 * What is seen goes into the records of three probe points (kern/probe.h), and nowhere else:
 *
 *	sample_self	once, when the sleep begins: the monitor's LWP, and its CPU time until now
 *	sample_cpu	for each CPU: the LWP on it, its microstate, the length of the queue
 *	sample_lwp	for each LWP of the process: its microstate, its CPU
 *
 * The other CPUs go on meanwhile, and no lock stops them.  So an LWP may have moved between its
 * CPU's record and its own, which come some hundred instructions later.  The reader sees it by the
 * CPUs (weft_trace/sampling.py).
 */
#include "disp.h"
#include <kern/cpu.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sample.h>
#include <kern/sched.h>
#include <kern/timing.h>

/* In the timer's interrupt.  Acquires p->lock, under which no ktimer_cancel waits for this. */
static void sample_take(struct ktimer *timer)
{
	struct proc *p = CONTAINER_OF(timer, struct sample, timer)->proc;

	for (unsigned i = 0; i < ncpu; i++) {
		/* The structure is type-stable: at worst it has become another LWP's. */
		struct lwp *l = __atomic_load_n(&cpus[i]->lwp, __ATOMIC_RELAXED);
		uint32_t at = i | __atomic_load_n(&l->mstate, __ATOMIC_RELAXED) << 8 |
			      dispq_count(cpus[i]->dispq) << 16;
		PROBE(sample_cpu, "lwp at", l, at, 0);
	}
	spin_acquire(&p->lock);
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		uint32_t at = __atomic_load_n(&l->cpu, __ATOMIC_RELAXED) |
			      __atomic_load_n(&l->mstate, __ATOMIC_RELAXED) << 8;
		PROBE(sample_lwp, "lwp at", l, at, 0);
	}
	spin_release(&p->lock);
}

static void sample_self(struct lwp *l)
{
	struct mstimes times;

	lwp_times(l, &times);
	uint64_t ns = times.ms[MS_USER] + ms_system(&times);
	irqstate_t s = irq_save();
	PROBE(sample_self, "lwp ns", l, ns, 0);
	irq_restore(s);
}

void sample_arm(struct sample *sample, hrtime_t when)
{
	struct lwp *l = curlwp();

	sample_self(l);
	*sample = (struct sample){.proc = l->proc};
	ktimer_arm(&sample->timer, when, sample_take);
}

void sample_end(struct sample *sample)
{
	ktimer_cancel(&sample->timer);
}
