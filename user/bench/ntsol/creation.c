/*
 * creation.c - tables 1 to 3: how many threads there can be, and how long their creation takes,
 * on an idle and on a loaded system.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <weft/proc.h>
#include "ntsol.h"

/* Bytes that table 1 leaves free: more than the CPUs' caches and the kernel's reserve. */
#define RESERVE (6 << 20)

struct starter {
	struct task task;
	int64_t created, began; /* before its creation; when it first ran */
};

static bool all_created; /* atomic: table 3's threads may end */

static void never_runs(struct task *task)
{
	fail("a suspended thread runs");
}

static struct weft_sysinfo memory(void)
{
	struct weft_sysinfo info;

	if (__sys_sysinfo(&info) != 0)
		fail("no figures of the system's memory");
	return info;
}

/*
 * Ends when the system makes no more threads, at the limit, or when only RESERVE bytes are free.
 * The kernel gives memory at the first touch.  So a thread can be created whose stack has no memory
 * yet, and a thread that touches such a stack is killed.  The records of the threads do not count
 * as memory of the threads: they exist before.
 */
void test_max(char **args)
{
	long limit = number("max", args[0], 1, 10000000), n = 0;
	struct task *tasks = allocate(limit, sizeof(*tasks));
	const char *end_by = NULL;
	struct moment start, end;
	struct weft_sysinfo before, now;

	for (long i = 0; i < limit; i++)
		tasks[i].run = never_runs;
	now = before = memory();
	start = moment();
	while (end_by == NULL) {
		if (n % 16 == 0)
			now = memory();
		if (n == limit)
			end_by = "limit";
		else if (now.mem_free < RESERVE)
			end_by = "memory";
		else if (!column->create(&tasks[n], true))
			end_by = "system";
		else
			n++;
	}
	end = moment();
	printf("result test=max column=%s threads=%ld ended_by=%s memory_bytes=%lld", column->name,
	       n, end_by, (long long)(before.mem_free - memory().mem_free));
	print_since(&start, &end);
	if (n == 0)
		fail("not one thread");
	fflush(stdout);
	_Exit(EXIT_SUCCESS); /* the suspended threads never run */
}

static void starts(struct task *task)
{
	((struct starter *)task)->began = gethrtime();
}

static void starts_and_computes(struct task *task)
{
	starts(task);
	while (!__atomic_load_n(&all_created, __ATOMIC_RELAXED))
		compute(100);
}

/* create_ns is the time until the last thread is created; real_ns, until all are joined.  start_ns
 * is the time from a thread's creation to its first instruction, on average and at most. */
static void creation(const char *test, long n, void (*run)(struct task *))
{
	struct starter *threads = allocate(n, sizeof(*threads));
	struct moment start, end;
	int64_t created, wait, sum = 0, most = 0;

	start = moment();
	for (long i = 0; i < n; i++) {
		threads[i].task.run = run;
		threads[i].created = gethrtime();
		create(&threads[i].task);
	}
	created = gethrtime();
	__atomic_store_n(&all_created, true, __ATOMIC_RELAXED);
	join_all(threads, n, sizeof(*threads));
	end = moment();
	for (long i = 0; i < n; i++) {
		wait = threads[i].began - threads[i].created;
		if (wait <= 0)
			fail("thread %ld began before it was created", i);
		sum += wait;
		most = wait > most ? wait : most;
	}
	printf("result test=%s column=%s threads=%ld create_ns=%lld start_ns=%lld "
	       "start_max_ns=%lld",
	       test, column->name, n, (long long)(created - start.real), (long long)(sum / n),
	       (long long)most);
	print_since(&start, &end);
	free(threads);
}

void test_create(char **args)
{
	creation("create", number("create", args[0], 1, 1000000), starts);
}

void test_loaded(char **args)
{
	creation("loaded", number("loaded", args[0], 1, 1000000), starts_and_computes);
}
