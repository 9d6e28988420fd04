/*
 * nt.c - the NT class: the scheduler of Windows NT 4, as Custer's and Solomon's "Inside
 * Windows NT" describe it and the papers measure it.
 *
 * There are 32 levels.  No LWP has level 0; levels 1 to 15 are variable, 16 to 31 fixed.  An LWP's
 * base level is the level of its process's class plus its own place in the class.  In the variable
 * range:
 *
 *	- a wake-up that is no time-out lifts the LWP above its base, up to 15;
 *	- the clock measures slices.  An LWP that a tick finds on the CPU has used all of that
 *	  tick.  An LWP that ran between two ticks has used nothing, except for a third of a tick
 *	  for each wait.  After a sleep the slice goes on where it was interrupted;
 *	- each slice that the LWP uses up takes it one level down, no further than its base;
 *	- a slice is 2 ticks on a workstation.  There it is doubled or tripled (stretched) for the
 *	  process in the foreground.  On a server it is 12 ticks for all processes;
 *	- an LWP that has waited for a CPU for 3 seconds, in sum since it last slept or used up a
 *	  slice, gets level 15 for one slice of double length.  Then it falls back to its base at
 *	  once.
 *
 * The clock matters for LWPs that wait often.  A tick charges the LWP that it finds, and the others
 * only for their waits.  Measured to the nanosecond (nt_clock = 0), each LWP is charged for what it
 * ran.  The experiment timemutex-boost has both.
 *
 * A new or woken LWP goes behind the waiting LWPs of its level.  A preempted LWP goes before its
 * equals with the rest of its slice.  The dispatcher does so for every class.  Many computing
 * threads therefore make NT slow to respond: they keep their slices, and no rule lifts a new LWP.
 *
 * In global priorities the variable levels share the range of time-share, 4 priorities to a level.
 * The fixed levels share the range of real-time.
 */
#include <kern/file.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include <kern/types.h>
#include <weft/abi.h>
#include <weft/errno.h>

#define LEVEL_MAX 31
#define VARIABLE_MAX 15
#define FIXED_MIN 16
#define WAITS_A_TICK 3
#define WAIT_COSTS ((int64_t)WEFT_TICK_NS / WAITS_A_TICK)

/* Read and replaced in the same way as the table of time-share (ts.c). */
static struct ntadmin nt = {
	.nt_quantum = 2 * WEFT_TICK_NS / 1000,
	.nt_stretch = 3,
	.nt_boost = 1,
	.nt_maxwait = 3000,
	.nt_clock = 1,
};

static int global_pri(int level)
{
	return level <= VARIABLE_MAX ? 4 * level - 1 : PRI_RT + level - FIXED_MIN;
}

static void to_level(struct lwp *l, int level)
{
	l->cl.nt.level = level;
	sched_own_pri(l, global_pri(level));
}

static bool nt_is_variable(const struct lwp *l)
{
	return l->cl.nt.base <= VARIABLE_MAX;
}

/* The places time-critical and idle are the ends of the range; no place leads out of the range. */
static int base_level(int cls, int relative)
{
	int low = cls <= VARIABLE_MAX ? 1 : FIXED_MIN;
	int high = cls <= VARIABLE_MAX ? VARIABLE_MAX : LEVEL_MAX;
	return MAX(low, MIN(cls + relative, high));
}

static int nt_check(const struct pcparms *p)
{
	int cls = p->nt.nt_class, rel = p->nt.nt_relative;

	if (cls != NT_NOCHANGE && (cls < 1 || cls > LEVEL_MAX))
		return -EINVAL;
	if (rel != NT_NOCHANGE && (rel < -2 || rel > 2) && rel != -15 && rel != 15)
		return -EINVAL;
	return 0;
}

static void nt_set(struct lwp *l, const struct pcparms *p, bool fresh)
{
	if (fresh) {
		l->cl.nt.cls = NT_NORMAL_CLASS;
		l->cl.nt.relative = 0;
		l->cl.nt.waited = sched_waited(l, time_now());
	}
	if (p->nt.nt_class != NT_NOCHANGE)
		l->cl.nt.cls = p->nt.nt_class;
	if (p->nt.nt_relative != NT_NOCHANGE)
		l->cl.nt.relative = p->nt.nt_relative;
	l->cl.nt.base = base_level(l->cl.nt.cls, l->cl.nt.relative);
	l->cl.nt.lifted = false;
	l->cl.nt.waits = 0;
	to_level(l, l->cl.nt.base);
}

