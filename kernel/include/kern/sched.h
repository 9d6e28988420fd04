/*
 * sched.h - the dispatcher and its classes (sched/).
 */
#pragma once
#include "lwp.h"
#include "types.h"

/* Global priorities: 0-59 time-share, 60-99 kernel, 100-159 real-time. */
#define PRI_TS_MAX 59
#define PRI_SYS 60
#define PRI_SYS_MAX 99
#define PRI_RT 100
#define PRI_MAX 159
#define NPRI (PRI_MAX + 1)

/*
 * A scheduling class decides priorities and slices; the dispatcher only ever
 * runs the highest priority.  All operations are called with l->lock held.
 */
struct sched_class {
	const char *name;
	void (*init)(struct lwp *l, const struct lwp *parent);
	hrtime_t (*quantum)(const struct lwp *l); /* length of a fresh slice, ns */
	void (*slice_used)(struct lwp *l);        /* it ran to the end of its slice */
	void (*wakeup)(struct lwp *l);            /* it comes back from a sleep */
	/* Once a second for an LWP that waits on a dispatch queue since `since`. */
	void (*starved)(struct lwp *l, hrtime_t since);
};
extern const struct sched_class ts_class, sys_class;

void sched_init(void);              /* caches, classes, CPU 0's idle LWP */
void sched_init_cpu(struct cpu *c); /* dispatch queue and idle LWP of a CPU, before it starts */

/* A kernel LWP (priority PRI_SYS) that runs fn(arg); NULL: out of memory. */
struct lwp *kernel_lwp(const char *name, void (*fn)(void *), void *arg);

/* VEC_RESCHED: need_resched is set; nothing else to do. */
void resched_interrupt(void);
/* A long loop in the kernel calls this where it may sleep, to let others in. */
void preempt_point(void);
