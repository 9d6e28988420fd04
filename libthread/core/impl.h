/*
 * impl.h - what every part of libthread knows: the thread, the LWP under it, and the
 * library's own spin lock.
 *
 * FS base of every LWP points at the struct thread that it runs (never at nothing: an
 * idle LWP of a pool runs a scheduler context, which is a struct thread too).  Below the
 * structure lie the thread's variables of thread-local storage (core/tls.h).
 *
 * Memory of struct thread, and of the LWP records that it points at, is type-stable: it
 * is never unmapped and never becomes anything else.  A thread that spins for a mutex
 * reads the owner's LWP record with plain loads, and the owner may exit meanwhile; what
 * it reads then is stale, which costs it a few turns of a loop, but never a fault.
 *
 * Locks of the library, in the order in which they nest:
 *
 *	__threads_lock		list of threads, ids, joining, free threads (core/thread.c)
 *	sleep queues of the first table, then those of the second,
 *				or the one lock of a model instead of both (core/sleepq.h)
 *	everything else is innermost.
 *
 * Names that another file uses begin with two underscores, since a program that is
 * linked statically with this library may use any other name itself.
 */
#pragma once
#include <reent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <weft/schedctl.h>
#include <weft/signal.h>
#include <weft/start.h>
#include <weft/sys.h>
#include <weft/threadinfo.h>
#include "offsets.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Nanoseconds of CLOCK_MONOTONIC, or with REAL_TIME of CLOCK_REALTIME: such a deadline moves when the clock is
 * set, so it becomes one of CLOCK_MONOTONIC only for a sleep that clock_settime ends (core/deadline.c).
 */
typedef uint64_t deadline_t;
#define REAL_TIME (1ull << 63)
#define NEVER UINT64_MAX

struct sleepq;

/*
 * An LWP as the library knows it.  Written by the LWP itself alone.
 *
 * critical->nopreempt counts the library's spin locks that are held on it; SECTION_TIMED on
 * top says that the model wants to be told when the next of them is given up.  It is the first
 * pair of words in the kernel's record, or with schedctl=off the second one, nosignal and
 * signalled, which the kernel heeds only before it calls a handler; `nowhere` before the LWP
 * has begun.  The kernel writes `yield` only while this very LWP is in it, so an instruction
 * that changes both words needs no lock.
 *
 * An LWP may not be stopped by thr_suspend while it holds such a lock: others would wait for it.
 * owes is the LWP that it is about to unpark: whoever stops it does it in its place.
 */
struct section {
	union {
		struct {
			volatile uint32_t nopreempt, yield;
		};
		uint64_t both;
	};
};
#define SECTION_TIMED 0x10000u

struct lwp {
	struct schedctl *sc;
	struct section *critical;
	volatile uint32_t owes;
	uint32_t id;
	struct section nowhere;

	/* Model, of an LWP of its pool (model/mxn/realtime.c). */
	struct thread *rr; /* the thread that it runs, if that has time slices, or NULL */
	uint8_t pri;       /* of the thread that it runs */
	bool told;         /* it is to look whether another thread shall have it */
};

/* The LWP of every thread that is on none: its state is never SC_ONCPU. */
extern struct lwp __nowhere;

/* States of a thread (ThreadMon paper, 3.2.1). */
enum thread_state {
	TS_STOPPED = 0,  /* suspended */
	TS_BLOCKED,      /* on a sleep queue */
	TS_RUNQUEUE,     /* runnable, waits for an LWP of the pool */
	TS_DISPATCHABLE, /* an LWP has been found and unparked for it */
	TS_ONLWP,        /* an LWP runs it; that LWP itself may wait for a CPU */
};

#define CARRIES_MASK 1  /* its mask is not __base_mask */
#define CARRIES_STACK 2 /* it has an alternate stack */

/*
 * Priorities in the library's queues: SCHED_OTHER's are 0 to 60 (below 0 counts as 0), and those of
 * SCHED_FIFO and SCHED_RR follow, from PRI_REALTIME on.  thr_setprio may give any up to 127.
 */
#define PRI_REALTIME 61                 /* one above sched_get_priority_max(SCHED_OTHER) */
#define RR_SLICE_NS (10 * WEFT_TICK_NS) /* of an unbound thread of SCHED_RR */

/* Who waits for a thread's end: nobody; neither the process nor thr_join(0), but who names it may. */
enum { DETACHED = 1, DAEMON = 2 };

#define TSD_FAST 16 /* keys whose values lie in struct thread itself */

