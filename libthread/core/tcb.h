/*
 * tcb.h - the thread, and the LWP under it, as libthread knows them.
 *
 * The FS base of every LWP points at the struct thread that the LWP runs.  It always points at one:
 * an idle LWP of a pool runs a scheduler context, which is a struct thread too.  The thread's
 * variables of thread-local storage lie below the structure (core/tls.h).
 *
 * The memory of struct thread, and of the LWP records that it points at, is type-stable: it is
 * never unmapped and never becomes anything else.  A thread that spins for a mutex reads the
 * owner's LWP record with plain loads, and the owner may exit meanwhile.  The spinner then reads
 * stale values.  They cost a few turns of a loop, and never cause a fault.
 *
 * Names that another file uses begin with two underscores, because a program that is linked
 * statically with this library may use any other name itself.
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
#include "probe.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Nanoseconds of CLOCK_MONOTONIC, or with REAL_TIME of CLOCK_REALTIME.  A deadline of
 * CLOCK_REALTIME moves when the clock is set.  So it becomes a deadline of CLOCK_MONOTONIC only for
 * a sleep that clock_settime ends (core/deadline.c).
 */
typedef uint64_t deadline_t;
#define REAL_TIME (1ull << 63)
#define NEVER UINT64_MAX

struct sleepq;

/* The library's own lock (ilock.h). */
struct ilock {
	volatile uint32_t held;
};

/* A list of runnable threads, linked by run_next and run_prev (model/mxn/mxn.h). */
struct run_list {
	struct thread *first, *last;
};

/*
 * An LWP as the library knows it.  Only the LWP itself writes the record.
 *
 * critical->nopreempt counts the library's spin locks that the LWP holds.  SECTION_TIMED is added
 * while the model wants to be told of the next release.  `critical` points at the first pair of
 * words in the kernel's record.  With schedctl=off it points at the second pair, nosignal and
 * signalled, which the kernel reads only before it calls a handler.  It points at `nowhere` before
 * the LWP has begun.  The kernel writes `yield` only while this LWP is in the kernel, so an
 * instruction that changes both words needs no lock.
 *
 * thr_suspend may not stop an LWP that holds such a lock, because others would wait for it.  `owes`
 * is the LWP that this LWP is about to unpark: a thread that stops this LWP unparks it instead.
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

struct ulwp {
	struct schedctl *sc;
	struct section *critical;
	volatile uint32_t owes;
	uint32_t id;
	struct section nowhere;

	/* Written by the model, for an LWP of its pool (model/mxn/realtime.c, local.c). */
	struct thread *rr; /* the thread that the LWP runs, if it has time slices, or NULL */
	uint8_t pri;       /* of the thread that the LWP runs */
	bool told;         /* the LWP is to look for a thread that should run instead */
	bool turn;         /* which list is next: local.c */
	struct ilock run_lock;
	struct run_list run; /* threads that have yielded on this LWP */

	/* Free threads that the LWP keeps (core/memory.c).  Only its own threads use them, in critical sections. */
	struct thread *kept; /* the latest first, linked by free_next */
	uint32_t may_keep;   /* so many more.  0: not an LWP of a pool */
};

/* The LWP of every thread that is on none.  Its state is never SC_ONCPU. */
extern struct ulwp __nowhere;

/* States of a thread (ThreadMon paper, 3.2.1). */
enum thread_state {
	TS_STOPPED = 0,  /* suspended */
	TS_BLOCKED,      /* on a sleep queue */
	TS_RUNQUEUE,     /* runnable, waits for an LWP of the pool */
	TS_DISPATCHABLE, /* an LWP has been unparked to run it */
	TS_ONLWP,        /* an LWP runs it; the LWP itself may wait for a CPU */
};

/* Is the LWP of a context idle?  In model sa: mxn/claim.c. */
enum { PARKED_NOT, PARKED_IDLE, PARKED_CLAIMED };

#define CARRIES_MASK 1  /* its mask is not __base_mask */
#define CARRIES_STACK 2 /* it has an alternate stack */

/*
 * Priorities in the library's queues.  SCHED_OTHER has 0 to 60 (below 0 counts as 0).  The
 * priorities of SCHED_FIFO and SCHED_RR follow, from PRI_REALTIME on.  thr_setprio may set any up
 * to 127.
 */
#define PRI_REALTIME 61                 /* one above sched_get_priority_max(SCHED_OTHER) */
#define RR_SLICE_NS (10 * WEFT_TICK_NS) /* of an unbound thread of SCHED_RR */

/*
 * Which threads wait for a thread's end.  DETACHED: none.  DAEMON: neither the process nor
 * thr_join(0), but a join that names the thread.
 */
enum { DETACHED = 1, DAEMON = 2 };

