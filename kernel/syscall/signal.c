/*
 * signal.c - the system calls on signals (POSIX: sigaction(), kill() and their relatives;
 * lwp_kill and lwp_sigqueue after Solaris's _lwp_kill(2)).
 */
#include <kern/clock.h>
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/signal.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/usercopy.h>

static bool is_signal(int sig)
{
	return sig > 0 && sig < WEFT_NSIG;
}

/* --- actions and masks --------------------------------------------------------------- */

#define SA_ALL                                                                                     \
	(WEFT_SA_NOCLDSTOP | WEFT_SA_SIGINFO | WEFT_SA_ONSTACK | WEFT_SA_RESTART |                 \
	 WEFT_SA_NODEFER | WEFT_SA_RESETHAND | WEFT_SA_NOCLDWAIT)

/*
 * sigaction(sig, act, old): sets the action of sig (unless act is NULL), and gets the old action.
 * If the new action ignores sig, pending signals sig are dropped.
 * EINVAL: no such signal, unknown flags, an entry outside user space, any action for SIGKILL
 * or SIGSTOP; EFAULT: act, or old (the action has been set all the same).
 */
int64_t sys_sigaction(const uint64_t arg[6])
{
	struct proc *p = curproc();
	int sig = arg[0];
	struct weft_sigaction act, old;

	if (!is_signal(sig))
		return -EINVAL;
	if (arg[1] != 0) {
		if (copyin(&act, arg[1], sizeof(act)) != 0)
			return -EFAULT;
		if ((act.flags & ~SA_ALL) || act.entry >= WEFT_USER_END ||
		    (WEFT_SIGBIT(sig) & SIG_UNBLOCKABLE))
			return -EINVAL;
	}
	if (sig == WEFT_SIGWAITING)
		upcall_watch(p);
	irqstate_t s = spin_lock(&p->lock);
	old = p->sig.act[sig];
	if (arg[1] != 0) {
		p->sig.act[sig] = act;
		p->sig.any_act = true;
		if (sig_ignored(p, sig))
			sig_forget(p, WEFT_SIGBIT(sig));
	}
	spin_unlock(&p->lock, s);
	return arg[2] != 0 ? copyout(arg[2], &old, sizeof(old)) : 0;
}

/*
 * sigprocmask(how, set, old): changes the mask of the calling LWP (unless set is NULL).
 * SIGKILL and SIGSTOP are never blocked.  A signal that is not blocked is delivered before the
 * call returns, also if the program has changed the mask in its record (weft/schedctl.h).
 * EINVAL: how; EFAULT: set, or old (the mask has been set all the same).
 */
int64_t sys_sigprocmask(const uint64_t arg[6])
{
	uint64_t set, old = sig_mask(curlwp());

	if (arg[1] != 0) {
		if (copyin(&set, arg[1], sizeof(set)) != 0)
			return -EFAULT;
		switch ((int)arg[0]) {
		case WEFT_SIG_BLOCK:
			set |= old;
			break;
		case WEFT_SIG_UNBLOCK:
			set = old & ~set;
			break;
		case WEFT_SIG_SETMASK:
			break;
		default:
			return -EINVAL;
		}
		sig_set_mask(set);
	}
	return arg[2] != 0 ? copyout(arg[2], &old, sizeof(old)) : 0;
}

/* Those of the calling LWP and of its process.  Without p->lock: another one may come a moment later. */
static uint64_t pending_now(const struct lwp *l)
{
	return l->sig.pending.set | l->proc->sig.pending.set;
}

/* sigpending(set): gets the signals that are blocked, and pending for the LWP or its process.
 * EFAULT: set. */
int64_t sys_sigpending(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	uint64_t set = pending_now(l) & sig_mask(l);

	return copyout(arg[0], &set, sizeof(set));
}

/*
 * sigaltstack(stack, old): sets the LWP's stack for handlers with SA_ONSTACK.  With WEFT_SS_LEAVING
 * the caller may be on the present alternate stack: it is a library that is about to switch to the
 * stack of another thread.
 * EINVAL: flags; ENOMEM: smaller than WEFT_MINSIGSTKSZ, or not in user space; EPERM: a handler
 * runs on the present alternate stack; EFAULT: stack, or old (the stack has been set all the same).
 */
