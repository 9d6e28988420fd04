/*
 * itimer.c - interval timers: setitimer (one of each kind for the process, and by option one
 * for an LWP) and timer_create.
 *
 * All are struct itimer, in a list of their process.  A timer of the clock is a kernel
 * timer that sends a signal.  A timer of CPU time (VIRTUAL, PROF, the CPU-time clocks of
 * timer_create) is one that looks how much the process or the LWP has used, and sets itself
 * to the earliest moment at which it can have used enough; so it is late by up to CPU_LOOK,
 * never early.  (The old systems had setitimer work on the calling LWP: the Solaris paper
 * tells of the bug's end.  WEFT_ITIMER_LWP is that.)
 *
 * A timer queues one signal at a time: an expiry that finds it still pending is counted as an
 * overrun, so that a slow receiver costs no memory.  Those that would follow upon another
 * sooner than REST come together, with overruns: however short the intervals of a process's
 * timers, their interrupts leave its CPU time for something else.
 *
 * Locks: p->timers.lock serialises who makes, sets and deletes timers, and is held while the
 * kernel timer is cancelled, whose function takes p->lock.  p->lock guards the fields that
 * the function uses, and the list together with the mutex.
 */
#include <kern/cpu.h>
#include <kern/itimer.h>
#include <kern/mm.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/signal.h>
#include <kern/syscall.h>
#include <kern/timer.h>
#include <kern/timing.h>
#include <weft/time.h>

#define CPU_LOOK 1000000ull /* ns: a CPU timer does not look more often */
#define REST 50000ull       /* ns for each timer of the process, from an expiry to the next */

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
	struct ktimer timer;
	/* p->lock */
	hrtime_t expires;  /* on its clock: time since boot or CPU time; HRTIME_NEVER: off */
	hrtime_t interval; /* 0: once */
	struct sigqueued queued;
	int32_t overrun; /* of the signal that was taken last */
};

/* --- its clock -------------------------------------------------------------------------- */

static bool by_cpu_time(const struct itimer *t)
{
	return t->clock != WALL;
}

/* p->lock held. */
static hrtime_t clock_now(const struct itimer *t)
{
	struct lwp_counts counts;
	struct mstimes ms = {0};

	if (!by_cpu_time(t))
		return time_now();
	if (t->clock_lwp == 0) {
		proc_times(t->proc, &ms, &counts);
	} else {
		struct lwp *l = lwp_lock_by_id(t->proc, t->clock_lwp);
		if (l == NULL)
			return 0;
		lwp_times(l, &ms);
		spin_release(&l->lock);
	}
	return ms.ms[MS_USER] + (t->clock == CPU_TIME ? ms_system(&ms) : 0);
}

/* --- expiry ------------------------------------------------------------------------------ */

static void expire(struct ktimer *kt);

/* Sets the kernel timer for t, which is on, not before `least`.  p->lock held; the timer is not
 * set. */
static void set(struct itimer *t, hrtime_t now, hrtime_t least)
{
	hrtime_t when = MAX(t->expires, least);

	if (by_cpu_time(t)) {
		/* So many CPUs at most use up the rest side by side. */
		unsigned cpus = t->clock_lwp != 0 ? 1 : MIN(t->proc->nlwp, ncpu);
		hrtime_t rest = t->expires > now ? t->expires - now : 0;
		when = time_after(MAX(rest / MAX(cpus, 1u), CPU_LOOK));
	}
	ktimer_arm(&t->timer, when, expire);
}

/* n times at once.  p->lock held. */
static void notify(struct itimer *t, uint64_t n)
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

/* The first expiry on the beat of its interval after `now`, and *n: how many come before it.
 * HRTIME_NEVER: it is beyond the end of time. */
static hrtime_t next_expiry(const struct itimer *t, hrtime_t now, uint64_t *n)
{
	hrtime_t ahead, when;

	*n = 1 + (t->interval != 0 ? (now - t->expires) / t->interval : 0);
	if (t->interval == 0 || __builtin_mul_overflow(*n, t->interval, &ahead) ||
	    __builtin_add_overflow(t->expires, ahead, &when))
		return HRTIME_NEVER;
	return when;
}

