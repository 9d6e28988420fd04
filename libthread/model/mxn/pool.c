/*
 * pool.c - the LWPs of the pool.
 *
 * An LWP of the pool is represented by its scheduler context.  A context is a struct thread that is
 * no thread of the program; it has a small stack, and its own_lwp is the LWP's record.  The LWP
 * runs the context when it has no thread to run (idle.c).  Threads switch to each other without it.
 *
 * `asked` is the concurrency that the program wants: the hint, the option, THR_NEW_LWP.  It only
 * grows.  `wanted` is the number of LWPs that there should be now.  It is larger than `asked` when
 * the pool has grown because all its LWPs were blocked (grow.c).
 *
 * When a thread is suspended while it runs, its LWP stops with it, and another LWP takes its place.
 * When the thread goes on, there is one LWP too many, and the next LWP that is idle exits.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include "mxn.h"

#define CONTEXT_STACK 16384

int __pool_size;   /* LWPs that run threads; _schedlock */
int __pool_asked;  /* _schedlock */
int __pool_wanted; /* _schedlock */
bool __pool_ready;
void (*__pool_loop)(struct thread *) = __pool_scheduler;
struct thread *__pool_contexts;

void __pool_retire(struct thread *self)
{
	struct thread **p = &__pool_contexts;

	while (*p != self)
		p = &(*p)->list_next;
	*p = self->list_next;
	__pool_size--;
	critical_enter();
	schedunlock();
	ilock_lock(&__threads_lock);
	__threads_keep_none(&self->own_lwp);
	__thread_put(self);
	ilock_unlock(&__threads_lock);
	__lwp_leave(self);
}

static void keep_threads(struct ulwp *l)
{
	l->kept = NULL;
	l->may_keep = LWP_KEEPS;
}

/* Where an LWP begins.  Its creator had blocked all signals. */
static void scheduler_first(struct thread *self)
{
	PROBE(pool_begin, "context", self, 0, 0);
	self->lwp->sc->idle = 1;
	keep_threads(self->lwp);
	schedlock();
	self->own_lwp.run =
		(struct run_list){run_end(&self->own_lwp.run), run_end(&self->own_lwp.run)};
	self->list_next = __pool_contexts;
	__pool_contexts = self;
	schedunlock();
	__sys_sigprocmask(SIG_SETMASK, &self->sigmask, NULL);
	__pool_loop(self);
}

/* Where the context of the first LWP begins: a switch enters it. */
static void scheduler_after(void)
{
	__pool_loop(thread_self());
}

/* NULL: out of memory. */
static struct thread *new_context(void)
{
	struct thread *c = __thread_get(CONTEXT_STACK, WEFT_PAGE_SIZE);

	if (c == NULL)
		return NULL;
	c->self = c;
	c->reent = NULL;
	c->lwp = &c->own_lwp;
	c->state = TS_ONLWP;
	c->special = 0;
	c->policy = SCHED_OTHER;
	c->own_lwp.pri = 0;
	c->own_lwp.told = false;
	c->own_lwp.rr = NULL;
	c->bound = true; /* a handler that blocks or yields here keeps the LWP */
	c->exited = false;
	c->sigmask = __base_mask;
	c->sigkept = 0;
	c->cancel_all = 0;
	c->parked = PARKED_NOT;
	c->listed = false;
	c->spins = false;
	c->on_stack = 1;
	c->partner = NULL;
	save_fp_control(&c->fp_control);
	return c;
}

int __pool_add_lwp(void)
{
	struct thread *c = new_context();
	int error = EAGAIN;

	if (c != NULL) {
		error = __lwp_start_blocked(c, scheduler_first, 0, NULL);
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

static int pool_fill(void)
{
	int error = 0;

	for (;;) {
		bool short_of;

		schedlock();
		short_of = __pool_size < __pool_wanted;
		__pool_size += short_of;
		schedunlock();
		if (!short_of)
			return 0;
		PROBE(pool_lwp, "why size", PROBE_ASKED, __pool_size, 0);
		error = __pool_add_lwp();
		if (error != 0)
			return error;
	}
}

/* On failure there are as many LWPs as before, or a few more. */
int __pool_set_concurrency(int level)
{
	int error;

	schedlock();
	if (level > __options.max_concurrency)
		level = __options.max_concurrency;
	if (level > __pool_asked)
		__pool_asked = level;
	if (__pool_asked > __pool_wanted)
		__pool_wanted = __pool_asked;
	schedunlock();
	error = pool_fill();
	if (error != 0 && level > 0) {
		schedlock();
		__pool_asked = __pool_wanted = __pool_size;
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
	return __ops->set_concurrency(level);
}

void __pool_stopped(int change)
{
	__pool_size -= change;
}

int __pool_make_ready(void)
{
	int error = pool_fill();

	/*
	 * In a child of fork there may be fewer LWPs than the parent asked for.  A thread can be
	 * created all the same, except in model sa: without a spare, and the LWP that tries again
	 * to create one, it might never have an LWP.
	 */
	if (error != 0 && __pool_size > 0 && __options.waiting != WAITING_ACTIVATION)
		error = 0;
	if (error == 0)
		__services_start();
	if (error == 0 && __options.waiting == WAITING_ACTIVATION && !__pool_ready)
		error = EAGAIN;
	return error;
}

/* The first LWP, which runs the first thread, is the first LWP of the pool. */
void __pool_init(void)
{
	struct thread *main = thread_self(), *c = new_context();

	ASSERT(c != NULL);
	__lwp_adopt(&c->own_lwp, main->own_lwp.sc);
	main->lwp = &c->own_lwp;
	keep_threads(main->lwp);
	c->lwp = &__nowhere;
	mxn_prepare(c, scheduler_after);
	__pool_contexts = c;
	c->list_next = NULL;
	__pool_size = __pool_asked = __pool_wanted = 1;
	/* The program starts also with fewer LWPs than it asked for. */
	if (__options.waiting != WAITING_ACTIVATION)
		__pool_set_concurrency(__options.concurrency);
}

/*
 * If the thread that forked was unbound, its LWP is the pool.  If it was bound, the pool is empty.
 * The other LWPs that the parent had asked for are added when an unbound thread is created.
 */
void __pool_forked(struct thread *self)
{
	__pool_idle = NULL;
	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next) {
		c->parked = PARKED_NOT; /* a thread's `partner` may still name c: idle_find */
		c->listed = false;
	}
	__pool_size = !self->bound;
	__pool_contexts = NULL;
	if (!self->bound) {
		__pool_contexts = context_of(self);
		__pool_contexts->list_next = NULL;
		self->lwp->told = false;
	}
	__pool_wanted = __pool_asked = __pool_asked > 0 ? __pool_asked : 1;
}
