/*
 * thr_shared.c - process-shared and robust objects of libthread, within one process:
 * results, errors, exclusion, the death of threads.  Between processes: proc_shared.c.
 *
 *	thr_shared [ROUNDS]
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <synch.h>
#include <thread.h>
#include <time.h>
#include <weft/ksync.h>
#include "tap.h"

static int rounds = 500;

#define THREADS 4

static pthread_mutex_t m;
static pthread_cond_t c;
static sem_t s;
static volatile int stage;

static struct timespec past = {1, 0};

static void init(pthread_mutex_t *mutex, int type, int pshared, int robust)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	is("settype", pthread_mutexattr_settype(&attr, type), 0);
	is("setpshared", pthread_mutexattr_setpshared(&attr, pshared), 0);
	is("setrobust", pthread_mutexattr_setrobust(&attr, robust), 0);
	is("mutex_init", pthread_mutex_init(mutex, &attr), 0);
}

static void start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, PTHREAD_SCOPE_SYSTEM);
	if (pthread_create(t, &attr, fn, arg) != 0)
		bail("pthread_create failed");
}

/* --- results and errors ----------------------------------------------------------------- */

static void attributes(void)
{
	pthread_mutexattr_t attr;
	int value = 9;

	pthread_mutexattr_init(&attr);
	is("getrobust", pthread_mutexattr_getrobust(&attr, &value), 0);
	is("... stalled", value, PTHREAD_MUTEX_STALLED);
	is("setrobust: EINVAL", pthread_mutexattr_setrobust(&attr, 2), EINVAL);
	is("setpshared: EINVAL", pthread_mutexattr_setpshared(&attr, 2), EINVAL);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_getpshared(&attr, &value);
	is("getpshared", value, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_getrobust(&attr, &value);
	is("robust", value, PTHREAD_MUTEX_ROBUST);
}

static void one_thread(void)
{
	pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;

	init(&m, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_STALLED);
	is("unlock, free: EPERM", pthread_mutex_unlock(&m), EPERM);
	is("lock", pthread_mutex_lock(&m), 0);
	is("trylock, held: EBUSY", pthread_mutex_trylock(&m), EBUSY);
	is("timedlock, held: ETIMEDOUT", pthread_mutex_timedlock(&m, &past), ETIMEDOUT);
	is("destroy, held: EBUSY", pthread_mutex_destroy(&m), EBUSY);
	is("consistent, not robust: EINVAL", pthread_mutex_consistent(&m), EINVAL);
	is("unlock", pthread_mutex_unlock(&m), 0);
	is("destroy", pthread_mutex_destroy(&m), 0);

	init(&m, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_STALLED);
	is("error check: lock", pthread_mutex_lock(&m), 0);
	is("error check: EDEADLK", pthread_mutex_lock(&m), EDEADLK);
	is("error check: timedlock: EDEADLK", pthread_mutex_timedlock(&m, &past), EDEADLK);
	is("error check: trylock: EBUSY", pthread_mutex_trylock(&m), EBUSY);
	is("error check: unlock", pthread_mutex_unlock(&m), 0);
	is("error check: EPERM", pthread_mutex_unlock(&m), EPERM);

	init(&m, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_STALLED);
	is("recursive: lock", pthread_mutex_lock(&m), 0);
	is("recursive: lock", pthread_mutex_lock(&m), 0);
	is("recursive: trylock", pthread_mutex_trylock(&m), 0);
	is("recursive: unlock", pthread_mutex_unlock(&m), 0);
	is("recursive: unlock", pthread_mutex_unlock(&m), 0);
	is("recursive: still held", pthread_mutex_destroy(&m), EBUSY);
	is("recursive: unlock", pthread_mutex_unlock(&m), 0);
	is("recursive: EPERM", pthread_mutex_unlock(&m), EPERM);

	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	is("cond setpshared", pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	is("cond_init", pthread_cond_init(&c, &attr), 0);
	is("signal, nobody", pthread_cond_signal(&c), 0);
	is("broadcast, nobody", pthread_cond_broadcast(&c), 0);
	is("wait without the mutex: EPERM", pthread_cond_wait(&c, &m), EPERM);
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&m);
	is("timedwait: ETIMEDOUT", pthread_cond_timedwait(&c, &m, &past), ETIMEDOUT);
	is("... locked twice still", pthread_mutex_unlock(&m), 0);
	is("... and once", pthread_mutex_unlock(&m), 0);
	is("... and no more", pthread_mutex_unlock(&m), EPERM);
	pthread_mutex_lock(&plain);
	is("a mutex that is not shared: EINVAL", pthread_cond_wait(&c, &plain), EINVAL);
	pthread_mutex_unlock(&plain);
	is("cond_destroy", pthread_cond_destroy(&c), 0);

	pthread_cond_t private_cond = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&m);
	is("private cond: ETIMEDOUT", pthread_cond_timedwait(&private_cond, &m, &past), ETIMEDOUT);
	is("... and has the mutex", pthread_mutex_unlock(&m), 0);

	is("sem_init", sem_init(&s, 1, 1), 0);
	is("sem_wait", sem_wait(&s), 0);
	is("sem_trywait", sem_trywait(&s) == -1 && errno == EAGAIN, 1);
	is("sem_timedwait", sem_timedwait(&s, &past) == -1 && errno == ETIMEDOUT, 1);
	is("sem_post", sem_post(&s), 0);
	is("sem_wait again", sem_wait(&s), 0);
	is("sem_destroy", sem_destroy(&s), 0);

	mutex_t ui;
	cond_t uc;
	sema_t us;
	is("mutex_init", mutex_init(&ui, USYNC_PROCESS, NULL), 0);
	is("mutex_lock", mutex_lock(&ui), 0);
	is("mutex_unlock", mutex_unlock(&ui), 0);
	is("cond_init", cond_init(&uc, USYNC_PROCESS, NULL), 0);
	mutex_lock(&ui);
	is("cond_timedwait: ETIME", cond_timedwait(&uc, &ui, &past), ETIME);
	mutex_unlock(&ui);
	is("sema_init", sema_init(&us, 1, USYNC_PROCESS, NULL), 0);
	is("sema_wait", sema_wait(&us), 0);
	is("sema_trywait: EBUSY", sema_trywait(&us), EBUSY);
}

