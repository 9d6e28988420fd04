/*
 * wake.h - the wake-up of an LWP that sleeps, in line: lwp_wake_locked (sleep.c) is this function,
 * and each unpark (park.c) has it without a call.
 */
#pragma once
#include <kern/probe.h>
#include <kern/sched.h>

/*
 * Wakes l if it sleeps with one of these flags (0: with any).  True: this call woke it.  `reason`
 * (WAKE_*) is what its sleep returns; `place` (PLACE_*) says where it may run.  l->lock held.
 */
static inline __attribute__((always_inline)) bool sleeper_wake(struct lwp *l, int reason,
							       uint32_t flags, int place)
{
	if (l->state != LWP_ST_SLEEP || (flags && !(l->sleep_flags & flags)))
		return l->sleep_flags == SLEEP_STAYS && (flags & SLEEP_OF_IDLE) && stay_wake(l);
	debug_assert(l->sleep_flags != SLEEP_STAYS);
	l->wake_reason = reason;
	PROBE(wake, "lwp reason", l, reason, 0);
	l->sclass->wakeup(l);
	lwp_runnable(l, place);
	return true;
}
