/*
 * upcall.c - SIGWAITING, and the upcall that is tried before it.  They tell a threads library
 * that runs many threads on few LWPs that all these LWPs are blocked.
 *
 * "When the kernel realizes that all of a process's LWPs are blocked at the kernel-level, it
 * drops a SIGWAITING on the process" (the ThreadMon paper, 3.3); from Solaris 2.6 on the
 * kernel calls into the library's scheduler instead if it can, and falls back to the signal
 * (the Solaris paper, on SIGWAITING and the door upcall).  In weft the library reserves one LWP
 * for upcall_wait(), which returns the events that have happened.  Below, this LWP is the
 * registered LWP.
 *
 * Blocked LWPs.  An LWP is blocked in a wait without a bound.  This is an interruptible sleep
 * without a deadline (park, a lock in the kernel, read from a pipe or the terminal, waitpid,
 * sigwait, upcall_wait itself), or a stop by lwp_suspend.  The other cases are:
 *
 *   - A sleep with a deadline does not count, because it ends by itself.  The paper's guarantee,
 *     that progress will always be made, then holds without a report.  The exception is a thread
 *     that sleeps again and again until another thread has run.  For it, UPCALL_TIMED makes
 *     sleeps with a deadline count, too.
 *   - A sleep that no signal can end does not count.  It is for the kernel's own locks and
 *     devices, and short.
 *   - An LWP with LWP_NOPOOL does not run other threads when its sleep ends.  So it is blocked in
 *     any sleep that a signal can end.
 *   - For a process that a signal has stopped, no report is made.
 *
 * The count.  p->up.active is the number of LWPs that are not blocked.  It changes by single
 * atomic operations (sequentially consistent), under the l->lock of the LWP that blocks or is
 * woken.  l->blocked says that the LWP is not in the count.  So all LWPs are blocked exactly from
 * the operation that makes the count 0.  The count is kept only for a process that has asked (by
 * a handler for SIGWAITING, sigwait for it, or upcall_wait).  In any other process the cost is the
 * test of l->watched.
 *
 * The report.  The LWP that makes the count 0 holds an l->lock.  With it held, the kernel can
 * neither wake nor signal another LWP.  So it sets a timer that is due at once, and
 * upcall_check() looks again under p->lock:
 *
 *   - *Race:* the last LWP blocks, and another LWP is woken before the report; *without this:*
 *     the library is told that all LWPs are blocked, although one runs; *closed by:* the woken
 *     LWP is in the count when upcall_check() reads it, so no report is made.  upcall_wait reads
 *     the count once more before it returns, because its own LWP had to wait for a CPU.
 *   - `due` says that an LWP has blocked, or exited, since the last report.  *Race:* the last LWP
 *     blocks, while the registered LWP is on its way back into upcall_wait; *without this:* the
 *     block is not reported; *closed by:* `due` is set before the count goes down, so
 *     upcall_wait reports the block at once.
 *   - `due` also prevents a second report without a change, to a library that had no thread to
 *     run.  A sleep of the registered LWP, or of an LWP that waits for SIGWAITING, is no change.
 *   - `grow` is the same for UPCALL_GROW: an LWP has blocked, or exited, since the last report of it.
 *     So the registered LWP is not told again of the same block when it waits again.
 *   - *Race:* an LWP blocks while upcall_check() runs; *without this:* the block is not
 *     reported; *closed by:* the blocking LWP asks for another check (`checks`).
 *
 * The registered LWP counts as blocked while it waits, as any other LWP does.
 *
 * Lock order: p->lock, then l->lock.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/activation.h>
#include <kern/sched.h>
#include <kern/signal.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/upcall.h>

/* --- the report ----------------------------------------------------------------------- */

