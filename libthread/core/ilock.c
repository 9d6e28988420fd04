/*
 * ilock.c - the slow side of the library's own lock, and of preemption control.
 *
 * A waiter spins for as long as a holder that is on a CPU may need.  Then the waiter yields its
 * CPU, because the holder may be waiting for this CPU.  While it yields, it does not hold the CPU
 * by preemption control.  A yield lets in only LWPs of at least the caller's priority.  So the
 * waiter sleeps for a tick from time to time, because the holder may have a lower priority.  (With
 * schedctl=on a holder is hardly ever off its CPU.)
 */
#include "ilock.h"
#include "model.h"
#include "sleepq.h"

#define SPINS 200         /* some 1,000 instructions; holds are shorter */
#define YIELDS_A_SLEEP 50 /* some 5,000 instructions */

void __backoff(unsigned *turns)
{
	const struct weft_timespec tick = {.nsec = WEFT_TICK_NS};

	if (++*turns % YIELDS_A_SLEEP == 0)
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &tick);
	else
		__sys_lwp_yield();
}

bool __ilock_take(struct ilock *l)
{
	return l->held == 0 && ilock_try(l);
}

/*
 * Has the lock's word changed because others have acquired the lock?  A lock may have a number in its other bits that
 * each release changes (model/mxn/mxn.h).  While the number changes, the holders run, and the waiter goes on spinning.
 * If it slept a tick because many want the lock, its CPU would have no thread for 10 ms.  Only in model sa: in the
 * others there may be more LWPs than CPUs, and a waiter's CPU is of use to them.
 */
static inline bool others_acquire(uint32_t seen, uint32_t now)
{
	return __options.waiting == WAITING_ACTIVATION && ((now ^ seen) & ~ILOCK_HELD) != 0;
}

unsigned __ilock_wait(struct ilock *l, bool (*take)(struct ilock *l))
{
	uint32_t seen = l->held, now;
	unsigned turns = 0;

	for (;;) {
		for (int i = __ncpu > 1 ? SPINS : 1; i > 0; i--) {
			if (take(l))
				return turns;
			spin_hint();
		}
		now = l->held;
		critical_exit();
		if (!others_acquire(seen, now))
			__backoff(&turns);
		seen = now;
		critical_enter();
	}
}

/* ilock_lock has found l held, and is in the critical section of l. */
void __ilock_contended(struct ilock *l)
{
	if (l == __one_lock)
		__ops->one_lock_wait(l);
	else
		__ilock_wait(l, __ilock_take);
}

/*
 * The caller has left the outermost section, an inner section, or a timed section.  If the kernel
 * wanted the CPU and waited, the kernel gets the CPU now: lwp_yield clears `yield`.
 */
long __critical_left(void)
{
	struct section *c = this_section();

	if (c->nopreempt >= SECTION_TIMED) {
		__ops->timed_hold_over();
		c->nopreempt -= SECTION_TIMED;
	}
	if (c->nopreempt == 0 && c->yield)
		__sys_lwp_yield();
	return 0;
}
