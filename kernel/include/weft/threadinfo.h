/*
 * threadinfo.h - what the kernel knows of a threads library.  With it the kernel reports, when the
 * machine ends, what threads a process has and why they do not run (kernel/proc/report.c).
 *
 * It has no other use.  The kernel does not trust the data, because a process may have another
 * library, or none.  libthread writes the fields and asserts their offsets (libthread/core/impl.h).
 * While an LWP runs a thread, its FS base points at the thread's structure.  The first word of this
 * structure points at itself.
 */
#pragma once
#include "abi.h"

#define THREADINFO_STATE 64 /* uint32_t: THREADINFO_* */
#define THREADINFO_BOUND 69 /* one byte: has an LWP of its own */
#define THREADINFO_ID 72    /* uint32_t: pthread_t; 0: no thread of the program */
#define THREADINFO_NEXT 448 /* address of the next thread, in a ring; some may have the id 0 */

enum {
	THREADINFO_STOPPED,
	THREADINFO_BLOCKED,
	THREADINFO_RUNQUEUE,
	THREADINFO_DISPATCHABLE,
	THREADINFO_ONLWP,
	THREADINFO_STATES,
};
