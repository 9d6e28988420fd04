/*
 * small.h - the small M:N model: unbound threads over a pool of LWPs, bound threads beside them.
 *
 *	mxn.c		the LWPs of the pool, the beginning of threads, the table of operations
 *	switch.S	the switch from one thread to another
 *	sched.c		the scheduler: locks, queues, blocking and waking.  Its contract is below
 *
 * The model takes the place of mxn in the library's table, so LIBTHREAD=mxn chooses it.  It leaves out
 * what mxn has for other purposes.  The pool has as many LWPs as thr_setconcurrency asks for, and does
 * not grow by itself.  The run queue knows no priorities.  An unbound thread that waits with a
 * deadline keeps its LWP meanwhile.  Unbound threads cannot be suspended or signalled, and a cancellation
 * does not end their wait.
 *
 * The LWPs of the pool have the numbers 0 to __lwps - 1.  An LWP that runs no thread runs its context.  A
 * context is a struct thread that is no thread of the program.  LWP 0 runs the first thread.
 */
#pragma once
#include <weft/lwp.h>
#include "../../core/core.h"
#include "../../core/model.h"
#include "../../core/sleepq.h"

#define LWPS_MOST 64

extern volatile unsigned __lwps;            /* LWPs of the pool; only grows */
extern struct thread *__context[LWPS_MOST]; /* of each of them */

/*
 * --- The scheduler.  "q" is a sleep queue whose lock the caller holds, within one critical section.
 */

/* Before the first thread runs. */
void __sched_init(void);

/* Acquires and releases the lock of q. */
void __sched_lock(struct sleepq *q);
void __sched_unlock(struct sleepq *q);

/*
 * Blocks the caller, which stands in a sleep queue, or has been taken from one already.  Releases q.
 * This may be another queue than the one in which the caller stands, so a waker may hold the lock of
 * that queue now.  `wake`, if not NULL, has been taken from q; it is woken on the way.  Returns NULL when
 * the caller was woken, and the object for which it waited if the deadline has passed.
 */
const void *__sched_block(struct sleepq *q, deadline_t deadline, struct thread *wake);
/* Wakes the threads of a list (q_next) that have been taken from q, in their order.  Releases q. */
void __sched_wake(struct sleepq *q, struct thread *list);

/* A new unbound thread, which is prepared: makes it runnable. */
void __sched_begin(struct thread *t);
/* Lets a thread that waits for an LWP have the caller's.  If there is none, lwp_yield. */
int __sched_yield(void);
/*
 * Ends the caller, which is unbound and within one critical section.  If `wake` is not NULL, it has been
 * taken from q, and is woken; then the section is that of q, which is released.
 */
void __sched_exit(struct sleepq *q, struct thread *wake) __attribute__((noreturn));
/* For a bound thread that exits: wakes `wake`, releases q, and stays in the critical section. */
void __sched_wake_last(struct sleepq *q, struct thread *wake);

/* What the LWP does when it has no thread.  self: its context. */
void __sched_idle(struct thread *self) __attribute__((noreturn));
/*
 * Called first after each switch, on the stack of the thread that comes: `left` is the thread or context
 * that the LWP ran before.  Its registers are saved, and its stack is no longer used.  The LWP is
 * in the critical section in which switch_to was called.
 */
void __sched_switched(struct thread *left);

/* --- What the scheduler may use. ---------------------------------------------------------------- */

/* The context of the LWP that runs t, which is unbound. */
static inline struct thread *context_of(const struct thread *t)
{
	return (struct thread *)((char *)t->lwp - offsetof(struct thread, own_lwp));
}

/* The number of that LWP. */
static inline unsigned lwp_of(const struct thread *t)
{
	return (uintptr_t)context_of(t)->arg;
}

struct thread *__small_switch(struct thread *from, struct thread *to);

/*
 * The caller's LWP leaves self and runs next: a thread that is in no queue, or the LWP's context.  Called
 * within one critical section.  Returns when self has an LWP again, after __sched_switched.
 */
static inline void switch_to(struct thread *self, struct thread *next)
{
	struct ulwp *l = self->lwp;
	struct section *c = self->critical;

	self->lwp = &__nowhere;
	next->lwp = l;
	next->critical = c;
	next->state = TS_ONLWP;
	__sched_switched(__small_switch(self, next));
}

/* The state of a thread, for debuggers and the monitor. */
static inline void state_set(struct thread *t, uint32_t state)
{
	PROBE(thread_state, "thread state", t, state, 0);
	t->state = state;
}