/*
 * Who writes what: "self" the thread alone; "queue" under the lock of the sleep queue
 * that it stands in; "list" under __threads_lock; "model" the model, under its own rules.
 *
 * For debuggers: a thread whose lwp->id is 0 has its registers saved at rsp, lowest
 * address first: R15, R14, R13, R12, RBX, RBP, RIP; its RSP will be rsp + 56.
 */
struct thread {
	struct thread *self;      /* at %fs:0 */
	struct _reent *reent;     /* self: newlib's per-thread state; NULL: not yet used */
	struct lwp *lwp;          /* model: where it runs, or &__nowhere */
	struct section *critical; /* lwp->critical, while it runs */
	uint64_t rsp;             /* model: see above */
	uint64_t fp_control;      /* MXCSR, and FCW above it, that it begins or goes on with */

	/* What a scheduler looks at first; `special` tells whether it has to look closer. */
	union {
		struct {
			volatile uint32_t state; /* model: TS_* */
			union {
				struct {
					uint8_t pri;        /* 0 to 127; with what it inherits */
					bool bound;         /* has an LWP of its own: own_lwp */
					uint8_t carries;    /* self: CARRIES_*, see sigmask */
					bool suspended : 1; /* model: thr_suspend has been called */
					bool to_armed : 1;  /* model: is among its time-outs */
					bool cancelled : 1; /* model: ops->cancel has been called */
					bool kept : 1;      /* model: see sigkept */
				};
				uint32_t special;
			};
		};
		uint64_t state_and_special;
	};
	uint32_t id;                  /* pthread_t and thread_t; 0: not a thread of the program */
	uint32_t readlocks;           /* self: reader-writer locks that it holds for reading */
	volatile uint32_t on_stack;   /* 1 until its exit no longer uses its stack */
	volatile uint32_t no_suspend; /* self: not 0: may not be stopped, others would wait */

	/* Cancellation (core/cancel.c). */
	union {
		struct {
			union {
				struct {
					bool pending;  /* atomic: pthread_cancel has been called */
					bool disabled; /* self, atomic */
					uint16_t
						held; /* self: locks of newlib, and that it exits */
				};
				uint32_t cancel; /* CANCEL_DUE: it is to exit at the next point */
			};
			bool cancel_async; /* self, atomic */
			bool named;        /* list: name has been set */
			bool caught;       /* self: a handler has been called (core/sigwait.c) */
			bool wait_async;   /* self: waits as core/cancel.h says */
		};
		uint64_t cancel_all;
	};
	struct __pthread_cleanup *cleanup; /* self: handlers, the last pushed first */

	/* Asleep, or about to be. */
	const void *volatile wchan; /* queue: the object that it waits for; NULL: no longer */
	struct sleepq *volatile q;  /* queue: where it stands while wchan is set */
	struct thread *q_next;      /* queue: the next that waits for the object */
	struct thread *q_prev;      /* queue: the one before; the first: nothing */
	struct thread *q_tail;      /* queue: the first only, if there is a q_next: the last */
	struct thread *q_chain;     /* queue: the first only: the next object's first */
	const void *wait_arg;       /* self, before it sleeps: see the object's file */

	/* Priorities (sync/protocol.c).  Of SCHED_FIFO and SCHED_RR: from PRI_REALTIME on. */
	union {
		struct {
			uint8_t base_pri; /* queue: its own; for set_priority */
			uint8_t policy;   /* queue: SCHED_*, as it was set for the thread */
		};
		uint16_t base; /* both: what a new thread has from its creator */
	};
	uint8_t slice;   /* model: ticks that are left to it; realtime.c */
	uint8_t ceiling; /* queue: of mutexes with a ceiling that it holds, 0: none */
	void *protects;  /* self: these mutexes */
	void *inherits;  /* queue: mutexes that it owns and that others have waited for */
	void *pi_wait;   /* queue: the inheriting mutex that it waits for, or NULL */

	/* Thread-specific data. */
	void *tsd[TSD_FAST];
	void **tsd_more;  /* self: values of the keys from TSD_FAST on, or NULL */
	uint32_t tsd_top; /* self: no key from here on ever had a value */

	/* Life. */
	bool owns_special;     /* self: may own robust mutexes, or such with a protocol */
	uint8_t detached;      /* list: DETACHED, DAEMON */
	bool exited;           /* list: waits to be joined, or for reuse */
	struct thread *joiner; /* list: who claims it */
	void *(*start)(void *);
	void *arg;
	void *status;
	struct lwp own_lwp;
	struct thread *list_next, *list_prev; /* list: __thread_list */
	struct thread *hash_next;             /* list */
	struct thread *free_next, *free_prev; /* list: free threads; exited ones */
	char *stack;                          /* lowest address, above the guard */
	size_t stack_size, guard_size;
	bool user_stack; /* belongs to the program */
	char name[THREAD_NAME];

