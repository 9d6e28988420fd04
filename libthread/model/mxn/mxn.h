/*
 * mxn.h - model mxn: unbound threads over a pool of LWPs, bound threads beside them
 * (Solaris 2.2 to 8).
 *
 *	sched.c		the lock, the run queue, blocking, waking, yielding, the switch
 *	pool.c		the LWPs of the pool: idle, new, too many
 *	grow.c		when it grows by itself; the model's LWPs of its own
 *	signal.c	signals of unbound threads, the ASLWP
 *	timeout.c	deadlines of unbound threads
 *	realtime.c	preemption by unbound threads of SCHED_FIFO and SCHED_RR, time slices
 *	mxn.c		creation, exit, suspension; the table of operations
 *	switch.S	from one thread to the other
 *
 * One lock, _schedlock, guards all: the run queue, every sleep queue (the locks in
 * struct sleepq are not used), the pool, the time-outs, and all fields of threads that
 * core/tcb.h marks "model".  It is what the Solaris papers found to be the bottleneck.
 *
 * It is held across a switch: taken by the thread that leaves, given up by the switch itself
 * once it stands on the stack of the one that comes, on the same LWP.  So nobody finds a
 * thread in a queue before its registers are saved and its stack is no longer used.
 *
 * Whenever a thread is in the run queue, no LWP of the pool is idle.
 */
#pragma once
#include <thread.h>
#include "../../core/core.h"
#include "../../core/model.h"
#include "../../core/park.h"
#include "../../core/sleepq.h"

/* --- the lock ------------------------------------------------------------------- */

/*
 * One hold in HOLDS_A_SAMPLE is timed, and the lock itself counts them: below ILOCK_HELD its
 * word has a number that every release increments by the same addition that clears ILOCK_HELD.
 * From SAMPLE_NOW it overflows into that bit after HOLDS_A_SAMPLE holds.  Then the lock looks held,
 * but has a count of 0 (SAMPLE_DUE), which it has never else: the next one who wants it comes
 * to the slow path, takes it there, and has its hold timed (SECTION_TIMED).
 */
#define HOLDS_A_SAMPLE 256
#define SCHEDLOCK_RELEASE (ILOCK_HELD + 1)
#define SAMPLE_DUE ILOCK_HELD
#define SAMPLE_NOW (ILOCK_HELD - HOLDS_A_SAMPLE)

struct schedlock {
	struct ilock lock;
	int64_t since;                    /* when the lock was taken, if this hold is timed */
	struct thr_schedlock_stats stats; /* acquisitions: up to the last sample */
} __attribute__((aligned(64)));
extern struct schedlock _schedlock;

void __schedlock_wait(struct ilock *l);
void __schedlock_timed(void);

static inline void schedlock(void)
{
	ilock_lock(&_schedlock.lock);
}

/*
 * The addition needs no bus lock: all that others do to a lock that is held is to set the bit
 * that is set.  __mxn_switch does the same.
 */
static inline void schedunlock(void)
{
	__asm__ volatile("addl %1, %0"
			 : "+m"(_schedlock.lock.held)
			 : "i"((int)SCHEDLOCK_RELEASE)
			 : "memory", "cc");
	critical_exit();
}

/* --- the run queue ------------------------------------------------------------------ */

/*
 * By priority, FIFO within.  Threads of priority 0, which all are unless the program says
 * otherwise, are in a list of their own; `above` tells whether there are others at all.
 * Lists are rings: the list itself is a link between last and first, and to be named in a
 * thread's links it passes for one (run_end).  All with _schedlock.
 */
struct run_list {
	struct thread *first, *last;
};
extern struct runq {
	struct run_list zero;
	uint32_t above;                               /* threads of higher priorities */
	uint64_t bitmap[2];                           /* priorities that have some */
	struct run_list pri[THREAD_MAX_PRIORITY + 1]; /* from 1 on; valid if in the bitmap */
} __runq;

static inline struct thread *run_end(struct run_list *l)
{
	return (struct thread *)((uintptr_t)l - offsetof(struct thread, run_next));
}

int __runq_top(void);
void __runq_push_above(struct thread *t);
void __runq_push_head(struct thread *t); /* before its equals */
void __runq_remove(struct thread *t);
void __runq_init(void);

