/*
 * crossings - how often a program's threads cross into the kernel.
 *
 * crossings semaphore|pipe PAIRS ROUNDS
 * crossings compute THREADS MICROSECONDS
 *
 * In each of PAIRS pairs of unbound threads, the first thread wakes the second and waits for its answer, ROUNDS times: over
 * semaphores of the process, or over pipes.  Or THREADS threads compute, each for MICROSECONDS of CPU time.
 *
 * A crossing is a system call.  Two of them belong to upcalls: the return from an upcall's handler, and the call in which
 * a spare LWP waits for its upcall.  One line of results: crossings for a round trip (0 for compute), crossings for a second of
 * CPU time, and CPU time for a round trip.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <weft/msacct.h>
#include "sample.h"

#define MAX_PAIRS 64

static struct pair {
	pthread_t thread[2];
	sem_t sem[2];
	int pipe[2][2];
} all[MAX_PAIRS];
static long pairs, rounds;

/* --- what the threads do ------------------------------------------------------------------------ */

static void sem_first(struct pair *p)
{
	for (long i = 0; i < rounds; i++) {
		sem_post(&p->sem[1]);
		sem_wait(&p->sem[0]);
	}
}

static void sem_second(struct pair *p)
{
	for (long i = 0; i < rounds; i++) {
		sem_wait(&p->sem[1]);
		sem_post(&p->sem[0]);
	}
}

static void pipe_write(struct pair *p, int to)
{
	char byte = 0;

	if (write(p->pipe[to][1], &byte, 1) != 1)
		must(errno, "write");
}

static void pipe_read(struct pair *p, int from)
{
	char byte;

	if (read(p->pipe[from][0], &byte, 1) != 1)
		must(errno, "read");
}

static void pipe_first(struct pair *p)
{
	for (long i = 0; i < rounds; i++) {
		pipe_write(p, 1);
		pipe_read(p, 0);
	}
}

static void pipe_second(struct pair *p)
{
	for (long i = 0; i < rounds; i++) {
		pipe_read(p, 1);
		pipe_write(p, 0);
	}
}

static void compute_first(struct pair *p)
{
	compute(rounds * 1000);
}

static const struct kind {
	const char *name;
	void (*spend[2])(struct pair *p); /* second NULL: one thread */
} kinds[] = {{"semaphore", {sem_first, sem_second}},
	     {"pipe", {pipe_first, pipe_second}},
	     {"compute", {compute_first, NULL}}};
static const struct kind *kind;

static void *first(void *arg)
{
	kind->spend[0](arg);
	return NULL;
}

static void *second(void *arg)
{
	kind->spend[1](arg);
	return NULL;
}

/* --- measuring ---------------------------------------------------------------------------------- */

static struct weft_msacct account(void)
{
	struct weft_msacct a;

	must(-__sys_msacct(getpid(), 0, &a), "msacct");
	return a;
}

static int64_t cpu_time(const struct weft_msacct *a)
{
	int64_t sum = 0;

	for (int i = MS_USER; i <= MS_KFAULT; i++)
		sum += a->ms[i];
	return sum;
}

static int usage(void)
{
	fprintf(stderr, "usage: crossings semaphore|pipe|compute 1..%d N\n", MAX_PAIRS);
	return 2;
}

int main(int argc, char **argv)
{
	struct weft_msacct began, ended;

	for (unsigned i = 0; argc == 4 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			kind = &kinds[i];
	if (kind == NULL)
		return usage();
	pairs = atol(argv[2]);
	rounds = atol(argv[3]);
	if (pairs < 1 || pairs > MAX_PAIRS || rounds < 1)
		return usage();
	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	for (struct pair *p = all; p < all + pairs; p++) {
		for (int i = 0; i < 2; i++) {
			sem_init(&p->sem[i], 0, 0);
			if (pipe(p->pipe[i]) != 0)
				must(errno, "pipe");
		}
	}
	began = account();
	for (struct pair *p = all; p < all + pairs; p++) {
		must(pthread_create(&p->thread[0], NULL, first, p), "pthread_create");
		if (kind->spend[1] != NULL)
			must(pthread_create(&p->thread[1], NULL, second, p), "pthread_create");
	}
	for (struct pair *p = all; p < all + pairs; p++)
		for (int i = 0; i < 2 && kind->spend[i] != NULL; i++)
			must(pthread_join(p->thread[i], NULL), "pthread_join");
	ended = account();
	double calls = ended.nsyscall - began.nsyscall, cpu = cpu_time(&ended) - cpu_time(&began);
	double trips = kind->spend[1] != NULL ? (double)pairs * rounds : 0;
	printf("result crossings=%.3f a_second=%.1f cpu_ns=%.1f\n", trips != 0 ? calls / trips : 0,
	       calls / cpu * 1e9, trips != 0 ? cpu / trips : 0);
	return 0;
}
