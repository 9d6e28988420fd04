/*
 * mxn.c - the small M:N model: the LWPs of the pool, where threads begin, the table of operations.
 *
 * A bound thread has an LWP of its own, own_lwp.  Nothing here looks at queues: that is sched.c's.
 */
#include <errno.h>
#include <sched.h>
#include "small.h"

#define CONTEXT_STACK 16384

volatile unsigned __lwps;
struct thread *__context[LWPS_MOST];

/* --- the pool --------------------------------------------------------------------- */

/* NULL: out of memory.  number: of its LWP. */
static struct thread *context_new(unsigned number)
{
	struct thread *c = __thread_get(CONTEXT_STACK, WEFT_PAGE_SIZE);

	if (c == NULL)
		return NULL;
	c->self = c;
	c->reent = NULL;
	c->lwp = &c->own_lwp;
	c->state_and_special = TS_ONLWP;
	c->policy = SCHED_OTHER;
	c->bound = true; /* a handler that blocks here keeps the LWP */
	c->exited = false;
	c->sigmask = __base_mask;
	c->cancel_all = 0;
	c->on_stack = 1;
	c->arg = (void *)(uintptr_t)number;
	save_fp_control(&c->fp_control);
	return c;
}

/* Prepares t, which has a stack, to begin in entry() at the first switch to it. */
static void small_prepare(struct thread *t, void (*entry)(struct thread *left))
{
	uint64_t *sp = (uint64_t *)((uintptr_t)(t->stack + t->stack_size) & -16ul);

	sp[-1] = 0; /* a return address of 0 ends the backtrace */
	sp[-2] = (uint64_t)entry;
	sp[-3] = 0; /* RBP, as above; the other registers may be anything */
	t->rsp = (uint64_t)(sp - 8);
}

/* The LWP keeps all signals blocked: signals of the process go to other LWPs. */
static void lwp_first(struct thread *self)
{
	__sched_idle(self);
}

/* Where the context of LWP 0 begins. */
static void context_first(struct thread *left)
{
	__sched_switched(left);
	__sched_idle(thread_self());
}

/* One caller at a time.  The LWP may run before it counts. */
static int pool_add(void)
{
	unsigned n = __lwps;
	struct thread *c = context_new(n);
	int error;

	if (c == NULL)
		return EAGAIN;
	__context[n] = c;
	error = __lwp_start_blocked(c, lwp_first, 0, NULL);
	if (error == 0)
		__atomic_store_n(&__lwps, n + 1, __ATOMIC_RELEASE);
	return error;
}

/* `growing` is no spin lock of the library, because its holder makes system calls. */
static int small_set_concurrency(int level)
{
	static volatile uint32_t growing;
	unsigned turns = 0;
	int error = 0;

	if (level > LWPS_MOST)
		level = LWPS_MOST;
	while (__atomic_exchange_n(&growing, 1, __ATOMIC_ACQUIRE) != 0)
		__backoff(&turns);
	while (error == 0 && (int)__lwps < level)
		error = pool_add();
	__atomic_store_n(&growing, 0, __ATOMIC_RELEASE);
	return error;
}

static void small_init(void)
{
	struct thread *main = thread_self(), *c = context_new(0);

	ASSERT(c != NULL);
	__lwp_adopt(&c->own_lwp, main->own_lwp.sc);
	main->lwp = &c->own_lwp;
	c->lwp = &__nowhere;
	small_prepare(c, context_first);
	__context[0] = c;
	__lwps = 1;
	__sched_init();
	small_set_concurrency(__options.concurrency);
}

/* --- threads ------------------------------------------------------------------------ */

static void thread_first(struct thread *left)
{
	__sched_switched(left);
	__thread_main(thread_self());
}

static void bound_first(struct thread *self)
{
	__thread_main(self);
}

static int small_create(struct thread *t, bool new_lwp, bool suspended)
{
	int error = 0;

	if (suspended)
		return EAGAIN;
	if (t->bound) {
		t->lwp = &t->own_lwp;
		t->state = TS_ONLWP;
		return __lwp_start(t, bound_first, LWP_NOPOOL, NULL);
	}
	if (new_lwp || __lwps == 0) /* a bound thread that forked has no pool */
		error = small_set_concurrency(__lwps + 1);
	if (error != 0)
		return error;
	small_prepare(t, thread_first);
	__sched_begin(t);
	return 0;
}

