/*
 * schedctl.h - the record that an LWP shares with the kernel: preemption
 * control and LWP state (after Solaris's schedctl_init(3C)).
 *
 * Preemption control.  Around a short critical section the library sets
 * nopreempt.  When the dispatcher wants the CPU and finds nopreempt set, it sets
 * yield and delays the preemption, once, by at most SC_GRACE_TICKS.  A library that
 * clears nopreempt and then finds yield set must call lwp_yield(), which clears
 * yield.  Until that call, nopreempt has no further effect.  So a process that never
 * makes the call gets no more CPU time than other processes.
 *
 * Signals.  While nopreempt or nosignal is not 0, no handler is called, because the LWP may
 * hold a lock of the library.  The exception is a fault of the LWP itself.  If a handler was
 * due, yield or signalled is set.  The library must then call lwp_yield(), which calls the
 * handler.  nosignal is for a library that does not want preemption control.
 *
 * While idle is not 0, the LWP runs no thread and takes no signals, whatever its mask.  For
 * signals of the process, the kernel chooses another LWP.
 *
 * State.  A CPU that switches to the LWP writes cpu, then state = SC_ONCPU
 * (release).  A CPU that switches away from the LWP writes the new state before the
 * switch.  So a reader on another CPU that loads SC_ONCPU (an ordinary load) knows
 * that the LWP had the CPU a moment ago; a store needs this moment to become
 * visible.  The value is a hint for spinning, never a proof.
 *
 * SC_COMING is for spinners too.  A woken LWP stays off its CPU for some hundred
 * more instructions, until an idle CPU has left HLT and switched to it.  A spinner that
 * goes to sleep in this time has to wait for a wake-up of the same length, and makes the
 * other LWP wait as long.  Two LWPs that could hand over by spinning would then sleep in
 * turns.
 *
 * The sum of `waiting` of a process's LWPs is the number of its threads that could run, and wait for an
 * LWP.  The kernel reads it at the end of a slice (activations, weft/lwp.h).  While the sum is 0, no
 * slice needs to end.  The library may write the number into any of the records.  An LWP that exits takes
 * its record's number with it.  `slice_over` tells this upcall from those for other reasons.  All LWPs get the same
 * number, which is not 0 and not the number of the slice before.
 *
 * `signals` (activations): signals of the process that no LWP takes, because each LWP that runs a thread blocks
 * them.  The kernel sets the bits, then `look`.  The library clears `look`, then takes the bits, and looks
 * for threads that are on no LWP and take these signals.
 *
 * `mask`: the signals that the LWP blocks.  The kernel writes it as system calls and handlers change the mask, and the
 * library may write it too, instead of a system call.  `pending` has signals that the kernel has found blocked.  After
 * the library has stored a mask (sequentially consistent), it must look at `pending`.  If the new mask does not block one
 * of these signals, it must call sigprocmask, perhaps with nothing to change: this takes the signal.
 *
 * Each record has a cache line of its own, so two LWPs never share one.
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
	volatile uint32_t cpu;       /* kernel writes: the CPU that it is on or was last on */
	volatile uint32_t lwpid;     /* kernel writes: the LWP that owns the record */
	volatile uint32_t nosignal;  /* library writes: not 0 = call no handler */
	volatile uint32_t signalled; /* kernel sets 1: a handler is due; lwp_yield() clears */
	volatile uint32_t idle;      /* library writes: not 0 = runs no thread, takes no signals */
	union {                      /* activations, weft/lwp.h */
		struct {
			volatile uint8_t surplus; /* kernel writes: 1: has no CPU */
			volatile uint8_t look;    /* kernel sets 1, library clears: see signals */
			/* Kernel sets, library clears (or sets again, later): the number of a slice that has ended. */
			volatile uint8_t slice_over;
		};
		volatile uint32_t attend; /* all: not 0: the library has something to do first */
	};
	volatile uint32_t waiting; /* library writes: threads that wait for an LWP (activations) */
	volatile uint64_t signals; /* kernel sets bits, library clears them (activations) */
	volatile uint64_t mask;    /* both: the signals that it blocks */
	volatile uint64_t pending; /* kernel writes: see mask */
};
