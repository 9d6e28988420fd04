/*
 * barrier - threads that compute and meet at a barrier, again and again.
 *
 *	barrier [-b] [-c LWPS] [-t THREADS] [-i ITERATIONS] [-s SIZE] [-n BARRIERS] [-l CPUS]
 *
 * The program of appendix A of "Performance of the M-to-N thread scheduling model" (the ThreadMon
 * paper), in UNIX International threads: between two barriers each thread increments each
 * element of its own SIZE by SIZE matrix ITERATIONS times; the barrier is a mutex, a counter and a
 * condition variable.  Fine grain in the paper is a size of 2, and 1 to some thousand
 * iterations; coarse grain a size of 500 and 10 iterations.
 *
 *	-b  bound threads; else unbound ones
 *	-c  concurrency asked for (the number of CPUs; 0: not asked)
 *	-t  threads (4)
 *	-i  iterations (10)
 *	-s  rows and columns of a matrix (500)
 *	-n  barriers (10), after one that is not measured
 *	-l  as many other processes compute all the while (0)
 *
 * The line of results, beside bench's: barrier_ns, from one barrier to the next; ready_ns, how long a
 * thread that the barrier lets go takes on an average until it goes on (Dispatchable while an LWP
 * is under way to it, or on the run queue, or its LWP waits for a CPU); lwps_first and lwps, those
 * of the process after the first barrier and in the end; of `mxn`, how often _schedlock was taken
 * and found taken.
 *
 * One lock, barrier.lock; nothing is locked under it.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <synch.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread.h>
#include <unistd.h>
#include "common/bench.h"

#define MAX_LOAD 64

const char bench_name[] = "barrier";

static struct {
	bool bound;
	long concurrency, threads, iterations, size, barriers, load;
} opt = {.threads = 4, .iterations = 10, .size = 500, .barriers = 10};

static struct {
	mutex_t lock;
	cond_t open;
	long count;       /* threads that are here; lock */
	long passed;      /* barriers that have opened; lock */
	int64_t released; /* when the last one opened; lock */
	struct moment first, last;
} barrier;

struct worker {
	thread_t thread;
	volatile int *matrix;
	int64_t ready; /* time from the opening of barriers until it went on, summed */
};

/* The last one to come notes the time and lets all go.  A thread that is let go cannot be overtaken by
 * two barriers, since the next one awaits it. */
static void pass(struct worker *self)
{
	int64_t released;
	long mine;

	must(mutex_lock(&barrier.lock), "mutex_lock");
	mine = barrier.passed;
	if (++barrier.count == opt.threads) {
		barrier.count = 0;
		barrier.passed++;
		if (mine == 0)
			barrier.first = moment();
		if (mine == opt.barriers)
			barrier.last = moment();
		barrier.released = gethrtime();
		must(cond_broadcast(&barrier.open), "cond_broadcast");
		must(mutex_unlock(&barrier.lock), "mutex_unlock");
		return;
	}
	while (barrier.passed == mine)
		must(cond_wait(&barrier.open, &barrier.lock), "cond_wait");
	released = barrier.released;
	must(mutex_unlock(&barrier.lock), "mutex_unlock");
	if (mine != 0)
		self->ready += gethrtime() - released;
}

static void *work(void *arg)
{
	struct worker *self = arg;

	for (long n = 0; n <= opt.barriers; n++) {
		for (long i = 0; i < opt.iterations; i++)
			for (long k = 0; k < opt.size * opt.size; k++)
				self->matrix[k]++;
		pass(self);
	}
	return NULL;
}

/* Computes until the parent is gone, or kills it. */
static void __attribute__((noreturn)) load(pid_t parent)
{
	while (getppid() == parent)
		compute(1000000);
	_exit(0);
}

