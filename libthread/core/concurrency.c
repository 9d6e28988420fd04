/* concurrency.c - the hint of how many LWPs should run unbound threads. */
#include <errno.h>
#include <pthread.h>
#include "ilock.h"
#include "model.h"

static int asked; /* atomic; 0: not yet */

/*
 * 0 leaves the number to the library.  A model without a pool accepts the hint and does nothing.
 * EINVAL: negative; EAGAIN: no memory for so many LWPs.
 */
int pthread_setconcurrency(int level)
{
	int error = 0;

	if (level < 0)
		return EINVAL;
	if (level > 0)
		error = __ops->set_concurrency(level);
	if (error == 0)
		__atomic_store_n(&asked, level, __ATOMIC_RELAXED);
	return error;
}

/* The last hint, or 0. */
int pthread_getconcurrency(void)
{
	return __atomic_load_n(&asked, __ATOMIC_RELAXED);
}
