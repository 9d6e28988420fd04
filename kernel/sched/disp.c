/*
 * disp.c - the dispatcher: which LWP runs where, and when it leaves its CPU to another.
 *
 * Queues and locks: disp.h.  States: kern/sched.h.  The policy:
 *
 *	- a CPU runs the highest priority of its own queue, first come first served
 *	  within a priority;
 *	- a woken LWP goes to the CPU where it last ran if that is idle, else to
 *	  another idle CPU, else to the CPU with the lowest priority if it beats that,
 *	  else to its last CPU's queue;
 *	- an idle CPU takes work from the queues of others before it halts, and a busy one
 *	  at the end of a time slice if another's queue is longer: by two, or by one that has
 *	  the priority to run here at once;
 *	- all this among the CPUs that take the LWP: those of its processor set that are
 *	  online, or the one that it is bound to (disp.h, cpus.c).
 */
#include "queue.h"
#include <kern/proc.h>
#include <kern/timing.h>
#include <kern/upcall.h>

/* --- idle CPUs ------------------------------------------------------------------- */

/*
 * CPUs without work, bit by bit.
 *
 * *Race:* a CPU finds no work and goes idle, a waker puts an LWP on a queue; *without this:* the
 * LWP waits although a CPU is idle; *closed by:* the CPU sets its bit, and then looks at all queues
 * once more.  The waker inserts the LWP, and then looks at the bits.  Both are sequentially
 * consistent, so at least one of the two sees the other.
 */
static volatile uint64_t idle_cpus;

/* Claiming clears the bit, so that two wake-ups in a row go to two CPUs.  The wake-up of an LWP that stays on its CPU (stay.c)
 * claims nothing: there the CPU clears its bit as it goes on. */
static struct cpu *claim_idle_of(unsigned prefer, uint64_t among)
{
	uint64_t idle = __atomic_load_n(&idle_cpus, __ATOMIC_SEQ_CST) & among;
	while (idle) {
		/* The next idle CPU from `prefer` upward, around. */
		uint64_t rot = idle >> prefer | (prefer ? idle << (64 - prefer) : 0);
		unsigned id = (prefer + __builtin_ctzll(rot)) % 64;
		uint64_t old = __atomic_fetch_and(&idle_cpus, ~(1ull << id), __ATOMIC_SEQ_CST);
		if (old & 1ull << id)
			return cpus[id];
		idle = old & among & ~(1ull << id);
	}
	return NULL;
}

/* Claims an idle CPU of `among`, preferably the CPU `prefer`.  This CPU is going to look at all
 * queues.  NULL: none is idle. */
static inline struct cpu *claim_idle(unsigned prefer, uint64_t among)
{
	if (__builtin_expect((__atomic_load_n(&idle_cpus, __ATOMIC_SEQ_CST) & among) == 0, 1))
		return NULL;
	return claim_idle_of(prefer, among);
}

/* --- placement ------------------------------------------------------------------- */

/* The CPUs that l may run on, bit by bit: never none. */
static uint64_t cpus_for(const struct lwp *l)
{
	return l->bound == PBIND_NONE ? psets[l->pset].open : 1ull << l->bound;
}

/* How many LWPs share the CPU. */
static unsigned cpu_load(const struct cpu *c)
{
	return dispq_count(c->dispq) + (running_pri(c) != PRI_IDLE);
}

/*
 * Where an LWP of this priority runs soonest when no CPU is idle: on the CPU with the lowest
 * priority, if its own is higher.  Otherwise on a CPU with at least two LWPs fewer than its last
 * CPU has.  Otherwise it stays on its last CPU.
 */
static struct cpu *best_busy(struct cpu *last, int pri, uint64_t among)
{
	struct cpu *lowest = NULL, *lightest = last;
	unsigned least = cpu_load(last);

	for (unsigned i = 0, id = last->id; i < ncpu; i++, id = id + 1 == ncpu ? 0 : id + 1) {
		if (!(among >> id & 1))
			continue;
		struct cpu *c = cpus[id];
		int running = running_pri(c);
		if (running < pri) {
			pri = running;
			lowest = c;
		}
		unsigned n = cpu_load(c);
		if (n < least) {
			least = n;
			lightest = c;
		}
	}
	if (lowest != NULL)
		return lowest;
	return cpu_load(last) >= least + 2 ? lightest : last;
}

