/*
 * itimer.c - interval timers: setitimer (one of each kind for the process, and by option one
 * for an LWP) and timer_create.
 *
 * All are struct itimer, in a list of their process.  A timer of the clock is a kernel
 * timer that sends a signal.  Timers of CPU time (VIRTUAL, PROF, the CPU-time clocks of
 * timer_create) share one kernel timer, p->timers.look.  It looks how much the process and its
 * LWPs have used, and sets itself to the earliest moment at which one of them can have used
 * enough.  So a timer of CPU time is late by up to CPU_LOOK, or by the rest (below) if that is
 * longer, and never early.  A look costs so much for each timer, and does not depend on how many
 * LWPs there are (sched/msacct.c).  (The old systems had setitimer work on the calling LWP: the
 * Solaris paper tells of the bug's end.  WEFT_ITIMER_LWP is that.)
 *
 * A timer queues one signal at a time: an expiry that finds it still pending is counted as an
 * overrun, so that a slow receiver costs no memory.  Those that would follow upon another
 * sooner than a rest come together, with overruns: however short the intervals of a process's
 * timers, their interrupts leave its CPU time for something else.  The rest grows with the
 * process's timers, and with its LWPs, since a signal may ask each whether it takes it.
 *
 * A timer with an absolute time of CLOCK_REALTIME moves when that clock is set, and with it the beat
 * of its interval.  clock_settime moves it under p->lock alone: it takes the kernel timer out of its
 * queue if it is there, and leaves it if its function runs, as that looks at the new time.
 * *Race:* between the cancelling of a kernel timer and what follows, clock_settime arms it; *without
 * this:* an armed timer is freed, or armed twice; *closed by:* the canceller first takes the timer
 * away from clock_settime (by_clock).
 *
 * Locks: p->timers.lock serialises the calls that make, set and delete timers, and is held while a
 * kernel timer is cancelled, whose function takes p->lock.  p->lock guards the fields that
 * the function uses, and the list together with the mutex.
 */
#include <kern/cache.h>
#include <kern/clock.h>
#include <kern/cpu.h>
#include <kern/itimer.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/signal.h>
#include <kern/syscall.h>
#include <kern/timer.h>
#include <kern/timing.h>
#include <kern/usercopy.h>
#include <weft/time.h>

#define CPU_LOOK 1000000ull /* ns: a process's CPU time is not looked at more often */
#define REST 50000ull       /* ns for each timer of the process, from an expiry to the next, */
#define REST_LWP 500ull     /* ... and that for each of its LWPs */

#define NOBODY UINT32_MAX /* lwpid: of an LWP that is gone */
#define OF_CREATE (-1)    /* which: made by timer_create */

struct itimer {
	struct list link;
	struct proc *proc;
	int id, which; /* WEFT_ITIMER_* without WEFT_ITIMER_LWP, or OF_CREATE */
	bool of_lwp;   /* setitimer's with WEFT_ITIMER_LWP */
	bool realtime; /* absolute times are CLOCK_REALTIME's */
	bool silent;   /* WEFT_SIGEV_NONE */
	enum { WALL, USER_TIME, CPU_TIME } clock;
	uint32_t clock_lwp; /* whose time it is; 0: the process's */
	uint32_t lwpid;     /* whom it signals; 0: the process */
	int signo;
	uint64_t value;
	struct ktimer timer; /* WALL */
	/* p->lock */
	hrtime_t expires;  /* on its clock: time since boot or CPU time; HRTIME_NEVER: off */
	hrtime_t interval; /* 0: once */
	bool by_clock;     /* set to an absolute time of CLOCK_REALTIME: */
	hrtime_t real;     /* when it expires by that clock, */
	hrtime_t offset;   /* and the difference of that clock that `expires` was made with */
	struct sigqueued queued;
	int32_t overrun; /* of the signal that was taken last */
};

/* --- its clock -------------------------------------------------------------------------- */

static bool by_cpu_time(const struct itimer *t)
{
	return t->clock != WALL;
}

/* What the clock shows of these times. */
static hrtime_t clock_of(const struct itimer *t, const uint64_t used[NCPUTIME])
{
	return used[IN_USER] + (t->clock == CPU_TIME ? used[IN_SYSTEM] : 0);
}

/* The time of t's clock, which is an LWP's CPU time.  p->lock held. */
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

/* Exact, for a system call, because it walks over the LWPs.  p->lock held. */
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

