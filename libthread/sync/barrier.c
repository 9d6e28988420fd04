/*
 * barrier.c - barriers.  All under the lock of the barrier's queue; the last to arrive
 * resets the barrier and then wakes the others, who touch it no more.  So any of them may
 * use it again, or destroy it, at once.
 */
#include <errno.h>
#include <pthread.h>
#include "../core/impl.h"
#include "../core/model.h"
#include "../core/sleepq.h"

/* EINVAL: count is 0. */
int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count)
{
	if (count == 0)
		return EINVAL;
	*b = (pthread_barrier_t){.__count = count};
	return 0;
}

/* EBUSY: threads wait at it. */
int pthread_barrier_destroy(pthread_barrier_t *b)
{
	struct sleepq *q = sleepq_of(b);
	bool busy;

	__ops->lock(q);
	busy = b->__arrived != 0;
	if (!busy)
		b->__count = 0;
	__ops->unlock(q);
	return busy ? EBUSY : 0;
}

/*
 * Waits for `count` threads.  Returns PTHREAD_BARRIER_SERIAL_THREAD in one of them (the
 * last) and 0 in the others.  EINVAL: not initialised.  Blocks.
 */
int pthread_barrier_wait(pthread_barrier_t *b)
{
	struct sleepq *q = sleepq_of(b);
	struct thread *list;

	__ops->lock(q);
	if (b->__count == 0) {
		__ops->unlock(q);
		return EINVAL;
	}
	if (++b->__arrived < b->__count) {
		sleepq_enter(q, b, thread_self(), ORDER_FIFO);
		__ops->block(q, NEVER, NULL);
		return 0;
	}
	b->__arrived = 0;
	list = __sleepq_take_all(q, b);
	if (list != NULL)
		__ops->wake(q, list);
	else
		__ops->unlock(q);
	return PTHREAD_BARRIER_SERIAL_THREAD;
}