	/* A model that schedules threads itself: run queue, LWPs of its pool, time-outs. */
	struct thread *run_next, *run_prev;
	struct thread *volatile partner; /* Dispatchable thread and its LWP's context */
	bool parked;
	deadline_t deadline;
	struct thread *to_child, *to_next, *to_prev; /* heap of time-outs */
	const void *gave_up; /* the object that it waited for in vain, until block returns it */

	/*
	 * Signals of an unbound thread; what it `carries` from LWP to LWP, if it is not what all
	 * have (core/signal.c).  `kept`: signals were sent to it alone, or it is to look for one of
	 * the process.  They are pending for its LWP while it is on one, and otherwise in sigkept.
	 */
	uint64_t sigmask;           /* self */
	uint64_t sigkept;           /* model */
	struct weft_stack altstack; /* self: as sigaltstack has set it */

	struct lockstat *lockstat; /* self: lockstat/lockstat.h; kept by the next thread */

	struct _reent own_reent;
} __attribute__((aligned(64)));

/* All threads of the program, also those that have exited and wait to be joined. */
extern struct thread *__thread_list;
extern struct thread *__main_thread;

/* The calling thread: never changes while a function runs, wherever it is run. */
static inline struct thread *thread_self(void)
{
	struct thread *t;

	__asm__("movq %%fs:0, %0" : "=r"(t));
	return t;
}

_Static_assert(offsetof(struct thread, id) == THREAD_ID &&
		       offsetof(struct thread, cancel) == THREAD_CANCEL &&
		       offsetof(struct thread, rsp) == THREAD_RSP &&
		       offsetof(struct thread, fp_control) == THREAD_FP_CONTROL &&
		       offsetof(struct thread, on_stack) == THREAD_ON_STACK &&
		       offsetof(struct thread, named) == THREAD_NAMED &&
		       offsetof(struct thread, name) == THREAD_NAME_AT,
	       "offsets.h");
_Static_assert(offsetof(struct thread, state) == THREADINFO_STATE &&
		       offsetof(struct thread, bound) == THREADINFO_BOUND &&
		       offsetof(struct thread, id) == THREADINFO_ID &&
		       offsetof(struct thread, list_next) == THREADINFO_NEXT &&
		       (int)TS_RUNQUEUE == THREADINFO_RUNQUEUE && (int)TS_ONLWP == THREADINFO_ONLWP,
	       "weft/threadinfo.h");

/* Is the caller to exit, at a cancellation point? */
static inline bool cancel_due(void)
{
	bool due;

	__asm__ volatile("cmpl %1, %%fs:%c2"
			 : "=@cce"(due)
			 : "i"(CANCEL_DUE), "i"(THREAD_CANCEL)
			 : "memory");
	return due;
}

static inline void set_thread_pointer(struct thread *t)
{
	__asm__ volatile("wrfsbase %0" : : "r"(t) : "memory");
}

/* MXCSR, and FCW above it; the upper half of that is left alone. */
static inline void save_fp_control(uint64_t *to)
{
	__asm__ volatile("stmxcsr %0\n\tfnstcw 4+%0" : "+m"(*to));
}

/* In a loop that waits for another CPU.  PAUSE costs the host too much in exact timing. */
static inline void spin_hint(void)
{
	if (!__timepage->exact)
		__builtin_ia32_pause();
}

