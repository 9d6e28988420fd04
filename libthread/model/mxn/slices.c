/*
 * slices.c - time slices of threads in model sa.
 *
 * No LWP of the pool leaves its thread by itself, although other threads may wait in the run queue: for
 * example a thread that has unblocked while all CPUs were in use (activation.c).  So at the end of each
 * slice an LWP of the library asks every LWP of the pool that runs a thread to look at the run queue
 * (lwp_preempt).  The thread becomes the tail of its list if a thread of its priority waits
 * (activation_upcall).  Threads of SCHED_FIFO have no slices, those of SCHED_RR have their own
 * (realtime.c).
 *
 * A slice is as long as SCHED_RR's.  It ends at the next tick if a thread has unblocked and waits: such
 * a thread mostly needs a CPU for a short time.
 *
 * The bound: the run queue is first in, first out within a priority, and each CPU takes a thread from it
 * at the end of each slice at the latest.  So a thread waits at most (threads of its priority in the
 * queue / CPUs) slices, rounded up, while no thread of a higher priority can run.
 *
 * Slices end only while no LWP of the pool is idle: if one is idle, the run queue is empty.
 *
 * All static variables are under _schedlock.
 */
#include "mxn.h"

#define SLICE_NS RR_SLICE_NS

static deadline_t slice_end = NEVER; /* NEVER: no slices are needed now */

static void slice_ends_at(deadline_t at)
{
	if (slice_end <= at)
		return;
	slice_end = at;
	__grower_poke();
}

void __slices_arm(void)
{
	if (slice_end == NEVER)
		slice_ends_at(gethrtime() + SLICE_NS);
}

void __slices_soon(void)
{
	slice_ends_at(gethrtime() + WEFT_TICK_NS);
}

void __slices_forked(void)
{
	slice_end = NEVER;
}

/*
 * Asks the LWPs that compute.  False: no slice needs to end until __slices_arm.  An LWP that runs
 * without a CPU of the process (surplus) has a thread that could not leave it.
 */
static bool slices_over(void)
{
	bool waits = __runq_top() >= 0, again = __pool_idle == NULL;

	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next) {
		const struct schedctl *sc = c->own_lwp.sc;

		if (sc->idle || sc->state == SC_SLEEPING || sc->state == SC_STOPPED)
			continue;
		if (waits || sc->surplus)
			__sys_lwp_preempt(c->own_lwp.id);
		again |= sc->surplus != 0;
	}
	return again;
}

/* A poke before the end of the slice makes the LWP read slice_end again. */
void __slices_main(struct thread *self)
{
	for (;;) {
		deadline_t now = gethrtime(), end;
		bool over;

		schedlock();
		over = now >= slice_end;
		if (over)
			slice_end = slices_over() ? now + SLICE_NS : NEVER;
		end = slice_end;
		schedunlock();
		if (over)
			__activation_tick();
		__lwp_park(end, 0);
	}
}
