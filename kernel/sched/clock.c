/*
 * clock.c - setting CLOCK_REALTIME, and sleeping until a time of this clock (kern/clock.h).
 *
 * CLOCK_REALTIME is CLOCK_MONOTONIC plus an offset.  The offset is in the time page (weft/time.h).
 * Setting the clock changes the offset.  A wait for an absolute time of the clock then ends when
 * the new clock shows that time:
 *
 *	- an LWP in lwp_sleep is woken here, and computes its deadline again;
 *	- interval timers are moved (proc/itimer.c);
 *	- an LWP that has asked for it is unparked (lwp_park, LWP_PARK_CLOCK), because a threads
 *	  library keeps deadlines of its own.
 *
 * Lengths of time do not change.  Deadlines in other calls do not change either, because they are
 * times of CLOCK_MONOTONIC.
 *
 * Locks: clock_setting, which sleeps, lets one LWP set the clock at a time.
 *
 * *Race:* an LWP computes its deadline and goes to sleep, another LWP changes the offset; *without
 * this:* the sleeper waits for a time of the old clock; *closed by:* clock_lock, which both hold.
 */
#include <kern/clock.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/sync.h>
#include <kern/timing.h>
#include <weft/errno.h>
#include <weft/time.h>

#define WAKE_PIECE 64 /* sleepers that are woken at a time */

static struct kmutex clock_setting = KMUTEX_INIT(clock_setting, "clock_settime");
static struct spinlock clock_lock = SPINLOCK_INIT("clock");
static struct waitq clock_sleepers = {LIST_INIT(clock_sleepers.sleepers), "sleep"};
static unsigned nsleepers; /* clock_lock */

int copyin_deadline(vaddr_t user, hrtime_t *when)
{
	return copyin_deadline_inline(user, when);
}

hrtime_t clock_offset(void)
{
	return __atomic_load_n(&timepage->boot_realtime, __ATOMIC_RELAXED);
}

hrtime_t clock_monotonic(hrtime_t real, hrtime_t offset)
{
	if (real == HRTIME_NEVER)
		return HRTIME_NEVER;
	return real > offset ? real - offset : 0;
}

bool call_is_again(void)
{
	struct lwp *l = curlwp();
	bool again = l->sig.call_again;

	l->sig.call_again = false;
	return again;
}

hrtime_t call_deadline(hrtime_t length, bool again)
{
	struct lwp *l = curlwp();

	if (!again)
		l->sig.call_until = time_after(length);
	return l->sig.call_until;
}

int clock_sleep_until(hrtime_t real)
{
	int err = 0;

	irqstate_t s = spin_lock(&clock_lock);
	for (;;) {
		hrtime_t when = clock_monotonic(real, clock_offset());
		if (err == -EINTR || time_now() >= when)
			break;
		nsleepers++;
		err = waitq_sleep(&clock_sleepers, &clock_lock, when, SLEEP_INTR);
		nsleepers--;
	}
	spin_unlock(&clock_lock, s);
	return err == -EINTR ? err : 0;
}

/* Sets the offset, and wakes all sleepers, which compute their deadlines again. */
static void clock_set_offset(hrtime_t offset)
{
	irqstate_t s = spin_lock(&clock_lock);
	/* Sequentially consistent: the store comes before the watchers' flags are read
	 * (park_watching, syscall/lwp.c). */
	__atomic_store_n(&timepage->boot_realtime, offset, __ATOMIC_SEQ_CST);
	/* LWPs that go to sleep from now on queue up behind the sleepers that are to be woken. */
	for (unsigned left = nsleepers; left > 0; left--) {
		waitq_wake_one(&clock_sleepers);
		if (left % WAKE_PIECE == 0) {
			spin_unlock(&clock_lock, s);
			preempt_point();
			s = spin_lock(&clock_lock);
		}
	}
	spin_unlock(&clock_lock, s);
}

/* For proc_each: unparks the LWPs of p that park with LWP_PARK_CLOCK, so that they look at the
 * clock again (park_watching). */
static bool unpark_watchers(struct proc *p, void *arg)
{
	spin_acquire(&p->lock);
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		if (!__atomic_load_n(&l->clock_watch, __ATOMIC_SEQ_CST))
			continue;
		spin_acquire(&l->lock);
		lwp_unpark_locked(l, PLACE_ANY);
		spin_release(&l->lock);
	}
	spin_release(&p->lock);
	return false;
}

static void wake_watchers(void)
{
	irqstate_t s = spin_lock(&proc_tree_lock);
	proc_each(unpark_watchers, NULL);
	spin_unlock(&proc_tree_lock, s);
}

bool clock_set(hrtime_t real)
{
	kmutex_enter(&clock_setting);
	hrtime_t now = time_now();
	bool fits = real >= now && real < HRTIME_NEVER / 2;
	if (fits) {
		clock_set_offset(real - now);
		itimer_clock_set();
		wake_watchers();
	}
	kmutex_exit(&clock_setting);
	return fits;
}