static struct cpu *choose_cpu(struct lwp *l, int place)
{
	uint64_t among = cpus_for(l);
	assert(among != 0);
	struct cpu *last = cpus[among >> l->cpu & 1 ? l->cpu : (unsigned)__builtin_ctzll(among)];
	if (place == PLACE_HANDOFF && last == this_cpu() && dispq_count(last->dispq) == 0)
		return last;
	struct cpu *c = claim_idle(last->id, among);
	if (c != NULL)
		return c;
	if (running_pri(last) < l->pri)
		return last;
	return best_busy(last, l->pri, among);
}

void resched(struct cpu *c)
{
	c->need_resched = 1;
	if (c != this_cpu())
		timing_kick(c);
}

/* Puts l on a queue, which makes it RUN, and tells the CPU that should run or steal it. */
static void place_on_queue(struct lwp *l, int place)
{
	struct cpu *c;
	struct dispq *q;

	for (;;) {
		c = choose_cpu(l, place);
		q = c->dispq;
		spin_acquire(&q->lock);
		if (cpu_may_run(c, l))
			break;
		spin_release(&q->lock); /* the CPU has just closed */
	}
	l->cpu = c->id;
	__atomic_thread_fence(__ATOMIC_RELEASE); /* before the link (dispq_lock_of) */
	if (l->sc) {
		bool at_once = running_pri(c) == PRI_IDLE && dispq_count(q) == 0;
		__atomic_store_n(&l->sc->state, at_once ? SC_COMING : SC_RUNNABLE,
				 __ATOMIC_RELEASE);
	}
	l->state = LWP_ST_RUN;
	int pri = l->pri;
	uint64_t among = cpus_for(l);
	dispq_insert(q, l, false);
	spin_release(&q->lock); /* from here on l may run */
	__atomic_thread_fence(
		__ATOMIC_SEQ_CST); /* before the looks at c->lwp and at the idle CPUs */

	bool handoff = place == PLACE_HANDOFF && c == this_cpu();
	if (pri > running_pri(c)) {
		if (!handoff)
			resched(c);
	} else if (!handoff) {
		/*
		 * *Race:* this CPU finds no idle CPU and inserts l, another CPU finds no work and
		 * goes idle; *without this:* l waits although a CPU is idle; *closed by:* this
		 * second look, after the insertion.  The CPU that has become idle steals l.
		 */
		struct cpu *idle = claim_idle(c->id, among);
		if (idle)
			resched(idle);
	}
}

/*
 * Puts l on this CPU's queue if there is nothing to choose, because no other CPU takes l and this
 * CPU is not idle.  False: place_on_queue has to choose.
 */
static inline bool place_here(struct lwp *l, int place)
{
	struct dispq *q = cpu_here->dispq;
	int running = cpu_here->lwp->pri;

	if (is_bound(l) || psets[l->pset].open != 1ull << cpu_here->id || running == PRI_IDLE ||
	    !spin_try_plain(&q->lock))
		return false;
	if (__builtin_expect(l->pset != cpu_here->active_set, 0)) { /* this CPU has just closed */
		spin_release(&q->lock);
		return false;
	}
	l->cpu = cpu_here->id;
	__atomic_thread_fence(__ATOMIC_RELEASE); /* before the link (dispq_lock_of) */
	if (l->sc)
		__atomic_store_n(&l->sc->state, SC_RUNNABLE, __ATOMIC_RELEASE);
	l->state = LWP_ST_RUN;
	if (l->pri > running && place != PLACE_HANDOFF)
		cpu_here->need_resched = 1;
	dispq_insert(q, l, false);
	spin_release(&q->lock);
	return true;
}

void lwp_runnable(struct lwp *l, int place)
{
	assert(spin_held(&l->lock) && l->state != LWP_ST_RUN && l->state != LWP_ST_ONPROC);
	if (l->blocked)
		upcall_unblocks(l);
	l->enqueued = time_now();
	lwp_mstate_at(l, MS_WAITCPU, l->enqueued);
	if (!place_here(l, place))
		place_on_queue(l, place);
}

void sched_place(struct lwp *l)
{
	place_on_queue(l, PLACE_ANY);
}

void sched_handoff_failed(void)
{
	irqstate_t s = irq_save();
	struct cpu *c = this_cpu();
	if (dispq_count(c->dispq) != 0) {
		struct cpu *idle = c->active_set == SET_NONE
					   ? NULL
					   : claim_idle(c->id, psets[c->active_set].open);
		if (idle)
			resched(idle);
		if (idle == NULL || runq_count(&c->dispq->tied) != 0)
			c->need_resched = 1;
	}
	irq_restore(s);
}

/* --- stealing ------------------------------------------------------------------- */

