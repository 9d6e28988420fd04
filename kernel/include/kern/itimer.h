/*
 * itimer.h - interval timers of processes (proc/itimer.c): what the rest of the kernel must
 * tell them.
 */
#pragma once
#include "list.h"
#include "sync.h"
#include "types.h"

struct lwp;
struct proc;

/* struct proc's part. */
struct proc_timers {
	struct kmutex lock; /* making, setting and deleting them */
	struct list list;   /* of struct itimer; lock, and p->lock */
	uint64_t ids;       /* in use; the same */
};

void itimer_proc_init(struct proc *p);
/* l, the current LWP, leaves: the timers of its own go.  No lock held. */
void itimer_lwp_exit(struct proc *p, struct lwp *l);
/* Nothing of p runs any more but the caller: all go.  No lock held. */
void itimer_proc_exit(struct proc *p);
/* A new program: those of timer_create go.  No lock held. */
void itimer_exec(struct proc *p);