int64_t sys_sigaltstack(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	struct weft_stack *now = &l->sig.stack, old = *now, fresh;
	bool on_it = now->size != 0 && l->frame->rsp - now->sp < now->size;

	if (old.size == 0)
		old.flags = WEFT_SS_DISABLE;
	else if (on_it)
		old.flags = WEFT_SS_ONSTACK;
	if (arg[0] != 0) {
		if (copyin(&fresh, arg[0], sizeof(fresh)) != 0)
			return -EFAULT;
		if (on_it && (fresh.flags & WEFT_SS_LEAVING) == 0)
			return -EPERM;
		if (fresh.flags & ~(WEFT_SS_DISABLE | WEFT_SS_LEAVING))
			return -EINVAL;
		if (fresh.flags & WEFT_SS_DISABLE)
			fresh = (struct weft_stack){0};
		else if (fresh.size < WEFT_MINSIGSTKSZ || fresh.sp >= WEFT_USER_END ||
			 fresh.size > WEFT_USER_END - fresh.sp)
			return -ENOMEM;
		fresh.flags = 0;
		*now = fresh;
	}
	return arg[1] != 0 ? copyout(arg[1], &old, sizeof(old)) : 0;
}

/*
 * sigreturn(uc): leaves a handler.  The LWP continues with the registers and the mask of *uc.  If
 * *uc is not a valid context of user space, the process ends by SIGSEGV.
 */
int64_t sys_sigreturn(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	int64_t rax = sig_return(l->frame, arg[0]);
	int status = WEFT_W_EXITCODE(0, WEFT_SIGSEGV);

	if ((l->frame->rip < WEFT_USER_END || probe_is_stub(l->frame->rip)) && rax != -EFAULT)
		return rax;
	if (proc_kill(l->proc, status))
		printk("weft: pid %d (%s) lwp %u: SIGSEGV: no context at %p to return to\n",
		       l->proc->pid, l->proc->name, l->id, (void *)arg[0]);
	proc_exit(status);
}

/* --- waiting --------------------------------------------------------------------------- */

/*
 * sigsuspend(set): makes `set` the mask until a handler has been called, and then restores the
 * old mask.  Never returns 0.  Blocks.
 * EINTR: a handler has been called; EFAULT: set.
 */
int64_t sys_sigsuspend(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	uint64_t set;

	if (copyin(&set, arg[0], sizeof(set)) != 0)
		return -EFAULT;
	l->sig.saved_mask = sig_mask(l);
	l->sig.restore_mask = true;
	sig_set_mask(set);
	do {
		irqstate_t s = spin_lock(&l->lock);
		lwp_sleep_locked(l, NULL, "sigsuspend", SLEEP_INTR, HRTIME_NEVER);
		irq_restore(s);
	} while (!sig_interrupted());
	if (lwp_cancelled(l) && l->sig.restore_mask) { /* no handler will restore the mask */
		l->sig.restore_mask = false;
		sig_set_mask(l->sig.saved_mask);
	}
	return -EINTR;
}

/*
 * sigtimedwait(set, info, timeout): takes a pending signal of `set`, the lowest first.  If there
 * is none, waits for one, for at most `timeout` (NULL: for ever).  The caller should block the
 * signals of `set`.  A suspended LWP takes no signal of the process.  Returns the signal; info may be
 * NULL.  Blocks.
 * EAGAIN: the timeout; EINTR: a handler was called for another signal; EINVAL: timeout; EFAULT:
 * set, timeout, or info (the signal is taken all the same).
 */
