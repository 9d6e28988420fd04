/*
 * sched.h - the dispatcher, its classes, and the states of an LWP (sched/).
 *
 * Who may change l->state:
 *
 *	ONPROC -> SLEEP, STOP, ZOMB   the LWP itself, with l->lock, which stays held
 *	                              until its registers are saved
 *	IDLE, SLEEP, STOP -> RUN      anyone, with l->lock
 *	ONPROC -> RUN, RUN -> ONPROC  the CPU that it is on, or on whose queue it is, with
 *	                              the queue's lock only
 *
 * So whoever holds l->lock and reads RUN or ONPROC must take the lock of that queue
 * (l->cpu's) as well before acting on it; any other state is stable under l->lock.
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
 * queue.  starved is an exception: it is called with the lock of the queue on which l waits, or
 * with l->lock and l on this CPU.
 */
struct sched_class {
	const char *name;
	int cid; /* WEFT_CLASS_* */
	/* 0, or -EINVAL: parameters that no LWP can have.  No lock needed. */
	int (*check)(const struct pcparms *parms);
	/* Parameters that check has passed.  fresh: l comes from another class, and NOCHANGE
	 * stands for the default.  Sets l->pri. */
	void (*set)(struct lwp *l, const struct pcparms *parms, bool fresh);
	void (*get)(const struct lwp *l, struct pcparms *parms);
	/* The nice value, or a new one (-20 to 19); NULL: the class knows no such thing. */
	int (*get_nice)(const struct lwp *l);
	void (*set_nice)(struct lwp *l, int nice);
	/* A new LWP, made a copy of its creator; process: it is the first of a process. */
	void (*fork)(struct lwp *l, bool process);
	hrtime_t (*quantum)(const struct lwp *l); /* length of a fresh slice (sched_slice), ns */
	void (*slice_used)(struct lwp *l);        /* it ran to the end of its slice */
	/* It comes back from a sleep (l->wake_reason); l->slice_left: what it left of its
	 * slice, 0 for a fresh one. */
	void (*wakeup)(struct lwp *l);
	/* Some times a second, while LWPs wait, for each of them and for the one that runs: returns the
	 * priority that l should have. */
	int (*starved)(struct lwp *l, hrtime_t now);
	/* The class's table for PC_ADMIN: where, its size, and whether new contents make sense
	 * (0 or -EINVAL).  NULL: it has none. */
	void *table;
	size_t table_size;
	int (*check_table)(const void *table);
};
extern const struct sched_class sys_class, ts_class, rt_class, nt_class;

/*
 * The second, since boot, in which a CPU last looked after LWPs that wait (dispq_age).  Where
 * nobody waits it stands still.  Atomic.
 */
extern uint32_t sched_second;
/* How long l has waited for CPUs in all its life.  As for starved, or l is off its CPU and l->lock
 * held. */
static inline uint64_t sched_waited(const struct lwp *l, hrtime_t now)
{
	return l->mtime[MS_WAITCPU] + (l->mstate == MS_WAITCPU ? now : 0);
}

#define SLICE_FOREVER (1ull << 62) /* a slice that does not end: 146 years */

/* The length of a fresh slice of l, which is at least what WEFT_SLICE_MIN says.  l->lock held, or
 * the lock of the queue on which it waits. */
static inline hrtime_t sched_slice(const struct lwp *l)
{
	hrtime_t q = l->sclass->quantum(l);

	return q > WEFT_SLICE_MIN ? q : WEFT_SLICE_MIN;
}
/* What is left of a slice when l has got other parameters.  No more than before, because an LWP that
 * sets its parameters often would have a slice without end; and no more than a fresh slice. */
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
/* l gets class and parameters that class_check has passed.  l->lock held; l waits on no queue. */
void class_set(struct lwp *l, const struct pcparms *parms);
/*
 * l, which nobody else knows yet, becomes what its creator is: class, parameters, binding.
 * parent: the current LWP, or NULL: the system's defaults.  Called when l becomes one of
 * its process's LWPs, with p->lock held, or (process) when its process does, with
 * proc_tree_lock: whoever changes all LWPs of some kind holds these (procset_each), so
 * that nobody is missed, and the parent stays as it is meanwhile.
 */
void sched_inherit(struct lwp *l, const struct lwp *parent, bool process);

/*
 * Calls fn on every LWP that (idtype, id) means (weft/procset.h).  0; -EINVAL: no such
 * type; -ESRCH: there is no such LWP.  Holds proc_tree_lock, p->lock and l->lock.
 */
