/*
 * itimer.c - interval timers: setitimer (one of each kind for the process, and by option one
 * for an LWP) and timer_create.
 *
 * All timers are struct itimer, in a list of their process.  A timer of a wall clock is a kernel
 * timer that sends a signal.  Timers of CPU time (VIRTUAL, PROF, the CPU-time clocks of
 * timer_create) share one kernel timer, p->timers.look.  Its function is the look.  The look reads
 * the CPU time of the process and its LWPs.  Then it arms the kernel timer for the earliest moment
 * at which a timer can be due.  So a timer of CPU time is late by up to CPU_LOOK, or by the rest
 * (below) if that is longer, and never early.  The cost of a look depends on the number of timers,
 * not on the number of LWPs (sched/msacct.c).  (In old systems setitimer acted on the calling LWP.
 * The Solaris paper reports that this bug was removed.  WEFT_ITIMER_LWP has the old behaviour.)
 *
 * A timer queues one signal at a time.  An expiry that finds the signal still pending is counted
 * as an overrun, so a slow receiver costs no memory.  The rest is the shortest time between two
 * interrupts of a process's timers.  Expiries in the rest are delivered together, as overruns.  So
 * timers with short intervals cannot use up the CPU time of their process.  The rest grows with
 * the number of timers.  It also grows with the number of LWPs, because a signal may have to ask
 * each LWP whether it takes the signal.
 *
 * A timer with an absolute time of CLOCK_REALTIME moves when that clock is set, with all expiries
 * of its interval.  clock_settime moves it under p->lock alone.  It takes the kernel timer out of
 * its queue if the timer is there.  If the timer's function runs, clock_settime leaves the timer,
 * because the function looks at the new time.  *Race:* after an LWP has cancelled a kernel timer,
 * clock_settime arms it; *without this:* an armed timer is freed, or armed twice; *closed by:* the
 * LWP that cancels first clears by_clock, so clock_settime leaves the timer alone.
 *
 * Locks: p->timers.lock serialises the calls that make, set and delete timers.  It is held while a
 * kernel timer is cancelled; the function of this timer acquires p->lock.  p->lock guards the
 * fields that the function uses.  p->lock and the mutex together guard the list.
 */
#include <kern/cache.h>
#include <kern/clock.h>
#include <kern/cpu.h>
#include <kern/itimer.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/signal.h>
#include <kern/timer.h>
#include <kern/timing.h>
#include <weft/time.h>
#include "itimer.h"

#define CPU_LOOK 1000000ull /* ns: the shortest time between two looks at a process's CPU time */
#define REST 50000ull       /* ns of the rest for each timer of the process, ... */
#define REST_LWP 500ull     /* ... and this for each timer and each of its LWPs */

/* --- its clock -------------------------------------------------------------------------- */

static bool by_cpu_time(const struct itimer *t)
{
	return t->clock != WALL;
}

/* The time of t's clock, out of these CPU times. */
static hrtime_t clock_of(const struct itimer *t, const uint64_t used[NCPUTIME])
{
	return used[IN_USER] + (t->clock == CPU_TIME ? used[IN_SYSTEM] : 0);
}

/* The time of t's clock, which is the CPU time of an LWP.  p->lock held. */
static hrtime_t clock_now_of_lwp(const struct itimer *t)
{
	struct lwp *l = lwp_lock_by_id(t->proc, t->clock_lwp);
	struct mstimes ms;

	if (l == NULL)
		return 0;
	lwp_times(l, &ms);
	spin_release(&l->lock);
	return clock_of(t, (uint64_t[]){ms.ms[MS_USER], ms_system(&ms)});
}

/* The exact time of t's clock, for a system call: it walks the LWPs.  p->lock held. */
static hrtime_t itimer_clock_now(const struct itimer *t)
{
	struct lwp_counts counts;
	struct mstimes ms;

	if (!by_cpu_time(t))
		return time_now();
	if (t->clock_lwp != 0)
		return clock_now_of_lwp(t);
	proc_times(t->proc, &ms, &counts);
	return clock_of(t, (uint64_t[]){ms.ms[MS_USER], ms_system(&ms)});
}