/* --- threads that die --------------------------------------------------------------------- */

static void *die_with_it(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_mutex_trylock(&m); /* if it is recursive, twice */
	return NULL;
}

static void die(void)
{
	pthread_t t;

	start(&t, die_with_it, NULL);
	pthread_join(t, NULL);
}

/* What it gives in another thread, which ends with what it gets. */
static void *asks(void *call)
{
	return (void *)(long)((int (*)(pthread_mutex_t *))call)(&m);
}

static long elsewhere(int (*call)(pthread_mutex_t *))
{
	pthread_t t;
	void *answer;

	start(&t, asks, call);
	pthread_join(t, &answer);
	return (long)answer;
}

static void robust(int pshared)
{
	init(&m, PTHREAD_MUTEX_RECURSIVE, pshared, PTHREAD_MUTEX_ROBUST);
	is("robust: lock", pthread_mutex_lock(&m), 0);
	is("consistent, nobody died: EINVAL", pthread_mutex_consistent(&m), EINVAL);
	is("robust: unlock", pthread_mutex_unlock(&m), 0);
	die();
	is("robust: EOWNERDEAD", pthread_mutex_lock(&m), EOWNERDEAD);
	is("consistent", pthread_mutex_consistent(&m), 0);
	is("unlock, once", pthread_mutex_unlock(&m), 0);
	is("... and it is free", pthread_mutex_unlock(&m), EPERM);
	is("lock, nothing wrong", pthread_mutex_lock(&m), 0);
	is("unlock", pthread_mutex_unlock(&m), 0);
	die();
	is("trylock: EOWNERDEAD", pthread_mutex_trylock(&m), EOWNERDEAD);
	is("unlock as it is", pthread_mutex_unlock(&m), 0);
	is("ENOTRECOVERABLE", pthread_mutex_lock(&m), ENOTRECOVERABLE);
	is("trylock: ENOTRECOVERABLE", pthread_mutex_trylock(&m), ENOTRECOVERABLE);
	is("consistent, too late: EINVAL", pthread_mutex_consistent(&m), EINVAL);
	is("a lost one can be destroyed", pthread_mutex_destroy(&m), 0);
	init(&m, PTHREAD_MUTEX_NORMAL, pshared, PTHREAD_MUTEX_ROBUST);
	is("... and made again", pthread_mutex_lock(&m), 0);
	is("unlock", pthread_mutex_unlock(&m), 0);
	die();
	is("unlock of a dead one's: EPERM", pthread_mutex_unlock(&m), EPERM);
	is("consistent of a dead one's: EINVAL", pthread_mutex_consistent(&m), EINVAL);
	is("a new owner is told of the death", pthread_mutex_lock(&m), EOWNERDEAD);
	is("its owner again, not yet consistent: EBUSY", pthread_mutex_trylock(&m), EBUSY);
	is("another: EBUSY", elsewhere(pthread_mutex_trylock), EBUSY);
	is("consistent", pthread_mutex_consistent(&m), 0);
	is("unlock", pthread_mutex_unlock(&m), 0);
	is("consistent: others are told no more", elsewhere(pthread_mutex_trylock), 0);
	is("... but of the one who has just died", pthread_mutex_trylock(&m), EOWNERDEAD);
	pthread_mutex_consistent(&m);
	pthread_mutex_unlock(&m);
	is("destroy", pthread_mutex_destroy(&m), 0);

	mutex_t ui;
	is("USYNC_PROCESS_ROBUST", mutex_init(&ui, USYNC_PROCESS_ROBUST, NULL), 0);
	is("mutex_lock", mutex_lock(&ui), 0);
	is("mutex_consistent: EINVAL", mutex_consistent(&ui), EINVAL);
	is("mutex_unlock", mutex_unlock(&ui), 0);
	mutex_destroy(&ui);

	mutex_init(&m, (pshared ? USYNC_PROCESS : USYNC_THREAD) | LOCK_ROBUST, NULL);
	die();
	is("mutex_trylock: told of the death", mutex_trylock(&m), EOWNERDEAD);
	is("mutex_consistent", mutex_consistent(&m), 0);
	is("mutex_unlock, consistent", mutex_unlock(&m), 0);
	is("mutex_lock, consistent", mutex_lock(&m) | mutex_unlock(&m), 0);
	die();
	is("mutex_lock: told of the death", mutex_lock(&m), EOWNERDEAD);
	is("mutex_unlock, inconsistent", mutex_unlock(&m), 0);
	is("mutex_lock: lost", mutex_lock(&m), ENOTRECOVERABLE);
	is("mutex_destroy, lost", mutex_destroy(&m), 0);
}