int procset_each(int idtype, int id, void (*fn)(struct lwp *l, void *arg), void *arg);

/*
 * Carries out change(l, arg), a change of what the dispatcher goes by, wherever l is: on a
 * queue (it goes to the end of the one where it belongs then), on a CPU (which looks
 * whether it should stay), or neither.  l->lock held.
 */
void sched_change(struct lwp *l, void (*change)(struct lwp *l, void *arg), void *arg);

/* The priority that its class gives l.  l->lock held, l on no queue. */
static inline void sched_own_pri(struct lwp *l, int pri)
{
	l->own_pri = pri;
	l->pri = pri > l->inherited ? pri : l->inherited;
}
/* Lends l at least priority pri, instead of what it has been lent so far; 0: nothing.  Returns
 * the priority that it has then.  Takes l->lock. */
int sched_inherit_pri(struct lwp *l, int pri);

void sched_init(void);              /* CPU 0's dispatch queue and idle LWP */
void sched_init_cpu(struct cpu *c); /* those of another CPU, before it starts */

/* --- switching (sched/switch.c); interrupts off ------------------------------- */

/*
 * Switches from the current LWP to the best LWP of this CPU's queue, or to the idle LWP.  The caller
 * holds the current LWP's lock and has set its state, to SLEEP, STOP or ZOMB; ms: the microstate for
 * the time until it can run again.
 * Returns when a CPU, perhaps another one, switches to the LWP again.  The lock is released.
 */
void sched_switch(uint32_t ms);
/*
 * The same for an LWP that can go on, and holds no lock: it goes back on this CPU's queue,
 * at the front or at the end of its equals, and waits for its turn.
 */
void sched_put_back(bool at_front);

/* How lwp_runnable may place the LWP. */
enum {
	PLACE_ANY,     /* the last CPU if idle, or another idle one */
	PLACE_HANDOFF, /* the caller is about to sleep: this CPU counts as idle */
};
/* IDLE, SLEEP or STOP -> RUN.  l->lock held. */
void lwp_runnable(struct lwp *l, int place);

/*
 * The first thing that a new LWP runs (cpu/entry.S: lwp_trampoline), and one that goes on at the
 * end of a system call (yield_resumed, park_resumed).  prev: the LWP that ran before it on this
 * CPU; lock: the lock that has crossed the switch.
 */
void sched_lwp_first(struct lwp *prev, struct spinlock *lock);
void sched_yield_resumed(struct lwp *prev, struct spinlock *lock);
int64_t sched_park_resumed(struct lwp *prev, struct spinlock *lock);

/* --- sleeping and waking (sched/sleep.c) ------------------------------------- */

#define SLEEP_INTR                                                                                 \
	0x1 /* ends when the LWP is told to exit, or has a signal, or lwp_cancel says so */
#define SLEEP_PARK 0x2   /* lwp_park: ends by lwp_unpark */
#define SLEEP_KILL 0x4   /* ends when the LWP is told to exit, and by nothing less */
#define SLEEP_LOCK 0x100 /* for a user's lock: its time is MS_LOCK */

enum { WAKE_NONE, WAKE_EVENT, WAKE_TIMEOUT, WAKE_INTR };

/* lwp_cancel (weft/lwp.h).  l->lock held. */
void lwp_cancel_locked(struct lwp *l, uint32_t thread, vaddr_t pc);
/*
 * Is the system call that l is in one that lwp_cancel ends?  l is the current LWP, or is asleep
 * and its lock held.
 */
static inline bool lwp_cancelled(const struct lwp *l)
{
	return l->cancel != 0 && l->frame->r9 == l->cancel && l->frame->rip == l->cancel_pc;
}

/*
 * Sleeps.  The caller holds the current LWP's lock (l->lock, given up here),
 * interrupts off; `also`, if not NULL, is given up as soon as the LWP counts as
 * asleep.  Returns WAKE_*, with no lock held.
 */
int lwp_sleep_locked(struct lwp *l, struct spinlock *also, const char *wchan, uint32_t flags,
		     hrtime_t deadline);
/* Wakes l if it sleeps: true when this call did it.  Takes l->lock. */
bool lwp_wake(struct lwp *l, int reason);
/* Wakes l, whose lock is held, if it sleeps with one of these flags. */
bool lwp_wake_locked(struct lwp *l, int reason, uint32_t flags, int place);

/* lwp_park (sched/switch.c) and lwp_unpark (weft/syscall.h) for an LWP that is locked. */
int lwp_park(hrtime_t deadline);
void lwp_unpark_locked(struct lwp *l, int place);

