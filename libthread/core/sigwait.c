/*
 * sigwait.c - waiting for signals: sigsuspend, sigwait and its relatives.
 *
 * A thread that has an LWP of its own waits in the kernel.  An unbound thread is Blocked here, and
 * its LWP goes on with other threads (model.h: await_signal).  A signal for which it may be waiting
 * makes it run and look.  It looks in the kernel, so the kernel always decides which signal is
 * taken and what is known of it.  The thread stands in no queue when a handler is called.  So the
 * handler may wait for signals itself, or never return.
 *
 * A handler also ends sigsuspend and sigtimedwait.  `caught` says so; the return of a handler sets
 * it (signal.c).
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
 * While the thread waits, set is blocked too, and it waits for the signals that set lets through.
 * The kernel changes the mask for a handler and back, so that no signal is let through for too
 * long.
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
 * Blocks exactly `set` until a handler has been called, and then restores the mask.  Never returns
 * 0.  A cancellation point.  May be called in a handler.  EINTR: a handler has been called.
 */
int sigsuspend(const sigset_t *set)
{
	struct thread *self = thread_self();

	return waits_here(self) ? suspend_here(self, *set)
				: sigwait_result(__point_sigsuspend(set));
}

/* The deadline of a timeout, NULL: none.  False: the library cannot wait for this timeout here. */
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
	const uint64_t ours = WEFT_SIGBIT(SIGWAITING); /* the kernel counts its waiters */
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
	/*
	 * Several threads may have been woken for one signal.  A caller that has no signal has
	 * looked since, and left none.
	 */
	if (r > 0 && waited)
		__ops->leave_signals(*set);
	return r;
}

/*
 * Takes a signal of `set`, the lowest first; the signals of set should be blocked.  Waits for one
 * for at most `timeout` (NULL: for ever).  Returns the signal; info may be NULL.  A cancellation
 * point.  EAGAIN: none came; EINTR: a handler was called for another signal; EINVAL: timeout.
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
