/*
 * ntsol - the seven experiments that compared the threads of Windows NT and Solaris: creation,
 * computation with and without a shared lock, a parallel search, and bursts, in the four columns
 * of the paper's tables.
 *
 *	ntsol [-l LWPS] COLUMN TEST ARGUMENT...
 *
 * COLUMN: nt (Windows NT's threads and objects, under its scheduling class), bound, cl (unbound
 * threads over as many LWPs as CPUs, or -l), unbound (over what the library gives).  The last two
 * need the model mxn, the first lwp.
 *
 * TEST, by the paper's tables:
 *
 *	max LIMIT                    1: kernel threads, created suspended, until the system has no
 *	                             more or there are LIMIT
 *	create N                     2: N threads that do nothing
 *	loaded N                     3: N threads, each of which computes until all are created
 *	compute N UNIT               4: N threads of UNIT instructions each
 *	shared local|global N TURNS  5, 6: N threads, TURNS each under one lock, of the process or of
 *	                             the system
 *	search N CITIES              7: N threads verify the shortest tour of gr17's first CITIES
 *	burst N UNIT-MS BURST TURNS  8 to 10: N threads, idle UNIT-MS milliseconds and then busy
 *	                             for BURST instructions, TURNS times (the paper: 5)
 *
 * The paper's machine made 200 million instructions or so a second, and its unit of work was ten
 * seconds: units are scaled down by whoever calls.  Each test prints one line of results (bench.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ntsol.h"

const char bench_name[] = "ntsol";
const struct column *column;

static const struct test {
	const char *name;
	int args;
	void (*run)(char **args);
} tests[] = {
	{"max", 1, test_max},         {"create", 1, test_create}, {"loaded", 1, test_loaded},
	{"compute", 2, test_compute}, {"shared", 3, test_shared}, {"search", 2, test_search},
	{"burst", 4, test_burst},
};

void create(struct task *task)
{
	if (!column->create(task, false))
		fail("no more threads");
}

void join_all(void *first, long n, size_t size)
{
	for (char *task = first; n > 0; n--, task += size)
		column->join((struct task *)task);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: ntsol [-l LWPS] nt|bound|cl|unbound TEST ARGUMENT...\n"
	      "  max LIMIT | create N | loaded N | compute N UNIT\n"
	      "  shared local|global N TURNS | search N CITIES | burst N UNIT-MS BURST TURNS\n",
	      stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	long lwps = sysconf(_SC_NPROCESSORS_ONLN);
	int option;

	while ((option = getopt(argc, argv, "l:")) != -1) {
		if (option != 'l')
			usage();
		lwps = number("-l", optarg, 1, 1024);
	}
	argc -= optind;
	argv += optind;
	if (argc < 2)
		usage();
	column = column_named(argv[0]);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(tests[i].name, argv[1]) != 0)
			continue;
		if (argc != 2 + tests[i].args)
			usage();
		column->start(lwps);
		tests[i].run(argv + 2);
		return EXIT_SUCCESS;
	}
	usage();
}
