/*
 * mutex_stopped.c - a mutex with a waiter that spins, and is stopped (tests/test_libthread.py,
 * in exact timing).  The mutex must not make every release look for this spinner, which does not
 * come.
 */
#include <pthread.h>
#include <sys/time.h>
#include <thread.h>
#include "../../libthread/core/sleepq.h"
#include "../../libthread/sync/mutex.h"
#include "tap.h"

#define TURNS 100
#define THREADS 20

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int coming;
static int through;

static void *waits(void *arg)
{
	coming++;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	__atomic_add_fetch(&through, 1, __ATOMIC_RELAXED);
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

/* Stops a thread that counts as a spinner.  If a thread was asleep when it was to be stopped, it
 * continues, as one more sleeper.  Returns the number of threads that have come to the mutex. */
static int stop_a_spinner(pthread_t *thread, int n)
{
	volatile uint32_t *spinners = &sleepq_of(&mutex)->spinners;

	for (;;) {
		if (n == THREADS)
			bail("nobody is caught in the act");
		thread[n] = start(n + 1);
		for (int turn = 0; turn < 10000 && *spinners == 0; turn++)
			;
		if (thr_suspend(thread[n]) != 0)
			bail("thr_suspend");
		if (*spinners != 0)
			return n + 1;
		thr_continue(thread[n++]);
	}
}

int main(void)
{
	const struct timespec off_the_cpu = {
		.tv_nsec = 100000}; /* nobody spins for this thread then */
	pthread_t thread[THREADS];
	long before;
	int n;

	before = turn_ns();
	pthread_mutex_lock(&mutex);
	thread[0] = start(1);
	while (!(__atomic_load_n(&mutex.__owner, __ATOMIC_RELAXED) & M_WAITERS))
		nanosleep(&off_the_cpu, NULL);
	n = stop_a_spinner(thread, 1);
	pthread_mutex_unlock(&mutex); /* wakes a sleeper, which wakes the next */
	for (int i = 0; i < n - 1; i++)
		pthread_join(thread[i], NULL);
	is("a lock and unlock takes as long as before", turn_ns(), before);
	is("continue", thr_continue(thread[n - 1]), 0);
	pthread_join(thread[n - 1], NULL);
	is("through", through, n);
	return tap_done();
}
