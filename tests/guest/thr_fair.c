/*
 * thr_fair.c - model sa: no thread that can run waits longer than the bound that libthread/README.md states.
 *
 * Threads compute, and each looks at the clock all the time: the longest time between two looks is the longest time that
 * it has waited for an LWP.  With T threads on N CPUs, T - N wait, so a thread waits for (T - N) / N slices, rounded up,
 * and one slice more if it has yielded.  Exact timing: a host that is busy would make threads wait.
 */
#include "tap.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>
#include <weft/start.h>

#define MOST 20
#define MS 1000000ll
#define SLICE (100 * MS)
#define TICK (10 * MS) /* a slice ends at a tick */

static struct worker {
	pthread_t thread;
	int64_t longest; /* from one look to the next */
	int64_t created; /* counts as its first look */
	bool yields;     /* after each YIELD_TURNS looks */
} workers[MOST];
static int64_t until;

#define YIELD_TURNS 200

static void *compute(void *arg)
{
	struct worker *w = arg;
	int64_t last = w->created, now;

	for (long i = 1; last < until; i++) {
		now = gethrtime();
		if (now - last > w->longest)
			w->longest = now - last;
		last = now;
		if (w->yields && i % YIELD_TURNS == 0)
			sched_yield();
	}
	return NULL;
}

/* The longest wait of n threads, in slices.  The first `yielders` of them yield. */
static double longest_wait(int n, int yielders, int ms)
{
	int64_t longest = 0;

	until = gethrtime() + ms * MS;
	for (int i = 0; i < n; i++) {
		workers[i] = (struct worker){.created = gethrtime(), .yields = i < yielders};
		if (pthread_create(&workers[i].thread, NULL, compute, &workers[i]) != 0)
			bail("pthread_create");
	}
	for (int i = 0; i < n; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].longest > longest)
			longest = workers[i].longest;
	}
	return (double)longest / SLICE;
}

static void fair(int n, int yielders)
{
	int cpus = __ncpu, waiting = n - cpus;
	double bound = (waiting + cpus - 1) / cpus + (yielders != 0);
	double wait = longest_wait(n, yielders, 800);
	char name[100];

	snprintf(name, sizeof(name),
		 "%d threads, %d of them yield, on %d CPUs: %.2f slices, bound %.0f", n, yielders,
		 cpus, wait, bound);
	ok(name, wait <= bound + (double)TICK / SLICE);
}

int main(void)
{
	for (int n = 1; n <= 2; n++) {
		fair(__ncpu + n, 0);
		fair(2 * __ncpu + n, 0);
	}
	fair(2 * __ncpu + 1, 1);
	fair(2 * __ncpu + 1, __ncpu);
	fair(2 * __ncpu + 1, 2 * __ncpu + 1);
	return tap_done();
}
