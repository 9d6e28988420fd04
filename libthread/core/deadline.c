/*
 * deadline.c - from the absolute times of the interfaces to the deadlines that the library uses.
 *
 * POSIX, clock_settime: a new value of CLOCK_REALTIME counts for absolute times for which threads
 * wait already.  So a deadline of CLOCK_REALTIME stays a time of that clock (REAL_TIME).  The LWP
 * that sleeps for it parks until a time of CLOCK_MONOTONIC, and names the offset with which it has
 * computed this time.  When the park ends because the clock has been set (LWP_PARK_CLOCK,
 * weft/lwp.h), the LWP computes again.  For a thread with an LWP of its own this is its LWP, in
 * lwp_wait_woken; for unbound threads it is the LWP of deadlines.  The kernel does a wait for a
 * process-shared object, and takes times of CLOCK_MONOTONIC: such a wait keeps the time with which
 * it began.
 */
#include <errno.h>
#include <time.h>
#include "core.h"
#include "model.h"

#define NSEC 1000000000ll

/*
 * A time of CLOCK_REALTIME or CLOCK_MONOTONIC as a deadline.  A time before the start of the clock
 * has just passed.  EINVAL: another clock, or nanoseconds out of range; ENOMEM, EAGAIN: the model
 * could not prepare for deadlines.
 */
int __deadline(clockid_t clock, const struct timespec *abstime, deadline_t *deadline)
{
	__int128 ns;

	if (abstime->tv_nsec < 0 || abstime->tv_nsec >= NSEC ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return EINVAL;
	ns = (__int128)abstime->tv_sec * NSEC + abstime->tv_nsec;
	if (ns < 0)
		ns = 0;
	*deadline = ns > INT64_MAX - 1 ? NEVER : (deadline_t)ns;
	if (clock == CLOCK_REALTIME)
		*deadline |= REAL_TIME; /* NEVER stays NEVER */
	return __ops->prepare_timed();
}
