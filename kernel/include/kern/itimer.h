/*
 * itimer.h - interval timers of processes (proc/itimer.c): what the rest of the kernel must
 * tell them.
 */
#pragma once
#include "list.h"
#include "lwp.h"
#include "sync.h"
#include "timer.h"
#include "types.h"

struct proc;

/* struct proc's part. */
struct proc_timers {
	struct kmutex lock; /* making, setting and deleting them */
	struct list list;   /* of struct itimer; lock, and p->lock */
	uint64_t ids;       /* in use; the same */
	struct ktimer look; /* of all timers of CPU time together; set with both, or by itself */
	/*
	 * Running sums of the CPU time of the process's LWPs, up to when each was last put off
	 * its CPU.  They are kept from the first timer of the process's CPU time on (summed,
	 * which p->lock guards).
	 */
	bool summed;
	uint64_t sums[NCPUTIME]; /* atomic */
};

void itimer_proc_init(struct proc *p);
/* The current process, p, has an LWP more, which does not run yet.  No lock held; may sleep. */
void itimer_lwp_new(struct proc *p);
/* l, the current LWP, leaves: the timers of its own go.  No lock held. */
void itimer_lwp_exit(struct proc *p, struct lwp *l);
/* Nothing of p runs any more but the caller: all go.  No lock held. */
void itimer_proc_exit(struct proc *p);
/* A new program: those of timer_create go.  No lock held. */
void itimer_exec(struct proc *p);
/* CLOCK_REALTIME has been set: moves what waits for absolute times of it.  No lock held. */
void itimer_clock_set(void);