/* From an interrupt of p's timers to the next.  p->lock held. */
static hrtime_t timers_rest(const struct proc *p)
{
	/* The smallest free id is taken first: the largest tells how many there are. */
	unsigned timers = p->timers.ids != 0 ? 64 - __builtin_clzll(p->timers.ids) : 0;

	return timers * (REST + REST_LWP * p->nlwp);
}

/* n times at once.  p->lock held. */
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
		spin_release(&l->lock); /* p->lock keeps it */
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

/* The first time after `now` on the beat of its interval, which is at its expiry `last`, and *n: how many
 * expiries come before it.  HRTIME_NEVER: it is beyond the end of time. */
static hrtime_t next_expiry(const struct itimer *t, hrtime_t last, hrtime_t now, uint64_t *n)
{
	hrtime_t ahead, when;

	*n = 1 + (t->interval != 0 ? (now - last) / t->interval : 0);
	if (t->interval == 0 || __builtin_mul_overflow(*n, t->interval, &ahead) ||
	    __builtin_add_overflow(last, ahead, &when))
		return HRTIME_NEVER;
	return when;
}

/* Expires if its time has come.  p->lock held. */
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

/* Has the timers of CPU time expire for which it is time, and sets p->timers.look, which is not
 * set, for the others.  p->lock held. */
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
		/* So many CPUs at most use up the rest side by side. */
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

/* NULL: no memory, or as many as there may be. */
static struct itimer *itimer_make(struct proc *p, int which, int signo)
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

/* When this returns, no function of the kernel timer runs, and none will.  p->lock not held. */
static void itimer_stop(struct ktimer *kt)
{
	if (kt->queue != NULL)
		ktimer_cancel(kt);
}

/* The same of t's kernel timer, so that clock_settime does not arm it again either. */
static void stop_wall(struct itimer *t)
{
	if (t->by_clock) { /* others only read it */
		irqstate_t s = spin_lock(&t->proc->lock);
		t->by_clock = false;
		spin_unlock(&t->proc->lock, s);
	}
	itimer_stop(&t->timer);
}

static void itimer_delete(struct itimer *t)
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
	if (list_empty(&p->timers.list)) /* as a rule; nobody adds one meanwhile that matters */
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

/* The new program has setitimer's of the process alone; LWPs are the old program's. */
static bool is_programs(struct itimer *t, uint32_t arg)
{
	return t->which == OF_CREATE || t->of_lwp;
}

/* One of timer_create stays, and has nobody to signal any more, or time that stands still. */
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
 * The look is set for LWPs that use up the rest of a timer side by side (cpu_look_locked).  *Race:* more
 * LWPs come before it; *without this:* on several CPUs they use up the rest faster, and the timer is
 * late by as much as they use beyond it; *closed by:* a look for each new LWP, before it runs.
 */
