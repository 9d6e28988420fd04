/*
 * disp.c - the dispatcher: which LWP runs where.
 *
 * Queues and locks: disp.h.  States: kern/sched.h.  The policy:
 *
 *	- a CPU runs the highest priority of its own queue, first come first served
 *	  within a priority;
 *	- a woken LWP goes to the CPU where it last ran if that is idle, else to
 *	  another idle CPU, else to the CPU with the lowest priority if it beats that,
 *	  else to its last CPU's queue;
 *	- an idle CPU takes work from the queues of others before it halts, and a busy one
 *	  at the end of a time slice if another's queue is longer by two;
 *	- all this among the CPUs that take the LWP: those of its processor set that are
 *	  online, or the one that it is bound to (disp.h, cpus.c).
 */
#include "disp.h"
#include <kern/mm.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/timing.h>
#include <kern/upcall.h>

volatile uint64_t idle_cpus;
struct pset psets[WEFT_MAXPSET + 1] = {[0].used = true};

/* cpu/entry.S */
void swtch(uint64_t *save_ksp, uint64_t load_ksp);

/* --- the queue ----------------------------------------------------------------- */

static int runq_best(const struct runq *rq)
{
	for (int w = ARRAY_LEN(rq->bits) - 1; w >= 0; w--)
		if (rq->bits[w])
			return w * 64 + 63 - __builtin_clzll(rq->bits[w]);
	return PRI_IDLE;
}

int dispq_best(const struct dispq *q)
{
	int best = runq_best(&q->free);
	return q->ntied == 0 ? best : MAX(best, runq_best(&q->tied));
}

static struct runq *runq_of(struct dispq *q, const struct lwp *l)
{
	return l->bound == PBIND_NONE ? &q->free : &q->tied;
}

static void dispq_insert(struct dispq *q, struct lwp *l, bool at_front)
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

static void dispq_remove(struct dispq *q, struct lwp *l)
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

static struct lwp *runq_first(struct runq *rq)
{
	int pri = runq_best(rq);
	return pri == PRI_IDLE ? NULL : LIST_FIRST(&rq->list[pri], struct lwp, runlink);
}

static struct lwp *dispq_first(struct dispq *q)
{
	struct lwp *l = runq_first(&q->free);
	if (q->ntied == 0)
		return l;
	struct lwp *t = runq_first(&q->tied);
	if (l == NULL || t->pri > l->pri || (t->pri == l->pri && t->order < l->order))
		return t;
	return l;
}

void dispq_change_pri(struct dispq *q, struct lwp *l, int pri)
{
	dispq_remove(q, l);
	l->pri = pri;
	dispq_insert(q, l, false);
}

/*
 * Takes a waiting LWP off its queue; false: a CPU has taken it up meanwhile.  l->lock held.
 * It is on the queue of l->cpu, which is written before it is linked there with that queue's
 * lock.  On none and still RUN, it is in the hands of a CPU that takes it from one queue to
 * another, with interrupts off and without l->lock: wait for it.
 */
static bool unqueue(struct lwp *l)
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
			if (now - l->enqueued < 1000000000ull)
				break;
			int to = l->sclass->starved(l, now - l->enqueued);
			if (to != l->pri)
				dispq_change_pri(q, l, to);
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

/* --- placement ------------------------------------------------------------------- */

/* The CPUs that l may run on, bit by bit: never none. */
static uint64_t cpus_for(const struct lwp *l)
{
	return l->bound == PBIND_NONE ? psets[l->pset].open : 1ull << l->bound;
}

/* Claims an idle CPU of `among`, `prefer` if it is one; NULL when none is idle.  Claiming
 * clears the bit, so that two wake-ups in a row go to two CPUs. */
static struct cpu *claim_idle(unsigned prefer, uint64_t among)
{
	uint64_t idle = __atomic_load_n(&idle_cpus, __ATOMIC_SEQ_CST) & among;
	while (idle) {
		/* The next one from `prefer` upward, around. */
		uint64_t rot = idle >> prefer | (prefer ? idle << (64 - prefer) : 0);
		unsigned id = (prefer + __builtin_ctzll(rot)) % 64;
		uint64_t old = __atomic_fetch_and(&idle_cpus, ~(1ull << id), __ATOMIC_SEQ_CST);
		if (old & 1ull << id)
			return cpus[id];
		idle = old & among & ~(1ull << id);
	}
	return NULL;
}

/* LWPs that a CPU has to share itself between. */
static unsigned load(const struct cpu *c)
{
	return c->dispq->count + (c->dispq->running_pri != PRI_IDLE);
}

