/*
 * kobj.h - kernel objects with handles: mutexes, events and semaphores after those of Windows NT.
 * Each use of an object is a system call (kobj_*).
 *
 * A handle is a number of the process.  An object lives as long as a process has a handle to it,
 * an LWP waits for it, or an LWP owns it (a mutex).  A second create with the same name gives
 * another handle to the same object.  All processes and kinds of object share one space of names.
 *
 * At fork and spawn the child gets the handles with KOBJ_INHERIT, under the same numbers.  exec
 * keeps these handles and closes the others.  The end of a process closes all its handles.
 */
#pragma once
#include <stdint.h>

enum { KOBJ_MUTEX = 1, KOBJ_EVENT = 2, KOBJ_SEMAPHORE = 3 };

#define KOBJ_MANUAL_RESET 0x1 /* event: stays set, and lets all waiters go on, until a reset */
#define KOBJ_INHERIT 0x2      /* children and exec get the handle */
#define KOBJ_OPEN 0x4         /* the name must exist: ENOENT */
#define KOBJ_NEW 0x8          /* the name must not exist: EEXIST */

#define KOBJ_NAME_MAX 259 /* bytes, without the NUL */

struct kobj_create {      /* the caller writes all except the last two */
	uint32_t kind;    /* KOBJ_MUTEX ... */
	uint32_t flags;   /* KOBJ_* */
	int32_t initial;  /* mutex: 1: the caller owns it; event: 1: set; semaphore: the count */
	int32_t max;      /* semaphore: the count's limit, 1 or more */
	uint64_t name;    /* const char *, or 0: no name */
	uint32_t handle;  /* kernel: also the result */
	uint32_t existed; /* kernel: 1: the name existed; initial and max were ignored */
};

#define KOBJ_WAIT_MAX 64 /* objects of one wait */
#define KOBJ_WAIT_ALL 1  /* flags of kobj_wait: until all are available, and then all at once */

/* Added to the result of kobj_wait: the owner of an acquired mutex exited without a release. */
#define KOBJ_ABANDONED 0x80

#define KOBJ_HANDLES_MAX 65536 /* of a process */
