/* if_sync.c - what the functions of pthread.h and semaphore.h on synchronisation objects return. */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <weft/ksync.h>
#include "interface.h"

static pthread_mutexattr_t mattr;
static pthread_condattr_t cattr;
static pthread_rwlockattr_t rattr;
static pthread_barrierattr_t battr;

static void attributes(void)
{
	int n;
	clockid_t clock;

	WORKS(pthread_mutexattr_init(&mattr));
	WORKS(pthread_mutexattr_gettype(&mattr, &n));
	is("pthread_mutexattr_gettype", n, PTHREAD_MUTEX_DEFAULT);
	WORKS(pthread_mutexattr_settype(&mattr, PTHREAD_MUTEX_ERRORCHECK));
	GIVES(EINVAL, pthread_mutexattr_settype(&mattr, 77), "no such type");
	pthread_mutexattr_gettype(&mattr, &n);
	is("pthread_mutexattr_settype", n, PTHREAD_MUTEX_ERRORCHECK);
	WORKS(pthread_mutexattr_getpshared(&mattr, &n));
	is("pthread_mutexattr_getpshared", n, PTHREAD_PROCESS_PRIVATE);
	WORKS(pthread_mutexattr_setpshared(&mattr, PTHREAD_PROCESS_SHARED));
	GIVES(EINVAL, pthread_mutexattr_setpshared(&mattr, 2), "neither");
	WORKS(pthread_mutexattr_getrobust(&mattr, &n));
	is("pthread_mutexattr_getrobust", n, PTHREAD_MUTEX_STALLED);
	WORKS(pthread_mutexattr_setrobust(&mattr, PTHREAD_MUTEX_ROBUST));
	GIVES(EINVAL, pthread_mutexattr_setrobust(&mattr, 2), "neither");
	pthread_mutexattr_getrobust(&mattr, &n);
	is("pthread_mutexattr_setrobust", n, PTHREAD_MUTEX_ROBUST);
	WORKS(pthread_mutexattr_destroy(&mattr));

	WORKS(pthread_condattr_init(&cattr));
	WORKS(pthread_condattr_getclock(&cattr, &clock));
	is("pthread_condattr_getclock", clock, CLOCK_REALTIME);
	WORKS(pthread_condattr_setclock(&cattr, CLOCK_MONOTONIC));
	GIVES(EINVAL, pthread_condattr_setclock(&cattr, 77), "no such clock");
	GIVES(EINVAL, pthread_condattr_setclock(&cattr, CLOCK_PROCESS_CPUTIME_ID), "CPU time");
	pthread_condattr_getclock(&cattr, &clock);
	is("pthread_condattr_setclock", clock, CLOCK_MONOTONIC);
	WORKS(pthread_condattr_getpshared(&cattr, &n));
	is("pthread_condattr_getpshared", n, PTHREAD_PROCESS_PRIVATE);
	WORKS(pthread_condattr_setpshared(&cattr, PTHREAD_PROCESS_SHARED));
	GIVES(EINVAL, pthread_condattr_setpshared(&cattr, 2), "neither");
	WORKS(pthread_condattr_destroy(&cattr));

	WORKS(pthread_rwlockattr_init(&rattr));
	WORKS(pthread_rwlockattr_getpshared(&rattr, &n));
	is("pthread_rwlockattr_getpshared", n, PTHREAD_PROCESS_PRIVATE);
	WORKS(pthread_rwlockattr_setpshared(&rattr, PTHREAD_PROCESS_SHARED));
	GIVES(EINVAL, pthread_rwlockattr_setpshared(&rattr, 2), "neither");
	WORKS(pthread_rwlockattr_destroy(&rattr));

	WORKS(pthread_barrierattr_init(&battr));
	WORKS(pthread_barrierattr_getpshared(&battr, &n));
	is("pthread_barrierattr_getpshared", n, PTHREAD_PROCESS_PRIVATE);
	WORKS(pthread_barrierattr_setpshared(&battr, PTHREAD_PROCESS_SHARED));
	GIVES(EINVAL, pthread_barrierattr_setpshared(&battr, 2), "neither");
	WORKS(pthread_barrierattr_destroy(&battr));
}

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void mutexes(void)
{
	pthread_mutex_t m;
	struct other o;

	WORKS(pthread_mutex_init(&m, NULL));
	WORKS(pthread_mutex_lock(&m));
	GIVES(EBUSY, pthread_mutex_trylock(&m), "the caller has it");
	GIVES(EBUSY, pthread_mutex_destroy(&m), "the caller has it");
	WORKS(pthread_mutex_unlock(&m));
	GIVES(EPERM, pthread_mutex_unlock(&m), "nobody has it");
	WORKS(pthread_mutex_trylock(&m));
	pthread_mutex_unlock(&m);
	WORKS(pthread_mutex_timedlock(&m, WRONG)); /* a time is not looked at where none passes */
	pthread_mutex_unlock(&m);
	WORKS(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, PAST));
	pthread_mutex_unlock(&m);
	GIVES(EINVAL, pthread_mutex_consistent(&m), "it is not robust");
	WORKS(pthread_mutex_destroy(&m));

	HOLD(&o, pthread_mutex_lock, pthread_mutex_unlock, &plain);
	GIVES(EBUSY, pthread_mutex_trylock(&plain), "another thread has it");
	GIVES(EBUSY, pthread_mutex_destroy(&plain), "another thread has it");
	GIVES(ETIMEDOUT, pthread_mutex_timedlock(&plain, PAST), "another thread has it");
	GIVES(ETIMEDOUT, pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, PAST),
	      "the time is past");
	GIVES(EINVAL, pthread_mutex_timedlock(&plain, WRONG), "1,000,000,000 nanoseconds");
	GIVES(EINVAL, pthread_mutex_clocklock(&plain, 77, PAST), "no such clock");
	if_let_go(&o);

	HOLD(&o, pthread_mutex_lock, pthread_mutex_unlock, &checked);
	GIVES(EPERM, pthread_mutex_unlock(&checked), "another thread has it");
	if_let_go(&o);
	pthread_mutex_lock(&checked);
	GIVES(EDEADLK, pthread_mutex_lock(&checked), "the caller has it");
	GIVES(EBUSY, pthread_mutex_trylock(&checked), "the caller has it");
	GIVES(EDEADLK, pthread_mutex_timedlock(&checked, PAST), "the caller has it");
	GIVES(EDEADLK, pthread_mutex_clocklock(&checked, CLOCK_REALTIME, PAST),
	      "the caller has it");
	pthread_mutex_unlock(&checked);

	HOLD(&o, pthread_mutex_lock, pthread_mutex_unlock, &recursive);
	GIVES(EPERM, pthread_mutex_unlock(&recursive), "another thread has it");
	if_let_go(&o);
	pthread_mutex_lock(&recursive);
	WORKS(pthread_mutex_lock(&recursive));
	recursive.__count = UINT_MAX; /* as after so many calls */
	GIVES(EAGAIN, pthread_mutex_lock(&recursive), "locked too often");
	GIVES(EAGAIN, pthread_mutex_trylock(&recursive), "locked too often");
	GIVES(EAGAIN, pthread_mutex_timedlock(&recursive, PAST), "locked too often");
	GIVES(EAGAIN, pthread_mutex_clocklock(&recursive, CLOCK_REALTIME, PAST),
	      "locked too often");
	recursive.__count = 1;
	pthread_mutex_unlock(&recursive);
	pthread_mutex_unlock(&recursive);
}

