/*
 * once.c - pthread_once.  The state goes from 0 through RUNNING to DONE.  It goes back to 0 if the
 * thread that calls the function is cancelled in it.  Threads that come while the state is RUNNING
 * wait in the queue of the object, and then look again.
 */
#include <pthread.h>
#include "core.h"
#include "model.h"
#include "sleepq.h"

enum { RUNNING = ONCE_RUNNING, DONE = 2 };

static void once_finish(pthread_once_t *once, int state)
{
	struct sleepq *q = sleepq_of(once);
	struct thread *list;

	__ops->lock(q);
	__atomic_store_n(&once->__state, state, __ATOMIC_RELEASE);
	list = __sleepq_take_all(q, once);
	if (list != NULL)
		__ops->wake(q, list);
	else
		__ops->unlock(q);
}

static void once_undo(void *once)
{
	once_finish(once, 0);
}

static void wait_while_running(pthread_once_t *once)
{
	struct sleepq *q = sleepq_of(once);

	__ops->lock(q);
	if (once->__state == RUNNING) {
		sleepq_enter(q, once, thread_self(), ORDER_FIFO);
		PROBE(lock_wait, "lock kind", once, PROBE_ONCE, 0);
		__ops->block(q, NEVER, NULL);
	} else {
		__ops->unlock(q);
	}
}

/*
 * Calls init unless it has been called for this object.  When this function returns, init has
 * returned.  If the caller is cancelled in init, or exits, the object is as if the caller had never
 * come.  No cancellation point.
 */
int pthread_once(pthread_once_t *once, void (*init)(void))
{
	while (unlikely(__atomic_load_n(&once->__state, __ATOMIC_ACQUIRE) != DONE)) {
		int none = 0;

		if (!__atomic_compare_exchange_n(&once->__state, &none, RUNNING, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			wait_while_running(once);
			continue;
		}
		pthread_cleanup_push(once_undo, once);
		init();
		pthread_cleanup_pop(0);
		once_finish(once, DONE);
	}
	return 0;
}