int64_t sys_sigtimedwait(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;
	bool again = call_is_again(), waited = false;
	hrtime_t deadline;
	struct weft_siginfo info;
	uint64_t set;

	if (copyin(&set, arg[0], sizeof(set)) != 0)
		return -EFAULT;
	set &= ~SIG_UNBLOCKABLE;
	if (set & WEFT_SIGBIT(WEFT_SIGWAITING))
		upcall_watch(p);
	int err = copyin_deadline(arg[2], &deadline);
	if (err != 0)
		return err;
	deadline = call_deadline(deadline, again);
	irqstate_t s = spin_lock(&p->lock);
	for (;;) {
		if (sig_take(set, &info))
			break;
		if (deadline <= time_now())
			err = -EAGAIN;
		else if (sig_next(NULL) || p->exiting || (l->ast & AST_EXIT) || lwp_cancelled(l))
			err = -EINTR; /* AST_EXIT alone: another LWP calls exec */
		if (err != 0)
			break;
		l->sig.waits_for = set;
		list_push_back(&p->sig.waiters, &l->sig.wait_link);
		spin_acquire(&l->lock);
		lwp_sleep_locked(l, &p->lock, "sigwait", SLEEP_INTR, deadline);
		spin_acquire(&p->lock);
		list_remove(&l->sig.wait_link);
		l->sig.waits_for = 0;
		waited = true;
	}
	/* *Race:* two signals choose this waiter, and it takes at most one of them; *without this:*
	 * the other signal stays pending, although another waiter sleeps for it; *closed by:* this
	 * line. */
	if (waited)
		sig_hand_on(p, set);
	spin_unlock(&p->lock, s);
	sig_notify_if_due(p);
	if (err != 0)
		return err;
	if (arg[1] != 0 && copyout(arg[1], &info, sizeof(info)) != 0)
		return -EFAULT;
	return info.signo;
}

/* --- for a library with more threads than LWPs ------------------------------------------------ */

/*
 * sig_aslwp(): the calling LWP becomes the process's ASLWP (proc/signal.c), until it exits.  The
 * kernel unparks it (lwp_unpark) whenever a signal for the process is pending that no LWP takes.
 * EBUSY: the process has an ASLWP.
 */
int64_t sys_sig_aslwp(const uint64_t arg[6])
{
	return sig_aslwp();
}

/*
 * sig_redirect(id, sig): if sig is pending for the process and has a handler, posts AST_SIG to LWP
 * id, and returns 0.  id 0: posts nothing; some LWP takes it later.  Returns 1 if sig is not
 * pending, or if its default action, or none, has been carried out.
 * EINVAL: no such signal; ESRCH: no such LWP; EAGAIN: LWP id blocks it, is idle, or is suspended.
 */
int64_t sys_sig_redirect(const uint64_t arg[6])
{
	return is_signal(arg[1]) ? sig_redirect(arg[0], arg[1]) : -EINVAL;
}

/*
 * lwp_sigtake() = the set of signals that were pending for the calling LWP alone.  They are not
 * pending any more, because they were for the thread that the LWP ran.  The library keeps them for
 * this thread.
 */
int64_t sys_lwp_sigtake(const uint64_t arg[6])
{
	return sig_take_back();
}

/*
 * lwp_sigcatch(set): a sigsuspend that does not wait.  Makes `set` the mask while handlers are
 * called for pending signals, and then restores the old mask.  Never returns 0.  Not for an LWP in
 * a critical section (weft/schedctl.h).
 *
 * If nothing is pending the mask stays as it is.  Otherwise a sender could choose the LWP while it lets the signal
 * through, and would have to choose again when the LWP is back with its old mask.  The look takes no lock:
 * the library looks for a later signal under its own lock before the thread sleeps (mxn/signal.c, __mxn_await_signal).
 *
 * EINTR: a handler has been called, or another LWP took the signal; EAGAIN: there was no handler to
 * call; EFAULT: set.
 */
int64_t sys_lwp_sigcatch(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	uint64_t set, was = sig_mask(l);

	if (copyin(&set, arg[0], sizeof(set)) != 0)
		return -EFAULT;
	if ((pending_now(l) & ~set) == 0)
		return -EAGAIN;
	sig_set_mask(set);
	if (sig_interrupted()) { /* on its way to user mode it continues as sigsuspend does */
		l->sig.saved_mask = was;
		l->sig.restore_mask = true;
		return -EINTR;
	}
	sig_set_mask(was);
	return -EAGAIN;
}

/* --- sending ------------------------------------------------------------------------------ */

struct to_all {
	const struct weft_siginfo *info;
	bool found;
};

