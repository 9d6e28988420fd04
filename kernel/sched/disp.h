/*
 * disp.h - the dispatch queue, shared by the files of sched/.
 *
 * Each CPU has one: lists for every global priority and a bit map of the lists
 * that are not empty, so that insertion and choice take constant time.  Lock
 * order: l->lock, then queue->lock; two queues are never locked together.
 *
 * The CPU that puts an LWP back on its queue keeps the queue's lock until the LWP's
 * registers are saved.  So a CPU that holds the lock of a queue knows that each LWP on this
 * queue is off its CPU.
 */
#pragma once
#include <kern/cpu.h>
#include <kern/sched.h>
#include <weft/processor.h>

struct runq {
	struct list list[NPRI];
	int best;       /* highest priority, or PRI_IDLE; this and ... */
	unsigned count; /* LWPs, are read without the lock as a hint */
	uint64_t bits[(NPRI + 63) / 64];
};

struct dispq {
	struct spinlock lock;
	hrtime_t slice_end; /* of the LWP on the CPU; HRTIME_NEVER: idle.  Own CPU only */
	int64_t front;      /* `order` of the last LWP that was put at the front: below 0 */
	/* LWPs that are bound to this CPU wait in `tied`, so that a CPU that looks for work to
	 * steal does not meet them. */
	struct runq free, tied;
} CACHE_ALIGNED;

/*
 * Processor sets.  Set 0 is the default set.  A CPU takes unbound LWPs of the set c->active_set.
 * This is its own set, or none while the CPU is offline or changes its set.  `open` has a bit for
 * each CPU that takes LWPs of the set.  Both change under cpu_lock (cpus.c).
 *
 * *Race:* a waker chooses a CPU, cpus.c closes that CPU; *without this:* the LWP waits on a queue
 * that no CPU serves; *closed by:* c->active_set changes with the CPU's queue locked as well, and
 * the waker checks it under that lock (cpu_may_run).
 */
struct pset {
	volatile uint64_t open;
	uint64_t cpus; /* all CPUs that belong to it; cpu_lock */
	bool used;     /* cpu_lock */
};
extern struct pset psets[WEFT_MAXPSET + 1];
#define SET_NONE (-1)

static inline bool is_bound(const struct lwp *l)
{
	return __builtin_expect(l->bound != PBIND_NONE, 0);
}
/* May l run on c?  l->lock held, or the caller has taken l off a queue. */
static inline bool cpu_may_run(const struct cpu *c, const struct lwp *l)
{
	return !is_bound(l) ? l->pset == c->active_set : l->bound == (int)c->id;
}

/*
 * preempt.c.  sched_leaves: call it when the current LWP, l, sleeps or yields, and l->leaving is
 * not 0.  It ends the grace period of preemption control (l->grace).  A signal handler that was
 * held off is called on the way to user mode.  The sums of CPU time are updated.  Interrupts off.
 *
 * sched_call_handler only arranges the call of the handler.  Call it before a sleep that the
 * pending handler may make unnecessary.
 */
void sched_leaves(struct lwp *l);
void sched_call_handler(struct lwp *l);
/* sched_leaves for lwp_yield of the current LWP.  False: it enters the library before, to hand its thread over,
 * and yields then.  Interrupts off. */
bool sched_yields(void);

/*
 * A turn of the loop of an idle CPU, c, which is this CPU, while the LWP `stays` stays there (stay.c).  It looks at all queues and
 * at the LWP, and halts if there is nothing to run.  Returns the time at its beginning: the caller adds the time since then to
 * c->idle_ns.  sched_cpu_main sets it.  If it is NULL, because a dispatcher does not have it, no LWP stays.
 */
extern hrtime_t (*sched_idle_turn)(struct cpu *c, const struct lwp *stays);
/* Has l, which stays on this CPU, been woken?  What its waker has written is visible then. */
static inline bool stay_woken(const struct lwp *l)
{
	return __atomic_load_n(&l->state, __ATOMIC_ACQUIRE) == LWP_ST_ONPROC;
}

/* Puts l, which is RUN and on no queue, on the queue where it belongs. */
void sched_place(struct lwp *l);
/* Makes `c` look at its queue. */
void resched(struct cpu *c);
/*
 * Should l, the current LWP, leave its CPU, and has its slice ended (*slice_over)?  At the end of a
 * slice the next one begins, and the CPU may steal an LWP from a longer queue.  q: this CPU's queue.
 * l->lock held; takes queues' locks.
 */
bool sched_must_go(struct lwp *l, struct dispq *q, hrtime_t now, bool *slice_over);
/* start.c: a CPU that has started takes LWPs of the default set. */
void sched_open_first(struct cpu *c);

/* How many LWPs wait: on rq, and on all of q.  Hints without the lock. */
static inline unsigned runq_count(const struct runq *rq)
{
	return __atomic_load_n(&rq->count, __ATOMIC_RELAXED);
}
static inline unsigned dispq_count(const struct dispq *q)
{
	return runq_count(&q->free) + runq_count(&q->tied);
}
/* The highest priority that waits, or PRI_IDLE: a hint without the lock. */
static inline int dispq_best(const struct dispq *q)
{
	return MAX(q->free.best, q->tied.best);
}
/* The priority of the LWP that c runs, or PRI_IDLE: a hint. */
static inline int running_pri(const struct cpu *c)
{
	return __atomic_load_n(&c->lwp, __ATOMIC_RELAXED)->pri;
}

void timerq_arm(hrtime_t when);
/* Makes this CPU's timer come no later than `when`. */
static inline void timerq_want(hrtime_t when)
{
	if (when < cpu_here->timer)
		timerq_arm(when);
}
/*
 * Locks the queue on which l waits, or the queue of the CPU on which l runs.  l stays there while
 * the lock is held.  NULL: l neither waits nor runs.  l->lock held.
 */
struct dispq *dispq_lock_of(struct lwp *l);
void timerq_init(struct cpu *c);
/* Every SCHED_LOOK ns on each CPU for which LWPs wait, from timer_interrupt. */
#define SCHED_LOOK 250000000ull
void dispq_age(struct cpu *c, hrtime_t now);
