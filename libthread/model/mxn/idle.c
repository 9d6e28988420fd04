/*
 * idle.c - an LWP of the pool that has no thread to run.
 *
 * While an LWP runs its context it takes no signals (`idle` in weft/schedctl.h), so no handler ever
 * runs there.
 *
 * An idle LWP stands in the list of idle LWPs and parks.  The waker of a thread takes an LWP from
 * the list, the latest first, and makes the two partners: the thread is Dispatchable, and this LWP
 * runs it.
 *
 * *Race:* the idle LWP has looked at partner and is about to park; the waker sets partner and
 * unparks.  *Without this:* the LWP sleeps on, and its thread does not run; *closed by:* the unpark
 * comes after partner is set and leaves a permit, and the LWP looks at partner after every return
 * from park.  A late or an extra unpark does no harm.
 */
#include "mxn.h"

struct thread *__pool_idle; /* linked by run_next, in sa by idle_next; _schedlock */

struct thread *__pool_take_idle(void)
{
	struct thread *c = __pool_idle;

	if (likely(c == NULL))
		return NULL;
	if (unlikely(c == WAITING_UNTOLD)) {
		__waiting_tell();
		return NULL;
	}
	if (unlikely(c->listed))
		return __idle_take();
	__pool_idle = c->run_next;
	c->parked = PARKED_NOT;
	return c;
}

/* The calling LWP has been idle for the time of aging.  Ends it, unless it is needed. */
static void lwp_aged(struct thread *self)
{
	struct thread **p = &__pool_idle;

	schedlock();
	if (self->parked && __pool_aged()) {
		while (*p != self)
			p = &(*p)->run_next;
		*p = self->run_next;
		PROBE(pool_gone, "why size", PROBE_AGED, __pool_size, 0);
		__pool_retire(self);
	}
	schedunlock();
}

/* Parks until a waker has taken self out of the list.  Called with _schedlock held; releases it. */
static void wait_for_partner(struct thread *self)
{
	deadline_t deadline = __pool_aging();

	self->run_next = __pool_idle;
	__pool_idle = self;
	self->parked = PARKED_IDLE;
	schedunlock();
	while (__atomic_load_n(&self->partner, __ATOMIC_ACQUIRE) == NULL &&
	       __atomic_load_n(&self->parked, __ATOMIC_ACQUIRE)) {
		if (__lwp_park(deadline, 0) == -ETIMEDOUT) {
			lwp_aged(self);
			deadline = NEVER;
		}
	}
}

/* What an LWP does when it runs no thread.  thr_suspend may have taken the partner away again. */
void __pool_scheduler(struct thread *self)
{
	for (;;) {
		struct thread *next;

		if (unlikely(!__pool_ready)) /* without an ASLWP its signals stay unseen */
			__services_start();
		schedlock();
		next = self->partner;
		self->partner = NULL;
		if (next == NULL)
			next = __runq_pop();
		else if (unlikely(__runq.above != 0))
			next = __realtime_instead_of(next);
		if (next != NULL)
			switch_to(self, next);
		else if (__pool_size > __pool_wanted) {
			PROBE(pool_gone, "why size", PROBE_TOO_MANY, __pool_size, 0);
			__pool_retire(self);
		} else
			wait_for_partner(self);
	}
}
