/*
 * psrinfo.c - psrinfo [-v] [CPU...]: the CPUs.
 *
 * -v: the LWP that each CPU runs, its processor set, and its counters since boot: LWP switches,
 * LWPs taken from other CPUs, inter-processor interrupts.  psrinfo -s CPU: 1 if it is online, else
 * 0, for scripts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/processor.h>
#include <weft/sys.h>
#include "../procids.h"
#include "../usage.h"

static void verbose(const struct weft_cpuinfo *c)
{
	char on[48] = "idle", set[32] = "";

	if (c->pset != PS_NONE)
		snprintf(set, sizeof(set), ", in processor set %d", c->pset);
	if (c->pid)
		snprintf(on, sizeof(on), "process %d, LWP %u", c->pid, c->lwpid);
	printf("CPU %u (APIC id %u) is %s%s\n"
	       "  runs %s; %u more are runnable\n"
	       "  %" PRIu64 " switches, %" PRIu64 " steals, %" PRIu64 " IPIs, idle for %.3f s\n",
	       c->id, c->apic_id, c->online ? "on-line" : "off-line", set, on, c->nrunnable,
	       c->switches, c->steals, c->ipis, c->idle_ns / 1e9);
}

static int one(uint32_t id, char how)
{
	struct weft_cpuinfo c;

	if (__sys_cpuinfo(id, &c) != 0) {
		warnx("processor %u: no such processor", id);
		return 1;
	}
	if (how == 's')
		printf("%u\n", c.online);
	else if (how == 'v')
		verbose(&c);
	else
		printf("%u\t%s\n", c.id, c.online ? "on-line" : "off-line");
	return 0;
}

static const char usage[] = "usage: psrinfo [-v] [CPU...]\n       psrinfo -s CPU\n";

int main(int argc, char **argv)
{
	struct weft_cpuinfo c;
	int how = 0, failed = 0, option;
	uint32_t i;

	usage_asked(argv, usage);
	while ((option = getopt(argc, argv, "vs")) != -1) {
		if (option == '?' || how) {
			how = '?';
			break;
		}
		how = option;
	}
	if (how == '?' || (how == 's' && optind != argc - 1))
		return usage_wrong(usage);
	if (optind == argc)
		for (i = 0; __sys_cpuinfo(i, &c) == 0; i++)
			failed |= one(i, how);
	for (; optind < argc; optind++)
		failed |= one(number("processor", argv[optind], 0, WEFT_MAXCPU - 1), how);
	return failed;
}