/* Sets a high priority of the thread, in the kernel or in the library. */
static void set_high(int on)
{
	struct sched_param param = {.sched_priority = on ? 20 : 0};
	int error = strcmp(getenv("LIBTHREAD"), "lwp") == 0
			    ? pthread_setschedparam(pthread_self(), on ? SCHED_FIFO : SCHED_OTHER,
						    &param)
			    : thr_setprio(thr_self(), on ? THREAD_MAX_PRIORITY : 0);

	if (error != 0)
		bail("no high priority: %s", strerror(error));
}

static void protocols(void)
{
	pthread_mutex_t m;
	int n;

	pthread_mutexattr_init(&mattr);
	WORKS(pthread_mutexattr_getprotocol(&mattr, &n));
	is("pthread_mutexattr_getprotocol", n, PTHREAD_PRIO_NONE);
	WORKS(pthread_mutexattr_setprotocol(&mattr, PTHREAD_PRIO_PROTECT));
	GIVES(EINVAL, pthread_mutexattr_setprotocol(&mattr, 77), "no such protocol");
	WORKS(pthread_mutexattr_setprioceiling(&mattr, 5));
	GIVES(EINVAL, pthread_mutexattr_setprioceiling(&mattr, 1000), "out of range");
	WORKS(pthread_mutexattr_getprioceiling(&mattr, &n));
	is("pthread_mutexattr_getprioceiling", n, 5);
	pthread_mutex_init(&m, &mattr);
	GIVES(EINVAL, pthread_mutex_getprioceiling(&plain, &n), "it has no ceiling");
	GIVES(EINVAL, pthread_mutex_setprioceiling(&plain, 6, &n), "it has no ceiling");
	GIVES(EINVAL, pthread_mutex_setprioceiling(&m, 1000, &n), "out of range");
	set_high(1);
	GIVES(EINVAL, pthread_mutex_lock(&m), "the ceiling is below the caller");
	GIVES(EINVAL, pthread_mutex_trylock(&m), "the ceiling is below the caller");
	set_high(0);
	WORKS(pthread_mutex_setprioceiling(&m, 6, &n));
	is("pthread_mutex_setprioceiling", n, 5);
	WORKS(pthread_mutex_getprioceiling(&m, &n));
	is("pthread_mutex_getprioceiling", n, 6);
	pthread_mutex_lock(&m);
	GIVES(EDEADLK, pthread_mutex_setprioceiling(&m, 7, &n), "the caller has it");
	pthread_mutex_unlock(&m);
	pthread_mutex_destroy(&m);
}

