/*
 * queue.h - the operations on a dispatch queue, in line, because every switch needs most of them.
 * All are called with the queue's lock held.
 */
#pragma once
#include "disp.h"
#include <kern/printk.h>
#include <kern/probe.h>

static inline void dispq_insert(struct dispq *q, struct lwp *l, bool at_front)
{
	struct runq *rq = is_bound(l) ? &q->tied : &q->free;
	unsigned pri = l->pri;
	struct list *list = &rq->list[pri];

	debug_assert(spin_held(&q->lock) && pri <= PRI_MAX);
	if (list_empty(list)) {
		rq->bits[pri / 64] |= 1ull << pri % 64;
		rq->best = MAX(rq->best, (int)pri);
	}
	if (at_front) {
		l->order = --q->front;
		list_push_front(list, &l->runlink);
	} else {
		l->order = l->enqueued;
		list_push_back(list, &l->runlink);
	}
	/* The address of runlink is in a register, and that of l need not be. */
	PROBE(queue, "link offset cpu", &l->runlink, offsetof(struct lwp, runlink), l->cpu);
	rq->count++;
}

/* The highest priority by the bit map. */
static inline int runq_scan(const struct runq *rq)
{
	for (int w = ARRAY_LEN(rq->bits) - 1; w >= 0; w--)
		if (rq->bits[w])
			return w * 64 + 63 - __builtin_clzll(rq->bits[w]);
	return PRI_IDLE;
}

/* An LWP of priority pri has been taken off its list. */
static inline void runq_removed(struct runq *rq, unsigned pri)
{
	rq->count--;
	if (list_empty(&rq->list[pri])) {
		rq->bits[pri / 64] &= ~(1ull << pri % 64);
		rq->best = rq->count == 0 ? PRI_IDLE : runq_scan(rq);
	}
}

static inline void dispq_remove(struct dispq *q, struct lwp *l)
{
	debug_assert(spin_held(&q->lock));
	list_remove(&l->runlink);
	runq_removed(is_bound(l) ? &q->tied : &q->free, l->pri);
}

static inline struct lwp *runq_first(const struct runq *rq)
{
	return rq->best == PRI_IDLE ? NULL : LIST_FIRST(&rq->list[rq->best], struct lwp, runlink);
}

/* Does the first LWP that is bound to this CPU come before the first of the other LWPs? */
static inline bool tied_first(const struct dispq *q)
{
	const struct lwp *l = runq_first(&q->free), *t = runq_first(&q->tied);

	return l == NULL || t->pri > l->pri || (t->pri == l->pri && t->order < l->order);
}

/* Takes off the LWP that is to run next; NULL: none waits. */
static inline struct lwp *dispq_pop(struct dispq *q)
{
	struct runq *rq =
		__builtin_expect(q->tied.count != 0, 0) && tied_first(q) ? &q->tied : &q->free;
	struct lwp *l = runq_first(rq);

	debug_assert(spin_held(&q->lock));
	if (l != NULL) {
		unsigned pri = rq->best;
		list_remove_first(&rq->list[pri], &l->runlink);
		runq_removed(rq, pri);
	}
	return l;
}
