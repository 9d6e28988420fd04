/*
 * priocntl.h - scheduling classes and their parameters (Solaris: priocntl(2)).
 *
 * Global priorities, higher first: 0 to 59 time-share (and the variable levels of NT), 60
 * to 99 the kernel, 100 to 159 real-time.  Levels of two classes that share a range are
 * compared by global priority.
 */
#pragma once
#include "abi.h"
#include "procset.h"

/*
 * The shortest slice of any class, in nanoseconds.  In a shorter slice an LWP would not execute a
 * single instruction, because the switch to it and the interrupt that ends the slice take longer.
 * So shorter slices, in parameters and in tables, are rounded up to this.
 */
#define WEFT_SLICE_MIN 1000000ull

/* Class ids. */
enum {
	WEFT_CLASS_SYS, /* for the kernel only: no process can enter it */
	WEFT_CLASS_TS,  /* time-share: falls with use, rises with sleep */
	WEFT_CLASS_RT,  /* fixed priorities */
	WEFT_CLASS_NT,  /* as Windows NT 4 */
	WEFT_NCLASS,
};
#define PC_CLNULL (-1) /* PC_GETPARMS: any class */

/* Commands of priocntl(idtype, id, command, argument). */
enum {
	PC_GETCID,    /* struct pcinfo: fills in the rest, by the class's name */
	PC_GETCLINFO, /* struct pcinfo: fills in the rest, by the class's id */
	PC_SETPARMS,  /* struct pcparms: class and parameters for every selected LWP */
	PC_GETPARMS,  /* struct pcparms: of the selected LWP with the highest priority */
	PC_ADMIN,     /* struct pcadmin: gets or sets a class's table */
	PC_DONICE = 6 /* struct pcnice */
};

#define PC_CLNMSZ 16

struct pcinfo {
	int32_t pc_cid;
	char pc_clname[PC_CLNMSZ];
	int32_t pc_maxpri; /* TS: user priorities are -max to max; RT, NT: 0 or 1 to max */
};

/* Parameters.  A value from the caller may be NOCHANGE; a value from the kernel never is. */
#define TS_NOCHANGE (-32768)
struct tsparms {
	int16_t ts_uprilim; /* limit of the user priority */
	int16_t ts_upri;    /* user priority: -60 to 60, added to the level of time-share */
};

#define RT_NOCHANGE (-1)
#define RT_TQINF (-2) /* slice: unlimited (SCHED_FIFO) */
#define RT_TQDEF (-3) /* slice: that of the level in the class's table (SCHED_RR) */
struct rtparms {
	int16_t rt_pri;     /* 0 to 59 */
	uint32_t rt_tqsecs; /* slice: seconds and nanoseconds, 1 ns or more, */
	int32_t rt_tqnsecs; /* ... or RT_* here; below WEFT_SLICE_MIN it is rounded up */
};

/* Base levels that Windows gives the classes of processes; any level from 1 to 31 is allowed. */
#define NT_IDLE_CLASS 4
#define NT_NORMAL_CLASS 8
#define NT_HIGH_CLASS 13
#define NT_REALTIME_CLASS 24
#define NT_NOCHANGE (-32768)
struct ntparms {
	int16_t nt_class;    /* base level of the process: 1 to 15 variable, 16 to 31 fixed */
	int16_t nt_relative; /* of the thread: -2 to 2, or -15 (idle), 15 (time-critical) */
	int16_t nt_level;    /* kernel writes: its present level, boosts included */
};

struct pcparms {
	int32_t pc_cid; /* WEFT_CLASS_*; PC_GETPARMS: the class that the LWP must be in */
	union {
		int32_t pc_clparms[8];
		struct tsparms ts;
		struct rtparms rt;
		struct ntparms nt;
	};
};

#define PC_GETNICE 0
#define PC_SETNICE 1
struct pcnice {
	int32_t pc_val; /* -20 to 19; a value outside counts as the nearer end */
	int32_t pc_op;  /* PC_GETNICE: the lowest of the selected LWPs; PC_SETNICE */
};

/* A class's table.  TS: a struct tsdpent for each level; RT: a struct rtdpent for each level; NT:
 * one struct ntadmin. */
#define PC_GETTABLE 0
#define PC_SETTABLE 1
struct pcadmin {
	int32_t pc_cid;
	int32_t pc_cmd;
	uint64_t pc_table; /* void * */
	uint64_t pc_size;  /* bytes: the exact size of the table */
};

#define TS_LEVELS 60
struct tsdpent {             /* one level of ts_dptbl(4) */
	uint32_t ts_quantum; /* slice in microseconds, 1 or more; see WEFT_SLICE_MIN */
	int16_t ts_tqexp;    /* new level when the slice is used up */
	int16_t ts_slpret;   /* new level on return from a sleep */
	int16_t ts_maxwait;  /* seconds without a CPU, beyond the first, before ... */
	int16_t ts_lwait;    /* ... the level changes to this */
};

#define RT_LEVELS 60
struct rtdpent {
	uint32_t rt_quantum; /* slice in microseconds, 1 or more; see WEFT_SLICE_MIN */
};

struct ntadmin {
	uint32_t nt_quantum; /* microseconds, 3 or more: workstation 20 ms, server 120 ms */
	uint32_t nt_stretch; /* slices of the foreground process: 1, 2 or 3 times as long */
	uint32_t nt_boost;   /* levels up on a wake-up that is not a time-out: 0 to 15 */
	uint32_t nt_maxwait; /* milliseconds of waiting, in sum, before a boost to 15; 0: never */
	uint32_t nt_clock;   /* 1: slices in ticks of the clock, as NT had them; 0: exactly */
};
