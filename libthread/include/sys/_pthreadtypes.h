/*
 * sys/_pthreadtypes.h - the types of POSIX threads, for <sys/types.h>.
 *
 * This file comes before newlib's file of the same name on the include path.  newlib's types are 4
 * bytes each.  A program compiled with them would overwrite the memory behind each object without a
 * warning.
 *
 * Every object that is all zero is a valid, free object with default attributes.  Only libthread
 * uses the fields.  The file in libthread/sync/ that works on a type describes its bits at the top.
 */
#ifndef _SYS__PTHREADTYPES_H_
#define _SYS__PTHREADTYPES_H_

#include <stddef.h>
#include <sys/sched.h>

typedef unsigned long pthread_t; /* a small number; thr_* calls the same number thread_t */
typedef unsigned int pthread_key_t;

typedef struct {
	unsigned long __owner;    /* struct thread * of the owner, and flags; or weft/ksync.h */
	unsigned int __count;     /* recursive: locks beyond the first; only for the owner */
	unsigned char __type;     /* PTHREAD_MUTEX_* */
	unsigned char __protocol; /* PTHREAD_PRIO_* */
	unsigned char __ceiling;  /* only for the owner */
	void *__next;             /* see sync/protocol.c */
} pthread_mutex_t;

typedef struct {
	unsigned int __waiters; /* 0: no thread waits; or weft/ksync.h */
	unsigned char __clock;  /* of timed waits: a clockid_t; 0: CLOCK_REALTIME */
} pthread_cond_t;

typedef struct {
	unsigned int __word;    /* number of readers or a writer, and flags */
	unsigned long __writer; /* struct thread * of the writer, or 0; or weft/ksync.h */
} pthread_rwlock_t;

typedef struct {
	unsigned long __word; /* threads that have arrived; shared: weft/ksync.h */
	unsigned int __count; /* threads of one cycle; 0: not initialised */
	unsigned int __flags;
} pthread_barrier_t;

typedef struct {
	int __held;
} pthread_spinlock_t;

typedef struct {
	int __state;
} pthread_once_t;

typedef struct {
	void *__stackaddr; /* lowest address, or NULL: libthread allocates */
	size_t __stacksize;
	size_t __guardsize;
	int __detachstate;
	int __scope;
	int __inheritsched;
	int __policy;
	int __priority;
	int __valid; /* a constant while initialised */
} pthread_attr_t;

typedef struct {
	int __type;
	int __pshared;
	int __robust;
	int __protocol;
	int __ceiling;
} pthread_mutexattr_t;

typedef struct {
	int __clock;
	int __pshared;
} pthread_condattr_t;

typedef struct {
	int __pshared;
} pthread_rwlockattr_t;

typedef struct {
	int __pshared;
} pthread_barrierattr_t;

#endif