/* Assertions are on in every build. */
void __assert_failed(const char *what, const char *file, int line) __attribute__((noreturn));
#define ASSERT(x)                                                                                  \
	do {                                                                                       \
		if (unlikely(!(x)))                                                                \
			__assert_failed(#x, __FILE__, __LINE__);                                   \
	} while (0)

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

static inline bool in_critical(const struct lwp *l)
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

/* core/deadline.c */
int __deadline(clockid_t clock, const struct timespec *abstime, deadline_t *deadline);

/* core/lwp.c: what the models share about LWPs. */
int __lwp_start(struct thread *t, void (*entry)(struct thread *), uint32_t flags, const char *name);
void __lwp_adopt(struct lwp *l, struct schedctl *sc);
void __lwp_leave(struct thread *self) __attribute__((noreturn));
void __lwp_unpark_owed(struct lwp *l, uint32_t id);
int __lwp_try_suspend(struct thread *t);
/*
 * What thr_suspend and thr_continue are of a thread with an LWP of its own (model.h: suspend,
 * resume).  Stopping one that is stopped does nothing.
 */
int __lwp_suspend(struct thread *t);
int __lwp_resume(struct thread *t);
long __lwp_park(deadline_t deadline, uint32_t unpark);
long __lwp_park_watching(deadline_t deadline, uint32_t unpark, uint64_t offset);

/* core/signal.c */
extern uint64_t __base_mask;
void __signals_init(void);
void __sigmask_returns(uint64_t mask);
void __preempt_entry(struct weft_ucontext *uc, uint64_t mask);

/* core/cancel.c */
int __cancelled(void);
void __siglwp_catch(void);
void __cancel_call(uint32_t lwp, const struct thread *t);

/* core/memory.c */
void *__pages_alloc(size_t size);
struct thread *__thread_slots(size_t size, unsigned *n);
struct thread *__thread_take(size_t stack_size, size_t guard_size, void *user_stack);
struct thread *__thread_get(size_t stack_size, size_t guard_size);
void __thread_put(struct thread *t);
void __stacks_forked(void);
#define STACKS_KEPT 256
extern unsigned __stacks_kept;
void __stacks_trim(void);
/* Are there more than are kept?  Without the lock a guess, at which __stacks_trim looks again. */
static inline bool stacks_many(void)
{
	return unlikely(__stacks_kept > STACKS_KEPT);
}

/* core/thread.c */
extern struct ilock __threads_lock;
struct create_args {
	void *stack; /* of the program, or NULL: allocated */
	size_t stack_size, guard_size;
	uint8_t detached; /* DETACHED, DAEMON */
	bool bound, new_lwp, suspended;
	bool explicit_sched; /* policy, priority */
	int policy, priority;
};
int __thread_create(const struct create_args *args, void *(*start)(void *), void *arg,
		    unsigned long *id);
int __thread_join(unsigned long id, deadline_t deadline, unsigned long *departed, void **status);
int __thread_detach(unsigned long id);
void __thread_exit(void *status) __attribute__((noreturn));
/*
 * Ends the calling thread where it is; in a handler that has interrupted it outside of the library's
 * critical sections.  It leaves the queue in which it waits, then calls last(arg), which may block.
 * No destructor runs, and neither values of keys nor newlib's state are freed: the thread may be
 * inside of malloc.
 */
void __thread_terminate(void (*last)(void *), void *arg) __attribute__((noreturn));
void __thread_first(struct thread *t);
void __thread_main(struct thread *self) __attribute__((noreturn));
struct thread *__thread_find(unsigned long id);
/*
 * Calls op(t, arg) for the thread with this id, with __threads_lock held, so that it cannot go;
 * again as long as it returns EAGAIN: the thread has not quite begun.  Returns what it returned
 * last.  ESRCH: no such thread, or it has exited.
 */
int __thread_with(unsigned long id, int (*op)(struct thread *t, void *arg), void *arg);

void __threads_forked(struct thread *self);

/* core/service.c */
int __lwp_start_blocked(struct thread *t, void (*entry)(struct thread *), uint32_t flags,
			const char *name);
int __service_start(void (*entry)(struct thread *), const char *name, struct thread **context);
/* Ends the calling one's wait; NULL: there is none. */
void __service_poke(struct thread *context);
/* In a child of fork: there is no such LWP any more. */
void __service_forgotten(struct thread *context);

/* core/schedule.c */
bool __sched_policy_known(int policy);
bool __sched_priority_known(int policy, int priority);
int __sched_set(struct thread *t, int policy, int priority, bool to_tail);

/* lockstat/: before main; in a child of fork */
void __lockstat_start(void), __lockstat_forked(void);

/* sync/shared.c */
void __shared_thread_exit(void);
void __shared_forked(void);

/*
 * sync/protocol.c: its policy and its own priority, to which it adds what it inherits.  to_tail: it
 * goes behind its equals, unless a mutex lends it a priority.  t cannot go.
 */
void __thread_set_sched(struct thread *t, int policy, int pri, bool to_tail);
void __protocol_thread_exit(void);

/* core/tsd.c */
void __tsd_exit(struct thread *self);
void __tsd_forget(struct thread *self); /* all its values, which nobody frees */
bool __tsd_exists(unsigned key);
void __tsd_forked(void);

/* core/notify.c: in a child of fork, where __threads_lock is free */
void __notify_forked(void);

/* sync/semname.c: in the child of fork */
void __semname_forked(void);

/* aio.c */
void __aio_forked(void);

/* sync/mqueue.c */
void __mq_forked(void);

/* core/newlib.c: around fork; `forked` in the child, before `after`. */
void __newlib_before_fork(void), __newlib_forked(void), __newlib_after_fork(bool child);
