/*
 * states.c - a tour of the states of a thread: holds threads in each of them for some seconds, so
 * that they can be looked at, in plain POSIX threads.
 *
 *	states [seconds]	(5)
 *
 * Look from the shell (`states 20 &`, then `lwps`: the LWPs of each process and what they wait
 * for), or from the debugger (weft-threads: also the threads that have no LWP).
 *
 * Blocked:  one waits for a mutex, one for a condition variable, one for another's end.
 * OnLWP:    two compute until the time is over, and count the rounds.  In model lwp each has an
 *           LWP, and the kernel shares the CPUs out among them.  In mxn with one LWP the first
 *           has it to the end, the second is in state
 * RunQueue: and has made no round when its turn comes.  LIBTHREAD_OPTIONS=concurrency=2, or
 *           pthread_setconcurrency(), gives it an LWP: states -c 2 does the latter.
 *
 * Every thread ends by the clock, none by a flag that main sets, for main may be the thread that
 * gets no LWP.
 *
 * Locks: held, and lock with the condition variable over; never both at once by one thread.
 */
#define _XOPEN_SOURCE 700 /* for pthread_setconcurrency() */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define COMPUTING 2

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER; /* main has it until the end */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool over; /* lock */
static struct timespec end;

static bool time_is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

static void *wait_for_mutex(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return NULL;
}

static void *wait_for_condition(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	while (!over)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *wait_for_thread(void *thread)
{
	pthread_join(*(pthread_t *)thread, NULL);
	return NULL;
}

static void *compute(void *rounds)
{
	while (!time_is_over())
		++*(unsigned long *)rounds;
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	if (pthread_create(thread, NULL, run, arg) != 0) {
		fprintf(stderr, "states: cannot create a thread\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	pthread_t mutex_waiter, condition_waiter, joiner, computing[COMPUTING];
	unsigned long rounds[COMPUTING] = {0};
	int seconds = 5, option, concurrency = 0;

	while ((option = getopt(argc, argv, "c:")) == 'c')
		concurrency = atoi(optarg);
	if (option == -1 && optind < argc)
		seconds = atoi(argv[optind]);
	if (option != -1 || seconds < 1 || concurrency < 0) {
		fprintf(stderr, "usage: states [-c concurrency] [seconds]\n");
		return 2;
	}
	if (concurrency != 0)
		pthread_setconcurrency(concurrency);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += seconds;

	pthread_mutex_lock(&held);
	start(&mutex_waiter, wait_for_mutex, NULL);
	start(&condition_waiter, wait_for_condition, NULL);
	start(&joiner, wait_for_thread, &condition_waiter);
	for (int i = 0; i < COMPUTING; i++)
		start(&computing[i], compute, &rounds[i]);
	printf("for %d s: main waits, three threads are blocked, %d compute\n", seconds, COMPUTING);
	fflush(stdout);

	pthread_mutex_lock(&lock);
	while (!time_is_over())
		pthread_cond_timedwait(&changed, &lock, &end);
	over = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&held);

	pthread_join(mutex_waiter, NULL);
	pthread_join(joiner, NULL);
	for (int i = 0; i < COMPUTING; i++) {
		pthread_join(computing[i], NULL);
		printf("computing thread %d: %lu rounds\n", i + 1, rounds[i]);
	}
	return 0;
}
