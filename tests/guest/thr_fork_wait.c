/*
 * thr_fork_wait.c [ROUNDS] - a handler that has interrupted a wait forks: parent and child each return into the wait.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile pid_t made = -1;
static volatile bool is_child;
static sem_t waited;
static bool signalled; /* under `mutex` */

static int status_of(pid_t pid)
{
	int status = -1;

	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static void *wakes_the_child(void *arg)
{
	const struct timespec soon = {.tv_nsec = 300000};

	nanosleep(&soon, NULL);
	sem_post(&waited);
	pthread_mutex_lock(&mutex);
	signalled = true;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void forks_in_handler(int sig)
{
	int error = errno;
	pid_t pid = fork();
	pthread_t t;

	if (pid == 0) {
		is_child = true;
		if (sig == SIGHUP && pthread_create(&t, NULL, wakes_the_child, NULL) != 0)
			_exit(2);
	} else {
		made = pid;
	}
	errno = error;
}

/*
 * The process has one thread.  The wait of the child ends as that of its parent does.  It is long, because the
 * timer's interrupt comes late where the host stops the CPU.
 */
static void waits_in_vain(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 100}};
	struct timespec when;
	bool in_time;

	made = -1;
	signal(SIGALRM, forks_in_handler);
	setitimer(ITIMER_REAL, &soon, NULL);
	clock_gettime(CLOCK_REALTIME, &when);
	when.tv_nsec += 100000000;
	when.tv_sec += when.tv_nsec / 1000000000;
	when.tv_nsec %= 1000000000;
	do
		in_time = sem_timedwait(&waited, &when) == 0;
	while (!in_time && errno == EINTR);
	if (is_child)
		_exit(!in_time && errno == ETIMEDOUT ? 0 : 1);
	ok("a handler forks in a timed wait: the parent's wait", !in_time && errno == ETIMEDOUT);
	is("... and the child's", status_of(made), 0);
}

static void *waits_for_wake_up(void *timed)
{
	struct timespec when;

	clock_gettime(CLOCK_REALTIME, &when);
	when.tv_sec += 5;
	while (timed ? sem_timedwait(&waited, &when) != 0 && errno == EINTR
		     : sem_wait(&waited) != 0)
		;
	if (is_child)
		_exit(0);
	return NULL;
}

static void *waits_for_condition(void *timed)
{
	struct timespec when;
	int error = 0;

	clock_gettime(CLOCK_REALTIME, &when);
	when.tv_sec += 5;
	pthread_mutex_lock(&mutex);
	while (!signalled && error == 0)
		error = timed ? pthread_cond_timedwait(&cond, &mutex, &when)
			      : pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	if (is_child)
		_exit(error);
	return NULL;
}

/* The status of the child.  The handler comes after `late` turns of a loop; -1: when the thread waits. */
static int wakes_in_child(void *(*waits)(void *), void *timed, int late)
{
	const struct timespec nap = {.tv_nsec = 500000};
	pthread_t t;
	int status;

	made = -1;
	signalled = false;
	pthread_create(&t, NULL, waits, timed);
	if (late < 0)
		nanosleep(&nap, NULL);
	for (volatile int i = late; i > 0; i--)
		;
	pthread_kill(t, SIGHUP);
	while (made < 0)
		nanosleep(&nap, NULL);
	status = status_of(made);
	wakes_the_child(NULL);
	pthread_join(t, NULL);
	while (sem_trywait(&waited) == 0)
		;
	return status;
}

/* The handler comes at any moment before or in the wait. */
static int earlier(void *(*waits)(void *), int rounds)
{
	int status = 0;

	for (int i = 0; i < rounds && status == 0; i++)
		status = wakes_in_child(waits, (void *)1, i * 1000 / rounds);
	return status;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	sem_init(&waited, 0, 0);
	waits_in_vain();
	signal(SIGHUP, forks_in_handler);
	is("a handler forks in sem_wait: a thread of the child ends its wait",
	   wakes_in_child(waits_for_wake_up, NULL, -1), 0);
	is("... in sem_timedwait", wakes_in_child(waits_for_wake_up, (void *)1, -1), 0);
	is("... in pthread_cond_wait", wakes_in_child(waits_for_condition, NULL, -1), 0);
	is("... in pthread_cond_timedwait", wakes_in_child(waits_for_condition, (void *)1, -1), 0);
	is("... before sem_timedwait", earlier(waits_for_wake_up, rounds), 0);
	is("... before pthread_cond_timedwait", earlier(waits_for_condition, rounds), 0);
	return tap_done();
}
