/* sleepq.c - user-level sleep queues (sleepq.h). */
#include "sleepq.h"

struct sleepq __sleepq_point[1 << SLEEPQ_BITS], __sleepq_other[1 << SLEEPQ_BITS];
struct ilock *__one_lock;
const char __ends_in_sleep;

#define TAIL_EVERY 16 /* near-LIFO: every so many, one thread goes to the tail */

/* Where the chain points at the first waiter of obj; *result is NULL if there is none. */
static inline struct thread **sleepq_find(struct sleepq *q, const void *obj)
{
	struct thread **p = &q->first;

	while (*p != NULL && (*p)->wchan != obj)
		p = &(*p)->q_chain;
	return p;
}

/* t becomes the first waiter instead of *p. */
static void push_front(struct thread **p, struct thread *t)
{
	struct thread *old = *p;

	t->q_chain = old->q_chain;
	t->q_tail = old->q_tail;
	t->q_next = old;
	old->q_prev = t;
	*p = t;
}

/* The first waiter at p leaves.  The next waiter, or the next object, takes its place. */
static void pop_front(struct thread **p)
{
	struct thread *t = *p, *next = t->q_next;

	if (next == NULL) {
		*p = t->q_chain;
		return;
	}
	next->q_chain = t->q_chain;
	next->q_tail = t->q_tail;
	*p = next;
}

/* Puts t into q, at the place of the priority pri.  True: other threads wait for obj. */
static bool sleepq_place(struct sleepq *q, const void *obj, struct thread *t, enum order order,
			 int pri)
{
	struct thread **p = sleepq_find(q, obj), *first = *p, *after;
	bool fifo = order == ORDER_FIFO || __options.fifo || pri >= PRI_REALTIME ||
		    ++q->enqueued % TAIL_EVERY == 0;

	t->q = q;
	t->wchan = obj;
	if (first == NULL) {
		t->q_next = t->q_chain = NULL;
		*p = t;
		return false;
	}
	if (first->q_next == NULL)
		first->q_tail = first;
	if (fifo ? first->pri < pri : first->pri <= pri) {
		push_front(p, t);
		return true;
	}
	/*
	 * Behind `after`, the last thread that goes before t.  Search from the end that is more
	 * likely.
	 */
	if (fifo) {
		for (after = first->q_tail; after != first && after->pri < pri;)
			after = after->q_prev;
	} else {
		for (after = first; after->q_next != NULL && after->q_next->pri > pri;)
			after = after->q_next;
	}
	t->q_prev = after;
	t->q_next = after->q_next;
	after->q_next = t;
	if (t->q_next != NULL)
		t->q_next->q_prev = t;
	else
		first->q_tail = t;
	return true;
}

/*
 * *Race:* t enters q by its priority; another thread changes this priority, and finds t in no queue; *without this:* t stands at the
 * place of its old priority; *closed by:* this look after t is in q.  The other thread looks for the queue again after its store.
 */
void __sleepq_enter_among(struct sleepq *q, const void *obj, struct thread *t, enum order order)
{
	for (;;) {
		int pri = __atomic_load_n(&t->pri, __ATOMIC_RELAXED);

		if (!sleepq_place(q, obj, t, order, pri))
			return;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (likely(__atomic_load_n(&t->pri, __ATOMIC_RELAXED) == pri))
			return;
		__sleepq_remove(q, t);
	}
}

struct thread *__sleepq_first(struct sleepq *q, const void *obj)
{
	return *sleepq_find(q, obj);
}

struct thread *__sleepq_take_from(struct sleepq *q, const void *obj, bool *more)
{
	struct thread **p = sleepq_find(q, obj), *t = *p;

	*more = false;
	if (t != NULL) {
		*more = t->q_next != NULL;
		pop_front(p);
		t->q_next = NULL;
	}
	return t;
}

struct thread *__sleepq_take_all(struct sleepq *q, const void *obj)
{
	struct thread **p = sleepq_find(q, obj), *t = *p;

	if (t != NULL)
		*p = t->q_chain;
	return t;
}

void __sleepq_remove(struct sleepq *q, struct thread *t)
{
	struct thread **p = sleepq_find(q, t->wchan);

	ASSERT(*p != NULL);
	if (*p == t) {
		pop_front(p);
		return;
	}
	t->q_prev->q_next = t->q_next;
	if (t->q_next != NULL)
		t->q_next->q_prev = t->q_prev;
	else
		(*p)->q_tail = t->q_prev;
}

/*
 * *Race:* the caller reads the queue in which it stands; before the caller has its lock, the thread
 * that signals a condition variable moves the caller to a mutex's queue, or wakes it.  *Without
 * this:* the caller leaves a queue in which it no longer stands.  *Closed by:* the caller looks
 * again under the lock.  If it was moved, q has changed; if it was woken, wchan is NULL, or is about to be
 * (__sleepq_taken).
 */
const void *__sleepq_give_up(struct thread *self)
{
	unsigned turns = 0;
	const void *obj;

	for (;;) {
		struct sleepq *q = self->q;

		__ops->lock(q);
		obj = self->wchan;
		if (obj != &__sleepq_taken && (obj == NULL || self->q == q)) {
			if (obj != NULL) {
				__sleepq_remove(q, self);
				self->wchan = NULL;
			}
			__ops->unlock(q);
			return obj;
		}
		__ops->unlock(q);
		if (obj == &__sleepq_taken)
			__backoff(&turns);
	}
}

static void sleepq_forget(struct sleepq *q)
{
	/* Most queues are unchanged, and a store would copy their page. */
	for (unsigned i = 0; i < 1u << SLEEPQ_BITS; i++, q++)
		if (q->first != NULL || q->lock.held || q->spinners || q->taken != NULL)
			*q = (struct sleepq){.enqueued = q->enqueued};
}

void __sleepq_forked(void)
{
	struct thread *self = thread_self();
	const void *obj = self->wchan;

	sleepq_forget(__sleepq_point);
	sleepq_forget(__sleepq_other);
	if (obj == &__sleepq_taken) /* its waker is gone */
		self->wchan = NULL;
	else if (obj != NULL) /* a handler has interrupted the wait, and has called fork */
		sleepq_enter(self->q, obj, self, ORDER_OPTION);
}
