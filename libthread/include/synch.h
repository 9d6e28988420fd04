/*
 * synch.h - UNIX International synchronisation objects (Solaris).
 *
 * They are the objects of pthread.h and semaphore.h under other names, so pthread_mutex_lock can
 * lock a mutex_t.  All zero is a valid object of type USYNC_THREAD.  Functions return 0 or an error
 * number; a time-out is ETIME.
 */
#ifndef _SYNCH_H
#define _SYNCH_H

#include <semaphore.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef pthread_mutex_t mutex_t;
typedef pthread_cond_t cond_t;
typedef pthread_rwlock_t rwlock_t;
typedef sem_t sema_t;
typedef struct timespec timestruc_t;

#define USYNC_THREAD 0x00
#define USYNC_PROCESS 0x01
#define LOCK_RECURSIVE 0x02    /* mutex: may be locked again by its owner */
#define LOCK_ERRORCHECK 0x04   /* mutex: wrong uses return errors */
#define LOCK_ROBUST 0x08       /* mutex: the next owner learns that the last one died */
#define LOCK_PRIO_INHERIT 0x10 /* mutex: PTHREAD_PRIO_INHERIT */
#define LOCK_PRIO_PROTECT 0x20 /* mutex: PTHREAD_PRIO_PROTECT; arg: int *, the ceiling */
#define USYNC_PROCESS_ROBUST (USYNC_PROCESS | LOCK_ROBUST)

/* clang-format off */
#define DEFAULTMUTEX { 0, 0, 0, 0, 0, 0 }
#define RECURSIVEMUTEX { 0, 0, 1, 0, 0, 0 }
#define ERRORCHECKMUTEX { 0, 0, 2, 0, 0, 0 }
#define DEFAULTCV { 0, 0 }
#define DEFAULTRWLOCK { 0, 0 }
#define DEFAULTSEMA { 0, 0 }
/* clang-format on */

int mutex_init(mutex_t *__mutex, int __type, void *__arg);
int mutex_destroy(mutex_t *__mutex);
int mutex_lock(mutex_t *__mutex);
int mutex_trylock(mutex_t *__mutex);
int mutex_unlock(mutex_t *__mutex);
int mutex_consistent(mutex_t *__mutex);

int cond_init(cond_t *__cond, int __type, void *__arg);
int cond_destroy(cond_t *__cond);
int cond_wait(cond_t *__cond, mutex_t *__mutex);
int cond_timedwait(cond_t *__cond, mutex_t *__mutex, timestruc_t *__abstime);
int cond_reltimedwait(cond_t *__cond, mutex_t *__mutex, timestruc_t *__reltime);
int cond_signal(cond_t *__cond);
int cond_broadcast(cond_t *__cond);

int rwlock_init(rwlock_t *__lock, int __type, void *__arg);
int rwlock_destroy(rwlock_t *__lock);
int rw_rdlock(rwlock_t *__lock);
int rw_wrlock(rwlock_t *__lock);
int rw_tryrdlock(rwlock_t *__lock);
int rw_trywrlock(rwlock_t *__lock);
int rw_unlock(rwlock_t *__lock);

int sema_init(sema_t *__sem, unsigned __count, int __type, void *__arg);
int sema_destroy(sema_t *__sem);
int sema_wait(sema_t *__sem);
int sema_trywait(sema_t *__sem);
int sema_post(sema_t *__sem);

/* For assertions: not 0 if the caller owns the lock, or if the semaphore is 0. */
int _mutex_held(mutex_t *__mutex);
int _rw_read_held(rwlock_t *__lock);
int _rw_write_held(rwlock_t *__lock);
int _sema_held(sema_t *__sem);
#define MUTEX_HELD(mutex) _mutex_held(mutex)
#define RW_READ_HELD(lock) _rw_read_held(lock)
#define RW_WRITE_HELD(lock) _rw_write_held(lock)
#define RW_LOCK_HELD(lock) (_rw_read_held(lock) || _rw_write_held(lock))
#define SEMA_HELD(sem) _sema_held(sem)

#ifdef __cplusplus
}
#endif
#endif
