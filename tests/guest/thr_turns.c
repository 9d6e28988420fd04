/*
 * thr_turns.c lower|fifo PHASE | rr THREADS - do threads of equal priority take turns, although other threads run between them?
 *
 * lower PHASE   two threads compute, and a thread whose priority is higher, but not real-time, runs for 1 ms of each 50 ms
 * fifo PHASE    the same beside a thread of SCHED_FIFO, which runs for 20 ms of each 100 ms, from PHASE ms on.  Slices have the same
 *               period
 * rr THREADS    THREADS threads of SCHED_RR compute.  The library's ticker takes a CPU from them at each tick.  (The ticker
 *               begins late, because it first has to get a CPU.  So waits at the beginning do not count.)
 *
 * In n ms each thread has to get its share to a slice, and waits at most for a slice of each thread before it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <thread.h>
#include <time.h>
#include <weft/start.h>
#include "tap.h"

#define MS 1000000ll
#define SLICE (100 * MS)
#define TICK (10 * MS)
#define MOST 20
#define FOR (4000 * MS)
#define BEGINS (1000 * MS)

static struct worker {
	pthread_t thread;
	hrtime_t longest, used;
} workers[MOST];
static hrtime_t begun;

static void *computes(void *arg)
{
	struct worker *w = arg;
	hrtime_t last = begun + BEGINS, now;

	while ((now = gethrtime()) < begun + FOR) {
		if (now < last)
			continue;
		if (now - last > w->longest)
			w->longest = now - last;
		if (now - last < MS)
			w->used += now - last;
		last = now;
	}
	return NULL;
}

struct visitor {
	hrtime_t first, period, runs;
};

static void *visits(void *arg)
{
	const struct visitor *v = arg;

	for (hrtime_t at = begun + v->first; at < begun + FOR; at += v->period) {
		hrtime_t now = gethrtime();

		if (at > now)
			nanosleep(&(struct timespec){.tv_nsec = at - now}, NULL);
		while (gethrtime() < at + v->runs)
			;
	}
	return NULL;
}

static pthread_t start(void *(*fn)(void *), void *arg, int policy, int pri)
{
	const struct sched_param param = {.sched_priority = pri};
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, policy);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(&t, &attr, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

static void fair(int n, int policy, const struct visitor *visitor)
{
	int cpus = __ncpu, before = (n - 1) / cpus; /* slices, rounded up */
	hrtime_t runs = visitor != NULL ? visitor->runs : 0, all = 0, least = FOR;
	hrtime_t longest = 0;

	for (int i = 0; i < n; i++)
		workers[i].thread =
			start(computes, &workers[i], policy, policy == SCHED_OTHER ? 0 : 10);
	for (int i = 0; i < n; i++) {
		pthread_join(workers[i].thread, NULL);
		all += workers[i].used;
		if (workers[i].used < least)
			least = workers[i].used;
		if (workers[i].longest > longest)
			longest = workers[i].longest;
	}
	printf("# longest wait %lld ms, least CPU time %lld ms, mean %lld ms\n",
	       (long long)(longest / MS), (long long)(least / MS), (long long)(all / n / MS));
	ok("no thread waits longer than the bound", longest <= before * (SLICE + runs) + TICK);
	ok("each thread has its share", least >= all / n - SLICE);
}

int main(int argc, char **argv)
{
	static struct visitor lower = {0, 50 * MS, MS}, fifo = {0, 100 * MS, 20 * MS};
	int n = argc == 3 ? atoi(argv[2]) : 0;
	pthread_t visitor;

	begun = gethrtime();
	if (argc != 3 || (strcmp(argv[1], "rr") == 0 && n > MOST))
		bail("usage: thr_turns lower|fifo PHASE | rr THREADS");
	if (strcmp(argv[1], "lower") == 0) {
		lower.first = n * MS;
		visitor = start(visits, &lower, SCHED_OTHER, 1);
		fair(2, SCHED_OTHER, &lower);
		pthread_join(visitor, NULL);
	} else if (strcmp(argv[1], "fifo") == 0) {
		fifo.first = n * MS;
		visitor = start(visits, &fifo, SCHED_FIFO, 10);
		fair(2, SCHED_OTHER, &fifo);
		pthread_join(visitor, NULL);
	} else {
		pthread_setschedparam(pthread_self(), SCHED_FIFO,
				      &(struct sched_param){.sched_priority = 50});
		fair(n, SCHED_RR, NULL);
	}
	return tap_done();
}
