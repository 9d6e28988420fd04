/*
 * synch.c - UNIX International synchronisation objects, which are the POSIX objects under other
 * names (synch.h).  They have a file of their own, as core/thr.c does, because a POSIX program may
 * use these names itself.
 */
#include <errno.h>
#include <pthread.h>
#include <synch.h>
#include "shared.h"

/* EINVAL: another type. */
static int check_type(int type, int allowed)
{
	return type & ~allowed ? EINVAL : 0;
}

static int pshared_of(int type)
{
	return type & USYNC_PROCESS ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
}

/*
 * LOCK_PRIO_PROTECT: arg points to an int, the ceiling.  EINVAL: unknown bits of type, both
 * protocols, or the ceiling is no priority of SCHED_FIFO.
 */
int mutex_init(mutex_t *m, int type, void *arg)
{
	const int protocols = LOCK_PRIO_INHERIT | LOCK_PRIO_PROTECT;
	pthread_mutexattr_t attr = {.__type = PTHREAD_MUTEX_NORMAL, .__pshared = pshared_of(type)};
	int error = check_type(type, USYNC_PROCESS | LOCK_ROBUST | LOCK_RECURSIVE |
					     LOCK_ERRORCHECK | protocols);

	if (error != 0 || (type & protocols) == protocols)
		return EINVAL;
	if (type & LOCK_PRIO_INHERIT)
		attr.__protocol = PTHREAD_PRIO_INHERIT;
	if (type & LOCK_PRIO_PROTECT) {
		attr.__protocol = PTHREAD_PRIO_PROTECT;
		if (arg == NULL || pthread_mutexattr_setprioceiling(&attr, *(int *)arg) != 0)
			return EINVAL;
	}
	if (type & LOCK_RECURSIVE)
		attr.__type = PTHREAD_MUTEX_RECURSIVE;
	else if (type & LOCK_ERRORCHECK)
		attr.__type = PTHREAD_MUTEX_ERRORCHECK;
	if (type & LOCK_ROBUST)
		attr.__robust = PTHREAD_MUTEX_ROBUST;
	return pthread_mutex_init(m, &attr);
}

/* Errors of pthread_mutex_destroy. */
int mutex_destroy(mutex_t *m)
{
	return pthread_mutex_destroy(m);
}

/* Errors of pthread_mutex_lock. */
int mutex_lock(mutex_t *m)
{
	return pthread_mutex_lock(m);
}

/* Errors of pthread_mutex_trylock. */
int mutex_trylock(mutex_t *m)
{
	return pthread_mutex_trylock(m);
}

/* Errors of pthread_mutex_unlock. */
int mutex_unlock(mutex_t *m)
{
	return pthread_mutex_unlock(m);
}

/* Errors of pthread_mutex_consistent. */
int mutex_consistent(mutex_t *m)
{
	return pthread_mutex_consistent(m);
}

/* EINVAL: unknown bits of type. */
int cond_init(cond_t *c, int type, void *arg)
{
	pthread_condattr_t attr = {.__pshared = pshared_of(type)};
	int error = check_type(type, USYNC_PROCESS);

	return error != 0 ? error : pthread_cond_init(c, &attr);
}

/* Errors of pthread_cond_destroy. */
int cond_destroy(cond_t *c)
{
	return pthread_cond_destroy(c);
}

/* Errors of pthread_cond_wait. */
int cond_wait(cond_t *c, mutex_t *m)
{
	return pthread_cond_wait(c, m);
}

/*
 * ETIME: no signal came.  ENOMEM: the model could not prepare for deadlines.  EINVAL: nanoseconds
 * of abstime out of range.  Errors of pthread_cond_wait.
 */
int cond_timedwait(cond_t *c, mutex_t *m, timestruc_t *abstime)
{
	int error = pthread_cond_timedwait(c, m, abstime);

	return error == ETIMEDOUT ? ETIME : error;
}

