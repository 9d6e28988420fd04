/*
 * barrier.c - barriers.
 *
 * __word counts the threads that have arrived.  It changes only under the lock of the barrier's
 * queue.  The last thread to arrive resets the barrier and then wakes the others.  The woken
 * threads do not touch the barrier again, so any thread may use it again, or destroy it, at once.
 *
 * A barrier that processes share is implemented in the kernel (weft/ksync.h), with the same
 * guarantee.
 */
#include <errno.h>
#include <pthread.h>
#include <weft/ksync.h>
#include "../core/cancel.h"
#include "../core/core.h"
#include "../core/model.h"
#include "../core/sleepq.h"

/* EINVAL: count is 0. */
int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count)
{
	if (count == 0)
		return EINVAL;
	*b = (pthread_barrier_t){.__count = count};
	if (attr != NULL && attr->__pshared == PTHREAD_PROCESS_SHARED)
		b->__flags = LWP_BARRIER_SHARED;
	return 0;
}

/* EBUSY: threads wait at it. */
int pthread_barrier_destroy(pthread_barrier_t *b)
{
	struct sleepq *q = sleepq_of(b);
	bool busy;

	__ops->lock(q);
	busy = (unsigned)b->__word != 0;
	if (!busy)
		b->__count = 0;
	__ops->unlock(q);
	return busy ? EBUSY : 0;
}

_Static_assert(sizeof(pthread_barrier_t) == sizeof(struct lwp_barrier), "the same, for the kernel");

/*
 * A signal ends the caller's sleep; the caller stays in the barrier and must wait for the end of
 * the cycle.  Once the cycle has ended, the memory may be unmapped.  So the second call names the
 * cycle and does not read the barrier here.
 */
static int shared_wait(pthread_barrier_t *b)
{
	struct lwp_barrier *barrier = (struct lwp_barrier *)b;
	uint32_t cycle;
	long r;

	do {
		cycle = __atomic_load_n(&barrier->word, __ATOMIC_RELAXED) >> 32;
		r = __sys_lwp_barrier_wait(barrier, cycle, 0);
	} while (r == -EAGAIN);
	if (r == -EINTR) {
		do {
			r = __sys_lwp_barrier_wait(barrier, cycle, LWP_BARRIER_ARRIVED);
		} while (r == -EINTR);
		return 0;
	}
	return r == 1 ? PTHREAD_BARRIER_SERIAL_THREAD : -r;
}

/* The caller arrives, and waits for the others in a queue of the library. */
static inline int barrier_wait_here(pthread_barrier_t *b)
{
	struct sleepq *q = sleepq_of(b);
	struct thread *list;

	__ops->lock(q);
	if (b->__count == 0) {
		__ops->unlock(q);
		return EINVAL;
	}
	if (++b->__word < b->__count) {
		sleepq_enter(q, b, thread_self(), ORDER_FIFO);
		PROBE(lock_wait, "lock kind", b, PROBE_BARRIER, 0);
		__ops->block(q, NEVER, NULL);
		return 0;
	}
	b->__word = 0;
	list = __sleepq_take_all(q, b);
	if (list != NULL)
		__ops->wake(q, list);
	else
		__ops->unlock(q);
	return PTHREAD_BARRIER_SERIAL_THREAD;
}

/*
 * The part of pthread_barrier_wait for a barrier in the kernel, and for a wait that may be
 * cancelled (cancel.h).  A thread that is cancelled in the wait has arrived, so the others do not
 * wait for it.
 */
static int __attribute__((noinline)) barrier_wait_special(pthread_barrier_t *b)
{
	struct thread *self = thread_self();
	int r;

	if (b->__flags & LWP_BARRIER_SHARED || __options.kernel_sleep)
		return shared_wait(b);
	wait_async_begin(self);
	r = barrier_wait_here(b);
	if (wait_async_end(self))
		__cancelled();
	return r;
}

/*
 * Waits for `count` threads.  Returns PTHREAD_BARRIER_SERIAL_THREAD in the last thread that
 * arrives, and 0 in the others.  EINVAL: not initialised.  Blocks.
 */
int pthread_barrier_wait(pthread_barrier_t *b)
{
	if (b->__flags & LWP_BARRIER_SHARED || __options.sleep_special)
		return barrier_wait_special(b);
	return barrier_wait_here(b);
}
