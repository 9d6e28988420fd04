/*
 * sched.h - the dispatcher, its classes, and the states of an LWP (sched/).
 *
 * Which code may change l->state:
 *
 *	ONPROC -> SLEEP, STOP, ZOMB   the LWP itself, with l->lock, which stays held
 *	                              until its registers are saved
 *	IDLE, SLEEP, STOP -> RUN      any code, with l->lock
 *	SLEEP -> ONPROC               the same, for an LWP that stays on its CPU (sched/stay.c), which is c->lwp
 *	                              a moment later
 *	ONPROC -> RUN, RUN -> ONPROC  the CPU that it is on, or on whose queue it is, with
 *	                              the queue's lock only
 *
 * So a holder of l->lock that reads RUN or ONPROC must acquire the lock of that queue
 * (l->cpu's) as well before it acts on the state.  Any other state is stable under l->lock.
 */
#pragma once
#include <weft/priocntl.h>
#include <weft/processor.h>
#include "cpu.h"
#include "lwp.h"
#include "printk.h"
#include "types.h"

struct cpu;

/* Global priorities: 0-59 time-share, 60-99 kernel, 100-159 real-time. */
#define PRI_IDLE (-1)
#define PRI_TS_MAX 59
#define PRI_SYS 60
#define PRI_SYS_MAX 99
#define PRI_RT 100
#define PRI_MAX 159
#define NPRI (PRI_MAX + 1)

/*
 * A scheduling class decides priorities and slices; the dispatcher only ever
 * runs the highest priority.  All operations are called with l->lock held and l on no
 * queue.  starved is the exception: it is called with the lock of the queue on which l waits, or
 * with l->lock and l on this CPU.
 */
struct sched_class {
	const char *name;
	int cid; /* WEFT_CLASS_* */
	/* 0, or -EINVAL: parameters that no LWP can have.  No lock needed. */
	int (*check)(const struct pcparms *parms);
	/* Sets parameters that check has passed, and l->pri.  fresh: l had another class, and
	 * NOCHANGE stands for the default. */
	void (*set)(struct lwp *l, const struct pcparms *parms, bool fresh);
	void (*get)(const struct lwp *l, struct pcparms *parms);
	/* Returns or sets the nice value (-20 to 19).  NULL: the class has no nice values. */
	int (*get_nice)(const struct lwp *l);
	void (*set_nice)(struct lwp *l, int nice);
	/* l is new, a copy of its creator.  process: it is the first LWP of a process. */
	void (*fork)(struct lwp *l, bool process);
	hrtime_t (*quantum)(const struct lwp *l); /* length of a fresh slice (sched_slice), ns */
	void (*slice_used)(struct lwp *l);        /* l ran to the end of its slice */
	/* l, which runs several threads by turns, gets another slice, of `ns`, for one of them
	 * (proc/share.c).  Its other threads wait meanwhile.  NULL: the class has no such slices. */
	void (*another)(struct lwp *l, hrtime_t ns);
	/* l returns from a sleep (l->wake_reason).  l->slice_left: the rest of its slice,
	 * 0 for a fresh one. */
	void (*wakeup)(struct lwp *l);
	/* Called some times a second while LWPs wait, for each of them and for the LWP that runs.
	 * Returns the priority that l should have. */
	int (*starved)(struct lwp *l, hrtime_t now);
	/* The class's table for PC_ADMIN (NULL: it has none), and its size.  check_table: 0, or
	 * -EINVAL if the new contents make no sense. */
	void *table;
	size_t table_size;
	int (*check_table)(const void *table);
};
extern const struct sched_class sys_class, ts_class, rt_class, nt_class;

/*
 * The second, since boot, in which a CPU last looked after LWPs that wait (dispq_age).  It
 * stands still while no LWP waits.  Atomic.
 */
extern uint32_t sched_second;
/* How long l has waited for CPUs in its whole life.  Locks as for starved, or l is off its CPU and
 * l->lock held. */
static inline uint64_t sched_waited(const struct lwp *l, hrtime_t now)
{
	return l->mtime[MS_WAITCPU] + (l->mstate == MS_WAITCPU ? now : 0);
}

#define SLICE_FOREVER (1ull << 62) /* a slice that does not end: 146 years */

/* The length of a fresh slice of l, at least WEFT_SLICE_MIN.  l->lock held, or
 * the lock of the queue on which it waits. */
