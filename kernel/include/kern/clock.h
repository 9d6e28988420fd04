/*
 * clock.h - times of user space as the kernel counts them, and CLOCK_REALTIME (sched/clock.c).
 *
 * The kernel counts nanoseconds of CLOCK_MONOTONIC, and HRTIME_NEVER is the end of time.
 */
#pragma once
#include <weft/errno.h>
#include <weft/time.h>
#include "lwp.h"
#include "timing.h"
#include "types.h"
#include "usercopy.h"

/* Converts a time to nanoseconds.  A negative time is 0, a time that is too large HRTIME_NEVER.
 * False: it is not a valid time. */
static inline bool timespec_ns(const struct weft_timespec *ts, hrtime_t *ns)
{
	if (ts->nsec < 0 || ts->nsec >= 1000000000)
		return false;
	if (ts->sec < 0)
		*ns = 0;
	else if ((uint64_t)ts->sec < HRTIME_NEVER / 1000000000 - 1)
		*ns = ts->sec * 1000000000ull + ts->nsec;
	else
		*ns = HRTIME_NEVER;
	return true;
}

/*
 * Reads a struct weft_timespec of user memory in nanoseconds; NULL: HRTIME_NEVER.  May sleep (a
 * page fault).  -EFAULT: it cannot be read; -EINVAL: it is not a valid time.
 */
int copyin_deadline(vaddr_t user, hrtime_t *when);
/* The same inline, for lwp_park, because each wait of a thread pays for it. */
static inline int copyin_deadline_inline(vaddr_t user, hrtime_t *when)
{
	struct weft_timespec ts;

	*when = HRTIME_NEVER;
	if (user == 0)
		return 0;
	if (copyin(&ts, user, sizeof(ts)) != 0)
		return -EFAULT;
	return timespec_ns(&ts, when) ? 0 : -EINVAL;
}

/* The time `length` nanoseconds from now, at most HRTIME_NEVER. */
static inline hrtime_t time_after(hrtime_t length)
{
	hrtime_t now = time_now();
	return length < HRTIME_NEVER - now ? now + length : HRTIME_NEVER;
}

/*
 * For a system call with a length of time as an argument.  call_is_again comes first in the call: does the LWP make it once
 * more, because a signal has ended it for nothing (sig_deliver)?  call_deadline is time_after, except that such a call
 * ends when it was to end at first.
 */
bool call_is_again(void);
hrtime_t call_deadline(hrtime_t length, bool again);

/* --- CLOCK_REALTIME ----------------------------------------------------------------------- */

/* CLOCK_REALTIME - CLOCK_MONOTONIC, in nanoseconds; clock_set changes it. */
hrtime_t clock_offset(void);
/* The point of CLOCK_MONOTONIC at which CLOCK_REALTIME shows `real`, with this clock_offset. */
hrtime_t clock_monotonic(hrtime_t real, hrtime_t offset);
/* Sleeps until CLOCK_REALTIME shows `real`, even if it is set meanwhile: 0, or -EINTR. */
int clock_sleep_until(hrtime_t real);
/*
 * Sets CLOCK_REALTIME to `real`.  LWPs that sleep until a point of it look again, and its interval
 * timers move.  May sleep.  False: with `real` the machine would have started before 1970, or
 * `real` is beyond 2^63 nanoseconds.
 */
bool clock_set(hrtime_t real);
