/*
 * lockstep.h - what the files of exact timing share.
 *
 *	lockstep.c	rounds, windows, the clocks: which CPU runs when, and for how long
 *	lockstep.S	where a window begins and ends
 *	processors.c	the engine of several processors: the token goes from one to the next
 *	one.c		the engine of one processor, which runs all virtual CPUs in turn
 *	selftest.c	the proof at boot that windows are exact
 */
#pragma once
#include <kern/cpu.h>
#include <kern/spinlock.h>

/* All times here are in instructions; --mips sets how many are a microsecond. */
struct lsclock {
	volatile uint64_t now;   /* local clock at the start of the window */
	volatile uint64_t timer; /* when VEC_TIMER is due; NEVER */
	volatile uint64_t advance_to;
	volatile uint32_t len; /* of the current window */
	volatile uint32_t active;
	volatile uint32_t wakeup;       /* it has been told to wake up since it last went idle */
	struct spinlock *volatile lock; /* the CPU waits until this lock is free; NULL: none */
	struct spinlock *volatile given_up; /* LS_HAND_OVER: which lock; it may be freed already */
};

extern struct lsclock ls[WEFT_MAXCPU];

/* This CPU's clock, in a window. */
uint64_t lsclock_now(struct cpu *c);

/* How a CPU gives way to another.  All on the holder of the token, outside of windows, interrupts
 * off. */
struct engine {
	/* The caller's CPU has started and waits.  Returns when it first has the token. */
	void (*join)(struct cpu *c);
	/* c passes the token to `next`.  Returns when c has it again.  idle: c runs no LWP. */
	void (*give)(struct cpu *c, struct cpu *next, bool idle);
	/* A window of c is over. */
	void (*end)(struct cpu *c);
	/* c has the token, and its window is about to begin: the last moment for what is to
	 * happen outside of virtual time. */
	void (*begin)(struct cpu *c);
};

extern const struct engine engine_processors, engine_one;

/* What lockstep.S leaves on the stack where a window ends; cpu->frame. */
struct lockstep_frame {
	uint64_t gsbase, pad;
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t rip, cs, rflags, rsp, ss;
};

/* lockstep.S.  Sends `vec` to a CPU, in a window.  Both engines execute the same number of
 * instructions here. */
void lockstep_send(struct cpu *to, unsigned vec);

/* selftest.c.  Every CPU executes lockstep_selftest at the same time; CPU 0 then judges. */
void lockstep_selftest_init(uint64_t quantum, uint64_t longest_round);
void lockstep_selftest_begin(void);
void lockstep_selftest(void);
/* The instructions between its end and the time at which programs may begin. */
uint64_t lockstep_selftest_rest(void);
/* At each window of c that begins meanwhile, outside of windows. */
void lockstep_selftest_look(const struct cpu *c);
void lockstep_selftest_judge(uint64_t short_windows, uint64_t long_windows);