/*
 * Where an LWP of this priority runs soonest when no CPU is idle: on the CPU with the
 * lowest priority, if it beats that, else on one with at least two LWPs fewer than its
 * last; else it stays.
 */
static struct cpu *best_busy(struct cpu *last, int pri, uint64_t among)
{
	struct cpu *lowest = NULL, *lightest = last;
	unsigned least = load(last);

	for (unsigned i = 0, id = last->id; i < ncpu; i++, id = id + 1 == ncpu ? 0 : id + 1) {
		if (!(among >> id & 1))
			continue;
		struct cpu *c = cpus[id];
		int running = c->dispq->running_pri;
		if (running < pri) {
			pri = running;
			lowest = c;
		}
		unsigned n = load(c);
		if (n < least) {
			least = n;
			lightest = c;
		}
	}
	if (lowest != NULL)
		return lowest;
	return load(last) >= least + 2 ? lightest : last;
}

static struct cpu *choose_cpu(struct lwp *l, int place)
{
	uint64_t among = cpus_for(l);
	assert(among != 0);
	struct cpu *last = cpus[among >> l->cpu & 1 ? l->cpu : (unsigned)__builtin_ctzll(among)];
	if (place == PLACE_HANDOFF && last == this_cpu() && last->dispq->count == 0)
		return last;
	struct cpu *c = claim_idle(last->id, among);
	if (c != NULL)
		return c;
	if (last->dispq->running_pri < l->pri)
		return last;
	return best_busy(last, l->pri, among);
}

void resched(struct cpu *c)
{
	c->need_resched = 1;
	if (c != this_cpu())
		timing_kick(c);
}

/* Puts l on a queue, which makes it RUN, and tells whoever should know. */
static void place_on_queue(struct lwp *l, int place)
{
	struct cpu *c;
	struct dispq *q;

	for (;;) {
		c = choose_cpu(l, place);
		q = c->dispq;
		spin_acquire(&q->lock);
		if (cpu_takes(c, l))
			break;
		spin_release(&q->lock); /* it has just closed */
	}
	l->cpu = c->id;
	if (l->sc) {
		bool at_once = q->running_pri == PRI_IDLE && q->count == 0;
		__atomic_store_n(&l->sc->state, at_once ? SC_COMING : SC_RUNNABLE,
				 __ATOMIC_RELEASE);
	}
	l->state = LWP_ST_RUN;
	int pri = l->pri;
	uint64_t among = cpus_for(l);
	dispq_insert(q, l, false);
	spin_release(&q->lock); /* from here on l may run */

	bool handoff = place == PLACE_HANDOFF && c == this_cpu();
	if (pri > q->running_pri) {
		if (!handoff)
			resched(c);
	} else if (!handoff) {
		/* A CPU may have gone idle since claim_idle looked: let it steal. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		struct cpu *idle = claim_idle(c->id, among);
		if (idle)
			resched(idle);
	}
}

void lwp_runnable(struct lwp *l, int place)
{
	assert(spin_held(&l->lock) && l->state != LWP_ST_RUN && l->state != LWP_ST_ONPROC);
	if (l->blocked)
		upcall_unblocks(l);
	l->enqueued = time_now();
	lwp_mstate_at(l, MS_WAITCPU, l->enqueued);
	place_on_queue(l, place);
}

void sched_place(struct lwp *l)
{
	place_on_queue(l, PLACE_ANY);
}

void sched_change(struct lwp *l, void (*change)(struct lwp *, void *), void *arg)
{
	assert(spin_held(&l->lock));
	bool waits = l->state == LWP_ST_RUN && unqueue(l);
	change(l, arg);
	if (waits) {
		sched_place(l);
	} else if (l->state == LWP_ST_ONPROC) {
		struct cpu *c = cpus[l->cpu];
		c->dispq->running_pri = l->pri;
		l->slice_left = 0; /* a fresh one */
		resched(c);
	}
}

void sched_handoff_failed(void)
{
	irqstate_t s = irq_save();
	struct cpu *c = this_cpu();
	if (c->dispq->count != 0) {
		struct cpu *idle =
			c->takes == TAKES_NONE ? NULL : claim_idle(c->id, psets[c->takes].open);
		if (idle)
			resched(idle);
		if (idle == NULL || c->dispq->ntied != 0)
			c->need_resched = 1;
	}
	irq_restore(s);
}

/* --- switching ---------------------------------------------------------------------- */

/* The LWP that this CPU has just put down, until finish_switch has seen to it:
 * kept per CPU because the stack that knew it belongs to that LWP. */
static struct lwp *put_down[WEFT_MAXCPU];

/*
 * The second half of a switch, on the stack of the LWP taken up.  A dead LWP's
 * stack is free now.  Its structure goes too if nobody waits for it; otherwise
 * whoever waits may free it as soon as we let its lock go, so look before.
 */
