/*
 * claim.c - model sa: idle LWPs, and the threads that they get.
 *
 * The list of idle LWPs changes under _schedlock.  A waker that does not hold _schedlock claims an idle LWP, and leaves it in
 * the list (idle_find).  So an LWP of the list may have a thread, or be a spare.  `parked` of its context says whether it
 * is idle:
 *
 *	PARKED_NOT	no
 *	PARKED_IDLE	yes
 *	PARKED_CLAIMED	no: a waker is about to store its partner
 *
 * An LWP enters the list with _schedlock, when it has looked for a thread everywhere.  A thread enters the run queue, or opens the
 * lists of the LWPs (local.c), with _schedlock, and only if the list of idle LWPs is empty: the LWPs that are idle no longer are
 * removed first.  So, while an LWP stands in the list, no thread waits anywhere, and this LWP may become idle again at once, without
 * _schedlock (__idle_again).  (A thread that wakes another and then blocks puts it into the run queue only to take the first thread
 * out of there, with _schedlock all the time.)
 *
 * *Race:* an LWP becomes idle again, and a thread, which has found that this LWP is not idle, enters the run queue; *without
 * this:* the thread waits there, although an LWP is idle; *closed by:* the LWP becomes idle first, and then looks whether it
 * still stands in the list.  The thread removes the LWP from the list first, and then looks whether it is idle.  All four are
 * sequentially consistent, so one of the two sees the other.
 */
#include <weft/lwp.h>
#include "claim.h"
#include "local.h"

void __idle_unlist(struct thread *c)
{
	struct thread *next = c->idle_next;

	if (!c->listed)
		return;
	__atomic_store_n(&c->listed, false, __ATOMIC_SEQ_CST);
	if (__pool_idle == c)
		__atomic_store_n(&__pool_idle, next, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&c->idle_prev->idle_next, next, __ATOMIC_RELEASE);
	if (next > WAITING_UNTOLD)
		next->idle_prev = c->idle_prev; /* the first has none, whatever it says */
}

/* c enters the list as the first.  The caller holds _schedlock. */
static void idle_list(struct thread *c)
{
	c->idle_next = __pool_idle;
	if (c->idle_next > WAITING_UNTOLD)
		c->idle_next->idle_prev = c;
	c->listed = true;
	__atomic_store_n(&__pool_idle, c, __ATOMIC_RELEASE);
}

static inline bool idle_is(const struct thread *c)
{
	return __atomic_load_n(&c->parked, __ATOMIC_SEQ_CST) == PARKED_IDLE;
}

void __idle_enter(struct thread *self, bool spinning)
{
	__idle_unlist(self);
	self->saved = false;
	self->spins = spinning;
	__atomic_store_n(&self->parked, PARKED_IDLE, __ATOMIC_RELEASE);
	idle_list(self);
}

/*
 * Is self still idle?
 *
 * *Race:* a waker claims an idle LWP that is awake, and is about to store its partner; *without this:* the LWP finds no
 * partner, and runs another thread, so the woken thread does not run; *closed by:* the LWP waits until the waker, which is
 * in a critical section, has stored the partner.
 */
bool __idle_still(struct thread *self)
{
	unsigned turns = 0;
	uint8_t parked;

	while ((parked = __atomic_load_n(&self->parked, __ATOMIC_SEQ_CST)) == PARKED_CLAIMED)
		__backoff(&turns);
	return parked == PARKED_IDLE;
}

/* self, which may still be idle, is idle no longer, and has its partner if a waker has claimed it. */
void __idle_end(struct thread *self)
{
	while (__idle_still(self) && !idle_claim(self, PARKED_NOT))
		;
}

struct thread *__idle_take(void)
{
	struct thread *c;

	while ((c = __pool_idle) > WAITING_UNTOLD) {
		__idle_unlist(c);
		if (idle_claim(c, PARKED_NOT))
			return c;
	}
	if (c == WAITING_UNTOLD)
		__waiting_tell();
	return NULL;
}

