/*
 * queue.h - the operations on a dispatch queue, in line, since every switch needs most of them.
 * All are called with the queue's lock held.
 */
#pragma once
#include "disp.h"
#include <kern/printk.h>

static inline int runq_best(const struct runq *rq)
{
	for (int w = ARRAY_LEN(rq->bits) - 1; w >= 0; w--)
		if (rq->bits[w])
			return w * 64 + 63 - __builtin_clzll(rq->bits[w]);
	return PRI_IDLE;
}

static inline int dispq_best(const struct dispq *q)
{
	int best = runq_best(&q->free);
	return q->ntied == 0 ? best : MAX(best, runq_best(&q->tied));
}

static inline struct runq *runq_of(struct dispq *q, const struct lwp *l)
{
	return l->bound == PBIND_NONE ? &q->free : &q->tied;
}

static inline void dispq_insert(struct dispq *q, struct lwp *l, bool at_front)
{
	struct runq *rq = runq_of(q, l);

	assert(spin_held(&q->lock) && l->pri >= 0 && l->pri <= PRI_MAX);
	if (at_front) {
		l->order = --q->front;
		list_push_front(&rq->list[l->pri], &l->runlink);
	} else {
		l->order = l->enqueued;
		list_push_back(&rq->list[l->pri], &l->runlink);
	}
	rq->bits[l->pri / 64] |= 1ull << l->pri % 64;
	q->count++;
	if (rq == &q->tied)
		q->ntied++;
}

static inline void dispq_remove(struct dispq *q, struct lwp *l)
{
	struct runq *rq = runq_of(q, l);

	assert(spin_held(&q->lock));
	list_remove(&l->runlink);
	if (list_empty(&rq->list[l->pri]))
		rq->bits[l->pri / 64] &= ~(1ull << l->pri % 64);
	q->count--;
	if (rq == &q->tied)
		q->ntied--;
}

static inline struct lwp *runq_first(struct runq *rq)
{
	int pri = runq_best(rq);
	return pri == PRI_IDLE ? NULL : LIST_FIRST(&rq->list[pri], struct lwp, runlink);
}

static inline struct lwp *dispq_first(struct dispq *q)
{
	struct lwp *l = runq_first(&q->free);
	if (q->ntied == 0)
		return l;
	struct lwp *t = runq_first(&q->tied);
	if (l == NULL || t->pri > l->pri || (t->pri == l->pri && t->order < l->order))
		return t;
	return l;
}
