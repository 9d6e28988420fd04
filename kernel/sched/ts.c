/*
 * ts.c - the time-share class, and the fixed class of kernel LWPs.
 *
 * Time-share is the table below, in the shape of Solaris's ts_dptbl(4).  An LWP that uses up its
 * slice falls.  An LWP that comes back from a sleep rises.  LWPs at low levels run rarely, so their
 * slices are longer.  An LWP that has waited for a CPU for a second, in sum since it last slept,
 * fell or rose, is lifted, so that no LWP starves.  The numbers are those of the classic table:
 * slices of 200 ms at the bottom and 20 ms at the top.  The level plus the user's priority is the
 * global priority.
 *
 * An LWP that runs several threads by turns has a slice for each of them before it falls
 * (proc/share.c).  While it runs one, the others wait: so the time of these slices counts as waiting time,
 * and the LWP is lifted when LWPs of single threads would be.
 *
 * While no LWP starves, a sleep renews the slice.  LWPs that compute, and sleep for a moment before
 * the slice ends, could then keep all CPUs.  So when an LWP had to be lifted, the rules are strict
 * for STRICT_SECONDS, as they always are in Solaris.  A sleep then does not renew the slice.  It
 * makes an LWP rise only if the LWP has not used up a slice in this second.  If the rules were
 * always strict, LWPs that hand the CPU to each other would be at different levels now and then.
 * A wake-up would then cost one more switch.
 *
 * The table may be replaced while it is in use (PC_ADMIN).  Each number is read by itself.  So any
 * mixture of two valid tables must be valid, and it is.
 */
#include <kern/probe.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include <kern/types.h>
#include <weft/abi.h>
#include <weft/errno.h>

#define MAXUPRI 60
#define SLICE(ticks) ((ticks)*WEFT_TICK_NS / 1000)

static struct tsdpent ts_table[TS_LEVELS] = {
	/* slice, used up, after a sleep, (beyond a second's wait) 0, then */
	[0] = {SLICE(20), 0, 50, 0, 50},   [1] = {SLICE(20), 0, 50, 0, 50},
	[2] = {SLICE(20), 0, 50, 0, 50},   [3] = {SLICE(20), 0, 50, 0, 50},
	[4] = {SLICE(20), 0, 50, 0, 50},   [5] = {SLICE(20), 0, 50, 0, 50},
	[6] = {SLICE(20), 0, 50, 0, 50},   [7] = {SLICE(20), 0, 50, 0, 50},
	[8] = {SLICE(20), 0, 50, 0, 50},   [9] = {SLICE(20), 0, 50, 0, 50},
	[10] = {SLICE(16), 0, 51, 0, 51},  [11] = {SLICE(16), 1, 51, 0, 51},
	[12] = {SLICE(16), 2, 51, 0, 51},  [13] = {SLICE(16), 3, 51, 0, 51},
	[14] = {SLICE(16), 4, 51, 0, 51},  [15] = {SLICE(16), 5, 51, 0, 51},
	[16] = {SLICE(16), 6, 51, 0, 51},  [17] = {SLICE(16), 7, 51, 0, 51},
	[18] = {SLICE(16), 8, 51, 0, 51},  [19] = {SLICE(16), 9, 51, 0, 51},
	[20] = {SLICE(12), 10, 52, 0, 52}, [21] = {SLICE(12), 11, 52, 0, 52},
	[22] = {SLICE(12), 12, 52, 0, 52}, [23] = {SLICE(12), 13, 52, 0, 52},
	[24] = {SLICE(12), 14, 52, 0, 52}, [25] = {SLICE(12), 15, 52, 0, 52},
	[26] = {SLICE(12), 16, 52, 0, 52}, [27] = {SLICE(12), 17, 52, 0, 52},
	[28] = {SLICE(12), 18, 52, 0, 52}, [29] = {SLICE(12), 19, 52, 0, 52},
	[30] = {SLICE(8), 20, 53, 0, 53},  [31] = {SLICE(8), 21, 53, 0, 53},
	[32] = {SLICE(8), 22, 53, 0, 53},  [33] = {SLICE(8), 23, 53, 0, 53},
	[34] = {SLICE(8), 24, 53, 0, 53},  [35] = {SLICE(8), 25, 54, 0, 54},
	[36] = {SLICE(8), 26, 54, 0, 54},  [37] = {SLICE(8), 27, 54, 0, 54},
	[38] = {SLICE(8), 28, 54, 0, 54},  [39] = {SLICE(8), 29, 54, 0, 54},
	[40] = {SLICE(4), 30, 55, 0, 55},  [41] = {SLICE(4), 31, 55, 0, 55},
	[42] = {SLICE(4), 32, 55, 0, 55},  [43] = {SLICE(4), 33, 55, 0, 55},
	[44] = {SLICE(4), 34, 55, 0, 55},  [45] = {SLICE(4), 35, 56, 0, 56},
	[46] = {SLICE(4), 36, 57, 0, 57},  [47] = {SLICE(4), 37, 58, 0, 58},
	[48] = {SLICE(4), 38, 58, 0, 58},  [49] = {SLICE(4), 39, 58, 0, 59},
	[50] = {SLICE(4), 40, 58, 0, 59},  [51] = {SLICE(4), 41, 58, 0, 59},
	[52] = {SLICE(4), 42, 58, 0, 59},  [53] = {SLICE(4), 43, 58, 0, 59},
	[54] = {SLICE(4), 44, 58, 0, 59},  [55] = {SLICE(4), 45, 58, 0, 59},
	[56] = {SLICE(4), 46, 58, 0, 59},  [57] = {SLICE(4), 47, 58, 0, 59},
	[58] = {SLICE(4), 48, 58, 0, 59},  [59] = {SLICE(2), 49, 59, 0, 59},
};

