/*
 * park.c - lwp_park, by a shorter switch: 1,025 instructions for a round trip of two LWPs that hand
 * over to each other, in place of 1,255 by sched_switch.
 *
 * An LWP that parks has nothing on its kernel stack that is worth keeping.  So it goes on at the
 * end of the call, already in the microstate of its user mode (swtch_in_park).  Only the wake-up
 * can end its sleep, so there is no permit to take and no lock to acquire again.  A park that may
 * end otherwise, by a deadline, a signal or a cancellation, takes the plain way: lwp_park_slowly
 * (sleep.c).
 */
#include "switch.h"
#include <kern/trace.h>
#include <kern/upcall.h>

/* Does not return: `from` goes on at the end of its system call, at park_resumed (cpu/entry.S). */
void swtch_in_park(struct lwp *from, struct lwp *to, struct spinlock *lock) NORETURN;

/* Can the current LWP sleep at once, because nothing else is to be done first?  l->lock held. */
static inline bool park_is_plain(const struct lwp *l)
{
	/* One test of three words. */
	return (l->permit | l->cancel | l->ast) == 0 && l->leaving == 0 && !lwp_traced(l);
}

/*
 * Blocks the calling LWP, which is in the system call lwp_park, until an unpark has come, and
 * consumes that unpark.  0; -ETIMEDOUT: time_now() has reached deadline first; -EINTR: the LWP is
 * to exit or has a signal.  Blocks.
 */
int lwp_park(hrtime_t deadline)
{
	struct lwp *l = curlwp();

	irq_off();
	spin_acquire(&l->lock);
	if (__builtin_expect(deadline != HRTIME_NEVER || !park_is_plain(l), 0))
		return lwp_park_slowly(l, deadline);
	l->state = LWP_ST_SLEEP;
	l->sleep_flags = SLEEP_OF_PARK;
	l->wchan = "park";
	if (__builtin_expect(l->watched && upcall_blocked_by(l, SLEEP_OF_PARK, false), 0))
		upcall_blocks(l);
	l->nvcsw++;
	struct lwp *next = pick_next(l, MS_LOCK);
	l->mresume = MS_USER; /* l->lock is held: no CPU has switched to l yet */
	switch_in_user(next);
	swtch_in_park(l, next, &l->lock);
}

/* The result of lwp_park. */
int64_t sched_park_resumed(struct lwp *prev, struct spinlock *lock)
{
	switch_finish(prev, lock);
	struct lwp *l = curlwp();
	int reason = l->wake_reason;
	l->wchan = NULL;
	l->syscall = ~0u;
	PROBE(park_end, "lwp reason", l, reason, 0);
	return __builtin_expect(reason == WAKE_EVENT, 1) ? 0 : lwp_park_result(l, reason);
}
