/*
 * timing.h - the small interface between the dispatcher and the two kinds of
 * time.
 *
 * Fast timing (timing/fast.c) implements it with the LAPIC timer, HLT and an
 * IPI; exact timing with the token scheme.  The dispatcher, the timer queues and
 * the idle loop know only this file.
 */
#pragma once
#include "cpu.h"
#include "trap.h"

extern struct timepage *timepage; /* kernel address of the page that users read */
extern paddr_t timepage_pa;

struct timing {
	const char *name;
	/* Makes VEC_TIMER arrive on this CPU at time `when` (HRTIME_NEVER: not at
	 * all).  For a time in the past it arrives at once.  Interrupts off. */
	void (*set_timer)(hrtime_t when);
	/* Gives the CPU up until an interrupt or a kick.  Interrupts off on entry
	 * and return; they are taken inside.  A kick that came after the caller
	 * last looked at its queues makes it return at once. */
	void (*idle)(void);
	/* Ends the idle() of c.  c looks at memory that this CPU has written before, so it needs no interrupt if the machine
	 * has another way, such as MONITOR and MWAIT.  In exact timing there is one. */
	void (*end_idle)(struct cpu *c);
	/* Sends an interrupt to `c`, idle or not. */
	void (*ipi)(struct cpu *c, unsigned vec);
	/* CPU 0 calls it when all others are in start_cpu: virtual time begins (exact timing). */
	void (*start)(void);
	/* Each other CPU calls it before it first looks for work. */
	void (*start_cpu)(void);
	/* Moves this CPU's clock forward to `t` if it is behind (exact timing). */
	void (*advance)(hrtime_t t);
	/* Called in a loop that waits until another CPU releases l.  Interrupts off. */
	void (*spin)(struct spinlock *l);
	/* The caller has released l, for which CPUs waited in spin (exact timing). */
	void (*hand_over)(struct spinlock *l);
};

extern const struct timing *timing;

/* Makes `c` run its VEC_RESCHED handler soon, idle or not. */
static inline void timing_kick(struct cpu *c)
{
	timing->ipi(c, VEC_RESCHED);
}

void timing_choose(void);     /* by the command line's timing=fast|exact; CPU 0, as the first */
void timing_init_early(void); /* measures the TSC and the LAPIC timer; CPU 0 */
void timing_init_cpu(void);   /* this CPU's record and timer */

/* Converts a count of the TSC to nanoseconds.  Not in C: 128 bits need an aligned stack. */
static inline hrtime_t tsc_ns(uint64_t count, uint64_t mult)
{
	__asm__("mulq %1\n\tshrdq $32, %%rdx, %%rax" : "+a"(count) : "rm"(mult) : "rdx", "cc");
	return count;
}

/*
 * Nanoseconds since boot.  Any context; interrupts may be on.  Exact timing may begin a new
 * window between any two instructions: weft/time.h says why the test suffices.
 */
static inline hrtime_t time_now(void)
{
	const struct timerec *t = cpu_here->timerec;
	for (;;) {
		uint64_t tsc = rdtsc(), ran;
		hrtime_t vbase = t->vbase;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (!__builtin_sub_overflow(tsc, t->ws, &ran))
			return vbase + tsc_ns(ran, t->mult);
	}
}

/*
 * How long the boot has taken so far, in nanoseconds, for its time-outs and messages.  In exact
 * timing time_now() does not show it: the clock stands until timing->start.  Otherwise the work of
 * the boot would show in the times of files and in /dev/random.
 */
hrtime_t timing_boot_time(void);

/* Nanoseconds since 1970, for the times of files. */
uint64_t time_real(void);
