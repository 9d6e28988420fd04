/*
 * time.h - time without a system call.
 *
 * Time is a count of nanoseconds since boot (CLOCK_MONOTONIC).  The kernel maps
 * a read-only page with one record a CPU into every process.  A reader finds
 * its CPU and the time stamp counter in one instruction (RDTSCP, whose third
 * result is the CPU number), then reads that CPU's record, and scales:
 *
 *	now = vbase + ((tsc - ws) * mult >> 32)
 *
 * In fast timing the record never changes after boot and is the same on every
 * CPU.  In exact timing the kernel writes it at the start of each window of the
 * CPU, with mult = 2^32 (one instruction a nanosecond).  A counter that was read
 * before the record was written is below its ws: so a reader reads vbase, then ws,
 * and if the difference is negative starts again.  That holds wherever the reader runs
 * by then, and whichever of the two it has read of the old record.
 */
#pragma once
#include "abi.h"

struct timerec {
	uint64_t vbase; /* kernel writes: nanoseconds at tsc == ws */
	uint64_t ws;    /* kernel writes, after vbase: time stamp counter at vbase */
	uint64_t mult;  /* kernel writes: nanoseconds a count, 32.32 fixed point */
	uint64_t spare;
};

struct timepage {
	struct timerec cpu[WEFT_MAXCPU];
	/* kernel writes: CLOCK_REALTIME - CLOCK_MONOTONIC, ns; clock_settime changes it */
	uint64_t boot_realtime;
	uint64_t exact; /* kernel writes: 1 in exact timing, else 0 */
};

/* Clocks of clock_gettime, lwp_sleep.  newlib's values. */
#define WEFT_CLOCK_REALTIME 1
#define WEFT_CLOCK_PROCESS_CPUTIME 2
#define WEFT_CLOCK_THREAD_CPUTIME 3
#define WEFT_CLOCK_MONOTONIC 4
/* And of clock_gettime: the CPU time of LWP id of the caller's process; of a process. */
#define WEFT_CLOCK_LWP(id) (0x1000000u | (id))
#define WEFT_CLOCK_PROC(pid) (0x2000000u | (pid))