static void parse(int argc, char **argv)
{
	int option;

	opt.concurrency = sysconf(_SC_NPROCESSORS_ONLN);
	while ((option = getopt(argc, argv, "bc:t:i:s:n:l:")) != -1) {
		switch (option) {
		case 'b':
			opt.bound = true;
			break;
		case 'c':
			opt.concurrency = number("-c", optarg, 0, 1024);
			break;
		case 't':
			opt.threads = number("-t", optarg, 1, 10000);
			break;
		case 'i':
			opt.iterations = number("-i", optarg, 0, 1000000000);
			break;
		case 's':
			opt.size = number("-s", optarg, 1, 10000);
			break;
		case 'n':
			opt.barriers = number("-n", optarg, 1, 1000000000);
			break;
		case 'l':
			opt.load = number("-l", optarg, 0, MAX_LOAD);
			break;
		default:
			goto usage;
		}
	}
	if (optind == argc)
		return;
usage:
	fputs("usage: barrier [-b] [-c LWPS] [-t THREADS] [-i ITERATIONS] [-s SIZE] [-n BARRIERS] "
	      "[-l CPUS]\n",
	      stderr);
	exit(2);
}

/* _schedlock's counts; ENOTSUP where there is none. */
static void print_schedlock(void)
{
	struct thr_schedlock_stats s;
	int error = thr_schedlock_stats(&s);

	if (error == ENOTSUP)
		return;
	must(error, "thr_schedlock_stats");
	printf(" schedlock=%llu contended=%llu", s.acquisitions, s.contentions);
}

static void check_matrices(struct worker *workers)
{
	long expected = (opt.barriers + 1) * opt.iterations;

	for (long i = 0; i < opt.threads; i++)
		for (long k = 0; k < opt.size * opt.size; k++)
			if (workers[i].matrix[k] != (int)expected)
				fail("thread %ld, element %ld: %d increments of %ld", i, k,
				     workers[i].matrix[k], expected);
}

int main(int argc, char **argv)
{
	struct worker *workers;
	pid_t parent = getpid(), loads[MAX_LOAD];
	int64_t ready = 0;
	long waits;

	parse(argc, argv);
	for (long i = 0; i < opt.load; i++) {
		loads[i] = fork();
		if (loads[i] < 0)
			fail("fork: %d", errno);
		if (loads[i] == 0)
			load(parent);
	}
	must(mutex_init(&barrier.lock, USYNC_THREAD, NULL), "mutex_init");
	must(cond_init(&barrier.open, USYNC_THREAD, NULL), "cond_init");
	if (opt.concurrency != 0)
		must(thr_setconcurrency(opt.concurrency), "thr_setconcurrency");
	workers = allocate(opt.threads, sizeof(*workers));
	for (long i = 0; i < opt.threads; i++)
		workers[i].matrix = allocate(opt.size * opt.size, sizeof(int));
	for (long i = 0; i < opt.threads; i++)
		must(thr_create(NULL, 0, work, &workers[i], opt.bound ? THR_BOUND : 0,
				&workers[i].thread),
		     "thr_create");
	for (long i = 0; i < opt.threads; i++) {
		must(thr_join(workers[i].thread, NULL, NULL), "thr_join");
		ready += workers[i].ready;
	}
	waits = opt.barriers * (opt.threads - 1);
	printf("result kind=%s concurrency=%ld threads=%ld iterations=%ld size=%ld barriers=%ld "
	       "load=%ld barrier_ns=%lld ready_ns=%lld lwps_first=%u",
	       opt.bound ? "bound" : "unbound", opt.concurrency, opt.threads, opt.iterations,
	       opt.size, opt.barriers, opt.load,
	       (long long)((barrier.last.real - barrier.first.real) / opt.barriers),
	       (long long)(waits > 0 ? ready / waits : 0), barrier.first.lwps);
	print_schedlock();
	print_since(&barrier.first, &barrier.last);
	for (long i = 0; i < opt.load; i++) {
		kill(loads[i], SIGKILL);
		waitpid(loads[i], NULL, 0);
	}
	check_matrices(workers);
	return EXIT_SUCCESS;
}
