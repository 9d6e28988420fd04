/*
 * threads.h - the threads of C11 (7.26).  They are the threads, mutexes and other objects of
 * pthread.h under other names, and can be mixed with them.
 */
#ifndef _THREADS_H
#define _THREADS_H

#include <pthread.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#else
#define thread_local _Thread_local
#endif

#define ONCE_FLAG_INIT PTHREAD_ONCE_INIT
#define TSS_DTOR_ITERATIONS PTHREAD_DESTRUCTOR_ITERATIONS

typedef pthread_t thrd_t;
typedef pthread_mutex_t mtx_t;
typedef pthread_cond_t cnd_t;
typedef pthread_key_t tss_t;
typedef pthread_once_t once_flag;
typedef int (*thrd_start_t)(void *);
typedef void (*tss_dtor_t)(void *);

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };

int thrd_create(thrd_t *__target, thrd_start_t __start, void *__arg);
thrd_t thrd_current(void);
int thrd_detach(thrd_t __target);
int thrd_equal(thrd_t __a, thrd_t __b);
void thrd_exit(int __result) __attribute__((__noreturn__));
int thrd_join(thrd_t __target, int *__result);
int thrd_sleep(const struct timespec *__length, struct timespec *__left);
void thrd_yield(void);

int mtx_init(mtx_t *__mutex, int __type);
void mtx_destroy(mtx_t *__mutex);
int mtx_lock(mtx_t *__mutex);
int mtx_trylock(mtx_t *__mutex);
int mtx_timedlock(mtx_t *__mutex, const struct timespec *__utc);
int mtx_unlock(mtx_t *__mutex);

int cnd_init(cnd_t *__cond);
void cnd_destroy(cnd_t *__cond);
int cnd_wait(cnd_t *__cond, mtx_t *__mutex);
int cnd_timedwait(cnd_t *__cond, mtx_t *__mutex, const struct timespec *__utc);
int cnd_signal(cnd_t *__cond);
int cnd_broadcast(cnd_t *__cond);

int tss_create(tss_t *__key, tss_dtor_t __destructor);
void tss_delete(tss_t __key);
void *tss_get(tss_t __key);
int tss_set(tss_t __key, void *__value);

void call_once(once_flag *__flag, void (*__init)(void));

/*
 * A function of time.h, which newlib's time.h does not have: the time of CLOCK_REALTIME.  Returns
 * base; 0: unknown base.
 */
#ifndef TIME_UTC
#define TIME_UTC 1
int timespec_get(struct timespec *__now, int __base);
#endif

#ifdef __cplusplus
}
#endif
#endif