/* Stops the current LWP until lwp_clear_stop, if one of AST_STOPS is set.  Interrupts off. */
void lwp_stop_self(void);

/* --- preemption (sched/preempt.c) ---------------------------------------------- */

void resched_interrupt(void); /* VEC_RESCHED */
void sched_slice_check(void); /* from the timer interrupt: is the slice over? */
void preempt_now(void);       /* preempt_point's */
/*
 * Gives up the CPU if somebody wants it.  A loop in the kernel whose length a program chooses calls
 * this in each round, or for each piece of work of some thousand instructions.  Sleeping locks may
 * be held, spin locks not.
 */
static inline void preempt_point(void)
{
#ifndef WEFT_ON_HOST /* where tests/host run parts of the kernel there is no CPU to give up */
	debug_assert(this_cpu()->nlocks == 0);
	if (cpu_here->need_resched)
		preempt_now();
#endif
}

/*
 * After an lwp_runnable with PLACE_HANDOFF whose caller did not sleep after all:
 * the LWP that waits on this CPU's queue is offered to an idle CPU.
 */
void sched_handoff_failed(void);

/* --- accounting ---------------------------------------------------------------------- */

/*
 * From `now` on the LWP's time goes to microstate ms.  By the LWP itself with interrupts
 * off, or with l->lock while it is off its CPU.
 *
 * mtime of the current state holds its time up to now, less now: so a change is an addition
 * and a subtraction, and whoever reads adds the moment of the reading.  All of them
 * add up to -created at any time but between those two: that is how a reader on
 * another CPU knows that it has seen a whole change (lwp_times).
 */
static inline void lwp_mstate_at(struct lwp *l, uint32_t ms, hrtime_t now)
{
	l->mtime[l->mstate] += now;
	l->mtime[ms] -= now;
	l->mstate = ms;
}

/* The same where it is known what state l is in. */
static inline void lwp_mstate_move(struct lwp *l, uint32_t from, uint32_t to, hrtime_t now)
{
	debug_assert(l->mstate == from);
	l->mtime[from] += now;
	l->mtime[to] -= now;
	l->mstate = to;
}

/* An LWP's or a process's times by state, up to `now`, in nanoseconds. */
struct mstimes {
	hrtime_t now;
	uint64_t elapsed; /* the sum of ms */
	uint64_t ms[NMSTATE];
};
struct lwp_counts {
	uint64_t nvcsw, nivcsw, minflt, nsyscall;
};
/* l's times; l stays an LWP meanwhile: a lock that keeps it is held, or it is the caller. */
void lwp_times(const struct lwp *l, struct mstimes *t);
/* Those of p's LWPs, living and gone.  p->lock held. */
void proc_times(struct proc *p, struct mstimes *times, struct lwp_counts *counts);
/* The current LWP, of p, ends: what it had is the process's.  p->lock held. */
void proc_account_dead(struct proc *p, struct lwp *l);
/*
 * Running sums of CPU time (kern/itimer.h).  sums_begin: p's are kept from now on; p->lock held.
 * sums_charge: the current LWP, for which they are kept (l->summed), leaves its CPU, or ends;
 * interrupts off.  sums_now: what they are, with what those on a CPU have used since; never
 * more than proc_times has; p->lock held.
 */
void sums_begin(struct proc *p);
void sums_charge(struct lwp *l, hrtime_t now);
void sums_now(struct proc *p, uint64_t used[NCPUTIME]);
/* The part of the times in which an LWP had a CPU in the kernel. */
uint64_t ms_system(const struct mstimes *t);

extern struct kcache *lwp_cache;

/* --- CPUs and sets (sched/cpus.c): the calls of weft/processor.h; they may block -------- */

int processor_bind(int idtype, int id, int cpu, int *old);
int p_online(int cpu, int flag); /* the state that it had */
int pset_create(int *id);
int pset_destroy(int id);
int pset_assign(int id, int cpu, int *old);
int pset_bind(int id, int idtype, int who, int *old);
/* The CPUs of a set, bit by bit, or -EINVAL.  pset_list: bit i, set i + 1 exists. */
int pset_cpus(int id, uint64_t *mask);
uint64_t pset_list(void);

/* What CPU c does now, for cpuinfo: waiting LWPs, and whose LWP it runs (0: idle). */
void sched_cpu_load(struct cpu *c, uint32_t *waiting, int32_t *pid, uint32_t *lwpid);

/* A kernel LWP (priority PRI_SYS) that runs fn(arg); NULL: out of memory. */
struct lwp *kernel_lwp(const char *name, void (*fn)(void *), void *arg);
