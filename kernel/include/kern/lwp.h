/*
 * lwp.h - the LWP: the kernel's schedulable entity.
 *
 * Life: lwp_alloc makes it (LWP_ST_IDLE), lwp_start makes it runnable; it runs
 * until lwp_exit_self, which makes it a zombie; lwp_reap frees it once it is off
 * its CPU.  struct lwp comes from a type-stable cache: the holder of a pointer
 * that may be stale has had interrupts off since it found it, locks l->lock and checks that
 * l->proc and l->id are the ones it means.
 *
 * l->lock guards state, the dispatcher's fields and the parking permit.  It is
 * held across the switch away from an LWP that sleeps, stops or exits: who puts it
 * down takes l->lock, sets the new state, switches, and the next context on that CPU
 * gives the lock up (sched/switch.c).  One that could go on is put back on a queue, whose
 * lock is held across the switch instead; its state becomes LWP_ST_RUN when its user
 * registers are saved.  So whoever has l->lock finds them saved whenever state is not
 * LWP_ST_ONPROC.
 */
#pragma once
#include <weft/lwp.h>
#include <weft/msacct.h>
#include <weft/schedctl.h>
#include "list.h"
#include "signal.h"
#include "spinlock.h"
#include "timer.h"
#include "trap.h"
#include "types.h"

struct proc;
struct sched_class;

/* l->grace: what the next lwp_yield or sleep settles; the record says that one is due. */
#define GRACE_USED 0x1     /* held off once, until l->grace_end */
#define GRACE_OWES 0x2     /* and its slice ended before or in that time */
#define GRACE_CALL 0x4     /* a handler could not be called in the critical section */
#define GRACE_SIGNAL 0x8   /* and is to be called now */
#define GRACE_PREEMPT 0x10 /* the same for lwp_preempt */

/* What its class knows of an LWP (sched/ts.c, rt.c, nt.c). */
union class_data {
	struct {
		int8_t level;         /* by use and sleep */
		int8_t upri, uprilim; /* the user's addition to it, and its limit */
		int8_t nice;
		uint32_t second; /* sched_second when it last used up a slice, rose by the
				  * strict rules, or was lifted */
		uint64_t waited; /* how long it had waited for CPUs then, or when it slept */
	} ts;
	struct {
		uint8_t pri;
		hrtime_t quantum; /* 0: the table's */
	} rt;
	struct {
		uint8_t cls; /* base level of the process */
		int8_t relative;
		uint8_t base, level; /* of the LWP: without boosts, and now */
		bool lifted;         /* had no CPU for long: top level for a double slice */
		uint8_t waits;       /* that no whole tick has been charged for yet */
		uint64_t waited; /* for CPUs, when it last slept, used up a slice or was lifted */
	} nt;
};

/* l->ast: reasons to enter user_return_work, set by anyone (atomic OR). */
#define AST_EXIT 0x1    /* the process is exiting, or this LWP is told to */
#define AST_STOP 0x2    /* lwp_suspend */
#define AST_SIG 0x4     /* a signal may be deliverable (kern/signal.h) */
#define AST_JOBSTOP 0x8 /* the process is stopped by a signal */
#define AST_STOPS (AST_STOP | AST_JOBSTOP)
#define AST_TRACE 0x100   /* its process is held by a tracer */
#define AST_PREEMPT 0x200 /* lwp_preempt */

/* l->then; written by itself before it is put down. */
enum {
	THEN_NOTHING,
	THEN_PLACE,  /* RUN, and on no queue: its CPU may not run it any more */
	THEN_KSTACK, /* dead: its kernel stack goes */
	THEN_FREE,   /* dead, and nobody waits for it: the rest goes, too */
};

/* Its part in priority inheritance. */
enum { INHERIT_APART, INHERIT_JOINED, INHERIT_EXITED };

/* What an LWP does with a CPU, as timers of CPU time tell it apart. */
enum { IN_USER, IN_SYSTEM, NCPUTIME };

struct lwp {
	/* Known to cpu/entry.S by offset. */
	uint64_t ksp;          /* 0: saved kernel stack pointer while switched away */
	volatile uint32_t ast; /* 8: AST_*, atomic */
	uint32_t id;           /* 12: in its process; from 1 */

	struct trapframe *frame; /* 16: user registers: at the top of the kernel stack */
	void *kstack;            /* top of the kernel stack */
	struct proc *proc;       /* NULL: a kernel LWP */
	uint64_t fsbase, gsbase; /* the user's, while switched away */
	uint32_t clock_watch; /* atomic: it parks, and clock_settime ends that (LWP_PARK_CLOCK) */
	void (*kfn)(void *);  /* a kernel LWP's function */
	void *karg;

	struct spinlock lock;
	uint32_t state;      /* LWP_ST_*; lock */
	uint32_t flags;      /* LWP_DETACHED ...; proc->lock */
	char name[LWP_NAME]; /* lock */
	uint8_t then;        /* what its CPU does when it is off it: THEN_* */

