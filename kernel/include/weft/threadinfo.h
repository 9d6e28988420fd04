/*
 * threadinfo.h - what the kernel knows of a threads library: enough to tell, when the machine ends, what
 * threads a process has and why they do not run (kernel/proc/report.c).
 *
 * Nothing else goes by it, and the kernel believes nothing that it finds: a process may have another
 * library, or none.  libthread writes the fields and asserts their places (libthread/core/impl.h).  FS base
 * of an LWP that runs a thread points at the thread's structure, whose first word points at itself.
 */
#pragma once
#include "abi.h"

#define THREADINFO_STATE 48 /* uint32_t: THREADINFO_* */
#define THREADINFO_BOUND 53 /* one byte: has an LWP of its own */
#define THREADINFO_ID 56    /* uint32_t: pthread_t; 0: no thread of the program */
#define THREADINFO_NEXT 400 /* address of the next thread of the process, in a ring */

enum {
	THREADINFO_STOPPED,
	THREADINFO_BLOCKED,
	THREADINFO_RUNQUEUE,
	THREADINFO_DISPATCHABLE,
	THREADINFO_ONLWP,
	THREADINFO_STATES,
};
