/*
 * mutex_stopped.c - a mutex among whose waiters one spins, but is stopped (tests/test_libthread.py,
 * in exact timing): it must not make every release look for whoever does not come.
 */
#include <pthread.h>
#include <sys/time.h>
#include <thread.h>
#include "../../libthread/sync/mutex.h"
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

/* How long a lock and unlock takes that finds nobody else. */
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
	const struct timespec off_the_cpu = {
		.tv_nsec = 100000}; /* nobody spins for this thread then */
	pthread_t sleeper, spinner;
	long before;

	before = turn_ns();
	pthread_mutex_lock(&mutex);
	sleeper = start(1);
	while (!(__atomic_load_n(&mutex.__owner, __ATOMIC_RELAXED) & M_WAITERS))
		nanosleep(&off_the_cpu, NULL);
	spinner = start(2);
	is("suspend", thr_suspend(spinner), 0);
	pthread_mutex_unlock(&mutex); /* wakes the sleeper */
	while (through != 1)
		;
	pthread_join(sleeper, NULL);
	is("a lock and unlock takes as long as before", turn_ns(), before);
	is("continue", thr_continue(spinner), 0);
	pthread_join(spinner, NULL);
	is("through", through, 2);
	return tap_done();
}