static void finish_switch(void)
{
	struct cpu *c = this_cpu();
	struct lwp *prev = put_down[c->id];
	spin_release(&c->dispq->lock);
	if (prev->leaves) {
		prev->leaves = false;
		sched_place(prev);
	}
	bool dead = prev->state == LWP_ST_ZOMB;
	bool reap = dead && prev->reap_self;
	void *kstack = prev->kstack;
	spin_release(&prev->lock);
	if (dead)
		kstack_free(kstack);
	if (reap)
		kcache_free(lwp_cache, prev);
}

static void take_up(struct cpu *c, struct lwp *l, hrtime_t now)
{
	struct dispq *q = c->dispq;

	l->state = LWP_ST_ONPROC;
	l->cpu = c->id;
	c->lwp = l;
	c->nswitch++;
	q->running_pri = l->pri;
	c->need_resched = 0;
	c->kstack = c->tss.rsp[0] = (uint64_t)l->kstack;
	if (l == c->idle) {
		q->slice_end = HRTIME_NEVER;
		return;
	}
	lwp_mstate_at(l, l->mresume, now);
	if (l->slice_left == 0)
		l->slice_left = l->sclass->quantum(l);
	q->slice_end = now + l->slice_left;
	timerq_want(q->slice_end);
	if (l->proc != NULL) {
		as_switch(l->proc->as);
		__asm__ volatile("wrfsbase %0" ::"r"(l->fsbase));
		__asm__ volatile("swapgs; wrgsbase %0; swapgs" ::"r"(l->gsbase));
		__asm__ volatile("fxrstor64 %0" ::"m"(l->fpu));
	}
	if (l->sc) {
		l->sc->cpu = c->id;
		__atomic_store_n(&l->sc->state, SC_ONCPU, __ATOMIC_RELEASE);
	}
}

static void put_away(struct cpu *c, struct lwp *l, hrtime_t now)
{
	static const struct {
		uint8_t sc, ms;
	} off[] = {
		[LWP_ST_RUN] = {SC_RUNNABLE, MS_WAITCPU},
		[LWP_ST_SLEEP] = {SC_SLEEPING, MS_SLEEP},
		[LWP_ST_STOP] = {SC_STOPPED, MS_STOPPED},
		[LWP_ST_ZOMB] = {SC_FREE, MS_SLEEP},
	};
	if (l == c->idle)
		return;
	/* First of all, so that nobody spins for an LWP that is on its way off. */
	if (l->sc)
		__atomic_store_n(&l->sc->state, off[l->state].sc, __ATOMIC_RELEASE);
	l->mresume = l->mstate;
	lwp_mstate_at(l,
		      l->state == LWP_ST_SLEEP && l->sleep_flags & SLEEP_LOCK ? MS_LOCK
									      : off[l->state].ms,
		      now);
	hrtime_t end = c->dispq->slice_end;
	l->slice_left = end > now ? end - now : 0;
	if (l->proc != NULL && l->state != LWP_ST_ZOMB) {
		__asm__ volatile("rdfsbase %0" : "=r"(l->fsbase));
		__asm__ volatile("swapgs; rdgsbase %0; swapgs" : "=r"(l->gsbase));
		__asm__ volatile("fxsave64 %0" : "=m"(l->fpu));
	}
}

void sched_switch(bool at_front)
{
	struct cpu *c = this_cpu();
	struct lwp *prev = c->lwp;
	struct dispq *q = c->dispq;

	assert(!irq_enabled() && spin_held(&prev->lock) && prev->state != LWP_ST_ONPROC);
	hrtime_t now = time_now();
	put_away(c, prev, now);
	spin_acquire(&q->lock);
	assert(c->nlocks == 2); /* sleeping with another spin lock held */
	if (prev->state == LWP_ST_RUN && prev != c->idle) {
		prev->enqueued = now;
		if (cpu_takes(c, prev))
			dispq_insert(q, prev, at_front);
		else
			prev->leaves = true; /* as soon as its registers are saved */
	}
	struct lwp *next = dispq_first(q);
	if (next != NULL)
		dispq_remove(q, next);
	else
		next = c->idle;
	if (next == prev) { /* its own equals are all gone: go on */
		spin_release(&prev->lock);
		take_up(c, next, now);
		spin_release(&q->lock);
		return;
	}
	put_down[c->id] = prev;
	take_up(c, next, now);
	swtch(&prev->ksp, next->ksp);
	/* Another CPU may have taken us up: c is stale. */
	finish_switch();
}

