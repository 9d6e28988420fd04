/*
 * pool.c - the LWPs of the pool.
 *
 * An LWP of the pool is represented by its scheduler context: a struct thread that is no
 * thread of the program, with a small stack, in whose own_lwp the LWP lives.  The LWP runs
 * it when there is nothing else to run; threads switch to each other without it.
 *
 * An idle LWP stands in the list of idle ones and parks.  Who makes a thread runnable
 * takes an LWP from the list, the latest first, and makes the two partners: the thread is
 * Dispatchable, and it is that LWP that runs it.  No wake-up is lost: partner is set, and
 * then the LWP is unparked; it looks at partner after every return from park, and whether
 * it came late or for nothing makes no difference.
 *
 * `wanted` is the concurrency that there should be.  It only grows: the hint, the option,
 * THR_NEW_LWP.  When a thread is suspended while it runs, its LWP stops with it, and
 * another takes its place; when it goes on, there is one too many, and the next that is
 * idle leaves.
 */
#include <errno.h>
#include "mxn.h"

#define CONTEXT_STACK 16384

int __pool_size;            /* LWPs that run threads; _schedlock */
static int wanted;          /* _schedlock */
struct thread *__pool_idle; /* linked by run_next; _schedlock */

struct thread *__pool_take_idle(void)
{
	struct thread *c = __pool_idle;

	if (likely(c == NULL))
		return NULL;
	__pool_idle = c->run_next;
	c->parked = false;
	return c;
}

/* One LWP too many: ends the calling one.  Called with _schedlock, which it gives up. */
static void __attribute__((noreturn)) retire(struct thread *self)
{
	__pool_size--;
	critical_enter();
	schedunlock();
	ilock_lock(&__threads_lock);
	__thread_put(self);
	ilock_unlock(&__threads_lock);
	__lwp_leave(self);
}

/* Parks until there is a partner.  Called with _schedlock, which it gives up. */
static void wait_for_partner(struct thread *self)
{
	self->run_next = __pool_idle;
	__pool_idle = self;
	self->parked = true;
	schedunlock();
	while (__atomic_load_n(&self->partner, __ATOMIC_ACQUIRE) == NULL &&
	       __atomic_load_n(&self->parked, __ATOMIC_ACQUIRE))
		__sys_lwp_park(NULL, 0);
}

/*
 * What an LWP does when it runs no thread.  A partner may have been taken away again by
 * thr_suspend.
 */
static void __attribute__((noreturn)) scheduler(struct thread *self)
{
	for (;;) {
		struct thread *next;

		schedlock();
		next = self->partner;
		self->partner = NULL;
		if (next == NULL)
			next = __runq_pop();
		if (next != NULL)
			switch_to(self, next);
		else if (__pool_size > wanted)
			retire(self);
		else
			wait_for_partner(self);
	}
}

/* The context of the first LWP is entered by a switch; all others begin in `scheduler`. */
static void scheduler_after(void)
{
	scheduler(thread_self());
}

/* NULL: out of memory. */
static struct thread *new_context(void)
{
	struct thread *c = __thread_get(CONTEXT_STACK, WEFT_PAGE_SIZE, NULL);

	if (c == NULL)
		return NULL;
	c->self = c;
	c->reent = NULL;
	c->lwp = &c->own_lwp;
	c->state = TS_ONLWP;
	c->special = 0;
	c->bound = true; /* a handler that blocks or yields here keeps the LWP */
	c->exited = false;
	c->sigmask = thread_self()->sigmask;
	c->masked = thread_self()->masked;
	c->sigkept = 0;
	c->cancel_all = 0;
	c->parked = false;
	c->on_stack = 1;
	c->partner = NULL;
	save_fp_control(&c->fp_control);
	return c;
}

/* A new LWP for the pool; `size` counts it already.  0, EAGAIN, ENOMEM. */
static int add_lwp(void)
{
	struct thread *c = new_context();
	int error = EAGAIN;

	if (c != NULL) {
		error = __lwp_start(c, scheduler, false);
		if (error == 0)
			return 0;
		ilock_lock(&__threads_lock);
		c->on_stack = 0;
		__thread_put(c);
		ilock_unlock(&__threads_lock);
	}
	schedlock();
	__pool_size--;
	schedunlock();
	return error;
}

static int fill(void)
{
	int error = 0;

	for (;;) {
		bool short_of;

		schedlock();
		short_of = __pool_size < wanted;
		__pool_size += short_of;
		schedunlock();
		if (!short_of)
			return 0;
		error = add_lwp();
		if (error != 0)
			return error;
	}
}

/* On failure there are as many as before, or a few more. */
int __pool_set_concurrency(int level)
{
	int error;

	schedlock();
	if (level > __options.max_concurrency)
		level = __options.max_concurrency;
	if (level > wanted)
		wanted = level;
	schedunlock();
	error = fill();
	if (error != 0 && level > 0) {
		schedlock();
		wanted = __pool_size;
		schedunlock();
	}
	return error;
}

int __pool_one_more(void)
{
	int level;

	schedlock();
	level = __pool_size + 1;
	schedunlock();
	return __pool_set_concurrency(level);
}

void __pool_stopped(int change)
{
	__pool_size -= change;
}

/* The first LWP, which runs the first thread, is the first of the pool. */
void __pool_init(void)
{
	struct thread *main = thread_self(), *c = new_context();

	ASSERT(c != NULL);
	__lwp_adopt(&c->own_lwp, main->own_lwp.sc);
	main->lwp = &c->own_lwp;
	c->lwp = &__nowhere;
	__mxn_prepare(c, scheduler_after);
	__pool_size = wanted = 1;
	/* Fewer than asked for are fewer, and no reason not to start. */
	__pool_set_concurrency(__options.concurrency);
}

/*
 * The LWP of a thread that forked is the pool, unless that thread was bound: then there is
 * none until an unbound thread is created.
 */
void __pool_forked(struct thread *self)
{
	__pool_idle = NULL;
	__pool_size = wanted = !self->bound;
}
