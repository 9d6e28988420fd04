/*
 * queue.c - the rarer operations on dispatch queues: finding the queue of an LWP, lifting
 * those who have waited long.
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
 * A CPU that takes an LWP from one queue to another has neither's lock for a moment, nor
 * l->lock, and interrupts off: wait for it.
 *
 * l->cpu is written with the lock of the queue that it names, before l is linked there (release;
 * disp.c, balance.c).  Here it is read after the link, or the state (acquire): if it still names
 * the queue that we have locked, l is there.  Read before them it might be from before l was
 * taken elsewhere, and the link from there.
 */
struct dispq *dispq_lock_of(struct lwp *l)
{
	assert(spin_held(&l->lock));
	while (l->state == LWP_ST_RUN || l->state == LWP_ST_ONPROC) {
		uint32_t id = __atomic_load_n(&l->cpu, __ATOMIC_ACQUIRE);
		struct dispq *q = cpus[id]->dispq;
		spin_acquire(&q->lock);
		bool somewhere = l->state == LWP_ST_ONPROC || !list_empty(&l->runlink);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (somewhere && l->cpu == id)
			return q;
		spin_release(&q->lock);
		cpu_pause();
	}
	return NULL;
}

uint32_t sched_second;

/*
 * Lets a class lift LWPs that have waited long, so that a busy system starves none (Solaris's
 * ts_update).  It asks about every waiting LWP, because one that has waited long in sum may have
 * come to the queue just now.
 */
static void dispq_age_queue(struct dispq *q, struct runq *rq, hrtime_t now)
{
	for (int pri = PRI_TS_MAX; pri >= 0; pri--) {
		struct list *at = rq->list[pri].next;
		while (at != &rq->list[pri]) {
			struct lwp *l = CONTAINER_OF(at, struct lwp, runlink);
			at = at->next;
			int to = l->sclass->starved(l, now);
			if (to != l->pri)
				change_pri(q, l, to);
		}
	}
}

/*
 * The LWP that runs is asked about, too.  Otherwise one that has the CPU only where others
 * sleep for a moment would not be found: it runs whenever a timer of theirs interrupts.
 */
void dispq_age(struct cpu *c, hrtime_t now)
{
	struct dispq *q = c->dispq;
	struct lwp *l = c->lwp;
	uint32_t second = now / 1000000000ull;

	if (second > __atomic_load_n(&sched_second, __ATOMIC_RELAXED))
		__atomic_store_n(&sched_second, second, __ATOMIC_RELAXED);
	irqstate_t s = spin_lock(&l->lock);
	if (l->state == LWP_ST_ONPROC && l != c->idle && l->pri <= PRI_TS_MAX) {
		int to = l->sclass->starved(l, now);
		if (to != l->pri) {
			l->pri = to;
			if (l->slice_left == 0) { /* and a fresh slice */
				l->slice_left = sched_slice(l);
				q->slice_end = now + l->slice_left;
				timerq_want(q->slice_end);
			}
		}
	}
	spin_release(&l->lock);
	spin_acquire(&q->lock);
	dispq_age_queue(q, &q->free, now);
	dispq_age_queue(q, &q->tied, now);
	spin_unlock(&q->lock, s);
}