/* --- expiry ------------------------------------------------------------------------------ */

/* The rest: the shortest time between two interrupts of p's timers.  p->lock held. */
static hrtime_t timers_rest(const struct proc *p)
{
	/* A new timer gets the smallest free id, so the largest id bounds the number of timers. */
	unsigned timers = p->timers.ids != 0 ? 64 - __builtin_clzll(p->timers.ids) : 0;

	return timers * (REST + REST_LWP * p->nlwp);
}

/* Sends t's signal, for n expiries at once.  p->lock held. */
static void itimer_notify(struct itimer *t, uint64_t n)
{
	struct proc *p = t->proc;
	struct lwp *l = NULL;

	if (t->silent)
		return;
	if (!list_empty(&t->queued.link)) {
		t->queued.info.overrun = MIN(t->queued.info.overrun + n, (uint64_t)INT32_MAX);
		return;
	}
	if (t->lwpid != 0) {
		l = lwp_lock_by_id(p, t->lwpid);
		if (l == NULL)
			return;
		spin_release(&l->lock); /* with p->lock held, l cannot exit */
	}
	struct weft_siginfo info = {
		.signo = t->signo,
		.code = WEFT_SI_TIMER,
		.value = t->value,
		.timerid = t->id,
		.overrun = MIN(n - 1, (uint64_t)INT32_MAX),
	};
	sig_send_locked(p, l, &info, &t->queued, false);
}

/* The first expiry after `now`, in steps of the interval from its expiry `last`.  *n gets the
 * number of expiries from `last` up to `now`.  HRTIME_NEVER: there is none, or it is too large. */
static hrtime_t next_expiry(const struct itimer *t, hrtime_t last, hrtime_t now, uint64_t *n)
{
	hrtime_t ahead, when;

	*n = 1 + (t->interval != 0 ? (now - last) / t->interval : 0);
	if (t->interval == 0 || __builtin_mul_overflow(*n, t->interval, &ahead) ||
	    __builtin_add_overflow(last, ahead, &when))
		return HRTIME_NEVER;
	return when;
}

/* Makes t expire if it is due.  p->lock held. */
static void expire_if_due(struct itimer *t, hrtime_t now)
{
	uint64_t n;

	if (now < t->expires)
		return;
	if (t->by_clock) {
		t->real = next_expiry(t, t->real, now + t->offset, &n);
		t->expires = clock_monotonic(t->real, t->offset);
	} else {
		t->expires = next_expiry(t, t->expires, now, &n);
	}
	itimer_notify(t, n);
}

/* t->timer's function. */
static void wall_expire(struct ktimer *kt)
{
	struct itimer *t = CONTAINER_OF(kt, struct itimer, timer);
	struct proc *p = t->proc;

	spin_acquire(&p->lock);
	expire_if_due(t, time_now());
	if (t->expires != HRTIME_NEVER && !p->exiting)
		ktimer_arm(kt, MAX(t->expires, time_after(timers_rest(p))), wall_expire);
	spin_release(&p->lock);
	sig_notify_if_due(p);
}

static void cpu_look(struct ktimer *kt);

/* The look: makes the timers of CPU time expire that are due, and arms p->timers.look, which is not
 * armed, for the others.  p->lock held. */
static void cpu_look_locked(struct proc *p)
{
	uint64_t used[NCPUTIME];
	hrtime_t soonest = HRTIME_NEVER;
	bool first = true;

	LIST_FOREACH (&p->timers.list, t, struct itimer, link) {
		if (!by_cpu_time(t) || t->expires == HRTIME_NEVER)
			continue;
		if (t->clock_lwp == 0 && first) {
			sums_now(p, used);
			first = false;
		}
		hrtime_t now = t->clock_lwp != 0 ? clock_now_of_lwp(t) : clock_of(t, used);
		expire_if_due(t, now);
		if (t->expires == HRTIME_NEVER)
			continue;
		/* At most `side` CPUs use up the remaining CPU time at the same time. */
		unsigned side = t->clock_lwp != 0 ? 1 : MAX(MIN(p->nlwp, ncpu), 1u);
		soonest = MIN(soonest, (t->expires - now) / side);
	}
	if (soonest != HRTIME_NEVER && !p->exiting)
		ktimer_arm(&p->timers.look, time_after(MAX(soonest, MAX(CPU_LOOK, timers_rest(p)))),
			   cpu_look);
}