static inline hrtime_t sched_slice(const struct lwp *l)
{
	hrtime_t q = l->sclass->quantum(l);

	return q > WEFT_SLICE_MIN ? q : WEFT_SLICE_MIN;
}
/*
 * The rest of a slice after l has got other parameters.  It is no more than before; otherwise an
 * LWP that sets its parameters often would have a slice without end.  It is also no more than a
 * fresh slice.
 */
static inline int64_t sched_slice_rest(const struct lwp *l, int64_t left)
{
	hrtime_t q = sched_slice(l);

	return q == SLICE_FOREVER || left > (int64_t)q ? (int64_t)q : left;
}

/* --- classes (sched/class.c) -------------------------------------------------- */

/* The class with this id, or NULL. */
const struct sched_class *class_by_id(int cid);
/* 0, or -EINVAL: no such class, or parameters that no LWP of it can have. */
int class_check(const struct pcparms *parms);
/* Sets class and parameters that class_check has passed.  l->lock held; l waits on no queue. */
void class_set(struct lwp *l, const struct pcparms *parms);
/*
 * Gives l, which no other LWP knows yet, the class, parameters and binding of its creator.
 * parent: the current LWP, or NULL: the system's defaults.  Called when l joins its process,
 * with p->lock held, or (process) when its process joins the table, with proc_tree_lock held.
 *
 * *Race:* another LWP changes all LWPs of some kind (procset_each) while l inherits; *without
 * this:* the change misses l; *closed by:* these locks, which procset_each holds too.  The
 * parent does not change meanwhile either.
 */
void sched_inherit(struct lwp *l, const struct lwp *parent, bool process);

/*
 * Calls fn on every LWP that (idtype, id) names (weft/procset.h).  0; -EINVAL: no such
 * type; -ESRCH: there is no such LWP.  Holds proc_tree_lock, p->lock and l->lock.
 */
int procset_each(int idtype, int id, void (*fn)(struct lwp *l, void *arg), void *arg);

/*
 * Calls change(l, arg), which changes facts that the dispatcher uses, wherever l is.  If l is on a
 * queue, it goes to the end of the queue that is right then.  If l is on a CPU, the CPU checks
 * whether it should stay.  l->lock held.
 */
void sched_change(struct lwp *l, void (*change)(struct lwp *l, void *arg), void *arg);

/* Sets the priority that its class gives l.  l->lock held, l on no queue. */
static inline void sched_own_pri(struct lwp *l, int pri)
{
	l->own_pri = pri;
	l->pri = pri > l->inherited ? pri : l->inherited;
}
/* Makes l inherit priority pri, in place of what it inherited so far; 0: nothing.  Returns
 * the priority that l has then.  Takes l->lock. */
int sched_inherit_pri(struct lwp *l, int pri);

void sched_init(void);              /* CPU 0's dispatch queue and idle LWP */
void sched_init_cpu(struct cpu *c); /* those of another CPU, before it starts */

/* --- switching (sched/switch.c); interrupts off ------------------------------- */

/*
 * Switches from the current LWP to the best LWP of this CPU's queue, or to the idle LWP.  The
 * caller holds the current LWP's lock and has set its state to SLEEP, STOP or ZOMB.  ms: the
 * microstate until it can run again.
 * Returns when a CPU, perhaps another one, switches to the LWP again.  The lock is released.
 */
void sched_switch(uint32_t ms);
/*
 * The same for an LWP that can go on, and holds no lock.  It goes back on this CPU's queue,
 * in front of or behind the LWPs of equal priority, and waits for its turn.
 */
void sched_put_back(bool at_front);

/* How lwp_runnable may place the LWP. */
enum {
	PLACE_ANY,     /* the LWP's last CPU if idle, or another idle CPU */
	PLACE_HANDOFF, /* the caller is about to sleep: this CPU counts as idle */
};
/* IDLE, SLEEP or STOP -> RUN.  l->lock held. */
void lwp_runnable(struct lwp *l, int place);

/*
 * The first function that a new LWP runs (cpu/entry.S: lwp_trampoline), or that an LWP runs which
 * goes on at the end of a system call (yield_resumed, park_resumed).  prev: the LWP that ran
 * before it on this CPU; lock: the lock that was held across the switch.
 */