void itimer_lwp_new(struct proc *p)
{
	/* Without p->lock: a timer that is set from now on is set for this LWP, too. */
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

struct setting {
	hrtime_t value; /* until the next expiry; 0: off */
	hrtime_t interval;
};

static int setting_in(vaddr_t user, struct setting *v)
{
	struct weft_itimerspec its;

	if (copyin(&its, user, sizeof(its)) != 0)
		return -EFAULT;
	if (its.value.sec < 0 || its.interval.sec < 0 || !timespec_ns(&its.value, &v->value) ||
	    !timespec_ns(&its.interval, &v->interval))
		return -EINVAL;
	return 0;
}

static int setting_out(vaddr_t user, const struct setting *v)
{
	struct weft_itimerspec its = {
		.interval = {v->interval / 1000000000, v->interval % 1000000000},
		.value = {v->value / 1000000000, v->value % 1000000000},
	};
	return copyout(user, &its, sizeof(its));
}

/* p->lock held. */
static struct setting setting_now(const struct itimer *t)
{
	struct setting v = {.interval = t->interval};

	if (t->expires != HRTIME_NEVER) {
		hrtime_t now = itimer_clock_now(t);
		v.value = t->expires > now ? t->expires - now : 1; /* 0 would say off */
	}
	return v;
}

/* p->timers.lock held. */
static void itimer_change(struct itimer *t, const struct setting *to, bool absolute,
			  struct setting *old)
{
	struct proc *p = t->proc;

	if (by_cpu_time(t))
		itimer_stop(&p->timers.look);
	else
		stop_wall(t);
	irqstate_t s = spin_lock(&p->lock);
	*old = setting_now(t);
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

/* For proc_each: the timers of p that CLOCK_REALTIME moves. */
static bool move_by_clock(struct proc *p, void *arg)
{
	hrtime_t offset = clock_offset();

	spin_acquire(&p->lock);
	LIST_FOREACH (&p->timers.list, t, struct itimer, link) {
		if (!t->by_clock || t->expires == HRTIME_NEVER || t->offset == offset)
			continue;
		t->expires = clock_monotonic(t->real, offset);
		t->offset = offset;
		/* wall_expire does the rest, at once if the time has passed. */
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

/* --- setitimer, getitimer ------------------------------------------------------------------ */

static const uint8_t itimer_signal[] = {
	[WEFT_ITIMER_REAL] = WEFT_SIGALRM,
	[WEFT_ITIMER_VIRTUAL] = WEFT_SIGVTALRM,
	[WEFT_ITIMER_PROF] = WEFT_SIGPROF,
};

static bool itimer_known(uint64_t which)
{
	return (which & ~(uint64_t)WEFT_ITIMER_LWP) < ARRAY_LEN(itimer_signal);
}

/* p->timers.lock held. */
static struct itimer *find_which(struct proc *p, uint64_t which)
{
	bool of_lwp = which & WEFT_ITIMER_LWP;
	int kind = which & ~WEFT_ITIMER_LWP;

	LIST_FOREACH (&p->timers.list, t, struct itimer, link)
		if (t->which == kind && t->of_lwp == of_lwp &&
		    (!of_lwp || t->lwpid == curlwp()->id))
			return t;
	return NULL;
}

/*
 * setitimer(which, new, old): sets a timer of the process, or with WEFT_ITIMER_LWP of the
 * calling LWP, to send its signal after `value`, and then every `interval`; value 0: off.
 * *old (may be NULL) gets what was left.  exec keeps the process's timers, not those of LWPs.
 * EINVAL: which, or no times; EFAULT: new, or old (it has been set all the same); EAGAIN: no
 * memory, or WEFT_TIMER_MAX.
 */
int64_t sys_setitimer(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct setting to, old = {0};

	if (!itimer_known(arg[0]))
		return -EINVAL;
	int err = setting_in(arg[1], &to);
	if (err != 0)
		return err;
	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_which(p, arg[0]);
	if (t == NULL && to.value != 0) {
		int kind = arg[0] & ~WEFT_ITIMER_LWP;
		t = itimer_make(p, kind, itimer_signal[kind]);
		if (t != NULL)
			t->clock = kind == WEFT_ITIMER_VIRTUAL ? USER_TIME
				   : kind == WEFT_ITIMER_PROF  ? CPU_TIME
							       : WALL;
		if (t != NULL && (arg[0] & WEFT_ITIMER_LWP)) {
			t->of_lwp = true;
			t->lwpid = t->clock_lwp = curlwp()->id;
		}
		err = t == NULL ? -EAGAIN : 0;
	}
	if (t != NULL)
		itimer_change(t, &to, false, &old);
	kmutex_exit(&p->timers.lock);
	if (err != 0)
		return err;
	return arg[2] != 0 ? setting_out(arg[2], &old) : 0;
}

/* getitimer(which, now): what is left, and the interval.  EINVAL: which; EFAULT: now. */
int64_t sys_getitimer(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct setting v = {0};

	if (!itimer_known(arg[0]))
		return -EINVAL;
	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_which(p, arg[0]);
	if (t != NULL) {
		irqstate_t s = spin_lock(&p->lock);
		v = setting_now(t);
		spin_unlock(&p->lock, s);
	}
	kmutex_exit(&p->timers.lock);
	return setting_out(arg[1], &v);
}

/* --- timer_create and its relatives ----------------------------------------------------------- */

/*
 * timer_create(clock, event, id): a timer, off at first; of CLOCK_MONOTONIC, CLOCK_REALTIME, or
 * the CPU time of the process or of the calling LWP, with whose end it goes off for good.  event
 * says what an expiry does (NULL: SIGALRM with the timer's id as value); *id gets its
 * id.
 * EINVAL: clock, or event; ESRCH: event names no LWP; EFAULT: event, or id; EAGAIN: no memory,
 * or WEFT_TIMER_MAX.
 */
int64_t sys_timer_create(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct weft_sigevent ev = {.notify = WEFT_SIGEV_SIGNAL, .signo = WEFT_SIGALRM};

	bool cpu = arg[0] == WEFT_CLOCK_PROCESS_CPUTIME || arg[0] == WEFT_CLOCK_THREAD_CPUTIME;
	if (arg[0] != WEFT_CLOCK_MONOTONIC && arg[0] != WEFT_CLOCK_REALTIME && !cpu)
		return -EINVAL;
	if (arg[1] != 0) {
		if (copyin(&ev, arg[1], sizeof(ev)) != 0)
			return -EFAULT;
		if (ev.notify != WEFT_SIGEV_NONE && ev.notify != WEFT_SIGEV_SIGNAL &&
		    ev.notify != WEFT_SIGEV_LWP)
			return -EINVAL;
		if (ev.notify != WEFT_SIGEV_NONE && (ev.signo < 1 || ev.signo >= WEFT_NSIG))
			return -EINVAL;
	}
	if (ev.notify == WEFT_SIGEV_LWP) {
		irqstate_t s = spin_lock(&p->lock);
		struct lwp *l = lwp_lock_by_id(p, ev.lwpid);
		bool there = l != NULL && l->state != LWP_ST_ZOMB;
		if (l != NULL)
			spin_release(&l->lock);
		spin_unlock(&p->lock, s);
		if (!there)
			return -ESRCH;
	}
	kmutex_enter(&p->timers.lock);
	struct itimer *t = itimer_make(p, OF_CREATE, ev.signo);
	int32_t id = -1;
	int err = -EAGAIN;
	if (t != NULL) {
		id = t->id;
		t->realtime = arg[0] == WEFT_CLOCK_REALTIME;
		t->clock = cpu ? CPU_TIME : WALL;
		t->clock_lwp = arg[0] == WEFT_CLOCK_THREAD_CPUTIME ? curlwp()->id : 0;
		t->silent = ev.notify == WEFT_SIGEV_NONE;
		t->lwpid = ev.notify == WEFT_SIGEV_LWP ? ev.lwpid : 0;
		t->value = arg[1] != 0 ? ev.value : (uint64_t)id;
		err = copyout(arg[2], &id, sizeof(id));
		if (err != 0)
			itimer_delete(t);
	}
	kmutex_exit(&p->timers.lock);
	return err;
}

/* NULL: there is none.  p->timers.lock held. */
static struct itimer *find_id(struct proc *p, uint64_t id)
{
	LIST_FOREACH (&p->timers.list, t, struct itimer, link)
		if (t->which == OF_CREATE && t->id == (int32_t)id)
			return t;
	return NULL;
}

/*
 * timer_settime(id, flags, new, old): as setitimer; with WEFT_TIMER_ABSTIME value is a time of
 * the timer's clock.  One that has passed expires at once.
 * EINVAL: id, flags, or no times; EFAULT: new, or old (it has been set all the same).
 */
int64_t sys_timer_settime(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct setting to, old;

	if (arg[1] & ~(uint64_t)WEFT_TIMER_ABSTIME)
		return -EINVAL;
	int err = setting_in(arg[2], &to);
	if (err != 0)
		return err;
	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_id(p, arg[0]);
	if (t != NULL)
		itimer_change(t, &to, arg[1] & WEFT_TIMER_ABSTIME, &old);
	kmutex_exit(&p->timers.lock);
	if (t == NULL)
		return -EINVAL;
	return arg[3] != 0 ? setting_out(arg[3], &old) : 0;
}

/* timer_gettime(id, now): what is left, and the interval.  EINVAL: id; EFAULT: now. */
int64_t sys_timer_gettime(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct setting v = {0};

	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_id(p, arg[0]);
	if (t != NULL) {
		irqstate_t s = spin_lock(&p->lock);
		v = setting_now(t);
		spin_unlock(&p->lock, s);
	}
	kmutex_exit(&p->timers.lock);
	return t == NULL ? -EINVAL : setting_out(arg[1], &v);
}

/*
 * timer_getoverrun(id) = expiries that the signal taken last stands for, beyond its own.
 * EINVAL: id.
 */
int64_t sys_timer_getoverrun(const uint64_t arg[6])
{
	struct proc *p = curproc();

	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_id(p, arg[0]);
	int64_t r = t == NULL ? -EINVAL : t->overrun;
	kmutex_exit(&p->timers.lock);
	return r;
}

/* timer_delete(id): a signal of it that is pending goes too.  EINVAL: id. */
int64_t sys_timer_delete(const uint64_t arg[6])
{
	struct proc *p = curproc();

	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_id(p, arg[0]);
	if (t != NULL)
		itimer_delete(t);
	kmutex_exit(&p->timers.lock);
	return t == NULL ? -EINVAL : 0;
}
