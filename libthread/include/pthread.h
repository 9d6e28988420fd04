/*
 * pthread.h - POSIX threads.
 *
 * The functions follow POSIX.1-2008 in every model (LIBTHREAD=lwp, mxn, n1, sa).  libthread/README.md
 * lists the differences of a model that are by design.  Functions return 0 or an error number.
 */
#ifndef _PTHREAD_H
#define _PTHREAD_H

#include <limits.h>
#include <sched.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_SCOPE_PROCESS 0 /* unbound */
#define PTHREAD_SCOPE_SYSTEM 1  /* bound */
#define PTHREAD_INHERIT_SCHED 0
#define PTHREAD_EXPLICIT_SCHED 1
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1

#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_DEFAULT PTHREAD_MUTEX_NORMAL

#define PTHREAD_MUTEX_STALLED 0
#define PTHREAD_MUTEX_ROBUST 1
#define PTHREAD_MUTEX_STALL_NP PTHREAD_MUTEX_STALLED /* the name in Solaris, older than POSIX's */
#define PTHREAD_MUTEX_ROBUST_NP PTHREAD_MUTEX_ROBUST

#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define PTHREAD_CANCEL_DEFERRED 0
#define PTHREAD_CANCEL_ASYNCHRONOUS 1
#define PTHREAD_CANCELED ((void *)-1)

#define PTHREAD_PRIO_NONE 0
#define PTHREAD_PRIO_INHERIT 1
#define PTHREAD_PRIO_PROTECT 2

#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

/* clang-format off */
#define PTHREAD_ONCE_INIT { 0 }
#define PTHREAD_MUTEX_INITIALIZER { 0, 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0 }
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP { 0, 0, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0 }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP { 0, 0, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0 }
#define PTHREAD_COND_INITIALIZER { 0, 0 }
#define PTHREAD_RWLOCK_INITIALIZER { 0, 0 }
/* clang-format on */

/* Threads */
int pthread_create(pthread_t *__target, const pthread_attr_t *__attr, void *(*__start)(void *),
		   void *__arg);
int pthread_join(pthread_t __target, void **__status);
int pthread_tryjoin_np(pthread_t __target, void **__status);
int pthread_timedjoin_np(pthread_t __target, void **__status, const struct timespec *__abstime);
int pthread_detach(pthread_t __target);
void pthread_exit(void *__status) __attribute__((__noreturn__));
pthread_t pthread_self(void);
int pthread_equal(pthread_t __a, pthread_t __b);
int pthread_once(pthread_once_t *__once, void (*__init)(void));
int pthread_getconcurrency(void);
int pthread_setconcurrency(int __level);
int pthread_atfork(void (*__prepare)(void), void (*__parent)(void), void (*__child)(void));
int pthread_yield(void); /* older name of sched_yield */

/* Attributes of threads */
int pthread_attr_init(pthread_attr_t *__attr);
int pthread_attr_destroy(pthread_attr_t *__attr);
int pthread_attr_getdetachstate(const pthread_attr_t *__attr, int *__state);
int pthread_attr_setdetachstate(pthread_attr_t *__attr, int __state);
int pthread_attr_getguardsize(const pthread_attr_t *__attr, size_t *__size);
int pthread_attr_setguardsize(pthread_attr_t *__attr, size_t __size);
int pthread_attr_getscope(const pthread_attr_t *__attr, int *__scope);
int pthread_attr_setscope(pthread_attr_t *__attr, int __scope);
int pthread_attr_getstack(const pthread_attr_t *__attr, void **__addr, size_t *__size);
int pthread_attr_setstack(pthread_attr_t *__attr, void *__addr, size_t __size);
int pthread_attr_getstacksize(const pthread_attr_t *__attr, size_t *__size);
int pthread_attr_setstacksize(pthread_attr_t *__attr, size_t __size);
int pthread_attr_getinheritsched(const pthread_attr_t *__attr, int *__inherit);
int pthread_attr_setinheritsched(pthread_attr_t *__attr, int __inherit);
int pthread_attr_getschedpolicy(const pthread_attr_t *__attr, int *__policy);
int pthread_attr_setschedpolicy(pthread_attr_t *__attr, int __policy);
int pthread_attr_getschedparam(const pthread_attr_t *__attr, struct sched_param *__param);
int pthread_attr_setschedparam(pthread_attr_t *__attr, const struct sched_param *__param);
int pthread_getattr_np(pthread_t __target, pthread_attr_t *__attr);
int pthread_attr_get_np(pthread_t __target, pthread_attr_t *__attr);

