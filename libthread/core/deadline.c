/*
 * deadline.c - from the absolute times of the interfaces to the one kind of deadline that
 * the library uses.
 */
#include <errno.h>
#include <time.h>
#include "impl.h"
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
	if (clock == CLOCK_REALTIME)
		ns -= __timepage->boot_realtime;
	if (ns < 0)
		ns = 0;
	*deadline = ns > INT64_MAX ? NEVER : (deadline_t)ns;
	return __ops->prepare_timed();
}
