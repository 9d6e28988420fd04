/*
 * stops.c - two threads, and a second process with two more, that call one function again and
 * again, for test_debug_exact.py and test_debug_motion.py, which stop them there.  What it prints
 * shows each instruction of virtual time, and the order in which the threads came.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20

static atomic_uint order;
static unsigned seen[2];
static volatile int latest;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* A number of its own for each thread and round. */
__attribute__((noinline)) static int hot(int number, int round)
{
	seen[number] = seen[number] * 31 + atomic_fetch_add(&order, 1);
	latest = 100 * number + round;
	return latest;
}

__attribute__((noinline)) static void *work(void *arg)
{
	int number = *(int *)arg;

	for (int round = 0; round < ROUNDS; round++) {
		if (hot(number, round) < 0)
			abort();
		for (volatile int spin = 0; spin < 300; spin++)
			;
	}
	return NULL;
}

int main(void)
{
	static int numbers[] = {0, 1};
	long long begin = now();
	pthread_t other;
	pid_t child = fork();

	if (child < 0 || pthread_create(&other, NULL, work, &numbers[1]) != 0)
		return 1;
	work(&numbers[0]);
	pthread_join(other, NULL);
	if (child > 0)
		waitpid(child, NULL, 0);
	printf("%s: %lld to %lld, %08x %08x\n", child > 0 ? "parent" : "child", begin, now(),
	       seen[0], seen[1]);
	return child > 0 ? 0 : 5;
}
