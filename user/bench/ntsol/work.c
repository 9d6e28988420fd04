/*
 * work.c - tables 4 to 6 and 8 to 10: threads that compute, alone, in turn with idle time, or with
 * data that they share.
 *
 * Locks: shared.slot[].lock, one at a time; no lock is acquired under it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include "../common/device.h"
#include "ntsol.h"

static long unit, turns;
static int64_t idle_ns;

/* The shared data: parts with a lock each. */
static struct slot {
	struct lock lock;
	long whole;  /* lock */
	double real; /* lock */
} * slots;

/* The first thread's turns: when each began, and the number of LWPs then. */
static struct turn {
	int64_t at;
	uint32_t lwps;
} * growth;

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
	begin_by_reading();
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
		struct slot *slot = &slots[i % settings.locks];

		column->lock(&slot->lock);
		slot->whole += 2;
		slot->real += 3.0;
		column->unlock(&slot->lock);
	}
}

void test_shared(char **args)
{
	bool global = strcmp(args[0], "global") == 0;
	long n = number("shared", args[1], 1, 100000), whole = 0;
	double real = 0;

	if (!global && strcmp(args[0], "local") != 0) {
		fprintf(stderr, "%s: shared %s: neither local nor global\n", bench_name, args[0]);
		exit(2);
	}
	turns = number("turns", args[2], 1, 1000000000);
	slots = allocate(settings.locks, sizeof(*slots));
	for (long i = 0; i < settings.locks; i++)
		column->lock_init(&slots[i].lock, global ? LOCK_GLOBAL : LOCK_LOCAL);
	printf("result test=shared column=%s lock=%s locks=%ld threads=%ld turns=%ld", column->name,
	       args[0], settings.locks, n, turns);
	measure(n, modify);
	for (long i = 0; i < settings.locks; i++) {
		whole += slots[i].whole;
		real += slots[i].real;
	}
	if (whole != 2 * n * turns || real != 3.0 * n * turns)
		fail("%ld of %ld modifications are there", whole / 2, n * turns);
	free(slots);
}

static void be_idle(void)
{
	switch (settings.idle) {
	case IDLE_WAIT:
		column->idle(idle_ns);
		break;
	case IDLE_WHOLE:
		column->idle(idle_ns - gethrtime() % idle_ns);
		break;
	case IDLE_READ:
		device_wait(idle_ns);
		break;
	}
}

static void bursts(struct task *task)
{
	begin_by_reading();
	for (long i = 0; i < turns; i++) {
		be_idle();
		compute(unit);
	}
}

/* As bursts, and notes the number of LWPs. */
static void bursts_of_the_first(struct task *task)
{
	begin_by_reading();
	for (long i = 0; i < turns; i++) {
		be_idle();
		growth[i] = (struct turn){gethrtime(), moment().lwps};
		compute(unit);
	}
}

void test_burst(char **args)
{
	long n = number("burst", args[0], 1, 100000);
	struct moment start, end;
	struct task *tasks = allocate(n, sizeof(*tasks));

	idle_ns = number("idle", args[1], 1, 100000) * 1000000;
	unit = number("burst", args[2], 2, 1000000000000);
	turns = number("turns", args[3], 1, 1000000);
	growth = allocate(turns, sizeof(*growth));
	start = moment();
	for (long i = 0; i < n; i++) {
		tasks[i].run = i == 0 && settings.growth ? bursts_of_the_first : bursts;
		create(&tasks[i]);
	}
	join_all(tasks, n, sizeof(*tasks));
	end = moment();
	if (settings.growth) {
		for (long i = 0; i < turns; i++)
			printf("result test=pool column=%s threads=%ld reads=%ld turn=%ld "
			       "at_ns=%lld alive=%u\n",
			       column->name, n, settings.reads, i + 1,
			       (long long)(growth[i].at - start.real), growth[i].lwps);
		goto out;
	}
	printf("result test=burst column=%s threads=%ld idle_ns=%lld burst=%ld turns=%ld "
	       "reads=%ld lwps_first=%u",
	       column->name, n, (long long)idle_ns, unit, turns, settings.reads, start.lwps);
	print_since(&start, &end);
out:
	free(tasks);
	free(growth);
}