/*
 * Moves the best LWP of q that is not bound to the queue of c, this CPU, before its equals.  If it
 * went behind them, another CPU might steal it again each time before its turn comes.  `more` threads
 * more want that CPU than c.  An LWP is only moved if it stands for fewer threads, or for as many
 * and has priority pri.
 */
static bool steal_from(struct dispq *q, struct cpu *c, unsigned more, int pri)
{
	spin_acquire(&q->lock);
	struct lwp *l = runq_first(&q->free);
	if (l == NULL || more <= l->others || (more == l->others + 1u && l->pri < pri)) {
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
		    dispq_count(q) > (running_pri(cpus[id]) == PRI_IDLE) &&
		    steal_from(q, c, UINT32_MAX, 0))
			return true;
	}
	return false;
}

/* How many threads the LWPs on rq stand for, besides one each.  The queue's lock is held. */
static unsigned runq_others(const struct runq *rq)
{
	unsigned sum = 0;

	for (unsigned w = 0; w < ARRAY_LEN(rq->bits); w++)
		for (uint64_t left = rq->bits[w]; left != 0; left &= left - 1)
			LIST_FOREACH (&rq->list[w * 64 + __builtin_ctzll(left)], l, struct lwp,
				      runlink)
				sum += l->others;
	return sum;
}

/*
 * How many threads want c, as far as the kernel knows.  An LWP stands for one thread, or for several
 * (proc/share.c).
 */
static unsigned cpu_threads(const struct cpu *c, bool shared)
{
	struct dispq *q = c->dispq;
	unsigned sum = cpu_load(c);

	if (!shared)
		return sum;
	/* Interrupts are off, so the LWP's structure stays one (runs_stranger). */
	sum += __atomic_load_n(&c->lwp, __ATOMIC_ACQUIRE)->others;
	if (runq_count(&q->free) != 0) {
		spin_acquire(&q->lock);
		sum += runq_others(&q->free);
		spin_release(&q->lock);
	}
	return sum;
}

/*
 * One CPU at a time looks for an LWP at the end of its slice, and moves it.  A CPU that finds the lock held does
 * not wait.  Lock order: l->lock, this lock, a queue's lock.
 */
static struct spinlock balancing = SPINLOCK_INIT("balancing");

/*
 * Is c at the end of its slice, and about to take an LWP of its queue?  Then that LWP stays there, or the LWP
 * on c would run on.  A switch to an LWP of the queue changes c->nswitch while the queue's lock is held.  So a CPU that reads the new
 * number finds the queue as it is after the switch (steal_from).  balancing is held.
 */
static bool cpu_about_to_switch(const struct cpu *c)
{
	return c->leaves == __atomic_load_n(&c->nswitch, __ATOMIC_RELAXED);
}

/*
 * The slice of own, which has just begun on c, this CPU, becomes an eighth or less, once, if own keeps the CPU.  The
 * CPU's number decides, so that two CPUs that do this together do not meet again.
 *
 * *Race:* a CPU takes the only waiting LWP to its queue, another CPU looks for an LWP at the end of its slice;
 * *without this:* if both slices end together once, they end together each time, and the LWP of the second CPU
 * never shares this CPU; *closed by:* the second CPU looks again at another time.
 */
static void slice_end_apart(struct lwp *own, const struct cpu *c, hrtime_t now)
{
	if (dispq_best(c->dispq) >= own->pri)
		return;
	own->slice_left = own->slice_left / 1024 * (128 - c->id);
	c->dispq->slice_end = now + own->slice_left;
	timerq_want(c->dispq->slice_end);
}

/*
 * This CPU steals from the CPU that most threads want, if both are closer to each other afterwards:
 * mostly, if they differ by two.  It also steals an LWP that is all the difference, if the LWP has the
 * priority to run here at once.  That LWP runs for a slice here, while the LWP that ran here waits.
 * Another CPU steals the waiting LWP when a slice ends there.  So five LWPs that compute share four
 * CPUs evenly, although one queue is always longer.  (In Solaris, LWPs of the low levels go around in
 * this way.)  At the end of a turn of several slices (own->shared) it does not.  Otherwise LWPs of
 * single threads would come to a CPU at the end of each turn, and have more than their share.
 * The numbers and priorities are hints, mostly read without the queues' locks.
 */
