/* concurrency.c - the hint how many LWPs run unbound threads. */
#include <errno.h>
#include <pthread.h>
#include "ilock.h"
#include "model.h"

static int asked; /* atomic; 0: not yet */

/*
 * 0 leaves it to the library.  A model without a pool takes the hint and does nothing.  EINVAL:
 * negative; EAGAIN: no memory for so many LWPs.
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

/* What was last asked for, or 0. */
int pthread_getconcurrency(void)
{
	return __atomic_load_n(&asked, __ATOMIC_RELAXED);
}
