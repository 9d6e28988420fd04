/*
 * ilock.h - critical sections of the library, and its own spin lock.
 *
 * Locks of the library, in the order in which they nest:
 *
 *	__threads_lock		list of threads, ids, joining, free threads (core/thread.c)
 *	sleep queues of the first table, then those of the second,
 *				or the one lock of a model instead of both (core/sleepq.h)
 *	everything else is innermost.
 */
#pragma once
#include "tcb.h"

/*
 * Preemption control (weft/schedctl.h).  In a critical section the kernel lets the LWP
 * go on for a little beyond its time, and calls no handler; whoever leaves the last one pays
 * by a yield if the kernel asked for it.  An unbound thread cannot change its LWP inside, since
 * it does so only where it calls the model.
 *
 * These are a part of every fast path, and so are written out: the section is found by one
 * instruction, and the exit's result, not 0, says all at once that the kernel wants the CPU, that
 * this was an inner section, or that it was timed.  __critical_left, always 0, tells which.
 * slow.S says how it is called.
 */
long __critical_left(void);

/* Code that is hardly ever executed: behind the function.  It ends by a jump back to 1. */
#define OUT_OF_THE_WAY(code) "\n1:\n\t.subsection 1\n2:\t" code "\n\tjmp 1b\n\t.previous"

static inline struct section *this_section(void)
{
	struct section *c;

	__asm__ volatile("movq %%fs:%c1, %0" : "=r"(c) : "i"(offsetof(struct thread, critical)));
	return c;
}

/*
 * A restartable range of instructions: a thread that a handler interrupts in its middle, and that goes
 * on on another LWP, begins it again (core/restart.c).  Only the last instruction of the range has an
 * effect, and no register that the range reads is changed in it.  The entry of a range stands in a
 * section, as in the kernel's .extable; its ends are relative to itself.  The section belongs to the
 * function's ("o"), so that the linker drops both together.
 */
struct restartable {
	int32_t from;    /* the first instruction, from this entry */
	uint32_t length; /* up to the end of the last one */
};
#define RESTARTABLE(code)                                                                          \
	".Lrestart%=:\t" code "\n3:\t.pushsection .restartable, \"ao\", @progbits, .Lrestart%=\n"  \
	"\t.long .Lrestart%= - ., 3b - .Lrestart%=\n\t.popsection"

/* If uc is in the middle of a restartable range, it goes on at the first instruction. */
void __restart_range(struct weft_ucontext *uc);

/*
 * *Race:* a handler comes between the two instructions and blocks, and its thread goes on on another
 * LWP.  *Without this:* the thread enters the critical section of the LWP that it has left, and none of
 * that LWP's threads gets a signal again.  *Closed by:* the restart, which loads the pointer again.
 */
static inline void critical_enter(void)
{
	struct section *c;

	__asm__ volatile(RESTARTABLE("movq %%fs:%c1, %0\n\taddl $1, (%0)")
			 : "=&r"(c)
			 : "i"(offsetof(struct thread, critical))
			 : "memory", "cc");
}

static inline void critical_exit(void)
{
	struct section *c = this_section();

	__asm__ volatile __inline__("subq $1, %0\n\tjnz 2f" OUT_OF_THE_WAY("call __critical_slow")
				    : "+m"(c->both)
				    :
				    : "memory", "cc");
}

static inline bool in_critical(const struct ulwp *l)
{
	return l->critical->nopreempt != 0;
}

/*
 * The library's own lock.  Spins, with preemption control.  Nobody who holds one waits
 * for another thread or runs code of the program.  Memory: taking is an acquire, giving up a
 * release.  It is held when the highest bit is set; a model may use the others.
 */
struct ilock {
	volatile uint32_t held;
};
#define ILOCK_HELD 0x80000000u

/* The caller must not be suspended: others depend on what it does next. */
static inline void no_suspend_enter(void)
{
	thread_self()->no_suspend += 1;
	__asm__ volatile("" : : : "memory");
}

static inline void no_suspend_exit(void)
{
	__asm__ volatile("" : : : "memory");
	thread_self()->no_suspend -= 1;
}

/*
 * The slow side of ilock_lock: take(l) tries to take it.  Returns the number of times that it
 * gave up its CPU on the way.
 */
unsigned __ilock_wait(struct ilock *l, bool (*take)(struct ilock *l));
bool __ilock_take(struct ilock *l);
void __ilock_contended(struct ilock *l);
/* One turn of a loop that waits for an LWP which may need this CPU; *turns is 0 at first. */
void __backoff(unsigned *turns);

static inline bool ilock_try(struct ilock *l)
{
	bool was_held;

	__asm__ volatile("lock btsl $31, %0" : "+m"(l->held), "=@ccc"(was_held) : : "memory");
	return likely(!was_held);
}

/* l is not on the caller's stack. */
static inline void ilock_lock(struct ilock *l)
{
	critical_enter();
	__asm__ volatile __inline__(
		"lock btsl $31, %0\n\tjc 2f" OUT_OF_THE_WAY(
			"pushq %%rdi\n\tleaq %0, %%rdi\n\tcall __ilock_slow\n\tpopq %%rdi")
		: "+m"(l->held)
		:
		: "memory", "cc");
}

static inline void ilock_unlock(struct ilock *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
	critical_exit();
}

/* The same when the caller is in another critical section too, and stays in it. */
static inline void ilock_unlock_inner(struct ilock *l)
{
	struct section *c = this_section();

	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
	__asm__ volatile("subl $1, %0" : "+m"(c->nopreempt) : : "memory", "cc");
}

/* Gives l up, but stays in its critical section. */
static inline void ilock_drop(struct ilock *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

/* CLOCK_REALTIME - CLOCK_MONOTONIC, as it is now. */
static inline uint64_t clock_offset(void)
{
	return __atomic_load_n(&__timepage->boot_realtime, __ATOMIC_RELAXED);
}

static inline bool is_real_time(deadline_t d)
{
	return d != NEVER && d & REAL_TIME;
}

/* d as a time of CLOCK_MONOTONIC, with this offset between the clocks; one before its start: 0. */
static inline deadline_t deadline_by(deadline_t d, uint64_t offset)
{
	if (!is_real_time(d))
		return d;
	d &= ~REAL_TIME;
	return d > offset ? d - offset : 0;
}
