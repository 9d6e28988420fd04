/*
 * time.h - time without a system call.
 *
 * Time is a count of nanoseconds since boot (CLOCK_MONOTONIC).  The kernel maps
 * a read-only page with one record for each CPU into every process.  A reader gets
 * its CPU number and the time stamp counter by one instruction (RDTSCP).  Then it
 * reads the record of that CPU, and scales:
 *
 *	now = vbase + ((tsc - ws) * mult >> 32)
 *
 * In fast timing the record never changes after boot and is the same on every
 * CPU.  In exact timing the kernel writes it at the start of each window of the
 * CPU, with mult = 2^32 (one instruction per nanosecond).  *Race:* a reader reads the
 * counter; the kernel writes the record before the reader reads it; *without this:* the
 * reader scales an old counter by a new record; *closed by:* a counter that was read
 * before the record was written is below its ws.  So a reader reads vbase, then ws, and
 * starts again if the difference is negative.  This also holds if the reader has moved to
 * another CPU, and if one of the two values was read from the old record.
 */
#pragma once
#include "abi.h"

struct timerec {
	uint64_t vbase; /* kernel writes: nanoseconds at tsc == ws */
	uint64_t ws;    /* kernel writes, after vbase: time stamp counter at vbase */
	uint64_t mult;  /* kernel writes: nanoseconds per count, 32.32 fixed point */
	uint64_t begin; /* for the kernel: nanoseconds when the window began */
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
/* For clock_gettime only: the CPU time of LWP id of the caller's process; of a process. */
#define WEFT_CLOCK_LWP(id) (0x1000000u | (id))
#define WEFT_CLOCK_PROC(pid) (0x2000000u | (pid))
