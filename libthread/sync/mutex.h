/* mutex.h - what condition variables need to know about mutexes (mutex.c). */
#pragma once
#include <pthread.h>
#include "../core/impl.h"

/* Flags in the low bits of __owner, which are free since a struct thread is aligned. */
#define M_WAITERS 1ul  /* threads may be in the mutex's sleep queue */
#define M_RECURSED 2ul /* __count is not 0 */
#define M_FLAGS 63ul

static inline struct thread *mutex_owner(const pthread_mutex_t *m)
{
	return (struct thread *)(__atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & ~M_FLAGS);
}

/* Takes m, not by its owner.  0 or ETIMEDOUT.  Blocks. */
int __mutex_lock_slow(pthread_mutex_t *m, deadline_t deadline);