static pthread_mutex_t robust;

static void owner_dies(void)
{
	struct other o;

	HOLD(&o, pthread_mutex_lock, NULL, &robust);
	if_let_go(&o);
}

static void new_robust(void)
{
	pthread_mutexattr_init(&mattr);
	pthread_mutexattr_setrobust(&mattr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &mattr);
}

static void robust_mutexes(void)
{
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	int n;

	pthread_mutexattr_init(&mattr);
	pthread_mutexattr_setrobust(&mattr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setprotocol(&mattr, PTHREAD_PRIO_PROTECT);
	pthread_mutex_init(&robust, &mattr);
	owner_dies();
	GIVES(EOWNERDEAD, pthread_mutex_setprioceiling(&robust, 7, &n), "its owner is gone");
	pthread_mutex_unlock(&robust);
	GIVES(ENOTRECOVERABLE, pthread_mutex_setprioceiling(&robust, 8, &n),
	      "given up inconsistent");
	new_robust();
	owner_dies();
	GIVES(EOWNERDEAD, pthread_mutex_lock(&robust), "its owner is gone");
	WORKS(pthread_mutex_consistent(&robust));
	GIVES(EINVAL, pthread_mutex_consistent(&robust), "it is already");
	GIVES(EBUSY, pthread_mutex_destroy(&robust), "the caller has it");
	pthread_mutex_unlock(&robust);
	owner_dies();
	GIVES(EOWNERDEAD, pthread_mutex_trylock(&robust), "its owner is gone");
	pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);
	owner_dies();
	GIVES(EOWNERDEAD, pthread_mutex_timedlock(&robust, PAST), "its owner is gone");
	pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);
	owner_dies();
	GIVES(EOWNERDEAD, pthread_mutex_clocklock(&robust, CLOCK_MONOTONIC, PAST),
	      "its owner is gone");
	pthread_mutex_unlock(&robust); /* not made consistent */
	GIVES(ENOTRECOVERABLE, pthread_mutex_lock(&robust), "given up inconsistent");
	GIVES(ENOTRECOVERABLE, pthread_mutex_trylock(&robust), "given up inconsistent");
	GIVES(ENOTRECOVERABLE, pthread_mutex_timedlock(&robust, PAST), "given up inconsistent");
	GIVES(ENOTRECOVERABLE, pthread_mutex_clocklock(&robust, CLOCK_MONOTONIC, PAST),
	      "given up inconsistent");
	GIVES(EPERM, pthread_cond_wait(&c, &robust), "nobody can have it");
	WORKS(pthread_mutex_destroy(&robust));
}

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, shared_cond;
static int signalled; /* plain */

