/*
 * idle.c - an LWP of the pool that has no thread to run.
 *
 * (Say here which race which line closes: a thread is woken as an LWP goes idle.)
 */
#include "mxn.h"

struct thread *__pool_idle; /* linked by run_next; _schedlock */

/*
 * Yours.  The caller holds _schedlock.  Takes an LWP out of the list of idle LWPs, or returns NULL.
 */
struct thread *__pool_take_idle(void)
{
	return NULL;
}

/*
 * Yours.  The loop of an LWP that runs no thread; self is its context.  As it stands, the LWP runs
 * no thread ever again.
 */
void __pool_scheduler(struct thread *self)
{
	if (!__pool_ready) /* given: without an ASLWP its signals stay unseen */
		__services_start();
	for (;;)
		__lwp_park(NEVER, 0);
}
