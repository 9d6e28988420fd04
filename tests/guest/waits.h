/*
 * waits.h - for thr_waits.c: each way to wait for an object, by each interface, with what it takes
 * to make such an object, to hold it, to let it go and to see that somebody waits for it.
 */
#pragma once
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <synch.h>
#include <threads.h>
#include <time.h>
#include <weft/ksync.h>

#define PRIVATE_WAITERS 1 /* in the word of a mutex that processes do not share */

static pthread_mutex_t m;
static pthread_cond_t c;
static pthread_rwlock_t rw;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t s;
static bool shared;
static volatile bool began, given; /* it is about to wait; what it waits for is there */
static volatile bool early, held;  /* it had it before that; it had the mutex */

static const struct timespec never = {.tv_sec = 4000000000}, long_time = {.tv_sec = 1000000000};

/* --- objects ---------------------------------------------------------------------------- */

static int pshared(void)
{
	return shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
}

static void make_mutex(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, pshared());
	pthread_mutex_init(&m, &attr);
}

static void make_protecting(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	pthread_mutex_init(&m, &attr);
}

static void hold_mutex(void)
{
	pthread_mutex_lock(&m);
}

static void give_mutex(void)
{
	pthread_mutex_unlock(&m);
}

static bool mutex_waited(void)
{
	return m.__owner & (shared ? LWP_MUTEX_WAITERS : PRIVATE_WAITERS);
}

static void make_rwlock(void)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setpshared(&attr, pshared());
	pthread_rwlock_init(&rw, &attr);
}

static void hold_rwlock(void)
{
	pthread_rwlock_wrlock(&rw);
}

static void give_rwlock(void)
{
	pthread_rwlock_unlock(&rw);
}

static bool rwlock_waited(void)
{
	return rw.__word & LWP_RWLOCK_WAITING;
}

/* Held by others: a barrier for two; free: for one. */
static void make_barrier(void)
{
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, pshared());
	pthread_barrier_init(&barrier, &attr, 1);
}

static void hold_barrier(void)
{
	barrier.__count = 2;
}

static void give_barrier(void)
{
	pthread_barrier_wait(&barrier);
}

static bool barrier_waited(void)
{
	return (unsigned)barrier.__word == 1;
}

static void make_spin(void)
{
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
}

static void hold_spin(void)
{
	pthread_spin_lock(&spin);
}

static void give_spin(void)
{
	pthread_spin_unlock(&spin);
}

static bool has_begun(void)
{
	return began;
}

static void make_cond(void)
{
	pthread_condattr_t attr;

	make_mutex();
	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr, pshared());
	pthread_cond_init(&c, &attr);
}

static void nothing(void)
{
}

static void give_cond(void)
{
	pthread_mutex_lock(&m);
	given = true;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}

static bool cond_waited(void)
{
	return c.__waiters & (shared ? LWP_COND_WAITERS : 1);
}

/* Free: with a unit. */
static void make_sem(void)
{
	sem_init(&s, shared, 1);
}

static void hold_sem(void)
{
	sem_wait(&s);
}

static void give_sem(void)
{
	sem_post(&s);
}

static bool sem_waited(void)
{
	return s.__word == LWP_SEMA_WAITING;
}

static const struct object {
	void (*make)(void), (*hold)(void), (*give)(void);
	bool (*waited)(void);
	bool points, can_share;
} mutexes = {make_mutex, hold_mutex, give_mutex, mutex_waited, false, true},
  protecting = {make_protecting, hold_mutex, give_mutex, mutex_waited, false, false},
  rwlocks = {make_rwlock, hold_rwlock, give_rwlock, rwlock_waited, false, true},
  barriers = {make_barrier, hold_barrier, give_barrier, barrier_waited, false, true},
  spins = {make_spin, hold_spin, give_spin, has_begun, false, false},
  conds = {make_cond, nothing, give_cond, cond_waited, true, true},
  sems = {make_sem, hold_sem, give_sem, sem_waited, true, true};

/* --- ways to wait: 0 or an error ---------------------------------------------------------- */

static int had(int error, int (*give)(void))
{
	early |= !given;
	return error != 0 ? error : give();
}

static int unlock(void)
{
	return pthread_mutex_unlock(&m);
}

static int rw_give(void)
{
	return pthread_rwlock_unlock(&rw);
}

static int spin_give(void)
{
	return pthread_spin_unlock(&spin);
}

static int none(void)
{
	return 0;
}

static int changed(void)
{
	int now;

	return pthread_mutex_getprioceiling(&m, &now) != 0 || now != 1;
}

/* Either -1 and errno or an error; a handler ends a wait for a semaphore that processes share. */
static int taken(int (*wait)(void))
{
	int r;

	do {
		r = wait();
		if (r < 0)
			r = errno;
	} while (shared && r == EINTR);
	return had(r, none);
}

