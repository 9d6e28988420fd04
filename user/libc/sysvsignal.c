/*
 * sysvsignal.c - System V's simple signals (SVR3; POSIX up to 2008), on sigaction and the caller's
 * mask.
 *
 * A handler set by sigset stays set, and its signal is blocked while the handler runs.  System
 * calls that it interrupts are not restarted.  The mask is the calling thread's, the action the
 * process's.
 */
#include <signal.h>
#include <stdbool.h>
#include "libc.h"

static bool sig_can_be_held(int sig)
{
	return sig >= 1 && sig < NSIG && sig != SIGKILL && sig != SIGSTOP && sig != SIGLWP;
}

/*
 * SIG_HOLD: blocks sig.  Other actions: sets the action and unblocks sig.  Returns SIG_HOLD if sig
 * was blocked, else the previous action; SIG_ERR with errno.  EINVAL: sig is no signal, or cannot
 * be caught.
 */
_sig_func_ptr sigset(int sig, _sig_func_ptr action)
{
	struct sigaction act = {.sa_handler = action}, old;
	sigset_t set, before;

	if (!sig_can_be_held(sig)) {
		fails(EINVAL);
		return SIG_ERR;
	}
	if (sigaction(sig, action != SIG_HOLD ? &act : NULL, &old) < 0)
		return SIG_ERR;
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(action == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set, &before);
	return sigismember(&before, sig) ? SIG_HOLD : old.sa_handler;
}

static int sig_change_mask(int how, int sig)
{
	sigset_t set;

	if (!sig_can_be_held(sig))
		return fails(EINVAL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	return sigprocmask(how, &set, NULL);
}

/* Blocks sig.  EINVAL: sig is no signal, or cannot be blocked. */
int sighold(int sig)
{
	return sig_change_mask(SIG_BLOCK, sig);
}

/* Unblocks sig.  EINVAL: sig is no signal, or cannot be blocked. */
int sigrelse(int sig)
{
	return sig_change_mask(SIG_UNBLOCK, sig);
}

/* Ignores sig from now on, and discards a pending sig.  EINVAL: sig is no signal, or cannot be
 * ignored. */
int sigignore(int sig)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	return sig_can_be_held(sig) ? sigaction(sig, &ignore, NULL) : fails(EINVAL);
}

/*
 * Unblocks sig, waits for a handler, then restores the mask.  Cancellation point; blocks as
 * sigsuspend does.  Never returns 0.  EINTR: a handler has been called; EINVAL: as sigrelse.
 */
int sigpause(int sig)
{
	sigset_t set;

	if (!sig_can_be_held(sig))
		return fails(EINVAL);
	sigprocmask(SIG_BLOCK, NULL, &set);
	sigdelset(&set, sig);
	return sigsuspend(&set);
}
