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
 *	  at the end of a time slice if another's queue is longer: by two, or by one that has
 *	  the priority to run here at once;
 *	- all this among the CPUs that take the LWP: those of its processor set that are
 *	  online, or the one that it is bound to (disp.h, cpus.c).
 */
#include "queue.h"
#include <kern/cache.h>
#include <kern/kstack.h>
#include <kern/proc.h>
#include <kern/timing.h>
#include <kern/upcall.h>

volatile uint64_t idle_cpus;
struct pset psets[WEFT_MAXPSET + 1] = {[0].used = true};

/* --- placement ------------------------------------------------------------------- */

/* The CPUs that l may run on, bit by bit: never none. */
static uint64_t cpus_for(const struct lwp *l)
{
	return l->bound == PBIND_NONE ? psets[l->pset].open : 1ull << l->bound;
}

/* Claiming clears the bit, so that two wake-ups in a row go to two CPUs. */
struct cpu *claim_idle_of(unsigned prefer, uint64_t among)
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
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
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

void sched_change(struct lwp *l, void (*change)(struct lwp *, void *), void *arg)
{
	struct dispq *q = dispq_lock_of(l);
	bool waits = l->state == LWP_ST_RUN;
	struct cpu *on = l->state == LWP_ST_ONPROC ? cpus[l->cpu] : NULL;
	if (waits)
		dispq_remove(q, l);
	change(l, arg);
	if (on != NULL) {
		l->slice_left = 0;    /* must_go computes what is left */
		on->need_resched = 1; /* before l can put itself back (switch.c) */
	}
	if (q != NULL)
		spin_release(&q->lock);
	PROBE(priority, "lwp new", l, l->pri, 0);
	if (waits)
		sched_place(l);
	else if (on != NULL)
		resched(on);
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

void sched_cpu_load(struct cpu *c, uint32_t *waiting, int32_t *pid, uint32_t *lwpid)
{
	/* The structure of the LWP is type-stable.  Its process cannot be freed, because
	 * proc_tree_lock is held.  The CPU may run another LWP by now: the answer is a snapshot. */
	irqstate_t s = spin_lock(&proc_tree_lock);
	struct lwp *l = c->lwp;
	spin_acquire(&l->lock);
	*waiting = dispq_count(c->dispq);
	*pid = l->proc ? l->proc->pid : 0;
	*lwpid = l->proc ? l->id : 0;
	spin_release(&l->lock);
	spin_unlock(&proc_tree_lock, s);
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
	q->free.best = q->tied.best = PRI_IDLE;
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
