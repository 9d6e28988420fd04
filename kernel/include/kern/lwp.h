/*
 * lwp.h - the LWP: the kernel's schedulable entity.
 *
 * Life: lwp_alloc makes it (LWP_ST_IDLE), lwp_start makes it runnable.  It runs
 * until lwp_exit_self, which makes it a zombie.  lwp_reap frees it once it is off
 * its CPU.
 *
 * struct lwp comes from a type-stable cache.  The holder of a pointer that may be stale has had
 * interrupts off since it found the pointer.  It locks l->lock, and then checks that l->proc and
 * l->id are the right ones.
 *
 * l->lock guards state, the dispatcher's fields and the parking permit.  It is
 * held across the switch away from an LWP that sleeps, stops or exits.  The LWP acquires
 * l->lock, sets the new state and switches; the next context on that CPU releases the lock
 * (sched/switch.c).  An LWP that could go on is put back on a queue, and the queue's lock is
 * held across the switch instead.  Its state becomes LWP_ST_RUN when its user registers are
 * saved.  So a holder of l->lock finds them saved whenever state is not LWP_ST_ONPROC.
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

/* l->grace: what the next lwp_yield or sleep must clear up.  The schedctl record says that a
 * yield is due. */
#define GRACE_USED 0x1     /* preemption was held off once, until l->grace_end */
#define GRACE_OWES 0x2     /* ... and the slice ended before or in that time */
#define GRACE_CALL 0x4     /* a handler could not be called in the critical section */
#define GRACE_SIGNAL 0x8   /* ... and must be called at that yield or sleep */
#define GRACE_PREEMPT 0x10 /* the same for lwp_preempt */
#define GRACE_HAND 0x20 /* its thread is to be handed over at the end of the section (preempt.c) */

/* What a scheduling class knows about an LWP (sched/ts.c, rt.c, nt.c). */
union class_data {
	struct {
		int8_t level;         /* set by its use of CPUs and its sleeps */
		int8_t upri, uprilim; /* the user's addition to level, and its limit */
		int8_t nice;
		uint32_t second; /* sched_second when it last used up a slice, rose by the
				  * strict rules, or was lifted */
		uint64_t waited; /* sched_waited at that moment, or at its last sleep */
	} ts;
	struct {
		uint8_t pri;
		hrtime_t quantum; /* 0: as in the table */
	} rt;
	struct {
		uint8_t cls; /* base level of the process */
		int8_t relative;
		uint8_t base, level; /* of the LWP: without boosts, with boosts */
		bool lifted;         /* had no CPU for long: top level for a double slice */
		uint8_t waits;       /* waits for which no whole tick has been charged yet */
		uint64_t waited;     /* sched_waited at its last sleep, used-up slice or lift */
	} nt;
};

/* l->ast: reasons to enter user_return_work; any LWP may set one (atomic OR). */
#define AST_EXIT 0x1    /* this LWP is to exit, alone or with its process */
#define AST_STOP 0x2    /* lwp_suspend */
#define AST_SIG 0x4     /* a signal may be deliverable (kern/signal.h) */
#define AST_JOBSTOP 0x8 /* the process is stopped by a signal */
#define AST_STOPS (AST_STOP | AST_JOBSTOP)
#define AST_TRACE 0x100   /* its process is held by a tracer */
#define AST_PREEMPT 0x200 /* lwp_preempt, or an activation is to enter the library */
#define AST_UPCALL 0x400  /* an activation has unblocked: is there a CPU for it? */

/* l->watched */
enum {
	WATCHED_COUNTED = 1,
	WATCHED_ACTIVATION, /* proc/activation.c */
};

/* l->then: what follows when the LWP is switched out; the LWP writes it before that. */
enum {
	THEN_NOTHING,
	THEN_PLACE,  /* RUN, and on no queue: its CPU may not run it any more */
	THEN_KSTACK, /* exited: its kernel stack is freed */
	THEN_FREE,   /* exited, and no LWP waits for it: the rest is freed, too */
};

