/*
 * contend - threads at one mutex.
 *
 * contend THREADS ROUNDS
 *
 * Each of THREADS unbound threads locks the mutex ROUNDS times, adds one to a counter, executes HOLD instructions and
 * unlocks it.  Nothing lies between an unlock and the next lock.  One line of results: the time from the first thread's beginning to
 * the last one's end.
 */
#include <pthread.h>
#include "sample.h"

#define MAX_THREADS 64
#define HOLD 1000 /* long against the time that CPUs need to see each other's stores */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter; /* lock */
static pthread_barrier_t all_here;
static long rounds;
static struct {
	pthread_t thread;
	int64_t began, ended;
} all[MAX_THREADS];

static void *count(void *arg)
{
	uintptr_t self = (uintptr_t)arg;

	pthread_barrier_wait(&all_here);
	all[self].began = gethrtime();
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		compute(HOLD);
		pthread_mutex_unlock(&lock);
	}
	all[self].ended = gethrtime();
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc == 3 ? atol(argv[1]) : 0;
	int64_t began = INT64_MAX, ended = 0;

	rounds = argc == 3 ? atol(argv[2]) : 0;
	if (threads < 1 || threads > MAX_THREADS || rounds < 1) {
		fputs("usage: contend THREADS ROUNDS\n", stderr);
		return 2;
	}
	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	must(pthread_barrier_init(&all_here, NULL, threads), "pthread_barrier_init");
	for (long i = 0; i < threads; i++)
		must(pthread_create(&all[i].thread, NULL, count, (void *)i), "pthread_create");
	for (long i = 0; i < threads; i++) {
		must(pthread_join(all[i].thread, NULL), "pthread_join");
		began = all[i].began < began ? all[i].began : began;
		ended = all[i].ended > ended ? all[i].ended : ended;
	}
	if (counter != threads * rounds) {
		fprintf(stderr, "contend: %ld in place of %ld\n", counter, threads * rounds);
		return 1;
	}
	printf("result real_ns=%lld\n", (long long)(ended - began));
	return 0;
}
