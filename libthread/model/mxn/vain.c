/*
 * vain.c - waits that end in vain: a deadline has passed, or the thread is cancelled.
 */
#include "mxn.h"

/*
 * Another thread has ended this thread's wait in vain.  The thread goes on here before it returns
 * from its wait, and the wait returns what this function returns.
 */
static const void *wake_in_vain(void)
{
	struct thread *self = thread_self();
	const void *obj = self->gave_up;

	self->gave_up = NULL;
	if (ends_in_sleep(self))
		__cancelled();
	return obj;
}

void __mxn_call_first(struct thread *t, const void *(*function)(void))
{
	uint64_t *sp = (uint64_t *)t->rsp;

	for (int i = 0; i < SAVED_REGISTERS; i++)
		sp[i - 1] = sp[i];
	sp[SAVED_REGISTERS - 1] = (uint64_t)function;
	t->rsp = (uint64_t)(sp - 1);
}

/* If a waker has taken t out of its queue, t waits for this waker, which needs _schedlock. */
uint32_t __give_up(struct thread *t)
{
	const void *obj = wait_queue_leave(t);

	if (unlikely(obj == NULL)) {
		if (t->to_armed)
			__timeout_cancel(t);
		return 0;
	}
	__mxn_call_first(t, wake_in_vain);
	t->gave_up = obj;
	return __release(t); /* also takes t out of the time-outs */
}

/* The caller is to be cancelled in this wait.  If a waker takes it out of its queue at this moment, it is woken instead. */
const void *__block_in_vain(struct thread *self, struct thread *wake)
{
	const void *obj = wait_queue_leave(self);
	uint32_t unpark;

	if (unlikely(obj == NULL))
		return __block_special(self, NEVER, wake);
	unpark = wake != NULL ? __release(wake) : 0;
	self->wchan = NULL;
	self->lwp->owes = unpark;
	schedunlock();
	if (unpark != 0)
		__lwp_unpark_owed(self->lwp, unpark);
	return obj;
}
