/*
 * mxn.h - model mxn: unbound threads over a pool of LWPs, bound threads beside them
 * (Solaris 2.2 to 8).
 *
 *	sched.c		the lock, the run queue, blocking, waking, yielding, the switch
 *	pool.c		the LWPs of the pool: idle, new, too many
 *	timeout.c	deadlines of unbound threads
 *	mxn.c		creation, exit, suspension; the table of operations
 *	switch.S	from one thread to the other
 *
 * One lock, _schedlock, guards all: the run queue, every sleep queue (the locks in
 * struct sleepq are not used), the pool, the time-outs, and all fields of threads that
 * impl.h marks "model".  It is what the Solaris papers found to be the bottleneck.
 *
 * It is held across a switch: taken by the thread that leaves, given up by the one that
 * comes, on the same LWP.  So nobody finds a thread in a queue before its registers are
 * saved and its stack is no longer used.
 *
 * Whenever a thread is in the run queue, no LWP of the pool is idle.
 */
#pragma once
#include <thread.h>
#include "../../core/impl.h"
#include "../../core/model.h"
#include "../../core/sleepq.h"

/* --- the lock ------------------------------------------------------------------- */

#define HOLDS_A_SAMPLE 64 /* one hold in so many is timed */

struct schedlock {
	struct ilock lock;
	int32_t until_sample; /* acquisitions */
	int64_t since;        /* when the lock was taken, if this hold is timed; else 0 */
	struct thr_schedlock_stats stats; /* acquisitions: up to the last sample */
} __attribute__((aligned(64)));
extern struct schedlock _schedlock;

void __schedlock_contended(void);
void __schedlock_begin_sample(void);
void __schedlock_end_sample(void);

static inline void schedlock(void)
{
	critical_enter();
	if (unlikely(__atomic_exchange_n(&_schedlock.lock.held, 1, __ATOMIC_ACQUIRE) != 0))
		__schedlock_contended();
	if (unlikely(--_schedlock.until_sample == 0))
		__schedlock_begin_sample();
}

static inline void schedunlock(void)
{
	if (unlikely(_schedlock.since != 0))
		__schedlock_end_sample();
	ilock_unlock(&_schedlock.lock);
}

/* --- the run queue ------------------------------------------------------------------ */

/*
 * By priority, FIFO within.  Threads of priority 0, which all are unless the program says
 * otherwise, are in a list of their own; `above` tells whether there are others at all.
 * All with _schedlock.
 */
struct run_list {
	struct thread *first, *last; /* NULL: empty */
};
extern struct runq {
	struct run_list zero;
	uint32_t above;                               /* threads of higher priorities */
	uint64_t bitmap[2];                           /* priorities that have some */
	struct run_list pri[THREAD_MAX_PRIORITY + 1]; /* from 1 on */
} __runq;

int __runq_top_above(void);
void __runq_push_above(struct thread *t);
struct thread *__runq_pop_above(void);
void __runq_remove(struct thread *t);

/* The highest priority there, or -1; without the lock a guess. */
static inline int runq_top(void)
{
	if (unlikely(__runq.above != 0))
		return __runq_top_above();
	return __runq.zero.first != NULL ? 0 : -1;
}

static inline void run_list_append(struct run_list *l, struct thread *t)
{
	t->run_next = NULL;
	t->run_prev = l->last;
	if (l->last != NULL)
		l->last->run_next = t;
	else
		l->first = t;
	l->last = t;
}

static inline void runq_push(struct thread *t)
{
	if (likely(t->pri == 0))
		run_list_append(&__runq.zero, t);
	else
		__runq_push_above(t);
}

/* NULL: empty. */
static inline struct thread *runq_pop(void)
{
	struct thread *t = __runq.zero.first, *next;

	if (unlikely(__runq.above != 0))
		return __runq_pop_above();
	if (t != NULL) {
		next = t->run_next;
		__runq.zero.first = next;
		if (next != NULL)
			next->run_prev = NULL;
		else
			__runq.zero.last = NULL;
	}
	return t;
}

/* --- sched.c -------------------------------------------------------------------- */

/* All with _schedlock held. */

/* t, which is Blocked or Stopped and unbound, may run.  Returns an LWP to unpark, or 0. */
uint32_t __make_runnable(struct thread *t);
/* t need not wait any longer: the same, for any thread that stood in a sleep queue. */
uint32_t __release(struct thread *t);
/* t, which is Blocked in a queue and unbound, waits no longer, and in vain: the same. */
uint32_t __give_up(struct thread *t);
void __arrived_masked(struct thread *prev, struct thread *self);
/*
 * self has come onto the LWP that prev was on.  If prev has exited, it has now left its
 * stack; if the mask of one of them is special, the LWP's changes.
 */
static inline void arrived(struct thread *prev, struct thread *self)
{
	if (likely((prev->leaving | self->leaving) == 0))
		return;
	if (prev->masked || self->masked)
		__arrived_masked(prev, self);
	if (prev->exited)
		__atomic_store_n(&prev->on_stack, 0, __ATOMIC_RELEASE);
}

/*
 * switch.S: saves the registers of `from` on its stack, and its RSP; goes on with `to`.
 * Returns, in the end, the thread that was left when this one came back.
 */
struct thread *__mxn_switch(struct thread *from, struct thread *to);

/*
 * The calling thread, whose state has been set, gives its LWP to next; returns when it
 * has one again.
 */
static inline void switch_to(struct thread *self, struct thread *next)
{
	struct lwp *l = self->lwp;

	self->lwp = &__nowhere;
	next->lwp = l;
	next->state = TS_ONLWP;
	arrived(__mxn_switch(self, next), self);
}

/* The scheduler context of the LWP that an unbound thread is on. */
static inline struct thread *context_of(struct thread *t)
{
	return (struct thread *)((char *)t->lwp - offsetof(struct thread, own_lwp));
}

/* The same to the next in the run queue, or to the LWP's scheduler context. */
static inline void leave_lwp(struct thread *self)
{
	struct thread *next = runq_pop();

	switch_to(self, next != NULL ? next : context_of(self));
}

const void *__mxn_block(struct sleepq *q, deadline_t deadline, struct thread *wake);
void __mxn_wake(struct sleepq *q, struct thread *list);
int __mxn_yield(void);

/* Prepares t, which has a stack, to begin in entry(prev) at the first switch to it. */
void __mxn_prepare(struct thread *t, void (*entry)(struct thread *prev));

/* --- pool.c --------------------------------------------------------------------- */

void __pool_init(void);
/* With _schedlock: an idle LWP, which is idle no longer; or NULL. */
struct thread *__pool_take_idle(void);
/* Without it: sees that there are `level` LWPs; 0: as many as there should be. */
int __pool_set_concurrency(int level);
int __pool_one_more(void);
/* With _schedlock: an LWP of the pool has been stopped together with its thread, or goes
 * on again. */
void __pool_stopped(int change);
/* Is there no LWP at all?  Without the lock: only a bound thread in a child of fork sees it. */
bool __pool_empty(void);
/* In a child of fork, self its only thread. */
void __pool_forked(struct thread *self);

/* --- timeout.c ------------------------------------------------------------------ */

int __timeout_prepare(void);
/* With _schedlock. */
void __timeout_arm(struct thread *t, deadline_t deadline);
void __timeout_cancel(struct thread *t);
/* Around fork, with no lock held before; `forked` in the child. */
void __timeout_before_fork(void), __timeout_after_fork(void), __timeout_forked(void);
