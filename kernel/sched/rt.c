/*
 * rt.c - the real-time class: fixed priorities, for SCHED_FIFO and SCHED_RR.
 *
 * An LWP runs until an LWP of higher priority wants the CPU, or of equal priority when the slice is
 * over.  The slice is that of its level in the table, a length of its own, or without end.  A
 * length of its own below WEFT_SLICE_MIN is rounded up to WEFT_SLICE_MIN.
 *
 * A preempted LWP goes before its equals and keeps the rest of its slice.  An LWP that wakes up, or
 * gets a new priority, goes behind its equals (POSIX 1003.1, 2.8.4).
 */
#include <kern/sched.h>
#include <kern/types.h>
#include <weft/abi.h>
#include <weft/errno.h>

#define SLICE(ticks)                                                                               \
	{                                                                                          \
		(ticks) * WEFT_TICK_NS / 1000                                                      \
	}

/* Read and replaced in the same way as the table of time-share (ts.c). */
static struct rtdpent rt_table[RT_LEVELS] = {
	[0 ... 9] = SLICE(100),  [10 ... 19] = SLICE(80), [20 ... 29] = SLICE(60),
	[30 ... 39] = SLICE(40), [40 ... 49] = SLICE(20), [50 ... 59] = SLICE(10),
};

static int rt_check(const struct pcparms *p)
{
	const struct rtparms *rt = &p->rt;

	if (rt->rt_pri != RT_NOCHANGE && (rt->rt_pri < 0 || rt->rt_pri >= RT_LEVELS))
		return -EINVAL;
	if (rt->rt_tqnsecs >= RT_TQDEF && rt->rt_tqnsecs < 0)
		return 0;
	if (rt->rt_tqnsecs < 0 || rt->rt_tqnsecs >= 1000000000 ||
	    (rt->rt_tqsecs == 0 && rt->rt_tqnsecs == 0))
		return -EINVAL;
	return 0;
}

static void rt_set(struct lwp *l, const struct pcparms *p, bool fresh)
{
	const struct rtparms *rt = &p->rt;

	if (fresh) {
		l->cl.rt.pri = 0;
		l->cl.rt.quantum = 0;
	}
	if (rt->rt_pri != RT_NOCHANGE)
		l->cl.rt.pri = rt->rt_pri;
	if (rt->rt_tqnsecs == RT_TQDEF)
		l->cl.rt.quantum = 0;
	else if (rt->rt_tqnsecs == RT_TQINF)
		l->cl.rt.quantum = SLICE_FOREVER;
	else if (rt->rt_tqnsecs != RT_NOCHANGE)
		l->cl.rt.quantum =
			MAX(rt->rt_tqsecs * 1000000000ull + rt->rt_tqnsecs, WEFT_SLICE_MIN);
	sched_own_pri(l, PRI_RT + l->cl.rt.pri);
}

static hrtime_t rt_quantum(const struct lwp *l)
{
	return l->cl.rt.quantum != 0 ? l->cl.rt.quantum
				     : rt_table[l->cl.rt.pri].rt_quantum * 1000ull;
}

static void rt_get(const struct lwp *l, struct pcparms *p)
{
	hrtime_t q = rt_quantum(l);

	p->rt.rt_pri = l->cl.rt.pri;
	p->rt.rt_tqsecs = q == SLICE_FOREVER ? 0 : q / 1000000000;
	p->rt.rt_tqnsecs = q == SLICE_FOREVER ? RT_TQINF : (int32_t)(q % 1000000000);
}

static void rt_fork(struct lwp *l, bool process)
{
}

static void rt_keep(struct lwp *l)
{
}

static void rt_wakeup(struct lwp *l)
{
	l->slice_left = 0;
}

static int rt_starved(struct lwp *l, hrtime_t now)
{
	return l->pri;
}

static int rt_check_table(const void *table)
{
	const struct rtdpent *e = table;

	for (unsigned i = 0; i < RT_LEVELS; i++)
		if (e[i].rt_quantum == 0)
			return -EINVAL;
	return 0;
}

const struct sched_class rt_class = {
	.name = "RT",
	.cid = WEFT_CLASS_RT,
	.check = rt_check,
	.set = rt_set,
	.get = rt_get,
	.fork = rt_fork,
	.quantum = rt_quantum,
	.slice_used = rt_keep,
	.wakeup = rt_wakeup,
	.starved = rt_starved,
	.table = rt_table,
	.table_size = sizeof(rt_table),
	.check_table = rt_check_table,
};