static void nt_get(const struct lwp *l, struct pcparms *p)
{
	p->nt.nt_class = l->cl.nt.cls;
	p->nt.nt_relative = l->cl.nt.relative;
	p->nt.nt_level = l->cl.nt.level;
}

/* Boosts are not inherited. */
static void nt_fork(struct lwp *l, bool process)
{
	l->cl.nt.lifted = false;
	l->cl.nt.waits = 0;
	l->cl.nt.waited = 0;
	to_level(l, l->cl.nt.base);
}

static hrtime_t nt_quantum(const struct lwp *l)
{
	hrtime_t q = nt.nt_quantum * 1000ull;

	if (l->cl.nt.lifted)
		return 2 * q;
	if (nt_is_variable(l) && l->proc != NULL && l->proc->pgrp == console_pgrp())
		q *= nt.nt_stretch;
	return q;
}

static void nt_slice_used(struct lwp *l)
{
	l->cl.nt.waits = 0;
	l->cl.nt.waited = l->mtime[MS_WAITCPU]; /* it runs, or sleeps */
	if (l->cl.nt.lifted) {
		l->cl.nt.lifted = false;
		to_level(l, l->cl.nt.base);
	} else if (nt_is_variable(l) && l->cl.nt.level > l->cl.nt.base) {
		to_level(l, l->cl.nt.level - 1);
	}
}

/* Charges a wait to a slice that is measured to the nanosecond. */
static void charge_exactly(struct lwp *l)
{
	if (l->slice_left > WAIT_COSTS) {
		l->slice_left -= WAIT_COSTS;
	} else {
		nt_slice_used(l);
		l->slice_left = 0;
	}
}

/*
 * The same for a slice that is measured by the clock.  The slice says how many more ticks may find
 * the LWP on the CPU, so it ends with a tick.  (This is exact if the LWP runs at once.  The slice
 * of an LWP that first waits for its CPU is longer by that wait.)
 */
static void charge_by_clock(struct lwp *l)
{
	int64_t tick = WEFT_TICK_NS;
	int64_t ticks = l->slice_left > 0 ? (l->slice_left + tick - 1) / tick : 0;

	if (++l->cl.nt.waits == WAITS_A_TICK) {
		l->cl.nt.waits = 0;
		ticks--;
	}
	if (ticks <= 0) {
		nt_slice_used(l);
		ticks = (nt_quantum(l) + tick - 1) / tick;
	}
	l->slice_left = ticks * tick - (int64_t)(time_now() % tick);
}

static void nt_wakeup(struct lwp *l)
{
	if (!nt_is_variable(l)) {
		l->slice_left = 0;
		return;
	}
	l->cl.nt.waited = l->mtime[MS_WAITCPU];
	if (nt.nt_clock)
		charge_by_clock(l);
	else
		charge_exactly(l);
	if (l->wake_reason == WAKE_TIMEOUT)
		return;
	int boosted = MIN(l->cl.nt.base + (int)nt.nt_boost, VARIABLE_MAX);
	if (boosted > l->cl.nt.level)
		to_level(l, boosted);
}

static int nt_starved(struct lwp *l, hrtime_t now)
{
	int64_t limit = nt.nt_maxwait * 1000000ll;
	uint64_t waited = sched_waited(l, now);

	/* Another CPU's clock may be ahead of ours. */
	if (!nt_is_variable(l) || l->cl.nt.lifted || limit == 0 ||
	    (int64_t)(waited - l->cl.nt.waited) < limit)
		return l->pri;
	l->cl.nt.waited = waited;
	l->cl.nt.lifted = true;
	l->cl.nt.level = VARIABLE_MAX;
	l->own_pri = global_pri(VARIABLE_MAX);
	l->cl.nt.waits = 0;
	l->slice_left = 0;
	return MAX(l->own_pri, l->inherited);
}

static int nt_check_table(const void *table)
{
	const struct ntadmin *a = table;

	return a->nt_quantum >= 3 && a->nt_stretch >= 1 && a->nt_stretch <= 3 &&
			       a->nt_boost <= VARIABLE_MAX && a->nt_clock <= 1
		       ? 0
		       : -EINVAL;
}

const struct sched_class nt_class = {
	.name = "NT",
	.cid = WEFT_CLASS_NT,
	.check = nt_check,
	.set = nt_set,
	.get = nt_get,
	.fork = nt_fork,
	.quantum = nt_quantum,
	.slice_used = nt_slice_used,
	.wakeup = nt_wakeup,
	.starved = nt_starved,
	.table = &nt,
	.table_size = sizeof(nt),
	.check_table = nt_check_table,
};
