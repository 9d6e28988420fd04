/*
 * grow.c - growth of the pool without a request, and its end.
 *
 * (Say here what your policy is: when the pool grows, by how many LWPs, and why no thread waits for
 * an LWP for ever.)
 */
#include <errno.h>
#include <weft/lwp.h>
#include <weft/signal.h>
#include "mxn.h"

/*
 * Yours.  The growing LWP: waits until LWPs are blocked, and adds LWPs for the threads in the run
 * queue.  As it stands, it adds none.
 */
void __grow_main(struct thread *self)
{
	for (;;)
		__lwp_park(NEVER, 0);
}

/* Yours.  The caller holds _schedlock, and its LWP goes idle: when has it aged? */
deadline_t __pool_aging(void)
{
	return NEVER;
}

/* Yours.  The caller holds _schedlock, and its LWP has aged: does it leave the pool? */
bool __pool_aged(void)
{
	return false;
}