static void __attribute__((noreturn)) small_exit(struct sleepq *q, struct thread *wake)
{
	struct thread *self = thread_self();

	if (!self->bound)
		__sched_exit(q, wake);
	if (wake != NULL)
		__sched_wake_last(q, wake);
	__lwp_leave(self);
}

static int small_sleep(struct sleepq *q)
{
	return __sched_block(q, NEVER, NULL) == NULL ? 0 : __cancelled();
}

static int small_wake_one(struct sleepq *q, struct thread *t)
{
	t->q_next = NULL;
	__sched_wake(q, t);
	return 0;
}

static int small_prepare_timed(void)
{
	return 0;
}

static void one_lock_wait(struct ilock *l)
{
	__ilock_wait(l, __ilock_take);
}

static void no_timed_hold(void)
{
}

static int small_suspend(struct thread *t)
{
	return t->bound ? __lwp_suspend(t) : ENOTSUP;
}

static int small_resume(struct thread *t)
{
	return t->bound ? __lwp_resume(t) : 0;
}

/* If t is in a sleep queue, t moves to the place of its new priority. */
static void small_set_priority(struct thread *t, int pri)
{
	struct sleepq *q;
	const void *obj;

	while ((q = t->q) != NULL) {
		__sched_lock(q);
		if (t->q == q)
			break;
		__sched_unlock(q);
	}
	obj = q != NULL ? t->wchan : NULL;
	if (obj != NULL)
		__sleepq_remove(q, t);
	t->pri = pri;
	if (obj != NULL)
		sleepq_enter(q, obj, t, ORDER_OPTION);
	if (q != NULL)
		__sched_unlock(q);
}

static int small_kill(struct thread *t, int sig)
{
	if (!t->bound)
		return ENOTSUP;
	return t->lwp->id != 0 ? -__sys_lwp_kill(t->lwp->id, sig) : EAGAIN;
}

static void small_cancel(struct thread *t)
{
	uint32_t id = t->bound ? __atomic_load_n(&t->lwp->id, __ATOMIC_SEQ_CST) : 0;

	if (id == 0)
		return;
	__cancel_call(id, t);
	__sys_lwp_unpark(id);
}

static void around_fork(void)
{
}

/* The child has the LWP of the caller, and no other LWP of the pool. */
static void small_forked(bool had_others)
{
	struct thread *self = thread_self(), *c = self->bound ? NULL : context_of(self);

	if (had_others)
		__sleepq_forked();
	__lwps = c != NULL;
	if (c != NULL) {
		__context[0] = c;
		c->arg = 0;
	}
	__sched_init();
}

static const struct model_ops ops = {
	.init = small_init,
	.lock = __sched_lock,
	.unlock = __sched_unlock,
	.one_lock_wait = one_lock_wait,
	.timed_hold_over = no_timed_hold,
	.block = __sched_block,
	.sleep = small_sleep,
	.wake = __sched_wake,
	.wake_one = small_wake_one,
	.prepare_timed = small_prepare_timed,
	.create = small_create,
	.exit = small_exit,
	.yield = __sched_yield,
	.suspend = small_suspend,
	.resume = small_resume,
	.set_priority = small_set_priority,
	.kill = small_kill,
	.cancel = small_cancel,
	.set_concurrency = small_set_concurrency,
	.before_fork = around_fork,
	.after_fork = around_fork,
	.forked = small_forked,
	.reap = __stacks_trim,
};

const struct model __model_mxn = {
	.name = "mxn",
	.ops = &ops,
	.scope = SCOPE_EITHER,
	.options = OPT_SPIN | OPT_QUEUE | OPT_SCHEDCTL | OPT_CONCURRENCY,
	.defaults = {.spin = SPIN_ADAPTIVE,
		     .fifo = true,
		     .schedctl = true,
		     .concurrency = 1,
		     .max_concurrency = LWPS_MOST},
};
