/*
 * sched.c - the user-level scheduler: _schedlock, the run queue, blocking and waking.
 *
 * Threads of equal priority do not preempt each other.  A thread that is woken and has a
 * higher priority than its waker takes over the waker's LWP at once, if no other is idle;
 * a lower one on another LWP runs until its next call of the scheduler.
 */
#include <string.h>
#include "mxn.h"

_Static_assert(offsetof(struct thread, rsp) == 24, "switch.S");

struct schedlock _schedlock = {.until_sample = HOLDS_A_SAMPLE};
struct runq __runq;

/* --- the lock ------------------------------------------------------------------- */

void __schedlock_contended(void)
{
	unsigned turns = __ilock_wait(&_schedlock.lock);

	_schedlock.stats.contentions++;
	_schedlock.stats.yields += turns;
}

void __schedlock_begin_sample(void)
{
	_schedlock.until_sample = HOLDS_A_SAMPLE;
	_schedlock.stats.acquisitions += HOLDS_A_SAMPLE;
	_schedlock.since = gethrtime();
}

void __schedlock_end_sample(void)
{
	struct thr_schedlock_stats *s = &_schedlock.stats;
	int64_t held = gethrtime() - _schedlock.since;

	_schedlock.since = 0;
	s->hold_samples++;
	s->hold_ns += held;
	if (held > (int64_t)s->hold_max_ns)
		s->hold_max_ns = held;
}

/* --- the run queue -------------------------------------------------------------- */

int __runq_top_above(void)
{
	int word = __runq.bitmap[1] != 0;

	/* The guess of one who has not got the lock may come while the last one leaves. */
	return __runq.bitmap[word] != 0 ? word * 64 + 63 - __builtin_clzl(__runq.bitmap[word]) : 0;
}

void __runq_push_above(struct thread *t)
{
	run_list_append(&__runq.pri[t->pri], t);
	__runq.bitmap[t->pri / 64] |= 1ul << t->pri % 64;
	__runq.above++;
}

void __runq_remove(struct thread *t)
{
	struct run_list *l = t->pri == 0 ? &__runq.zero : &__runq.pri[t->pri];

	if (t->run_prev != NULL)
		t->run_prev->run_next = t->run_next;
	else
		l->first = t->run_next;
	if (t->run_next != NULL)
		t->run_next->run_prev = t->run_prev;
	else
		l->last = t->run_prev;
	if (t->pri == 0)
		return;
	__runq.above--;
	if (l->first == NULL)
		__runq.bitmap[t->pri / 64] &= ~(1ul << t->pri % 64);
}

struct thread *__runq_pop_above(void)
{
	struct thread *t = __runq.pri[__runq_top_above()].first;

	__runq_remove(t);
	return t;
}

/* --- blocking and waking ---------------------------------------------------------- */

void __mxn_prepare(struct thread *t, void (*entry)(struct thread *prev))
{
	uint64_t *sp = (uint64_t *)((uintptr_t)(t->stack + t->stack_size) & -16ul);

	*--sp = 0; /* a return address of 0 ends the backtrace */
	*--sp = (uint64_t)entry;
	for (int i = 0; i < 6; i++)
		*--sp = 0;
	*--sp = t->fp_control;
	t->rsp = (uint64_t)sp;
}

void __arrived_masked(struct thread *prev, struct thread *self)
{
	if (self != context_of(self)) {
		__mask_moved(self);
	} else { /* going idle: the mask stays */
		self->sigmask = prev->sigmask;
		self->masked = prev->masked;
	}
}

uint32_t __make_runnable(struct thread *t)
{
	struct thread *idle = __pool_take_idle();

	if (idle == NULL) {
		t->state = TS_RUNQUEUE;
		runq_push(t);
		return 0;
	}
	t->state = TS_DISPATCHABLE;
	t->partner = idle;
	__atomic_store_n(&idle->partner, t, __ATOMIC_RELEASE);
	return idle->own_lwp.id;
}

/*
 * What a wake-up does to t's books.  True: t is unbound and off its LWP, and nothing keeps
 * it from running.  *unpark gets the LWP of a bound thread that is asleep, else 0.
 *
 * A thread that is OnLWP has entered its queue but has not come to block() yet: it will
 * find wchan NULL there.
 */
