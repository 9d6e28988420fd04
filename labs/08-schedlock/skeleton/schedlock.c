/*
 * schedlock.c - the scheduler of the small M:N model, with one lock.
 *
 * _lock guards all: every sleep queue (__one_lock says so to the library), the run queue, the list of
 * idle LWPs, and the states of threads.  It is held across a switch.  The thread that comes releases
 * it in __sched_switched, once the registers of the thread that left are saved.
 *
 * Whenever a thread is in the run queue, no LWP of the pool is idle.
 *
 * (As it stands, this file is right and slow.  Say here which locks yours has, what each of them guards,
 * and in which order they are acquired.)
 */
#include <errno.h>
#include "small.h"

static struct ilock _lock;
static struct thread *first, *last; /* the run queue, by run_next; FIFO */
static struct thread *idle;         /* contexts of idle LWPs, by run_next */
static uint32_t owed;               /* __sched_switched unparks this LWP, unless 0 */

void __sched_init(void)
{
	__one_lock = &_lock;
	_lock.held = 0;
	first = last = idle = NULL;
	owed = 0;
}

void __sched_lock(struct sleepq *q)
{
	ilock_lock(&_lock);
}

void __sched_unlock(struct sleepq *q)
{
	ilock_unlock(&_lock);
}

/* --- the run queue: the caller holds the lock ------------------------------------------------ */

static void runq_push(struct thread *t)
{
	t->run_next = NULL;
	if (first == NULL)
		first = t;
	else
		last->run_next = t;
	last = t;
}

static struct thread *runq_pop(void)
{
	struct thread *t = first;

	if (t != NULL)
		first = t->run_next;
	return t;
}

/* Returns an idle LWP to unpark, which then counts as idle no longer, or 0. */
static uint32_t idle_take(void)
{
	struct thread *c = idle;

	if (c == NULL)
		return 0;
	idle = c->run_next;
	__atomic_store_n(&c->parked, false, __ATOMIC_RELEASE);
	return c->own_lwp.id;
}

/* t is off its LWP. */
static uint32_t make_runnable(struct thread *t)
{
	state_set(t, TS_RUNQUEUE);
	runq_push(t);
	return idle_take();
}

/* --- blocking and waking ------------------------------------------------------------------ */

/*
 * Ends the wait of t.  Returns an LWP to unpark, or 0.  A thread that is not yet Blocked finds wchan NULL
 * in __sched_block.  A thread that is Blocked on its LWP may go on as soon as wchan is NULL.
 */
static uint32_t release(struct thread *t)
{
	bool blocked = t->state == TS_BLOCKED;
	uint32_t id = t->lwp->id;

	PROBE(thread_wake, "thread", t, 0, 0);
	__atomic_store_n(&t->wchan, NULL, __ATOMIC_RELEASE);
	if (!blocked)
		return 0;
	return id != 0 ? id : make_runnable(t);
}

static void unpark(uint32_t id)
{
	if (id != 0)
		__sys_lwp_unpark(id);
}

/* Waits in the kernel, on the caller's LWP. */
static const void *wait_on_lwp(struct thread *self, deadline_t deadline, uint32_t id)
{
	const void *obj = NULL;

	if (self->wchan != NULL)
		state_set(self, TS_BLOCKED);
	ilock_unlock(&_lock);
	unpark(id);
	while (obj == NULL && __atomic_load_n(&self->wchan, __ATOMIC_ACQUIRE) != NULL)
		if (__lwp_park(deadline, 0) == -ETIMEDOUT ||
		    (cancel_due() && sleepq_ends_cancelled(self)))
			obj = __sleepq_give_up(self);
	state_set(self, TS_ONLWP);
	return obj;
}

/* What the LWP of self, which leaves it, runs next. */
static struct thread *next_for(struct thread *self)
{
	struct thread *next = runq_pop();

	return next != NULL ? next : context_of(self);
}

const void *__sched_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self();
	uint32_t id = wake != NULL ? release(wake) : 0;

	if (self->wchan == NULL || self->bound || deadline != NEVER)
		return wait_on_lwp(self, deadline, id);
	owed = id; /* no system call while the lock is held */
	state_set(self, TS_BLOCKED);
	switch_to(self, next_for(self));
	return NULL;
}

#define BATCH 32

void __sched_wake(struct sleepq *q, struct thread *list)
{
	uint32_t ids[BATCH];
	unsigned n = 0;

	while (list != NULL) {
		struct thread *t = list;

		list = t->q_next;
		ids[n] = release(t);
		n += ids[n] != 0;
		if (n == BATCH) {
			__sys_lwp_unpark_all(ids, n);
			n = 0;
		}
	}
	ilock_drop(&_lock);
	if (n > 0)
		__sys_lwp_unpark_all(ids, n);
	critical_exit();
}

/* --- threads begin, yield, exit; LWPs without a thread ---------------------------------------- */

void __sched_begin(struct thread *t)
{
	uint32_t id;

	ilock_lock(&_lock);
	id = make_runnable(t);
	ilock_unlock(&_lock);
	unpark(id);
}

int __sched_yield(void)
{
	struct thread *self = thread_self(), *next = NULL;

	ilock_lock(&_lock);
	if (!self->bound)
		next = runq_pop();
	if (next == NULL) {
		ilock_unlock(&_lock);
		return __sys_lwp_yield();
	}
	state_set(self, TS_RUNQUEUE);
	runq_push(self);
	switch_to(self, next);
	return 0;
}

void __sched_exit(struct sleepq *q, struct thread *wake)
{
	struct thread *self = thread_self();

	if (wake != NULL) {
		owed = release(wake);
	} else {
		ilock_lock(&_lock);
		self->critical->nopreempt -= 1; /* the caller's section; the LWP goes on */
	}
	switch_to(self, next_for(self));
	__builtin_unreachable();
}

void __sched_wake_last(struct sleepq *q, struct thread *wake)
{
	uint32_t id = release(wake);

	ilock_drop(&_lock);
	unpark(id);
}

/* No thread is found in a queue before it has left its stack, because _lock is held up to here. */
void __sched_switched(struct thread *left)
{
	uint32_t id = owed;

	owed = 0;
	if (left->exited)
		__atomic_store_n(&left->on_stack, 0, __ATOMIC_RELEASE);
	ilock_unlock(&_lock);
	unpark(id);
}

/*
 * *Race:* the LWP has seen that the run queue is empty, and a waker pushes a thread; *without this:* the
 * LWP parks, and the thread waits.  *Closed by:* the lock, under which the LWP enters the list of idle
 * LWPs, and the permit, which the waker leaves with an LWP that it takes from the list.
 */
void __sched_idle(struct thread *self)
{
	for (;;) {
		struct thread *next;

		ilock_lock(&_lock);
		next = runq_pop();
		if (next != NULL) {
			switch_to(self, next);
			continue;
		}
		self->parked = true;
		self->run_next = idle;
		idle = self;
		ilock_unlock(&_lock);
		while (__atomic_load_n(&self->parked, __ATOMIC_ACQUIRE))
			__lwp_park(NEVER, 0);
	}
}
