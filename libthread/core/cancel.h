/*
 * cancel.h - waits for locks and barriers, of a thread that may be cancelled at any time.
 *
 * These waits are no cancellation points, so their queues are those of the second table (sleepq.h).
 * A thread that allows asynchronous cancellation leaves such a queue nevertheless.  POSIX does not
 * say so; other systems cancel there, and a thread that slept on might sleep for ever.  wait_async
 * is set before the thread enters the queue, and until the result of the wait is known.  Meanwhile
 * the handler of SIGLWP does nothing.
 *
 * *Race:* the waiter is woken for a free mutex, and is cancelled before it acquires the mutex;
 * *without this:* its wake-up is lost, and the other waiters sleep on although the mutex is free;
 * *closed by:* the waiter is not cancelled then.  It acquires the mutex, sees in wait_async_end
 * that a cancellation is due, and releases the mutex.
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
 * The wait is over.  True: the caller releases what it has acquired, and calls __cancelled.  The
 * caller looks once more after the flag is clear, because a SIGLWP that came before did nothing.
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