static void expire(struct ktimer *kt)
{
	struct itimer *t = CONTAINER_OF(kt, struct itimer, timer);
	struct proc *p = t->proc;

	spin_acquire(&p->lock);
	hrtime_t now = clock_now(t);
	if (now >= t->expires) {
		uint64_t n;
		t->expires = next_expiry(t, now, &n);
		notify(t, n);
	}
	/* The smallest free id is taken first: the largest tells how many there are. */
	unsigned timers = 64 - __builtin_clzll(p->timers.ids);
	if (t->expires != HRTIME_NEVER && !p->exiting)
		set(t, now, time_after(REST * timers));
	spin_release(&p->lock);
	sig_tell_if_due(p);
}

/* --- making and deleting: p->timers.lock held ------------------------------------------ */

/* NULL: no memory, or as many as there may be. */
static struct itimer *make(struct proc *p, int which, int signo)
{
	struct itimer *t = kzalloc(sizeof(*t));

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

static void stop(struct itimer *t)
{
	if (t->timer.queue != NULL)
		ktimer_cancel(&t->timer);
}

static void delete (struct itimer *t)
{
	struct proc *p = t->proc;

	stop(t);
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
			delete (t);
	}
	kmutex_exit(&p->timers.lock);
}

static bool is_any(struct itimer *t, uint32_t arg)
{
	return true;
}

static bool is_created(struct itimer *t, uint32_t arg)
{
	return t->which == OF_CREATE;
}

/* One of timer_create stays, and has nobody to signal any more, or time that stands still. */
static bool is_of_lwp(struct itimer *t, uint32_t id)
{
	if (t->clock_lwp == id && !t->of_lwp) {
		stop(t);
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

void itimer_proc_exit(struct proc *p)
{
	delete_some(p, is_any, 0);
}

void itimer_exec(struct proc *p)
{
	delete_some(p, is_created, 0);
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
		hrtime_t now = clock_now(t);
		v.value = t->expires > now ? t->expires - now : 1; /* 0 would say off */
	}
	return v;
}

/* p->timers.lock held. */
static void change(struct itimer *t, const struct setting *new, bool absolute, struct setting *old)
{
	struct proc *p = t->proc;

	stop(t);
	irqstate_t s = spin_lock(&p->lock);
	*old = setting_now(t);
	t->interval = new->interval;
	t->expires = HRTIME_NEVER;
	if (new->value != 0 && t->clock_lwp != NOBODY) {
		hrtime_t now = clock_now(t);
		hrtime_t base = !absolute ? now : 0;
		t->expires = new->value < HRTIME_NEVER - base ? base + new->value : HRTIME_NEVER;
		if (absolute && t->realtime && t->expires != HRTIME_NEVER)
			t->expires -= MIN(t->expires, timepage->boot_realtime);
		if (t->expires != HRTIME_NEVER)
			set(t, now, 0);
	}
	spin_unlock(&p->lock, s);
}

/* --- setitimer, getitimer ------------------------------------------------------------------ */

static const uint8_t itimer_signal[] = {
	[WEFT_ITIMER_REAL] = WEFT_SIGALRM,
	[WEFT_ITIMER_VIRTUAL] = WEFT_SIGVTALRM,
	[WEFT_ITIMER_PROF] = WEFT_SIGPROF,
};

static bool known(uint64_t which)
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
 * *old (may be NULL) gets what was left.
 * EINVAL: which, or no times; EFAULT: new, or old (it has been set all the same); EAGAIN: no
 * memory, or WEFT_TIMER_MAX.
 */
int64_t sys_setitimer(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct setting new, old = {0};

	if (!known(arg[0]))
		return -EINVAL;
	int err = setting_in(arg[1], &new);
	if (err != 0)
		return err;
	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_which(p, arg[0]);
	if (t == NULL && new.value != 0) {
		int kind = arg[0] & ~WEFT_ITIMER_LWP;
		t = make(p, kind, itimer_signal[kind]);
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
		change(t, &new, false, &old);
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

	if (!known(arg[0]))
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
	struct itimer *t = make(p, OF_CREATE, ev.signo);
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
			delete (t);
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
	struct setting new, old;

	if (arg[1] & ~(uint64_t)WEFT_TIMER_ABSTIME)
		return -EINVAL;
	int err = setting_in(arg[2], &new);
	if (err != 0)
		return err;
	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_id(p, arg[0]);
	if (t != NULL)
		change(t, &new, arg[1] & WEFT_TIMER_ABSTIME, &old);
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
		delete (t);
	kmutex_exit(&p->timers.lock);
	return t == NULL ? -EINVAL : 0;
}
