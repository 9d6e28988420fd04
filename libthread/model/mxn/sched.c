/*
 * sched.c - the user-level scheduler: the run queue, blocking, waking, yielding.
 *
 * Threads of equal priority do not preempt each other.  A thread that is woken and has a higher
 * priority than its waker takes over the waker's LWP at once, if no other LWP is idle.  A thread of
 * lower priority on another LWP runs until its next call of the scheduler.  From PRI_REALTIME on, a
 * woken thread takes the LWP of the thread with the lowest priority, on whatever LWP that thread
 * runs (realtime.c).
 */
#include "mxn.h"

struct runq __runq;

/* --- the run queue -------------------------------------------------------------- */

void __runq_init(void)
{
	__runq = (struct runq){.zero = {run_end(&__runq.zero), run_end(&__runq.zero)}};
}

/* The highest priority in the run queue, or -1.  Without the lock the result is a guess. */
int __runq_top(void)
{
	if (unlikely(__runq.above != 0)) {
		int word = __runq.bitmap[1] != 0;
		uint64_t map = __runq.bitmap[word] | (word == 0 ? __runq.kept : 0);

		/* A caller without the lock may guess while the last thread leaves the queue. */
		if (map != 0)
			return word * 64 + 63 - __builtin_clzl(map);
	}
	return __runq.zero.first != run_end(&__runq.zero) ? 0 : -1;
}

void __runq_push_above(struct thread *t)
{
	struct run_list *l = &__runq.pri[t->pri];
	uint64_t *word = &__runq.bitmap[t->pri / 64], bit = 1ul << t->pri % 64;

	if (!(*word & bit))
		l->first = l->last = run_end(l);
	run_list_append(l, t);
	*word |= bit;
	__runq.above++;
	t->slice = RR_TICKS;
}

/* t keeps the rest of its time slice. */
void __runq_push_head(struct thread *t)
{
	struct run_list *l = t->pri != 0 ? &__runq.pri[t->pri] : &__runq.zero;
	uint8_t slice = t->slice;

	runq_push(t);
	t->slice = slice;
	t->run_prev->run_next = t->run_next;
	t->run_next->run_prev = t->run_prev;
	run_list_prepend(l, t);
}

void __runq_remove(struct thread *t)
{
	t->run_prev->run_next = t->run_next;
	t->run_next->run_prev = t->run_prev;
	if (t->slice == SLICE_KEPT) {
		t->slice = RR_TICKS;
		__runq.above--;
		if (t->run_next == t->run_prev) /* the list itself */
			__runq.kept &= ~(1ul << t->pri);
		return;
	}
	if (t->pri == 0)
		return;
	__runq.above--;
	if (t->run_next == t->run_prev) /* the list itself */
		__runq.bitmap[t->pri / 64] &= ~(1ul << t->pri % 64);
}

/* Without this case in __runq_pop: a yield with a mask takes 82 instructions more (micro). */
static inline struct thread *runq_pop_zero(void)
{
	struct thread *t = __runq.zero.first;

	if (t == run_end(&__runq.zero))
		return NULL;
	runq_remove_zero(t);
	return t;
}

struct thread *__runq_pop(void)
{
	struct thread *t;
	int top;

	if (likely(__runq.above == 0))
		return runq_pop_zero();
	top = __runq_top();
	if (top < PRI_REALTIME && (__runq.kept >> top & 1))
		t = __runq.kept_of[top].first;
	else
		t = __runq.pri[top].first;
	__runq_remove(t);
	return t;
}

/* --- blocking and waking ---------------------------------------------------------- */

static inline __attribute__((always_inline)) uint32_t make_runnable(struct thread *t,
								    bool gives_way)
{
	struct thread *idle = __pool_take_idle();

	if (idle == NULL) {
		t->state = TS_RUNQUEUE;
		PROBE(thread_state, "thread state", t, TS_RUNQUEUE, 0);
		runq_push(t);
		if (unlikely(t->pri >= PRI_REALTIME))
			__realtime_look(t->pri, gives_way);
		return 0;
	}
	t->slice = RR_TICKS;
	t->state = TS_DISPATCHABLE;
	PROBE(thread_dispatchable, "thread lwp", t, idle->own_lwp.id, 0);
	t->partner = idle;
	__atomic_store_n(&idle->partner, t, __ATOMIC_RELEASE);
	return unlikely(idle->spins) ? 0 : idle->own_lwp.id;
}

