/*
 * malloc.c - what a block of memory costs: malloc and free of a small one, with newlib's
 * allocator and with the one for many threads (LIBTHREAD_OPTIONS=malloc=mt).
 */
#include <stdlib.h>
#include "micro.h"

#define SIZE 100
#define BATCH 16 /* blocks that a thread has at one time */

int64_t malloc_free(long n)
{
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++) {
		void *volatile p = malloc(SIZE);
		free(p);
	}
	return gethrtime() - start;
}

static void batches(long n)
{
	void *block[BATCH];

	for (; n > 0; n -= BATCH) {
		for (int i = 0; i < BATCH; i++)
			block[i] = malloc(SIZE);
		for (int i = 0; i < BATCH; i++)
			free(block[i]);
	}
}

/* A thread on each CPU.  The figure is the cost of a block for each of them. */
int64_t malloc_contended(long n)
{
	return on_all_cpus(batches, n) * __ncpu;
}
