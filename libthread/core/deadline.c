/*
 * deadline.c - from the absolute times of the interfaces to the deadlines that the library uses.
 *
 * POSIX, clock_settime: a new value of CLOCK_REALTIME counts for absolute times that threads wait for
 * already.  So a deadline by that clock stays one (REAL_TIME).  The LWP that sleeps for it parks to a time of
 * CLOCK_MONOTONIC, names the offset by which it has computed that, and computes again when the park ends
 * because the clock has been set (LWP_PARK_CLOCK, weft/lwp.h): an LWP with its thread in lwp_wait_woken, for
 * unbound threads the LWP of deadlines.  A wait for a process-shared object is the kernel's, which takes times
 * of CLOCK_MONOTONIC: such a one keeps the time that it began with.
 */
#include <errno.h>
#include <time.h>
#include "core.h"
#include "model.h"

#define NSEC 1000000000ll

/*
 * A point of CLOCK_REALTIME or CLOCK_MONOTONIC as a deadline; one before the start of the
 * clock is just past.  EINVAL: another clock, or nanoseconds out of range; ENOMEM, EAGAIN:
 * the model could not make ready for deadlines.
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
		*deadline |= REAL_TIME; /* of NEVER this is NEVER */
	return __ops->prepare_timed();
}
