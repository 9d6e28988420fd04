/*
 * lwp.c - model lwp: every thread has its LWP (Solaris 9; before it the alternate libthread of
 * Solaris 8).
 *
 * The kernel does all scheduling.  The model only has the sleep queues, each under its own spin
 * lock, and park and unpark.  To block, a thread enters a queue, releases the queue's lock, and
 * parks until wchan is NULL.  To wake a thread, the waker takes it out of the queue, sets wchan to
 * NULL, releases the lock, and unparks it.  lwp_wait_woken (core/park.h) says why no wake-up is
 * lost.
 *
 * Once wchan is NULL, the woken thread may run, return and exit, and its LWP's id may belong to
 * another LWP.  So a waker reads all that it needs before it sets wchan.  A late unpark gives
 * another LWP a permit that this LWP does not expect, or is refused.  Both are harmless.
 *
 * States: OnLWP, Blocked and Stopped only.
 */
#include <errno.h>
#include <weft/lwp.h>
#include "../../core/core.h"
#include "../../core/model.h"
#include "../../core/park.h"
#include "../../core/sleepq.h"

#define UNPARK_BATCH 128

static void lwp_init(void)
{
}

static void lwp_lock(struct sleepq *q)
{
	ilock_lock(&q->lock);
}

static void lwp_unlock(struct sleepq *q)
{
	ilock_unlock(&q->lock);
}

/*
 * Releases t from its wait.  Returns its LWP's id.  The caller must not use t afterwards, because t
 * may exit.
 */
static uint32_t lwp_model_release(struct thread *t)
{
	uint32_t id = t->lwp->id;

	PROBE(thread_wake, "thread", t, 0, 0);
	__atomic_store_n(&t->wchan, NULL, __ATOMIC_RELEASE);
	return id;
}

/* In line, so that lwp_sleep has no code for a deadline. */
static inline __attribute__((always_inline)) const void *
block_and_wake(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self();
	const void *waited_for;

	PROBE(thread_state, "thread state", self, TS_BLOCKED, 0);
	if (wake != NULL)
		self->lwp->owes = lwp_model_release(wake);
	self->state = TS_BLOCKED;
	ilock_unlock(&q->lock);
	if (wake != NULL && unlikely(__options.separate_unpark))
		lwp_unpark_owed(self->lwp, self->lwp->owes);
	waited_for = lwp_wait_woken(self, deadline);
	PROBE(thread_state, "thread state", self, TS_ONLWP, 0);
	self->state = TS_ONLWP;
	return waited_for;
}

static const void *lwp_block(struct sleepq *q, deadline_t deadline, struct thread *wake)
{
	return block_and_wake(q, deadline, wake);
}

static int lwp_sleep(struct sleepq *q)
{
	return likely(block_and_wake(q, NEVER, NULL) == NULL) ? 0 : __cancelled();
}

/*
 * A list that is longer than the array: the caller may walk it only while it holds the lock.  The caller is in a critical section
 * until its last unpark, so no other thread can suspend it before, and it cannot suspend itself in a handler.
 */
static void lwp_wake_many(struct sleepq *q, struct thread *list)
{
	uint32_t ids[UNPARK_BATCH];
	unsigned n = 0;

	while (list != NULL) {
		struct thread *t = list;

		list = t->q_next;
		ids[n++] = lwp_model_release(t);
		if (n == UNPARK_BATCH && list != NULL) {
			__sys_lwp_unpark_all(ids, n);
			n = 0;
		}
	}
	ilock_drop(&q->lock);
	__sys_lwp_unpark_all(ids, n);
	critical_exit();
}

static int lwp_wake_one(struct sleepq *q, struct thread *t)
{
	struct ulwp *l = thread_self()->lwp;
	uint32_t id = lwp_model_release(t);

	l->owes = id;
	ilock_unlock(&q->lock);
	lwp_unpark_owed(l, id);
	return 0;
}

static void lwp_wake(struct sleepq *q, struct thread *list)
{
	if (unlikely(list->q_next != NULL))
		lwp_wake_many(q, list);
	else
		lwp_wake_one(q, list);
}

static int lwp_prepare_timed(void)
{
	return 0;
}

static void lwp_model_run(struct thread *self)
{
	__thread_main(self);
}

