/*
 * sample.h - a look at CPUs and LWPs at the end of a sleep (sched/sample.c).
 */
#pragma once
#include "timer.h"

struct sample {
	struct ktimer timer;
	struct proc *proc; /* of the LWP that sleeps, so it lives for longer than the timer */
};

/*
 * The current LWP is about to sleep until `when`: at this time the CPUs, and the LWPs of its
 * process, are recorded.  A `when` in the past: now.  Holds no lock.
 */
void sample_arm(struct sample *sample, hrtime_t when);
/* The sleep has ended.  If it has ended early, nothing is recorded.  Holds no lock. */
void sample_end(struct sample *sample);
