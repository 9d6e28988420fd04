/*
 * schedlock.c - the scheduler of the small M:N model, without a lock that all LWPs share.
 *
 *	q->lock			a sleep queue, and wchan of the threads that stand in it
 *	queue[n].lock		the run queue of LWP n
 *	idle			no lock: a bit for each LWP that is idle
 *	state of a thread	no lock: see below
 *
 * Order: the lock of a sleep queue, then the lock of one run queue.  Two run queues are never locked
 * together.  None of these locks is held across a switch.
 *
 * A thread that blocks leaves its queue's lock before it is off its stack, so a waker may find it too
 * early.  `state` decides, by one atomic operation on each side.  The waker exchanges it for RunQueue.  The
 * LWP that has left the thread's stack changes it from OnLWP to Blocked.  If the waker comes second, it
 * makes the thread runnable.  If the LWP comes second, it finds RunQueue, and makes the thread runnable
 * itself.  So a thread is in one run queue once, and only when its stack is no longer used.  A yielding
 * thread is RunQueue already, which takes the same way.
 *
 * A waker pushes a thread into the queue of its own LWP, and unparks an idle LWP, which steals it.  An LWP
 * takes from its own queue, and steals when it is empty.  Every so often it steals first, so that no
 * queue waits for ever for an LWP that is blocked in the kernel.
 */
#include <errno.h>
#include "small.h"

#define FAIR 32 /* picks from the own queue, then one from another queue */

static struct lwp_queue {
	struct ilock lock;
	volatile unsigned count;     /* changed with the lock */
	struct thread *first, *last; /* by run_next; FIFO */
	unsigned picks, victim;      /* of the LWP itself */
} __attribute__((aligned(64))) queue[LWPS_MOST];

static volatile uint64_t idle __attribute__((aligned(64))); /* atomic: bit n is LWP n */

void __sched_init(void)
{
	__builtin_memset(queue, 0, sizeof(queue));
	idle = 0;
}

void __sched_lock(struct sleepq *q)
{
	ilock_lock(&q->lock);
}

void __sched_unlock(struct sleepq *q)
{
	ilock_unlock(&q->lock);
}

/* --- the run queues --------------------------------------------------------------------- */

static void queue_push(struct lwp_queue *q, struct thread *t)
{
	t->run_next = NULL;
	ilock_lock(&q->lock);
	if (q->count == 0)
		q->first = t;
	else
		q->last->run_next = t;
	q->last = t;
	q->count++;
	ilock_unlock(&q->lock);
}

/* NULL: the queue is empty.  A queue that looks empty without the lock is left alone. */
static struct thread *queue_pop(struct lwp_queue *q)
{
	struct thread *t = NULL;

	if (q->count == 0)
		return NULL;
	ilock_lock(&q->lock);
	if (q->count != 0) {
		t = q->first;
		q->first = t->run_next;
		q->count--;
	}
	ilock_unlock(&q->lock);
	return t;
}

/* The first thread of another queue.  Each time the search begins behind the last victim. */
static struct thread *steal(unsigned me)
{
	unsigned n = __lwps, victim = queue[me].victim;
	struct thread *t = NULL;

	for (unsigned i = 0; i < n && t == NULL; i++) {
		victim = victim + 1 < n ? victim + 1 : 0;
		if (victim != me)
			t = queue_pop(&queue[victim]);
	}
	queue[me].victim = victim;
	return t;
}

/* What LWP `me` runs next, or NULL: no queue has a thread. */
static struct thread *pick(unsigned me)
{
	struct lwp_queue *q = &queue[me];
	struct thread *t = NULL;

	if (++q->picks % FAIR == 0)
		t = steal(me);
	if (t == NULL)
		t = queue_pop(q);
	return t != NULL ? t : steal(me);
}

static bool any_queued(void)
{
	for (unsigned i = 0; i < __lwps; i++)
		if (queue[i].count != 0)
			return true;
	return false;
}

/* --- idle LWPs ----------------------------------------------------------------------------- */