/* Wakes the registered LWP for its events, or sends SIGWAITING.  p->lock held. */
static void upcall_report(struct proc *p)
{
	struct proc_upcalls *up = &p->up;
	int active = __atomic_load_n(&up->active, __ATOMIC_SEQ_CST);
	bool all = active == 0 && __atomic_load_n(&up->due, __ATOMIC_RELAXED);

	if (p->exiting || p->sig.stopped)
		return;
	if (up->lwp != NULL) {
		if ((all && (up->wanted & UPCALL_BLOCKED)) ||
		    (up->grow && (unsigned)active < ncpu && (up->wanted & UPCALL_GROW)) ||
		    (up->exited && (up->wanted & UPCALL_EXIT))) {
			PROBE(upcall, "lwp", up->lwp, 0, 0);
			lwp_wake(up->lwp, WAKE_EVENT);
		}
		if (up->wanted & UPCALL_BLOCKED)
			return;
	}
	if (all) {
		struct weft_siginfo info = {.signo = WEFT_SIGWAITING, .code = WEFT_SI_KERNEL};
		__atomic_store_n(&up->due, false, __ATOMIC_RELAXED);
		PROBE(sigwaiting, "process", p, 0, 0);
		sig_send_locked(p, NULL, &info, NULL, false);
	}
}

static void upcall_check(struct ktimer *t)
{
	struct proc *p = CONTAINER_OF(t, struct proc, up.timer);
	unsigned n;

	do {
		n = __atomic_load_n(&p->up.checks, __ATOMIC_SEQ_CST);
		spin_acquire(&p->lock);
		upcall_report(p);
		spin_release(&p->lock);
		/* Once checks is 0, another CPU may set the timer again; p is not used any more. */
	} while (__atomic_sub_fetch(&p->up.checks, n, __ATOMIC_SEQ_CST) != 0);
}

static void want_check(struct proc *p)
{
	unsigned before = __atomic_fetch_add(&p->up.checks, 1, __ATOMIC_SEQ_CST);

	if (before == 0)
		ktimer_arm(&p->up.timer, time_now(), upcall_check);
}

/* --- the count ------------------------------------------------------------------------- */

/* Takes one LWP out of the count.  In line, because a call would cost each block 5 instructions. */
static inline __attribute__((always_inline)) void upcall_leave(struct proc *p)
{
	struct proc_upcalls *up = &p->up;
	int left = __atomic_sub_fetch(&up->active, 1, __ATOMIC_SEQ_CST);

	assert(left >= 0);
	if (left == 0 ||
	    ((unsigned)left < up->below && __atomic_load_n(&up->grow, __ATOMIC_RELAXED) &&
	     (__atomic_load_n(&up->wanted, __ATOMIC_RELAXED) & UPCALL_GROW)))
		want_check(p);
}

bool upcall_blocked_by(const struct lwp *l, unsigned flags, bool timed)
{
	if (!(flags & SLEEP_INTR))
		return false;
	if (!timed || (l->flags & LWP_NOPOOL))
		return true;
	/* An LWP that runs no thread does not count: after its sleep it would run any thread. */
	return __atomic_load_n(&l->proc->up.timed, __ATOMIC_RELAXED) && !l->sc->idle;
}

void upcall_blocks(struct lwp *l)
{
	struct proc *p = l->proc;

	l->blocked = true;
	if (is_activation(l)) {
		activation_blocks(l);
		return;
	}
	/* l itself has set these, because it is about to wait for the report. */
	bool waits_for_it = p->up.lwp == l || (l->sig.waits_for & WEFT_SIGBIT(WEFT_SIGWAITING));

	if (!waits_for_it) {
		__atomic_store_n(&p->up.due, true, __ATOMIC_RELAXED);
		__atomic_store_n(&p->up.grow, true, __ATOMIC_RELAXED);
	}
	upcall_leave(p);
}

/* Does l wait in upcall_idle?  Then it looks for a CPU at the end of the call. */
static bool looks_itself(const struct lwp *l)
{
	return l->state == LWP_ST_SLEEP && l->sleep_flags == SLEEP_OF_IDLE;
}

