/*
 * work.c - tables 4 to 6 and 8 to 10: threads that compute, alone, in turns with being idle, or with
 * data that they share.
 *
 * One lock, `shared.lock`; nothing is locked under it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ntsol.h"

#define SHARED_INTS 64 /* the data that is modified, in the manner of the example named "array" */

static long unit, turns;
static unsigned idle_ms;

static struct {
	struct lock lock;
	unsigned next;          /* whose turn in ints[] it is; lock */
	long ints[SHARED_INTS]; /* lock */
} shared;

static struct task *create_all(long n, void (*run)(struct task *))
{
	struct task *tasks = allocate(n, sizeof(*tasks));

	for (long i = 0; i < n; i++) {
		tasks[i].run = run;
		create(&tasks[i]);
	}
	return tasks;
}

/* Creates n threads and joins them; prints the end of the line. */
static void measure(long n, void (*run)(struct task *))
{
	struct moment start = moment(), end;
	struct task *tasks = create_all(n, run);

	join_all(tasks, n, sizeof(*tasks));
	end = moment();
	print_since(&start, &end);
	free(tasks);
}

static void one_unit(struct task *task)
{
	compute(unit);
}

void test_compute(char **args)
{
	long n = number("compute", args[0], 1, 100000);

	unit = number("unit", args[1], 2, 1000000000000);
	printf("result test=compute column=%s threads=%ld unit=%ld", column->name, n, unit);
	measure(n, one_unit);
}

static void modify(struct task *task)
{
	for (long i = 0; i < turns; i++) {
		column->lock(&shared.lock);
		shared.ints[shared.next]++;
		shared.next = (shared.next + 1) % SHARED_INTS;
		column->unlock(&shared.lock);
	}
}

void test_shared(char **args)
{
	bool global = strcmp(args[0], "global") == 0;
	long n = number("shared", args[1], 1, 100000), sum = 0;

	if (!global && strcmp(args[0], "local") != 0) {
		fprintf(stderr, "%s: shared %s: neither local nor global\n", bench_name, args[0]);
		exit(2);
	}
	turns = number("turns", args[2], 1, 1000000000);
	column->lock_init(&shared.lock, global ? LOCK_GLOBAL : LOCK_LOCAL);
	printf("result test=shared column=%s lock=%s threads=%ld turns=%ld", column->name, args[0],
	       n, turns);
	measure(n, modify);
	for (int i = 0; i < SHARED_INTS; i++)
		sum += shared.ints[i];
	if (sum != n * turns)
		fail("%ld of %ld modifications are there", sum, n * turns);
}

static void bursts(struct task *task)
{
	for (long i = 0; i < turns; i++) {
		column->idle(idle_ms);
		compute(unit);
	}
}

void test_burst(char **args)
{
	long n = number("burst", args[0], 1, 100000);

	idle_ms = number("idle", args[1], 1, 100000);
	unit = number("burst", args[2], 2, 1000000000000);
	turns = number("turns", args[3], 1, 1000000);
	printf("result test=burst column=%s threads=%ld idle_ms=%u burst=%ld turns=%ld",
	       column->name, n, idle_ms, unit, turns);
	measure(n, bursts);
}
