/*
 * mutex.h - what condition variables and protocols use of mutexes (mutex.c), and what mutexes use
 * of protocols (protocol.c).
 */
#pragma once
#include <pthread.h>
#include <weft/ksync.h>
#include "../core/core.h"

/* Flags in the low bits of __owner.  The bits are free because a struct thread is aligned. */
#define M_WAITERS 1ul  /* threads may be in the mutex's sleep queue */
#define M_RECURSED 2ul /* __count is not 0 */
/* Always set if the protocol is not PTHREAD_PRIO_NONE and the word is not the kernel's. */
#define M_PROTOCOL LWP_MUTEX_CEILING
#define M_FLAGS 63ul

#define PRIO_CEILING_MIN 0 /* priorities of SCHED_FIFO */
#define PRIO_CEILING_MAX 59

static inline struct thread *mutex_owner(const pthread_mutex_t *m)
{
	return (struct thread *)(__atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & ~M_FLAGS);
}

/* The caller owns m.  m has no protocol, and its word is not the kernel's. */
static inline bool mutex_is_plain_and_own(const pthread_mutex_t *m)
{
	return (__atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & ~(M_WAITERS | M_RECURSED)) ==
	       (unsigned long)thread_self();
}

/* Acquires m, which the caller does not own.  0 or ETIMEDOUT.  Blocks. */
int __mutex_lock_slow(pthread_mutex_t *m, deadline_t deadline);

/*
 * Acquire and release m, which has M_PROTOCOL, without its protocol.  The caller of lock does not
 * own m: 0, EBUSY with try, ETIMEDOUT.  The caller of unlock owns m: 0.
 */
int __mutex_lock_plain(pthread_mutex_t *m, bool try, deadline_t deadline);
int __mutex_unlock_plain(pthread_mutex_t *m);

/* As pthread_mutex_lock, trylock and timedlock, and unlock, for m with a protocol. */
int __protocol_lock(pthread_mutex_t *m, bool try, deadline_t deadline);
int __protocol_unlock(pthread_mutex_t *m);
void __protocol_lost(pthread_mutex_t *m);