uint32_t __make_runnable(struct thread *t)
{
	return make_runnable(t, false);
}

/*
 * Updates the fields of t for a wake-up.  True: t is unbound and off its LWP, and nothing keeps it
 * from running.  *unpark gets the LWP of a bound thread that sleeps, else 0.
 *
 * A thread that is OnLWP has entered its queue and has not yet come to block(): there it will find
 * wchan NULL.
 */
static bool __attribute__((noinline)) thread_woken(struct thread *t, uint32_t *unpark)
{
	bool blocked = t->state == TS_BLOCKED;

	*unpark = 0;
	PROBE(thread_wake, "thread", t, 0, 0);
	if (t->to_armed)
		__timeout_cancel(t);
	if (t->bound && blocked)
		*unpark = t->lwp->id;
	if (t->suspended && blocked && !t->bound) {
		t->state = TS_STOPPED;
		PROBE(thread_state, "thread state", t, TS_STOPPED, 0);
	}
	blocked &= !t->bound && !t->suspended;
	__atomic_store_n(&t->wchan, NULL, __ATOMIC_RELEASE); /* a bound thread may go on here */
	return blocked;
}

/* Inline: a timed wait and its wake-up take 894 instructions (micro), not 924. */
static inline __attribute__((always_inline)) uint32_t release(struct thread *t, bool gives_way)
{
	uint32_t unpark;

	return thread_woken(t, &unpark) ? make_runnable(t, gives_way) : unpark;
}

uint32_t __release(struct thread *t)
{
	return release(t, false);
}

static inline void queue_to_run(struct thread *t)
{
	t->wchan = NULL;
	PROBE(thread_woken, "thread", t, 0, 0);
	t->state = TS_RUNQUEUE;
	run_list_append(&__runq.zero, t);
}

static const void *block_bound(struct thread *self, deadline_t deadline, struct thread *wake)
{
	const void *waited_for;

	self->lwp->owes = wake != NULL ? __release(wake) : 0;
	if (self->wchan != NULL)
		self->state = TS_BLOCKED;
	PROBE(thread_state, "thread state", self, self->state, 0);
	schedunlock();
	waited_for = lwp_wait_woken(self, deadline);
	PROBE(thread_state, "thread state", self, TS_ONLWP, 0);
	self->state = TS_ONLWP;
	return waited_for;
}

/*
 * The caller, which is unbound, wakes t, and then blocks or exits.  t, or a thread of higher
 * priority, gets the caller's LWP.
 */
void __wake_first(struct thread *t)
{
	uint32_t unpark;

	if (likely(just_blocked(t))) {
		queue_to_run(t);
	} else if (thread_woken(t, &unpark)) {
		t->state = TS_RUNQUEUE;
		PROBE(thread_state, "thread state", t, TS_RUNQUEUE, 0);
		runq_push(t);
	} else if (unpark != 0) {
		__sys_lwp_unpark(unpark);
	}
}

/* The caller has woken t, and leaves its LWP to next: t may get another LWP. */
void __left_behind(struct thread *t, struct thread *next)
{
	if (t != next && t->state == TS_RUNQUEUE)
		__realtime_look(t->pri, false);
}

const void *__attribute__((noinline))
__block_special(struct thread *self, deadline_t deadline, struct thread *wake)
{
	struct thread *next;

	if (self->wchan == NULL || self->bound)
		return block_bound(self, deadline, wake);
	if (self->cancelled && cancel_due() && sleepq_ends_cancelled(self))
		return __block_in_vain(self, wake);
	if (unlikely(self->kept) && __signals_due(self)) /* take them first */
		return __signals_first(deadline, wake);
	if (wake != NULL)
		__wake_first(wake);
	self->state = TS_BLOCKED;
	if (deadline != NEVER)
		__timeout_arm(self, deadline);
	next = next_for(self);
	prepare_switch(self, next);
	if (wake != NULL)
		__left_behind(wake, next);
	return __mxn_switch_null(self, next, lwp_hand_over(self, next));
}

/*
 * A thread that blocks and wakes another gives its LWP to the woken thread, or to a thread of
 * higher priority.  It does not unpark an idle LWP and then go idle itself.  The case of two
 * threads that take turns is written out.
 */
