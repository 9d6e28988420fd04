/*
 * local.c - model sa with several CPUs: yields without _schedlock.
 *
 * A thread that yields stands in a list of its LWP (struct ulwp: run), and the LWP goes on with the first of this
 * list.  So threads that yield on different LWPs have no lock in common.  A thread that is woken enters such a list too
 * (queue.c, lone.c), and a new thread, and the joiner of a thread that exits (life.c).  All else is as in mxn: other threads
 * enter the one run queue (__runq).  Only plain threads, of priority 0, enter a list.
 *
 * Which thread is next.  While __runq has threads, an LWP takes from __runq and from its own list in turns, whether its
 * thread yields or blocks (struct ulwp: turn).  If both are empty, it takes a thread from another LWP's list, before it
 * goes idle.  An LWP that sleeps or has no CPU leaves its list to __runq, and at the end of each slice all LWPs do
 * (waiting.c).  So a thread in a list waits one slice longer at most than it would in __runq.
 *
 * A thread that gets something for which a switch must look (struct thread, special: a signal of its own, a
 * priority) leaves the list for __runq.  A cancellation does not concern a yield.
 *
 * Locks.  A list changes
 *
 *	under _schedlock		by threads of its LWP
 *	under _schedlock and run_lock	by any other thread
 *	under run_lock			by threads of its LWP, on the fast paths
 *
 * The lists are open or closed (__local_open).  Without _schedlock a thread enters a list only while they are open.
 * They are closed when an LWP has found no thread in any of them, and when all have left their threads to __runq.
 *
 * Code that holds only run_lock changes the states of threads, and their `lwp`, which in mxn are under _schedlock, and of the LWP's
 * context partner, sigmask and carries, and `idle` of the LWP's record; and of the context of an idle LWP that it has claimed,
 * partner, saved and parked (claim.h).  Code under _schedlock that acts on another thread and
 * needs to know whether it is OnLWP, Dispatchable or in the run queue holds all run_locks (__local_freeze).
 *
 * A yield holds run_lock across its switch, as all else holds _schedlock.  It enters the caller into the list
 * before it takes the next thread, so a list that has threads never looks empty.
 *
 * Lock order: _schedlock, the run_locks in the order of __pool_contexts, the locks of queues (queue.c).
 */
#include "local.h"

bool __runq_local;

bool __local_open;

static void yielded_init(struct run_list *r)
{
	r->first = r->last = run_end(r);
}

/* The lock of a list of another LWP, with _schedlock. */
static void yielded_lock(struct ulwp *l)
{
	ilock_lock(&l->run_lock);
}

static void yielded_unlock(struct ulwp *l)
{
	ilock_unlock_inner(&l->run_lock);
}

static struct thread *yielded_pop(struct run_list *r)
{
	struct thread *t = r->first;

	if (t == run_end(r))
		return NULL;
	r->first = t->run_next;
	t->run_next->run_prev = run_end(r);
	return t;
}

/* Appends all threads of `from`, and empties it. */
static void yielded_splice(struct run_list *to, struct run_list *from)
{
	if (yielded_empty(from))
		return;
	from->first->run_prev = to->last;
	to->last->run_next = from->first;
	from->last->run_next = run_end(to);
	to->last = from->last;
	yielded_init(from);
}

/* --- with _schedlock --------------------------------------------------------------------------- */

/* Has r two threads at least?  Without the lock the result is a guess. */
static inline bool yielded_several(struct run_list *r)
{
	return __atomic_load_n(&r->first, __ATOMIC_RELAXED) !=
	       __atomic_load_n(&r->last, __ATOMIC_RELAXED);
}

/* A thread from the list of another LWP than l; several: from a list that has more.  The search begins behind l. */
static struct thread *yielded_steal(struct ulwp *l, bool several)
{
	struct thread *own = (struct thread *)((char *)l - offsetof(struct thread, own_lwp));
	struct thread *c = own, *t = NULL;

