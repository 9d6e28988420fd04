/*
 * sigmask.c - the masks of LWPs, which are in the records that LWPs share with the kernel.
 *
 * A mask is in one place only: `mask` of the LWP's record (weft/schedctl.h).  The kernel writes it in system calls of the
 * LWP, and as it calls a handler.  A library may write it too, and so changes its mask without a system call.  The
 * kernel trusts a mask for nothing except which signals of the process reach which of its LWPs.  It reads the mask once
 * for each decision.  SIGKILL and SIGSTOP are not blocked, whatever the mask says.
 *
 * The LWP changes its mask without p->lock, so what a sender has found may be wrong a moment later.
 *
 * A larger mask.  A sender has chosen the LWP, and posts AST_SIG.  The LWP reads its mask again before it takes a
 * signal, on the way to user mode, where it cannot change it.  If it blocks the signal by now, it hands the signal on
 * (sig_next).
 *
 * A smaller mask.  `pending` of the record has the signals that were found blocked.  The sender writes it and then reads
 * the mask again.  The library writes the mask, and then looks at `pending`, and makes a system call if it unblocks one
 * of these signals.  Only the kernel clears `pending`, in calls of the LWP, with p->lock.  It may have signals that are
 * not pending any more; the next system call for nothing takes them out.
 *
 *   - *Race:* a sender finds that the LWP blocks a signal, and the LWP unblocks it before it can see that the signal is
 *     pending; *without this:* the signal stays pending, although the LWP takes it; *closed by:* the sender reads the
 *     mask once more after its store to `pending`.
 *
 * Memory order: both stores are sequentially consistent, so each is visible before the load behind it.
 *
 * Lock: `pending` is written with p->lock held.
 */
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/schedctl.h>
#include <kern/signal.h>

static inline uint64_t pending_of(const struct proc *p, const struct lwp *l)
{
	return l->sig.pending.set | p->sig.pending.set;
}

void sig_begin_record(struct proc *p, struct lwp *l, uint64_t mask)
{
	l->sc->mask = mask;
	l->sc->pending = pending_of(p, l);
}

/*
 * The mask of an idle LWP belongs to no thread, so an idle LWP takes only signals that cannot be
 * blocked.
 *
 * *Race:* an idle LWP has the mask of an earlier thread, stores the mask of its next thread, and is idle no longer; a
 * sender looks at it; *without this:* the sender finds the old mask and an LWP that is not idle, and a default action
 * ends the process, although the next thread blocks the signal; *closed by:* `idle` is loaded before the mask, and
 * stored after it.
 */
static bool open_for(const struct lwp *l, uint64_t bit)
{
	bool idle = __atomic_load_n(&l->sc->idle, __ATOMIC_ACQUIRE);

	return !(sig_mask(l) & bit) && (!idle || (bit & SIG_UNBLOCKABLE));
}

/* An LWP that exits has no record, and takes nothing. */
bool sig_taken_by(struct lwp *l, uint64_t bit)
{
	if (l->sc == NULL)
		return false;
	if (open_for(l, bit))
		return true;
	__atomic_fetch_or(&l->sc->pending, bit, __ATOMIC_SEQ_CST);
	return open_for(l, bit);
}

void sig_tell_pending(void)
{
	struct lwp *l = curlwp();

	l->sc->pending = pending_of(l->proc, l);
}

static inline __attribute__((always_inline)) void mask_replace(struct proc *p, struct lwp *l,
							       uint64_t mask)
{
	uint64_t blocked = mask & ~sig_mask(l);

	l->sc->mask = mask;
	if (p->sig.pending.set & blocked) {
		l->sig.chosen &= ~blocked;
		sig_hand_on(p, blocked);
	}
}

void sig_set_mask(uint64_t mask)
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;

	mask &= ~SIG_UNBLOCKABLE;
	irqstate_t s = spin_lock(&p->lock);
	mask_replace(p, l, mask);
	uint64_t pending = pending_of(p, l);
	l->sc->pending = pending;
	if (pending & ~mask)
		__atomic_fetch_or(&l->ast, AST_SIG, __ATOMIC_SEQ_CST);
	spin_unlock(&p->lock, s);
}

void sig_set_mask_locked(uint64_t mask)
{
	struct lwp *l = curlwp();

	assert(spin_held(&l->proc->lock));
	mask_replace(l->proc, l, mask & ~SIG_UNBLOCKABLE);
}
