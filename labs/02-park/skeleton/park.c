/*
 * park.c - park and unpark: an LWP blocks until another LWP gives it its permit.
 *
 * (Say here what your park relies on: which lock guards the permit, what a waker finds that comes
 * a moment too early, and which race which line closes.)
 */
#include "switch.h"
#include <kern/proc.h>
#include <kern/timing.h>
#include <weft/errno.h>

/*
 * Yours.  The result of a park of l, the current LWP; `reason` (WAKE_*) has ended the park.
 */
static int park_result(struct lwp *l, int reason)
{
	return 0;
}

/*
 * Yours.  Blocks the calling LWP until an unpark has come, and consumes that unpark.  The handout
 * has the contract.  As it stands, it gives the CPU away once, and returns: weft boots with it.
 */
int lwp_park(hrtime_t deadline)
{
	irq_off();
	sched_put_back(false);
	irq_on();
	return park_result(curlwp(), WAKE_EVENT);
}

/*
 * Yours.  Wakes l if it is parked.  Otherwise the next park of l returns at once.  The caller holds
 * l->lock, with interrupts off.
 */
void lwp_unpark_locked(struct lwp *l, int place)
{
}

/*
 * Given, and only for the last part of the lab: where an LWP goes on that has left its CPU by
 * swtch_in_park.  cpu/entry.S calls it, and what it returns is the result of the system call.
 */
int64_t sched_park_resumed(struct lwp *prev, struct spinlock *lock)
{
	switch_finish(prev, lock);
	struct lwp *l = curlwp();
	l->wchan = NULL;
	l->syscall = ~0u;
	return park_result(l, l->wake_reason);
}
