/*
 * respond - how soon does a thread that mostly sleeps get a CPU, beside threads that compute?
 *
 * respond COLUMN LOOPS INSTRUCTIONS
 *
 * LOOPS threads execute so many instructions in all, each its share.  Beside them one more thread is idle
 * for 20 to 60 milliseconds, as a person at a keyboard would have it, looks how late it comes back, computes
 * for BURST instructions, and is idle again, until the others are done.  COLUMN is nt, bound, cl or
 * unbound, as in ntsol (common/column.h); all threads have the column's default priority.
 *
 * One line of results: responses, and of their times from the moment when the idle time is over to the end of
 * the burst the mean (response_ns), the standard deviation and the longest.  One response at least is
 * counted, the one during which the last of the others ends.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include "common/bench.h"
#include "common/column.h"

#define MS 1000000ll
#define BURST 1000
#define LEAST_IDLE_MS 20
#define MORE_IDLE_MS 41 /* so many different times */

const char bench_name[] = "respond";

static const struct column *column;
static long share;      /* instructions of each loop */
static long loops_left; /* atomic */
static long responses;
static double sum, squares;
static int64_t longest;

static void loop(struct task *task)
{
	compute(share);
	__atomic_sub_fetch(&loops_left, 1, __ATOMIC_RELAXED);
}

static void record_response(int64_t ns)
{
	responses++;
	sum += ns;
	squares += (double)ns * ns;
	if (ns > longest)
		longest = ns;
}

static void interact(struct task *task)
{
	uint32_t state = 1;

	do {
		state = state * 1664525 + 1013904223;
		int64_t idle = LEAST_IDLE_MS + ((uint64_t)state * MORE_IDLE_MS >> 32);
		int64_t due = gethrtime() + idle * MS;
		column->idle(idle * MS);
		compute(BURST);
		record_response(gethrtime() - due);
	} while (__atomic_load_n(&loops_left, __ATOMIC_RELAXED) > 0);
}

static void print(long loops, const struct moment *start, const struct moment *end)
{
	double mean = sum / responses;

	printf("result loops=%ld responses=%ld response_ns=%.0f response_sd_ns=%.0f "
	       "response_most_ns=%lld",
	       loops, responses, mean, sqrt(fmax(squares / responses - mean * mean, 0)),
	       (long long)longest);
	print_since(start, end);
}

static void make(struct task *task, void (*run)(struct task *))
{
	task->run = run;
	if (!column->create(task, false))
		fail("no more threads");
}

int main(int argc, char **argv)
{
	struct moment start, end;
	struct task interactive, *task;

	if (argc != 4) {
		fputs("usage: respond nt|bound|cl|unbound LOOPS INSTRUCTIONS\n", stderr);
		return 2;
	}
	column = column_named(argv[1]);
	long loops = number("LOOPS", argv[2], 1, 1000);
	share = number("INSTRUCTIONS", argv[3], 1000, 1000000000000) / loops;
	task = allocate(loops, sizeof(*task));
	loops_left = loops;
	column->start(sysconf(_SC_NPROCESSORS_ONLN));
	start = moment();
	make(&interactive, interact);
	for (long i = 0; i < loops; i++)
		make(&task[i], loop);
	for (long i = 0; i < loops; i++)
		column->join(&task[i]);
	column->join(&interactive);
	end = moment();
	print(loops, &start, &end);
	free(task);
	return EXIT_SUCCESS;
}
