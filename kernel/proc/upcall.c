/*
 * upcall.c - SIGWAITING, and the upcall that goes before it: a threads library that runs
 * many threads on few LWPs learns that all of these are blocked.
 *
 * "When the kernel realizes that all of a process's LWPs are blocked at the kernel-level, it
 * drops a SIGWAITING on the process" (the ThreadMon paper, 3.2.2); from Solaris 2.6 on the
 * kernel calls into the library's scheduler instead if it can, and falls back to the signal
 * (the Solaris paper, on SIGWAITING and the door upcall).  Here the library gives one LWP to
 * upcall_wait(), which returns with what has happened.
 *
 * Which LWPs are blocked.  Those in a wait that nothing bounds: an interruptible sleep
 * without a deadline (park, a lock in the kernel, read from a pipe or the terminal, waitpid,
 * sigwait, upcall_wait itself), and those stopped by lwp_suspend.  A sleep with a deadline
 * ends by itself, and the paper's guarantee, that progress will always be made, needs no
 * help there, as long as the thread does not sleep again and again until another one has run.  So
 * UPCALL_TIMED has such sleeps counted, too.  A sleep that no signal can end is for the kernel's own
 * locks and devices, and short.  An LWP with LWP_NOPOOL will not run what others leave undone when its
 * sleep ends: so it is blocked in any sleep that a signal can end.  Nothing is reported of a process
 * that a signal has stopped.
 *
 * The count.  p->up.active is the number of LWPs that are not blocked, changed by single
 * atomic operations (sequentially consistent) under the l->lock of the LWP that blocks or is
 * woken, l->blocked telling which of them are out of it.  So "all are blocked" is true at
 * the very operation that makes it 0.  It is kept only for a process in which somebody has
 * asked (a handler for SIGWAITING, sigwait for it, upcall_wait): any other pays for the
 * test of l->watched.
 *
 * The report.  Whoever makes it 0 holds an l->lock, under which nobody else can be woken or
 * signalled; so it sets a timer that is due at once, and upcall_check() looks again under p->lock:
 *
 *   - An LWP that has been woken meanwhile is counted by then, and nothing is reported: a
 *     wake-up that races with the last block gives no false report.  upcall_wait looks once
 *     more before it returns, since its own LWP had to come onto a CPU.
 *   - `due` says that an LWP has blocked, or exited, since the last report.  Set before the
 *     count goes down, it makes sure that a block which came while the registered LWP was on
 *     its way back into upcall_wait is reported there and then: none is missed.  And it
 *     makes sure that a library which was told, and had no thread to run, is not told again
 *     before something has changed: the registered LWP's own going to sleep is no news, nor is
 *     that of one which waits for SIGWAITING.
 *   - A block that comes while upcall_check() runs asks for another one (`checks`).
 *
 * Of the registered LWP: it counts as blocked while it waits, as any other does, so it is
 * not taken for one that could run.
 *
 * Locks: p->lock, then l->lock.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/signal.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/upcall.h>

/* --- the report ----------------------------------------------------------------------- */

/* p->lock held. */
static void upcall_report(struct proc *p)
{
	struct proc_upcalls *up = &p->up;
	bool all = __atomic_load_n(&up->active, __ATOMIC_SEQ_CST) == 0 &&
		   __atomic_load_n(&up->due, __ATOMIC_RELAXED);

	if (p->exiting || p->sig.stopped)
		return;
	if (up->lwp != NULL) {
		if ((all && (up->wanted & UPCALL_BLOCKED)) ||
		    (up->grow && (up->wanted & UPCALL_GROW)) ||
		    (up->exited && (up->wanted & UPCALL_EXIT)))
			lwp_wake(up->lwp, WAKE_EVENT);
		if (up->wanted & UPCALL_BLOCKED)
			return;
	}
	if (all) {
		struct weft_siginfo info = {.signo = WEFT_SIGWAITING, .code = WEFT_SI_KERNEL};
		__atomic_store_n(&up->due, false, __ATOMIC_RELAXED);
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
		/* Once it is 0 the timer may be set again, on another CPU; p is not touched. */
	} while (__atomic_sub_fetch(&p->up.checks, n, __ATOMIC_SEQ_CST) != 0);
}

static void want_check(struct proc *p)
{
	if (__atomic_fetch_add(&p->up.checks, 1, __ATOMIC_SEQ_CST) == 0)
		ktimer_arm(&p->up.timer, time_now(), upcall_check);
}

/* --- the count ------------------------------------------------------------------------- */

/* One fewer can run. */
static void upcall_leave(struct proc *p)
{
	struct proc_upcalls *up = &p->up;
	int left = __atomic_sub_fetch(&up->active, 1, __ATOMIC_SEQ_CST);

	assert(left >= 0);
	if ((unsigned)left < ncpu && !__atomic_load_n(&up->grow, __ATOMIC_RELAXED) &&
	    __atomic_load_n(&up->due, __ATOMIC_RELAXED)) {
		__atomic_store_n(&up->grow, true, __ATOMIC_RELAXED);
		if (__atomic_load_n(&up->wanted, __ATOMIC_RELAXED) & UPCALL_GROW)
			left = 0;
	}
	if (left == 0)
		want_check(p);
}