/* The LWP's part in priority inheritance. */
enum { INHERIT_APART, INHERIT_JOINED, INHERIT_EXITED };

/* What an LWP uses a CPU for, as timers of CPU time distinguish it. */
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
	uint32_t clock_watch; /* atomic: it is in a park that clock_settime ends (LWP_PARK_CLOCK) */
	void (*kfn)(void *);  /* a kernel LWP's function */
	void *karg;

	struct spinlock lock;
	uint32_t state;      /* LWP_ST_*; lock */
	uint32_t flags;      /* LWP_DETACHED ...; proc->lock */
	char name[LWP_NAME]; /* lock */
	uint8_t then;        /* what follows when it is switched out: THEN_* */

	/* Dispatcher; lock, and the dispatch queue's lock while on one. */
	const struct sched_class *sclass;
	union class_data cl;
	int pri;       /* global priority: higher runs first; the maximum of: */
	int own_pri;   /* ... what its class gives it */
	int inherited; /* ... what it inherits (sync/inherit.c); 0: nothing */
	uint32_t cpu;  /* CPU whose queue it is on, or where it last ran */
	int16_t pset;  /* its processor set */
	int16_t bound; /* the only CPU that it runs on, or PBIND_NONE */
	struct list runlink;
	int64_t order;      /* among LWPs of equal priority on the queue: the smallest goes first */
	int64_t slice_left; /* rest of its time slice, while it is off its CPU; <= 0: a fresh one */
	hrtime_t enqueued;  /* when it began to wait for a CPU */
	union {
		struct {
			uint8_t grace; /* preemption control: GRACE_*; itself */
			bool summed;   /* its process keeps sums of CPU time; p->lock */
		};
		uint16_t leaving; /* both: not 0 if it must do more than leave the CPU */
	};
	hrtime_t grace_end; /* when preemption is held off no longer (GRACE_USED) */

	/* Sleeping; lock. */
	uint32_t sleep_flags; /* SLEEP_* */
	uint32_t wake_reason; /* why it was made runnable */
	const char *wchan;
	hrtime_t since;      /* when it left its CPU to sleep or stop */
	struct ktimer timer; /* the time-out of the current sleep */
	uint32_t permit;     /* an unpark that came before the park */
	uint32_t cancel;     /* lwp_cancel: its calls for this thread do not sleep; 0: none */
	vaddr_t cancel_pc;   /* ... if they are made at this address */
	uint8_t watched; /* its sleeps and wake-ups are counted: WATCHED_* (proc/upcall.c), or 0 */
	bool blocked;    /* counted as an LWP that cannot run */
	bool robust;     /* itself: it has registered robust mutexes */
	struct list mutexes; /* itself: kernel mutexes that it owns, and events that its end
			      * sets (sync/kobj.c) */

	/* Priority inheritance (sync/inherit.c); pi_lock, and valid from JOINED on. */
	uint8_t inherit;                /* atomic: INHERIT_* */
	int ceiling;                    /* the least priority that it inherits */
	struct list pi_mutexes;         /* mutexes that it owns and other LWPs sleep for */
	struct isleeper *pi_blocked_on; /* its own sleep for such a mutex, or NULL */

	struct schedctl *sc;     /* kernel address of the shared record */
	vaddr_t sc_user;         /* the user's address of it */
	struct sc_page *sc_page; /* the page of records that holds it */

	/* Accounting; only the LWP itself and its CPU write (lwp_mstate_at). */
	uint32_t mstate;  /* its current microstate */
	uint32_t mresume; /* the microstate for when it has a CPU again */
	uint64_t mtime[NMSTATE];
	uint64_t charged[NCPUTIME]; /* the part of its CPU time in its process's sums; itself */
	hrtime_t created;
	uint64_t nvcsw, nivcsw, minflt, nsyscall;
	uint32_t syscall; /* number of the current call, or ~0 */
	/* Calls below this number take the short path: WEFT_SYSCALL_MAX, or 0 while it is
	 * traced.  Its process's tracer writes it, atomically. */
	uint64_t ncalls;

	struct list proc_link;  /* proc->lwps, or proc->zombies; proc->lock */
	struct lwp_signals sig; /* proc->lock (kern/signal.h) */

	/* In upcall_idle (proc/activation.c), which says which lock. */
	struct lwp *spare_next; /* in proc->up.spares */
	uint32_t handed;        /* the LWP that left it its CPU; 0: it has been unparked */

	/* Its slices, if it runs several threads by turns (proc/share.c); itself. */
	bool in_turn;   /* it has had the first slice of its turn */
	bool shared;    /* its turn has, or had, more than one slice */
	uint8_t others; /* threads that it stands for, besides one; read by other CPUs as a hint */
	int32_t owed; /* further slices of this turn, and what is left for the next one; SHARE_ONE each */

	uint8_t fpu[512] __attribute__((aligned(16))); /* FXSAVE, while switched away */
};