static inline void run_list_append(struct run_list *l, struct thread *t)
{
	struct thread *last = l->last;

	t->run_next = run_end(l);
	t->run_prev = last;
	last->run_next = t;
	l->last = t;
}

static inline void runq_push(struct thread *t)
{
	if (likely(t->pri == 0))
		run_list_append(&__runq.zero, t);
	else
		__runq_push_above(t);
}

/*
 * Can the LWP of self, and its mask, go over to the first of priority 0 as they are?  Then that
 * is *first, and it has left the queue.
 */
static inline bool runq_pop_plain(struct thread *self, struct thread **first)
{
	struct thread *t = __runq.zero.first, *next;

	if (unlikely(t == run_end(&__runq.zero) ||
		     (self->special | t->special | __runq.above) != 0))
		return false;
	next = t->run_next;
	__runq.zero.first = next;
	next->run_prev = run_end(&__runq.zero);
	*first = t;
	return true;
}

/* Takes out the one that goes first.  NULL: empty. */
struct thread *__runq_pop(void);

/* t is off its LWP, of priority 0, and nothing is to be done for it but to let it run. */
static inline bool just_blocked(const struct thread *t)
{
	return t->state_and_special == TS_BLOCKED;
}

/* Besides, there is nobody whose turn it is: whoever wakes t may give it his LWP at once. */
static inline bool goes_next(const struct thread *t)
{
	return just_blocked(t) && __runq.above == 0 && __runq.zero.first == run_end(&__runq.zero);
}

/* --- sched.c -------------------------------------------------------------------- */

/*
 * self's wait was in vain: was it one of ops->sleep, which then does not return?  What wait_arg
 * says of one in the second table (sleepq.h) is about an earlier wait.
 */
static inline bool ends_in_sleep(const struct thread *self)
{
	return self->wait_arg == &__ends_in_sleep && sleepq_is_point(self->q);
}

/* All with _schedlock held. */

/* t, which is Blocked or Stopped and unbound, may run.  Returns an LWP to unpark, or 0. */
uint32_t __make_runnable(struct thread *t);
/* t need not wait any longer: the same, for any thread that stood in a sleep queue. */
uint32_t __release(struct thread *t);
/* t, which is Blocked in a queue and unbound, waits no longer, and in vain: the same. */
uint32_t __give_up(struct thread *t);

/*
 * switch.S: saves the registers of `from` on its stack, and its RSP; goes on with `to`, and
 * gives up _schedlock, whose critical section is c, there.  Returns 0 when `from` has an LWP
 * again.  __mxn_leave: `from` has exited, and its stack may go (on_stack).
 */
#define SAVED_REGISTERS 6 /* and above them the place to go on at */
int __mxn_switch(struct thread *from, struct thread *to, struct section *c);
const void *__mxn_switch_null(struct thread *from, struct thread *to, struct section *c) __asm__(
	"__mxn_switch"); /* 0 as it is wanted: a caller may end in it */
void __mxn_leave(struct thread *from, struct thread *to, struct section *c)
	__attribute__((noreturn));

/* One of them carries something of its own, or is a scheduler context: signal.c. */
void __masks_move(struct thread *from, struct thread *to);     /* signal.c */
void __switch_special(struct thread *from, struct thread *to); /* realtime.c */

/* Unless both are plain: does for priorities and masks what is to be done before the switch. */
static inline void prepare_switch(struct thread *self, struct thread *next)
{
	if (unlikely(self->special | next->special))
		__switch_special(self, next);
}

/* next is to have the LWP of the calling thread, whose state has been set. */
static inline struct section *lwp_hand_over(struct thread *self, struct thread *next)
{
	struct ulwp *l = self->lwp;
	struct section *c = self->critical;

	self->lwp = &__nowhere;
	next->lwp = l;
	next->critical = c;
	next->state = TS_ONLWP;
	return c;
}

/*
 * The calling thread gives its LWP to next.  Returns 0 when it has one again; _schedlock is
 * given up.
 */
static inline int switch_to(struct thread *self, struct thread *next)
{
	prepare_switch(self, next);
	return __mxn_switch(self, next, lwp_hand_over(self, next));
}

/* The same for threads neither of which is special. */
static inline int switch_plain(struct thread *self, struct thread *next)
{
	return __mxn_switch(self, next, lwp_hand_over(self, next));
}

/* The scheduler context of the LWP that an unbound thread is on. */
static inline struct thread *context_of(struct thread *t)
{
	return (struct thread *)((char *)t->lwp - offsetof(struct thread, own_lwp));
}