	do {
		struct ulwp *other;

		c = c->list_next != NULL ? c->list_next : __pool_contexts;
		other = &c->own_lwp;
		if (c == own || yielded_empty(&other->run) ||
		    (several && !yielded_several(&other->run)))
			continue;
		yielded_lock(other);
		t = yielded_pop(&other->run);
		yielded_unlock(other);
	} while (t == NULL && c != own);
	return t;
}

/* No thread enters a list any more.  Returns a thread that has entered one, or NULL. */
static struct thread *lists_close(void)
{
	struct thread *t = NULL;

	local_open_set(false);
	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next) {
		yielded_lock(&c->own_lwp);
		if (t == NULL)
			t = yielded_pop(&c->own_lwp.run);
		yielded_unlock(&c->own_lwp);
	}
	if (t != NULL)
		local_open_set(true);
	return t;
}

/*
 * l takes the only thread of another list last.  If that LWP's thread yielded next, it would have to take one from a third
 * list, and so on.
 */
static struct thread *local_pop(struct ulwp *l)
{
	struct thread *t = yielded_pop(&l->run);

	if (t == NULL)
		t = yielded_steal(l, true);
	return t != NULL ? t : yielded_steal(l, false);
}

/*
 * *Race:* the caller finds all lists empty, and a thread on another LWP wakes a lone waiter; *without this:* the caller
 * goes idle, and the woken thread waits for the end of a slice; *closed by:* lists_close.  The waker looks at
 * __local_open with its run_lock, so either the caller finds the thread in the list, or the waker finds the lists closed.
 */
struct thread *__local_pop(void)
{
	struct thread *t;

	if (!__local_open)
		return NULL;
	t = local_pop(thread_self()->lwp);
	return t != NULL ? t : lists_close();
}

void __local_leave(struct ulwp *l)
{
	if (yielded_empty(&l->run))
		return;
	yielded_lock(l);
	yielded_splice(&__runq.zero, &l->run);
	yielded_unlock(l);
}

void __local_leave_all(void)
{
	if (!__local_open)
		return;
	local_open_set(false); /* before the locks, as in lists_close */
	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next) {
		yielded_lock(&c->own_lwp);
		yielded_splice(&__runq.zero, &c->own_lwp.run);
		yielded_unlock(&c->own_lwp);
	}
}

void __local_leave_blocked(uint32_t id)
{
	for (struct thread *c = __local_open ? __pool_contexts : NULL; c != NULL; c = c->list_next)
		if (c->own_lwp.id == id)
			__local_leave(&c->own_lwp);
}

/*
 * Also while the lists are closed.  *Race:* a thread waits alone, the lists are closed, and a post from another LWP makes the
 * waiter enter its queue (lone.c); the caller, with _schedlock, does the same.  *Without this:* the waiter enters twice.
 * *Closed by:* the run_lock of the LWP that the waiter has left; and if this LWP has exited, by lone_move (lone.c).
 */
void __local_freeze(void)
{
	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next)
		yielded_lock(&c->own_lwp);
}

void __local_thaw(void)
{
	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next)
		yielded_unlock(&c->own_lwp);
}

/* --- the operations ---------------------------------------------------------------------------- */

/* As runq_pop_plain (mxn.h), from the list of l. */
static inline bool pop_plain(struct ulwp *l, struct thread *self, struct thread **first)
{
	struct thread *t = l->run.first;

	if ((self->special | t->special | __runq.above) != 0 || !own_turn(l))
		return false;
	*first = yielded_pop(&l->run);
	return true;
}

/* self is unbound. */
static inline bool none_yielded(const struct thread *self)
{
	return yielded_empty(&self->lwp->run);
}

static const void *__attribute__((noinline))
local_block_turn(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self(), *next;

	if (self->bound || none_yielded(self) || deadline != NEVER || self->wchan == NULL ||
	    (wake != NULL && !just_blocked(wake)) || !pop_plain(self->lwp, self, &next))
		return __mxn_block(q, deadline, wake);
	if (wake != NULL)
		__wake_first(wake);
	self->state = TS_BLOCKED;
	return __mxn_switch_null(self, next, lwp_hand_over(self, next));
}