/*
 * Scheduling.  An unbound thread has its policy and priority within the process.  ENOTSUP: the
 * request needs an LWP of the thread's own.
 */
int pthread_getschedparam(pthread_t __target, int *__policy, struct sched_param *__param);
int pthread_setschedparam(pthread_t __target, int __policy, const struct sched_param *__param);
int pthread_setschedprio(pthread_t __target, int __priority);
int pthread_getcpuclockid(pthread_t __target, clockid_t *__clock);
int pthread_setaffinity_np(pthread_t __target, size_t __size, const cpu_set_t *__cpus);
int pthread_getaffinity_np(pthread_t __target, size_t __size, cpu_set_t *__cpus);

/* Names of up to 15 characters; pstack and lwps show them */
int pthread_setname_np(pthread_t __target, const char *__name);
int pthread_getname_np(pthread_t __target, char *__name, size_t __size);

/* Cancellation */
int pthread_cancel(pthread_t __target);
int pthread_setcancelstate(int __state, int *__old);
int pthread_setcanceltype(int __type, int *__old);
void pthread_testcancel(void);

/* Two macros, used in pairs within one block.  The handler that was pushed last is called first. */
struct __pthread_cleanup {
	void (*__routine)(void *);
	void *__arg;
	struct __pthread_cleanup *__next;
};
void __pthread_cleanup_push(struct __pthread_cleanup *__handler);
void __pthread_cleanup_pop(struct __pthread_cleanup *__handler, int __execute);
/* clang-format off */
#define pthread_cleanup_push(routine, arg)                                                         \
	do {                                                                                       \
		struct __pthread_cleanup __handler = {(routine), (arg), 0};                        \
		__pthread_cleanup_push(&__handler);
#define pthread_cleanup_pop(execute)                                                               \
		__pthread_cleanup_pop(&__handler, (execute));                                      \
	} while (0)
/* clang-format on */

/* Thread-specific data */
int pthread_key_create(pthread_key_t *__key, void (*__destructor)(void *));
int pthread_key_delete(pthread_key_t __key);
void *pthread_getspecific(pthread_key_t __key);
int pthread_setspecific(pthread_key_t __key, const void *__value);

/* Mutexes */
int pthread_mutex_init(pthread_mutex_t *__mutex, const pthread_mutexattr_t *__attr);
int pthread_mutex_destroy(pthread_mutex_t *__mutex);
int pthread_mutex_lock(pthread_mutex_t *__mutex);
int pthread_mutex_trylock(pthread_mutex_t *__mutex);
int pthread_mutex_timedlock(pthread_mutex_t *__mutex, const struct timespec *__abstime);
int pthread_mutex_clocklock(pthread_mutex_t *__mutex, clockid_t __clock,
			    const struct timespec *__abstime);
int pthread_mutex_unlock(pthread_mutex_t *__mutex);
int pthread_mutex_consistent(pthread_mutex_t *__mutex);
int pthread_mutex_getprioceiling(const pthread_mutex_t *__mutex, int *__ceiling);
int pthread_mutex_setprioceiling(pthread_mutex_t *__mutex, int __ceiling, int *__old);
int pthread_mutexattr_init(pthread_mutexattr_t *__attr);
int pthread_mutexattr_destroy(pthread_mutexattr_t *__attr);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *__attr, int *__type);
int pthread_mutexattr_settype(pthread_mutexattr_t *__attr, int __type);
int pthread_mutexattr_getpshared(const pthread_mutexattr_t *__attr, int *__pshared);
int pthread_mutexattr_setpshared(pthread_mutexattr_t *__attr, int __pshared);
/* Ceilings are priorities of SCHED_FIFO (sched.h). */
int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *__attr, int *__protocol);
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *__attr, int __protocol);
int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *__attr, int *__ceiling);
int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *__attr, int __ceiling);
int pthread_mutexattr_getrobust(const pthread_mutexattr_t *__attr, int *__robust);
int pthread_mutexattr_setrobust(pthread_mutexattr_t *__attr, int __robust);

