/*
 * slices.c - time slices of the threads of a process with activations (proc/activation.c).
 *
 * The kernel does not know these threads.  The library says in its LWPs' records how many threads wait
 * for an LWP (`waiting`, weft/schedctl.h).  At the end of a slice each activation that runs enters the
 * handler of SIGLWP, as after lwp_preempt, and the library may let another thread run.  In a critical
 * section it enters at the end of the section.  All slices of a process end together.
 *
 * A process has one timer for it, and has it armed only while some LWP runs and no LWP is idle, because
 * no thread has to wait otherwise.  While no thread waits, the end of a slice costs an interrupt, and no
 * upcall.  An LWP that leaves `idle` looks whether it is to arm the timer.  If no LWP runs or is idle at the
 * end of a slice, the next LWP that unblocks looks, because `limit` is 0 (upcall_unblocks).
 *
 * An activation that had to leave the count (activation_is_surplus) has a thread that is about to wait.
 * So slices then end at the next tick.  The same upcall reminds such an LWP if it still runs a thread.
 *
 * The bound: a library that puts a thread whose slice is over behind the threads of equal priority lets
 * no thread wait longer than (such threads that wait / CPUs) slices, rounded up, as long as the LWPs
 * have their CPUs.
 *
 *   - *Race:* the timer finds an idle LWP, and is not armed again; the LWP gets a thread meanwhile, and
 *     finds that slices are still made; *without this:* threads have no slices from then on; *closed by:*
 *     the timer looks again after it has cleared `slicing`.  The LWP leaves `idle` before it reads
 *     `slicing`.  All four are sequentially consistent, so one of the two sees the other.
 *   - *Race:* the timer finds that no LWP runs, and is not armed again; an LWP unblocks meanwhile, and does
 *     not look; *without this:* the same; *closed by:* the timer looks again after it has cleared `limit`.
 *     The LWP is counted before `limit` is read, all in the same way.
 *
 * Lock order: p->lock, l->lock or the lock of slices, then a timer queue's.
 */
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/schedctl.h>
#include <kern/timing.h>
#include <kern/upcall.h>

#define SLICE_NS (10 * WEFT_TICK_NS)
#define WAITING_MOST 0xffffu /* more are not believed */

static struct spinlock slices_locks[16] = {[0 ... 15] = SPINLOCK_INIT("slices")};

static struct spinlock *slices_lock(const struct proc *p)
{
	return &slices_locks[p->pid % ARRAY_LEN(slices_locks)];
}

static void slices_over(struct ktimer *t);

static bool none_idle(const struct proc_upcalls *up)
{
	return up->cpus != 0 && __atomic_load_n(&up->idle, __ATOMIC_SEQ_CST) == 0;
}

static bool slices_wanted(const struct proc_upcalls *up)
{
	return none_idle(up) && __atomic_load_n(&up->active, __ATOMIC_SEQ_CST) > 0;
}

/* The lock of slices is held. */
static void slices_arm(struct proc_upcalls *up, hrtime_t when)
{
	__atomic_store_n(&up->slicing, true, __ATOMIC_SEQ_CST);
	__atomic_store_n(&up->limit, up->most, __ATOMIC_SEQ_CST);
	ktimer_arm(&up->slices, when, slices_over);
}

void slices_begin(struct proc *p, bool soon)
{
	struct proc_upcalls *up = &p->up;
	hrtime_t tick = time_now() + WEFT_TICK_NS;
	irqstate_t s = spin_lock(slices_lock(p));

	if (!up->slicing) {
		slices_arm(up, soon ? tick : tick - WEFT_TICK_NS + SLICE_NS);
	} else if (soon && up->slices.when > tick && ktimer_withdraw(&up->slices)) {
		ktimer_arm(&up->slices, tick, slices_over);
	} else {
		up->soon |= soon; /* the thread may be too late for the end that is near */
	}
	spin_unlock(slices_lock(p), s);
}

void slices_look_closer(struct proc *p)
{
	struct proc_upcalls *up = &p->up;

	if (slices_wanted(up)) {
		slices_begin(p, false);
	} else if (__atomic_load_n(&up->limit, __ATOMIC_RELAXED) == 0) {
		irqstate_t s = spin_lock(slices_lock(p));
		if (!none_idle(up)) /* the LWP that is idle will look */
			__atomic_store_n(&up->limit, up->most, __ATOMIC_SEQ_CST);
		spin_unlock(slices_lock(p), s);
	}
}

/* How many threads wait for an LWP, as the library says.  p->lock held. */
static unsigned threads_waiting(struct proc *p)
{
	unsigned sum = 0;

	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		sum += MIN(l->sc->waiting, WAITING_MOST);
	return MIN(sum, WAITING_MOST);
}

/* LWPs that are counted as running, wait for a CPU, and have handed their thread over.  p->lock held. */
static unsigned lwps_without(struct proc *p)
{
	unsigned n = 0;

	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		n += l->watched && l->state == LWP_ST_RUN && l->sc->idle;
	return n;
}

/*
 * Makes the LWPs of p that run threads enter the library: all activations, or only LWPs that have no
 * CPU of p.  True: there is such an LWP.  p->lock held.
 */
static bool slices_end(struct proc *p, bool all)
{
	bool any = false;

	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		spin_acquire(&l->lock);
		bool active = l->state == LWP_ST_ONPROC || l->state == LWP_ST_RUN;
		bool runs = active && !l->sc->idle;
		bool surplus = l->sc->surplus && !l->watched;
		/* Before the AST.  Also for an LWP that has handed its thread over: its context looks. */
		if (active && all && l->watched)
			__atomic_store_n(&l->sc->slice_over, p->up.slice, __ATOMIC_RELAXED);
		if (runs && (surplus || (all && l->watched)))
			lwp_post_ast_locked(l, AST_PREEMPT);
		any |= runs && surplus;
		spin_release(&l->lock);
	}
	return any;
}

static void slices_over(struct ktimer *t)
{
	struct proc *p = CONTAINER_OF(t, struct proc, up.slices);
	struct proc_upcalls *up = &p->up;
	bool soon;

	spin_acquire(&p->lock); /* while it is held, p is not freed */
	unsigned waiting = none_idle(up) ? threads_waiting(p) : 0;
	unsigned without = lwps_without(p);
	__atomic_store_n(&up->waiting, waiting > without ? waiting - without : 0, __ATOMIC_RELAXED);
	up->slice = up->slice % 255 + 1;
	soon = slices_end(p, waiting != 0);
	spin_acquire(slices_lock(p));
	soon |= up->soon;
	up->soon = false;
	__atomic_store_n(&up->slicing, false, __ATOMIC_SEQ_CST);
	if (none_idle(up))
		__atomic_store_n(&up->limit, 0, __ATOMIC_SEQ_CST);
	if (!p->exiting && (soon || slices_wanted(up)))
		slices_arm(up, time_now() + (soon ? WEFT_TICK_NS : SLICE_NS));
	spin_release(slices_lock(p));
	spin_release(&p->lock);
}

void slices_proc_exit(struct proc *p)
{
	if (p->up.slices.queue != NULL)
		ktimer_cancel(&p->up.slices);
}
