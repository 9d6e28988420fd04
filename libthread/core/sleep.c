/*
 * sleep.c - sleeping for a time: clock_nanosleep and its relatives.
 *
 * A thread that has an LWP of its own sleeps in the kernel.  An unbound thread is Blocked here,
 * like a thread that waits for signals and whose set is empty (model.h: await_signal).  Its LWP
 * goes on with other threads.  Solaris 2's library had a sleep of its own for the same reason:
 * while all threads slept in the kernel, nothing ran.
 *
 * `caught`, which the return of a handler sets, ends the sleep (sigwait.c).  clock_settime moves
 * the end of a sleep until a time of CLOCK_REALTIME, here (deadline.c) and in the kernel.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <weft/point.h>
#include <weft/syscall.h>
#include "core.h"
#include "model.h"

#define NSEC 1000000000ll

/* Does the caller's sleep in the kernel stop threads that no other LWP runs? */
static bool sleep_stops_others(const struct thread *self)
{
	return __ops->await_signal != NULL && !self->bound && __options.waiting == WAITING_NONE;
}

/*
 * The deadline of a sleep that the library can do here.  False: the kernel must do the sleep.  The
 * kernel also checks the arguments, and returns at once if the length is 0.
 */
static bool sleep_deadline(const struct thread *self, clockid_t clock, int flags,
			   const struct timespec *req, deadline_t *deadline)
{
	if ((!waits_here(self) && !sleep_stops_others(self)) || req == NULL || req->tv_sec < 0 ||
	    req->tv_nsec < 0 || req->tv_nsec >= NSEC ||
	    (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
		return false;
	if (flags & TIMER_ABSTIME)
		return __deadline(clock, req, deadline) == 0;
	if ((req->tv_sec | req->tv_nsec) == 0)
		return false;
	*deadline = NEVER;
	if (req->tv_sec < INT64_MAX / NSEC - 1 - gethrtime() / NSEC)
		*deadline = gethrtime() + req->tv_sec * NSEC + req->tv_nsec;
	return __ops->prepare_timed() == 0;
}

/* 0: the deadline has passed; -EINTR: a handler has been called. */
static long sleep_here(struct thread *self, deadline_t deadline)
{
	pthread_testcancel();
	self->caught = false;
	while ((deadline_t)gethrtime() < deadline_by(deadline, clock_offset()) &&
	       __ops->await_signal(0, deadline)) {
		pthread_testcancel();
		if (self->caught)
			return -EINTR;
	}
	return 0;
}

#define NAP (NSEC / 1000)

/*
 * The sleep of a thread in a handler that has interrupted a wait, where the pool does not grow (model
 * n1).  The thread stands in a queue, so it cannot be Blocked once more.  It lets the others run, and looks
 * at the time when its turn comes again.  If the others did not run for long, the LWP naps in the kernel, so
 * a thread that becomes runnable meanwhile waits for NAP nanoseconds at most.
 */
static long sleep_in_turns(struct thread *self, deadline_t deadline)
{
	deadline_t now, end;

	self->caught = false;
	while ((now = gethrtime()) < (end = deadline_by(deadline, clock_offset()))) {
		struct weft_timespec nap = {.nsec = end - now < NAP ? end - now : NAP};

		pthread_testcancel();
		__ops->yield();
		if (!self->caught && gethrtime() - now < NAP / 10)
			__point_lwp_sleep(CLOCK_MONOTONIC, 0, &nap);
		if (self->caught)
			return -EINTR;
	}
	return 0;
}

/* What is left of *req, which may be too long for 64 bits of nanoseconds. */
static struct timespec sleep_left(const struct timespec *req, int64_t slept)
{
	struct timespec left = {.tv_sec = req->tv_sec - slept / NSEC,
				.tv_nsec = req->tv_nsec - slept % NSEC};

	if (left.tv_nsec < 0) {
		left.tv_sec--;
		left.tv_nsec += NSEC;
	}
	return left.tv_sec >= 0 ? left : (struct timespec){0};
}

/*
 * Blocks the calling thread for the time *req, or until that time with TIMER_ABSTIME.  A
 * cancellation point.  Returns an error number: EINVAL (clock, flags or time wrong), ENOTSUP (the
 * process's CPU time), EFAULT (req), EINTR (a handler has been called).  After EINTR *rem gets the
 * time that is left, if rem is not NULL and *req is a length.
 */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *req, struct timespec *rem)
{
	struct thread *self = thread_self();
	int64_t start = gethrtime();
	deadline_t deadline;
	long r;

	if (flags & ~TIMER_ABSTIME)
		return EINVAL;
	if (clock == CLOCK_PROCESS_CPUTIME_ID)
		return ENOTSUP;
	if (sleep_deadline(self, clock, flags, req, &deadline)) {
		r = waits_here(self) ? sleep_here(self, deadline) : sleep_in_turns(self, deadline);
	} else {
		r = __point_lwp_sleep(clock, flags & TIMER_ABSTIME ? LWP_SLEEP_ABSTIME : 0,
				      (const struct weft_timespec *)req);
		if (r == -EINTR)
			pthread_testcancel();
	}
	if (r == -EINTR && rem && !(flags & TIMER_ABSTIME))
		*rem = sleep_left(req, gethrtime() - start);
	return -r;
}

int nanosleep(const struct timespec *req, struct timespec *rem)
{
	int error = clock_nanosleep(CLOCK_MONOTONIC, 0, req, rem);

	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

int usleep(useconds_t usec)
{
	struct timespec ts = {.tv_sec = usec / 1000000, .tv_nsec = usec % 1000000 * 1000};

	return nanosleep(&ts, NULL);
}

/* Returns the seconds that are left if a signal interrupted the sleep, else 0. */
unsigned sleep(unsigned seconds)
{
	struct timespec ts = {.tv_sec = seconds}, rem = {0};

	return nanosleep(&ts, &rem) < 0 ? rem.tv_sec + (rem.tv_nsec > 0) : 0;
}
