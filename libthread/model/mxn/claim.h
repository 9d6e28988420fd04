/*
 * claim.h - model sa: idle LWPs, and the threads that they get (claim.c).
 */
#pragma once
#include <weft/abi.h>
#include "mxn.h"

/*
 * The caller holds _schedlock.  enter: self is idle from now on, the latest of all.  unlist: c leaves the list, if it stands
 * there.
 */
void __idle_enter(struct thread *self, bool spinning);
void __idle_unlist(struct thread *c);
/*
 * All of these functions: the caller holds no lock.  end: self is idle no longer, and has its partner if a waker has claimed it.
 * still: is self still idle?  If not, it has its partner.  sleep: until self is idle no longer; an unpark for nothing ends the
 * sleep, too.  run: goes on with the partner if there is nothing else to do.  again: enter, sleep and run, if self stands in the
 * list; false: the caller looks for a thread.
 */
void __idle_end(struct thread *self);
bool __idle_still(struct thread *self);
void __idle_sleep(struct thread *self);
void __partner_run(struct thread *self);
bool __idle_again(struct thread *self);

/* Is c idle?  Then it is idle no longer, and for the caller. */
static inline bool idle_claim(struct thread *c, uint8_t parked)
{
	uint8_t idle = PARKED_IDLE;

	return __atomic_compare_exchange_n(&c->parked, &idle, parked, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

static inline bool idle_try(struct thread *c)
{
	return __atomic_load_n(&c->parked, __ATOMIC_RELAXED) == PARKED_IDLE &&
	       idle_claim(c, PARKED_CLAIMED);
}

#define IDLE_LOOKS WEFT_MAXCPU /* LWPs of the list, which may change meanwhile */

/*
 * An idle LWP, which the caller has claimed and calls partner_give for, or NULL.  last: the LWP that had the thread from
 * partner_give last, or NULL.  It is the first choice if it is idle, unless idle LWPs spin: the latest of these needs no unpark.  So
 * threads that have nothing in common do not meet here.  The second choice is the LWP that has entered the list last.
 *
 * The caller holds its run_lock, so that __local_freeze waits for it.  It does not hold _schedlock, so the list may change, and the
 * context of an LWP that exits may become a thread.  The memory of struct threads is never unmapped, `parked` of a thread
 * is PARKED_NOT, and its idle_next is a struct thread or NULL.  So a look at such a thread does no harm, and ends.
 */
static inline struct thread *idle_find(struct thread *last)
{
	struct thread *c = last;

	if (likely(c != NULL && !__options.idle_spin && idle_try(c)))
		return c;
	c = __atomic_load_n(&__pool_idle, __ATOMIC_ACQUIRE);
	for (unsigned n = 0; n < IDLE_LOOKS && c > WAITING_UNTOLD; n++) {
		if (idle_try(c))
			return c;
		c = __atomic_load_n(&c->idle_next, __ATOMIC_ACQUIRE);
	}
	return NULL;
}

/*
 * Gives t, which is plain and off its stack, to an LWP from idle_find.  The caller holds its run_lock, releases its locks, and
 * unparks the LWP that is returned (0: none) in the same critical section.  So no handler delays the unpark, and nothing is
 * owed (struct ulwp: owes).
 */
static inline uint32_t partner_give(struct thread *idle, struct thread *t)
{
	uint32_t unpark =
		unlikely(__atomic_load_n(&idle->spins, __ATOMIC_SEQ_CST)) ? 0 : idle->own_lwp.id;

	idle->saved = true;
	t->state = TS_DISPATCHABLE;
	PROBE(thread_dispatchable, "thread lwp", t, idle->own_lwp.id, 0);
	t->partner = idle;
	__atomic_store_n(&idle->partner, t, __ATOMIC_RELEASE);
	__atomic_store_n(&idle->parked, PARKED_NOT, __ATOMIC_RELEASE);
	return unpark;
}

/*
 * The LWP of this context goes on with next.  A plain thread needs of __masks_move only that signals may come again, unless the
 * thread before has left a mask or a stack of its own (carries).
 */
static inline void context_leaves(struct thread *self, struct thread *next)
{
	if (unlikely(next->special != 0 || self->carries != 0)) {
		switch_to(self, next);
		return;
	}
	__atomic_store_n(&self->lwp->sc->idle, 0, __ATOMIC_RELEASE);
	switch_plain(self, next);
}
