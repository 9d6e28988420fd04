/*
 * syscall.h - the kernel's side of the system calls: one handler a call, under
 * the name of weft/syscall.h.  A handler gets the six argument registers as they
 * came, runs on the caller's LWP with interrupts on, may sleep, and returns a
 * result of 0 or more or the negative of an error number.
 */
#pragma once
#include <weft/errno.h>
#include <weft/syscall.h>
#include "types.h"

#define X(number, name, nargs) int64_t sys_##name(const uint64_t arg[6]);
SYSCALLS(X)
#undef X

/* A struct weft_timespec of user space as nanoseconds; NULL: HRTIME_NEVER.  A negative one
 * is 0.  -EFAULT, -EINVAL. */
int copyin_deadline(vaddr_t user, hrtime_t *when);
/* The same for one that has been copied in; false: it is no time. */
bool timespec_ns(const struct weft_timespec *ts, hrtime_t *ns);
/* The time that is `length` nanoseconds from now, HRTIME_NEVER at most. */
hrtime_t time_after(hrtime_t length);

/* --- CLOCK_REALTIME (syscall/clock.c) -------------------------------------------------- */

/* CLOCK_REALTIME - CLOCK_MONOTONIC, in nanoseconds; clock_settime changes it. */
hrtime_t clock_offset(void);
/* The point of CLOCK_MONOTONIC at which CLOCK_REALTIME shows `real`, if it differs by offset. */
hrtime_t clock_monotonic(hrtime_t real, hrtime_t offset);
/* Sleeps until CLOCK_REALTIME shows `real`, also if it is set meanwhile: 0, or -EINTR. */
int clock_sleep_until(hrtime_t real);