void sched_lwp_first(struct lwp *prev, struct spinlock *lock);
void sched_yield_resumed(struct lwp *prev, struct spinlock *lock);
int64_t sched_park_resumed(struct lwp *prev, struct spinlock *lock);

/* --- sleeping and waking (sched/sleep.c) ------------------------------------- */

#define SLEEP_INTR                                                                                 \
	0x1 /* ends when the LWP is told to exit, or has a signal, or lwp_cancel says so */
#define SLEEP_PARK 0x2   /* lwp_park, upcall_idle: ends by lwp_unpark */
#define SLEEP_KILL 0x4   /* ends only when the LWP is told to exit */
#define SLEEP_LOCK 0x100 /* for a lock in user memory: its time is MS_LOCK */
#define SLEEP_STAYS 0x8  /* lwp_sleep_staying: it has its CPU as long as no other LWP wants it */
#define SLEEP_SIG 0x10   /* upcall_idle: ends by AST_SIG, because its LWP hands the signal on */
/* upcall_idle without a CPU */
#define SLEEP_OF_IDLE (SLEEP_KILL | SLEEP_PARK | SLEEP_LOCK | SLEEP_SIG)

enum { WAKE_NONE, WAKE_EVENT, WAKE_TIMEOUT, WAKE_INTR };

/* lwp_cancel (weft/lwp.h).  l->lock held. */
void lwp_cancel_locked(struct lwp *l, uint32_t thread, vaddr_t pc);
/*
 * Does lwp_cancel end the system call that l is in?  l is the current LWP, or is asleep
 * with its lock held.
 */
static inline bool lwp_cancelled(const struct lwp *l)
{
	return l->cancel != 0 && l->frame->r9 == l->cancel && l->frame->rip == l->cancel_pc;
}

/*
 * Sleeps.  The caller holds the current LWP's lock (l->lock), with interrupts off; the lock is
 * released here.  `also`, if not NULL, is released as soon as the LWP counts as
 * asleep.  Returns WAKE_*, with no lock held.
 */
int lwp_sleep_locked(struct lwp *l, struct spinlock *also, const char *wchan, uint32_t flags,
		     hrtime_t deadline);
/*
 * The sleep of l, the current LWP, in upcall_idle: ends by lwp_unpark_locked, or when l gets AST_EXIT or AST_SIG.  l->lock is
 * held, and released here.  Then l goes on at the end of its call, with the result of activation_idle_ends
 * (kern/activation.h).  sched/stay.c.
 */
void lwp_sleep_staying(struct lwp *l, const char *wchan) NORETURN;
/* Can l, the current LWP, sleep in that way?  No: the tracer of its process wants to see the end of the call. */
bool lwp_may_stay(const struct lwp *l);
/* Wakes l if it sleeps in this way and still has its CPU.  l->lock held. */
bool stay_wake(struct lwp *l);
/* Wakes l if it sleeps.  True: this call woke it.  Takes l->lock. */
bool lwp_wake(struct lwp *l, int reason);
/* The same for an l whose lock is held, if it sleeps with one of these flags. */
bool lwp_wake_locked(struct lwp *l, int reason, uint32_t flags, int place);

/* Stops the current LWP until lwp_clear_stop, if one of AST_STOPS is set.  Interrupts off. */
void lwp_stop_self(void);

/* --- parking (sched/park.c) -------------------------------------------------- */

/*
 * The system call lwp_park (weft/syscall.h), after its arguments are checked: blocks the calling
 * LWP until an unpark has come, and consumes that unpark.  An unpark since the last park ends it at
 * once.  0; -ETIMEDOUT: time_now() has reached deadline first (HRTIME_NEVER: no deadline); -EINTR:
 * the LWP is to exit, has a signal, or is cancelled.  An unpark that comes together with one of
 * these is the result, 0.  Takes l->lock; called with interrupts on and no lock held.  Blocks.
 */
int lwp_park(hrtime_t deadline);
/* The system call lwp_unpark: wakes l if it is parked.  Otherwise the next park of l returns at
 * once (l->permit).  l->lock held. */
void lwp_unpark_locked(struct lwp *l, int place);

/* --- preemption (sched/preempt.c) ---------------------------------------------- */

