/*
 * pipeserver - the latency of a server that answers requests over pipes.
 *
 * pipeserver CONNECTIONS MICROSECONDS WORK LOAD
 *
 * The server has an unbound thread for each of its CONNECTIONS.  It reads a request from a pipe, executes WORK
 * instructions and writes the answer to a second pipe.  The clients are another process, in model lwp whatever
 * the server's is: a thread a connection, which sends requests at times that are drawn beforehand.  The times
 * between two requests have an exponential distribution.  Their mean is such that the requests of all connections
 * take LOAD percent of the CPUs, if a request takes WORK + OVERHEAD instructions.
 *
 * A request's latency runs from the time drawn to the return of the client's read, so a request that is sent
 * late, because the answer before it was late, counts as late.  The requests of the first tenth of the time do not count.
 *
 * One line of results: the 50th, 99th and 99.9th percentile of the latency, the share of the CPUs' time that
 * both processes took, and the number of requests.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include "sample.h"

#define MAX_CONNECTIONS 100
#define OVERHEAD 6700      /* instructions of the two reads, the two writes and the sleep */
#define BEGIN_NS 5000000ll /* from the clients' start to the first request: all threads are there */

static struct connection {
	int request[2], answer[2];
	pthread_t thread;
	long requests; /* that have been answered and count */
} all[MAX_CONNECTIONS];
static long connections, work, load;
static int64_t length;

/* --- the server -------------------------------------------------------------------------------- */

static void *serve(void *arg)
{
	struct connection *c = arg;
	char byte;

	while (read(c->request[0], &byte, 1) == 1) {
		compute(work);
		if (write(c->answer[1], &byte, 1) != 1)
			must(errno, "write");
	}
	return NULL;
}

/* --- the clients: the same program again, with the first descriptor as one more argument ------- */

static int64_t *latencies, begin;
static long most; /* requests of a connection */
static double mean_ns;

static void sleep_until(int64_t at)
{
	struct timespec then = {at / 1000000000, at % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
		;
}

static void *ask(void *arg)
{
	struct connection *c = arg;
	int64_t *latency = latencies + (c - all) * most;
	uint64_t drawn = c - all + 1;
	double at = begin;
	char byte = 0;

	while (c->requests < most) {
		drawn = drawn * 6364136223846793005ull + 1442695040888963407ull;
		at -= mean_ns * log(((drawn >> 11) + 1) * 0x1p-53);
		if (at > begin + length)
			break;
		if (gethrtime() < (int64_t)at)
			sleep_until(at);
		if (write(c->request[1], &byte, 1) != 1 || read(c->answer[0], &byte, 1) != 1)
			must(errno, "read");
		if (at > begin + length / 10)
			latency[c->requests++] = gethrtime() - (int64_t)at;
	}
	return NULL;
}

/* Moves the latencies of all connections to the front. */
static long collect(void)
{
	long n = 0;

	for (struct connection *c = all; c < all + connections; c++)
		for (long i = 0; i < c->requests; i++)
			latencies[n++] = latencies[(c - all) * most + i];
	return n;
}

static int clients(void)
{
	int64_t cpu;
	long n;

	mean_ns = (double)connections * (work + OVERHEAD) / (__ncpu * load / 100.0);
	most = 4 * length / mean_ns + 1;
	latencies = calloc(connections * most, sizeof(latencies[0]));
	if (latencies == NULL)
		must(ENOMEM, "calloc");
	begin = gethrtime() + BEGIN_NS;
	for (struct connection *c = all; c < all + connections; c++)
		must(pthread_create(&c->thread, NULL, ask, c), "pthread_create");
	sleep_until(begin);
	cpu = spent_by(getppid()).cpu_ns + spent_by(getpid()).cpu_ns;
	sleep_until(begin + length);
	cpu = spent_by(getppid()).cpu_ns + spent_by(getpid()).cpu_ns - cpu;
	for (struct connection *c = all; c < all + connections; c++)
		must(pthread_join(c->thread, NULL), "pthread_join");
	n = collect();
	sort_samples(latencies, n);
	printf("result median_ns=%lld p99_ns=%lld p999_ns=%lld busy=%.1f requests=%ld\n",
	       (long long)quantile(latencies, n, 500), (long long)quantile(latencies, n, 990),
	       (long long)quantile(latencies, n, 999), 100.0 * cpu / length / __ncpu, n);
	return 0;
}

static void start_clients(char **argv, int first)
{
	char descriptor[16];
	char *again[] = {argv[0], argv[1], argv[2], argv[3], argv[4], descriptor, NULL};

	snprintf(descriptor, sizeof(descriptor), "%d", first);
	setenv("LIBTHREAD", "lwp", 1);
	unsetenv("LIBTHREAD_OPTIONS");
	execvp(argv[0], again);
	must(errno, argv[0]);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc >= 5) {
		connections = atol(argv[1]);
		length = atol(argv[2]) * 1000;
		work = atol(argv[3]);
		load = atol(argv[4]);
	}
	if (connections < 1 || connections > MAX_CONNECTIONS || length < 1 || work < 1 ||
	    load < 1 || load > 99) {
		fputs("usage: pipeserver CONNECTIONS MICROSECONDS WORK LOAD\n", stderr);
		return 2;
	}
	for (long i = 0; i < connections; i++) {
		int *fd = all[i].request;

		/* The descriptors are in a row, so the first one tells the clients all of them. */
		if (argc == 6)
			for (int k = 0; k < 4; k++)
				(k < 2 ? fd : all[i].answer)[k % 2] = atoi(argv[5]) + 4 * i + k;
		else if (pipe(fd) != 0 || pipe(all[i].answer) != 0)
			must(errno, "pipe");
	}
	if (argc == 6)
		return clients();
	pid = fork();
	if (pid == 0)
		start_clients(argv, all[0].request[0]);
	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	for (struct connection *c = all; c < all + connections; c++)
		must(pthread_create(&c->thread, NULL, serve, c), "pthread_create");
	if (waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "pipeserver: the clients ended with status %#x\n", status);
		_Exit(1);
	}
	_Exit(0);
}