static int wait_for_signal(void *arg)
{
	int error = pthread_mutex_lock(&plain);

	while (error == 0 && !signalled)
		error = pthread_cond_wait(&cond, &plain);
	pthread_mutex_unlock(&plain);
	return error;
}

static void *waiter(void *arg)
{
	is("pthread_cond_wait", wait_for_signal(NULL), 0);
	return NULL;
}

/* The waiter's mutex is taken by a thread that dies with it, in one way or the other. */
static pthread_cond_t robust_cond = PTHREAD_COND_INITIALIZER;

static void *dies_with_it(void *m)
{
	UNTIL(robust_cond.__waiters != 0);
	pthread_mutex_lock(m);
	pthread_cond_signal(&robust_cond);
	return NULL;
}

static void robust_cond_wait(int (*wait)(void), const char *what)
{
	pthread_t t;

	new_robust();
	pthread_mutex_lock(&robust);
	pthread_create(&t, NULL, dies_with_it, &robust);
	is(what, wait(), EOWNERDEAD);
	pthread_join(t, NULL);
	pthread_mutex_unlock(&robust);
}

static int plain_wait(void)
{
	return pthread_cond_wait(&robust_cond, &robust);
}

static const struct timespec far = {4000000000, 0};

static int timed_wait(void)
{
	return pthread_cond_timedwait(&robust_cond, &robust, &far);
}

static int clock_wait(void)
{
	return pthread_cond_clockwait(&robust_cond, &robust, CLOCK_MONOTONIC, &far);
}

