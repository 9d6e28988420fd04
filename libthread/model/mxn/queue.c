/*
 * queue.c - model sa with several CPUs: each sleep queue under its own lock.
 *
 * In mxn _schedlock is the lock of all sleep queues.  Here it is not.  A thread that blocks leaves its LWP to the
 * first thread of the LWP's list (local.c), or to the LWP's context if the list is empty, with the lock of its queue and the
 * run_lock.  A thread that is woken enters the list of the waker's LWP, under the same two locks.  So threads that wait for
 * different objects on different LWPs have no lock in common.
 *
 * Why the waker's LWP, and not the LWP that the thread has left: the waker mostly blocks soon, and then its LWP has
 * a thread to go on with.  In the list of another LWP the thread would wait behind the others there, while the
 * waker's LWP looks for a thread in the lists of all.  Tried with the LWP that the thread has left: no figure of the quick
 * set gained by it, and the pipe echo of since-echo took 6 % more.
 *
 * While an LWP is idle, a thread that is woken goes to this LWP, under the same two locks (claim.h).
 *
 * All else is as in mxn, with _schedlock, and without the lock of a queue: a context that looks for a thread, a thread that is not
 * plain, a wait with a deadline, a block while __runq has threads, and their turn is next; while an LWP is idle, a wake-up of
 * many threads, and a wake-up in the same call with a block or an exit.
 *
 * Locks.  A thread enters and leaves a queue under the queue's lock.  Lock order: _schedlock, the run_locks, the
 * lock of a queue of the first table, then of the second.  A thread that holds the lock of a queue only tries
 * run_lock, and releases the lock before it waits for _schedlock.  So other threads may find its thread in between.
 *
 * *Race:* a waker takes a thread out of its queue, releases the lock, and waits for _schedlock; another thread,
 * with _schedlock, ends the same wait: its time is up, or it is cancelled.  *Without this:* the thread leaves a
 * queue in which it no longer stands.  *Closed by:* __sleepq_taken, which the waker stores under the lock of the
 * queue.
 *
 * `apart` of a thread that is Blocked:
 *
 *	APART_NOT	it blocks with _schedlock.  Its registers are saved as soon as another thread has _schedlock
 *	APART_LEAVES	it blocks with a run_lock, and is still on its stack
 *	APART_SAVED	its registers are saved (__local_switch)
 *
 * *Race:* a thread enters a queue and begins to leave its LWP; a thread on another LWP takes it out of the queue,
 * and a third LWP takes it from the list.  *Without this:* the thread runs on with old registers, on a stack in
 * use.  *Closed by:* the waker, which looks at `apart` first.
 *
 * *Race:* a waker finds that a thread is off its stack, and has no run_lock yet; the thread is made to run for a signal, and
 * blocks again with _schedlock.  *Without this:* as above.  *Closed by:* the look at `apart` with run_lock: a signal needs all
 * run_locks (__local_freeze).
 *
 * *Race:* a thread looks whether it has been woken, and is about to block; its waker finds that it is not Blocked
 * yet.  *Without this:* neither makes it run.  *Closed by:* one lock for both: a thread blocks with a run_lock only
 * if it holds the lock of the queue in which it stands, and its waker has held this lock; or both have _schedlock.
 */
#include "claim.h"
#include "local.h"

#define TRIES 200 /* some 1,000 instructions */

bool __queues_apart;
const char __sleepq_taken;

static void queue_lock(struct sleepq *q)
{
	ilock_lock(&q->lock);
}

static void queue_unlock(struct sleepq *q)
{
	ilock_unlock(&q->lock);
}

/* Acquires _schedlock in the critical section of a lock that the caller has dropped. */
static inline void schedlock_after(void)
{
	schedlock();
	critical_exit_inner();
}

/* Acquires _schedlock instead of the lock of q, in the same critical section. */
static void schedlock_instead(struct sleepq *q)
{
	ilock_drop(&q->lock);
	schedlock_after();
}

/*
 * *Race:* t is woken, and enters another queue; the caller reads wchan before, and q after this, or the other way round.
 * *Without this:* the caller takes t for a waiter in a queue in which t does not stand.  *Closed by:* the second look, with
 * the lock; and q is stored before wchan, and read after it.
 */
struct sleepq *__wait_queue(struct thread *t)
{
	for (;;) {
		const void *obj = t->wchan;
		struct sleepq *q;

		if (obj == NULL || obj == &__sleepq_taken)
			return NULL;
		q = t->q;
		ilock_lock(&q->lock);
		obj = t->wchan;
		if (obj != NULL && obj != &__sleepq_taken && t->q == q)
			return q;
		ilock_unlock_inner(&q->lock);
	}
}

