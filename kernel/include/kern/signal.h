/*
 * signal.h - signals in the kernel (proc/signal.c sends, proc/sigdeliver.c delivers).
 *
 * All signal state of a process and of its LWPs is guarded by p->lock, except masks.  An LWP's mask
 * is in the LWP's record, which user mode writes too (proc/sigmask.c).
 *
 * AST_SIG tells an LWP to look for signals.  It is set whenever a signal becomes deliverable to
 * the LWP.  Only the LWP itself clears it, when it has found nothing more to deliver.  Several
 * LWPs may find the same signal of the process, so AST_SIG may be set for nothing: an LWP that
 * acts on it looks again (sig_interrupted).  So entry to and exit from a system call cost
 * nothing for signals.
 */
#pragma once
#include <weft/signal.h>
#include "list.h"
#include "types.h"

struct lwp;
struct proc;
struct spawn_args;
struct trapframe;

/* A signal that has been sent and not been taken yet. */
struct sigqueued {
	struct list link;
	struct weft_siginfo info;
	struct sigpending *in;
	int32_t *overrun; /* of the timer that owns this: gets info.overrun when it is taken */
};

/*
 * Pending signals: a set, and a queue of what is known about each.  An ordinary signal
 * is in the queue once.  A signal for which there was no memory is only in the set.
 */
struct sigpending {
	uint64_t set;
	struct list queue; /* of struct sigqueued, oldest first */
};

/* The part of struct proc. */
struct proc_signals {
	struct weft_sigaction act[WEFT_NSIG]; /* [sig]; 0 is not used */
	bool any_act;                         /* one of them has been set */
	struct sigpending pending;
	unsigned queued;     /* in all queues of the process and its LWPs, without timers' */
	struct list waiters; /* LWPs in sigtimedwait, by sigwait_link */
	struct lwp *aslwp;   /* unparked when no LWP takes a signal (sig_aslwp), or NULL */
	bool stopped;        /* by a signal: AST_JOBSTOP is set on every LWP */
	bool notify_stopped; /* the parent has not been told by SIGCHLD yet */
	bool tell_continued;
	bool wait_stopped; /* ... nor by waitpid (proc_tree_lock as well) */
	bool wait_continued;
	int stop_sig;
};

/* The part of struct lwp. */
struct lwp_signals {
	struct sigpending pending;
	uint64_t chosen;    /* signals of the process that it is to take */
	uint64_t waits_for; /* the signals of its sigtimedwait; otherwise 0 */
	struct list wait_link;
	uint64_t saved_mask; /* sigsuspend, lwp_sigcatch: the mask to restore */
	bool restore_mask;
	bool call_again;     /* it makes a system call again that a signal has ended for nothing */
	hrtime_t call_until; /* when the length of time of this call ends (call_deadline) */
	struct weft_stack stack; /* alternate; size 0: none */
};

void sig_proc_init(struct proc *p);
/* Sets up a new LWP: nothing is pending. */
void sig_lwp_init(struct lwp *l);
/* l exits, which had this mask, and has no record any more: drops what is pending for it alone.
 * p->lock held. */
void sig_lwp_exit(struct proc *p, struct lwp *l, uint64_t mask);
/* The last LWP exits.  No lock held. */
void sig_proc_exit(struct proc *p);

/*
 * Sets up the child of a fork, which does not run yet.  It gets the actions of the parent, and the
 * mask and the alternate stack of the forking LWP.  Nothing is pending, no timer runs.  No p->lock
 * held.
 */
void sig_fork(struct proc *parent, const struct lwp *from, struct proc *child, struct lwp *to);
/* For the child of a spawn, after sig_fork: SPAWN_SETSIGMASK, SPAWN_SETSIGDEF.  Locks as there. */
void sig_preset(struct proc *child, struct lwp *l, const struct spawn_args *args);
/*
 * p begins another program.  Caught signals get their default action, ignored signals stay
 * ignored.  The alternate stack and the timers of timer_create are removed.  l is the only LWP.
 * No lock held.
 */
void sig_exec(struct proc *p, struct lwp *l);

/* The siginfo of a signal that the current process sends (a kernel LWP: the kernel). */
struct weft_siginfo sig_info(int sig, int code, uint64_t value);

/*
 * Sends a signal to a process, or to LWP `to` of it.  0; -EAGAIN: must_queue is set, and too many
 * are queued or there is no memory.  p->lock held.  The caller must call sig_notify_parent when it
 * has released p->lock.
 */
