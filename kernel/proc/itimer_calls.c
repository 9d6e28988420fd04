/*
 * itimer_calls.c - the system calls of interval timers: setitimer, timer_create and their relatives.
 *
 * itimer.c says what a timer is, and when it expires.  Each call holds p->timers.lock while
 * it looks for its timer and uses it.
 */
#include <kern/clock.h>
#include <kern/cpu.h>
#include <kern/itimer.h>
#include <kern/proc.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/usercopy.h>
#include <weft/time.h>
#include "itimer.h"

static int setting_in(vaddr_t user, struct itimer_setting *v)
{
	struct weft_itimerspec its;

	if (copyin(&its, user, sizeof(its)) != 0)
		return -EFAULT;
	if (its.value.sec < 0 || its.interval.sec < 0 || !timespec_ns(&its.value, &v->value) ||
	    !timespec_ns(&its.interval, &v->interval))
		return -EINVAL;
	return 0;
}

static int setting_out(vaddr_t user, const struct itimer_setting *v)
{
	struct weft_itimerspec its = {
		.interval = {v->interval / 1000000000, v->interval % 1000000000},
		.value = {v->value / 1000000000, v->value % 1000000000},
	};
	return copyout(user, &its, sizeof(its));
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
 * *old (may be NULL) gets the time that was left.  exec keeps the process's timers, not those of
 * LWPs.
 * EINVAL: which, or the times are not valid; EFAULT: new, or old (the timer has been set all the
 * same); EAGAIN: no memory, or WEFT_TIMER_MAX.
 */
int64_t sys_setitimer(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct itimer_setting to, old = {0};

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

/* getitimer(which, now): *now gets the time left, and the interval.  EINVAL: which; EFAULT: now. */
int64_t sys_getitimer(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct itimer_setting v = {0};

	if (!itimer_known(arg[0]))
		return -EINVAL;
	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_which(p, arg[0]);
	if (t != NULL) {
		irqstate_t s = spin_lock(&p->lock);
		v = itimer_left(t);
		spin_unlock(&p->lock, s);
	}
	kmutex_exit(&p->timers.lock);
	return setting_out(arg[1], &v);
}

/* --- timer_create and its relatives ----------------------------------------------------------- */

/*
 * timer_create(clock, event, id): creates a timer, which is off at first.  Its clock is
 * CLOCK_MONOTONIC, CLOCK_REALTIME, or the CPU time of the process or of the calling LWP.  In the
 * last case the end of the LWP switches the timer off for good.  event has the action of an expiry
 * (NULL: SIGALRM with the timer's id as value).  *id gets the timer's id.
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
 * timer_settime(id, flags, new, old): as setitimer.  With WEFT_TIMER_ABSTIME value is a time of
 * the timer's clock.  If this time has passed, the timer expires at once.
 * EINVAL: id, flags, or the times are not valid; EFAULT: new, or old (the timer has been set all
 * the same).
 */
int64_t sys_timer_settime(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct itimer_setting to, old;

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

/* timer_gettime(id, now): *now gets the time left, and the interval.  EINVAL: id; EFAULT: now. */
int64_t sys_timer_gettime(const uint64_t arg[6])
{
	struct proc *p = curproc();
	struct itimer_setting v = {0};

	kmutex_enter(&p->timers.lock);
	struct itimer *t = find_id(p, arg[0]);
	if (t != NULL) {
		irqstate_t s = spin_lock(&p->lock);
		v = itimer_left(t);
		spin_unlock(&p->lock, s);
	}
	kmutex_exit(&p->timers.lock);
	return t == NULL ? -EINVAL : setting_out(arg[1], &v);
}

/*
 * timer_getoverrun(id) = the overruns of the last signal taken: its expiries, without the first.
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

/* timer_delete(id): also removes a pending signal of the timer.  EINVAL: id. */
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