/* p->timers.look's function. */
static void cpu_look(struct ktimer *kt)
{
	struct proc *p = CONTAINER_OF(kt, struct proc, timers.look);

	spin_acquire(&p->lock);
	cpu_look_locked(p);
	spin_release(&p->lock);
	sig_notify_if_due(p);
}

/* --- making and deleting: p->timers.lock held ------------------------------------------ */

struct itimer *itimer_make(struct proc *p, int which, int signo)
{
	struct itimer *t = kzalloc_user(sizeof(*t));

	if (t == NULL || p->timers.ids == ~0ull) {
		kfree(t);
		return NULL;
	}
	t->proc = p;
	t->which = which;
	t->signo = signo;
	t->expires = HRTIME_NEVER;
	t->id = __builtin_ctzll(~p->timers.ids);
	t->queued.overrun = &t->overrun;
	list_init(&t->queued.link);
	irqstate_t s = spin_lock(&p->lock);
	p->timers.ids |= 1ull << t->id;
	list_push_back(&p->timers.list, &t->link);
	spin_unlock(&p->lock, s);
	return t;
}

/* Cancels a kernel timer.  On return its function does not run, and will not run.  p->lock not
 * held. */
static void itimer_stop(struct ktimer *kt)
{
	if (kt->queue != NULL)
		ktimer_cancel(kt);
}

/* The same for t's own kernel timer; clock_settime does not arm it again either. */
static void stop_wall(struct itimer *t)
{
	if (t->by_clock) { /* only LWPs with p->timers.lock write it */
		irqstate_t s = spin_lock(&t->proc->lock);
		t->by_clock = false;
		spin_unlock(&t->proc->lock, s);
	}
	itimer_stop(&t->timer);
}

void itimer_delete(struct itimer *t)
{
	struct proc *p = t->proc;

	stop_wall(t);
	irqstate_t s = spin_lock(&p->lock);
	sig_withdraw(p, &t->queued);
	list_remove(&t->link);
	p->timers.ids &= ~(1ull << t->id);
	spin_unlock(&p->lock, s);
	kfree(t);
}

static void delete_some(struct proc *p, bool (*which)(struct itimer *, uint32_t), uint32_t arg)
{
	if (list_empty(&p->timers.list)) /* the usual case; a timer added now does not matter */
		return;
	kmutex_enter(&p->timers.lock);
	struct list *at = p->timers.list.next;
	while (at != &p->timers.list) {
		struct itimer *t = CONTAINER_OF(at, struct itimer, link);
		at = at->next;
		if (which(t, arg))
			itimer_delete(t);
	}
	kmutex_exit(&p->timers.lock);
}

static bool is_any(struct itimer *t, uint32_t arg)
{
	return true;
}

/* exec keeps only the process's timers of setitimer, because the LWPs belong to the old program. */
static bool is_programs(struct itimer *t, uint32_t arg)
{
	return t->which == OF_CREATE || t->of_lwp;
}

/* True for a timer of setitimer of this LWP.  A timer of timer_create stays; without its LWP it
 * signals no LWP any more, or its clock has stopped. */
static bool is_of_lwp(struct itimer *t, uint32_t id)
{
	if (t->clock_lwp == id && !t->of_lwp) {
		irqstate_t s = spin_lock(&t->proc->lock);
		t->clock_lwp = NOBODY;
		t->expires = HRTIME_NEVER;
		spin_unlock(&t->proc->lock, s);
	}
	if (t->lwpid != id)
		return false;
	__atomic_store_n(&t->lwpid, NOBODY, __ATOMIC_RELAXED);
	return t->of_lwp;
}

