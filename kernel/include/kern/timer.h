/*
 * timer.h - per-CPU queues of software timers, with the resolution of the
 * timing source, not of the tick (sched/timer.c).
 */
#pragma once
#include "types.h"
#include "tree.h"

struct timerq;

struct ktimer {
	struct tree_node node;
	hrtime_t when;
	void (*fn)(struct ktimer *); /* on the CPU that armed it, interrupts off, no lock held */
	struct timerq *queue;        /* where it is or was armed */
};

void timerq_init_cpu(void);
/* Arms t (not armed now) on this CPU.  A `when` in the past fires at once. */
void ktimer_arm(struct ktimer *t, hrtime_t when, void (*fn)(struct ktimer *));
/*
 * Disarms t.  On return its function is not running and will not run.  True: it had not
 * run.  The caller holds no lock that the function takes.
 */
bool ktimer_cancel(struct ktimer *t);
/* The same without waiting: false also if the function is running now. */
bool ktimer_withdraw(struct ktimer *t);
void timer_interrupt(void); /* VEC_TIMER: runs what is due, arms the next */
