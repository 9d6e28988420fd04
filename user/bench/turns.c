/*
 * turns - how long does a thread wait for its turn at a lock, and what does work outside of it change?
 *
 * turns COLUMN KIND THREADS TURNS INSIDE OUTSIDE
 *
 * Each thread makes TURNS turns: it takes the lock, executes INSIDE instructions, lets go, and executes
 * OUTSIDE more.  Both are random, uniform from nothing to twice the number.
 *
 * COLUMN  nt, bound, cl, unbound, as in ntsol (common/column.h)
 * KIND    local   NT's critical section, a mutex of the process
 *         global  NT's mutex, a process-shared mutex
 *         none    no lock at all
 *
 * One line of results: wait_ns is what a thread waits for the lock on an average, wait_sd_ns the standard
 * deviation, wait_most_ns the longest wait, each over all turns of all threads.  least and most are the
 * turns of the slowest and of the fastest thread when the first thread has made all of its turns: with a
 * fair lock they are alike.
 *
 * If two threads are inside at once, or a turn is lost, the program says so and ends with status 1.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "common/bench.h"
#include "common/column.h"

#define MAX_THREADS 256

const char bench_name[] = "turns";

struct turner {
	struct task task;
	uint32_t state; /* of its random numbers */
	long made;      /* turns; atomic, for the first that is done */
	double sum, squares;
	int64_t longest;
};

static const struct column *column;
static bool exclusive;
static long turns, inside, outside, threads;
static struct lock lock;
static struct turner turner[MAX_THREADS];
static struct semaphore gate;           /* opens when all threads are made */
static long within;                     /* atomic: threads inside */
static long done;                       /* guarded by lock */
static long least_made = -1, most_made; /* set by the first thread that is done */
static bool first;                      /* atomic: a thread has made all its turns */

/* Executes a random number of instructions, mean on an average. */
static void work(struct turner *t, long mean)
{
	t->state = t->state * 1664525 + 1013904223;
	compute((long)((uint64_t)t->state * (2 * mean + 1) >> 32));
}

static void record_wait(struct turner *t, int64_t ns)
{
	t->sum += ns;
	t->squares += (double)ns * ns;
	if (ns > t->longest)
		t->longest = ns;
}

static void one_turn(struct turner *t)
{
	if (!exclusive) {
		work(t, inside);
		return;
	}
	int64_t before = gethrtime();
	column->lock(&lock);
	record_wait(t, gethrtime() - before);
	if (__atomic_add_fetch(&within, 1, __ATOMIC_RELAXED) != 1)
		fail("two threads are inside");
	work(t, inside);
	done++;
	__atomic_sub_fetch(&within, 1, __ATOMIC_RELAXED);
	column->unlock(&lock);
}

/* The first thread that is done looks how far the others are. */
static void compare_all(void)
{
	if (__atomic_exchange_n(&first, true, __ATOMIC_RELAXED))
		return;
	least_made = turns;
	for (long i = 0; i < threads; i++) {
		long made = __atomic_load_n(&turner[i].made, __ATOMIC_RELAXED);
		least_made = made < least_made ? made : least_made;
		most_made = made > most_made ? made : most_made;
	}
}

static void take_turns(struct task *task)
{
	struct turner *t = (struct turner *)task;

	column->down(&gate);
	for (long i = 0; i < turns; i++) {
		one_turn(t);
		__atomic_store_n(&t->made, i + 1, __ATOMIC_RELAXED);
		work(t, outside);
	}
	compare_all();
}

static void print(const struct moment *start, const struct moment *end)
{
	double n = (double)turns * threads, sum = 0, squares = 0, mean;
	int64_t longest = 0;

	for (long i = 0; i < threads; i++) {
		sum += turner[i].sum;
		squares += turner[i].squares;
		longest = turner[i].longest > longest ? turner[i].longest : longest;
	}
	mean = sum / n;
	printf("result wait_ns=%.0f wait_sd_ns=%.0f wait_most_ns=%lld least=%ld most=%ld "
	       "threads=%ld turns=%ld inside=%ld outside=%ld",
	       mean, sqrt(fmax(squares / n - mean * mean, 0)), (long long)longest, least_made,
	       most_made, threads, turns, inside, outside);
	print_since(start, end);
}

static void measure(void)
{
	struct moment start, end;

	column->semaphore_init(&gate, 0);
	for (long i = 0; i < threads; i++) {
		turner[i].task.run = take_turns;
		turner[i].state = i + 1;
		if (!column->create(&turner[i].task, false))
			fail("no more threads");
	}
	start = moment();
	for (long i = 0; i < threads; i++)
		column->up(&gate);
	for (long i = 0; i < threads; i++)
		column->join(&turner[i].task);
	end = moment();
	if (exclusive && done != turns * threads)
		fail("%ld of %ld turns were made", done, turns * threads);
	print(&start, &end);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: turns nt|bound|cl|unbound local|global|none THREADS TURNS INSIDE OUTSIDE\n",
	      stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc != 7)
		usage();
	column = column_named(argv[1]);
	exclusive = strcmp(argv[2], "none") != 0;
	if (exclusive && strcmp(argv[2], "local") != 0 && strcmp(argv[2], "global") != 0)
		usage();
	threads = number("THREADS", argv[3], 1, MAX_THREADS);
	turns = number("TURNS", argv[4], 1, 100000000);
	inside = number("INSIDE", argv[5], 0, 100000000);
	outside = number("OUTSIDE", argv[6], 0, 100000000);
	column->start(sysconf(_SC_NPROCESSORS_ONLN));
	if (exclusive)
		column->lock_init(&lock, argv[2][0] == 'l' ? LOCK_LOCAL : LOCK_GLOBAL);
	measure();
	return EXIT_SUCCESS;
}