/* The waiters for a robust mutex are told its new state. */
static void *waits_for_it(void *arg)
{
	return (void *)(long)pthread_mutex_lock(&m);
}

static pthread_t waiting_for_it(void)
{
	pthread_t t;

	start(&t, waits_for_it, NULL);
	while (!(m.__owner & LWP_MUTEX_WAITERS))
		sched_yield();
	return t;
}

static void *dies_waited_for(void *arg)
{
	pthread_mutex_lock(&m);
	*(pthread_t *)arg = waiting_for_it();
	return NULL;
}

static void told(int pshared)
{
	pthread_t t, waiter;
	void *error;

	init(&m, PTHREAD_MUTEX_NORMAL, pshared, PTHREAD_MUTEX_ROBUST);
	start(&t, dies_waited_for, &waiter);
	pthread_join(t, NULL);
	pthread_join(waiter, &error);
	is("a waiter is told of the death", (long)error, EOWNERDEAD);
	/* And ends with it, too. */
	is("... and the next, when that one dies", pthread_mutex_lock(&m), EOWNERDEAD);
	waiter = waiting_for_it();
	is("given up inconsistent", pthread_mutex_unlock(&m), 0);
	pthread_join(waiter, &error);
	is("a waiter is told that it is lost", (long)error, ENOTRECOVERABLE);
	is("destroy", pthread_mutex_destroy(&m), 0);
}

/* --- races ------------------------------------------------------------------------------------ */

static volatile long counter, dead;