static void conditions(void)
{
	pthread_t t;
	pthread_cond_t c;

	WORKS(pthread_cond_init(&c, NULL));
	WORKS(pthread_cond_signal(&c));
	WORKS(pthread_cond_broadcast(&c));
	GIVES(EPERM, pthread_cond_wait(&c, &plain), "the caller does not have the mutex");
	GIVES(EPERM, pthread_cond_timedwait(&c, &plain, PAST), "it does not have the mutex");
	GIVES(EPERM, pthread_cond_clockwait(&c, &plain, CLOCK_MONOTONIC, PAST), "the same");
	pthread_mutex_lock(&plain);
	GIVES(ETIMEDOUT, pthread_cond_timedwait(&c, &plain, PAST), "no signal");
	GIVES(ETIMEDOUT, pthread_cond_clockwait(&c, &plain, CLOCK_MONOTONIC, PAST), "no signal");
	GIVES(EINVAL, pthread_cond_timedwait(&c, &plain, WRONG), "1,000,000,000 nanoseconds");
	GIVES(EINVAL, pthread_cond_clockwait(&c, &plain, 77, PAST), "no such clock");
	GIVES(EBUSY, pthread_mutex_trylock(&plain), "had again after each failure");
	pthread_mutex_unlock(&plain);
	pthread_condattr_init(&cattr);
	pthread_condattr_setpshared(&cattr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared_cond, &cattr);
	pthread_mutex_lock(&plain);
	GIVES(EINVAL, pthread_cond_wait(&shared_cond, &plain), "it is shared, the mutex is not");
	pthread_mutex_unlock(&plain);
	WORKS(pthread_cond_destroy(&c));

	pthread_create(&t, NULL, waiter, NULL);
	UNTIL(cond.__waiters != 0);
	GIVES(EBUSY, pthread_cond_destroy(&cond), "a thread waits");
	pthread_mutex_lock(&plain);
	signalled = 1;
	WORKS(pthread_cond_signal(&cond));
	pthread_mutex_unlock(&plain);
	pthread_join(t, NULL);
	robust_cond_wait(plain_wait, "pthread_cond_wait EOWNERDEAD: of the mutex");
	robust_cond_wait(timed_wait, "pthread_cond_timedwait EOWNERDEAD: of the mutex");
	robust_cond_wait(clock_wait, "pthread_cond_clockwait EOWNERDEAD: of the mutex");
	DOES(pthread_cond_timedwait, 1);
	DOES(pthread_cond_clockwait, 1);
}

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static void *writer(void *arg)
{
	WORKS(pthread_rwlock_wrlock(&rw));
	pthread_rwlock_unlock(&rw);
	return NULL;
}

static void too_many_readers(void)
{
	rw.__word = LWP_RWLOCK_READERS; /* as after so many calls */
	GIVES(EAGAIN, pthread_rwlock_rdlock(&rw), "too many readers");
	GIVES(EAGAIN, pthread_rwlock_tryrdlock(&rw), "too many readers");
	GIVES(EAGAIN, pthread_rwlock_timedrdlock(&rw, PAST), "too many readers");
	GIVES(EAGAIN, pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, PAST), "too many readers");
	rw.__word = 0;
}

