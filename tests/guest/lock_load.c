/*
 * lock_load.c - uses locks in ways whose statistics are known (tests/test_lockstat.py):
 * prints what it saw itself as NAME VALUE, for the host to compare the report with.
 *
 *	lock_load free		one thread
 *	lock_load contended	two threads
 *	lock_load shared	the same, with objects for several processes
 *	lock_load inherit	the same, with mutexes that hand priorities on
 *	lock_load protect	the same, with mutexes that have a ceiling
 *	lock_load spin		two, one of which spins
 *	lock_load many		more locks at once than are timed
 *	lock_load fork		one thread, and a child that does as with many
 *	lock_load signal SIG N	sends itself the signal N times, each after a turn of free
 */
#include <err.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <synch.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>

#define FREE_TURNS 10
#define HELD_MORE 20 /* than LOCKS_HELD */

pthread_mutex_t plain_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t recursive_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
mutex_t ui_mutexes[2];
pthread_rwlock_t free_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t many_mutexes[HELD_MORE];
pthread_mutex_t hot_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t hot_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t cond_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
sem_t sema, to_helper;

static void spend(int turns)
{
	for (volatile int n = 0; n < turns; n++)
		;
}

static void check(int error, const char *what)
{
	if (error != 0)
		errx(1, "%s: %s", what, strerror(error));
}

static void free_locks(void)
{
	long long held = 0, longest = 0;

	for (int i = 0; i < FREE_TURNS; i++) {
		check(pthread_mutex_lock(&plain_mutex), "lock");
		long long start = gethrtime();
		spend(1000 * (i + 1));
		long long ns = gethrtime() - start;
		check(pthread_mutex_unlock(&plain_mutex), "unlock");
		held += ns;
		longest = ns > longest ? ns : longest;
		pthread_mutex_lock(&recursive_mutex);
		check(pthread_mutex_lock(&recursive_mutex), "once more");
		pthread_mutex_unlock(&recursive_mutex);
		pthread_mutex_unlock(&recursive_mutex);
		if (pthread_mutex_trylock(&recursive_mutex) == 0)
			pthread_mutex_unlock(&recursive_mutex);
		mutex_lock(&ui_mutexes[1]);
		mutex_unlock(&ui_mutexes[1]);
		pthread_rwlock_rdlock(&free_rwlock);
		pthread_rwlock_rdlock(&free_rwlock);
		spend(1000);
		pthread_rwlock_unlock(&free_rwlock);
		pthread_rwlock_unlock(&free_rwlock);
		pthread_rwlock_wrlock(&free_rwlock);
		pthread_rwlock_unlock(&free_rwlock);
	}
	if (pthread_mutex_unlock(&plain_mutex) == 0)
		errx(1, "unlocked twice");
	printf("held %lld\nlongest %lld\n", held, longest);
}

static void wait_asleep(void)
{
	const struct timespec ms = {0, 1000000};

	/* Others of the pool, and other LWPs, come to their sleep meanwhile. */
	for (int i = 0; i < 20; i++) {
		thr_yield();
		nanosleep(&ms, NULL);
	}
}

static volatile int comes;

static void *spinner(void *arg)
{
	comes = 1;
	check(pthread_mutex_lock(&hot_mutex), "hot_mutex");
	pthread_mutex_unlock(&hot_mutex);
	return NULL;
}

/* The second thread finds the mutex held by one that computes, and soon gives it up. */
static void spun_for(void)
{
	pthread_t t;

	pthread_setconcurrency(2);
	pthread_mutex_lock(&hot_mutex);
	check(pthread_create(&t, NULL, spinner, NULL), "pthread_create");
	while (!comes)
		;
	spend(1000);
	pthread_mutex_unlock(&hot_mutex);
	check(pthread_join(t, NULL), "pthread_join");
}

/* Each of its waits finds the first thread in the way. */
static void *helper(void *arg)
{
	while (sem_wait(&to_helper) != 0)
		;
	check(pthread_mutex_lock(&hot_mutex), "hot_mutex");
	pthread_mutex_unlock(&hot_mutex);
	check(pthread_rwlock_rdlock(&hot_rwlock), "hot_rwlock");
	pthread_rwlock_unlock(&hot_rwlock);
	check(pthread_mutex_lock(&cond_mutex), "cond_mutex");
	check(pthread_cond_wait(&cond, &cond_mutex), "cond");
	pthread_mutex_unlock(&cond_mutex);
	sem_wait(&sema);
	return NULL;
}

static void contended_locks(int shared, int protocol)
{
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t rwlock;
	pthread_condattr_t condition;
	pthread_t t;

	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, shared);
	check(pthread_mutexattr_setprotocol(&mutex, protocol), "protocol");
	pthread_rwlockattr_init(&rwlock);
	pthread_rwlockattr_setpshared(&rwlock, shared);
	pthread_condattr_init(&condition);
	pthread_condattr_setpshared(&condition, shared);
	check(pthread_mutex_init(&hot_mutex, &mutex), "hot_mutex");
	check(pthread_mutex_init(&cond_mutex, &mutex), "cond_mutex");
	check(pthread_rwlock_init(&hot_rwlock, &rwlock), "hot_rwlock");
	check(pthread_cond_init(&cond, &condition), "cond");
	sem_init(&sema, shared == PTHREAD_PROCESS_SHARED, 0);
	sem_init(&to_helper, 0, 0);
	check(pthread_create(&t, NULL, helper, NULL), "pthread_create");
	pthread_mutex_lock(&hot_mutex);
	pthread_rwlock_wrlock(&hot_rwlock);
	sem_post(&to_helper);
	wait_asleep();
	pthread_mutex_unlock(&hot_mutex);
	wait_asleep();
	pthread_rwlock_unlock(&hot_rwlock);
	wait_asleep();
	pthread_mutex_lock(&cond_mutex);
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&cond_mutex);
	wait_asleep();
	sem_post(&sema);
	check(pthread_join(t, NULL), "pthread_join");
}

static void many_locks(void)
{
	for (int i = 0; i < HELD_MORE; i++)
		pthread_mutex_lock(&many_mutexes[i]);
	for (int i = 0; i < HELD_MORE; i++)
		pthread_mutex_unlock(&many_mutexes[i]);
}

static void in_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		many_locks();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "child");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int sig = 0;

	if (strcmp(what, "free") == 0)
		free_locks();
	else if (strcmp(what, "contended") == 0)
		contended_locks(PTHREAD_PROCESS_PRIVATE, PTHREAD_PRIO_NONE);
	else if (strcmp(what, "shared") == 0)
		contended_locks(PTHREAD_PROCESS_SHARED, PTHREAD_PRIO_NONE);
	else if (strcmp(what, "inherit") == 0)
		contended_locks(PTHREAD_PROCESS_PRIVATE, PTHREAD_PRIO_INHERIT);
	else if (strcmp(what, "protect") == 0)
		contended_locks(PTHREAD_PROCESS_PRIVATE, PTHREAD_PRIO_PROTECT);
	else if (strcmp(what, "spin") == 0)
		spun_for();
	else if (strcmp(what, "many") == 0)
		many_locks();
	else if (strcmp(what, "fork") == 0)
		free_locks(), in_child();
	else if (strcmp(what, "signal") == 0 && argc == 4 && str2sig(argv[2], &sig) == 0)
		for (int i = atoi(argv[3]); i > 0; i--) {
			free_locks();
			raise(sig);
		}
	else
		errx(2, "usage: lock_load "
			"free|contended|shared|inherit|protect|spin|many|fork|signal SIG N");
	return 0;
}
