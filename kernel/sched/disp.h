/*
 * disp.h - the dispatch queue, shared by the files of sched/.
 *
 * Each CPU has one: lists for every global priority and a bit map of the lists
 * that are not empty, so that insertion and choice take constant time.  Lock
 * order: l->lock, then queue->lock; two queues are never locked together.  The
 * CPU that puts an LWP back on its queue keeps the queue's lock until the LWP's
 * registers are saved: an LWP that stands on a queue whose lock one has got is
 * therefore off its CPU.
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
	int64_t front;      /* `order` of the last one put at the front: below 0 */
	/* Those bound to this CPU wait apart, so that nobody who looks for work
	 * comes by them. */
	struct runq free, tied;
} CACHE_ALIGNED;

/*
 * Processor sets.  Set 0 is the default one.  A CPU takes unbound LWPs of the set that
 * c->active_set says: its own, or none while it is offline or changes over; `open` has the
 * bits of those that do.  Both change under cpu_lock (cpus.c), c->active_set with the CPU's
 * queue locked as well, so that nobody is put on the queue of a CPU that has just closed.
 */
struct pset {
	volatile uint64_t open;
	uint64_t cpus; /* all that belong to it; cpu_lock */
	bool used;     /* cpu_lock */
};
extern struct pset psets[WEFT_MAXPSET + 1];
#define SET_NONE (-1)

static inline bool is_bound(const struct lwp *l)
{
	return __builtin_expect(l->bound != PBIND_NONE, 0);
}
/* May l run on c?  Also without l's lock, for an LWP that one has taken off a queue. */
static inline bool cpu_may_run(const struct cpu *c, const struct lwp *l)
{
	return !is_bound(l) ? l->pset == c->active_set : l->bound == (int)c->id;
}

/*
 * preempt.c.  The current LWP, l, sleeps or yields, and l->leaving is not 0: what preemption control
 * owes is settled (l->grace), a handler that was held off is to be called on the way to user mode,
 * and sums of CPU time are kept up.  Interrupts off.  The second function does the call of
 * the handler alone, for a sleep which that may forestall.
 */
void sched_leaves(struct lwp *l);
void sched_call_handler(struct lwp *l);

#define SLEEP_OF_PARK (SLEEP_INTR | SLEEP_PARK | SLEEP_LOCK)
/* The rest of lwp_park (sleep.c).  Interrupts off; l->lock held, which is given up. */
int lwp_park_slowly(struct lwp *l, hrtime_t deadline);
/*
 * The result of a park of l, the current LWP, which `reason` has ended.  A permit that arrives
 * beside a time-out or a signal wins, so that no unpark is lost.  Interrupts off.
 */
int lwp_park_result(struct lwp *l, int reason);

/* Puts l, which is RUN and on no queue, on the one where it belongs. */
void sched_place(struct lwp *l);
/* Makes `c` look at its queue. */
void resched(struct cpu *c);
/* A CPU that has started takes LWPs of the default set. */
void sched_open_first(struct cpu *c);
/* Sends the LWPs that wait for c, and may not any more, elsewhere. */
void sched_drain(struct cpu *c);

/* CPUs without work, bit by bit.  A CPU sets its own bit and then looks at all
 * queues once more; a waker inserts and then looks at the bits (both sequentially
 * consistent): one of the two sees the other. */
extern volatile uint64_t idle_cpus;
/* Claims an idle CPU of `among`, `prefer` if it is one, which is going to look at all queues;
 * NULL when none is idle. */
struct cpu *claim_idle_of(unsigned prefer, uint64_t among);
static inline struct cpu *claim_idle(unsigned prefer, uint64_t among)
{
	if (__builtin_expect((__atomic_load_n(&idle_cpus, __ATOMIC_SEQ_CST) & among) == 0, 1))
		return NULL;
	return claim_idle_of(prefer, among);
}

/* LWPs that wait; those of them that any CPU of the set may take: hints. */
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
/* The priority of what c runs, PRI_IDLE for nothing: a hint. */
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
 * Locks the queue on which l waits, or that of the CPU which it is on: it stays there.
 * NULL: neither.  l->lock held.
 */
struct dispq *dispq_lock_of(struct lwp *l);
void timerq_init(struct cpu *c);
/* At the end of a slice of an LWP that now has this priority: may take one from a longer queue. */
void sched_balance(int pri);
/* Every SCHED_LOOK ns on each CPU for which LWPs wait, from timer_interrupt. */
#define SCHED_LOOK 250000000ull
void dispq_age(struct cpu *c, hrtime_t now);
