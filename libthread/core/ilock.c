/*
 * ilock.c - the slow side of the library's own lock, and of preemption control.
 *
 * A waiter spins for as long as a holder that is on a CPU may need, then gives up its
 * CPU: the holder may be waiting for this very one.  It does not hold the CPU by
 * preemption control meanwhile.  A yield lets in only LWPs of at least its own priority;
 * so once in a while the waiter sleeps for a tick, for a holder that has less.  (With
 * schedctl=on a holder is hardly ever off its CPU.)
 */
#include "impl.h"
#include "model.h"

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

unsigned __ilock_wait(struct ilock *l)
{
	unsigned turns = 0;

	for (;;) {
		for (int i = __ncpu > 1 ? SPINS : 1; i > 0; i--) {
			if (l->held == 0 && __atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE) == 0)
				return turns;
			spin_hint();
		}
		critical_exit();
		__backoff(&turns);
		critical_enter();
	}
}

/* The kernel held off when it wanted the CPU: give it now.  lwp_yield clears `yield`. */
void __critical_pay(void)
{
	__sys_lwp_yield();
}
