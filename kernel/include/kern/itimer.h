/*
 * itimer.h - interval timers of processes (proc/itimer.c): what the rest of the kernel must
 * report to them.
 */
#pragma once
#include "list.h"
#include "lwp.h"
#include "sync.h"
#include "timer.h"
#include "types.h"

struct proc;

/* The part of struct proc. */
struct proc_timers {
	struct kmutex lock; /* for making, setting and deleting timers */
	struct list list;   /* of struct itimer; lock, and p->lock */
	uint64_t ids;       /* ids in use; lock, and p->lock */
	struct ktimer look; /* of all timers of CPU time; set with both locks, or by its function */
	/*
	 * Running sums of the CPU time of the process's LWPs, up to the moment when each LWP was
	 * last switched out.  They are kept from the process's first timer of CPU time on
	 * (summed, which p->lock guards).
	 */
	bool summed;
	uint64_t sums[NCPUTIME]; /* atomic */
};

void itimer_proc_init(struct proc *p);
/* The current process, p, has one LWP more, which does not run yet.  No lock held; may sleep. */
void itimer_lwp_new(struct proc *p);
/* Deletes the timers of l, the current LWP, which exits.  No lock held. */
void itimer_lwp_exit(struct proc *p, struct lwp *l);
/* Deletes all timers of p, of which only the caller still runs.  No lock held. */
void itimer_proc_exit(struct proc *p);
/* Deletes the timers of timer_create: p begins another program.  No lock held. */
void itimer_exec(struct proc *p);
/* CLOCK_REALTIME has been set: moves the timers with an absolute time of it.  No lock held. */
void itimer_clock_set(void);