#define TSD_FAST 16 /* keys whose values lie in struct thread itself */

/*
 * A part of struct thread that a scheduler tests as one word.  (A macro, since a constant of such
 * bits is what threaddb.c needs.)
 */
#define THREAD_SPECIAL                                                                             \
	uint8_t pri;        /* 0 to 127; with what it inherits */                                  \
	bool bound;         /* has an LWP of its own: own_lwp */                                   \
	uint8_t carries;    /* self: CARRIES_*, see sigmask */                                     \
	bool suspended : 1; /* model: thr_suspend has been called */                               \
	bool to_armed : 1;  /* model: is among its time-outs */                                    \
	bool cancelled : 1; /* model: ops->cancel has been called */                               \
	bool kept : 1;      /* model: see sigkept */

/*
 * The word before the colon says which code writes a field.  "self": only the thread itself.
 * "queue": a thread that holds the lock of the sleep queue in which the thread stands.  "list": a
 * thread that holds the lock of the thread's id (ids.h).  "model": the model, under its own rules.
 *
 * For debuggers: a thread whose lwp->id is 0 has its registers saved at rsp.  From the lowest
 * address on these are R15, R14, R13, R12, RBX, RBP, RIP.  Its RSP will be rsp + 56.
 */
struct thread {
	struct thread *self;      /* at %fs:0 */
	struct _reent *reent;     /* self: newlib's per-thread state; NULL: not yet used */
	struct ulwp *lwp;         /* model: where it runs, or &__nowhere */
	struct section *critical; /* lwp->critical, while the thread runs */
	uint64_t rsp;             /* model: see above */
	uint64_t fp_control;      /* MXCSR, and FCW above it, with which it begins or goes on */
	struct thread *run_next, *run_prev; /* model: run queue; mxn: list of idle LWPs */

	/* A scheduler reads these first.  `special` is not 0 if the scheduler must look closer. */
	union {
		struct {
			volatile uint32_t state; /* model: TS_* */
			union {
				struct {
					THREAD_SPECIAL
				};
				uint32_t special;
			};
		};
		uint64_t state_and_special;
	};
	uint32_t id;                  /* pthread_t and thread_t; 0: not a thread of the program */
	uint32_t readlocks;           /* self: reader-writer locks that it holds for reading */
	volatile uint32_t on_stack;   /* 1 until the exiting thread no longer uses its stack */
	volatile uint32_t no_suspend; /* self: not 0: may not be stopped, others would wait */

	/* Cancellation (core/cancel.c). */
	union {
		struct {
			union {
				struct {
					bool pending;  /* atomic: pthread_cancel has been called */
					bool disabled; /* self, atomic */
					uint16_t held; /* self: newlib locks held; +1 if it exits */
				};
				uint32_t cancel; /* CANCEL_DUE: must exit at the next point */
			};
			bool cancel_async; /* self, atomic */
			bool named;        /* list: name has been set */
			bool caught;       /* self: a handler has been called (core/sigwait.c) */
			bool wait_async;   /* self: waits as core/cancel.h says */
		};
		uint64_t cancel_all;
	};
	struct __pthread_cleanup *cleanup; /* self: handlers, the last pushed first */

	/* Sleeping, or about to sleep. */
	const void *volatile wchan; /* queue: the object it waits for; NULL: none */
	struct sleepq *volatile q;  /* queue: the queue in which it stands while wchan is set */
	struct thread *q_next;      /* queue: the next thread that waits for the object */
	struct thread *q_prev;      /* queue: the thread before it; unused in the first */
	struct thread *q_tail;      /* queue: in the first thread, if q_next is set: the last */
	struct thread *q_chain;     /* queue: in the first thread: the next object's first */
	const void *wait_arg;       /* self, before it sleeps: see the object's file */

	/*
	 * Priorities (sync/protocol.c).  SCHED_FIFO and SCHED_RR have those from PRI_REALTIME on.
	 */
	union {
		struct {
			uint8_t base_pri; /* queue: its own; for set_priority */
			uint8_t policy;   /* queue: SCHED_*, as the program set it for the thread */
		};
		uint16_t base; /* both: a new thread copies them from its creator */
	};
	uint8_t slice;   /* model: ticks left of the time slice, realtime.c; or SLICE_KEPT */
	uint8_t ceiling; /* queue: the highest of the ceilings of mutexes that it holds; 0: none */
	void *protects;  /* self: these mutexes */
	void *inherits;  /* queue: mutexes that it owns and that others have waited for */
	void *pi_wait;   /* queue: the inheriting mutex that it waits for, or NULL */

	/* Thread-specific data. */
	void *tsd[TSD_FAST];
	void **tsd_more;  /* self: values of the keys from TSD_FAST on, or NULL */
	uint32_t tsd_top; /* self: the thread has never set a value from this key on */

