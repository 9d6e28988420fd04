/*
 * single.c - operations of one thread, without contention.
 */
#include <semaphore.h>
#include <signal.h>
#include <synch.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include <weft/sys.h>
#include "micro.h"

int64_t null_syscall(long n)
{
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++)
		__sys_null();
	return gethrtime() - start;
}

/* Calls through the C library: one that cannot fail, and one that may set errno. */
int64_t getppid_(long n)
{
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++)
		getppid();
	return gethrtime() - start;
}

int64_t kill_(long n)
{
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++)
		kill(1, 0);
	return gethrtime() - start;
}

int64_t clock_gettime_(long n)
{
	struct timespec now;
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return gethrtime() - start;
}

int64_t mutex_free(long n)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return gethrtime() - start;
}

/* By the calls of UNIX International. */
int64_t ui_mutex(long n)
{
	static mutex_t mutex;
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++) {
		mutex_lock(&mutex);
		mutex_unlock(&mutex);
	}
	return gethrtime() - start;
}

int64_t rwlock_free(long n)
{
	static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++) {
		pthread_rwlock_rdlock(&lock);
		pthread_rwlock_unlock(&lock);
	}
	return gethrtime() - start;
}

int64_t sema_free(long n)
{
	sem_t sema;
	int64_t start;

	sem_init(&sema, 0, 1);
	start = gethrtime();
	for (long i = 0; i < n; i++) {
		sem_wait(&sema);
		sem_post(&sema);
	}
	return gethrtime() - start;
}

int64_t getspecific(long n)
{
	pthread_key_t key;
	int64_t start, end;

	must(pthread_key_create(&key, NULL), "pthread_key_create");
	must(pthread_setspecific(key, &key), "pthread_setspecific");
	start = gethrtime();
	for (long i = 0; i < n; i++)
		pthread_getspecific(key);
	end = gethrtime();
	must(pthread_key_delete(key), "pthread_key_delete");
	return end - start;
}

int64_t ui_getspecific(long n)
{
	thread_key_t key;
	int64_t start;
	void *value;

	must(thr_keycreate(&key, NULL), "thr_keycreate");
	must(thr_setspecific(key, &key), "thr_setspecific");
	start = gethrtime();
	for (long i = 0; i < n; i++)
		thr_getspecific(key, &value);
	return gethrtime() - start;
}

/* A sleep of length zero: it is over when it begins. */
int64_t nanosleep_zero(long n)
{
	const struct timespec none = {0, 0};
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++)
		must(nanosleep(&none, NULL), "nanosleep");
	return gethrtime() - start;
}

static void *nothing(void *arg)
{
	return arg;
}

int64_t create_join(long n)
{
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++) {
		pthread_t thread;

		must(pthread_create(&thread, NULL, nothing, NULL), "pthread_create");
		must(pthread_join(thread, NULL), "pthread_join");
	}
	return gethrtime() - start;
}

/* Blocks a signal and unblocks it. */
int64_t sigmask(long n)
{
	sigset_t mask;
	int64_t start;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	start = gethrtime();
	for (long i = 0; i < n; i++) {
		pthread_sigmask(SIG_BLOCK, &mask, NULL);
		pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
	}
	return gethrtime() - start;
}