bool __idle_any(void)
{
	struct thread *c;

	while ((c = __pool_idle) > WAITING_UNTOLD && !idle_is(c)) {
		__idle_unlist(c);
		if (idle_is(c))
			idle_list(c);
	}
	return c != NULL;
}

/* --- what an idle LWP does ------------------------------------------------------------------- */

/*
 * Goes on with the partner, under the run_lock alone, if both are plain and the partner's registers are saved.
 *
 * *Race:* thr_suspend finds that a thread is Dispatchable, and the idle LWP takes the thread; *without this:* the thread runs on
 * although it is Stopped; *closed by:* the run_lock, with which the LWP looks at its partner.  thr_suspend holds all
 * run_locks (__local_freeze).
 *
 * *Race:* a thread whose LWP has no CPU makes itself the partner of an idle LWP (leave_surplus, leave_preempted), and this LWP takes
 * it; *without this:* the thread runs on with old registers, on a stack in use; *closed by:* `saved`, which only the
 * waker of a thread that is off its stack sets (partner_give).  For any other partner the LWP waits for _schedlock.
 *
 * *Race:* the LWP finds no thread of a priority in the run queue, and takes its partner; a real-time thread enters the run queue, and
 * looks for an LWP to ask, but not at idle ones (__realtime_look); *without this:* the real-time thread waits for the end of a slice;
 * *closed by:* the second look at `above`, after the store to `idle`.  A real-time thread is counted in `above` before `idle` is
 * read.  All four are sequentially consistent, so one of the two sees the other.
 */
static inline __attribute__((always_inline)) bool partner_run_local(struct thread *self)
{
	struct ulwp *l = self->lwp;
	struct thread *next;

	if (unlikely(self->carries != 0))
		return false;
	critical_enter();
	if (unlikely(!ilock_try(&l->run_lock))) {
		critical_exit();
		return false;
	}
	next = self->partner;
	if (unlikely(next == NULL || (next->special | __runq.above) != 0 || l->sc->attend != 0)) {
		ilock_unlock(&l->run_lock);
		return false;
	}
	__atomic_store_n(&l->sc->idle, 0, __ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&__runq.above, __ATOMIC_SEQ_CST) != 0)) {
		l->sc->idle = 1;
		ilock_unlock(&l->run_lock);
		return false;
	}
	self->partner = NULL;
	local_hand_over(self, next, l);
	return true;
}

static void __attribute__((noinline)) partner_run_locked(struct thread *self)
{
	struct thread *next;

	schedlock();
	next = self->partner;
	if (unlikely(next == NULL || self->lwp->sc->attend != 0 || __runq.above != 0)) {
		schedunlock();
		return;
	}
	self->partner = NULL;
	context_leaves(self, next);
}

static inline void idle_sleep(struct thread *self)
{
	__sys_upcall_idle(__options.idle_leave ? UPCALL_LEAVE : UPCALL_IDLE);
	if (unlikely(__atomic_load_n(&self->parked, __ATOMIC_ACQUIRE) != PARKED_NOT))
		__idle_end(self);
}

static inline void partner_run(struct thread *self)
{
	if (unlikely(!self->saved || !partner_run_local(self)))
		partner_run_locked(self);
}

void __idle_sleep(struct thread *self)
{
	idle_sleep(self);
}

void __partner_run(struct thread *self)
{
	partner_run(self);
}

bool __idle_again(struct thread *self)
{
	if (!self->listed || self->partner != NULL || self->lwp->sc->attend != 0)
		return false;
	self->saved = self->spins = false;
	__atomic_store_n(&self->parked, PARKED_IDLE, __ATOMIC_SEQ_CST);
	if (unlikely(!__atomic_load_n(&self->listed, __ATOMIC_SEQ_CST))) {
		__idle_end(self);
		return false;
	}
	idle_sleep(self);
	partner_run(self);
	return true;
}