static void rwlocks(void)
{
	pthread_rwlock_t l;
	struct other o;
	pthread_t t;

	WORKS(pthread_rwlock_init(&l, NULL));
	WORKS(pthread_rwlock_destroy(&l));
	WORKS(pthread_rwlock_rdlock(&rw));
	WORKS(pthread_rwlock_tryrdlock(&rw));
	WORKS(pthread_rwlock_timedrdlock(&rw, WRONG));
	WORKS(pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, PAST));
	GIVES(EBUSY, pthread_rwlock_trywrlock(&rw), "readers have it");
	GIVES(ETIMEDOUT, pthread_rwlock_timedwrlock(&rw, PAST), "readers have it");
	GIVES(ETIMEDOUT, pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, PAST), "readers");
	GIVES(EINVAL, pthread_rwlock_timedwrlock(&rw, WRONG), "1,000,000,000 nanoseconds");
	GIVES(EINVAL, pthread_rwlock_clockwrlock(&rw, 77, PAST), "no such clock");
	GIVES(EBUSY, pthread_rwlock_destroy(&rw), "readers have it");
	for (int i = 0; i < 4; i++)
		WORKS(pthread_rwlock_unlock(&rw));
	GIVES(EPERM, pthread_rwlock_unlock(&rw), "nobody has it");

	WORKS(pthread_rwlock_trywrlock(&rw));
	pthread_rwlock_unlock(&rw);
	WORKS(pthread_rwlock_timedwrlock(&rw, WRONG));
	pthread_rwlock_unlock(&rw);
	WORKS(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, PAST));
	GIVES(EDEADLK, pthread_rwlock_wrlock(&rw), "the caller writes");
	GIVES(EDEADLK, pthread_rwlock_rdlock(&rw), "the caller writes");
	GIVES(EDEADLK, pthread_rwlock_timedwrlock(&rw, PAST), "the caller writes");
	GIVES(EDEADLK, pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, PAST), "the caller writes");
	GIVES(EDEADLK, pthread_rwlock_timedrdlock(&rw, PAST), "the caller writes");
	GIVES(EDEADLK, pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, PAST), "the caller writes");
	GIVES(EBUSY, pthread_rwlock_tryrdlock(&rw), "the caller writes");
	GIVES(EBUSY, pthread_rwlock_destroy(&rw), "the caller writes");
	pthread_rwlock_unlock(&rw);

	HOLD(&o, pthread_rwlock_wrlock, pthread_rwlock_unlock, &rw);
	GIVES(EPERM, pthread_rwlock_unlock(&rw), "another thread writes");
	GIVES(EBUSY, pthread_rwlock_tryrdlock(&rw), "another thread writes");
	GIVES(EBUSY, pthread_rwlock_trywrlock(&rw), "another thread writes");
	GIVES(ETIMEDOUT, pthread_rwlock_timedrdlock(&rw, PAST), "another thread writes");
	GIVES(ETIMEDOUT, pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, PAST), "the same");
	GIVES(EINVAL, pthread_rwlock_timedrdlock(&rw, WRONG), "1,000,000,000 nanoseconds");
	GIVES(EINVAL, pthread_rwlock_clockrdlock(&rw, 77, PAST), "no such clock");
	if_let_go(&o);

	/* A reader reads on past a waiting writer; it would wait for itself. */
	pthread_rwlock_rdlock(&rw);
	pthread_create(&t, NULL, writer, NULL);
	UNTIL(rw.__word & LWP_RWLOCK_WAITING);
	WORKS(pthread_rwlock_rdlock(&rw));
	WORKS(pthread_rwlock_tryrdlock(&rw));
	WORKS(pthread_rwlock_timedrdlock(&rw, PAST));
	for (int i = 0; i < 4; i++)
		pthread_rwlock_unlock(&rw);
	pthread_join(t, NULL);
	too_many_readers();
}

static pthread_barrier_t barrier;

static void *at_barrier(void *arg)
{
	is("pthread_barrier_wait", pthread_barrier_wait(&barrier), 0);
	return NULL;
}

