/*
 * labcost.c PAIRS ROUNDS - what a turn costs if many pairs of threads take turns at once.
 *
 * Two pairs for each CPU, each with two semaphores of its own: no thread waits for an object of another
 * pair, and no two objects are in one sleep queue.  A turn is a post and a wait, by which a thread wakes
 * its partner and blocks.  Its cost is the time of all CPUs for the turns, so it counts waits
 * for a lock too.  The pairs begin together.
 *
 *	result cpus=N turns=N ns=N instructions=N	instructions: of a turn
 */
#include "watchdog.h"
#include "../../libthread/core/sleepq.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

#define THREADS 64
#define SEMAPHORES 1024

static sem_t semaphore[SEMAPHORES];
static sem_t *turn[THREADS];
static unsigned rounds, pairs;
static volatile unsigned ready, ended;
static volatile bool go;
static int64_t begun, over;

/* Semaphores of which each has a sleep queue for itself. */
static void turns_choose(void)
{
	unsigned n = 0;

	for (unsigned s = 0; s < SEMAPHORES && n < 2 * pairs; s += 3) {
		bool used = false;

		for (unsigned i = 0; i < n; i++)
			used |= sleepq_of_point(turn[i]) == sleepq_of_point(&semaphore[s]);
		if (!used)
			turn[n++] = &semaphore[s];
	}
	EXPECT(n == 2 * pairs, "too few semaphores: %ld", n);
}

static void *takes_turns(void *arg)
{
	unsigned me = (uintptr_t)arg;
	sem_t *mine = turn[me], *other = turn[me ^ 1];

	__atomic_add_fetch(&ready, 1, __ATOMIC_ACQ_REL);
	while (!go)
		sched_yield();
	for (unsigned i = 0; i < rounds; i++) {
		if (me % 2)
			sem_wait(mine);
		sem_post(other);
		if (me % 2 == 0)
			sem_wait(mine);
	}
	if (__atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL) == 2 * pairs)
		over = gethrtime();
	return NULL;
}

int main(int argc, char **argv)
{
	thread_t made[THREADS];
	struct sleepq *a = &__sleepq_point[1], *b = &__sleepq_point[2];

	if (argc != 3 || (pairs = atoi(argv[1]) * __ncpu) * 2 > THREADS) {
		fprintf(stderr, "usage: %s PAIRS ROUNDS\n", argv[0]);
		return 2;
	}
	rounds = atoi(argv[2]);
	watchdog_start("cost", 200, "Is a wake-up lost, a thread, or a lock?");
	if (thr_setconcurrency(__ncpu) != 0)
		return 2;
	turns_choose();
	for (unsigned i = 0; i < 2 * pairs; i++)
		if (thr_create(NULL, 0, takes_turns, (void *)(uintptr_t)i, 0, &made[i]) != 0)
			return 2;
	while (ready < 2 * pairs)
		sched_yield();
	begun = gethrtime();
	go = true;
	for (unsigned i = 0; i < 2 * pairs; i++)
		thr_join(made[i], NULL, NULL);
	uint64_t turns = 2ul * pairs * rounds, cost = (over - begun) * __ncpu / turns;
	printf("result cpus=%u turns=%lu ns=%lld instructions=%lu\n", __ncpu, turns,
	       (long long)(over - begun), cost);
	lab_figure("turn", cost);
	/* One lock may be cheaper on one CPU: the figure is for locks that are apart. */
	__ops->lock(a);
	bool apart = !(sleepq_guard(b)->held & ILOCK_HELD);
	__ops->unlock(a);
	EXPECT(apart, "one lock guards all sleep queues: a turn costs %ld instructions", cost);
	return test_passes();
}
