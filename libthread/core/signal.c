/*
 * signal.c - signals of threads: how a handler is entered and left, masks, pthread_kill.
 *
 * The kernel calls no handler while its LWP is in a critical section (weft/schedctl.h), so a
 * handler never meets a lock of the library that its own thread holds, or an LWP between
 * two threads: it may use whatever POSIX lets it use, sem_post first of all.  What it may not
 * do, as POSIX says too, is block on an object while the thread that it interrupted waits
 * in a queue: a thread stands in one queue at a time.
 *
 * A bound thread's mask is its LWP's.  An unbound one carries its own, and the LWP gets it
 * when the thread comes; as long as all have the same mask, __base_mask, that costs nothing
 * (struct thread).  An LWP that is idle keeps the mask of the thread that it ran last.  A
 * handler's mask is the thread's too, for a thread that yields or blocks in a handler may
 * go on on another LWP.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include "impl.h"
#include "model.h"

uint64_t __base_mask; /* what the process began with */

void __signals_init(void)
{
	__sys_sigprocmask(SIG_BLOCK, NULL, &__base_mask);
	thread_self()->sigmask = __base_mask; /* a new thread's is its creator's */
}

static void set_mask(struct thread *self, uint64_t mask)
{
	self->sigmask = mask;
	self->masked = mask != __base_mask;
}

/* Signals that were kept for t, and that it does not block, go to its LWP. */
static void take_kept(struct thread *t, struct lwp *l)
{
	uint64_t open = __atomic_fetch_and(&t->sigkept, t->sigmask, __ATOMIC_RELAXED);

	for (open &= ~t->sigmask; open != 0; open &= open - 1)
		__sys_lwp_kill(l->id, __builtin_ctzl(open) + 1);
}

/*
 * t is about to run on l, the calling LWP, whose mask may be another one; or it has signals that
 * were kept.  No handler is called before: the caller is in a critical section.
 */
void __mask_moves(struct thread *t, struct lwp *l)
{
	__sys_sigprocmask(SIG_SETMASK, &t->sigmask, NULL);
	t->masked = t->sigmask != __base_mask;
	take_kept(t, l);
}

/*
 * Where the kernel enters a handler.  What it interrupted goes on as if nothing had been,
 * errno included.  It may have been about to unpark an LWP: that is done here, since the
 * handler may do the same for another one, or never return; one unpark too many is harmless.
 *
 * The books of the mask are put back as they were found, not as the kernel will set it: they
 * may be a step ahead, or another handler may come in between (then they are as it found
 * them, again).
 */
void __sig_entry(int sig, struct weft_siginfo *info, struct weft_ucontext *uc,
		 void (*handler)(int, struct weft_siginfo *, void *), uint64_t mask)
{
	struct thread *self = thread_self();
	uint64_t before = self->sigmask, interrupted = uc->sigmask;
	int saved_errno = errno;
	uint32_t owes = self->lwp->owes;

	if (owes != 0)
		__lwp_unpark_owed(self->lwp, owes);
	set_mask(self, mask);
	handler(sig, info, uc);
	set_mask(self, uc->sigmask == interrupted ? before : uc->sigmask);
	errno = saved_errno;
	/* It may return into a system call that is to end, on another LWP (core/cancel.c). */
	if (unlikely(cancel_due()))
		__cancel_call(self->lwp->id, self);
	__sys_sigreturn(uc);
}

/* EINVAL: how. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	const uint64_t fixed = WEFT_SIGBIT(SIGKILL) | WEFT_SIGBIT(SIGSTOP);
	uint64_t new, was;
	long r;

	if (set == NULL)
		return -__sys_sigprocmask(how, NULL, old);
	new = *set;
	if (how != SIG_UNBLOCK)
		new &= ~WEFT_SIGBIT(SIGLWP);
	r = __sys_sigprocmask(how, &new, &was);
	if (r < 0)
		return -r;
	new = how == SIG_BLOCK ? was | new : how == SIG_UNBLOCK ? was & ~new : new;
	set_mask(thread_self(), new & ~fixed);
	if (thread_self()->sigkept != 0)
		take_kept(thread_self(), thread_self()->lwp);
	if (old != NULL)
		*old = was;
	return 0;
}

static int send(struct thread *t, void *sig)
{
	return __ops->kill(t, *(int *)sig);
}

/*
 * To one thread of the process.  An unbound thread that is on no LWP takes it when it is on
 * one again.  ESRCH: no such thread; EINVAL: no such signal.  May wait for a thread that
 * has just been created to begin.
 */
int pthread_kill(pthread_t thread, int sig)
{
	if (sig < 0 || sig >= NSIG)
		return EINVAL;
	if (thread == thread_self()->id)
		return -__sys_lwp_kill(__sys_lwp_self(), sig);
	return __thread_with(thread, send, &sig);
}
