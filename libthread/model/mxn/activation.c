/*
 * activation.c - the pool on scheduler activations (weft/lwp.h): what model sa does instead of idle.c
 * and grow.c.
 *
 * The kernel keeps as many LWPs of the pool running as the process has CPUs.  An LWP of the pool is in
 * one of these states:
 *
 *	it runs a thread	and has a CPU
 *	idle			it has a CPU and no thread, and stands in __pool_idle
 *	spare			it has no CPU.  It gets the CPU of the next LWP that blocks in the kernel
 *	blocked			in a system call of its thread
 *
 * An LWP whose system call ends while all CPUs are in use is a surplus LWP: its thread enters the run
 * queue, and the LWP becomes a spare (__activation_upcall).  So the pool has as many LWPs as CPUs, and
 * one LWP more for each thread that is blocked in the kernel.  One spare at least is always kept or under
 * way, so that each block finds one.  The pool has no other limit: at a limit all LWPs might be blocked until
 * a thread goes on that waits in the run queue.
 *
 * An unblocked LWP may take the CPU of an idle LWP silently.  The waker then unparks the idle LWP for
 * nothing: it gets no CPU (surplus), gives its partner back, and becomes a spare (partner_give_back).
 *
 * Whenever a thread is in the run queue, no LWP of the pool is idle, as in mxn.  It may be that all CPUs
 * are in use by threads that compute.  So there are time slices, which the kernel's timer ends: waiting.c.
 *
 * Signals.  No LWP is kept for a signal of the process that no LWP takes (the ASLWP of mxn).  The kernel makes an LWP
 * of the pool look for a thread that takes it: an idle LWP or a spare, in its context (look.c).
 *
 * All static variables are under _schedlock.
 */
#include <errno.h>
#include <weft/lwp.h>
#include "local.h"

#define IDLE_TURNS 800 /* some 9,000 instructions */

static bool activated;
static unsigned cpus; /* that the process asks for */
static bool spins;    /* may an idle LWP spin before it sleeps? */
static int spares;    /* LWPs in upcall_idle(UPCALL_SPARE), or about to call it */
static int coming;    /* LWPs that have been created and will be spares */
static bool refused;  /* a spare could not be created */

/* For aging: LWPs that were spares through a whole period are not needed. */
static deadline_t period_end;
static int least;    /* the smallest number of spares in this period */
static int unneeded; /* of the period before; as many may still exit */

static void activate(void)
{
	activated = true;
	__sys_upcall_activate(cpus | (__options.surplus_leaves ? 0 : UPCALL_STAY));
}

/* Is there no spare?  If so, the caller creates one: spare_create. */
static bool spare_missing(void)
{
	if (spares + coming > 0 || __pool_size >= __options.max_concurrency)
		return false;
	coming++;
	__pool_size++;
	return true;
}

static bool spare_created(void)
{
	PROBE(pool_lwp, "why size", PROBE_SPARE, __pool_size, 0);
	if (__pool_add_lwp() == 0)
		return true;
	schedlock();
	coming--;
	refused = true;
	schedunlock();
	return false;
}

/* If there is no memory, the reaper tries again at each tick: no other LWP may be left that runs. */
static void spare_create(void)
{
	if (!spare_created())
		__reap();
}

/* The calling LWP is about to be a spare.  Is it one too many? */
static bool spare_aged(void)
{
	deadline_t now = gethrtime();

	if (now >= period_end) {
		period_end = now + __options.aging * 1000000000ul;
		unneeded = least - 1;
		least = spares;
	}
	if (spares == 0 || unneeded <= 0)
		return false;
	unneeded--;
	return true;
}

/* Called with _schedlock held; releases it.  Returns when the LWP may look for a thread. */
static void spare_wait(struct thread *self)
{
	bool missing;
	long r;

	if (__runq_local)
		__local_leave(self->lwp);
	if (spare_aged()) {
		PROBE(pool_gone, "why size", PROBE_AGED, __pool_size, 0);
		__waiting_leave(self);
		__pool_retire(self);
	}
	spares++;
	schedunlock();
	r = __sys_upcall_idle(UPCALL_SPARE);
	schedlock();
	spares--;
	if (r > 0 && __runq_local)
		__local_leave_blocked(r);
	if (spares < least)
		least = spares;
	missing = r >= 0 && spare_missing();
	schedunlock();
	if (missing)
		spare_create();
}

