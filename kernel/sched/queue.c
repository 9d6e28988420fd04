/*
 * queue.c - the rarer operations on dispatch queues: finding the queue of an LWP, changing an LWP
 * wherever it is, lifting LWPs that have waited long.
 *
 * Locks: l->lock, then the queue's.
 */
#include "queue.h"

static void change_pri(struct dispq *q, struct lwp *l, int pri)
{
	dispq_remove(q, l);
	l->pri = pri;
	PROBE(priority, "lwp new", l, l->pri, 0);
	dispq_insert(q, l, false);
}

/*
 * *Race:* this CPU looks for the queue of l, another CPU moves l from one queue to another;
 * *without this:* this CPU acts on an LWP that is on no queue, and l ends up on two queues; *closed
 * by:* the test of the link, `somewhere`.  The other CPU holds no lock for a moment, neither a
 * queue's nor l->lock, but has interrupts off.  So this CPU polls until l is on a queue again.
 *
 * *Race:* the same, and this CPU reads l->cpu before l was moved, and the link afterwards; *without
 * this:* it takes l for a member of the old queue; *closed by:* the second look at l->cpu, after
 * the link or the state (acquire).  The other CPU writes l->cpu with the lock of the new queue
 * held, before it links l there (release; disp.c).  So if l->cpu still names the queue
 * that is locked here, l is on that queue.
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

void sched_change(struct lwp *l, void (*change)(struct lwp *, void *), void *arg)
{
	struct dispq *q = dispq_lock_of(l);
	bool waits = l->state == LWP_ST_RUN;
	struct cpu *on = l->state == LWP_ST_ONPROC ? cpus[l->cpu] : NULL;
	if (waits)
		dispq_remove(q, l);
	change(l, arg);
	if (on != NULL) {
		l->slice_left = 0;    /* sched_must_go computes what is left */
		on->need_resched = 1; /* before l can put itself back (switch.c) */
	}
	if (q != NULL)
		spin_release(&q->lock);
	PROBE(priority, "lwp new", l, l->pri, 0);
	if (waits)
		sched_place(l);
	else if (on != NULL)
		resched(on);
	else if (l->state == LWP_ST_SLEEP && l->sleep_flags == SLEEP_STAYS)
		cpus[l->cpu]->need_resched = 1; /* l looks whether it may run there: stay.c */
}

uint32_t sched_second;

/*
 * Lets a class lift LWPs that have waited long, so that a busy system starves none (Solaris's
 * ts_update).  It asks about every waiting LWP, because an LWP that has waited long in sum may have
 * joined the queue just now.
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
 * It asks about the LWP that runs, too.  An LWP may have the CPU only while others sleep for a
 * moment.  Such an LWP runs whenever one of their timers interrupts, so a look at the queue alone
 * would never find it.
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