/* Whom the LWP of self, which is about to leave it, runs next: a thread or its context. */
static inline struct thread *next_for(struct thread *self)
{
	struct thread *next = __runq_pop();

	return next != NULL ? next : context_of(self);
}

/*
 * t is off its LWP, in a switch that it has called to block.  When it comes onto one again
 * function() is called first, and what that returns the call returns.
 */
void __mxn_call_first(struct thread *t, const void *(*function)(void));

/* What __mxn_block does in any case that is not the plain one. */
const void *__block_special(struct thread *self, deadline_t deadline, struct thread *wake);
const void *__mxn_block(struct sleepq *q, deadline_t deadline, struct thread *wake);
int __mxn_sleep(struct sleepq *q);
void __mxn_wake(struct sleepq *q, struct thread *list);
int __mxn_wake_one(struct sleepq *q, struct thread *t);
int __mxn_yield(void);
void __wake_first(struct thread *t);
void __left_behind(struct thread *t, struct thread *next);

/* Prepares t, which has a stack, to begin in entry() at the first switch to it. */
static inline void mxn_prepare(struct thread *t, void (*entry)(void))
{
	uint64_t *sp = (uint64_t *)((uintptr_t)(t->stack + t->stack_size) & -16ul);

	sp[-1] = 0; /* a return address of 0 ends the backtrace */
	sp[-2] = (uint64_t)entry;
	sp[-3] = 0; /* RBP, as above; the others may be anything */
	t->rsp = (uint64_t)(sp - 8);
}

/* --- pool.c --------------------------------------------------------------------- */

void __pool_init(void);
extern struct thread *__pool_idle;     /* see pool.c; _schedlock */
extern struct thread *__pool_contexts; /* all, linked by list_next; _schedlock */
extern int __pool_size;                /* LWPs that run threads; _schedlock */
/* With _schedlock: an idle LWP, which is idle no longer; or NULL. */
struct thread *__pool_take_idle(void);
/* Without it: sees that there are `level` LWPs; 0: as many as there should be. */
int __pool_set_concurrency(int level);
int __pool_one_more(void);
/* With _schedlock: an LWP of the pool has been stopped together with its thread, or goes
 * on again. */
void __pool_stopped(int change);
extern bool __pool_ready; /* there is one, and what makes it grow; else __pool_make_ready */
/* 0, EAGAIN, ENOMEM: there is no LWP at all, and could not be one. */
int __pool_make_ready(void);
/* All LWPs of the process are blocked: adds one, if there is a thread for it.  False: it could not. */
bool __pool_grow(void);
/* In a child of fork, self its only thread. */
void __pool_forked(struct thread *self);

/* --- grow.c --------------------------------------------------------------------- */

void __services_start(void);
void __services_forked(void);
void __aslwp_poke(void);
void __reap(void);

/* --- signal.c ------------------------------------------------------------------- */

int __mxn_kill(struct thread *t, int sig);
bool __mxn_await_signal(uint64_t set, deadline_t deadline);
void __mxn_leave_signals(uint64_t set);
void __aslwp_main(struct thread *self) __attribute__((noreturn));
/* With _schedlock: has self, which is about to block, signals to take first?  Then ... */
bool __signals_due(struct thread *self);
/* ... it does, and blocks after that.  Gives _schedlock up; returns what block does. */
const void *__signals_first(deadline_t deadline);

/* --- timeout.c ------------------------------------------------------------------ */

int __timeout_prepare(void);
/* With _schedlock. */
void __timeout_arm(struct thread *t, deadline_t deadline);
void __timeout_cancel(struct thread *t);
void __timeout_forked(void); /* in the child of fork */

/* --- realtime.c ----------------------------------------------------------------- */

#define RR_TICKS (RR_SLICE_NS / WEFT_TICK_NS)

/* With _schedlock: a thread of this priority has entered the run queue, or is left there. */
void __realtime_look(int pri, bool gives_way);
/* The same: t's priority is another, and it is in no run queue, though its state may say so. */
void __realtime_changed(struct thread *t, bool lowered);
void __mxn_give_way(void);
void __mxn_preempted(void);
void __mxn_rescheduled(struct thread *t, bool to_tail);
int __realtime_prepare(void);
void __realtime_forked(void);