void itimer_proc_init(struct proc *p)
{
	kmutex_init(&p->timers.lock, "timers");
	list_init(&p->timers.list);
}

void itimer_lwp_exit(struct proc *p, struct lwp *l)
{
	delete_some(p, is_of_lwp, l->id);
}

/*
 * The look is armed for the number of LWPs that can use up the remaining CPU time at the same time
 * (cpu_look_locked).  *Race:* LWPs are created before the look; *without this:* on several CPUs
 * they use up this time faster, and the timer is late by the CPU time that they use beyond it;
 * *closed by:* a look for each new LWP, before it runs.
 */
void itimer_lwp_new(struct proc *p)
{
	/* p->lock is not needed: a timer that is set from now on takes the new LWP into account. */
	if (!p->timers.summed)
		return;
	kmutex_enter(&p->timers.lock);
	itimer_stop(&p->timers.look);
	irqstate_t s = spin_lock(&p->lock);
	cpu_look_locked(p);
	spin_unlock(&p->lock, s);
	kmutex_exit(&p->timers.lock);
	sig_notify_if_due(p);
}

void itimer_proc_exit(struct proc *p)
{
	delete_some(p, is_any, 0);
	itimer_stop(&p->timers.look);
}

void itimer_exec(struct proc *p)
{
	delete_some(p, is_programs, 0);
}

/* --- setting and asking ------------------------------------------------------------------ */

struct itimer_setting itimer_left(const struct itimer *t)
{
	struct itimer_setting v = {.interval = t->interval};

	if (t->expires != HRTIME_NEVER) {
		hrtime_t now = itimer_clock_now(t);
		v.value = t->expires > now ? t->expires - now : 1; /* 0 would mean off */
	}
	return v;
}

void itimer_change(struct itimer *t, const struct itimer_setting *to, bool absolute,
		   struct itimer_setting *old)
{
	struct proc *p = t->proc;

	if (by_cpu_time(t))
		itimer_stop(&p->timers.look);
	else
		stop_wall(t);
	irqstate_t s = spin_lock(&p->lock);
	*old = itimer_left(t);
	t->interval = to->interval;
	t->expires = HRTIME_NEVER;
	if (to->value != 0 && t->clock_lwp != NOBODY) {
		hrtime_t now = itimer_clock_now(t);
		hrtime_t base = !absolute ? now : 0;
		t->expires = to->value < HRTIME_NEVER - base ? base + to->value : HRTIME_NEVER;
		if (absolute && t->realtime) {
			t->by_clock = t->expires != HRTIME_NEVER;
			t->real = t->expires;
			t->offset = clock_offset();
			t->expires = clock_monotonic(t->real, t->offset);
		}
	}
	if (by_cpu_time(t)) {
		if (t->clock_lwp == 0)
			sums_begin(p);
		cpu_look_locked(p);
	} else if (t->expires != HRTIME_NEVER) {
		ktimer_arm(&t->timer, t->expires, wall_expire);
	}
	spin_unlock(&p->lock, s);
	sig_notify_if_due(p);
}

/* For proc_each: moves the timers of p with an absolute time of CLOCK_REALTIME. */
static bool move_by_clock(struct proc *p, void *arg)
{
	hrtime_t offset = clock_offset();

	spin_acquire(&p->lock);
	LIST_FOREACH (&p->timers.list, t, struct itimer, link) {
		if (!t->by_clock || t->expires == HRTIME_NEVER || t->offset == offset)
			continue;
		t->expires = clock_monotonic(t->real, offset);
		t->offset = offset;
		/* wall_expire finishes the work, at once if the time has passed. */
		if (ktimer_withdraw(&t->timer))
			ktimer_arm(&t->timer, t->expires, wall_expire);
	}
	spin_release(&p->lock);
	return false;
}

void itimer_clock_set(void)
{
	irqstate_t s = spin_lock(&proc_tree_lock);
	proc_each(move_by_clock, NULL);
	spin_unlock(&proc_tree_lock, s);
}