/* EINVAL: reltime is negative, or its nanoseconds are out of range.  Errors of cond_timedwait. */
int cond_reltimedwait(cond_t *c, mutex_t *m, timestruc_t *reltime)
{
	timestruc_t until;

	if (reltime->tv_sec < 0 || reltime->tv_nsec < 0 || reltime->tv_nsec >= 1000000000)
		return EINVAL;
	clock_gettime(c->__clock != 0 ? (clockid_t)c->__clock : CLOCK_REALTIME, &until);
	until.tv_nsec += reltime->tv_nsec;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	if (__builtin_add_overflow(until.tv_sec, reltime->tv_sec, &until.tv_sec))
		return cond_wait(c, m); /* longer than the clock counts */
	return cond_timedwait(c, m, &until);
}

int cond_signal(cond_t *c)
{
	return pthread_cond_signal(c);
}

int cond_broadcast(cond_t *c)
{
	return pthread_cond_broadcast(c);
}

/* EINVAL: unknown bits of type. */
int rwlock_init(rwlock_t *l, int type, void *arg)
{
	pthread_rwlockattr_t attr = {.__pshared = pshared_of(type)};
	int error = check_type(type, USYNC_PROCESS);

	return error != 0 ? error : pthread_rwlock_init(l, &attr);
}

/* Errors of pthread_rwlock_destroy. */
int rwlock_destroy(rwlock_t *l)
{
	return pthread_rwlock_destroy(l);
}

/* Errors of pthread_rwlock_rdlock. */
int rw_rdlock(rwlock_t *l)
{
	return pthread_rwlock_rdlock(l);
}

/* Errors of pthread_rwlock_wrlock. */
int rw_wrlock(rwlock_t *l)
{
	return pthread_rwlock_wrlock(l);
}

/* Errors of pthread_rwlock_tryrdlock. */
int rw_tryrdlock(rwlock_t *l)
{
	return pthread_rwlock_tryrdlock(l);
}

/* Errors of pthread_rwlock_trywrlock. */
int rw_trywrlock(rwlock_t *l)
{
	return pthread_rwlock_trywrlock(l);
}

/* Errors of pthread_rwlock_unlock. */
int rw_unlock(rwlock_t *l)
{
	return pthread_rwlock_unlock(l);
}

/* From POSIX's -1 and errno to an error number. */
static int errno_result(int result)
{
	return result < 0 ? errno : 0;
}

/* EINVAL: unknown bits of type, or count is larger than SEM_VALUE_MAX. */
int sema_init(sema_t *s, unsigned count, int type, void *arg)
{
	int error = check_type(type, USYNC_PROCESS);

	return error != 0 ? error : errno_result(sem_init(s, type & USYNC_PROCESS, count));
}

/* Errors of sem_destroy. */
int sema_destroy(sema_t *s)
{
	return errno_result(sem_destroy(s));
}

/* Errors of sem_wait. */
int sema_wait(sema_t *s)
{
	return errno_result(sem_wait(s));
}

/* EBUSY: the count is 0. */
int sema_trywait(sema_t *s)
{
	int error = errno_result(sem_trywait(s));

	return error == EAGAIN ? EBUSY : error;
}

/* Errors of sem_post. */
int sema_post(sema_t *s)
{
	return errno_result(sem_post(s));
}

/* --- for assertions ------------------------------------------------------------------------ */

/* Does the caller own it?  Not 0: yes. */
int _mutex_held(mutex_t *m)
{
	return __shared_owned(m);
}

/*
 * Does the caller own it for reading?  Not 0: perhaps.  The library counts readers and does not
 * record them.  So the result is also not 0 if other threads read this lock and the caller reads
 * another lock.
 */
int _rw_read_held(rwlock_t *l)
{
	unsigned word = __atomic_load_n(&l->__word, __ATOMIC_RELAXED);

	return (word & LWP_RWLOCK_READERS) != 0 && thread_self()->readlocks > 0;
}

/* Does the caller own it for writing?  Not 0: yes. */
int _rw_write_held(rwlock_t *l)
{
	return __rwlock_is_writer(l);
}

/* Is there no unit?  Not 0: yes. */
int _sema_held(sema_t *s)
{
	int value;

	sem_getvalue(s, &value);
	return value == 0;
}