const void *__mxn_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self(), *next = wake;

	if (unlikely(deadline != NEVER || self->special != 0 || self->wchan == NULL))
		return __block_special(self, deadline, wake);
	if (wake != NULL ? !goes_next(wake) : !runq_pop_plain(self, &next))
		return __block_special(self, deadline, wake);
	if (wake != NULL) {
		PROBE(thread_wake, "thread", wake, 0, 0);
		wake->wchan = NULL;
	}
	self->state = TS_BLOCKED;
	return __mxn_switch_null(self, next, lwp_hand_over(self, next));
}

static int __attribute__((noinline)) sleep_special(struct thread *self)
{
	return __block_special(self, NEVER, NULL) == NULL ? 0 : __cancelled();
}

int __mxn_sleep(struct sleepq *q)
{
	struct thread *self = thread_self(), *next;

	if (!runq_pop_plain(self, &next))
		return sleep_special(self);
	self->state = TS_BLOCKED;
	return switch_plain(self, next);
}

/* The caller holds _schedlock.  Can it give way after it has released the lock? */
static inline bool may_give_way(const struct thread *self)
{
	return !self->bound && (self->critical->nopreempt & (SECTION_TIMED - 1)) == 1;
}

/* A thread of priority pri has been woken.  Lets it run first if its priority says so. */
static void give_way(int pri, bool may)
{
	struct thread *self = thread_self();

	if (may && pri >= PRI_REALTIME)
		__mxn_give_way();
	else if (pri > self->pri && !self->bound && !in_critical(self->lwp) &&
		 __runq_top() > self->pri)
		__mxn_yield();
}

#define UNPARK_BATCH 128

/* In a critical section until the last unpark: lwp_wake_many in model/lwp/lwp.c. */
static void mxn_wake_many(struct thread *list)
{
	uint32_t ids[UNPARK_BATCH];
	bool may = may_give_way(thread_self());
	unsigned n = 0;
	int highest = 0;

	while (list != NULL) {
		struct thread *t = list;

		list = t->q_next;
		if (t->pri > highest)
			highest = t->pri;
		ids[n] = release(t, may);
		n += ids[n] != 0;
		if (n == UNPARK_BATCH) {
			__sys_lwp_unpark_all(ids, n);
			n = 0;
		}
	}
	schedlock_drop();
	if (n > 0)
		__sys_lwp_unpark_all(ids, n);
	critical_exit();
	give_way(highest, may);
}

static int __attribute__((noinline)) wake_special(struct thread *t)
{
	struct ulwp *l = thread_self()->lwp;
	int pri = t->pri;
	bool may = pri >= PRI_REALTIME && may_give_way(thread_self());
	uint32_t unpark = release(t, may);

	l->owes = unpark;
	schedunlock();
	if (unpark != 0)
		__lwp_unpark_owed(l, unpark);
	if (pri > 0)
		give_way(pri, may);
	return 0;
}

int __mxn_wake_one(struct sleepq *q, struct thread *t)
{
	if (unlikely(!just_blocked(t) || __pool_idle != NULL))
		return wake_special(t);
	queue_to_run(t);
	schedunlock();
	return 0;
}

void __mxn_wake(struct sleepq *q, struct thread *list)
{
	if (unlikely(list->q_next != NULL))
		mxn_wake_many(list);
	else
		__mxn_wake_one(q, list);
}

/* --- yielding ------------------------------------------------------------------------- */

/* The caller holds _schedlock. */
static int __attribute__((noinline)) yield_special(struct thread *self)
{
	struct thread *next;

	if (self->bound || __runq_top() < self->pri) {
		schedunlock();
		return __sys_lwp_yield();
	}
	next = __runq_pop();
	self->state = TS_RUNQUEUE;
	runq_push(self);
	return switch_to(self, next);
}

/*
 * Yields to a thread of the same or a higher priority.  If there is none, yields to another LWP of
 * the machine.
 */
int __mxn_yield(void)
{
	struct thread *self = thread_self(), *next;

	schedlock();
	if (!runq_pop_plain(self, &next))
		return yield_special(self);
	self->state = TS_RUNQUEUE;
	run_list_append(&__runq.zero, self);
	return switch_plain(self, next);
}
