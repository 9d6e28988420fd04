/*
 * ts.c - the time-share class, and the fixed class of kernel LWPs.
 *
 * Time-share is the table below, in the shape of Solaris's ts_dptbl(4): an LWP
 * that uses up its slice falls, one that comes back from a sleep rises, and low
 * priorities make up for their rarity with longer slices; one that has waited a
 * second for a CPU is lifted, so that none starves.  The numbers are those of
 * the classic table: slices of 20 ticks at the bottom and 2 at the top.
 */
#include <kern/sched.h>
#include <kern/types.h>
#include <weft/abi.h>

struct ts_level {
	uint8_t slice;  /* ticks */
	uint8_t used;   /* new level when the slice is used up */
	uint8_t wakeup; /* new level on return from a sleep */
	uint8_t waited; /* new level after a second without a CPU */
};

static const struct ts_level ts_table[PRI_TS_MAX + 1] = {
	/* slice used wakeup waited */
	[0] = {20, 0, 50, 50},   [1] = {20, 0, 50, 50},   [2] = {20, 0, 50, 50},
	[3] = {20, 0, 50, 50},   [4] = {20, 0, 50, 50},   [5] = {20, 0, 50, 50},
	[6] = {20, 0, 50, 50},   [7] = {20, 0, 50, 50},   [8] = {20, 0, 50, 50},
	[9] = {20, 0, 50, 50},   [10] = {16, 0, 51, 51},  [11] = {16, 1, 51, 51},
	[12] = {16, 2, 51, 51},  [13] = {16, 3, 51, 51},  [14] = {16, 4, 51, 51},
	[15] = {16, 5, 51, 51},  [16] = {16, 6, 51, 51},  [17] = {16, 7, 51, 51},
	[18] = {16, 8, 51, 51},  [19] = {16, 9, 51, 51},  [20] = {12, 10, 52, 52},
	[21] = {12, 11, 52, 52}, [22] = {12, 12, 52, 52}, [23] = {12, 13, 52, 52},
	[24] = {12, 14, 52, 52}, [25] = {12, 15, 52, 52}, [26] = {12, 16, 52, 52},
	[27] = {12, 17, 52, 52}, [28] = {12, 18, 52, 52}, [29] = {12, 19, 52, 52},
	[30] = {8, 20, 53, 53},  [31] = {8, 21, 53, 53},  [32] = {8, 22, 53, 53},
	[33] = {8, 23, 53, 53},  [34] = {8, 24, 53, 53},  [35] = {8, 25, 54, 54},
	[36] = {8, 26, 54, 54},  [37] = {8, 27, 54, 54},  [38] = {8, 28, 54, 54},
	[39] = {8, 29, 54, 54},  [40] = {4, 30, 55, 55},  [41] = {4, 31, 55, 55},
	[42] = {4, 32, 55, 55},  [43] = {4, 33, 55, 55},  [44] = {4, 34, 55, 55},
	[45] = {4, 35, 56, 56},  [46] = {4, 36, 57, 57},  [47] = {4, 37, 58, 58},
	[48] = {4, 38, 58, 58},  [49] = {4, 39, 58, 59},  [50] = {4, 40, 58, 59},
	[51] = {4, 41, 58, 59},  [52] = {4, 42, 58, 59},  [53] = {4, 43, 58, 59},
	[54] = {4, 44, 58, 59},  [55] = {4, 45, 58, 59},  [56] = {4, 46, 58, 59},
	[57] = {4, 47, 58, 59},  [58] = {4, 48, 58, 59},  [59] = {2, 49, 59, 59},
};

#define TS_START 29 /* where a process begins; LWPs begin where their creator is */

static void ts_init(struct lwp *l, const struct lwp *parent)
{
	l->pri = parent && parent->sclass == &ts_class ? parent->pri : TS_START;
}

static hrtime_t ts_quantum(const struct lwp *l)
{
	return ts_table[l->pri].slice * WEFT_TICK_NS;
}

static void ts_slice_used(struct lwp *l)
{
	l->pri = ts_table[l->pri].used;
}

static void ts_wakeup(struct lwp *l)
{
	l->pri = ts_table[l->pri].wakeup;
}

static int ts_starved(struct lwp *l)
{
	return ts_table[l->pri].waited;
}

const struct sched_class ts_class = {
	.name = "TS",
	.init = ts_init,
	.quantum = ts_quantum,
	.slice_used = ts_slice_used,
	.wakeup = ts_wakeup,
	.starved = ts_starved,
};

/* Kernel LWPs: a fixed priority, no end of slice worth speaking of. */
static void sys_init(struct lwp *l, const struct lwp *parent)
{
	l->pri = PRI_SYS;
}

static hrtime_t sys_quantum(const struct lwp *l)
{
	return WEFT_HZ * WEFT_TICK_NS;
}

static void sys_keep(struct lwp *l)
{
}

static int sys_starved(struct lwp *l)
{
	return l->pri;
}

const struct sched_class sys_class = {
	.name = "SYS",
	.init = sys_init,
	.quantum = sys_quantum,
	.slice_used = sys_keep,
	.wakeup = sys_keep,
	.starved = sys_starved,
};
