/*
 * passedby - how long two threads that wake each other keep a third one off the CPU.
 *
 * passedby MOVES
 *
 * Two threads play: each wakes its partner by a semaphore and waits for its own turn.  Every BETWEEN moves,
 * a player also wakes a third thread, which waits for that in a semaphore.  The figure is the number of moves that
 * the players make until the third thread runs.  The three share one CPU: each other CPU has a thread that computes
 * all the time, so that no LWP is idle, and an LWP that has a list of threads uses it.
 *
 * One line of results: the most moves, and the median.  A third thread that never runs counts as passed by to
 * the end.  locks is how many times a move acquires the library's one lock; 0 if the model has no such lock.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <thread.h>
#include <weft/abi.h>
#include "sample.h"

#define BETWEEN 50

static sem_t turns[2], wanted;
static long moves; /* written by the thread that has the turn */
static long limit;
static long
	woken_at; /* the move at which the third thread has been woken; -1: it has run since; atomic */
static int64_t *passed;
static long passes;
static sem_t here;
static bool over; /* atomic, for the threads that compute */

static void *play(void *arg)
{
	long self = (long)arg;

	for (;;) {
		sem_wait(&turns[self]);
		if (moves >= limit)
			break;
		__atomic_store_n(&moves, moves + 1, __ATOMIC_RELAXED);
		if (moves % BETWEEN == 0 && __atomic_load_n(&woken_at, __ATOMIC_RELAXED) < 0) {
			__atomic_store_n(&woken_at, moves, __ATOMIC_RELAXED);
			sem_post(&wanted);
		}
		sem_post(&turns[!self]);
	}
	sem_post(&turns[!self]);
	return NULL;
}

static void *wait_for_the_cpu(void *unused)
{
	for (;;) {
		sem_wait(&wanted);
		passed[passes++] = __atomic_load_n(&moves, __ATOMIC_RELAXED) - woken_at;
		__atomic_store_n(&woken_at, -1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *occupy(void *unused)
{
	sem_post(&here);
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		;
	return NULL;
}

static unsigned long long locks(void)
{
	struct thr_schedlock_stats stats;

	return thr_schedlock_stats(&stats) == 0 ? stats.acquisitions : 0;
}

int main(int argc, char **argv)
{
	pthread_t players[2], third, occupier;
	unsigned long long before;

	limit = argc == 2 ? atol(argv[1]) : 0;
	passed = calloc(limit / BETWEEN + 2, sizeof(passed[0]));
	if (limit < BETWEEN || passed == NULL) {
		fprintf(stderr, "usage: passedby MOVES (%d or more)\n", BETWEEN);
		return 2;
	}
	woken_at = -1;
	sem_init(&turns[0], 0, 0);
	sem_init(&turns[1], 0, 0);
	sem_init(&wanted, 0, 0);
	sem_init(&here, 0, 0);
	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	for (unsigned i = 1; i < __ncpu; i++) {
		must(pthread_create(&occupier, NULL, occupy, NULL), "pthread_create");
		sem_wait(&here);
	}
	must(pthread_create(&third, NULL, wait_for_the_cpu, NULL), "pthread_create");
	for (long i = 0; i < 2; i++)
		must(pthread_create(&players[i], NULL, play, (void *)i), "pthread_create");
	before = locks();
	sem_post(&turns[0]);
	for (int i = 0; i < 2; i++)
		must(pthread_join(players[i], NULL), "pthread_join");
	before = locks() - before;
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	if (woken_at >= 0)
		passed[passes++] = moves - woken_at;
	sort_samples(passed, passes);
	printf("result most=%lld median=%lld times=%ld locks=%.4f\n", (long long)passed[passes - 1],
	       (long long)quantile(passed, passes, 500), passes, (double)before / moves);
	fflush(stdout);
	_Exit(0);
}
