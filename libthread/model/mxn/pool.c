/*
 * pool.c - the LWPs of the pool.
 *
 * An LWP of the pool is represented by its scheduler context.  A context is a struct thread that is
 * no thread of the program; it has a small stack, and its own_lwp is the LWP's record.  The LWP
 * runs the context when it has no thread to run.  Threads switch to each other without it.
 *
 * While an LWP runs its context it takes no signals (`idle` in weft/schedctl.h), so no handler ever
 * runs there.
 *
 * An idle LWP stands in the list of idle LWPs and parks.  The waker of a thread takes an LWP from
 * the list, the latest first, and makes the two partners: the thread is Dispatchable, and this LWP
 * runs it.
 *
 * *Race:* the idle LWP has looked at partner and is about to park; the waker sets partner and
 * unparks.  *Without this:* the LWP sleeps on, and its thread does not run; *closed by:* the unpark
 * comes after partner is set and leaves a permit, and the LWP looks at partner after every return
 * from park.  A late or an extra unpark does no harm.
 *
 * `asked` is the concurrency that the program wants: the hint, the option, THR_NEW_LWP.  It only
 * grows.  `wanted` is the number of LWPs that there should be now.  It is larger than `asked` when
 * the pool has grown because all its LWPs were blocked (grow.c).  As in Solaris, an LWP beyond
 * `asked` ages, and exits when it has been idle for five minutes (aging=SECONDS).
 *
 * When a thread is suspended while it runs, its LWP stops with it, and another LWP takes its place.
 * When the thread goes on, there is one LWP too many, and the next LWP that is idle exits.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include "mxn.h"

#define CONTEXT_STACK 16384

int __pool_size;          /* LWPs that run threads; _schedlock */
static int asked, wanted; /* _schedlock */
bool __pool_ready;
struct thread *__pool_idle; /* linked by run_next; _schedlock */
struct thread *__pool_contexts;

struct thread *__pool_take_idle(void)
{
	struct thread *c = __pool_idle;

	if (likely(c == NULL))
		return NULL;
	__pool_idle = c->run_next;
	c->parked = false;
	return c;
}

/* One LWP too many: ends the calling LWP.  Called with _schedlock held; releases it. */
static void __attribute__((noreturn)) lwp_retire(struct thread *self)
{
	struct thread **p = &__pool_contexts;

	while (*p != self)
		p = &(*p)->list_next;
	*p = self->list_next;
	__pool_size--;
	critical_enter();
	schedunlock();
	ilock_lock(&__threads_lock);
	__thread_put(self);
	ilock_unlock(&__threads_lock);
	__lwp_leave(self);
}

/*
 * The calling LWP has been idle for the time of aging.  Ends it, unless it is needed or asked for.
 */
static void lwp_aged(struct thread *self)
{
	struct thread **p = &__pool_idle;

	schedlock();
	if (self->parked && __pool_size > asked) {
		while (*p != self)
			p = &(*p)->run_next;
		*p = self->run_next;
		wanted--;
		PROBE(pool_gone, "why size", PROBE_AGED, __pool_size, 0);
		lwp_retire(self);
	}
	schedunlock();
}

/* Parks until there is a partner.  Called with _schedlock held; releases it. */
static void wait_for_partner(struct thread *self)
{
	deadline_t deadline = NEVER;

	self->run_next = __pool_idle;
	__pool_idle = self;
	self->parked = true;
	if (__pool_size > asked)
		deadline = gethrtime() + __options.aging * 1000000000ul;
	schedunlock();
	while (__atomic_load_n(&self->partner, __ATOMIC_ACQUIRE) == NULL &&
	       __atomic_load_n(&self->parked, __ATOMIC_ACQUIRE)) {
		if (__lwp_park(deadline, 0) == -ETIMEDOUT) {
			lwp_aged(self);
			deadline = NEVER;
		}
	}
}

/* A real-time thread may have entered the run queue since partner was chosen. */
static struct thread *instead_of(struct thread *partner)
{
	if (__runq_top() < PRI_REALTIME || __runq_top() <= partner->pri)
		return partner;
	partner->state = TS_RUNQUEUE;
	PROBE(thread_state, "thread state", partner, TS_RUNQUEUE, 0);
	__runq_push_head(partner);
	return __runq_pop();
}

