/*
 * mutex.h - what condition variables and protocols need to know about mutexes (mutex.c), and
 * mutexes about protocols (protocol.c).
 */
#pragma once
#include <pthread.h>
#include <weft/ksync.h>
#include "../core/core.h"

/* Flags in the low bits of __owner, which are free since a struct thread is aligned. */
#define M_WAITERS 1ul  /* threads may be in the mutex's sleep queue */
#define M_RECURSED 2ul /* __count is not 0 */
/* Always: not PTHREAD_PRIO_NONE, and the word is not the kernel's. */
#define M_PROTOCOL LWP_MUTEX_CEILING
#define M_FLAGS 63ul

#define PRIO_CEILING_MIN 0 /* priorities of SCHED_FIFO */
#define PRIO_CEILING_MAX 59

static inline struct thread *mutex_owner(const pthread_mutex_t *m)
{
	return (struct thread *)(__atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & ~M_FLAGS);
}

/* The caller has m, which has no protocol, and whose word is not the kernel's. */
static inline bool mutex_is_plain_and_own(const pthread_mutex_t *m)
{
	return (__atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & ~(M_WAITERS | M_RECURSED)) ==
	       (unsigned long)thread_self();
}

/* Takes m, not by its owner.  0 or ETIMEDOUT.  Blocks. */
int __mutex_lock_slow(pthread_mutex_t *m, deadline_t deadline);

/* m, which has M_PROTOCOL, without its protocol: takes it, not by its owner (0, EBUSY with try,
 * ETIMEDOUT), and gives it up, by its owner (0). */
int __mutex_lock_plain(pthread_mutex_t *m, bool try, deadline_t deadline);
int __mutex_unlock_plain(pthread_mutex_t *m);

/* m, which has a protocol, as pthread_mutex_lock, trylock, timedlock; unlock. */
int __protocol_lock(pthread_mutex_t *m, bool try, deadline_t deadline);
int __protocol_unlock(pthread_mutex_t *m);
void __protocol_lost(pthread_mutex_t *m);
