/*
 * queue.c - the rarer operations on dispatch queues: taking an LWP off wherever it waits,
 * moving it to another priority, lifting those who have waited long.
 *
 * Locks: l->lock, then the queue's.
 */
#include "queue.h"

static void change_pri(struct dispq *q, struct lwp *l, int pri)
{
	dispq_remove(q, l);
	l->pri = pri;
	dispq_insert(q, l, false);
}

/*
 * l is on the queue of l->cpu, which is written before it is linked there with that queue's
 * lock.  On none and still RUN, it is in the hands of a CPU that takes it from one queue to
 * another, with interrupts off and without l->lock: wait for it.
 */
bool dispq_take(struct lwp *l)
{
	for (;;) {
		uint32_t id = __atomic_load_n(&l->cpu, __ATOMIC_ACQUIRE);
		struct dispq *q = cpus[id]->dispq;
		spin_acquire(&q->lock);
		bool there = l->state == LWP_ST_RUN && !list_empty(&l->runlink) && l->cpu == id;
		if (there)
			dispq_remove(q, l);
		spin_release(&q->lock);
		if (there)
			return true;
		if (__atomic_load_n(&l->state, __ATOMIC_ACQUIRE) == LWP_ST_ONPROC)
			return false;
		cpu_pause();
	}
}

/*
 * Lets a class lift those who have waited long, so that a busy system starves
 * nobody (Solaris's ts_update).  Within a priority the longest waiting come
 * first, but for the few put back at the front: so each list is read only up to
 * the first recent one.
 */
static void age(struct dispq *q, struct runq *rq, hrtime_t now)
{
	for (int pri = PRI_TS_MAX; pri >= 0; pri--) {
		struct list *at = rq->list[pri].next;
		while (at != &rq->list[pri]) {
			struct lwp *l = CONTAINER_OF(at, struct lwp, runlink);
			at = at->next;
			if (now < l->enqueued + 1000000000ull) /* which may lie ahead of now */
				break;
			int to = l->sclass->starved(l, now - l->enqueued);
			if (to != l->pri)
				change_pri(q, l, to);
		}
	}
}

void dispq_age(struct dispq *q, hrtime_t now)
{
	irqstate_t s = spin_lock(&q->lock);
	age(q, &q->free, now);
	age(q, &q->tied, now);
	spin_unlock(&q->lock, s);
}
