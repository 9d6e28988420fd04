/*
 * states.c - a tour of the states of a thread, in plain POSIX threads.  It holds threads in each
 * state for some seconds, so that you can look at them.
 *
 * states [-c concurrency] [seconds]	(5)
 *
 * Look from the shell (`states 20 &`, then `lwps`: the LWPs of each process and what they wait
 * for), or from the debugger (weft-threads: also the threads that have no LWP).
 *
 * Blocked:  one thread waits for a mutex, one for a condition variable, one for another's end.
 * OnLWP:    two threads compute until the time is over, and count the rounds.  In model lwp each
 *           has an LWP, and the kernel shares the CPUs among them.  In mxn with one LWP the first
 *           thread keeps it to the end.
 * RunQueue: in mxn with one LWP the second thread waits here, and has made no round when its turn
 *           comes.  `states -c 2` gives it an LWP, by pthread_setconcurrency().
 *           LIBTHREAD_OPTIONS=concurrency=2 does so, too.
 *
 * Every thread ends by the clock, not by a flag that main sets, because main may be the thread
 * without an LWP.
 *
 * Locks: held, and lock with the condition variable over; no thread holds both at once.
 */
#define _XOPEN_SOURCE 700 /* for pthread_setconcurrency() */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define COMPUTING 2

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER; /* main holds it until the end */
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
