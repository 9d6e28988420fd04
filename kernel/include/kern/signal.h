/*
 * signal.h - signals in the kernel (proc/signal.c sends, proc/sigdeliver.c delivers).
 *
 * All signal state of a process and of its LWPs is guarded by p->lock.  An LWP's mask is
 * written by that LWP alone, under the lock, so that it may read it without.
 *
 * AST_SIG on an LWP says: look.  It is set whenever a signal becomes deliverable to it, and
 * only the LWP itself clears it, having found nothing more to deliver.  As several LWPs may
 * find one signal of the process, it may be set for nothing: who acts on it looks again
 * (sig_interrupted).  So the way into and out of a system call pays nothing for signals.
 */
#pragma once
#include <weft/signal.h>
#include "list.h"
#include "types.h"

struct lwp;
struct proc;
struct spawn_args;
struct trapframe;

/* A signal that has been sent and not been taken. */
struct sigqueued {
	struct list link;
	struct weft_siginfo info;
	struct sigpending *in;
	int32_t *overrun; /* a timer's, which owns it: gets info.overrun when it is taken */
};

/*
 * Pending signals: a set, and with each as a rule what is known of it.  An ordinary signal
 * is in the queue once; one for which there was no memory is in the set alone.
 */
struct sigpending {
	uint64_t set;
	struct list queue; /* of struct sigqueued, oldest first */
};

/* struct proc's part. */
struct proc_signals {
	struct weft_sigaction act[WEFT_NSIG]; /* [sig]; 0 is not used */
	bool any_act;                         /* one of them has been set */
	struct sigpending pending;
	unsigned queued;     /* of the process and its LWPs, without timers' */
	struct list waiters; /* LWPs in sigtimedwait, by sigwait_link */
	struct lwp *aslwp;   /* is unparked when nobody takes a signal (sig_aslwp), or NULL */
	bool stopped;        /* by a signal: AST_JOBSTOP is set on every LWP */
	bool notify_stopped; /* the parent has not been told by SIGCHLD yet */
	bool tell_continued;
	bool wait_stopped; /* nor by waitpid (proc_tree_lock as well) */
	bool wait_continued;
	int stop_sig;
};

/* struct lwp's part. */
struct lwp_signals {
	uint64_t mask;
	struct sigpending pending;
	uint64_t waits_for; /* sigtimedwait: these; else 0 */
	struct list wait_link;
	uint64_t saved_mask; /* sigsuspend, lwp_sigcatch: the mask to go back to */
	bool restore_mask;
	struct weft_stack stack; /* alternate; size 0: none */
};

void sig_proc_init(struct proc *p);
/* A new LWP: blocks what its creator blocks (NULL: nothing), has nothing pending. */
void sig_lwp_init(struct lwp *l, const struct lwp *creator);
/* l leaves for good: what is pending for it alone is dropped.  p->lock held. */
void sig_lwp_exit(struct proc *p, struct lwp *l);
/* The last LWP leaves.  No lock held. */
void sig_proc_exit(struct proc *p);

/*
 * The child of a fork, which does not run yet: the actions of the parent, the mask and the
 * alternate stack of the LWP that forks.  Nothing is pending, no timer runs.  No p->lock held.
 */
void sig_fork(struct proc *parent, const struct lwp *from, struct proc *child, struct lwp *to);
/*
 * And of a spawn, after that: its SPAWN_SETSIGMASK and SPAWN_SETSIGDEF.  As sig_fork.
 */
void sig_preset(struct proc *child, struct lwp *l, const struct spawn_args *args);
/*
 * A new program: caught signals get their default action, ignored ones stay ignored; no
 * alternate stack, no timers of timer_create.  l is the only LWP.  No lock held.
 */
void sig_exec(struct proc *p, struct lwp *l);

/* Sent by the current process (a kernel LWP: by the kernel). */
struct weft_siginfo sig_info(int sig, int code, uint64_t value);

/*
 * Sends a signal to a process, or to LWP `to` of it.  0; -EAGAIN: must_queue, and too many
 * are queued or there is no memory.  p->lock held.  Afterwards, with p->lock given up,
 * sig_notify_parent is due.
 */
int sig_send_locked(struct proc *p, struct lwp *to, const struct weft_siginfo *info,
		    struct sigqueued *own, bool must_queue);
/* The same for a process, sig_notify_parent included.  proc_tree_lock held. */
int sig_send(struct proc *p, const struct weft_siginfo *info, bool must_queue);
/* The same for a process that cannot go meanwhile.  No lock held. */
int sig_send_stable(struct proc *p, struct lwp *to, const struct weft_siginfo *info,
		    struct sigqueued *own, bool must_queue);
/* p has stopped or goes on: its parent gets SIGCHLD and looks.  proc_tree_lock held. */
void sig_notify_parent(struct proc *p);
/* A child has exited.  proc_tree_lock held; p->lock of neither.  True: nobody is to wait
 * for it (SIGCHLD is ignored, or SA_NOCLDWAIT). */
bool sig_child_exited(struct proc *child);
/* Drops these wherever they are pending.  p->lock held. */
void sig_forget(struct proc *p, uint64_t set);
/* Takes back a timer's signal if it is pending.  p->lock held. */
void sig_withdraw(struct proc *p, struct sigqueued *q);
/*
 * Signals of `set` that are pending for the process are no longer for an LWP that may have been
 * chosen for them: others look.  p->lock held.
 */
void sig_hand_on(struct proc *p, uint64_t set);
/* Does the action of sig, as it is now, discard it? */
bool sig_ignored(const struct proc *p, int sig);

/*
 * The current LWP has been woken from a sleep with AST_SIG: is a handler to be called (or
 * the process to end, or lwp_cancel to be heeded)?  Else the sleep goes on.  Carries out
 * what needs no handler.  No lock held.
 */
bool sig_interrupted(void);
/* AST_SIG is set: calls handlers.  On the way to user mode, interrupts on. */
void sig_deliver(struct trapframe *f);
/* AST_PREEMPT is set: enters SIGLWP's handler for lwp_preempt.  The same way, after all signals. */
void sig_preempt(struct trapframe *f);
/* Replaces the current LWP's mask; what has become deliverable is seen to. */
void sig_set_mask(uint64_t mask);
/* The same by one who looks for signals himself.  p->lock held. */
void sig_set_mask_locked(uint64_t mask);
/* The work of the system calls of these names (syscall/signal.c); lwp_sigtake. */
int sig_aslwp(void);
int sig_redirect(uint32_t id, int sig);
uint64_t sig_take_back(void);
/*
 * A fault in user mode that nobody could resolve: calls the handler, or ends the process
 * and says so on the console.  info: signo, code, addr.
 */
void sig_fault(struct trapframe *f, uint64_t addr, struct weft_siginfo *info);
/* sigreturn's work: the frame becomes what *uc says.  -EFAULT.  Returns RAX to be. */
int64_t sig_return(struct trapframe *f, vaddr_t uc);

/* The current LWP, with p->lock held: */
/* Takes the lowest signal of `set` that is pending for it; false: none. */
bool sig_take(uint64_t set, struct weft_siginfo *info);
/*
 * Takes the next signal for which a handler must be called (info NULL: leaves it), carrying
 * out the actions of those before it; false: there is none, and AST_SIG is cleared.
 */
bool sig_next(struct weft_siginfo *info);
/* And after that, without p->lock. */
void sig_notify_if_due(struct proc *p);

/* Signals that cannot be blocked, caught or ignored. */
#define SIG_UNBLOCKABLE (WEFT_SIGBIT(WEFT_SIGKILL) | WEFT_SIGBIT(WEFT_SIGSTOP))
