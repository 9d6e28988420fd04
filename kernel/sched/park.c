/*
 * park.c - park and unpark: an LWP blocks until another LWP gives it its permit (l->permit).
 *
 * *Race:* the parking LWP finds no permit and is about to sleep, the waker unparks it; *without
 * this:* the wake-up is lost, and the LWP sleeps for ever; *closed by:* both decide under l->lock,
 * which the parking LWP holds until its registers are saved.  A waker that gets the lock first
 * leaves the permit.  A waker that gets the lock later finds the LWP asleep, and wakes it.
 *
 * Most parks take a shorter switch: 1,025 instructions for a round trip of two LWPs that hand
 * over to each other, in place of 1,255 by sched_switch.  An LWP that parks has nothing on its
 * kernel stack that is worth keeping.  So it goes on at the end of the call, already in the
 * microstate of its user mode (swtch_in_park).  A park that finds a permit, or may end by a
 * deadline, or has a signal or a cancellation to look at, takes the plain way (lwp_park_slowly).
 *
 * Lock order: l->lock, then the dispatch queue's or the timer queue's.
 */
#include "switch.h"
#include "wake.h"
#include <kern/trace.h>
#include <kern/upcall.h>
#include <weft/errno.h>

#define SLEEP_OF_PARK (SLEEP_INTR | SLEEP_PARK | SLEEP_LOCK)

/* Does not return: `from` goes on at the end of its system call, at park_resumed (cpu/entry.S). */
void swtch_in_park(struct lwp *from, struct lwp *to, struct spinlock *lock) NORETURN;

/*
 * The result of a park of l, the current LWP.  `reason` has ended the park.  A permit that arrives
 * together with a time-out or a signal wins, so that no unpark is lost.  Interrupts off; takes
 * l->lock.  Not in line: the shorter switch seldom needs it.
 */
static __attribute__((noinline)) int lwp_park_result(struct lwp *l, int reason)
{
	if (reason == WAKE_EVENT)
		return 0;
	spin_acquire(&l->lock);
	bool permit = l->permit;
	l->permit = 0;
	spin_release(&l->lock);
	return permit ? 0 : reason == WAKE_TIMEOUT ? -ETIMEDOUT : -EINTR;
}

/* lwp_park by the plain way, through lwp_sleep_locked.  Interrupts off; l->lock held, and released
 * here. */
static __attribute__((noinline)) int lwp_park_slowly(struct lwp *l, hrtime_t deadline)
{
	int reason = WAKE_TIMEOUT;

	if (l->permit || (deadline != HRTIME_NEVER && time_now() >= deadline))
		spin_release(&l->lock);
	else
		reason = lwp_sleep_locked(l, NULL, "park", SLEEP_OF_PARK, deadline);
	int result = lwp_park_result(l, reason);
	irq_on();
	return result;
}

/* Can the current LWP sleep at once, because nothing else is to be done first?  l->lock held. */
static inline bool park_is_plain(const struct lwp *l)
{
	/* One test of three words. */
	return (l->permit | l->cancel | l->ast) == 0 && l->leaving == 0 && !lwp_traced(l);
}

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

void lwp_unpark_locked(struct lwp *l, int place)
{
	if (!sleeper_wake(l, WAKE_EVENT, SLEEP_PARK, place))
		l->permit = 1;
}