void upcall_unblocks(struct lwp *l)
{
	struct proc_upcalls *up = &l->proc->up;
	int others = activation_runs(l);

	/* Too many run (proc/activation.c), or none has run, and slices have to begin again (proc/slices.c). */
	if (is_activation(l) && others >= __atomic_load_n(&up->limit, __ATOMIC_SEQ_CST) &&
	    !looks_itself(l))
		__atomic_fetch_or(&l->ast, AST_UPCALL, __ATOMIC_SEQ_CST);
}

void upcall_new_lwp(struct proc *p, struct lwp *l)
{
	l->blocked = false;
	l->watched = p->up.watched ? WATCHED_COUNTED : 0;
	if (l->watched)
		__atomic_add_fetch(&p->up.active, 1, __ATOMIC_SEQ_CST);
}

void upcall_lwp_exit(struct proc *p, struct lwp *l)
{
	if (!l->watched)
		return;
	if (is_activation(l)) {
		l->watched = 0;
		activation_blocks(l);
		return;
	}
	l->watched = 0;
	__atomic_store_n(&p->up.due, true, __ATOMIC_RELAXED);
	__atomic_store_n(&p->up.grow, true, __ATOMIC_RELAXED);
	if (l->flags & LWP_BOUND) {
		p->up.exited = true;
		want_check(p);
	}
	upcall_leave(p);
}

/* l->lock held. */
static bool sleeps_blocked(const struct lwp *l)
{
	return l->state == LWP_ST_SLEEP &&
	       upcall_blocked_by(l, l->sleep_flags, l->timer.node.linked);
}

/* p->lock held. */
static void watch_lwp(struct proc *p, struct lwp *l)
{
	spin_acquire(&l->lock);
	l->watched = WATCHED_COUNTED;
	l->blocked = l->state == LWP_ST_STOP || sleeps_blocked(l);
	if (!l->blocked)
		__atomic_add_fetch(&p->up.active, 1, __ATOMIC_SEQ_CST);
	else /* this block has not been reported */
		__atomic_store_n(&p->up.due, true, __ATOMIC_RELAXED);
	spin_release(&l->lock);
}

/*
 * LWPs block and are woken while this function counts them.  Each is counted under its lock, and
 * updates the count itself from then on.  *Race:* an LWP blocks and makes the count 0 before all
 * LWPs are in it; *without this:* a false report; *closed by:* the check that it asks for waits for
 * p->lock, and reads the count of all LWPs.
 */
void upcall_watch(struct proc *p)
{
	irqstate_t s = spin_lock(&p->lock);
	if (!p->up.watched && p->up.cpus == 0) {
		p->up.watched = true;
		p->up.below = ncpu;
		LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
			watch_lwp(p, l);
	}
	spin_unlock(&p->lock, s);
}

/*
 * Makes sleeps with a deadline count from now on, also sleeps that have begun.  *Race:* an LWP goes
 * to sleep while this function walks the LWPs; *without this:* its sleep does not count, or counts
 * twice; *closed by:* the flag is set first, and both LWPs decide with l->lock.
 */
static void count_timed(struct proc *p)
{
	irqstate_t s = spin_lock(&p->lock);
	if (!p->up.timed) {
		__atomic_store_n(&p->up.timed, true, __ATOMIC_RELAXED);
		LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
			spin_acquire(&l->lock);
			if (l->watched && !l->blocked && sleeps_blocked(l))
				upcall_blocks(l);
			spin_release(&l->lock);
		}
	}
	spin_unlock(&p->lock, s);
}

/* Makes up for the reports that were not made, and the CPUs that were not handed over, while p was stopped. */
void upcall_continued(struct proc *p)
{
	if (p->up.watched)
		want_check(p);
	if (p->up.cpus != 0)
		activation_hand_over(p);
}