/* For how many seconds the rules are strict after an LWP has starved.  ts_strict_until: the
 * sched_second when this ends.  Atomic. */
#define STRICT_SECONDS 10
static uint32_t ts_strict_until;

#define TS_START 29 /* where a process begins; LWPs begin where their creator is */

static uint32_t ts_level(const struct lwp *l)
{
	return l->cl.ts.level;
}

/* The global priority is the level plus the user's priority. */
static void ts_to_level(struct lwp *l, int level)
{
	l->cl.ts.level = level;
	sched_own_pri(l, MAX(0, MIN(level + l->cl.ts.upri, PRI_TS_MAX)));
}

/* l has just got its level: its waiting time counts from now on. */
static void ts_count_anew(struct lwp *l, uint64_t waited)
{
	l->cl.ts.second = __atomic_load_n(&sched_second, __ATOMIC_RELAXED);
	l->cl.ts.waited = waited;
}

static bool upri_ok(int upri)
{
	return upri == TS_NOCHANGE || (upri >= -MAXUPRI && upri <= MAXUPRI);
}

static int ts_check(const struct pcparms *p)
{
	return upri_ok(p->ts.ts_upri) && upri_ok(p->ts.ts_uprilim) ? 0 : -EINVAL;
}

/* A user priority above the limit is cut down to it, also when the limit falls. */
static void ts_set(struct lwp *l, const struct pcparms *p, bool fresh)
{
	int upri = p->ts.ts_upri, limit = p->ts.ts_uprilim;

	if (fresh) {
		l->cl.ts.level = TS_START;
		l->cl.ts.upri = l->cl.ts.uprilim = 0;
		ts_count_anew(l, sched_waited(l, time_now()));
	}
	if (limit == TS_NOCHANGE)
		limit = fresh && upri != TS_NOCHANGE ? MAX(upri, 0) : l->cl.ts.uprilim;
	if (upri == TS_NOCHANGE)
		upri = l->cl.ts.upri;
	l->cl.ts.uprilim = limit;
	l->cl.ts.upri = MIN(upri, limit);
	l->cl.ts.nice = -l->cl.ts.upri / 3;
	ts_to_level(l, ts_level(l));
}

static void ts_get(const struct lwp *l, struct pcparms *p)
{
	p->ts.ts_upri = l->cl.ts.upri;
	p->ts.ts_uprilim = l->cl.ts.uprilim;
}

static int ts_get_nice(const struct lwp *l)
{
	return l->cl.ts.nice;
}

/* As Solaris does: the 40 nice values spread over the user priorities, and the limit is set to the
 * same value. */
static void ts_set_nice(struct lwp *l, int nice)
{
	l->cl.ts.nice = nice;
	l->cl.ts.upri = l->cl.ts.uprilim = -nice * MAXUPRI / 20;
	ts_to_level(l, ts_level(l));
}

/* A new process starts at TS_START.  The level of its parent says nothing about it, because the new
 * process runs another program. */
static void ts_fork(struct lwp *l, bool process)
{
	l->cl.ts.waited = 0;
	if (process)
		ts_to_level(l, TS_START);
}

static hrtime_t ts_quantum(const struct lwp *l)
{
	return ts_table[ts_level(l)].ts_quantum * 1000ull;
}