	/* Dispatcher; lock, and the dispatch queue's lock while on one. */
	const struct sched_class *sclass;
	union class_data cl;
	int pri;       /* global priority: higher runs first; the larger of these two: */
	int own_pri;   /* ... as its class has it */
	int inherited; /* ... as others lend it (sync/inherit.c); 0: nothing */
	uint32_t cpu;  /* CPU whose queue it is on, or where it last ran */
	int16_t pset;  /* its processor set */
	int16_t bound; /* the only CPU that it runs on, or PBIND_NONE */
	struct list runlink;
	int64_t order;      /* among its equals on the queue: the smaller goes first */
	int64_t slice_left; /* of its time slice, while it is off its CPU; <= 0: a fresh one */
	hrtime_t enqueued;  /* since when it waits for a CPU */
	union {
		struct {
			uint8_t grace; /* preemption control: GRACE_*; itself */
			bool summed;   /* its process keeps sums of CPU time; p->lock */
		};
		uint16_t leaving; /* either: there is more to do than to leave the CPU */
	};
	hrtime_t grace_end; /* ... until here */

	/* Sleeping; lock. */
	uint32_t sleep_flags; /* SLEEP_* */
	uint32_t wake_reason; /* why it was made runnable */
	const char *wchan;
	struct ktimer timer; /* the time-out of the current sleep */
	uint32_t permit;     /* park: a wake-up that came first */
	uint32_t cancel;     /* lwp_cancel: its calls for this thread do not sleep; 0: none */
	vaddr_t cancel_pc;   /* ... if made here */
	bool watched;        /* its sleeps and wake-ups are counted (proc/upcall.c) */
	bool blocked;        /* counted as one that cannot run */
	bool robust;         /* itself: it has registered robust mutexes */
	struct list mutexes; /* itself: kernel mutexes that it owns, and events that its end
			      * sets (sync/kobj.c) */

	/* Priority inheritance (sync/inherit.c); its lock, and valid from JOINED on. */
	uint8_t inherit;                /* atomic: INHERIT_* */
	int ceiling;                    /* the least that it is lent */
	struct list pi_mutexes;         /* mutexes that it owns and others sleep for */
	struct isleeper *pi_blocked_on; /* what it sleeps for, or NULL */

	struct schedctl *sc;     /* kernel address of the shared record */
	vaddr_t sc_user;         /* the user's address of it */
	struct sc_page *sc_page; /* the page of records that holds it */

	/* Accounting; only the LWP itself and its CPU write (lwp_mstate_at). */
	uint32_t mstate;  /* the microstate that it is in */
	uint32_t mresume; /* the one to go on in when it has a CPU again */
	uint64_t mtime[NMSTATE];
	uint64_t charged[NCPUTIME]; /* of its CPU time, what its process's sums have; itself */
	hrtime_t created;
	uint64_t nvcsw, nivcsw, minflt, nsyscall;
	uint32_t syscall; /* number of the current call, or ~0 */
	/* Calls below this number take the short way: WEFT_SYSCALL_MAX, or 0 while it is
	 * traced.  Its process's tracer writes, atomically. */
	uint64_t ncalls;

	struct list proc_link;  /* proc->lwps, or proc->zombies; proc->lock */
	struct lwp_signals sig; /* proc->lock (kern/signal.h) */

	uint8_t fpu[512] __attribute__((aligned(16))); /* FXSAVE, while switched away */
};

/* --- proc/lwp.c ------------------------------------------------------------ */

void lwp_init(void); /* the cache of LWPs */
/*
 * A new LWP of p (LWP_ST_IDLE), set to enter user mode as `arg` says, in the
 * class, at the priority and with the binding of `parent`, the current LWP (NULL: the defaults).  Fills
 * arg->id and arg->schedctl.  -EAGAIN: no memory or no id left, or p is exiting.
 * May sleep; takes p->lock.
 */
int lwp_new(struct proc *p, struct lwp_create *arg, const struct lwp *parent, struct lwp **out);
/* Sets a new LWP going. */
void lwp_start(struct lwp *l);
/*
 * The LWP of p with this id, its lock held (interrupts off), or NULL.  p is the
 * current process, or p->lock is held.
 */
struct lwp *lwp_lock_by_id(struct proc *p, uint32_t id);
/* Ends the current LWP, and with the last one the process. */
void lwp_exit_self(void) NORETURN;
/*
 * Waits until LWP `id` of the current process (0: any that is not detached) has
 * exited, and frees its id.  Returns the id, or -ESRCH (no such LWP), -EINVAL
 * (detached), -EDEADLK (itself, or only itself is left), -EINTR.  Blocks.
 */
int64_t lwp_wait(uint32_t id);
/* Frees an exited LWP.  p->lock held; l is on no list. */
void lwp_free_zombie(struct proc *p, struct lwp *l);
/* Makes l run to its next return to user mode and look at its ASTs there. */
void lwp_post_ast(struct lwp *l, uint32_t ast);
void lwp_post_ast_locked(struct lwp *l, uint32_t ast); /* l->lock held */
/* Takes back AST_STOP or AST_JOBSTOP, and sets l going if no other one stops it. */
void lwp_clear_stop(struct lwp *l, uint32_t ast);
void lwp_clear_stop_locked(struct lwp *l, uint32_t ast);