static void barriers_and_spin_locks(void)
{
	pthread_spinlock_t l;
	struct other o;
	pthread_t t;

	GIVES(EINVAL, pthread_barrier_init(&barrier, NULL, 0), "a count of 0");
	WORKS(pthread_barrier_init(&barrier, NULL, 2));
	pthread_create(&t, NULL, at_barrier, NULL);
	UNTIL(__atomic_load_n(&barrier.__word, __ATOMIC_RELAXED) == 1);
	GIVES(EBUSY, pthread_barrier_destroy(&barrier), "a thread waits");
	is("pthread_barrier_wait", pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	pthread_join(t, NULL);
	WORKS(pthread_barrier_destroy(&barrier));
	GIVES(EINVAL, pthread_barrier_wait(&barrier), "it has been destroyed");

	GIVES(EINVAL, pthread_spin_init(&l, 2), "neither");
	WORKS(pthread_spin_init(&l, PTHREAD_PROCESS_PRIVATE));
	WORKS(pthread_spin_lock(&l));
	GIVES(EBUSY, pthread_spin_trylock(&l), "the caller has it");
	GIVES(EBUSY, pthread_spin_destroy(&l), "the caller has it");
	WORKS(pthread_spin_unlock(&l));
	GIVES(EPERM, pthread_spin_unlock(&l), "nobody has it");
	HOLD(&o, pthread_spin_lock, pthread_spin_unlock, (void *)&l);
	GIVES(EBUSY, pthread_spin_trylock(&l), "another thread has it");
	if_let_go(&o);
	WORKS(pthread_spin_trylock(&l));
	pthread_spin_unlock(&l);
	WORKS(pthread_spin_destroy(&l));
}

static sem_t sema;

static void *takes_unit(void *arg)
{
	WORKS(sem_wait(&sema));
	return NULL;
}

/* A signal interrupts a thread that waits for a shared semaphore. */
static void interrupted(void)
{
	sem_t s;

	sem_init(&s, 1, 0);
	if_interrupts(1);
	SETS(EINTR, sem_wait(&s), "a handler was called");
	SETS(EINTR, sem_timedwait(&s, &far), "a handler was called");
	SETS(EINTR, sem_clockwait(&s, CLOCK_MONOTONIC, &far), "a handler was called");
	if_interrupts(0);
}

static void semaphores(void)
{
	pthread_t t;
	int value;

	SETS(EINVAL, sem_init(&sema, 0, SEM_VALUE_MAX + 1u), "more than SEM_VALUE_MAX");
	WORKS(sem_init(&sema, 0, 4));
	WORKS(sem_wait(&sema));
	WORKS(sem_trywait(&sema));
	WORKS(sem_timedwait(&sema, WRONG));
	WORKS(sem_clockwait(&sema, CLOCK_MONOTONIC, PAST));
	WORKS(sem_getvalue(&sema, &value));
	is("sem_getvalue", value, 0);
	SETS(EAGAIN, sem_trywait(&sema), "it is 0");
	SETS(ETIMEDOUT, sem_timedwait(&sema, PAST), "it is 0");
	SETS(ETIMEDOUT, sem_clockwait(&sema, CLOCK_MONOTONIC, PAST), "it is 0");
	SETS(EINVAL, sem_timedwait(&sema, WRONG), "1,000,000,000 nanoseconds");
	SETS(EINVAL, sem_clockwait(&sema, 77, PAST), "no such clock");
	sem_destroy(&sema);
	sem_init(&sema, 0, 0);
	pthread_create(&t, NULL, takes_unit, NULL);
	UNTIL(sema.__word != 0);
	SETS(EBUSY, sem_destroy(&sema), "a thread waits");
	WORKS(sem_post(&sema));
	pthread_join(t, NULL);
	WORKS(sem_destroy(&sema));
	sem_init(&sema, 0, SEM_VALUE_MAX);
	SETS(EOVERFLOW, sem_post(&sema), "it is SEM_VALUE_MAX");
	interrupted();
}

static void named_semaphores(void)
{
	char longest[300];
	sem_t *s;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	sem_unlink("/if_sync");
	fails("sem_open ENOENT: no such name", (long)sem_open("/if_sync", 0) - 1, ENOENT);
	s = sem_open("/if_sync", O_CREAT, 0600, 1);
	DOES(sem_open, s != SEM_FAILED);
	fails("sem_open EEXIST: O_EXCL", (long)sem_open("/if_sync", O_CREAT | O_EXCL, 0600, 1) - 1,
	      EEXIST);
	fails("sem_open EINVAL: no characters", (long)sem_open("/", 0) - 1, EINVAL);
	fails("sem_open EINVAL: a value beyond SEM_VALUE_MAX",
	      (long)sem_open("/if_other", O_CREAT, 0600, SEM_VALUE_MAX + 1u) - 1, EINVAL);
	fails("sem_open ENAMETOOLONG: 298 characters", (long)sem_open(longest, 0) - 1,
	      ENAMETOOLONG);
	SETS(ENAMETOOLONG, sem_unlink(longest), "298 characters");
	SETS(EINVAL, sem_unlink("/a/b"), "a slash in its middle");
	WORKS(sem_unlink("/if_sync"));
	SETS(ENOENT, sem_unlink("/if_sync"), "no such name");
	WORKS(sem_close(s));
	SETS(EINVAL, sem_close(&sema), "it has no name");
}

int main(void)
{
	attributes();
	mutexes();
	protocols();
	robust_mutexes();
	conditions();
	rwlocks();
	barriers_and_spin_locks();
	semaphores();
	named_semaphores();
	return tap_done();
}
