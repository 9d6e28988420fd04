/*
 * swamp - what a process with one thread gets of the CPUs beside a process with many.
 *
 * swamp THREADS MILLISECONDS
 *
 * Both processes compute all the time.  One line of results: the share of the process with one thread in the time of
 * all CPUs, in percent.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include "sample.h"

static void *compute_for_ever(void *unused)
{
	for (;;)
		compute(1000);
	return NULL;
}

static void swamp(long threads)
{
	pthread_t thread;

	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	for (long i = 1; i < threads; i++)
		must(pthread_create(&thread, NULL, compute_for_ever, NULL), "pthread_create");
	compute_for_ever(NULL);
}

int main(int argc, char **argv)
{
	long threads = argc == 3 ? atol(argv[1]) : 0, ns = argc == 3 ? atol(argv[2]) * 1000000 : 0;
	int64_t began, before;
	pid_t many;

	if (threads < 1 || ns < 1) {
		fputs("usage: swamp THREADS MILLISECONDS\n", stderr);
		return 2;
	}
	many = fork();
	if (many == 0)
		swamp(threads);
	/* The other process makes its threads meanwhile. */
	for (began = gethrtime(); gethrtime() < began + ns / 10;)
		compute(1000);
	before = spent_by(getpid()).cpu_ns;
	for (began = gethrtime(); gethrtime() < began + ns;)
		compute(1000);
	printf("result share=%.2f\n",
	       100.0 * (spent_by(getpid()).cpu_ns - before) / (gethrtime() - began) / __ncpu);
	kill(many, SIGKILL);
	waitpid(many, NULL, 0);
	return 0;
}
