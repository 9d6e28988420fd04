/*
 * blocked - threads that compute beside threads that are blocked in a system call.
 *
 * blocked THREADS INSTRUCTIONS
 *
 * Each of THREADS threads reads an empty pipe.  When all of them are about to, as many threads as there are CPUs
 * execute INSTRUCTIONS each.  All threads are unbound.  One line of results: the time of the computation, from the
 * creation of the first thread to the last one's end, and how many LWPs there are then.
 */
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include "sample.h"

#define BLOCK_NS 20000000l /* time for the last thread to block; the main thread sleeps */

static int empty[2];
static sem_t about_to_read;
static long instructions;

static void *read_nothing(void *unused)
{
	char byte;

	sem_post(&about_to_read);
	read(empty[0], &byte, 1);
	fputs("blocked: the pipe is not empty\n", stderr);
	exit(1);
}

static void *work(void *unused)
{
	compute(instructions);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc == 3 ? atol(argv[1]) : -1;
	pthread_t thread, computing[WEFT_MAXCPU];
	int64_t began;

	instructions = argc == 3 ? atol(argv[2]) : 0;
	if (threads < 0 || instructions < 1 || pipe(empty) != 0) {
		fputs("usage: blocked THREADS INSTRUCTIONS\n", stderr);
		return 2;
	}
	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	sem_init(&about_to_read, 0, 0);
	for (long i = 0; i < threads; i++)
		must(pthread_create(&thread, NULL, read_nothing, NULL), "pthread_create");
	for (long i = 0; i < threads; i++)
		sem_wait(&about_to_read);
	nanosleep(&(struct timespec){.tv_nsec = BLOCK_NS}, NULL);
	began = gethrtime();
	for (unsigned i = 0; i < __ncpu; i++)
		must(pthread_create(&computing[i], NULL, work, NULL), "pthread_create");
	for (unsigned i = 0; i < __ncpu; i++)
		must(pthread_join(computing[i], NULL), "pthread_join");
	printf("result real_ns=%lld lwps=%u\n", (long long)(gethrtime() - began),
	       spent_by(getpid()).lwps);
	fflush(stdout);
	_Exit(0);
}