static int lwp_create(struct thread *t, bool new_lwp, bool suspended)
{
	t->lwp = &t->own_lwp;
	t->state = suspended ? TS_STOPPED : TS_ONLWP;
	return __lwp_start(t, lwp_model_run, suspended ? LWP_SUSPENDED : 0, NULL);
}

static void __attribute__((noreturn)) lwp_exit(struct sleepq *q, struct thread *wake)
{
	if (wake != NULL) {
		uint32_t id = lwp_model_release(wake);

		ilock_drop(&q->lock);
		__sys_lwp_unpark(id);
	}
	__lwp_leave(thread_self());
}

/* The system call's result is the operation's. */
int lwp_yield(void) __asm__("__sys_lwp_yield");

/* The queue in which t stands, or stood last, with its lock.  NULL: t has never been in a queue. */
static struct sleepq *lwp_queue_lock(struct thread *t)
{
	for (;;) {
		struct sleepq *q = t->q;

		if (q == NULL)
			return NULL;
		ilock_lock(&q->lock);
		if (t->q == q)
			return q;
		ilock_unlock(&q->lock);
	}
}

/*
 * The caller has the lock of q.  Does t stand in q?
 *
 * *Race:* t stands in no queue, and enters another queue; the caller sees its new wchan; *without this:* the caller takes t out of a
 * queue in which it does not stand; *closed by:* the look at t->q, which is stored before wchan, and read after it.
 */
static bool lwp_stands_in(const struct thread *t, const struct sleepq *q)
{
	return __atomic_load_n(&t->wchan, __ATOMIC_ACQUIRE) != NULL && t->q == q;
}

/*
 * If t is in a queue, t moves to the place of its new priority.  If it enters one meanwhile, it does so, too (__sleepq_enter_among).
 */
static void lwp_set_priority(struct thread *t, int pri)
{
	struct sleepq *q;

	do {
		bool stands;

		q = lwp_queue_lock(t);
		stands = q != NULL && lwp_stands_in(t, q);
		if (stands)
			__sleepq_remove(q, t);
		t->pri = pri;
		if (stands)
			sleepq_enter(q, t->wchan, t, ORDER_OPTION);
		if (q != NULL)
			ilock_unlock(&q->lock);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (t->q != q);
}

static int lwp_kill(struct thread *t, int sig)
{
	return t->lwp->id != 0 ? -__sys_lwp_kill(t->lwp->id, sig) : EAGAIN;
}

/* t's LWP may not have begun: then t has not looked yet. */
static void lwp_cancel(struct thread *t)
{
	uint32_t id = __atomic_load_n(&t->lwp->id, __ATOMIC_SEQ_CST);

	if (id == 0)
		return;
	__cancel_call(id, t);
	__sys_lwp_unpark(id);
}

/* There is no pool. */
static int lwp_set_concurrency(int level)
{
	return 0;
}

/* The queues have no common lock.  The child does not read them. */
static void lwp_around_fork(void)
{
}

static void lwp_forked(bool had_others)
{
	if (had_others)
		__sleepq_forked();
}

static const struct model_ops ops = {
	.init = lwp_init,
	.lock = lwp_lock,
	.unlock = lwp_unlock,
	.block = lwp_block,
	.sleep = lwp_sleep,
	.wake = lwp_wake,
	.wake_one = lwp_wake_one,
	.prepare_timed = lwp_prepare_timed,
	.create = lwp_create,
	.exit = lwp_exit,
	.yield = lwp_yield,
	.suspend = __lwp_suspend,
	.resume = __lwp_resume,
	.set_priority = lwp_set_priority,
	.kill = lwp_kill,
	.cancel = lwp_cancel,
	.set_concurrency = lwp_set_concurrency,
	.before_fork = lwp_around_fork,
	.after_fork = lwp_around_fork,
	.forked = lwp_forked,
	.reap = __stacks_trim,
};

const struct model __model_lwp = {
	.name = "lwp",
	.ops = &ops,
	.scope = SCOPE_ALL_BOUND,
	.options = OPT_SPIN | OPT_QUEUE | OPT_UNLOCK | OPT_SCHEDCTL | OPT_SLEEP | OPT_UNPARK,
	.defaults = {.spin = SPIN_ADAPTIVE,
		     .adaptive_unlock = true,
		     .schedctl = true,
		     .spin_shared = true},
};