/* self stands in the list of idle LWPs, unless a waker has taken it out. */
static void idle_list_leave(struct thread *self)
{
	struct thread **p = &__pool_idle;

	if (!self->parked)
		return;
	while (*p != self)
		p = &(*p)->run_next;
	*p = self->run_next;
	self->parked = false;
}

/*
 * idle=spin.  The LWP waits in user mode for IDLE_TURNS before it sleeps.  A waker gives it a thread by
 * the store to `partner` alone, without a system call.  The LWP is in a critical section meanwhile: a
 * kernel that wants its CPU for another LWP sets `yield` (weft/schedctl.h), and the LWP stops spinning at
 * once.  Its sleep clears `yield`.
 *
 * Called in a critical section, without _schedlock.  False: the LWP has been taken out of the list.
 *
 * *Race:* the spin is over, and a waker, which finds an LWP that spins, makes no unpark; *without this:*
 * the LWP sleeps, and its thread does not run; *closed by:* the LWP says under the lock that it spins no
 * more, and looks there whether it is still in the list.
 */
static bool idle_spin(struct thread *self)
{
	const struct section *c = self->critical;
	bool parked;

	for (int i = 0; i < IDLE_TURNS && c->yield == 0; i++) {
		if (!__atomic_load_n(&self->parked, __ATOMIC_ACQUIRE))
			return false;
		spin_hint();
	}
	schedlock();
	self->spins = false;
	parked = self->parked;
	schedunlock();
	return parked;
}

/* Called with _schedlock held; releases it.  An unpark for nothing ends the wait, too. */
static void idle_wait(struct thread *self)
{
	self->run_next = __pool_idle;
	__pool_idle = self;
	self->parked = true;
	self->saved = false;
	self->spins = spins;
	if (spins)
		critical_enter();
	schedunlock();
	if (!spins || idle_spin(self)) {
		__sys_upcall_idle(__options.idle_leave ? UPCALL_LEAVE : UPCALL_IDLE);
		if (unlikely(__atomic_load_n(&self->parked, __ATOMIC_ACQUIRE))) {
			schedlock();
			idle_list_leave(self);
			schedunlock();
		}
	}
	if (spins)
		critical_exit();
}

/*
 * The caller's LWP is not to run next, its partner.  *Race:* a waker makes an idle LWP the partner of a
 * thread, and meanwhile an LWP that unblocks takes the last CPU; *without this:* the idle LWP becomes a
 * spare with its partner, and the thread does not run; *closed by:* the partner enters the run queue
 * before the LWP becomes a spare.
 */
static void partner_give_back(struct thread *next)
{
	uint32_t unpark = __make_runnable(next);

	schedunlock();
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
}

/* A new LWP has no CPU yet, and is a spare first. */
static void activation_begins(struct thread *self)
{
	self->lwp->sc->surplus = 1;
	schedlock();
	if (!activated) /* in a child of fork */
		activate();
	if (coming > 0)
		coming--;
	__waiting_begin();
	schedunlock();
}

static struct thread *thread_to_run(void)
{
	struct thread *next = __runq_pop();

	return next == NULL && __runq_local ? __local_pop() : next;
}

/*
 * Called with _schedlock held; releases it.  An LWP that has a CPU, and no thread to run, stands in the list of idle
 * LWPs meanwhile, as an LWP that spins: so the thread that it finds becomes its partner, and no other LWP is
 * unparked for this thread.
 */
static void look_for_takers(struct thread *self)
{
	struct schedctl *sc = self->lwp->sc;

	if (sc->surplus || self->partner != NULL || __runq_top() >= 0) {
		schedunlock();
		__signals_look(sc);
		return;
	}
	self->run_next = __pool_idle;
	__pool_idle = self;
	self->parked = self->spins = true;
	schedunlock();
	__signals_look(sc);
	schedlock();
	self->spins = false;
	idle_list_leave(self);
	schedunlock();
}

/*
 * Called with _schedlock held; releases it.  The kernel has something for the LWP, which runs no thread: to look for
 * signals, or to wait for a CPU.  next: its partner, or NULL.
 */
static void attend(struct thread *self, struct thread *next)
{
	if (self->lwp->sc->look) {
		self->partner = next;
		look_for_takers(self);
	} else if (next != NULL) {
		partner_give_back(next);
	} else {
		spare_wait(self);
	}
}

