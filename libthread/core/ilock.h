/*
 * ilock.h - critical sections of the library, and its own spin lock.
 *
 * Locks of the library, in the order in which they nest:
 *
 *	lock of Win32		handles and the objects behind them (win/handle.c)
 *	__threads_lock		list of threads, ids, joining, free threads (core/ids.h)
 *	locks of ids		the same, except the list and free threads, if threads have many locks (core/ids.h)
 *	sleep queues of the first table, then those of the second,
 *				or the one lock of a model instead of both (core/sleepq.h)
 *	all other locks are innermost.  Model sa with several CPUs has locks before the queues': model/mxn/queue.c.
 */
#pragma once
#include "tcb.h"

/*
 * Preemption control (weft/schedctl.h).  In a critical section the kernel lets the LWP run a little
 * beyond its time slice, and calls no handler.  A thread that leaves the outermost section yields
 * if the kernel asked for it.  An unbound thread cannot change its LWP inside a section, because it
 * changes LWPs only where it calls the model.
 *
 * These functions are part of every fast path, so their code is written out.  One instruction
 * finds the section.  The result of the exit is not 0 in three cases: the kernel wants the CPU,
 * this was an inner section, or the section was timed.  __critical_left finds out which; it always
 * returns 0.  slow.S says how it is called.
 */
long __critical_left(void);

/* Code that is hardly ever executed is placed behind the function.  It ends by a jump back to 1. */
#define OUT_OF_THE_WAY(code) "\n1:\n\t.subsection 1\n2:\t" code "\n\tjmp 1b\n\t.previous"

static inline struct section *this_section(void)
{
	struct section *c;

	__asm__ volatile("movq %%fs:%c1, %0" : "=r"(c) : "i"(offsetof(struct thread, critical)));
	return c;
}

/*
 * A restartable range of instructions.  A handler may interrupt a thread in the middle of the
 * range, and the thread may go on on another LWP.  Then the thread begins the range again
 * (core/restart.c).  Only the last instruction of the range has an effect, and the range changes no
 * register that it reads.  The entry of a range stands in a section, as in the kernel's .extable;
 * its ends are relative to itself.  The entry's section is linked to the function's ("o"), so that
 * the linker drops both together.
 */
struct restartable {
	int32_t from;    /* the first instruction, from this entry */
	uint32_t length; /* up to the end of the last instruction */
};
#define RESTARTABLE(code)                                                                          \
	".Lrestart%=:\t" code "\n3:\t.pushsection .restartable, \"ao\", @progbits, .Lrestart%=\n"  \
	"\t.long .Lrestart%= - ., 3b - .Lrestart%=\n\t.popsection"

/* If uc is in the middle of a restartable range, uc goes on at the first instruction. */
void __restart_range(struct weft_ucontext *uc);

/*
 * *Race:* a handler comes between the two instructions and blocks, and its thread goes on on
 * another LWP.  *Without this:* the thread enters the critical section of the LWP that it has left,
 * and the threads of that LWP get no signal any more.  *Closed by:* the restart, which loads the
 * pointer again.
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

/* The caller is in another critical section too, and stays in it. */
static inline void critical_exit_inner(void)
{
	struct section *c = this_section();

	__asm__ volatile("subl $1, %0" : "+m"(c->nopreempt) : : "memory", "cc");
}

static inline bool in_critical(const struct ulwp *l)
{
	return l->critical->nopreempt != 0;
}

/*
 * The library's own lock.  A waiter spins; the holder has preemption control.  A holder never waits
 * for another thread and never runs code of the program.  Memory: to acquire the lock is an
 * acquire, to release it a release.  It is held when the highest bit is set; a model may use the
 * other bits.
 */
#define ILOCK_HELD 0x80000000u

/*
 * The caller must not be suspended, because others depend on what it does next.  LOOK_OWED: the scheduler has come meanwhile, and
 * comes again at the end.  Each change is one instruction, because an upcall may set LOOK_OWED at any time.
 */
#define LOOK_OWED 0x80000000u /* in no_suspend */
void __look_owed(void);

static inline void no_suspend_enter(void)
{
	__asm__ volatile("addl $1, %0" : "+m"(thread_self()->no_suspend) : : "memory", "cc");
}

static inline void no_suspend_exit(void)
{
	bool owed;

	__asm__ volatile("subl $1, %0"
			 : "+m"(thread_self()->no_suspend), "=@ccs"(owed)
			 :
			 : "memory");
	if (unlikely(owed))
		__look_owed();
}

/*
 * The slow side of ilock_lock: take(l) tries to acquire l.  Returns the number of times that the
 * caller yielded its CPU or slept meanwhile.
 */
unsigned __ilock_wait(struct ilock *l, bool (*take)(struct ilock *l));
bool __ilock_take(struct ilock *l);
void __ilock_contended(struct ilock *l);
/* One turn of a loop that waits for an LWP which may need this CPU.  *turns is 0 at first. */
void __backoff(unsigned *turns);

static inline bool ilock_try(struct ilock *l)
{
	bool was_held;

	__asm__ volatile("lock btsl $31, %0" : "+m"(l->held), "=@ccc"(was_held) : : "memory");
	return likely(!was_held);
}

/* l must not be on the caller's stack. */
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

/* Releases l when the caller is in another critical section too, and stays in it. */
static inline void ilock_unlock_inner(struct ilock *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
	critical_exit_inner();
}

/* Releases l, and stays in its critical section. */
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

/*
 * d as a time of CLOCK_MONOTONIC, with this offset between the clocks.  0 for a time before its
 * start.
 */
static inline deadline_t deadline_by(deadline_t d, uint64_t offset)
{
	if (!is_real_time(d))
		return d;
	d &= ~REAL_TIME;
	return d > offset ? d - offset : 0;
}