static void leave(void *arg)
{
	held = MUTEX_HELD(&m);
	pthread_mutex_unlock(&m);
}

static int until_given(int (*wait)(void))
{
	int error = 0;

	pthread_mutex_lock(&m);
	pthread_cleanup_push(leave, NULL);
	while (error == 0 && !given)
		error = wait();
	pthread_cleanup_pop(1);
	return error;
}

#define WAY(name, what, wait)                                                                      \
	static int name##_call(void)                                                               \
	{                                                                                          \
		return wait;                                                                       \
	}                                                                                          \
	static int name##_way(void)                                                                \
	{                                                                                          \
		return what;                                                                       \
	}
#define LOCK(name, ...) WAY(name, had(name##_call(), unlock), name(&m, ##__VA_ARGS__))
#define RWLOCK(name, ...) WAY(name, had(name##_call(), rw_give), name(&rw, ##__VA_ARGS__))
#define COND(name, ...) WAY(name, until_given(name##_call), name(&c, &m, ##__VA_ARGS__))
#define SEM(name, ...) WAY(name, taken(name##_call), name(&s, ##__VA_ARGS__))

LOCK(pthread_mutex_lock)
LOCK(pthread_mutex_timedlock, &never)
LOCK(pthread_mutex_clocklock, CLOCK_MONOTONIC, &never)
LOCK(mutex_lock)
LOCK(mtx_lock)
LOCK(mtx_timedlock, &never)
WAY(pthread_mutex_setprioceiling, had(pthread_mutex_setprioceiling_call(), changed),
    pthread_mutex_setprioceiling(&m, 1, NULL))
RWLOCK(pthread_rwlock_rdlock)
RWLOCK(pthread_rwlock_timedrdlock, &never)
RWLOCK(pthread_rwlock_clockrdlock, CLOCK_MONOTONIC, &never)
RWLOCK(pthread_rwlock_wrlock)
RWLOCK(pthread_rwlock_timedwrlock, &never)
RWLOCK(pthread_rwlock_clockwrlock, CLOCK_MONOTONIC, &never)
RWLOCK(rw_rdlock)
RWLOCK(rw_wrlock)
WAY(pthread_barrier_wait, had(pthread_barrier_wait_call(), none),
    pthread_barrier_wait(&barrier) > 0)
WAY(pthread_spin_lock, had(pthread_spin_lock_call(), spin_give), pthread_spin_lock(&spin))
COND(pthread_cond_wait)
COND(pthread_cond_timedwait, &never)
COND(pthread_cond_clockwait, CLOCK_MONOTONIC, &never)
COND(cond_wait)
COND(cond_timedwait, (timestruc_t *)&never)
COND(cond_reltimedwait, (timestruc_t *)&long_time)
COND(cnd_wait)
COND(cnd_timedwait, &never)
SEM(sem_wait)
SEM(sem_timedwait, &never)
SEM(sem_clockwait, CLOCK_MONOTONIC, &never)
SEM(sema_wait)

static const struct way {
	const char *name;
	int (*wait)(void);
	const struct object *object;
} ways[] = {
#define ROW(name, object)                                                                          \
	{                                                                                          \
#name, name##_way, &object                                                         \
	}
	ROW(pthread_mutex_lock, mutexes),
	ROW(pthread_mutex_timedlock, mutexes),
	ROW(pthread_mutex_clocklock, mutexes),
	ROW(mutex_lock, mutexes),
	ROW(mtx_lock, mutexes),
	ROW(mtx_timedlock, mutexes),
	ROW(pthread_mutex_setprioceiling, protecting),
	ROW(pthread_rwlock_rdlock, rwlocks),
	ROW(pthread_rwlock_timedrdlock, rwlocks),
	ROW(pthread_rwlock_clockrdlock, rwlocks),
	ROW(pthread_rwlock_wrlock, rwlocks),
	ROW(pthread_rwlock_timedwrlock, rwlocks),
	ROW(pthread_rwlock_clockwrlock, rwlocks),
	ROW(rw_rdlock, rwlocks),
	ROW(rw_wrlock, rwlocks),
	ROW(pthread_barrier_wait, barriers),
	ROW(pthread_spin_lock, spins),
	ROW(pthread_cond_wait, conds),
	ROW(pthread_cond_timedwait, conds),
	ROW(pthread_cond_clockwait, conds),
	ROW(cond_wait, conds),
	ROW(cond_timedwait, conds),
	ROW(cond_reltimedwait, conds),
	ROW(cnd_wait, conds),
	ROW(cnd_timedwait, conds),
	ROW(sem_wait, sems),
	ROW(sem_timedwait, sems),
	ROW(sem_clockwait, sems),
	ROW(sema_wait, sems),
};
