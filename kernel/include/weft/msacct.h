/*
 * msacct.h - microstates: where the time of an LWP goes (after Solaris's microstate
 * accounting, proc(4)).
 *
 * An LWP is in one state at every moment of its life, and the kernel stamps each change.
 * Nothing is sampled, and the times add up to the time that has passed, to the
 * nanosecond.  In the states up to MS_KFAULT the LWP has a CPU.  Together these states are
 * its CPU time.  In the other states it has no CPU.  A sleep during a fault counts as
 * sleep.  An interrupt counts for the state that it interrupts.
 */
#pragma once
#include "abi.h"

enum {
	MS_USER,    /* in user mode */
	MS_SYSTEM,  /* in a system call, or on the way to user mode */
	MS_TRAP,    /* in any trap except a page fault */
	MS_TFAULT,  /* in a page fault of an instruction fetch */
	MS_DFAULT,  /* in a page fault of an access to data */
	MS_KFAULT,  /* in a page fault of the kernel on user memory */
	MS_LOCK,    /* blocked for a lock of the program: parked, or in a lock's system call */
	MS_SLEEP,   /* blocked for anything else */
	MS_WAITCPU, /* runnable, waiting for a CPU */
	MS_STOPPED, /* suspended, or not yet started */
	NMSTATE,
};

struct weft_msacct {          /* kernel writes all; times in nanoseconds */
	int32_t pid;          /* the process */
	uint32_t lwpid;       /* 0: the process, with all the LWPs that it has or had */
	uint32_t nlwp;        /* LWPs that the process has now */
	uint32_t spare;       /* 0 */
	uint64_t now;         /* the moment of these values, since boot */
	uint64_t created;     /* when the LWP or the process was created, since boot */
	uint64_t elapsed;     /* lifetime of the LWP, or the sum of the lifetimes */
	uint64_t ms[NMSTATE]; /* time in each state; they add up to elapsed */
	uint64_t nvcsw;       /* switches because it blocked */
	uint64_t nivcsw;      /* switches because it was preempted */
	uint64_t nsyscall;    /* system calls */
	uint64_t minflt;      /* page faults */
};