/* May l not run before an lwp_continue?  It may still be on its way to stop. */
static inline bool lwp_is_suspended(const struct lwp *l)
{
	return __atomic_load_n(&l->ast, __ATOMIC_SEQ_CST) & AST_STOP;
}

/* Is FS base of l, which a CPU has (c->lwp), in the CPU's register?  Otherwise it is in l->fsbase, since
 * the switch to l has not yet come so far (sched/switch.h). */
static inline bool lwp_fsbase_loaded(const struct lwp *l)
{
	return l->sc == NULL || __atomic_load_n(&l->sc->state, __ATOMIC_RELAXED) == SC_ONCPU;
}

/* --- proc/lwp.c ------------------------------------------------------------ */

void lwp_init(void); /* the cache of LWPs */
/*
 * Makes a new LWP of p (LWP_ST_IDLE), which enters user mode as `arg` says.  It gets the
 * class, the priority and the binding of `parent`, the current LWP (NULL: the defaults).  Fills
 * in arg->id and arg->schedctl.  -EAGAIN: no memory or no id left, or p is exiting.
 * May sleep; takes p->lock.
 */
int lwp_new(struct proc *p, struct lwp_create *arg, const struct lwp *parent, struct lwp **out);
/* Makes a new LWP runnable. */
void lwp_start(struct lwp *l);
/*
 * The LWP of p with this id, with its lock held (interrupts off), or NULL.  p is the
 * current process, or p->lock is held.
 */
struct lwp *lwp_lock_by_id(struct proc *p, uint32_t id);
/* Ends the current LWP; the last LWP ends the process too. */
void lwp_exit_self(void) NORETURN;
/*
 * Waits until LWP `id` of the current process (0: any that is not detached) has
 * exited, and frees its id.  Returns the id, or -ESRCH (no such LWP), -EINVAL
 * (detached), -EDEADLK (the caller itself, or only the caller is left), -EINTR.  Blocks.
 */
int64_t lwp_wait(uint32_t id);
/* Frees an exited LWP.  p->lock held; l is on no list. */
void lwp_free_zombie(struct proc *p, struct lwp *l);
/* Makes l go to its next return to user mode and look at its ASTs there. */
void lwp_post_ast(struct lwp *l, uint32_t ast);
void lwp_post_ast_locked(struct lwp *l, uint32_t ast); /* l->lock held */
/* Clears AST_STOP or AST_JOBSTOP, and makes l runnable if the other flag does not stop it. */
void lwp_clear_stop(struct lwp *l, uint32_t ast);
void lwp_clear_stop_locked(struct lwp *l, uint32_t ast);

/*
 * The signals that l blocks now (proc/sigmask.c).  Unless l is the current LWP, user mode may change
 * them at any time, and p->lock must be held, so that l has a record.
 */
static inline uint64_t sig_mask(const struct lwp *l)
{
	return __atomic_load_n(&l->sc->mask, __ATOMIC_SEQ_CST) & ~SIG_UNBLOCKABLE;
}