static void ts_slice_used(struct lwp *l)
{
	ts_count_anew(l, l->mtime[MS_WAITCPU]); /* it runs, or sleeps */
	ts_to_level(l, ts_table[ts_level(l)].ts_tqexp);
}

static void ts_another(struct lwp *l, hrtime_t ns)
{
	l->cl.ts.waited -= ns;
}

/*
 * A sleep does not renew the slice, so its length is all that an LWP may use at its level.  A slice
 * that ended between the last look at it and the sleep is used up.
 */
static void __attribute__((noinline)) ts_wakeup_strictly(struct lwp *l, uint32_t second)
{
	const struct tsdpent *e = &ts_table[ts_level(l)];

	if ((int64_t)second - l->cl.ts.second > e->ts_maxwait) {
		l->slice_left = 0;
		ts_count_anew(l, l->mtime[MS_WAITCPU]);
		ts_to_level(l, e->ts_slpret);
	} else if (l->slice_left < 0) {
		ts_slice_used(l);
	}
}

/* Part of each hand-over from LWP to LWP.  While no LWP starves, a sleep renews the slice. */
static void ts_wakeup(struct lwp *l)
{
	uint32_t second = __atomic_load_n(&sched_second, __ATOMIC_RELAXED);

	if (__builtin_expect(second < __atomic_load_n(&ts_strict_until, __ATOMIC_RELAXED), 0)) {
		ts_wakeup_strictly(l, second);
		return;
	}
	int level = ts_level(l), to = ts_table[level].ts_slpret;
	l->slice_left = 0;
	l->cl.ts.waited = l->mtime[MS_WAITCPU];
	if (to != level)
		ts_to_level(l, to);
}

static int ts_starved(struct lwp *l, hrtime_t now)
{
	const struct tsdpent *e = &ts_table[ts_level(l)];
	uint64_t waited = sched_waited(l, now);
	int pri = l->pri;

	/* Another CPU's clock may be ahead of ours. */
	if ((int64_t)(waited - l->cl.ts.waited) < (e->ts_maxwait + 1) * 1000000000ll)
		return pri;
	ts_count_anew(l, waited);
	__atomic_store_n(&ts_strict_until, l->cl.ts.second + STRICT_SECONDS, __ATOMIC_RELAXED);
	ts_to_level(l, e->ts_lwait);
	/* The caller sets l->pri, because it needs the old priority to find the list of l. */
	int to = l->pri;
	PROBE(age, "lwp old new", l, pri, to);
	l->pri = pri;
	return to;
}

static int ts_check_table(const void *table)
{
	const struct tsdpent *e = table;

	for (unsigned i = 0; i < TS_LEVELS; i++, e++)
		if (e->ts_quantum == 0 || e->ts_tqexp < 0 || e->ts_tqexp >= TS_LEVELS ||
		    e->ts_slpret < 0 || e->ts_slpret >= TS_LEVELS || e->ts_maxwait < 0 ||
		    e->ts_lwait < 0 || e->ts_lwait >= TS_LEVELS)
			return -EINVAL;
	return 0;
}

const struct sched_class ts_class = {
	.name = "TS",
	.cid = WEFT_CLASS_TS,
	.check = ts_check,
	.set = ts_set,
	.get = ts_get,
	.get_nice = ts_get_nice,
	.set_nice = ts_set_nice,
	.fork = ts_fork,
	.quantum = ts_quantum,
	.slice_used = ts_slice_used,
	.another = ts_another,
	.wakeup = ts_wakeup,
	.starved = ts_starved,
	.table = ts_table,
	.table_size = sizeof(ts_table),
	.check_table = ts_check_table,
};

/* Kernel LWPs: a fixed priority, and a slice that does not end. */
static int sys_check(const struct pcparms *p)
{
	return -EINVAL;
}

static void sys_set(struct lwp *l, const struct pcparms *p, bool fresh)
{
	sched_own_pri(l, PRI_SYS);
}

static void sys_get(const struct lwp *l, struct pcparms *p)
{
}

static hrtime_t sys_quantum(const struct lwp *l)
{
	return SLICE_FOREVER;
}

static void sys_keep(struct lwp *l)
{
}

static int sys_starved(struct lwp *l, hrtime_t now)
{
	return l->pri;
}

const struct sched_class sys_class = {
	.name = "SYS",
	.cid = WEFT_CLASS_SYS,
	.check = sys_check,
	.set = sys_set,
	.get = sys_get,
	.quantum = sys_quantum,
	.slice_used = sys_keep,
	.wakeup = sys_keep,
	.starved = sys_starved,
};