/* --- waking ------------------------------------------------------------------------------------ */

/* t leaves an LWP.  Is it still on its stack after some turns? */
static bool __attribute__((noinline)) apart_still_leaves(const struct thread *t)
{
	for (int i = 0; i < TRIES; i++) {
		if (t->apart != APART_LEAVES)
			return false;
		spin_hint();
	}
	return true;
}

static inline bool apart_leaves(const struct thread *t)
{
	return unlikely(t->apart == APART_LEAVES) && apart_still_leaves(t);
}

/*
 * The caller holds the lock of a queue, and has taken t out of it.  True: t is in the list of the caller's LWP.  False: the
 * caller wakes t with _schedlock.
 */
static inline bool queue_wake_here(struct thread *t)
{
	struct thread *self = thread_self();
	struct ulwp *l = self->lwp;
	bool woken;

	if (unlikely(!__local_open || self->bound || apart_leaves(t)))
		return false;
	if (unlikely(!ilock_try(&l->run_lock)))
		return false;
	woken = just_blocked(t) && t->apart == APART_SAVED && __local_open && __runq.above == 0;
	if (likely(woken))
		local_enter_woken(l, t);
	ilock_drop(&l->run_lock);
	return woken;
}

/* Waits until t, which a waker has taken out of its queue, is off its stack if it leaves an LWP with a run_lock. */
static void await_saved(const struct thread *t)
{
	unsigned turns = 0;

	while (apart_leaves(t))
		__backoff(&turns);
}

/* The caller wakes t with _schedlock instead of the lock of q. */
static void queue_wakes_slowly(struct sleepq *q, struct thread *t)
{
	t->wchan = &__sleepq_taken;
	schedlock_instead(q);
	await_saved(t);
}

/* As queue_wake_here: t gets an idle LWP, which the caller unparks in the same critical section (0: none). */
static inline bool queue_give_idle(struct thread *t, uint32_t *unpark)
{
	struct thread *self = thread_self(), *idle = NULL;
	struct ulwp *l = self->lwp;

	if (__pool_idle <= WAITING_UNTOLD || self->bound || apart_leaves(t) ||
	    !ilock_try(&l->run_lock))
		return false;
	if (likely(just_blocked(t) && t->apart == APART_SAVED))
		idle = idle_find(t->partner);
	if (unlikely(idle == NULL)) {
		ilock_drop(&l->run_lock);
		return false;
	}
	t->wchan = NULL;
	PROBE(thread_wake, "thread", t, 0, 0);
	*unpark = partner_give(idle, t);
	ilock_drop(&l->run_lock);
	return true;
}

static int __attribute__((noinline)) queue_wake_slow(struct sleepq *q, struct thread *t)
{
	struct thread *self = thread_self();
	uint32_t unpark;

	if (likely(queue_give_idle(t, &unpark))) {
		ilock_drop(&q->lock);
		if (likely(unpark != 0))
			__sys_upcall_unpark(unpark);
		critical_exit();
		return 0;
	}
	queue_wakes_slowly(q, t);
	if (__idle_any() || !just_blocked(t) || self->bound || __runq.above != 0)
		return __mxn_wake_one(q, t);
	local_open_lists();
	local_enter_woken(self->lwp, t);
	schedunlock();
	return 0;
}

static int queue_wake_one(struct sleepq *q, struct thread *t)
{
	if (unlikely(!queue_wake_here(t)))
		return queue_wake_slow(q, t);
	ilock_unlock(&q->lock);
	return 0;
}

/*
 * Up to FEW threads get idle LWPs one by one, without _schedlock.  For more threads one hold of _schedlock is cheaper: 16 CPUs
 * pass a barrier of 24 threads in 8,900 instructions, and otherwise in 12,100; 4 CPUs one of 4 threads in 2,380 and 2,170.
 */
#define FEW 8

static void queue_wake_list(struct sleepq *q, struct thread *list)
{
	struct thread *rest = NULL, **end = &rest;
	bool few = sleepq_length(list) <= FEW;
	uint32_t unpark[FEW];
	unsigned n = 0;

	while (list != NULL) {
		struct thread *t = list;

		list = t->q_next;
		if (queue_wake_here(t))
			continue;
		if (few && queue_give_idle(t, &unpark[n])) {
			n += unpark[n] != 0;
			continue;
		}
		t->wchan = &__sleepq_taken;
		*end = t;
		end = &t->q_next;
	}
	*end = NULL;
	ilock_drop(&q->lock);
	if (n > 1)
		__sys_lwp_unpark_all(unpark, n);
	else if (n > 0)
		__sys_upcall_unpark(unpark[0]);
	if (rest == NULL) {
		critical_exit();
		return;
	}
	schedlock_after();
	for (struct thread *t = rest; t != NULL; t = t->q_next)
		await_saved(t);
	__mxn_wake(q, rest);
}