static void cpu_balance(struct lwp *own, hrtime_t now)
{
	struct cpu *c = this_cpu(), *busiest = c;
	if (!spin_try(&balancing)) {
		slice_end_apart(own, c, now);
		return;
	}
	bool shared = share_in_use(now);
	unsigned here = cpu_threads(c, shared), most = here;
	uint64_t among = open_cpus(c);

	for (unsigned i = 0; i < ncpu; i++) {
		if (!(among >> i & 1) || dispq_count(cpus[i]->dispq) == 0)
			continue;
		unsigned n = cpu_threads(cpus[i], shared);
		if (n > most) {
			most = n;
			busiest = cpus[i];
		}
	}
	if (most > here && cpu_about_to_switch(busiest))
		slice_end_apart(own, c, now);
	else if (most > here)
		steal_from(busiest->dispq, c, most - here, own->shared ? PRI_MAX + 1 : own->pri);
	c->leaves = dispq_best(c->dispq) >= own->pri ? c->nswitch : UINT64_MAX;
	spin_release(&balancing);
}

/* --- the CPU that runs, and the CPU that is idle ------------------------------------------- */

/*
 * Should the current LWP leave its CPU?  It should if an LWP of higher priority waits, or if its
 * slice is over and an LWP of equal priority waits.  At the end of a slice the class may change the
 * priority.  An LWP that runs several threads by turns may have more than one slice.  l->lock held.
 */
bool sched_must_go(struct lwp *l, struct dispq *q, hrtime_t now, bool *slice_over)
{
	bool over = now >= q->slice_end;
	if (over && l->watched && share_goes_on(l)) {
		q->slice_end = now + sched_slice(l);
		timerq_want(q->slice_end);
		over = false;
	}
	if (over)
		l->sclass->slice_used(l);
	if (over || l->slice_left == 0) { /* 0: its parameters have changed (sched_change) */
		l->slice_left =
			over ? (int64_t)sched_slice(l) : sched_slice_rest(l, q->slice_end - now);
		q->slice_end = now + l->slice_left;
		timerq_want(q->slice_end);
	}
	if (over)
		cpu_balance(l, now);
	*slice_over = over || l->grace & GRACE_OWES;
	int best = dispq_best(q); /* without the queue's lock: a hint; sched_put_back looks again */
	return best > l->pri || (*slice_over && best == l->pri);
}

/* The look and the halt in a turn of the idle loop.  The idle LWP passes NULL, and its time is added to c->idle_ns here. */
static inline __attribute__((always_inline)) hrtime_t idle_look(struct cpu *c, uint64_t bit,
								const struct lwp *stays)
{
	hrtime_t start = stays != NULL ? time_now() : 0;

	__atomic_fetch_or(&idle_cpus, bit, __ATOMIC_SEQ_CST);
	if (dispq_count(c->dispq) == 0 && !cpu_steal(c) && (stays == NULL || !stay_woken(stays))) {
		if (stays == NULL)
			start = time_now();
		timing->idle();
		if (stays == NULL)
			c->idle_ns += time_now() - start;
	}
	return start;
}

/*
 * *Race:* a waker claims this CPU, to steal an LWP from a queue, and the LWP that stays here is woken; *without this:* the first
 * LWP waits although a third CPU is idle; *closed by:* the claim, which goes on to an idle CPU.  If the LWP is woken after this
 * turn, the CPU looks at the queues in its next turn before it looks at the LWP.
 */
static void idle_pass_on(struct cpu *c)
{
	struct cpu *idle = claim_idle(c->id, open_cpus(c));

	if (idle != NULL)
		resched(idle);
}

static __attribute__((nonnull)) hrtime_t idle_turn(struct cpu *c, const struct lwp *stays)
{
	uint64_t bit = 1ull << c->id;
	hrtime_t start = idle_look(c, bit, stays);
	bool claimed = !(__atomic_fetch_and(&idle_cpus, ~bit, __ATOMIC_SEQ_CST) & bit);

	if (__builtin_expect(claimed, 0) && stay_woken(stays))
		idle_pass_on(c);
	return start;
}

/* Each CPU ends up here, on its idle LWP. */
void sched_cpu_main(void)
{
	struct cpu *c = this_cpu();
	uint64_t bit = 1ull << c->id;

	irq_save();
	sched_idle_turn = idle_turn;
	sched_open_first(c);
	for (;;) {
		idle_look(c, bit, NULL);
		__atomic_fetch_and(&idle_cpus, ~bit, __ATOMIC_SEQ_CST);
		if (dispq_count(c->dispq) != 0) {
			spin_acquire(&c->idle->lock);
			c->idle->state = LWP_ST_SLEEP;
			sched_switch(MS_SLEEP);
		}
	}
}
