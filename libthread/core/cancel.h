/*
 * cancel.h - waits for locks and barriers, of a thread that may be cancelled at any time.
 *
 * They are no cancellation points, so their queues are those of the second table (sleepq.h).  A thread
 * that allows asynchronous cancellation leaves such a queue all the same: POSIX says nothing of it, other
 * systems cancel there, and a thread that slept on might sleep for ever.  wait_async is set from before the
 * thread enters the queue until what the wait came to is known; meanwhile SIGLWP does nothing.
 *
 * *Race:* the waiter is woken for a free mutex, and is cancelled before it takes it; *without this:* its
 * wake-up is lost, and the other waiters sleep on though the mutex is free; *closed by:* the waiter is not
 * cancelled then.  It takes the mutex, sees in wait_async_end that a cancellation is due, and gives it up.
 *
 * All of this is behind sleep_special (model.h), so threads that never allow it pay nothing.
 */
#pragma once
#include "tcb.h"
#include "model.h"

static inline void wait_async_begin(struct thread *self)
{
	self->wait_async = self->cancel_async;
	__asm__ volatile("" : : : "memory");
}

/*
 * The wait is over.  True: the caller gives up what it has got, and calls __cancelled.  It looks once more
 * after the flag is clear, since a SIGLWP that came before did nothing.
 */
static inline bool wait_async_end(struct thread *self)
{
	while (self->wait_async && !cancel_due()) {
		self->wait_async = false;
		__asm__ volatile("" : : : "memory");
		self->wait_async = cancel_due();
	}
	return self->wait_async;
}
