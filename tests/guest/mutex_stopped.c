/*
 * mutex_stopped.c - a mutex among whose waiters one spins, but is stopped (tests/test_libthread.py,
 * in exact timing): it must not make every release look for whoever does not come.
 *
 * Prints how long a lock and unlock takes that finds nobody else, before and after, in nanoseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/time.h>
#include <thread.h>
#include <time.h>
#include "tap.h"

#define TURNS 100

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int coming, through;

static void *waits(void *arg)
{
	coming++;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	through++;
	return NULL;
}

static pthread_t start(int nth)
{
	pthread_t t;

	if (pthread_create(&t, NULL, waits, NULL) != 0)
		bail("pthread_create");
	while (coming != nth)
		;
	return t;
}

static long turn_ns(void)
{
	hrtime_t start = gethrtime();

	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return (gethrtime() - start) / TURNS;
}

int main(void)
{
	const struct timespec while_it_falls_asleep = {.tv_nsec = 20000000};
	pthread_t sleeper, spinner;
	long before;

	before = turn_ns();
	pthread_mutex_lock(&mutex);
	sleeper = start(1);
	nanosleep(&while_it_falls_asleep, NULL); /* a holder off its CPU is not spun for */
	spinner = start(2);
	is("suspend", thr_suspend(spinner), 0);
	pthread_mutex_unlock(&mutex); /* wakes the sleeper */
	while (through != 1)
		;
	pthread_join(sleeper, NULL);
	printf("before %ld\nafter %ld\n", before, turn_ns());
	is("continue", thr_continue(spinner), 0);
	pthread_join(spinner, NULL);
	is("through", through, 2);
	return tap_done();
}