const void *__local_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	if (unlikely(__local_open))
		return local_block_turn(q, deadline, wake);
	return __mxn_block(q, deadline, wake);
}

static int __attribute__((noinline)) local_sleep_turn(struct sleepq *q)
{
	struct thread *self = thread_self(), *next;

	if (self->bound || none_yielded(self) || !pop_plain(self->lwp, self, &next))
		return __mxn_sleep(q);
	self->state = TS_BLOCKED;
	return switch_plain(self, next);
}

static int local_sleep(struct sleepq *q)
{
	struct thread *self = thread_self(), *next;

	if (unlikely(__local_open) || !runq_pop_plain(self, &next))
		return local_sleep_turn(q);
	self->state = TS_BLOCKED;
	return switch_plain(self, next);
}

/* What a yield does unless both threads are plain, and the next one is in the LWP's own list. */
static int __attribute__((noinline)) local_yield_special(void)
{
	struct thread *self = thread_self(), *next;
	bool plain;

	schedlock();
	plain = self->special == 0;
	if (self->bound || __runq.above != 0 || (!plain && __runq_top() >= 0)) {
		schedunlock();
		return __mxn_yield();
	}
	next = self->pri == 0 ? __runq_pop() : NULL;
	if (next == NULL && self->pri == 0)
		next = __local_open ? local_pop(self->lwp) : NULL;
	if (next == NULL) {
		schedunlock();
		return __sys_lwp_yield();
	}
	self->state = TS_RUNQUEUE;
	if (plain)
		local_open_lists();
	run_list_append(plain ? &self->lwp->run : &__runq.zero, self);
	return switch_to(self, next);
}

/* Is there no thread to which self, which is plain, could yield?  Without _schedlock the answer is a guess. */
static inline bool yields_to_none(const struct thread *self)
{
	return !__local_open && (self->special | __runq.above) == 0 &&
	       __runq.zero.first == run_end(&__runq.zero);
}

/*
 * *Race:* the caller enters the list, and another LWP, which has no thread, takes one from there; *without this:* it
 * takes the caller, whose registers are not saved; *closed by:* run_lock, which __local_switch releases once the
 * caller's stack is no longer used.
 *
 * *Race:* the caller finds that it is plain, and another thread sends a signal to the caller's LWP; *without this:* the
 * caller leaves, and the next thread takes the signal; *closed by:* the caller looks at `special` with run_lock, and the
 * sender holds all run_locks.
 *
 * The caller does not wait for run_lock: a wait leaves the critical section, and a handler could move the caller
 * to another LWP meanwhile.
 */
static int local_yield(void)
{
	struct thread *self = thread_self(), *next;
	struct ulwp *l;

	critical_enter();
	l = self->lwp;
	if (unlikely(!own_turn(l) || !ilock_try(&l->run_lock))) {
		critical_exit();
		return local_yield_special();
	}
	next = l->run.first;
	if (unlikely((self->special | __runq.above) != 0 || next == run_end(&l->run))) {
		ilock_unlock(&l->run_lock);
		return yields_to_none(self) ? __sys_lwp_yield() : local_yield_special();
	}
	self->state = TS_RUNQUEUE;
	run_list_append(&l->run, self);
	l->run.first = next->run_next;
	next->run_next->run_prev = run_end(&l->run);
	return local_hand_over(self, next, l);
}

void __local_init(void)
{
	yielded_init(&thread_self()->lwp->run);
	__runq_local = true;
	__ops->block = __local_block;
	__ops->sleep = local_sleep;
	__ops->yield = local_yield;
	if (__options.own_sleepqs) {
		__queue_init();
		__life_init();
		if (__options.lone)
			__lone_init();
	}
}

/* The caller's LWP is the only one. */
void __local_forked(void)
{
	__local_open = false;
	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next) {
		c->own_lwp.run_lock.held = 0;
		yielded_init(&c->own_lwp.run);
	}
}
