/*
 * ntsol - the seven experiments that compared the threads of Windows NT and Solaris.
 *
 * They are creation, computation with and without a shared lock, a parallel search, and bursts, in
 * the four columns of the paper's tables.
 *
 * ntsol [-g] [-i IDLE] [-k LOCKS] [-l LWPS] [-r READS] COLUMN TEST ARGUMENT...
 *
 * COLUMN: nt (Windows NT's threads and objects, under its scheduling class), bound, cl (unbound
 * threads over as many LWPs as CPUs, or -l), unbound (over as many as the library gives).  The last
 * two need the model mxn, the first lwp.
 *
 * -g  burst: instead of one line in all, prints one for each turn of the first thread, with the
 *     number of LWPs
 * -i  burst: how threads are idle.  wait: as the column does it; whole: until the clock shows a
 *     whole number of units, as Solaris's sleep() did for unbound threads; read: in a read that
 *     blocks, as in a server that waits for a client
 * -k  shared: locks, each with data of its own, which the threads use in turn (5, as in "array.c")
 * -r  compute, search, burst: so many threads begin with a read that blocks for a millisecond
 *
 * TEST, by the paper's tables:
 *
 * max LIMIT                    1: kernel threads, created suspended, until the system has no
 *                              more or there are LIMIT
 * create N                     2: N threads that do nothing
 * loaded N                     3: N threads, each of which computes until all are created
 * compute N UNIT               4: N threads of UNIT instructions each
 * shared local|global N TURNS  5, 6: N threads, TURNS each under a lock, of the process or of
 *                              the system
 * search N CITIES              7: N threads verify the shortest tour of gr17's first CITIES
 * burst N UNIT-MS BURST TURNS  8 to 10: N threads, idle UNIT-MS milliseconds and then busy
 *                              for BURST instructions, TURNS times (the paper: 5)
 *
 * The paper's machine executed 200 million instructions or so a second, and its unit of work was
 * ten seconds.  The caller of ntsol scales the units down.  Each test prints one line of results
 * (bench.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../common/device.h"
#include "ntsol.h"

#define READ_NS 1000000

const char bench_name[] = "ntsol";
const struct column *column;
struct settings settings = {.locks = 5};
static long readers; /* threads that have begun; atomic */

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

void begin_by_reading(void)
{
	if (settings.reads > 0 &&
	    __atomic_fetch_add(&readers, 1, __ATOMIC_RELAXED) < settings.reads)
		device_wait(READ_NS);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: ntsol [-g] [-i wait|whole|read] [-k LOCKS] [-l LWPS] [-r READS]\n"
	      "             nt|bound|cl|unbound TEST ARGUMENT...\n"
	      "  max LIMIT | create N | loaded N | compute N UNIT\n"
	      "  shared local|global N TURNS | search N CITIES | burst N UNIT-MS BURST TURNS\n",
	      stderr);
	exit(2);
}

static enum idle idle_named(const char *name)
{
	static const char *const names[] = {"wait", "whole", "read"};

	for (int i = 0; i < 3; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	usage();
}

int main(int argc, char **argv)
{
	long lwps = sysconf(_SC_NPROCESSORS_ONLN);
	int option;

	while ((option = getopt(argc, argv, "gi:k:l:r:")) != -1) {
		switch (option) {
		case 'g':
			settings.growth = true;
			break;
		case 'i':
			settings.idle = idle_named(optarg);
			break;
		case 'k':
			settings.locks = number("-k", optarg, 1, 1000);
			break;
		case 'l':
			lwps = number("-l", optarg, 1, 1024);
			break;
		case 'r':
			settings.reads = number("-r", optarg, 0, 1000);
			break;
		default:
			usage();
		}
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
		if (settings.reads > 0 || settings.idle == IDLE_READ)
			device_start();
		column->start(lwps);
		tests[i].run(argv + 2);
		return EXIT_SUCCESS;
	}
	usage();
}
