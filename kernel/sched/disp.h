/*
 * disp.h - the dispatch queue, shared by the files of sched/.
 *
 * Each CPU has one: lists for every global priority and a bit map of the lists
 * that are not empty, so that insertion and choice take constant time.  Lock
 * order: l->lock, then queue->lock; two queues are never locked together.  The
 * CPU that switches holds its own queue's lock from the choice of the next LWP
 * until the previous one's registers are saved: an LWP that stands on a queue
 * whose lock one has got is therefore off its CPU.
 */
#pragma once
#include <kern/cpu.h>
#include <kern/sched.h>
#include <weft/processor.h>

struct runq {
	uint64_t bits[(NPRI + 63) / 64];
	struct list list[NPRI];
};

struct dispq {
	struct spinlock lock;
	volatile unsigned count;  /* LWPs waiting; read without the lock as a hint */
	volatile unsigned ntied;  /* of them, those bound to this CPU; the same */
	volatile int running_pri; /* of the LWP on the CPU; read without the lock as a hint */
	hrtime_t slice_end;       /* of the LWP on the CPU; HRTIME_NEVER: idle.  Own CPU only */
	int64_t front;            /* `order` of the last one put at the front: below 0 */
	/* Those bound to this CPU wait apart, so that nobody who looks for work
	 * comes by them. */
	struct runq free, tied;
} CACHE_ALIGNED;

/*
 * Processor sets.  Set 0 is the default one.  A CPU takes unbound LWPs of the set that
 * c->takes says: its own, or none while it is offline or changes over; `open` has the
 * bits of those that do.  Both change under cpu_lock (cpus.c), c->takes with the CPU's
 * queue locked as well, so that nobody is put on the queue of a CPU that has just closed.
 */
struct pset {
	volatile uint64_t open;
	uint64_t cpus; /* all that belong to it; cpu_lock */
	bool used;     /* cpu_lock */
};
extern struct pset psets[WEFT_MAXPSET + 1];
#define TAKES_NONE (-1)

/* May l run on c?  Also without l's lock, for an LWP that one has taken off a queue. */
static inline bool cpu_takes(const struct cpu *c, const struct lwp *l)
{
	return l->bound == PBIND_NONE ? l->pset == c->takes : l->bound == (int)c->id;
}

/* Puts l, which is RUN and on no queue, on the one where it belongs. */
void sched_place(struct lwp *l);
/* Claims an idle CPU of `among`, `prefer` if it is one, which is going to look at all queues;
 * NULL when none is idle. */
struct cpu *claim_idle(unsigned prefer, uint64_t among);
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

/* Makes this CPU's timer come no later than `when`. */
void timerq_want(hrtime_t when);
/* Takes a waiting LWP off its queue; false: a CPU has taken it up meanwhile.  l->lock held. */
bool dispq_take(struct lwp *l);
void timerq_init(struct cpu *c);
/* At the end of a slice: takes an LWP from the longest queue if it is longer by two. */
void sched_balance(void);
/* Once a second on each CPU, from timer_interrupt. */
void dispq_age(struct dispq *q, hrtime_t now);
