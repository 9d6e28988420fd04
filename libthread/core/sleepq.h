/*
 * sleepq.h - user-level sleep queues: where threads wait for synchronisation objects.
 *
 * There are two tables of queues, each hashed by the object's address.  The first table is for
 * objects for which threads wait at a cancellation point, the second for all other objects.  So an
 * object needs no room for a queue.  The object may cease to exist while the waker wakes the next
 * waiter; the waker then touches only memory that stays.  A thread stands in one queue at most.
 *
 * A lock guards each queue (model.h: a model may use one lock for all).  The lock of a queue of the
 * first table comes before that of a queue of the second.
 *
 * A queue is a chain of objects.  The first of the threads that wait for an object stands in the
 * chain; the other waiters hang behind this first one.
 *
 *	sleepq.first -> A1 --q_chain-> B1 -> NULL		A, B: objects
 *	                |q_next        |
 *	                A2             NULL
 *	                |
 *	                A3  (A1->q_tail, if there is more than A1)
 *
 * The threads that wait for an object stand in the order of their priorities.  Within a priority
 * the order is near-LIFO: a thread enters at the head, and every sixteenth time at the tail, so
 * that no thread starves.  The order is FIFO with queue=fifo, if the object's kind needs it, and
 * among threads of SCHED_FIFO and SCHED_RR (POSIX: the thread that has waited longest is the next).
 */
#pragma once
#include "core.h"
#include "model.h"

struct sleepq {
	struct ilock lock;
	uint32_t enqueued;          /* counts, for every sixteenth entry */
	struct thread *first;       /* chain of objects */
	uint32_t spinners;          /* atomic: threads that spin for a mutex of this queue */
	const void *volatile taken; /* see sync/mutex.c, adaptive unlock */
} __attribute__((aligned(32)));

#define SLEEPQ_BITS 12
extern struct sleepq __sleepq_point[1 << SLEEPQ_BITS], __sleepq_other[1 << SLEEPQ_BITS];

/* By the highest bits of a product.  The result is already the offset, which saves two shifts. */
static inline struct sleepq *sleepq_at(struct sleepq *table, const void *obj)
{
	const unsigned shift = 32 - SLEEPQ_BITS - __builtin_ctz(sizeof(struct sleepq));
	uint32_t hash = (uint32_t)(uintptr_t)obj * 0x9e3779b1u;

	return (struct sleepq *)((char *)table + (hash >> shift & -sizeof(struct sleepq)));
}
static inline struct sleepq *sleepq_of_point(const void *obj)
{
	return sleepq_at(__sleepq_point, obj);
}
static inline bool sleepq_is_point(const struct sleepq *q)
{
	return (uintptr_t)q - (uintptr_t)__sleepq_point < sizeof(__sleepq_point);
}
/*
 * The wchan of a thread that stands in no queue any more, and is not yet woken: its waker is about to do this, without
 * the lock of the queue (model/mxn/queue.c).
 */
extern const char __sleepq_taken;

/* Does t's wait end when a cancellation is due? */
static inline bool sleepq_ends_cancelled(const struct thread *t)
{
	return (sleepq_is_point(t->q) || t->wait_async) && t->wchan != &__sleepq_taken;
}
static inline struct sleepq *sleepq_of(const void *obj)
{
	return sleepq_at(__sleepq_other, obj);
}

extern const char __ends_in_sleep; /* see model.h, sleep */

/* wait_arg of a thread that waits for a reader-writer lock. */
#define WAIT_READ ((const void *)1)
#define WAIT_WRITE ((const void *)2)

/*
 * The state of a pthread_once_t whose function runs.  Such a value stands in no other object that
 * threads wait for, so a tool can tell the object's kind (threaddb.h).
 */
#define ONCE_RUNNING 0x65636e6f

/* The lock of all queues, if the model has only one lock.  Set before main. */
extern struct ilock *__one_lock;

static inline struct ilock *sleepq_guard(struct sleepq *q)
{
	struct ilock *one = __one_lock;

	return one != NULL ? one : &q->lock;
}

/* What lock(q) of the model does, for fast paths. */
static inline void sleepq_lock(struct sleepq *q)
{
	ilock_lock(sleepq_guard(q));
}

/*
 * Acquires or releases the lock of a second queue.  In the order of locks q2 comes after the queue
 * whose lock the caller holds already.
 */
static inline void sleepq_also_lock(struct sleepq *q2)
{
	if (__one_lock == NULL)
		ilock_lock(&q2->lock);
}
static inline void sleepq_also_unlock(struct sleepq *q2)
{
	if (__one_lock == NULL)
		ilock_unlock(&q2->lock);
}

/* All of these functions: the caller holds the lock of q. */

enum order { ORDER_OPTION, ORDER_FIFO };

/* The general cases of the functions below. */
void __sleepq_enter_among(struct sleepq *q, const void *obj, struct thread *t, enum order order);
struct thread *__sleepq_take_from(struct sleepq *q, const void *obj, bool *more);

/* Puts t into q to wait for obj.  t stands in no queue, and q is empty. */
static inline void sleepq_enter_empty(struct sleepq *q, const void *obj, struct thread *t)
{
	t->q = q; /* before wchan, see __wait_queue in model/mxn/queue.c */
	t->wchan = obj;
	t->q_next = t->q_chain = NULL;
	q->first = t;
}

/* The same for any q. */
static inline void sleepq_enter(struct sleepq *q, const void *obj, struct thread *t,
				enum order order)
{
	if (likely(q->first == NULL))
		sleepq_enter_empty(q, obj, t);
	else
		__sleepq_enter_among(q, obj, t, order);
}

/* The thread in q, if there is exactly one and it waits for obj, or NULL. */
static inline struct thread *sleepq_only(struct sleepq *q, const void *obj)
{
	struct thread *t = q->first;

	return likely(t != NULL && t->wchan == obj && t->q_next == NULL) ? t : NULL;
}

/*
 * Takes out the first of the threads that wait for obj, or returns NULL.  *more says whether other
 * waiters are left.  The thread's wchan stays set until it is woken.
 */
static inline struct thread *sleepq_take(struct sleepq *q, const void *obj, bool *more)
{
	struct thread *t = q->first;

	if (unlikely(t == NULL || t->wchan != obj || t->q_next != NULL))
		return __sleepq_take_from(q, obj, more);
	q->first = t->q_chain;
	*more = false;
	return t;
}

/* The thread that would be taken out next, or NULL. */
struct thread *__sleepq_first(struct sleepq *q, const void *obj);
/* Takes out all threads that wait for obj, as a list linked by q_next, in order. */
struct thread *__sleepq_take_all(struct sleepq *q, const void *obj);
/* The length of such a list. */
static inline unsigned sleepq_length(const struct thread *list)
{
	unsigned n = 0;

	for (; list != NULL; list = list->q_next)
		n++;
	return n;
}
/* Takes t out, at whatever place it stands. */
void __sleepq_remove(struct sleepq *q, struct thread *t);

/* In a child of fork: no lock of a queue is held, and no thread sleeps, except the caller if it is in a handler. */
void __sleepq_forked(void);

/*
 * The calling thread stops waiting.  Acquires the lock of its queue.  Returns the object that it
 * has waited for, or NULL if it has been woken already.
 */
const void *__sleepq_give_up(struct thread *self);