/* Condition variables */
int pthread_cond_init(pthread_cond_t *__cond, const pthread_condattr_t *__attr);
int pthread_cond_destroy(pthread_cond_t *__cond);
int pthread_cond_signal(pthread_cond_t *__cond);
int pthread_cond_broadcast(pthread_cond_t *__cond);
int pthread_cond_wait(pthread_cond_t *__cond, pthread_mutex_t *__mutex);
int pthread_cond_timedwait(pthread_cond_t *__cond, pthread_mutex_t *__mutex,
			   const struct timespec *__abstime);
int pthread_cond_clockwait(pthread_cond_t *__cond, pthread_mutex_t *__mutex, clockid_t __clock,
			   const struct timespec *__abstime);
int pthread_condattr_init(pthread_condattr_t *__attr);
int pthread_condattr_destroy(pthread_condattr_t *__attr);
int pthread_condattr_getclock(const pthread_condattr_t *__attr, clockid_t *__clock);
int pthread_condattr_setclock(pthread_condattr_t *__attr, clockid_t __clock);
int pthread_condattr_getpshared(const pthread_condattr_t *__attr, int *__pshared);
int pthread_condattr_setpshared(pthread_condattr_t *__attr, int __pshared);

/* Reader-writer locks */
int pthread_rwlock_init(pthread_rwlock_t *__lock, const pthread_rwlockattr_t *__attr);
int pthread_rwlock_destroy(pthread_rwlock_t *__lock);
int pthread_rwlock_rdlock(pthread_rwlock_t *__lock);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *__lock);
int pthread_rwlock_timedrdlock(pthread_rwlock_t *__lock, const struct timespec *__abstime);
int pthread_rwlock_clockrdlock(pthread_rwlock_t *__lock, clockid_t __clock,
			       const struct timespec *__abstime);
int pthread_rwlock_wrlock(pthread_rwlock_t *__lock);
int pthread_rwlock_trywrlock(pthread_rwlock_t *__lock);
int pthread_rwlock_timedwrlock(pthread_rwlock_t *__lock, const struct timespec *__abstime);
int pthread_rwlock_clockwrlock(pthread_rwlock_t *__lock, clockid_t __clock,
			       const struct timespec *__abstime);
int pthread_rwlock_unlock(pthread_rwlock_t *__lock);
int pthread_rwlockattr_init(pthread_rwlockattr_t *__attr);
int pthread_rwlockattr_destroy(pthread_rwlockattr_t *__attr);
int pthread_rwlockattr_getpshared(const pthread_rwlockattr_t *__attr, int *__pshared);
int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *__attr, int __pshared);

/* Barriers */
int pthread_barrier_init(pthread_barrier_t *__barrier, const pthread_barrierattr_t *__attr,
			 unsigned __count);
int pthread_barrier_destroy(pthread_barrier_t *__barrier);
int pthread_barrier_wait(pthread_barrier_t *__barrier);
int pthread_barrierattr_init(pthread_barrierattr_t *__attr);
int pthread_barrierattr_destroy(pthread_barrierattr_t *__attr);
int pthread_barrierattr_getpshared(const pthread_barrierattr_t *__attr, int *__pshared);
int pthread_barrierattr_setpshared(pthread_barrierattr_t *__attr, int __pshared);

/* Spin locks */
int pthread_spin_init(pthread_spinlock_t *__lock, int __pshared);
int pthread_spin_destroy(pthread_spinlock_t *__lock);
int pthread_spin_lock(pthread_spinlock_t *__lock);
int pthread_spin_trylock(pthread_spinlock_t *__lock);
int pthread_spin_unlock(pthread_spinlock_t *__lock);

#ifdef __cplusplus
}
#endif
#endif
