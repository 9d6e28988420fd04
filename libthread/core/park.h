/*
 * park.h - how a thread with an LWP of its own blocks, and what it owes to others meanwhile.
 *
 * The functions are in line, because each hand-over between two such threads comes here twice.
 */
#pragma once
#include <weft/errno.h>
#include <weft/lwp.h>
#include "core.h"
#include "model.h"
#include "sleepq.h"

/*
 * Unparks the LWP id, to which the caller has set `owes` (struct ulwp).  In between, a handler may
 * have made this unpark already (core/signal.c).  An unbound thread that came onto this LWP may
 * also have set `owes` again; then that thread makes its own unpark.
 */
static inline void lwp_unpark_owed(struct ulwp *l, uint32_t id)
{
	__sys_lwp_unpark(id);
	l->owes = 0;
}

/*
 * The calling thread blocks until it is woken.  It has an LWP of its own, and stands or stood in a
 * sleep queue.  On the way it unparks the LWP that its own LWP owes an unpark, if any.  Returns
 * what block returns (model.h).
 *
 * *Race:* the waiter reads wchan, and the waker sets wchan to NULL and unparks before the waiter
 * parks; *without this:* the wake-up is lost; *closed by:* the waker unparks after it has set
 * wchan, and the permit stays with the LWP, so the park returns at once.
 *
 * A permit may be left over from a wake-up that the waiter saw before the permit came, or from an
 * earlier owner of the LWP's id.  Then park returns without a reason, and the waiter looks again.
 */
static inline const void *lwp_wait_woken(struct thread *self, deadline_t deadline)
{
	while (__atomic_load_n(&self->wchan, __ATOMIC_ACQUIRE) != NULL) {
		long r;

		if (unlikely(cancel_due()) && sleepq_ends_cancelled(self)) {
			if (self->lwp->owes != 0)
				__lwp_unpark_owed(self->lwp, self->lwp->owes);
			return __sleepq_give_up(self);
		}
		r = likely(deadline == NEVER) ? __sys_lwp_park(NULL, self->lwp->owes)
					      : __lwp_park(deadline, self->lwp->owes);

		self->lwp->owes = 0;
		if (r == -ETIMEDOUT)
			return __sleepq_give_up(self);
	}
	if (unlikely(self->lwp->owes != 0))
		__lwp_unpark_owed(self->lwp, self->lwp->owes);
	return NULL;
}