/*
 * The LWP of this context goes on with next.  A plain thread needs of __masks_move only that signals may come again, unless the
 * thread before has left a mask or a stack of its own (carries).
 */
static inline void context_leaves(struct thread *self, struct thread *next)
{
	if (unlikely(next->special != 0 || self->carries != 0)) {
		switch_to(self, next);
		return;
	}
	__atomic_store_n(&self->lwp->sc->idle, 0, __ATOMIC_RELEASE);
	switch_plain(self, next);
}

/*
 * Goes on with the partner, under the run_lock alone, if both are plain and the partner's registers are saved.
 *
 * *Race:* thr_suspend finds that a thread is Dispatchable, and the idle LWP takes the thread; *without this:* the thread runs on
 * although it is Stopped; *closed by:* the run_lock, with which the LWP looks at its partner.  thr_suspend holds all
 * run_locks (__local_freeze).
 *
 * *Race:* a thread whose LWP has no CPU makes itself the partner of an idle LWP (leave_surplus, leave_preempted), and this LWP takes
 * it; *without this:* the thread runs on with old registers, on a stack in use; *closed by:* `saved`, which only the
 * waker of a thread that is off its stack sets (local_to_idle).  For any other partner the LWP waits for _schedlock.
 *
 * *Race:* the LWP finds no thread of a priority in the run queue, and takes its partner; a real-time thread enters the run queue, and
 * looks for an LWP to ask, but not at idle ones (__realtime_look); *without this:* the real-time thread waits for the end of a slice;
 * *closed by:* the second look at `above`, after the store to `idle`.  A real-time thread is counted in `above` before `idle` is
 * read.  All four are sequentially consistent, so one of the two sees the other.
 */
static inline bool partner_run_local(struct thread *self)
{
	struct ulwp *l = self->lwp;
	struct thread *next;

	if (unlikely(!self->saved || self->carries != 0))
		return false;
	critical_enter();
	if (unlikely(!ilock_try(&l->run_lock))) {
		critical_exit();
		return false;
	}
	next = self->partner;
	if (unlikely(next == NULL || (next->special | __runq.above) != 0 || l->sc->attend != 0)) {
		ilock_unlock(&l->run_lock);
		return false;
	}
	__atomic_store_n(&l->sc->idle, 0, __ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&__runq.above, __ATOMIC_SEQ_CST) != 0)) {
		l->sc->idle = 1;
		ilock_unlock(&l->run_lock);
		return false;
	}
	self->partner = NULL;
	local_hand_over(self, next, l);
	return true;
}

/*
 * The LWP was idle.  Goes on with its partner if there is nothing else to do.  A function of its own, because the compiler saves
 * room, not time, in activation_scheduler, which does not return.
 */
static void __attribute__((noinline)) partner_run(struct thread *self)
{
	struct thread *next;

	if (__runq_local && partner_run_local(self))
		return;
	schedlock();
	next = self->partner;
	if (unlikely(next == NULL || self->lwp->sc->attend != 0 || __runq.above != 0)) {
		schedunlock();
		return;
	}
	self->partner = NULL;
	context_leaves(self, next);
}

/* What an LWP does when it runs no thread: __pool_scheduler of sa. */
static void activation_scheduler(struct thread *self)
{
	if (self->rsp == 0) /* else a switch has come here: the first LWP of the process */
		activation_begins(self);
	for (;;) {
		struct thread *next;

		if (unlikely(self->lwp->sc->yield)) /* leave_preempted, with schedctl=off */
			__sys_lwp_yield();
		/* The first thread may block before it has created another. */
		if (unlikely(!__pool_ready))
			__pool_make_ready();
		schedlock();
		next = self->partner;
		self->partner = NULL;
		if (unlikely(self->lwp->sc->attend != 0)) {
			attend(self, next);
			continue;
		}
		if (next == NULL)
			next = thread_to_run();
		else if (unlikely(__runq.above != 0))
			next = __realtime_instead_of(next);
		if (next != NULL) {
			context_leaves(self, next);
		} else {
			idle_wait(self);
			partner_run(self);
		}
	}
}

