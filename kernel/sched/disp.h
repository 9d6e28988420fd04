/*
 * disp.h - the dispatch queue, shared by the files of sched/.
 *
 * Each CPU has one: a list for every global priority and a bit map of the lists
 * that are not empty, so that insertion and choice take constant time.  Lock
 * order: l->lock, then queue->lock; two queues are never locked together.  The
 * CPU that switches holds its own queue's lock from the choice of the next LWP
 * until the previous one's registers are saved: an LWP that stands on a queue
 * whose lock one has got is therefore off its CPU.
 */
#pragma once
#include <kern/cpu.h>
#include <kern/sched.h>

struct dispq {
	struct spinlock lock;
	uint64_t bits[(NPRI + 63) / 64];
	volatile unsigned count;  /* LWPs waiting; read without the lock as a hint */
	volatile int running_pri; /* of the LWP on the CPU; read without the lock as a hint */
	hrtime_t slice_end;       /* of the LWP on the CPU; HRTIME_NEVER: idle.  Own CPU only */
	struct list list[NPRI];
} CACHE_ALIGNED;

/* CPUs without work, bit by bit.  A CPU sets its own bit and then looks at all
 * queues once more; a waker inserts and then looks at the bits (both sequentially
 * consistent): one of the two sees the other. */
extern volatile uint64_t idle_cpus;

int dispq_best(const struct dispq *q); /* highest waiting priority, or PRI_IDLE */
/* Moves a waiting LWP to another priority.  q->lock held. */
void dispq_change_pri(struct dispq *q, struct lwp *l, int pri);
/* Makes this CPU's timer come no later than `when`. */
void timerq_want(hrtime_t when);
void timerq_init(struct cpu *c);
/* At the end of a slice: takes an LWP from the longest queue if it is longer by two. */
void sched_balance(void);
/* Once a second on each CPU, from timer_interrupt. */
void dispq_age(struct dispq *q, hrtime_t now);