/* What an LWP does when it runs no thread.  thr_suspend may have taken the partner away again. */
static void __attribute__((noreturn)) lwp_scheduler(struct thread *self)
{
	for (;;) {
		struct thread *next;

		if (unlikely(!__pool_ready)) /* without an ASLWP its signals stay unseen */
			__services_start();
		schedlock();
		next = self->partner;
		self->partner = NULL;
		if (next == NULL)
			next = __runq_pop();
		else if (unlikely(__runq.above != 0))
			next = instead_of(next);
		if (next != NULL)
			switch_to(self, next);
		else if (__pool_size > wanted) {
			PROBE(pool_gone, "why size", PROBE_TOO_MANY, __pool_size, 0);
			lwp_retire(self);
		} else
			wait_for_partner(self);
	}
}

/* Where an LWP begins.  Its creator had blocked all signals. */
static void scheduler_first(struct thread *self)
{
	PROBE(pool_begin, "context", self, 0, 0);
	self->lwp->sc->idle = 1;
	schedlock();
	self->list_next = __pool_contexts;
	__pool_contexts = self;
	schedunlock();
	__sys_sigprocmask(SIG_SETMASK, &self->sigmask, NULL);
	lwp_scheduler(self);
}

/* Where the context of the first LWP begins: a switch enters it. */
static void scheduler_after(void)
{
	lwp_scheduler(thread_self());
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
	c->parked = false;
	c->on_stack = 1;
	c->partner = NULL;
	save_fp_control(&c->fp_control);
	return c;
}

/* Adds an LWP to the pool; __pool_size counts it already.  0, EAGAIN, ENOMEM. */
static int add_lwp(void)
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
		short_of = __pool_size < wanted;
		__pool_size += short_of;
		schedunlock();
		if (!short_of)
			return 0;
		PROBE(pool_lwp, "why size", PROBE_ASKED, __pool_size, 0);
		error = add_lwp();
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
	if (level > asked)
		asked = level;
	if (asked > wanted)
		wanted = asked;
	schedunlock();
	error = pool_fill();
	if (error != 0 && level > 0) {
		schedlock();
		asked = wanted = __pool_size;
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

int __pool_make_ready(void)
{
	int error = pool_fill();

	/*
	 * In a child of fork there may be fewer LWPs than the parent asked for.  A thread can be
	 * created all the same.
	 */
	if (error != 0 && __pool_size > 0)
		error = 0;
	if (error == 0)
		__services_start();
	return error;
}

bool __pool_grow(void)
{
	bool more;

	schedlock();
	more = __runq_top() >= 0 && __pool_size < __options.max_concurrency;
	__pool_size += more;
	if (__pool_size > wanted)
		wanted = __pool_size;
	PROBE(pool_look, "grows size", more, __pool_size, 0);
	schedunlock();
	if (!more || add_lwp() == 0)
		return true;
	schedlock();
	if (wanted > asked)
		wanted--;
	schedunlock();
	return false;
}

/* The first LWP, which runs the first thread, is the first LWP of the pool. */
void __pool_init(void)
{
	struct thread *main = thread_self(), *c = new_context();

	ASSERT(c != NULL);
	__lwp_adopt(&c->own_lwp, main->own_lwp.sc);
	main->lwp = &c->own_lwp;
	c->lwp = &__nowhere;
	mxn_prepare(c, scheduler_after);
	__pool_contexts = c;
	c->list_next = NULL;
	__pool_size = asked = wanted = 1;
	/* The program starts also with fewer LWPs than it asked for. */
	__pool_set_concurrency(__options.concurrency);
}

/*
 * If the thread that forked was unbound, its LWP is the pool.  If it was bound, the pool is empty.
 * The other LWPs that the parent had asked for are added when an unbound thread is created.
 */
void __pool_forked(struct thread *self)
{
	__pool_idle = NULL;
	__pool_size = !self->bound;
	__pool_contexts = NULL;
	if (!self->bound) {
		__pool_contexts = context_of(self);
		__pool_contexts->list_next = NULL;
		self->lwp->told = false;
	}
	wanted = asked = asked > 0 ? asked : 1;
}
