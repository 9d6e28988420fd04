/*
 * thr_phase.c MS - unbound threads compute for MS milliseconds, beside a process that computes on all CPUs in the same part of each slice,
 * so that a slice always ends while this process has all CPUs.  No thread waits for long.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/start.h>
#include "tap.h"

#define THREADS 6
#define MS 1000000ll
#define SLICE (100 * MS)
#define PHASE (30 * MS) /* of each slice, in which the other process begins to compute */
#define BUSY (40 * MS)
#define LONG (12 * SLICE) /* 1:1, on two CPUs: 7 slices */

static hrtime_t until;
static hrtime_t longest[THREADS];

static void *computes(void *arg)
{
	hrtime_t *wait = arg;

	for (hrtime_t now, last = gethrtime(); last < until; last = now) {
		now = gethrtime();
		if (now - last > *wait)
			*wait = now - last;
	}
	return NULL;
}

static void *is_in_the_way(void *arg)
{
	while (gethrtime() < until) {
		hrtime_t at = (gethrtime() / SLICE + 1) * SLICE + PHASE;
		struct timespec ts = {at / 1000000000, at % 1000000000};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		while (gethrtime() < at + BUSY)
			;
	}
	return NULL;
}

static void start(pthread_t *t, int scope, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, scope);
	if (pthread_create(t, &attr, fn, arg) != 0)
		bail("pthread_create");
}

static void other_process(void)
{
	pthread_t t[WEFT_MAXCPU];

	for (unsigned i = 0; i < __ncpu; i++)
		start(&t[i], PTHREAD_SCOPE_SYSTEM, is_in_the_way, NULL);
	for (unsigned i = 0; i < __ncpu; i++)
		pthread_join(t[i], NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	hrtime_t worst = 0;
	pid_t other;

	until = gethrtime() + (argc > 1 ? atoll(argv[1]) : 3000) * MS;
	other = fork();
	if (other == 0)
		other_process();
	for (int i = 0; i < THREADS; i++)
		start(&t[i], PTHREAD_SCOPE_PROCESS, computes, &longest[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		if (longest[i] > worst)
			worst = longest[i];
	}
	waitpid(other, NULL, 0);
	printf("# the longest wait: %lld ms\n", (long long)(worst / MS));
	ok("no thread waits for long", worst < LONG);
	return tap_done();
}