void sched_lwp_first(void)
{
	finish_switch();
	struct lwp *l = curlwp();
	if (l->proc != NULL) {
		lwp_mstate_at(l, MS_USER, time_now());
		return; /* to user mode, through the frame */
	}
	irq_restore(0x200);
	l->kfn(l->karg);
	panic("a kernel LWP returned");
}

int sched_best_waiting(void)
{
	return dispq_best(this_cpu()->dispq);
}

void sched_cpu_load(struct cpu *c, uint32_t *waiting, int32_t *pid, uint32_t *lwpid)
{
	/* Its structure is type-stable, and its process cannot go while we hold
	 * the tree; that it may be another LWP by now is the nature of the answer. */
	irqstate_t s = spin_lock(&proc_tree_lock);
	struct lwp *l = c->lwp;
	spin_acquire(&l->lock);
	*waiting = c->dispq->count;
	*pid = l->proc ? l->proc->pid : 0;
	*lwpid = l->proc ? l->id : 0;
	spin_release(&l->lock);
	spin_unlock(&proc_tree_lock, s);
}

/* --- idle ----------------------------------------------------------------------------- */

/* Takes the best LWP of q that is not bound over to the queue of c, this CPU. */
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
	/* On no queue, and still RUN: it is ours alone (unqueue). */
	spin_acquire(&c->dispq->lock);
	bool ours = cpu_takes(c, l);
	if (ours) {
		l->cpu = c->id;
		dispq_insert(c->dispq, l, false);
	}
	spin_release(&c->dispq->lock);
	if (!ours) /* one of the two CPUs has just changed sets */
		sched_place(l);
	c->nsteal += ours;
	return ours;
}

static uint64_t open_cpus(const struct cpu *c)
{
	int set = c->takes;
	return set == TAKES_NONE ? 0 : psets[set].open;
}

/*
 * From a queue that has more than its CPU is about to take.  An idle CPU whose queue has
 * one LWP has been told, and most likely has that LWP's data at hand.
 */
static bool steal(struct cpu *c)
{
	uint64_t among = open_cpus(c);

	for (unsigned i = 1; i < ncpu; i++) {
		unsigned id = (c->id + i) % ncpu;
		struct dispq *q = cpus[id]->dispq;
		if (among >> id & 1 && q->count != q->ntied &&
		    q->count > (q->running_pri == PRI_IDLE) && steal_from(q, c))
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

void sched_balance(void)
{
	struct cpu *c = this_cpu();
	struct dispq *longest = c->dispq;
	uint64_t among = open_cpus(c);

	for (unsigned i = 0; i < ncpu; i++)
		if (among >> i & 1 && cpus[i]->dispq->count > longest->count)
			longest = cpus[i]->dispq;
	if (longest->count >= c->dispq->count + 2)
		steal_from(longest, c);
}

/* A CPU that has started takes LWPs of the default set.  Atomic: several may start at once. */
static void sched_open_first(struct cpu *c)
{
	c->takes = 0;
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
		if (c->dispq->count == 0 && !steal(c)) {
			hrtime_t start = time_now();
			timing->idle();
			c->idle_ns += time_now() - start;
		}
		__atomic_fetch_and(&idle_cpus, ~bit, __ATOMIC_SEQ_CST);
		if (c->dispq->count != 0) {
			spin_acquire(&c->idle->lock);
			c->idle->state = LWP_ST_RUN;
			sched_switch(false);
		}
	}
}

/* --- start-up ------------------------------------------------------------------------- */

void sched_init_cpu(struct cpu *c)
{
	struct dispq *q = kzalloc(sizeof(*q));
	struct lwp *idle = kzalloc(sizeof(*idle));
	if (q == NULL || idle == NULL)
		panic("no memory for CPU %u", c->id);
	spin_init(&q->lock, "dispatch queue");
	for (unsigned i = 0; i < NPRI; i++) {
		list_init(&q->free.list[i]);
		list_init(&q->tied.list[i]);
	}
	q->running_pri = PRI_IDLE;
	q->slice_end = HRTIME_NEVER;
	spin_init(&idle->lock, "lwp");
	idle->sclass = &sys_class;
	idle->pri = PRI_IDLE;
	idle->state = LWP_ST_ONPROC;
	idle->cpu = c->id;
	idle->bound = c->id;
	idle->syscall = ~0u;
	list_init(&idle->runlink);
	idle->kstack = kstack_alloc();
	if (idle->kstack == NULL)
		panic("no stack for CPU %u", c->id);
	c->dispq = q;
	c->idle = c->lwp = idle;
	timerq_init(c);
}

void sched_init(void)
{
	sched_init_cpu(cpus[0]);
	sched_open_first(cpus[0]);
}