/* --- blocking ---------------------------------------------------------------------------------- */

/*
 * The caller stands in q, whose lock it holds.  Returns the thread to which the caller leaves its LWP l.  Then the caller
 * holds l's run_lock instead of the lock of q.  NULL: the caller still holds the lock of q.
 */
static inline __attribute__((always_inline)) struct thread *
queue_next(struct thread *self, struct ulwp *l, struct sleepq *q)
{
	struct thread *next;

	if (unlikely(!own_turn_now(l) || !ilock_try(&l->run_lock)))
		return NULL;
	if (unlikely((self->special | __runq.above) != 0 || !local_next(self, l, &next))) {
		ilock_drop(&l->run_lock);
		return NULL;
	}
	self->apart = APART_LEAVES;
	self->state = TS_BLOCKED;
	ilock_drop(&q->lock);
	return next;
}

/* Blocks with _schedlock. */
static const void *__attribute__((noinline)) queue_block_slow(struct sleepq *q, deadline_t deadline)
{
	schedlock_instead(q);
	thread_self()->apart = APART_NOT;
	return __local_block(q, deadline, NULL);
}

/* The caller holds the lock of q.  Does it still stand there? */
static inline bool stands_in(const struct thread *self, const struct sleepq *q)
{
	const void *obj = self->wchan; /* read once: a waker may make it NULL at any time */

	return obj != NULL && obj != &__sleepq_taken && self->q == q;
}

/*
 * The caller holds the lock of q, in which it does not stand: it waits for a condition variable, and has released a
 * mutex that others wait for.  Acquires the lock of its own queue instead, if it can at once.
 */
static struct sleepq *queue_change(struct thread *self, struct sleepq *q)
{
	struct sleepq *own = self->q;

	if (own == q || !ilock_try(&own->lock))
		return q;
	ilock_drop(&q->lock);
	return own;
}

static inline const void *queue_block_alone(struct sleepq *q, deadline_t deadline)
{
	struct thread *self = thread_self(), *next;
	struct ulwp *l = self->lwp;

	if (unlikely(deadline != NEVER || !stands_in(self, q)))
		return queue_block_slow(q, deadline);
	next = queue_next(self, l, q);
	if (unlikely(next == NULL))
		return queue_block_slow(q, NEVER);
	return local_hand_over_null(self, next, l);
}

static const void *__attribute__((noinline))
queue_block_waking(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self();

	if (unlikely(!queue_wake_here(wake))) {
		queue_wakes_slowly(q, wake);
		self->apart = APART_NOT;
		return __local_block(q, deadline, wake);
	}
	return queue_block_alone(queue_change(self, q), deadline);
}

static const void *queue_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	if (wake != NULL)
		return queue_block_waking(q, deadline, wake);
	return queue_block_alone(q, deadline);
}

static int __attribute__((noinline)) queue_sleep_slow(struct sleepq *q)
{
	return queue_block_slow(q, NEVER) == NULL ? 0 : __cancelled();
}

static int queue_sleep(struct sleepq *q)
{
	struct thread *self = thread_self(), *next;
	struct ulwp *l = self->lwp;

	next = queue_next(self, l, q);
	if (unlikely(next == NULL))
		return queue_sleep_slow(q);
	return local_hand_over(self, next, l);
}

/* --- exit, and the rest ------------------------------------------------------------------------ */

static void __attribute__((noreturn)) queue_exit(struct sleepq *q, struct thread *wake)
{
	if (wake != NULL && queue_wake_here(wake)) {
		ilock_drop(&q->lock);
		wake = NULL;
	} else if (wake != NULL) {
		queue_wakes_slowly(q, wake);
	}
	__life_exit(q, wake);
}

static void scheduler_lock(void)
{
	schedlock();
}

static void scheduler_unlock(void)
{
	schedunlock();
}

void __queue_init(void)
{
	__queues_apart = true;
	__scheduler_lock = __one_lock;
	__one_lock = NULL;
	__ops->lock = queue_lock;
	__ops->unlock = queue_unlock;
	__ops->block = queue_block;
	__ops->sleep = queue_sleep;
	__ops->wake = queue_wake_list;
	__ops->wake_one = queue_wake_one;
	__ops->exit = queue_exit;
	__ops->priorities_lock = scheduler_lock;
	__ops->priorities_unlock = scheduler_unlock;
}