bool upcall_blocked_by(const struct lwp *l, unsigned flags, bool timed)
{
	if (!(flags & SLEEP_INTR))
		return false;
	if (!timed || (l->flags & LWP_NOPOOL))
		return true;
	/* One that runs no thread would take any that there is. */
	return __atomic_load_n(&l->proc->up.timed, __ATOMIC_RELAXED) && !l->sc->idle;
}

void upcall_blocks(struct lwp *l)
{
	struct proc *p = l->proc;

	/* Set by l itself, as it is about to wait for the report. */
	bool waits_for_it = p->up.lwp == l || (l->sig.waits_for & WEFT_SIGBIT(WEFT_SIGWAITING));

	l->blocked = true;
	if (!waits_for_it)
		__atomic_store_n(&p->up.due, true, __ATOMIC_RELAXED);
	upcall_leave(p);
}

void upcall_unblocks(struct lwp *l)
{
	l->blocked = false;
	__atomic_add_fetch(&l->proc->up.active, 1, __ATOMIC_SEQ_CST);
}

void upcall_new_lwp(struct proc *p, struct lwp *l)
{
	l->blocked = false;
	l->watched = p->up.watched;
	if (l->watched)
		__atomic_add_fetch(&p->up.active, 1, __ATOMIC_SEQ_CST);
}

void upcall_lwp_exit(struct proc *p, struct lwp *l)
{
	if (!l->watched)
		return;
	l->watched = false;
	__atomic_store_n(&p->up.due, true, __ATOMIC_RELAXED);
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
	l->watched = true;
	l->blocked = l->state == LWP_ST_STOP || sleeps_blocked(l);
	if (!l->blocked)
		__atomic_add_fetch(&p->up.active, 1, __ATOMIC_SEQ_CST);
	else /* nobody was told */
		__atomic_store_n(&p->up.due, true, __ATOMIC_RELAXED);
	spin_release(&l->lock);
}

/*
 * LWPs block and are woken while they are counted; each is counted under its lock, and does
 * its own counting from then on.  One that blocks may make the count 0 before all are in it:
 * the check which it asks for waits for p->lock, and sees them all.
 */
void upcall_watch(struct proc *p)
{
	irqstate_t s = spin_lock(&p->lock);
	if (!p->up.watched) {
		p->up.watched = true;
		LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
			watch_lwp(p, l);
	}
	spin_unlock(&p->lock, s);
}

/*
 * Sleeps with a deadline count from now on, also those that have begun.  *Race:* an LWP goes to sleep
 * while this looks through the LWPs; *without this:* its sleep would not count, or twice; *closed
 * by:* the flag is set first, and both decide with l->lock.
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

/* Reports were held back while p was stopped. */
void upcall_continued(struct proc *p)
{
	if (p->up.watched)
		want_check(p);
}

/*
 * The others have gone, and with p->lock nobody counts or asks: plain order will do.  A check that
 * they asked for may be under way still; it waits for p->lock, and finds nothing due.
 */
void upcall_exec(struct proc *p)
{
	struct lwp *l = curlwp();

	spin_acquire(&l->lock);
	l->watched = false;
	spin_release(&l->lock);
	p->up.watched = p->up.exited = p->up.timed = false;
	__atomic_store_n(&p->up.active, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->up.due, false, __ATOMIC_RELAXED);
	__atomic_store_n(&p->up.grow, false, __ATOMIC_RELAXED);
	__atomic_store_n(&p->up.wanted, 0, __ATOMIC_RELAXED);
}

void upcall_proc_exit(struct proc *p)
{
	if (p->up.timer.queue != NULL)
		ktimer_cancel(&p->up.timer);
}

/* --- the call ------------------------------------------------------------------------------ */

/* What there is to tell the calling LWP, the only one that need be active.  p->lock held. */
static int upcall_events(struct proc *p, uint32_t wanted)
{
	struct proc_upcalls *up = &p->up;
	int others = __atomic_load_n(&up->active, __ATOMIC_SEQ_CST) - 1;
	int got = 0;

	if ((wanted & UPCALL_BLOCKED) && others == 0 &&
	    __atomic_exchange_n(&up->due, false, __ATOMIC_RELAXED))
		got |= UPCALL_BLOCKED;
	if ((wanted & UPCALL_GROW) && __atomic_exchange_n(&up->grow, false, __ATOMIC_RELAXED) &&
	    (unsigned)others < ncpu)
		got |= UPCALL_GROW;
	if ((wanted & UPCALL_EXIT) && up->exited) {
		up->exited = false;
		got |= UPCALL_EXIT;
	}
	return got;
}

/*
 * upcall_wait(wanted): blocks until one of the events `wanted` (UPCALL_*) has happened, and
 * returns those that have.  While an LWP waits for UPCALL_BLOCKED, SIGWAITING is not sent.
 * UPCALL_TIMED is no event: it adds to what UPCALL_BLOCKED means, until exec.
 * EINVAL: no event, or unknown ones; EBUSY: another LWP of the process waits; EINTR: a signal.
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
		r = p->up.lwp != NULL ? -EBUSY : upcall_events(p, wanted);
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