static inline bool woken(struct thread *t, uint32_t *unpark)
{
	bool blocked = t->state == TS_BLOCKED;

	*unpark = 0;
	if (likely(t->unusual == 0)) {
		t->wchan = NULL;
		return blocked;
	}
	if (t->to_armed)
		__timeout_cancel(t);
	if (t->bound && blocked)
		*unpark = t->lwp->id;
	if (t->suspended && blocked && !t->bound)
		t->state = TS_STOPPED;
	blocked &= !t->bound && !t->suspended;
	__atomic_store_n(&t->wchan, NULL, __ATOMIC_RELEASE); /* a bound one may go on here */
	return blocked;
}

uint32_t __release(struct thread *t)
{
	uint32_t unpark;

	return woken(t, &unpark) ? __make_runnable(t) : unpark;
}

uint32_t __give_up(struct thread *t)
{
	t->gave_up = t->wchan;
	__sleepq_remove(t->q, t);
	return __release(t); /* takes it out of the time-outs too */
}

/* What there is to consider when the caller, with _schedlock, is not just any unbound thread. */
static const void *block_specially(struct thread *self, deadline_t deadline, struct thread *wake)
{
	const void *obj = self->wchan, *waited_for;
	uint32_t unpark = wake != NULL ? __release(wake) : 0;

	if (!self->bound && obj != NULL) { /* to be cancelled here and now */
		__sleepq_remove(self->q, self);
		self->wchan = NULL;
		self->lwp->owes = unpark;
		schedunlock();
		if (unpark != 0)
			__lwp_unpark_owed(self->lwp, unpark);
		return obj;
	}
	self->lwp->owes = unpark;
	if (obj != NULL)
		self->state = TS_BLOCKED;
	schedunlock();
	waited_for = __lwp_wait_woken(self, deadline);
	self->state = TS_ONLWP;
	return waited_for;
}

/*
 * A thread that blocks and wakes another keeps its LWP busy with that one (or with one of
 * higher priority), instead of unparking an idle LWP and going idle itself.
 */
const void *__mxn_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self();
	const void *gave_up;

	if (unlikely(self->wchan == NULL || self->unusual) &&
	    (self->wchan == NULL || self->bound || (cancel_due() && sleepq_is_point(self->q))))
		return block_specially(self, deadline, wake);
	if (wake != NULL) {
		uint32_t unpark;

		if (woken(wake, &unpark)) {
			wake->state = TS_RUNQUEUE;
			runq_push(wake);
		} else if (unpark != 0) {
			__sys_lwp_unpark(unpark);
		}
	}
	self->state = TS_BLOCKED;
	if (unlikely(deadline != NEVER))
		__timeout_arm(self, deadline);
	leave_lwp(self);
	schedunlock();
	gave_up = self->gave_up;
	if (unlikely(gave_up != NULL))
		self->gave_up = NULL;
	return gave_up;
}

/* A thread of priority pri has been woken: it goes first if it ought to. */
static void give_way(int pri)
{
	struct thread *self = thread_self();

	if (pri > self->pri && !self->bound && !in_critical(self->lwp) && runq_top() > self->pri)
		__mxn_yield();
}

#define UNPARK_BATCH 128

static void wake_many(struct thread *list)
{
	uint32_t ids[UNPARK_BATCH];
	unsigned n = 0;
	int highest = 0;

	no_suspend_enter();
	while (list != NULL) {
		struct thread *t = list;

		list = t->q_next;
		if (t->pri > highest)
			highest = t->pri;
		ids[n] = __release(t);
		n += ids[n] != 0;
		if (n == UNPARK_BATCH) {
			__sys_lwp_unpark_all(ids, n);
			n = 0;
		}
	}
	schedunlock();
	if (n > 0)
		__sys_lwp_unpark_all(ids, n);
	no_suspend_exit();
	give_way(highest);
}

void __mxn_wake(struct sleepq *q, struct thread *list)
{
	struct lwp *l = thread_self()->lwp;
	int pri = list->pri;
	uint32_t unpark;

	if (unlikely(list->q_next != NULL)) {
		wake_many(list);
		return;
	}
	unpark = __release(list);
	if (unlikely(unpark != 0)) {
		l->owes = unpark;
		schedunlock();
		__lwp_unpark_owed(l, unpark);
	} else {
		schedunlock();
	}
	if (unlikely(pri > 0))
		give_way(pri);
}

/*
 * To a thread of the same or a higher priority; without one, to another LWP of the
 * machine.
 */
int __mxn_yield(void)
{
	struct thread *self = thread_self(), *next;

	if (self->bound || runq_top() < self->pri)
		return __sys_lwp_yield();
	schedlock();
	if (likely(runq_top() >= self->pri)) {
		next = runq_pop();
		self->state = TS_RUNQUEUE;
		runq_push(self);
		switch_to(self, next);
	}
	schedunlock();
	return 0;
}
