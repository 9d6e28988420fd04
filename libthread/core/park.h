/*
 * park.h - how a thread with an LWP of its own blocks, and what it owes others meanwhile.
 *
 * In line, since each hand-over from one such thread to another passes here twice.
 */
#pragma once
#include <weft/errno.h>
#include <weft/lwp.h>
#include "core.h"
#include "model.h"
#include "sleepq.h"

/*
 * Unparks LWP id; see struct ulwp about `owes`, which the caller has set to it.  In between, a
 * handler may have done it (core/signal.c), and an unbound thread that came onto this LWP have
 * set it anew: then that thread does what it owes.
 */
static inline void lwp_unpark_owed(struct ulwp *l, uint32_t id)
{
	__sys_lwp_unpark(id);
	l->owes = 0;
}

/*
 * The calling thread, which has an LWP of its own and stands or stood in a sleep queue,
 * blocks until it is woken; on the way, unparks the LWP that its own owes an unpark, if
 * any.  Returns what block does (model.h).
 *
 * No wake-up is lost: the waker first sets wchan to NULL, then unparks, and a permit
 * stays with the LWP.  If we read wchan before that, the park returns at once.  A permit
 * may also be left over from a wake-up that we saw before it reached us, or from an
 * earlier owner of the LWP's id: then park returns for no reason, and we look again.
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