void resched_interrupt(void); /* VEC_RESCHED */
void sched_slice_check(void); /* from the timer interrupt: is the slice over? */
void preempt_now(void);       /* the slow part of preempt_point */
/*
 * Gives up the CPU if another LWP needs it.  A loop in the kernel calls this if a program chooses
 * its length: in each round, or after each some thousand instructions.  Sleeping locks may be
 * held, spin locks not.
 */
static inline void preempt_point(void)
{
#ifndef WEFT_ON_HOST /* tests/host run parts of the kernel without a CPU to give up */
	debug_assert(this_cpu()->nlocks == 0);
	if (cpu_here->need_resched)
		preempt_now();
#endif
}

/*
 * Call it after an lwp_runnable with PLACE_HANDOFF if the caller did not sleep after all.
 * Offers the LWP that waits on this CPU's queue to an idle CPU.
 */
void sched_handoff_failed(void);

/* --- accounting ---------------------------------------------------------------------- */

/*
 * From `now` on the LWP's time goes to microstate ms.  Called by the LWP itself with interrupts
 * off, or with l->lock while the LWP is off its CPU.
 *
 * mtime of the current state holds its time up to now, less now.  So a change is an addition
 * and a subtraction, and a reader adds the moment of the reading.  The sum of all mtimes is
 * -created at any time, except between the addition and the subtraction.  By that a reader on
 * another CPU knows that it has seen a whole change (lwp_times).
 */
static inline void lwp_mstate_at(struct lwp *l, uint32_t ms, hrtime_t now)
{
	l->mtime[l->mstate] += now;
	l->mtime[ms] -= now;
	l->mstate = ms;
}

/* The same for a caller that knows the current state. */
static inline void lwp_mstate_move(struct lwp *l, uint32_t from, uint32_t to, hrtime_t now)
{
	debug_assert(l->mstate == from);
	l->mtime[from] += now;
	l->mtime[to] -= now;
	l->mstate = to;
}

/* The times of an LWP or a process by state, up to `now`, in nanoseconds. */
struct mstimes {
	hrtime_t now;
	uint64_t elapsed; /* the sum of ms */
	uint64_t ms[NMSTATE];
};
struct lwp_counts {
	uint64_t nvcsw, nivcsw, minflt, nsyscall;
};
/* l's times.  l must not be freed meanwhile: a lock that prevents it is held, or l is current. */
void lwp_times(const struct lwp *l, struct mstimes *t);
/* The times of all of p's LWPs, living and exited.  p->lock held. */
void proc_times(struct proc *p, struct mstimes *times, struct lwp_counts *counts);
/* The current LWP, of p, exits: adds its times to the process's.  p->lock held. */
void proc_account_dead(struct proc *p, struct lwp *l);
/*
 * Running sums of CPU time (kern/itimer.h).
 * sums_begin: from now on p's sums are kept; p->lock held.
 * sums_charge: the current LWP, of a process with sums (l->summed), leaves its CPU or exits;
 * interrupts off.
 * sums_now: the sums, with what LWPs on a CPU have used since; never more than proc_times has;
 * p->lock held.
 */
void sums_begin(struct proc *p);
void sums_charge(struct lwp *l, hrtime_t now);
void sums_now(struct proc *p, uint64_t used[NCPUTIME]);
/* The part of the times in which an LWP had a CPU in the kernel, in nanoseconds. */
uint64_t ms_system(const struct mstimes *t);

extern struct kcache *lwp_cache;

/* --- CPUs and sets (sched/cpus.c): the calls of weft/processor.h; they may block -------- */

int processor_bind(int idtype, int id, int cpu, int *old);
int p_online(int cpu, int flag); /* returns the state that it had */
int pset_create(int *id);
int pset_destroy(int id);
int pset_assign(int id, int cpu, int *old);
int pset_bind(int id, int idtype, int who, int *old);
/* pset_cpus: the CPUs of a set as a bit mask, or -EINVAL.  pset_list: bit i: set i + 1 exists. */
int pset_cpus(int id, uint64_t *mask);
uint64_t pset_list(void);

/* What CPU c does now, for cpuinfo: how many LWPs wait, and which LWP it runs (0: idle). */
void sched_cpu_load(struct cpu *c, uint32_t *waiting, int32_t *pid, uint32_t *lwpid);

/* Makes a kernel LWP (priority PRI_SYS) that runs fn(arg); NULL: out of memory. */
struct lwp *kernel_lwp(const char *name, void (*fn)(void *), void *arg);