static void *add(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		long v = counter;
		if (i % 4 == 0)
			sched_yield();
		counter = v + 1;
		pthread_mutex_unlock(&m);
	}
	return NULL;
}

static void exclusion(int robustness)
{
	pthread_t t[THREADS];

	init(&m, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED, robustness);
	counter = 0;
	for (int i = 0; i < THREADS; i++)
		start(&t[i], add, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	is("exclusion", counter, THREADS * rounds);
	is("... and it is free", pthread_mutex_destroy(&m), 0);
}

/* A life is a few turns, and ends with the mutex in hand. */
static void *short_life(void *arg)
{
	for (int i = 0; i < 3; i++) {
		int error = pthread_mutex_lock(&m);
		if (error == EOWNERDEAD) {
			dead++;
			pthread_mutex_consistent(&m);
		} else if (error != 0) {
			bail("lock: %d", error);
		}
		counter++;
		if (i < 2)
			pthread_mutex_unlock(&m);
	}
	return NULL;
}

static void many_deaths(void)
{
	pthread_t t[THREADS];
	int lives = rounds / 10 * THREADS;

	init(&m, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_ROBUST);
	counter = dead = 0;
	for (int i = 0; i < lives; i++) {
		if (i >= THREADS)
			pthread_join(t[i % THREADS], NULL);
		start(&t[i % THREADS], short_life, NULL);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	is("deaths: all turns", counter, 3 * lives);
	is("deaths: the last", pthread_mutex_lock(&m), EOWNERDEAD);
	is("deaths: each was told once", dead + 1, lives);
	pthread_mutex_consistent(&m);
	pthread_mutex_unlock(&m);
	is("destroy", pthread_mutex_destroy(&m), 0);
}

/* A buffer of one place, over a shared condition variable and over a private one. */
static volatile int full;

static void *fill(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		while (full)
			pthread_cond_wait(&c, &m);
		full = 1;
		pthread_cond_broadcast(&c);
		pthread_mutex_unlock(&m);
	}
	return NULL;
}

static void *empty(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		while (!full)
			pthread_cond_wait(&c, &m);
		full = 0;
		counter++;
		pthread_mutex_unlock(&m);
		pthread_cond_broadcast(&c);
	}
	return NULL;
}

static void buffer(int pshared)
{
	pthread_condattr_t attr;
	pthread_t t[THREADS];

	init(&m, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_STALLED);
	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr, pshared);
	pthread_cond_init(&c, &attr);
	counter = full = 0;
	for (int i = 0; i < THREADS; i++)
		start(&t[i], i % 2 ? fill : empty, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	is("buffer", counter, THREADS / 2 * rounds);
	is("... and nobody waits", pthread_cond_destroy(&c), 0);
}

static sem_t there, back;

static void *answer(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		while (sem_wait(&there) != 0)
			;
		sem_post(&back);
	}
	return NULL;
}

static void semaphores(void)
{
	pthread_t t;

	sem_init(&there, 1, 0);
	sem_init(&back, 1, 0);
	start(&t, answer, NULL);
	for (int i = 0; i < rounds; i++) {
		sem_post(&there);
		while (sem_wait(&back) != 0)
			;
	}
	pthread_join(t, NULL);
	int value;
	sem_getvalue(&back, &value);
	is("semaphores: nothing is left", value, 0);
}

int main(int argc, char **argv)
{
	const char *model = getenv("LIBTHREAD");

	if (argc > 1)
		rounds = atoi(argv[1]);
	attributes();
	one_thread();
	robust(PTHREAD_PROCESS_SHARED);
	robust(PTHREAD_PROCESS_PRIVATE);
	/* With one LWP for all threads, one that waits in the kernel waits for ever. */
	if (model != NULL && strcmp(model, "n1") == 0)
		return tap_done();
	told(PTHREAD_PROCESS_SHARED);
	told(PTHREAD_PROCESS_PRIVATE);
	exclusion(PTHREAD_MUTEX_STALLED);
	exclusion(PTHREAD_MUTEX_ROBUST);
	many_deaths();
	buffer(PTHREAD_PROCESS_SHARED);
	buffer(PTHREAD_PROCESS_PRIVATE);
	semaphores();
	return tap_done();
}
