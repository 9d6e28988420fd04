/*
 * sleepq.c - user-level sleep queues (sleepq.h).
 *
 * (Say here how your queue finds the waiters of an object, and which lock guards it.)
 *
 * The first part of the file is given, the second is yours.
 */
#include "sleepq.h"

/* --- given ---------------------------------------------------------------------------------------- */

struct sleepq __sleepq_point[1 << SLEEPQ_BITS], __sleepq_other[1 << SLEEPQ_BITS];
struct ilock *__one_lock;
const char __ends_in_sleep;

#define TAIL_EVERY 16 /* near-LIFO: every so many, one thread goes to the tail */

static void sleepq_forget(struct sleepq *q)
{
	/* Most queues are unchanged, and a store would copy their page. */
	for (unsigned i = 0; i < 1u << SLEEPQ_BITS; i++, q++)
		if (q->first != NULL || q->lock.held || q->spinners || q->taken != NULL)
			*q = (struct sleepq){.enqueued = q->enqueued};
}

void __sleepq_forked(void)
{
	sleepq_forget(__sleepq_point);
	sleepq_forget(__sleepq_other);
}

/* --- yours: the caller of each function holds the lock of q, except in __sleepq_give_up ------------ */

/*
 * Puts t into q, which is not empty, to wait for obj.  t stands in no queue.  As it stands, it forgets
 * all threads that wait already.
 */
void __sleepq_enter_among(struct sleepq *q, const void *obj, struct thread *t, enum order order)
{
	sleepq_enter_empty(q, obj, t);
}

/* The thread that would be taken out next, or NULL. */
struct thread *__sleepq_first(struct sleepq *q, const void *obj)
{
	return q->first;
}

/*
 * Takes out the first of the threads that wait for obj, or returns NULL.  *more: are others left?
 * The thread's wchan stays set until it is woken.
 */
struct thread *__sleepq_take_from(struct sleepq *q, const void *obj, bool *more)
{
	*more = false;
	return NULL;
}

/* Takes out all threads that wait for obj, as a list linked by q_next, in order. */
struct thread *__sleepq_take_all(struct sleepq *q, const void *obj)
{
	return NULL;
}

/* Takes t out, at whatever place it stands. */
void __sleepq_remove(struct sleepq *q, struct thread *t)
{
}

/*
 * The calling thread stops waiting: it leaves the queue self->q, and its wchan becomes NULL.  Acquires
 * the lock of its queue (__ops->lock, __ops->unlock).  Returns the object that it has waited for, or
 * NULL if it has been woken already.
 */
const void *__sleepq_give_up(struct thread *self)
{
	return NULL;
}
