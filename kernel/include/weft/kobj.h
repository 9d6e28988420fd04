/*
 * kobj.h - kernel objects that are reached by handles, and whose every use is a system call:
 * mutexes, events and semaphores after those of Windows NT (kobj_* calls).
 *
 * A handle is a number of the process; the object lives as long as anybody has a handle to
 * it, waits for it, or, of a mutex, owns it.  With a name, a second create gives another
 * handle to the same object; names are one space for all processes and kinds.
 *
 * At fork and spawn the child gets the handles with KOBJ_INHERIT, under the same numbers;
 * exec keeps these and closes the others.  The end of a process closes them all.
 */
#pragma once
#include <stdint.h>

enum { KOBJ_MUTEX = 1, KOBJ_EVENT = 2, KOBJ_SEMAPHORE = 3 };

#define KOBJ_MANUAL_RESET 0x1 /* event: stays set until it is reset, and lets all by */
#define KOBJ_INHERIT 0x2      /* children and exec get the handle */
#define KOBJ_OPEN 0x4         /* the name must exist: ENOENT */
#define KOBJ_NEW 0x8          /* the name must not exist: EEXIST */

#define KOBJ_NAME_MAX 259 /* bytes, without the NUL */

struct kobj_create {      /* the caller writes all but the last two */
	uint32_t kind;    /* KOBJ_MUTEX ... */
	uint32_t flags;   /* KOBJ_* */
	int32_t initial;  /* mutex: 1: the caller owns it; event: 1: set; semaphore: the count */
	int32_t max;      /* semaphore: the count's limit, 1 or more */
	uint64_t name;    /* const char *, or 0: no name */
	uint32_t handle;  /* kernel: also the result */
	uint32_t existed; /* kernel: 1: there was one of this name; initial and max did not count */
};

#define KOBJ_WAIT_MAX 64 /* objects of one wait */
#define KOBJ_WAIT_ALL 1  /* flags of kobj_wait: until all can be had, and then all at once */

/* Added to the result of kobj_wait: a mutex among those had was left by an owner that died. */
#define KOBJ_ABANDONED 0x80

#define KOBJ_HANDLES_MAX 65536 /* of a process */