/*
 * Called with _schedlock held; releases it.  The caller's LWP has no CPU: the caller waits in the queue.
 *
 * *Race:* a real-time thread enters the run queue, and asks an LWP for its thread; this LWP is about to leave as a surplus one;
 * *without this:* the real-time thread waits for the end of a slice, because no other LWP is asked; *closed by:* the caller asks
 * another LWP.  The same holds for leave_preempted.
 */
static void leave_surplus(struct thread *self)
{
	struct thread *context = context_of(self);
	bool asked = self->lwp->told;
	uint32_t unpark;

	self->lwp->told = false;
	unpark = __make_runnable(self);
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
	prepare_switch(self, context);
	if (asked)
		__realtime_look(__runq_top(), false);
	__mxn_switch(self, context, lwp_hand_over(self, context));
}

/*
 * Called with _schedlock held; releases it.  The caller's LWP is to leave its CPU to another process.  So
 * the caller goes to an idle LWP or to the run queue, where another LWP may take it.  The LWP yields as it
 * releases the lock, and then looks for a thread again, mostly the caller.
 */
static void leave_preempted(struct thread *self)
{
	struct thread *context = context_of(self);
	bool asked = self->lwp->told;
	uint32_t unpark = 0;

	self->lwp->told = false;
	if (__pool_idle == WAITING_UNTOLD)
		__waiting_tell();
	if (__pool_idle != NULL) {
		unpark = __make_runnable(self);
	} else {
		self->state = TS_RUNQUEUE;
		PROBE(thread_state, "thread state", self, TS_RUNQUEUE, 0);
		__runq_push_head(self);
		__realtime_look(self->pri, false);
	}
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
	prepare_switch(self, context);
	if (asked)
		__realtime_look(__runq_top(), false);
	__mxn_switch(self, context, lwp_hand_over(self, context));
}

/*
 * Where an LWP enters the library when it has unblocked and all CPUs are in use, when another process is
 * to have its CPU, at the end of a time slice, or when it has been asked to look for a real-time thread.
 * Called like a signal handler, at any place outside a critical section.  A context looks by itself.  A
 * thread for which others wait (no_suspend) goes on first, and comes again as soon as they wait no more.
 */
static void activation_upcall(void)
{
	struct thread *self = thread_self();

	if (self->bound)
		return;
	schedlock();
	__waiting_look();
	if (self->no_suspend != 0) {
		self->no_suspend |= LOOK_OWED;
		schedunlock();
	} else if (self->lwp->sc->surplus) {
		leave_surplus(self);
	} else if (self->lwp->sc->yield && __options.hand_over) {
		leave_preempted(self);
	} else if (self->pri < PRI_REALTIME && __runq_top() >= self->pri) {
		self->lwp->told = false;
		__give_up_lwp(self, __runq_top() == self->pri);
	} else {
		schedunlock();
		__mxn_preempted();
	}
}

/* As many LWPs as CPUs run threads, whatever the program asks for. */
static int activation_concurrency(int level)
{
	return 0;
}

/*
 * A signal of the process may have come while no LWP was a spare, and before the new LWP was an LWP of the process.  So
 * the caller looks, too.  All its signals are blocked, so sigpending gets what is pending for the process.
 */
deadline_t __activation_retry(void)
{
	bool missing;

	schedlock();
	missing = refused && spare_missing();
	refused = false;
	schedunlock();
	if (!missing)
		return NEVER;
	if (!spare_created())
		return (deadline_t)gethrtime() + WEFT_TICK_NS;
	__ops->leave_signals(~0ul);
	return NEVER;
}

void __activation_init(void)
{
	__ops->preempted = activation_upcall;
	__ops->set_concurrency = activation_concurrency;
	if (!__options.aslwp)
		__ops->leave_signals = __signals_leave;
	__pool_loop = activation_scheduler;
	__pool_asked = __pool_wanted = 2; /* the first thread's, and a spare */
	cpus = __options.concurrency < (int)__ncpu ? __options.concurrency : (int)__ncpu;
	spins = __options.idle_spin && cpus > 1;
	__siglwp_catch();
	__waiting_init();
	activate();
	if (cpus > 1 && __options.own_queues)
		__local_init();
}

/* self is the only thread of a child of fork. */
void __activation_forked(struct thread *self)
{
	spares = coming = 0;
	refused = false;
	__waiting_init();
	activated = false;
	if (__runq_local)
		__local_forked();
	if (!self->bound)
		activate();
}