	/* Life. */
	bool owns_special;     /* self: may own robust mutexes, or mutexes with a protocol */
	uint8_t detached;      /* list: DETACHED, DAEMON */
	bool exited;           /* list: waits to be joined, or to be reused */
	bool owes_slice;       /* model: its slice ended while it had inherited a priority */
	struct thread *joiner; /* list: the thread that claims it */
	void *(*start)(void *);
	void *arg;
	void *status;
	struct ulwp own_lwp;
	struct thread *list_next, *list_prev; /* __thread_list; __threads_lock */
	struct thread *hash_next;             /* list */
	/* free threads (__threads_lock); list: exited threads */
	struct thread *free_next, *free_prev;
	char *stack; /* lowest address, above the guard */
	size_t stack_size, guard_size;
	bool user_stack; /* belongs to the program */
	char name[THREAD_NAME];

	/* For a model that schedules threads itself: LWPs of its pool, time-outs. */
	struct thread *volatile partner; /* links a Dispatchable thread and its LWP's context */
	struct ulwp *volatile lone;      /* the LWP on which it waits alone, or NULL: mxn/lone.c */
	volatile uint32_t apart;         /* if it is Blocked: APART_*, mxn/queue.c */
	uint8_t parked;                  /* of a context: PARKED_* */
	bool listed; /* model sa, of a context: it stands in the list of idle LWPs (mxn/claim.c) */
	bool spins;  /* of a context: it spins for a partner, and needs no unpark */
	bool saved;  /* of an idle context: its partner's registers are saved (partner_give) */
	deadline_t deadline;
	union {
		struct {
			struct thread *to_child, *to_next, *to_prev; /* heap of time-outs */
		};
		/* Model sa, of a context: list of idle LWPs.  Both point to struct threads alone (mxn/claim.h, idle_find). */
		struct {
			struct thread *idle_next, *idle_prev;
		};
	};
	const void *gave_up; /* the object that it waited for in vain, until block returns it */

	/*
	 * Signals of an unbound thread.  `carries` says what the thread takes from LWP to LWP,
	 * because it differs from what all threads have (core/signal.c).  `kept`: signals were sent
	 * to this thread alone, or the thread must look for a signal of the process.  Signals sent
	 * to it are pending for its LWP while it is on one, and otherwise in sigkept.
	 */
	uint64_t sigmask;           /* self */
	uint64_t sigkept;           /* model */
	struct weft_stack altstack; /* self: as sigaltstack has set it */

	struct lockstat *lockstat; /* self: lockstat/lockstat.h; reused with the memory */

	struct _reent own_reent;
} __attribute__((aligned(64)));

/*
 * All threads of the program, also exited threads that wait to be joined.  A thread in this list whose id is 0 is no
 * thread of the program (ids.h).
 */
extern struct thread *__thread_list;
/* The thread that took the last signal for which the library looked (mxn/look.c).  It is in the list; __threads_lock. */
extern struct thread *__last_taker;
extern struct thread *__main_thread;

/*
 * The calling thread.  It never changes while a function runs, on whatever LWP the function runs.
 */
static inline struct thread *thread_self(void)
{
	struct thread *t;

	__asm__("movq %%fs:0, %0" : "=r"(t));
	return t;
}

_Static_assert(offsetof(struct thread, state) == THREAD_STATE &&
		       offsetof(struct thread, id) == THREAD_ID &&
		       offsetof(struct thread, cancel) == THREAD_CANCEL &&
		       offsetof(struct thread, rsp) == THREAD_RSP &&
		       offsetof(struct thread, fp_control) == THREAD_FP_CONTROL &&
		       offsetof(struct thread, on_stack) == THREAD_ON_STACK &&
		       offsetof(struct thread, apart) == THREAD_APART &&
		       offsetof(struct ulwp, run_lock) == ULWP_RUN_LOCK,
	       "offsets.h");
_Static_assert(offsetof(struct thread, state) == THREADINFO_STATE &&
		       offsetof(struct thread, bound) == THREADINFO_BOUND &&
		       offsetof(struct thread, id) == THREADINFO_ID &&
		       offsetof(struct thread, list_next) == THREADINFO_NEXT &&
		       (int)TS_RUNQUEUE == THREADINFO_RUNQUEUE && (int)TS_ONLWP == THREADINFO_ONLWP,
	       "weft/threadinfo.h");

/* Must the caller exit at a cancellation point? */
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

/* MXCSR, and FCW above it.  The upper half of FCW's word is not changed. */
static inline void save_fp_control(uint64_t *to)
{
	__asm__ volatile("stmxcsr %0\n\tfnstcw 4+%0" : "+m"(*to));
}

/* For a loop that waits for another CPU.  PAUSE costs the host too much in exact timing. */
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
