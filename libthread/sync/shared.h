/*
 * shared.h - objects that processes share, and robust mutexes: the functions of shared.c that the
 * files of the objects call.
 */
#pragma once
#include <pthread.h>
#include <semaphore.h>
#include <weft/ksync.h>
#include "../core/core.h"
#include "../core/model.h"

/*
 * A mutex with a word of the kernel (weft/ksync.h) never looks free to the fast paths, and never
 * looks owned by the caller, because no struct thread has an address with this bit.
 */
static inline bool mutex_is_shared(const pthread_mutex_t *m)
{
	return __atomic_load_n(&m->__owner, __ATOMIC_RELAXED) & LWP_MUTEX_SHARED;
}
static inline bool cond_is_shared(const pthread_cond_t *c)
{
	return __atomic_load_n(&c->__waiters, __ATOMIC_RELAXED) & LWP_COND_SHARED;
}
static inline bool cond_is_in_kernel(const pthread_cond_t *c)
{
	return __options.kernel_sleep || cond_is_shared(c);
}
static inline bool rwlock_is_shared(const pthread_rwlock_t *l)
{
	return __atomic_load_n(&l->__word, __ATOMIC_RELAXED) & LWP_RWLOCK_SHARED;
}

/* As pthread_mutex_lock, trylock, timedlock, unlock, destroy. */
int __shared_lock(pthread_mutex_t *m, deadline_t deadline);
int __shared_trylock(pthread_mutex_t *m);
int __shared_unlock(pthread_mutex_t *m);
int __shared_destroy(pthread_mutex_t *m);
bool __shared_owned(const pthread_mutex_t *m); /* by the caller */

/* Acquire m, and release it by its owner, without m's protocol if it has one. */
int __shared_take(pthread_mutex_t *m, bool only_try, deadline_t deadline);
int __shared_give_up(pthread_mutex_t *m);

/*
 * m's word is the library's, and its queue the kernel's.  The first function acquires m (0,
 * ETIMEDOUT).  The second releases m, which `owner` owns.
 */
int __kernel_mutex_lock(pthread_mutex_t *m, deadline_t deadline);
int __kernel_mutex_unlock(pthread_mutex_t *m, const struct thread *owner);

/* c's queue is the kernel's.  The caller owns m, which is shared if c is. */
int __shared_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, deadline_t deadline);
int __shared_cond_wake(pthread_cond_t *c, bool all);

/* The slow paths.  They return an error number. */
int __shared_sem_wait(sem_t *s, deadline_t deadline);
int __shared_sem_post(sem_t *s);

bool __rwlock_is_writer(const pthread_rwlock_t *l); /* is the caller the writer?  For any lock */

/* Acquires l if it is free, or if readers own it and no thread waits for it. */
bool __shared_tryrwlock(pthread_rwlock_t *l, bool write);
/*
 * The first function acquires l: 0, EDEADLK, EAGAIN, ETIMEDOUT.  The second releases it: 0, EPERM.
 */
int __shared_rwlock(pthread_rwlock_t *l, bool write, deadline_t deadline);
int __shared_rwlock_unlock(pthread_rwlock_t *l);
int __kernel_rwlock_unlock(pthread_rwlock_t *l); /* l is private and has waiters */
