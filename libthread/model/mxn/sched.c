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

struct schedlock _schedlock;

/* One queue a priority, circular; `first` points at the head. */
static struct {
	uint64_t bitmap[2]; /* priorities that have threads */
	struct thread *first[THREAD_MAX_PRIORITY + 1];
} runq;

/* --- the lock ------------------------------------------------------------------- */

void __schedlock_contended(void)
{
	unsigned turns = __ilock_wait(&_schedlock.lock);

	_schedlock.stats.contentions++;
	_schedlock.stats.yields += turns;
}

void __schedlock_timed(void)
{
	struct thr_schedlock_stats *s = &_schedlock.stats;
	int64_t held = gethrtime() - _schedlock.since;

	_schedlock.since = 0;
	s->hold_samples++;
	s->hold_ns += held;
	if ((unsigned long long)held > s->hold_max_ns)
		s->hold_max_ns = held;
}

/* --- the run queue -------------------------------------------------------------- */

void __runq_push(struct thread *t)
{
	struct thread **first = &runq.first[t->pri], *head = *first;

	if (head == NULL) {
		t->run_next = t->run_prev = t;
		*first = t;
		runq.bitmap[t->pri / 64] |= 1ul << t->pri % 64;
		return;
	}
	t->run_next = head;
	t->run_prev = head->run_prev;
	head->run_prev->run_next = t;
	head->run_prev = t;
}

void __runq_remove(struct thread *t)
{
	struct thread **first = &runq.first[t->pri];

	if (t->run_next == t) {
		*first = NULL;
		runq.bitmap[t->pri / 64] &= ~(1ul << t->pri % 64);
		return;
	}
	t->run_prev->run_next = t->run_next;
	t->run_next->run_prev = t->run_prev;
	if (*first == t)
		*first = t->run_next;
}

/* The highest priority in the run queue, or -1; without the lock a guess. */
static inline int runq_top(void)
{
	if (unlikely(runq.bitmap[1] != 0))
		return 127 - __builtin_clzl(runq.bitmap[1]);
	return runq.bitmap[0] != 0 ? 63 - __builtin_clzl(runq.bitmap[0]) : -1;
}

struct thread *__runq_pop(void)
{
	int top = runq_top();
	struct thread *t;

	if (top < 0)
		return NULL;
	t = runq.first[top];
	__runq_remove(t);
	return t;
}

/* --- from thread to thread ------------------------------------------------------- */

/* prev has been left for good or for a while; its stack is no longer used. */
static inline void left(struct thread *prev)
{
	if (unlikely(prev->exited))
		__atomic_store_n(&prev->on_stack, 0, __ATOMIC_RELEASE);
}

void __switch_to(struct thread *self, struct thread *next)
{
	struct lwp *l = self->lwp;

	self->lwp = &__nowhere;
	next->lwp = l;
	next->state = TS_ONLWP;
	left(__mxn_switch(self, next));
}

void __arrived(struct thread *prev)
{
	left(prev);
}

void __leave_lwp(struct thread *self)
{
	struct thread *next = __runq_pop();

	__switch_to(self, next != NULL ? next : context_of(self));
}

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

/* --- blocking and waking ---------------------------------------------------------- */

uint32_t __make_runnable(struct thread *t)
{
	struct thread *idle = __pool_take_idle();

	if (idle == NULL) {
		t->state = TS_RUNQUEUE;
		__runq_push(t);
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
	if (unlikely(t->to_armed))
		__timeout_cancel(t);
	if (unlikely(t->bound)) {
		*unpark = blocked ? t->lwp->id : 0;
		__atomic_store_n(&t->wchan, NULL, __ATOMIC_RELEASE);
		return false;
	}
	t->wchan = NULL;
	if (unlikely(t->suspended) && blocked) {
		t->state = TS_STOPPED;
		return false;
	}
	return blocked;
}

uint32_t __release(struct thread *t)
{
	uint32_t unpark;

	return woken(t, &unpark) ? __make_runnable(t) : unpark;
}

/*
 * A thread that blocks and wakes another keeps its LWP busy with that one (or with one of
 * higher priority), instead of unparking an idle LWP and going idle itself.
 */
const void *__mxn_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self();
	const void *waited_for;

	if (unlikely(self->wchan == NULL || self->bound)) {
		self->lwp->owes = wake != NULL ? __release(wake) : 0;
		if (self->wchan != NULL)
			self->state = TS_BLOCKED;
		schedunlock();
		waited_for = __lwp_wait_woken(self, deadline);
		self->state = TS_ONLWP;
		return waited_for;
	}
	if (wake != NULL) {
		uint32_t unpark;

		if (woken(wake, &unpark)) {
			wake->state = TS_RUNQUEUE;
			__runq_push(wake);
		} else if (unpark != 0) {
			__sys_lwp_unpark(unpark);
		}
	}
	self->state = TS_BLOCKED;
	if (likely(deadline == NEVER)) {
		__leave_lwp(self);
		schedunlock();
		return NULL;
	}
	self->timed_out = NULL;
	__timeout_arm(self, deadline);
	__leave_lwp(self);
	schedunlock();
	return self->timed_out;
}

/* A thread of priority pri has been woken: it goes first if it ought to. */
static void give_way(int pri)
{
	struct thread *self = thread_self();

	if (pri > self->pri && !self->bound && *self->lwp->critical == 0 && runq_top() > self->pri)
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
	struct thread *self = thread_self();
	struct lwp *l = self->lwp;
	int pri = list->pri;

	if (unlikely(list->q_next != NULL)) {
		wake_many(list);
		return;
	}
	l->owes = __release(list);
	schedunlock();
	if (l->owes != 0)
		__lwp_unpark_owed(l);
	if (unlikely(pri > self->pri))
		give_way(pri);
}

/*
 * To a thread of the same or a higher priority; without one, to another LWP of the
 * machine.
 */
void __mxn_yield(void)
{
	struct thread *self = thread_self(), *next;

	if (self->bound || runq_top() < self->pri) {
		__sys_lwp_yield();
		return;
	}
	schedlock();
	if (likely(runq_top() >= self->pri)) {
		next = __runq_pop();
		self->state = TS_RUNQUEUE;
		__runq_push(self);
		__switch_to(self, next);
	}
	schedunlock();
}
