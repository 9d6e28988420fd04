/*
 * schedctl.h - the record that one LWP shares with the kernel: preemption
 * control and LWP state (after Solaris's schedctl_init(3C)).
 *
 * Preemption control.  Around a short critical section the library sets
 * nopreempt.  When the dispatcher wants the CPU and finds it set, it sets yield
 * and holds off for at most SC_GRACE_TICKS, once.  A library that clears
 * nopreempt and then finds yield set owes the kernel a call to lwp_yield(),
 * which clears it; until that call nopreempt has no further effect.  So a
 * process that never pays gets no more CPU than its neighbours.
 *
 * Signals.  While nopreempt or nosignal is not 0, no handler is called but for a fault of
 * the LWP itself: it may hold a lock of the library's.  If one was due, yield or signalled
 * is set, and the call to lwp_yield() that is owed then is where the handler is called.
 * nosignal is for a library that wants no preemption control.
 *
 * While idle is not 0 the LWP runs no thread, and takes no signals at all, whatever its mask: of
 * those for the process, which it might have been chosen for, another one takes them.
 *
 * State.  A CPU that takes the LWP up writes cpu, then state = SC_ONCPU
 * (release).  The CPU that puts it down writes the new state before it switches
 * away.  So a reader on another CPU who sees SC_ONCPU (an ordinary load) knows
 * that the LWP had the CPU within the time that a store takes to become
 * visible; the value is a hint for spinning, never a proof.
 *
 * SC_COMING is for spinners too.  A woken LWP is off its CPU for some hundred
 * instructions more, until an idle CPU has left HLT and switched to it.  Who
 * goes to sleep because of those waits for a wake-up that takes as long again,
 * and lets the other in for the same: two LWPs that would hand over by spinning
 * then sleep in turns, for as long as they go on.
 *
 * One cache line a record, so that two LWPs never share one.
 */
#pragma once
#include "abi.h"

#define SC_GRACE_TICKS 2

enum {
	SC_FREE = 0,     /* record without an LWP */
	SC_ONCPU = 1,    /* on the CPU given by cpu */
	SC_RUNNABLE = 2, /* waiting for a CPU */
	SC_SLEEPING = 3, /* blocked in the kernel */
	SC_STOPPED = 4,  /* suspended */
	SC_COMING = 5,   /* runnable, and next on a CPU that was idle */
};

struct schedctl {
	volatile uint32_t nopreempt; /* library writes: not 0 = do not preempt */
	volatile uint32_t yield;     /* kernel sets 1: yield soon; lwp_yield() clears */
	volatile uint32_t state;     /* kernel writes: SC_* */
	volatile uint32_t cpu;       /* kernel writes: the CPU it is on or was last on */
	volatile uint32_t lwpid;     /* kernel writes: the LWP that owns the record */
	volatile uint32_t nosignal;  /* library writes: not 0 = call no handler */
	volatile uint32_t signalled; /* kernel sets 1: one is due; lwp_yield() clears */
	volatile uint32_t idle;      /* library writes: not 0 = runs no thread, takes no signals */
	uint32_t spare[8];
};
