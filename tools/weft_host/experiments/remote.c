/*
 * remote - how long a thread takes from another thread's call to its first instruction on an idle CPU.
 *
 * remote wake|create COUNT
 *
 * wake    the call is sem_post(), and the thread waits in sem_wait()
 * create  the call is pthread_create()
 *
 * The main thread makes COUNT calls and keeps its CPU: after each call it waits in a loop, first until the
 * other thread has told the time at which it runs, and then until the other CPU is idle again.  So there
 * have to be two CPUs, and two LWPs for unbound threads.
 *
 * One line of results, in nanoseconds: the median, the 99.9th percentile, the least and the greatest.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include "sample.h"

#define WARM_UP 20 /* calls before that do not count, because the first uses map stacks */
#define BACK_TO_IDLE                                                                               \
	4000 /* instructions until the other thread has blocked or ended, and its CPU is idle */
#define PHASES 1000 /* the loop is up to so many instructions longer, another length each time */
#define STEP 61

static sem_t wanted;
static int64_t runs_at; /* when the other thread has begun to run; 0: it has not; atomic */

static void tell(void)
{
	__atomic_store_n(&runs_at, gethrtime(), __ATOMIC_RELEASE);
}

static void *woken(void *unused)
{
	for (;;) {
		sem_wait(&wanted);
		tell();
	}
	return NULL;
}

static void *created(void *unused)
{
	tell();
	return NULL;
}

static int64_t wait_in_a_loop(void)
{
	int64_t at;

	while ((at = __atomic_load_n(&runs_at, __ATOMIC_ACQUIRE)) == 0)
		;
	__atomic_store_n(&runs_at, 0, __ATOMIC_RELAXED);
	return at;
}

/* phase: a number of this call. */
static int64_t call(bool creates, long phase)
{
	pthread_t thread;
	int64_t began, at;

	compute(BACK_TO_IDLE + phase * STEP % PHASES);
	began = gethrtime();
	if (creates)
		must(pthread_create(&thread, NULL, created, NULL), "pthread_create");
	else
		sem_post(&wanted);
	at = wait_in_a_loop();
	if (creates) {
		compute(BACK_TO_IDLE);
		must(pthread_join(thread, NULL), "pthread_join");
	}
	return at - began;
}

int main(int argc, char **argv)
{
	bool creates = argc == 3 && strcmp(argv[1], "create") == 0;
	long count = argc == 3 ? atol(argv[2]) : 0;
	int64_t *samples = calloc(count, sizeof(samples[0]));
	pthread_t thread;

	if (count < 1 || samples == NULL || (!creates && strcmp(argv[1], "wake") != 0)) {
		fputs("usage: remote wake|create COUNT\n", stderr);
		return 2;
	}
	if (__ncpu < 2) {
		fputs("remote: no second CPU\n", stderr);
		return 2;
	}
	must(pthread_setconcurrency(2), "pthread_setconcurrency");
	sem_init(&wanted, 0, 0);
	if (!creates)
		must(pthread_create(&thread, NULL, woken, NULL), "pthread_create");
	for (long i = 0; i < WARM_UP; i++)
		call(creates, i);
	for (long i = 0; i < count; i++)
		samples[i] = call(creates, i);
	sort_samples(samples, count);
	printf("result median_ns=%lld p999_ns=%lld least_ns=%lld most_ns=%lld\n",
	       (long long)quantile(samples, count, 500), (long long)quantile(samples, count, 999),
	       (long long)samples[0], (long long)samples[count - 1]);
	fflush(stdout);
	_Exit(0);
}