int sig_send_locked(struct proc *p, struct lwp *to, const struct weft_siginfo *info,
		    struct sigqueued *own, bool must_queue);
/* The same for a process; calls sig_notify_parent too.  proc_tree_lock held. */
int sig_send(struct proc *p, const struct weft_siginfo *info, bool must_queue);
/* The same for a process that cannot end meanwhile.  No lock held. */
int sig_send_stable(struct proc *p, struct lwp *to, const struct weft_siginfo *info,
		    struct sigqueued *own, bool must_queue);
/* If p has stopped or continued, sends its parent SIGCHLD and wakes the parent's waitpid.
 * proc_tree_lock held. */
void sig_notify_parent(struct proc *p);
/* A child has exited: sends its parent SIGCHLD.  proc_tree_lock held; p->lock of neither.  True:
 * the parent must not wait for it (SIGCHLD is ignored, or SA_NOCLDWAIT). */
bool sig_child_exited(struct proc *child);
/* Drops the signals of `set` wherever they are pending.  p->lock held. */
void sig_forget(struct proc *p, uint64_t set);
/* Withdraws a timer's signal if it is pending.  p->lock held. */
void sig_withdraw(struct proc *p, struct sigqueued *q);
/*
 * Chooses LWPs again for signals of `set` that are pending for the process, because the LWP that
 * was chosen may not take them.  p->lock held.
 */
void sig_hand_on(struct proc *p, uint64_t set);
/* The same for all signals, because an LWP of p has been suspended, or goes on.  No lock held. */
void sig_choose_again(struct proc *p);
/* Does the current action of sig discard it? */
bool sig_ignored(const struct proc *p, int sig);

/*
 * The current LWP has been woken from a sleep with AST_SIG.  True: it must call a handler, end the
 * process, or obey lwp_cancel.  False: the sleep goes on.  Carries out the actions that need no
 * handler.  No lock held.
 */
bool sig_interrupted(void);
/* AST_SIG is set: calls handlers.  On the way to user mode, interrupts on. */
void sig_deliver(struct trapframe *f);
/* AST_PREEMPT is set: enters SIGLWP's handler.  In the same way, after signals. */
void sig_preempt(struct trapframe *f);
/* sigmask.c (and sig_mask in kern/lwp.h): */
/* l has a new record, and gets this mask.  p->lock held. */
void sig_begin_record(struct proc *p, struct lwp *l, uint64_t mask);
/*
 * Can l take this signal?  If not, l's record says that the signal is pending, because it is or is
 * about to be.  p->lock held.
 */
bool sig_taken_by(struct lwp *l, uint64_t bit);
/* The current LWP's record says what is pending for it.  p->lock held. */
void sig_tell_pending(void);
/* Replaces the current LWP's mask.  Sets AST_SIG if a signal has become deliverable. */
void sig_set_mask(uint64_t mask);
/* The same without AST_SIG, for a caller that looks for signals itself.  p->lock held. */
void sig_set_mask_locked(uint64_t mask);
/* The work of the system calls of these names (syscall/signal.c); lwp_sigtake. */
int sig_aslwp(void);
int sig_redirect(uint32_t id, int sig);
uint64_t sig_take_back(void);
/*
 * A fault in user mode that the kernel cannot resolve: calls the handler, or ends the process
 * and reports it on the console.  info: signo, code, addr.
 */
void sig_fault(struct trapframe *f, uint64_t addr, struct weft_siginfo *info);
/* The work of sigreturn: fills the frame from *uc.  -EFAULT.  Returns the future RAX. */
int64_t sig_return(struct trapframe *f, vaddr_t uc);

/* For the current LWP, with p->lock held: */
/* Takes the lowest signal of `set` that is pending for it; false: there is none. */
bool sig_take(uint64_t set, struct weft_siginfo *info);
/*
 * Takes the next signal for which a handler must be called (info NULL: leaves it pending).  Carries
 * out the actions of the signals before it.  False: there is none, and AST_SIG is cleared.
 */
bool sig_next(struct weft_siginfo *info);
/* Call it after sig_next, when p->lock is released. */
void sig_notify_if_due(struct proc *p);

/* Signals that cannot be blocked, caught or ignored. */
#define SIG_UNBLOCKABLE (WEFT_SIGBIT(WEFT_SIGKILL) | WEFT_SIGBIT(WEFT_SIGSTOP))
