/*
 * balance.c - what an idle CPU does, and which work a CPU takes from others.
 *
 * Locks: two queues are never locked together.  While an LWP moves from one queue to another, it
 * is on neither for a moment.  It then belongs to this CPU alone (dispq_lock_of waits for it).
 */
#include "queue.h"
#include <kern/timing.h>

/*
 * Moves the best LWP of q that is not bound to the queue of c, this CPU, before its equals.  If it
 * went behind them, another CPU might steal it again each time before its turn comes.
 */
static bool steal_from(struct dispq *q, struct cpu *c)
{
	spin_acquire(&q->lock);
	struct lwp *l = runq_first(&q->free);
	if (l == NULL) {
		spin_release(&q->lock);
		return false;
	}
	dispq_remove(q, l);
	spin_release(&q->lock);
	/* l is on no queue, and still RUN: it belongs to this CPU alone (dispq_lock_of). */
	spin_acquire(&c->dispq->lock);
	bool ours = cpu_may_run(c, l);
	if (ours) {
		l->cpu = c->id;
		__atomic_thread_fence(__ATOMIC_RELEASE); /* before the link (dispq_lock_of) */
		dispq_insert(c->dispq, l, true);
	}
	spin_release(&c->dispq->lock);
	if (!ours) /* one of the two CPUs has just changed sets */
		sched_place(l);
	c->nsteal += ours;
	return ours;
}

static uint64_t open_cpus(const struct cpu *c)
{
	int set = c->active_set;
	return set == SET_NONE ? 0 : psets[set].open;
}

/*
 * Steals from a queue that has more LWPs than its CPU is about to take.  An idle CPU with one LWP
 * on its queue has been told, and most likely has the data of this LWP at hand.
 */
static bool cpu_steal(struct cpu *c)
{
	uint64_t among = open_cpus(c);

	for (unsigned i = 1; i < ncpu; i++) {
		unsigned id = (c->id + i) % ncpu;
		struct dispq *q = cpus[id]->dispq;
		if (among >> id & 1 && runq_count(&q->free) != 0 &&
		    dispq_count(q) > (running_pri(cpus[id]) == PRI_IDLE) && steal_from(q, c))
			return true;
	}
	return false;
}

void sched_drain(struct cpu *c)
{
	struct dispq *q = c->dispq;

	for (;;) {
		irqstate_t s = spin_lock(&q->lock);
		struct lwp *l = runq_first(&q->free);
		if (l != NULL)
			dispq_remove(q, l);
		spin_release(&q->lock);
		if (l != NULL)
			sched_place(l);
		irq_restore(s);
		if (l == NULL)
			return;
	}
}

/*
 * This CPU steals from a queue that is longer than its own by two.  It also steals from a queue
 * that is longer by one, if the stolen LWP has the priority to run here at once.  That LWP runs for
 * a slice here, while the LWP that ran here waits.  Another CPU steals the waiting LWP when a slice
 * ends there.  So five LWPs that compute share four CPUs evenly, although one queue is
 * always longer.  (In Solaris, LWPs of the low levels go around in this way.)
 * The lengths and priorities are hints, read without the queues' locks.
 */
void sched_balance(int pri)
{
	struct cpu *c = this_cpu();
	struct dispq *longest = c->dispq;
	int own = dispq_count(c->dispq), most = own;
	uint64_t among = open_cpus(c);

	for (unsigned i = 0; i < ncpu; i++) {
		int n = dispq_count(cpus[i]->dispq) - (running_pri(cpus[i]) == PRI_IDLE);

		if (among >> i & 1 && n > most) {
			most = n;
			longest = cpus[i]->dispq;
		}
	}
	if (most >= own + 2 || (most > own && longest->free.best >= pri))
		steal_from(longest, c);
}

/* Atomic: several CPUs may start at once. */
void sched_open_first(struct cpu *c)
{
	c->active_set = 0;
	__atomic_fetch_or(&psets[0].cpus, 1ull << c->id, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&psets[0].open, 1ull << c->id, __ATOMIC_SEQ_CST);
}

/* Each CPU ends up here, on its idle LWP. */
void sched_cpu_main(void)
{
	struct cpu *c = this_cpu();
	uint64_t bit = 1ull << c->id;

	irq_save();
	sched_open_first(c);
	for (;;) {
		__atomic_fetch_or(&idle_cpus, bit, __ATOMIC_SEQ_CST);
		if (dispq_count(c->dispq) == 0 && !cpu_steal(c)) {
			hrtime_t start = time_now();
			timing->idle();
			c->idle_ns += time_now() - start;
		}
		__atomic_fetch_and(&idle_cpus, ~bit, __ATOMIC_SEQ_CST);
		if (dispq_count(c->dispq) != 0) {
			spin_acquire(&c->idle->lock);
			c->idle->state = LWP_ST_SLEEP;
			sched_switch(MS_SLEEP);
		}
	}
}
