/*
 * idlepool - what LWPs that have nothing to run cost the thread that runs.
 *
 * idlepool yield|wake ROUNDS
 *
 * yield  one thread computes and yields, in turns, and no other thread can run
 * wake   one thread computes, and in each round wakes a second one, which computes a tenth of that and waits again
 *
 * The pool has as many LWPs as there are CPUs.  One line of results: the CPU time of the whole process by that of
 * the computation, in percent above it.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include "sample.h"

#define WORK 20000 /* instructions of a round */

static sem_t wanted, answered;
static bool over; /* written before the post that tells of it */

static void *help(void *unused)
{
	for (;;) {
		sem_wait(&wanted);
		if (over)
			return NULL;
		compute(WORK / 10);
		sem_post(&answered);
	}
}

/* A first round in which each LWP of the pool runs a thread, so that no LWP is made later. */
static void *meet(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

static void start_the_pool(void)
{
	pthread_t threads[WEFT_MAXCPU];
	pthread_barrier_t barrier;

	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	must(pthread_barrier_init(&barrier, NULL, __ncpu), "pthread_barrier_init");
	for (unsigned i = 0; i < __ncpu; i++)
		must(pthread_create(&threads[i], NULL, meet, &barrier), "pthread_create");
	for (unsigned i = 0; i < __ncpu; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
}

int main(int argc, char **argv)
{
	bool wakes = argc == 3 && strcmp(argv[1], "wake") == 0;
	long rounds = argc == 3 ? atol(argv[2]) : 0, work = wakes ? WORK + WORK / 10 : WORK;
	int64_t cpu;
	pthread_t helper;

	if (rounds < 1 || (!wakes && strcmp(argv[1], "yield") != 0)) {
		fputs("usage: idlepool yield|wake ROUNDS\n", stderr);
		return 2;
	}
	start_the_pool();
	sem_init(&wanted, 0, 0);
	sem_init(&answered, 0, 0);
	must(pthread_create(&helper, NULL, help, NULL), "pthread_create");
	cpu = spent_by(getpid()).cpu_ns;
	for (long i = 0; i < rounds; i++) {
		if (wakes)
			sem_post(&wanted);
		compute(WORK);
		if (wakes)
			sem_wait(&answered);
		else
			sched_yield();
	}
	cpu = spent_by(getpid()).cpu_ns - cpu;
	printf("result extra=%.2f\n", 100.0 * cpu / (rounds * work) - 100);
	over = true;
	sem_post(&wanted);
	must(pthread_join(helper, NULL), "pthread_join");
	return 0;
}
