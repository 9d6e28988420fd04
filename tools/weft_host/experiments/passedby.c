/*
 * passedby - how long two threads that wake each other keep a third one off the CPU.
 *
 * passedby MOVES
 *
 * Two threads play: each wakes its partner by a semaphore and waits for its own turn.  Every BETWEEN moves,
 * a player also wakes a third thread, which waits for that in a semaphore.  The figure is the number of moves that
 * the players make until the third thread runs.  The program is for one CPU, where the three share it.
 *
 * One line of results: the most moves, and the median.  A third thread that never runs counts as passed by to
 * the end.
 */
#include <pthread.h>
#include <semaphore.h>
#include "sample.h"

#define BETWEEN 50

static sem_t turns[2], wanted;
static long moves; /* written by the thread that has the turn */
static long limit;
static long
	woken_at; /* the move at which the third thread has been woken; -1: it has run since; atomic */
static int64_t *passed;
static long passes;

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

int main(int argc, char **argv)
{
	pthread_t players[2], third;

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
	must(pthread_create(&third, NULL, wait_for_the_cpu, NULL), "pthread_create");
	for (long i = 0; i < 2; i++)
		must(pthread_create(&players[i], NULL, play, (void *)i), "pthread_create");
	sem_post(&turns[0]);
	for (int i = 0; i < 2; i++)
		must(pthread_join(players[i], NULL), "pthread_join");
	if (woken_at >= 0)
		passed[passes++] = moves - woken_at;
	sort_samples(passed, passes);
	printf("result most=%lld median=%lld times=%ld\n", (long long)passed[passes - 1],
	       (long long)quantile(passed, passes, 500), passes);
	fflush(stdout);
	_Exit(0);
}
