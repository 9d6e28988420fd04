/*
 * many.c - how many threads?  Creates them, lets all wait at one semaphore, prints what a thread
 * costs in memory while all of them live, then wakes them up and joins them.
 *
 * many [-b] [-n THREADS] [-s STACK]
 *
 * -b: bound threads.  Their stacks lie side by side in one mapping, without red zones.  So a
 * thread needs only the pages that it touches: one or two.  A million unbound threads fit into
 * 8 GiB, and 100,000 bound ones into 2 GiB:
 *
 * weft run --model mxn --mem 8G -- many -n 1000000
 * weft run --model mxn --mem 2G -- many -b -n 100000
 */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <weft/start.h>

static sem_t begun, go;
static unsigned long ran; /* atomic */

static void must(int error, const char *what, long n)
{
	if (error != 0) {
		errno = error;
		err(1, "%s, thread %ld", what, n);
	}
}

static void *wait_for_go(void *arg)
{
	sem_post(&begun);
	sem_wait(&go);
	__atomic_add_fetch(&ran, 1, __ATOMIC_RELAXED);
	return NULL;
}

static long free_bytes(void)
{
	return sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
	long n = 100000, stack = PTHREAD_STACK_MIN, used;
	int opt, scope = PTHREAD_SCOPE_PROCESS;
	pthread_attr_t attr;
	pthread_t *threads;
	int64_t start;
	char *stacks;

	while ((opt = getopt(argc, argv, "bn:s:")) != -1) {
		if (opt == 'b')
			scope = PTHREAD_SCOPE_SYSTEM;
		else if (opt == 'n')
			n = atol(optarg);
		else if (opt == 's')
			stack = atol(optarg);
		else
			n = 0;
	}
	if (n <= 0 || stack < PTHREAD_STACK_MIN || optind != argc) {
		fprintf(stderr, "usage: many [-b] [-n THREADS] [-s STACK, at least %d]\n",
			(int)PTHREAD_STACK_MIN);
		return 2;
	}

	used = free_bytes();
	start = gethrtime();
	threads = malloc(n * sizeof(*threads));
	stacks = mmap(NULL, n * stack, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (threads == NULL || stacks == MAP_FAILED)
		err(1, "no room for %ld threads", n);
	must(pthread_attr_init(&attr), "pthread_attr_init", 0);
	must(pthread_attr_setscope(&attr, scope), "pthread_attr_setscope", 0);
	for (long i = 0; i < n; i++) {
		must(pthread_attr_setstack(&attr, stacks + i * stack, stack), "stack", i);
		must(pthread_create(&threads[i], &attr, wait_for_go, NULL), "pthread_create", i);
	}
	for (long i = 0; i < n; i++)
		sem_wait(&begun);
	used -= free_bytes();
	printf("%ld threads alive at once: %ld bytes each, %ld MiB in all, made in %lld ms\n", n,
	       used / n, used >> 20, (long long)(gethrtime() - start) / 1000000);

	for (long i = 0; i < n; i++)
		sem_post(&go);
	for (long i = 0; i < n; i++)
		must(pthread_join(threads[i], NULL), "pthread_join", i);
	printf("%lu threads ended\n", ran);
	return ran == (unsigned long)n ? 0 : 1;
}
