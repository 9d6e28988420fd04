/*
 * signal.c - signals as far as the kernel has them: a signal that is sent has its
 * default action.  Handlers, ignoring and masks are not there, and a program that
 * asks for them is told so.  raise and abort are newlib's, over kill.
 */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>
#include <weft/signal.h>
#include "libc.h"

_Static_assert(SIGHUP == WEFT_SIGHUP && SIGINT == WEFT_SIGINT && SIGQUIT == WEFT_SIGQUIT &&
		       SIGILL == WEFT_SIGILL && SIGTRAP == WEFT_SIGTRAP &&
		       SIGABRT == WEFT_SIGABRT && SIGFPE == WEFT_SIGFPE &&
		       SIGKILL == WEFT_SIGKILL && SIGBUS == WEFT_SIGBUS &&
		       SIGSEGV == WEFT_SIGSEGV && SIGSYS == WEFT_SIGSYS &&
		       SIGPIPE == WEFT_SIGPIPE && SIGALRM == WEFT_SIGALRM &&
		       SIGTERM == WEFT_SIGTERM && SIGCHLD == WEFT_SIGCHLD,
	       "signal numbers");

int kill(pid_t pid, int sig)
{
	return result(__sys_kill(pid, sig));
}

int killpg(pid_t pgrp, int sig)
{
	return pgrp > 1 ? kill(-pgrp, sig) : fails(EINVAL);
}

/* EINVAL: no such signal; ENOSYS: anything but the default action. */
int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	if (sig < 1 || sig >= WEFT_NSIG)
		return fails(EINVAL);
	if (act && act->sa_handler != SIG_DFL)
		return fails(ENOSYS);
	if (old)
		*old = (struct sigaction){.sa_handler = SIG_DFL};
	return 0;
}

_sig_func_ptr signal(int sig, _sig_func_ptr handler)
{
	struct sigaction act = {.sa_handler = handler};

	return sigaction(sig, &act, NULL) < 0 ? SIG_ERR : SIG_DFL;
}

/* ENOSYS: blocking any signal. */
int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
		return fails(EINVAL);
	if (set && *set && how != SIG_UNBLOCK)
		return fails(ENOSYS);
	if (old)
		*old = 0;
	return 0;
}