/*
 * The other LWPs have exited, and with p->lock held no LWP changes or reads the count.  So relaxed
 * order is enough.  A check that another LWP asked for may still be under way.  It waits for
 * p->lock, and finds no report due.
 */
void upcall_exec(struct proc *p)
{
	struct lwp *l = curlwp();

	if (!p->up.watched && p->up.cpus == 0)
		return; /* so nothing else is set */
	spin_acquire(&l->lock);
	l->watched = 0;
	spin_release(&l->lock);
	p->up.watched = p->up.exited = p->up.timed = false;
	__atomic_store_n(&p->up.active, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->up.due, false, __ATOMIC_RELAXED);
	__atomic_store_n(&p->up.grow, false, __ATOMIC_RELAXED);
	__atomic_store_n(&p->up.wanted, 0, __ATOMIC_RELAXED);
	if (p->up.cpus != 0) {
		p->up.cpus = 0;
		p->up.spares = NULL;
	}
}

void upcall_proc_exit(struct proc *p)
{
	if (p->up.timer.queue != NULL)
		ktimer_cancel(&p->up.timer);
	slices_proc_exit(p);
}

/* --- the call ------------------------------------------------------------------------------ */

/*
 * The events that have happened, out of `wanted`, which are forgotten then.  The calling LWP is
 * active itself, so all others are blocked if the count is 1.  p->lock held.
 */
static int upcall_events(struct proc *p, uint32_t wanted)
{
	struct proc_upcalls *up = &p->up;
	int others = __atomic_load_n(&up->active, __ATOMIC_SEQ_CST) - 1;
	int got = 0;

	if ((wanted & UPCALL_BLOCKED) && others == 0 &&
	    __atomic_exchange_n(&up->due, false, __ATOMIC_RELAXED))
		got |= UPCALL_BLOCKED;
	if ((wanted & UPCALL_GROW) && (unsigned)others < ncpu &&
	    __atomic_exchange_n(&up->grow, false, __ATOMIC_RELAXED))
		got |= UPCALL_GROW;
	if ((wanted & UPCALL_EXIT) && up->exited) {
		up->exited = false;
		got |= UPCALL_EXIT;
	}
	return got;
}

/*
 * upcall_wait(wanted): blocks until one of the events in `wanted` (UPCALL_*) has happened, and
 * returns the events that have happened.  While an LWP waits for UPCALL_BLOCKED, SIGWAITING is not
 * sent.  UPCALL_TIMED is not an event: until exec, it makes sleeps with a deadline count for
 * UPCALL_BLOCKED.
 * EINVAL: no event, or an unknown bit; EBUSY: another LWP of the process waits, or the process has
 * activations; EINTR: a signal.
 */
int64_t sys_upcall_wait(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;
	uint32_t wanted = arg[0] & (UPCALL_BLOCKED | UPCALL_GROW | UPCALL_EXIT);
	int64_t r;

	if (wanted == 0 || (arg[0] & ~(uint64_t)(wanted | UPCALL_TIMED)))
		return -EINVAL;
	upcall_watch(p);
	if (arg[0] & UPCALL_TIMED)
		count_timed(p);
	irqstate_t s = spin_lock(&p->lock);
	for (;;) {
		r = p->up.lwp != NULL || p->up.cpus != 0 ? -EBUSY : upcall_events(p, wanted);
		if (r == 0 && (sig_next(NULL) || p->exiting || (l->ast & AST_EXIT)))
			r = -EINTR; /* AST_EXIT alone: another LWP calls exec */
		if (r != 0)
			break;
		p->up.lwp = l;
		__atomic_store_n(&p->up.wanted, wanted, __ATOMIC_RELAXED);
		spin_acquire(&l->lock);
		lwp_sleep_locked(l, &p->lock, "upcall", SLEEP_INTR, HRTIME_NEVER);
		spin_acquire(&p->lock);
		p->up.lwp = NULL;
	}
	spin_unlock(&p->lock, s);
	sig_notify_if_due(p);
	return r;
}
