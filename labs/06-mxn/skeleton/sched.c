/*
 * sched.c - the user-level scheduler: the run queue, blocking, waking, yielding.
 *
 * (Say here what your scheduler does: which thread runs next, where a woken thread goes, and which
 * line closes which race.)
 */
#include "mxn.h"

struct runq __runq;

/* --- yours: the run queue; the caller holds _schedlock, except in __runq_top --------------------- */

/* The highest priority in the run queue, or -1.  Without the lock the result is a guess. */
int __runq_top(void)
{
	return -1;
}

/* Puts t, of a priority above 0, at the tail of its list, with a whole time slice. */
void __runq_push_above(struct thread *t)
{
}

/* Puts t, of any priority, at the head of its list.  It keeps the rest of its slice. */
void __runq_push_head(struct thread *t)
{
}

/* Takes t out, at whatever place it stands. */
void __runq_remove(struct thread *t)
{
}

/* Takes out the first thread of the highest priority, or returns NULL. */
struct thread *__runq_pop(void)
{
	return NULL;
}

/* --- yours: waking; the caller holds _schedlock ----------------------------------------------------- */

/*
 * Makes t runnable, which is Blocked or Stopped and unbound: on an idle LWP, else in the run queue.
 * Returns the LWP to unpark, or 0.
 */
uint32_t __make_runnable(struct thread *t)
{
	return 0;
}

/*
 * Ends the wait of t, bound or not, which has been taken out of its sleep queue.  Returns the LWP to
 * unpark, or 0.
 */
uint32_t __release(struct thread *t)
{
	t->wchan = NULL;
	return 0;
}

/*
 * The caller, which is unbound, wakes t, and then blocks or exits: t is made runnable, and takes no
 * idle LWP, because the caller's LWP becomes free.
 */
void __wake_first(struct thread *t)
{
}

/* After __wake_first(t), the caller's LWP goes to next.  A real-time t may want another LWP. */
void __left_behind(struct thread *t, struct thread *next)
{
}

/* --- yours: what the library calls; the caller holds _schedlock, which each function releases --------- */

/*
 * Blocks until self->wchan is NULL.  `wake`, if not NULL, is woken on the way.  core/model.h has the
 * contract.  As it stands, the thread keeps its LWP until it is woken.
 */
const void *__block_special(struct thread *self, deadline_t deadline, struct thread *wake)
{
	schedunlock();
	while (self->wchan != NULL)
		__sys_lwp_yield();
	return NULL;
}

/* The entry for a thread that blocks.  Write a fast path here, if you want one. */
const void *__mxn_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	return __block_special(thread_self(), deadline, wake);
}

/* The same for a wait without a deadline that wakes no thread.  Returns 0. */
int __mxn_sleep(struct sleepq *q)
{
	return __mxn_block(q, NEVER, NULL) == NULL ? 0 : __cancelled();
}

/* Wakes t, whatever its q_next is.  Returns 0. */
int __mxn_wake_one(struct sleepq *q, struct thread *t)
{
	schedunlock();
	return 0;
}

/* Wakes a list of threads, linked by q_next. */
void __mxn_wake(struct sleepq *q, struct thread *list)
{
	schedunlock();
}

/* The caller does not hold _schedlock.  Yields to a thread of the same or a higher priority. */
int __mxn_yield(void)
{
	return 0;
}

/* --- given -------------------------------------------------------------------------------------------- */

void __runq_init(void)
{
	__runq = (struct runq){.zero = {run_end(&__runq.zero), run_end(&__runq.zero)}};
}
