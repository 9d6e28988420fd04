/*
 * thread.h - UNIX International threads (Solaris).
 *
 * They are the same threads as those of pthread.h.  The thread_t and the pthread_t of one thread
 * are the same number, and every function takes either type.  Functions return 0 or an error
 * number.
 */
#ifndef _THREAD_H
#define _THREAD_H

#include <signal.h>
#include <synch.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned int thread_t;
typedef unsigned int thread_key_t;

/* Flags of thr_create. */
#define THR_BOUND 0x00000001     /* an LWP of its own */
#define THR_NEW_LWP 0x00000002   /* one more LWP for the pool */
#define THR_DETACHED 0x00000040  /* no thread will join it */
#define THR_SUSPENDED 0x00000080 /* starts stopped, until thr_continue */
#define THR_DAEMON 0x00000100    /* the process ends without it; thr_join(0) does not wait for it */

int thr_create(void *__stack, size_t __size, void *(*__start)(void *), void *__arg, long __flags,
	       thread_t *__target);
int thr_join(thread_t __target, thread_t *__departed, void **__status);
void thr_exit(void *__status) __attribute__((__noreturn__));
thread_t thr_self(void);
int thr_main(void); /* 1 in the first thread, else 0 */
void thr_yield(void);
int thr_suspend(thread_t __target);
int thr_continue(thread_t __target);
size_t thr_min_stack(void);
#define THR_MIN_STACK thr_min_stack()
int thr_getconcurrency(void);
int thr_setconcurrency(int __level);

/* Priorities: 0 (every thread at first) to 127; the higher first. */
#define THREAD_MIN_PRIORITY 0
#define THREAD_MAX_PRIORITY 127
int thr_getprio(thread_t __target, int *__priority);
int thr_setprio(thread_t __target, int __priority);

int thr_kill(thread_t __target, int __sig);
int thr_sigsetmask(int __how, const sigset_t *__set, sigset_t *__old);
int thr_stksegment(stack_t *__stack);

int thr_keycreate(thread_key_t *__key, void (*__destructor)(void *));
int thr_getspecific(thread_key_t __key, void **__value);
int thr_setspecific(thread_key_t __key, void *__value);

/*
 * Only in weft: the cost so far of the lock over the run queue and the sleep queues.  ENOTSUP: the
 * model has no such lock (lwp).
 */
struct thr_schedlock_stats {
	unsigned long long acquisitions;
	unsigned long long contentions;  /* acquisitions that found it held */
	unsigned long long yields;       /* times that a spinner yielded its CPU */
	unsigned long long hold_samples; /* holds that were timed, one in 256 */
	unsigned long long hold_ns;      /* nanoseconds of all timed holds */
	unsigned long long hold_max_ns;  /* nanoseconds of the longest timed hold */
};
int thr_schedlock_stats(struct thr_schedlock_stats *__stats);

#ifdef __cplusplus
}
#endif
#endif