/* For kill(-1): leaves out the first process and the caller's (POSIX allows this). */
static bool signal_any(struct proc *p, void *arg)
{
	struct to_all *a = arg;
	if (p->zombie || p == init_proc || p == curproc())
		return false;
	a->found = true;
	if (a->info->signo != 0)
		sig_send(p, a->info, false);
	return false;
}

static int64_t kill_all(int sig)
{
	struct weft_siginfo info = sig_info(sig, WEFT_SI_USER, 0);
	struct to_all a = {.info = &info};

	irqstate_t s = spin_lock(&proc_tree_lock);
	proc_each(signal_any, &a);
	spin_unlock(&proc_tree_lock, s);
	return a.found ? 0 : -ESRCH;
}

/*
 * kill(pid, sig): sends sig to process pid; 0: to all of the caller's group; -1: to all
 * processes except the first and the caller's; else to all of group -pid.  sig 0 only checks.
 * EINVAL: no such signal; ESRCH: no such process or group.
 */
int64_t sys_kill(const uint64_t arg[6])
{
	int pid = arg[0], sig = arg[1];

	if (sig != 0 && !is_signal(sig))
		return -EINVAL;
	if (pid == -1)
		return kill_all(sig);
	if (pid <= 0)
		return proc_kill_group(pid == 0 ? curproc()->pgrp : -pid, sig);
	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = proc_find(pid);
	if (p != NULL && !p->zombie)
		proc_signal(p, sig);
	spin_unlock(&proc_tree_lock, s);
	return p != NULL ? 0 : -ESRCH;
}

/*
 * sigqueue(pid, sig, value): sends sig with a value to process pid; a real-time signal is
 * queued behind those that are pending.
 * EINVAL: no such signal; ESRCH: no such process; EAGAIN: WEFT_SIGQUEUE_MAX are queued, or
 * there is no memory.
 */
int64_t sys_sigqueue(const uint64_t arg[6])
{
	int sig = arg[1], err = 0;

	if (sig != 0 && !is_signal(sig))
		return -EINVAL;
	struct weft_siginfo info = sig_info(sig, WEFT_SI_QUEUE, arg[2]);
	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = (int)arg[0] > 0 ? proc_find(arg[0]) : NULL;
	if (p == NULL)
		err = -ESRCH;
	else if (!p->zombie && sig != 0)
		err = sig_send(p, &info, true);
	spin_unlock(&proc_tree_lock, s);
	return err;
}

/* Sends a signal to LWP id of the calling process. */
static int64_t send_to_lwp(uint32_t id, int sig, int code, uint64_t value)
{
	struct proc *p = curproc();
	int err = 0;

	if (sig != 0 && !is_signal(sig))
		return -EINVAL;
	struct weft_siginfo info = sig_info(sig, code, value);
	irqstate_t s = spin_lock(&p->lock);
	struct lwp *l = lwp_lock_by_id(p, id);
	bool there = l != NULL && l->state != LWP_ST_ZOMB;
	if (l != NULL)
		spin_release(&l->lock); /* with p->lock held, l cannot exit */
	if (!there)
		err = -ESRCH;
	else if (sig != 0)
		err = sig_send_locked(p, l, &info, NULL, code == WEFT_SI_QUEUE);
	spin_unlock(&p->lock, s);
	sig_notify_if_due(p);
	return err;
}

/*
 * lwp_kill(id, sig): sends sig to one LWP of the process; only this LWP takes it.  A default
 * action acts on the whole process.  sig 0 only checks.
 * EINVAL: no such signal; ESRCH: no such LWP, or it has exited.
 */
int64_t sys_lwp_kill(const uint64_t arg[6])
{
	return send_to_lwp(arg[0], arg[1], WEFT_SI_LWP, 0);
}

/*
 * lwp_sigqueue(id, sig, value): sigqueue to one LWP.
 * EINVAL: no such signal; ESRCH: no such LWP, or it has exited; EAGAIN: WEFT_SIGQUEUE_MAX are
 * queued, or there is no memory.
 */
int64_t sys_lwp_sigqueue(const uint64_t arg[6])
{
	return send_to_lwp(arg[0], arg[1], WEFT_SI_QUEUE, arg[2]);
}
