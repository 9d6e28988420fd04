/*
 * barrier - threads that compute and meet at a barrier, again and again.
 *
 * barrier [-b] [-c LWPS] [-t THREADS] [-i ITERATIONS] [-s SIZE] [-n BARRIERS] [-l CPUS]
 *         [-r US]
 *
 * The program of appendix A of "Runtime Performance Analysis of the M-to-N Scheduling Model" (the
 * ThreadMon paper), in UNIX International threads.  Between two barriers each thread increments each
 * element of its own SIZE by SIZE matrix ITERATIONS times.  The barrier is a mutex, a counter and a
 * condition variable.  Fine grain in the paper is a size of 2, and 1 to some thousand
 * iterations.  Coarse grain is a size of 500 and 10 iterations.
 *
 * -b  bound threads; else unbound ones
 * -c  concurrency asked for (the number of CPUs; 0: not asked)
 * -t  threads (4)
 * -i  iterations (10)
 * -s  rows and columns of a matrix (500)
 * -n  barriers (10), after one that is not measured
 * -l  as many other processes compute all the while (0)
 * -r  before each barrier each thread reports to another process: it blocks in a read
 *     for so many microseconds (0: no reports)
 *
 * The line of results contains, beside the keys of bench.h, barrier_ns: the time from one barrier to
 * the next, measured from the opening of the first one.  user_ns and sys_ns are the CPU time of all
 * LWPs of the process together.  waitcpu_ns is the time in which they were runnable on the kernel's
 * dispatch queues.  lock_ns is the time in which they were parked.  lwps_first and lwps count the LWPs
 * of the process after the first barrier and at the end.  In `mxn`, the line also says how often
 * _schedlock was acquired, and how often it was then contended.  A trace tells the states of the
 * threads (tools/weft_host/measured.py).
 *
 * One lock, barrier.lock; no lock is acquired under it.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <synch.h>
#include <sys/wait.h>
#include <thread.h>
#include <unistd.h>
#include "common/bench.h"
#include "common/device.h"

#define MAX_LOAD 64

const char bench_name[] = "barrier";

static struct {
	bool bound;
	long concurrency, threads, iterations, size, barriers, load, report;
} opt = {.threads = 4, .iterations = 10, .size = 500, .barriers = 10};

static struct {
	mutex_t lock;
	cond_t open;
	long count;  /* threads that have arrived; lock */
	long passed; /* barriers that have opened; lock */
	struct moment first, last;
} barrier;

struct worker {
	thread_t thread;
	volatile int *matrix;
};

/* Waits until all threads have arrived.  The last thread to arrive wakes up the others; at the first
 * barrier and at the last one it reads the process's figures.  A woken thread cannot be overtaken by
 * two barriers, because the next barrier awaits it. */
static void pass(void)
{
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
		must(cond_broadcast(&barrier.open), "cond_broadcast");
	} else {
		while (barrier.passed == mine)
			must(cond_wait(&barrier.open, &barrier.lock), "cond_wait");
	}
	must(mutex_unlock(&barrier.lock), "mutex_unlock");
}

static void *work(void *arg)
{
	struct worker *self = arg;

	for (long n = 0; n <= opt.barriers; n++) {
		for (long i = 0; i < opt.iterations; i++)
			for (long k = 0; k < opt.size * opt.size; k++)
				self->matrix[k]++;
		if (opt.report != 0)
			device_wait(opt.report * 1000);
		pass();
	}
	return NULL;
}

/* Computes until the parent exits or kills this process. */
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
	while ((option = getopt(argc, argv, "bc:t:i:s:n:l:r:")) != -1) {
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
		case 'r':
			opt.report = number("-r", optarg, 0, 1000000);
			break;
		default:
			goto usage;
		}
	}
	if (optind == argc)
		return;
usage:
	fputs("usage: barrier [-b] [-c LWPS] [-t THREADS] [-i ITERATIONS] [-s SIZE] [-n BARRIERS]\n"
	      "               [-l CPUS] [-r US]\n",
	      stderr);
	exit(2);
}

/* Prints _schedlock's counts, except where the library has none (ENOTSUP). */
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
	int64_t barrier_ns;

	parse(argc, argv);
	for (long i = 0; i < opt.load; i++) {
		loads[i] = fork();
		if (loads[i] < 0)
			fail("fork: %d", errno);
		if (loads[i] == 0)
			load(parent);
	}
	if (opt.report != 0)
		device_start();
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
	for (long i = 0; i < opt.threads; i++)
		must(thr_join(workers[i].thread, NULL, NULL), "thr_join");
	barrier_ns = (barrier.last.real - barrier.first.real) / opt.barriers;
	printf("result kind=%s concurrency=%ld threads=%ld iterations=%ld size=%ld barriers=%ld "
	       "load=%ld report=%ld barrier_ns=%lld lwps_first=%u",
	       opt.bound ? "bound" : "unbound", opt.concurrency, opt.threads, opt.iterations,
	       opt.size, opt.barriers, opt.load, opt.report, (long long)barrier_ns,
	       barrier.first.lwps);
	print_schedlock();
	print_since(&barrier.first, &barrier.last);
	for (long i = 0; i < opt.load; i++) {
		kill(loads[i], SIGKILL);
		waitpid(loads[i], NULL, 0);
	}
	check_matrices(workers);
	return EXIT_SUCCESS;
}
