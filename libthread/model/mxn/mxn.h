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

#define HOLDS_A_SAMPLE 64 /* one hold in so many is timed; a power of 2 */

struct schedlock {
	struct ilock lock;
	int64_t since; /* when the lock was taken, if this hold is timed; else 0 */
	struct thr_schedlock_stats stats;
} __attribute__((aligned(64)));
extern struct schedlock _schedlock;

void __schedlock_contended(void);
void __schedlock_timed(void);

static inline void schedlock(void)
{
	critical_enter();
	if (unlikely(__atomic_exchange_n(&_schedlock.lock.held, 1, __ATOMIC_ACQUIRE) != 0))
		__schedlock_contended();
	if (unlikely(++_schedlock.stats.acquisitions % HOLDS_A_SAMPLE == 0))
		_schedlock.since = gethrtime();
}

static inline void schedunlock(void)
{
	if (unlikely(_schedlock.since != 0))
		__schedlock_timed();
	ilock_unlock(&_schedlock.lock);
}

/* --- sched.c -------------------------------------------------------------------- */

/* All with _schedlock held. */
void __runq_push(struct thread *t);
void __runq_remove(struct thread *t);
struct thread *__runq_pop(void); /* the highest priority, FIFO within; NULL: empty */
/* t, which is Blocked or Stopped and unbound, may run.  Returns an LWP to unpark, or 0. */
uint32_t __make_runnable(struct thread *t);
/* t need not wait any longer: the same, for any thread that stood in a sleep queue. */
uint32_t __release(struct thread *t);
/*
 * The calling thread, whose state has been set and which is unbound, leaves its LWP to
 * the next one; returns when it has an LWP again.
 */
void __leave_lwp(struct thread *self);
/* The same to a given thread. */
void __switch_to(struct thread *self, struct thread *next);
/* A context that runs for the first time, after a switch from prev. */
void __arrived(struct thread *prev);

const void *__mxn_block(struct sleepq *q, deadline_t deadline, struct thread *wake);
void __mxn_wake(struct sleepq *q, struct thread *list);
void __mxn_yield(void);

/*
 * switch.S: saves the registers of `from` on its stack, and its RSP; goes on with `to`.
 * Returns, in the end, the thread that was left when this one came back.
 */
struct thread *__mxn_switch(struct thread *from, struct thread *to);
/* Prepares t, which has a stack, to begin in entry(prev) at the first switch to it. */
void __mxn_prepare(struct thread *t, void (*entry)(struct thread *prev));

/* --- pool.c --------------------------------------------------------------------- */

/* The scheduler context of the LWP that an unbound thread is on. */
static inline struct thread *context_of(struct thread *t)
{
	return (struct thread *)((char *)t->lwp - offsetof(struct thread, own_lwp));
}

void __pool_init(void);
/* With _schedlock: an idle LWP, which is idle no longer; or NULL. */
struct thread *__pool_take_idle(void);
/* Without it: sees that there are `level` LWPs; 0: as many as there should be. */
int __pool_set_concurrency(int level);
int __pool_one_more(void);
/* With _schedlock: an LWP of the pool has been stopped together with its thread, or goes
 * on again. */
void __pool_stopped(int change);

/* --- timeout.c ------------------------------------------------------------------ */

int __timeout_prepare(void);
/* With _schedlock. */
void __timeout_arm(struct thread *t, deadline_t deadline);
void __timeout_cancel(struct thread *t);
