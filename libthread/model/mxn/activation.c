/*
 * activation.c - the pool on scheduler activations (weft/lwp.h): what model sa does instead of idle.c
 * and grow.c.
 *
 * The kernel keeps as many LWPs of the pool running as the process has CPUs.  An LWP of the pool is in
 * one of these states:
 *
 *	it runs a thread	and has a CPU
 *	idle			it has a CPU and no thread, and can be claimed (claim.c)
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
 * Whenever a thread is in the run queue or in the list of an LWP, no LWP of the pool is idle, as in mxn.  It may be that all CPUs
 * are in use by threads that compute.  So there are time slices, which the kernel's timer ends: waiting.c.
 *
 * Signals.  No LWP is kept for a signal of the process that no LWP takes (the ASLWP of mxn).  The kernel makes an LWP
 * of the pool look for a thread that takes it: an idle LWP or a spare, in its context (look.c).
 *
 * All static variables are under _schedlock.
 */
#include <errno.h>
#include <weft/lwp.h>
#include "claim.h"
#include "local.h"

#define IDLE_TURNS 800 /* some 9,000 instructions */

static bool activated;
static unsigned cpus;      /* that the process asks for */
static bool spins;         /* may an idle LWP spin before it sleeps? */
static int spares;         /* LWPs in upcall_idle(UPCALL_SPARE), or about to call it */
static int coming;         /* LWPs that have been created and will be spares */
static bool refused;       /* a spare could not be created */
static uint8_t slice_seen; /* the last slice that has ended, as far as the library knows */

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
		__idle_unlist(self); /* its memory may become a thread */
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

/*
 * idle=spin.  The LWP waits in user mode for IDLE_TURNS before it sleeps.  A waker gives it a thread by
 * the store to `partner` alone, without a system call.  The LWP is in a critical section meanwhile: a
 * kernel that wants its CPU for another LWP sets `yield` (weft/schedctl.h), and the LWP stops spinning at
 * once.  Its sleep clears `yield`.
 *
 * Called in a critical section, without _schedlock.  False: the LWP has its partner.
 *
 * *Race:* the spin is over, and a waker, which finds an LWP that spins, makes no unpark; *without this:* the LWP sleeps, and its
 * thread does not run; *closed by:* the LWP says that it spins no more before it looks whether it is claimed, and a waker
 * looks whether the LWP spins after it has claimed the LWP.  All four are sequentially consistent.
 */
static bool idle_spin(struct thread *self)
{
	const struct section *c = self->critical;

	for (int i = 0; i < IDLE_TURNS && c->yield == 0; i++) {
		if (__atomic_load_n(&self->parked, __ATOMIC_ACQUIRE) == PARKED_NOT)
			return false;
		spin_hint();
	}
	__atomic_store_n(&self->spins, false, __ATOMIC_SEQ_CST);
	return __idle_still(self);
}

/* Called with _schedlock held; releases it. */
static void idle_wait(struct thread *self)
{
	__idle_enter(self, spins);
	if (spins)
		critical_enter();
	schedunlock();
	if (!spins || idle_spin(self))
		__idle_sleep(self);
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
 * Called with _schedlock held; releases it.  An LWP that has a CPU, and no thread to run, is idle meanwhile, as an LWP that spins: so
 * the thread that it finds becomes its partner, and no other LWP is unparked for this thread.
 *
 * *Race:* an idle LWP is told of a signal; a waker, which finds that this LWP is not idle, opens the lists of threads; *without
 * this:* the LWP is idle again after it has looked, although the woken thread waits in a list; *closed by:* the look at
 * __local_open, as all that an LWP must find before it enters the list of idle LWPs (claim.c).
 */
static void look_for_takers(struct thread *self)
{
	struct schedctl *sc = self->lwp->sc;

	if (sc->surplus || self->partner != NULL || __runq_top() >= 0 || __local_open) {
		schedunlock();
		__signals_look(sc);
		return;
	}
	__idle_enter(self, true);
	schedunlock();
	__signals_look(sc);
	__idle_end(self);
}

/*
 * Called with _schedlock held.  Has the kernel ended the slice of the LWP's thread?
 *
 * All slices end together.  So the first LWP that finds the number of a slice also takes their places from kept threads, which have
 * left their LWPs within this slice.  Without this: another thread has the LWP whenever a slice ends, and the thread that it
 * interrupts has the first place each time; threads of equal priority wait for ever.
 */
static bool slice_take(struct schedctl *sc)
{
	uint8_t slice = __atomic_exchange_n(&sc->slice_over, 0, __ATOMIC_RELAXED);

	if (slice == 0)
		return false;
	if (slice != slice_seen) {
		slice_seen = slice;
		__slice_keep_none();
	}
	return true;
}

/*
 * Called with _schedlock held; releases it.  The kernel has something for the LWP, which runs no thread: a slice has ended, or the LWP
 * is to look for signals, or to wait for a CPU.  next: its partner, or NULL.
 */
static void attend(struct thread *self, struct thread *next)
{
	if (slice_take(self->lwp->sc)) {
		self->partner = next;
		schedunlock();
	} else if (self->lwp->sc->look) {
		self->partner = next;
		look_for_takers(self);
	} else if (next != NULL) {
		partner_give_back(next);
	} else {
		spare_wait(self);
	}
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
		if (!spins && __idle_again(self))
			continue;
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
			__partner_run(self);
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
 * Called with _schedlock held; releases it.  The caller's LWP is to leave its CPU to another LWP.  So
 * the caller goes to an idle LWP or to the run queue, where another LWP may take it.  The LWP yields as it
 * releases the lock, and then looks for a thread again, mostly the caller.  over: the caller's slice is over, too.
 */
static void leave_preempted(struct thread *self, bool over)
{
	struct thread *context = context_of(self);
	bool asked = self->lwp->told;
	uint32_t unpark = 0;

	self->lwp->told = false;
	if (__idle_any() && __pool_idle == WAITING_UNTOLD)
		__waiting_tell();
	if (__pool_idle != NULL) {
		unpark = __make_runnable(self);
	} else {
		self->state = TS_RUNQUEUE;
		PROBE(thread_state, "thread state", self, TS_RUNQUEUE, 0);
		if (over)
			runq_push(self);
		else
			__slice_keep(self);
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
 * Called like a signal handler, at any place outside a critical section.  A context looks by itself, so its
 * LWP has not to be asked.  A thread for which others wait (no_suspend) goes on first, and comes again as soon as they wait no
 * more.
 */
static void activation_upcall(void)
{
	struct thread *self = thread_self();
	struct ulwp *l = self->lwp;
	bool over;

	if (self->bound) {
		l->told =
			false; /* without _schedlock: at worst, the LWP is asked once more than it has to be */
		return;
	}
	schedlock();
	__waiting_look();
	if (self->no_suspend != 0) {
		self->no_suspend |= LOOK_OWED;
		schedunlock();
		return;
	}
	over = slice_take(l->sc);
	if (over)
		self->owes_slice = self->pri > self->base_pri;
	if (l->sc->surplus) {
		leave_surplus(self);
	} else if (l->sc->yield && __options.hand_over) {
		leave_preempted(self, self->pri < PRI_REALTIME ? over : __realtime_charge(self));
	} else if (self->pri < PRI_REALTIME && __runq_top() + over > self->pri) {
		l->told = false;
		__give_up_lwp(self, over);
	} else {
		__realtime_preempt(self);
	}
}

void __slice_owed(struct ulwp *l)
{
	l->sc->slice_over = slice_seen;
	__sys_lwp_preempt(l->id);
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
