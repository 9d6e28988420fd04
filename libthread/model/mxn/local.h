/*
 * local.h - model sa with several CPUs: the lists of the LWPs (local.c), for lone.c too.
 */
#pragma once
#include "mxn.h"

/*
 * May threads enter a list without _schedlock?  If not, all lists are empty.  It changes under _schedlock, and is
 * looked at with _schedlock or with any run_lock; without a lock the answer is a guess.
 */
extern bool __local_open;

static inline void local_open_set(bool open)
{
	__atomic_store_n(&__local_open, open, __ATOMIC_RELAXED);
}

/* The caller holds _schedlock, and a thread is about to enter a list. */
static inline void local_open_lists(void)
{
	if (__local_open)
		return;
	local_open_set(true);
	__waiting_yielded();
}

static inline bool yielded_empty(struct run_list *r)
{
	return __atomic_load_n(&r->first, __ATOMIC_RELAXED) == run_end(r);
}

/* May l's own list be next, although __runq may have threads?  In turns. */
static inline bool own_turn(struct ulwp *l)
{
	if (likely(__runq.zero.first == run_end(&__runq.zero)))
		return true;
	l->turn = !l->turn;
	return l->turn;
}

/*
 * The same for a fast path.  If the turn is __runq's, the fast path ends in code that calls own_turn, which then says no.
 */
static inline bool own_turn_now(struct ulwp *l)
{
	if (likely(__runq.zero.first == run_end(&__runq.zero)))
		return true;
	if (l->turn)
		return false;
	l->turn = true;
	return true;
}

/*
 * self leaves l to next, which it has taken from l's list.  The caller holds l's run_lock; the switch releases it,
 * and leaves its critical section.  Returns 0 when self has an LWP again.
 */
static inline int local_hand_over(struct thread *self, struct thread *next, struct ulwp *l)
{
	struct section *c = self->critical;

	self->lwp = &__nowhere;
	next->lwp = l;
	next->critical = c;
	next->state = TS_ONLWP;
	return __local_switch(self, next, c, l);
}

/* As local_hand_over, for a wait that mostly ends with NULL. */
static inline const void *local_hand_over_null(struct thread *self, struct thread *next,
					       struct ulwp *l)
{
	struct section *c = lwp_hand_over(self, next);

	return __local_switch_null(self, next, c, l);
}

/* As local_hand_over: self has exited. */
static inline void __attribute__((noreturn))
local_leave(struct thread *self, struct thread *next, struct ulwp *l)
{
	struct section *c = lwp_hand_over(self, next);

	__local_leave_to(self, next, c, l);
}

/* t, which has been woken, enters the list of l, the caller's LWP. */
static inline void local_enter_woken(struct ulwp *l, struct thread *t)
{
	t->wchan = NULL;
	PROBE(thread_woken, "thread", t, 0, 0);
	t->state = TS_RUNQUEUE;
	run_list_append(&l->run, t);
}

/* Takes the first thread out of l's list, which is `first`.  The caller holds l's run_lock. */
static inline void local_take_first(struct ulwp *l, struct thread *first)
{
	l->run.first = first->run_next;
	first->run_next->run_prev = run_end(&l->run);
}

/* The context of the LWP that self, a plain thread, leaves: as in __masks_move, no thread uses mask and stack meanwhile. */
static inline struct thread *local_context(struct thread *self)
{
	struct thread *context = context_of(self);

	context->sigmask = self->sigmask;
	context->carries = 0;
	self->lwp->sc->idle = 1;
	return context;
}

/*
 * *next is what self, a plain thread, leaves l to: the first thread of l's list, or l's context, which looks further.  False:
 * neither, because threads wait in __runq.  The caller holds l's run_lock.
 */
static inline bool local_next(struct thread *self, struct ulwp *l, struct thread **next)
{
	*next = l->run.first;
	if (likely(*next != run_end(&l->run))) {
		local_take_first(l, *next);
		return true;
	}
	if (__runq.zero.first != run_end(&__runq.zero))
		return false;
	*next = local_context(self);
	return true;
}

/* block of the model; the caller holds _schedlock, and of no queue the lock. */
const void *__local_block(struct sleepq *q, deadline_t deadline, struct thread *wake);

/* --- life.c ------------------------------------------------------------------------------------ */

void __life_init(void);
void __life_exit(struct sleepq *q, struct thread *wake) __attribute__((noreturn));

/* --- lone.c ------------------------------------------------------------------------------------ */

void __lone_init(void);
/* The caller holds no lock of a queue.  If t waits alone for obj, t enters the queue. */
void __lone_settle_for(struct thread *t, const void *obj);
