/*
 * signal.c - signals of threads: how a handler is entered and left, masks, pthread_kill.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include "impl.h"
#include "model.h"

/*
 * Where the kernel enters a handler.  What it interrupted goes on as if nothing had been:
 * errno is as it was, and so is the unpark that the LWP owed, which the handler may have
 * overwritten with one of its own (sem_post).
 */
void __sig_entry(int sig, struct weft_siginfo *info, struct weft_ucontext *uc,
		 void (*handler)(int, struct weft_siginfo *, void *))
{
	struct thread *self = thread_self();
	int saved_errno = errno;
	uint32_t owes = self->lwp->owes;

	self->lwp->owes = 0;
	handler(sig, info, uc);
	self->lwp->owes = owes;
	errno = saved_errno;
	__sys_sigreturn(uc);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return -__sys_sigprocmask(how, set, old);
}

/* ESRCH: no such thread; EINVAL: no such signal. */
int pthread_kill(pthread_t thread, int sig)
{
	struct thread *t;
	int error = ESRCH;

	if (thread == thread_self()->id)
		return -__sys_lwp_kill(__sys_lwp_self(), sig);
	ilock_lock(&__threads_lock);
	t = __thread_find(thread);
	if (t != NULL && !t->exited)
		error = -__sys_lwp_kill(t->lwp->id, sig);
	ilock_unlock(&__threads_lock);
	return error;
}
