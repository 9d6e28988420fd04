/*
 * once.c - pthread_once.  The state goes from 0 through RUNNING to DONE; threads that come
 * while it is RUNNING wait in the queue of the object.
 */
#include <pthread.h>
#include "impl.h"
#include "model.h"
#include "sleepq.h"

enum { RUNNING = 1, DONE = 2 };

static void finish(pthread_once_t *once)
{
	struct sleepq *q = sleepq_of(once);
	struct thread *list;

	__ops->lock(q);
	__atomic_store_n(&once->__state, DONE, __ATOMIC_RELEASE);
	list = __sleepq_take_all(q, once);
	if (list != NULL)
		__ops->wake(q, list);
	else
		__ops->unlock(q);
}

/* Calls init unless it has been called for this object; it has returned when this does. */
int pthread_once(pthread_once_t *once, void (*init)(void))
{
	struct sleepq *q;
	int none = 0;

	if (likely(__atomic_load_n(&once->__state, __ATOMIC_ACQUIRE) == DONE))
		return 0;
	if (__atomic_compare_exchange_n(&once->__state, &none, RUNNING, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
		init();
		finish(once);
		return 0;
	}
	q = sleepq_of(once);
	__ops->lock(q);
	if (once->__state == DONE) {
		__ops->unlock(q);
		return 0;
	}
	sleepq_enter(q, once, thread_self(), ORDER_FIFO);
	__ops->block(q, NEVER, NULL);
	return 0;
}
