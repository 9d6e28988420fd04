/*
 * sleepq.h - user-level sleep queues: where threads wait for synchronisation objects.
 *
 * There are two tables of queues, one for objects that threads wait for at a cancellation
 * point and one for all others, each hashed by the object's address.  So an object needs no room for a
 * queue, and whoever wakes the next waiter of an object that may cease to exist in
 * that very moment touches memory that stays.  A thread stands in one queue at most.
 *
 * A queue is guarded by its lock (model.h: a model may use one lock for all).  The lock
 * of a queue of the first table comes before that of one of the second.
 *
 * A queue is a chain of objects, each represented by the first of the threads that wait
 * for it; the others hang behind that one.
 *
 *	sleepq.first -> A1 --q_chain-> B1 -> NULL		A, B: objects
 *	                |q_next        |
 *	                A2             NULL
 *	                |
 *	                A3  (A1->q_tail, if there is more than A1)
 *
 * Order of the threads that wait for an object: by priority; within a priority
 * near-LIFO, that is at the head, but every sixteenth time at the tail lest someone
 * starve; or FIFO with queue=fifo, if the object's kind needs it, or among threads of SCHED_FIFO
 * and SCHED_RR (POSIX: the one that has waited longest is the next).
 */
#pragma once
#include "core.h"
#include "model.h"

struct sleepq {
	struct ilock lock;
	uint32_t enqueued;          /* counts, for every sixteenth */
	struct thread *first;       /* chain of objects */
	uint32_t spinners;          /* atomic: threads that spin for one of the mutexes here */
	const void *volatile taken; /* see sync/mutex.c, adaptive unlock */
} __attribute__((aligned(32)));

#define SLEEPQ_BITS 12
extern struct sleepq __sleepq_point[1 << SLEEPQ_BITS], __sleepq_other[1 << SLEEPQ_BITS];

/* By the highest bits of a product; the offset is made at once, which saves two shifts. */
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
/* Does t's wait end when a cancellation is due? */
static inline bool sleepq_ends_cancelled(const struct thread *t)
{
	return sleepq_is_point(t->q) || t->wait_async;
}
static inline struct sleepq *sleepq_of(const void *obj)
{
	return sleepq_at(__sleepq_other, obj);
}

extern const char __ends_in_sleep; /* see model.h, sleep */

/* The lock of all queues, if the model has but one; set before main. */
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
 * A second queue too, or one of the two no longer; q2 comes after the queue whose lock is
 * held in the order of locks.
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

/* All of these: with the lock of q held. */

enum order { ORDER_OPTION, ORDER_FIFO };

/* The general cases of the functions below. */
void __sleepq_enter_among(struct sleepq *q, const void *obj, struct thread *t, enum order order);
struct thread *__sleepq_take_from(struct sleepq *q, const void *obj, bool *more);

/* Puts t, which stands in no queue, into q, which is empty, to wait for obj. */
static inline void sleepq_enter_empty(struct sleepq *q, const void *obj, struct thread *t)
{
	t->wchan = obj;
	t->q = q;
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

/* Is there exactly one thread in q, and is it obj that it waits for?  Or NULL. */
static inline struct thread *sleepq_only(struct sleepq *q, const void *obj)
{
	struct thread *t = q->first;

	return likely(t != NULL && t->wchan == obj && t->q_next == NULL) ? t : NULL;
}

/*
 * Takes out the first of those that wait for obj, or gives NULL; *more tells whether
 * others are left.  Its wchan stays set until it is woken.
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

/* The thread that would come out next, or NULL. */
struct thread *__sleepq_first(struct sleepq *q, const void *obj);
/* Takes out all, as a list linked by q_next, in order. */
struct thread *__sleepq_take_all(struct sleepq *q, const void *obj);
/* Takes t out, wherever it stands. */
void __sleepq_remove(struct sleepq *q, struct thread *t);

/* In a child of fork: no thread is asleep, and no lock of a queue is held. */
void __sleepq_forked(void);

/*
 * The calling thread gives up waiting: takes the lock of its queue.  Returns the object
 * that it has waited for, or NULL if it has been woken already.
 */
const void *__sleepq_give_up(struct thread *self);
