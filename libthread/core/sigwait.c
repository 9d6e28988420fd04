/*
 * sigwait.c - waiting for signals: sigsuspend, sigwait and its relatives.
 *
 * A thread that has an LWP of its own waits in the kernel.  An unbound one is Blocked here, and its
 * LWP goes on with others (model.h: await_signal); a signal that it may be waiting for makes it
 * run, and look.  It is the kernel that it looks in, so that which signal is taken, and what is
 * known of it, is decided there in any case; and it stands in no queue when a handler is called,
 * which may wait for signals itself, or not return.
 *
 * That sigsuspend and sigtimedwait end with a handler is told by `caught`, which a handler's return
 * sets (signal.c).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <weft/point.h>
#include "ilock.h"
#include "model.h"

static int sigwait_result(long r)
{
	if (r == -EINTR)
		pthread_testcancel();
	if (r >= 0)
		return r;
	errno = -r;
	return -1;
}

/*
 * While it waits, set is blocked too, and what set lets through is awaited; but how the mask
 * changes for a handler and back, no moment too long, is for the kernel.
 */
static int suspend_here(struct thread *self, uint64_t set)
{
	uint64_t before = self->sigmask;

	pthread_testcancel();
	self->caught = false;
	if (set & ~before)
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	do
		__sys_lwp_sigcatch(&set);
	while (!self->caught && !cancel_due() && __ops->await_signal(~set, NEVER));
	if (set & ~before)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	return sigwait_result(-EINTR);
}

/*
 * Blocks exactly `set` until a handler has been called, and then what was blocked before.  Never
 * returns 0; a cancellation point; may be called in a handler.  EINTR: a handler has been called.
 */
int sigsuspend(const sigset_t *set)
{
	struct thread *self = thread_self();

	return waits_here(self) ? suspend_here(self, *set)
				: sigwait_result(__point_sigsuspend(set));
}

/* The deadline of a timeout, NULL: none.  False: it is none to wait for here. */
static bool deadline_of(const struct timespec *timeout, deadline_t *deadline)
{
	*deadline = NEVER;
	if (timeout == NULL)
		return true;
	if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000 ||
	    (timeout->tv_sec | timeout->tv_nsec) == 0 || __ops->prepare_timed() != 0)
		return false;
	if (timeout->tv_sec < INT64_MAX / 1000000000 - 1 - gethrtime() / 1000000000)
		*deadline = gethrtime() + timeout->tv_sec * 1000000000ul + timeout->tv_nsec;
	return true;
}

static long sigwait_timed(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	const uint64_t ours = WEFT_SIGBIT(SIGWAITING); /* the kernel looks at who waits for it */
	const struct weft_timespec at_once = {0, 0};
	struct thread *self = thread_self();
	struct weft_siginfo *to = (struct weft_siginfo *)info;
	deadline_t deadline;
	bool in_time = true, waited = false;
	long r;

	if (!waits_here(self) || (*set & ours) || !deadline_of(timeout, &deadline))
		return __point_sigtimedwait(set, to, (const struct weft_timespec *)timeout);
	if (cancel_due())
		return -EINTR;
	self->caught = false;
	while ((r = __sys_sigtimedwait(set, to, &at_once)) == -EAGAIN && in_time) {
		if (self->caught || cancel_due()) {
			r = -EINTR;
			break;
		}
		in_time = __ops->await_signal(*set, deadline);
		waited = true;
	}
	/* It may have been woken for several.  Without one it has looked since, and left none. */
	if (r > 0 && waited)
		__ops->leave_signals(*set);
	return r;
}

/*
 * Takes a signal of `set`, which should be blocked, the lowest first; waits for one for at most
 * `timeout` (NULL: for ever).  Returns it; info may be NULL.  A cancellation point.
 * EAGAIN: none came; EINTR: a handler was called for another signal; EINVAL: timeout.
 */
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return sigwait_result(sigwait_timed(set, info, timeout));
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return sigtimedwait(set, info, NULL);
}

/* Returns an error number, and is not interrupted by handlers.  A cancellation point. */
int sigwait(const sigset_t *set, int *sig)
{
	long r;

	while ((r = sigwait_timed(set, NULL, NULL)) == -EINTR)
		pthread_testcancel();
	if (r < 0)
		return -r;
	*sig = r;
	return 0;
}