/* Returns an idle LWP to unpark, which then counts as idle no longer, or 0. */
static uint32_t idle_take(void)
{
	uint64_t seen = idle;

	while (seen != 0) {
		unsigned n = __builtin_ctzl(seen);

		if (__atomic_compare_exchange_n(&idle, &seen, seen & ~(1ul << n), false,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return __context[n]->own_lwp.id;
	}
	return 0;
}

static void unpark(uint32_t id)
{
	if (id != 0)
		__sys_lwp_unpark(id);
}

/*
 * t is off its LWP, and its state is RunQueue.  Returns an LWP to unpark, or 0.
 *
 * *Race:* an LWP looks at the queues for the last time, and then a waker pushes a thread; *without this:*
 * the LWP parks, and the thread waits.  *Closed by:* the order.  The LWP sets its bit and then looks
 * (__sched_idle); the waker pushes and then looks at the bits.  The fence keeps the store before the load.
 */
static uint32_t make_runnable(struct thread *t)
{
	const struct thread *self = thread_self();

	PROBE(thread_state, "thread state", t, TS_RUNQUEUE, 0);
	queue_push(&queue[self->bound ? t->id % __lwps : lwp_of(self)], t);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return idle != 0 ? idle_take() : 0;
}

/* A permit may be left over from a waker that took the bit of an LWP which had found a thread itself. */
void __sched_idle(struct thread *self)
{
	unsigned me = (uintptr_t)self->arg;
	uint64_t bit = 1ul << me;

	for (;;) {
		struct thread *next;

		critical_enter();
		next = pick(me);
		if (next != NULL) {
			switch_to(self, next);
			continue;
		}
		critical_exit();
		__atomic_fetch_or(&idle, bit, __ATOMIC_SEQ_CST);
		if (!any_queued())
			__lwp_park(NEVER, 0);
		__atomic_fetch_and(&idle, ~bit, __ATOMIC_SEQ_CST);
	}
}

/* --- blocking and waking ------------------------------------------------------------------ */

/* Ends the wait of t, and returns an LWP to unpark, or 0.  `parked`: t waits on its LWP. */
static uint32_t release(struct thread *t)
{
	uint32_t id;

	PROBE(thread_wake, "thread", t, 0, 0);
	t->wchan = NULL;
	if (__atomic_exchange_n(&t->state, TS_RUNQUEUE, __ATOMIC_ACQ_REL) != TS_BLOCKED)
		return 0; /* it finds RunQueue */
	if (!t->parked)
		return make_runnable(t);
	id = t->lwp->id;
	__atomic_store_n(&t->parked, false, __ATOMIC_RELEASE); /* it goes on, and may exit */
	return id;
}

/* self is about to be Blocked.  False: a waker was first. */
static bool now_blocked(struct thread *self)
{
	uint32_t state = TS_ONLWP;

	return __atomic_compare_exchange_n(&self->state, &state, TS_BLOCKED, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/*
 * Waits in the kernel, on the caller's LWP, until a waker clears `parked`.  After a deadline that a waker
 * has forestalled, this waits on for the waker, which is about to.
 */
static const void *wait_on_lwp(struct thread *self, deadline_t deadline)
{
	const void *obj = NULL;

	self->parked = true;
	if (now_blocked(self))
		while (obj == NULL && __atomic_load_n(&self->parked, __ATOMIC_ACQUIRE))
			if (__lwp_park(deadline, 0) == -ETIMEDOUT ||
			    (cancel_due() && sleepq_ends_cancelled(self))) {
				obj = __sleepq_give_up(self);
				deadline = NEVER;
			}
	self->parked = false;
	state_set(self, TS_ONLWP);
	return obj;
}

/* Called in a critical section: self leaves its LWP, which runs another thread, or its context. */
static void leave(struct thread *self)
{
	struct thread *next = pick(lwp_of(self));

	switch_to(self, next != NULL ? next : context_of(self));
}

const void *__sched_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self();
	uint32_t id = wake != NULL ? release(wake) : 0;

	PROBE(thread_state, "thread state", self, TS_BLOCKED, 0);
	ilock_drop(&q->lock);
	unpark(id);
	if (self->bound || deadline != NEVER) {
		critical_exit();
		return wait_on_lwp(self, deadline);
	}
	leave(self);
	return NULL;
}

#define BATCH 128

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
	ilock_drop(&q->lock);
	if (n > 0)
		__sys_lwp_unpark_all(ids, n);
	critical_exit();
}

/* --- threads begin, yield, exit --------------------------------------------------------------- */

void __sched_begin(struct thread *t)
{
	uint32_t id;

	t->parked = false;
	t->state = TS_RUNQUEUE;
	critical_enter(); /* the caller stays on its LWP */
	id = make_runnable(t);
	critical_exit();
	unpark(id);
}

int __sched_yield(void)
{
	struct thread *self = thread_self(), *next = NULL;

	critical_enter();
	if (!self->bound)
		next = pick(lwp_of(self));
	if (next == NULL) {
		critical_exit();
		return __sys_lwp_yield();
	}
	state_set(self, TS_RUNQUEUE);
	switch_to(self, next);
	return 0;
}

void __sched_exit(struct sleepq *q, struct thread *wake)
{
	if (wake != NULL)
		__sched_wake_last(q, wake);
	leave(thread_self());
	__builtin_unreachable();
}

void __sched_wake_last(struct sleepq *q, struct thread *wake)
{
	uint32_t id = release(wake);

	ilock_drop(&q->lock);
	unpark(id);
}

void __sched_switched(struct thread *left)
{
	uint32_t id = 0;

	if (left->exited)
		__atomic_store_n(&left->on_stack, 0, __ATOMIC_RELEASE);
	else if (left->id != 0 && !now_blocked(left))
		id = make_runnable(left);
	critical_exit();
	unpark(id);
}
