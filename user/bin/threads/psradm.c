/*
 * psradm.c - psradm -f|-n [-v] CPU...|-a: takes CPUs offline (-f) or online (-n); -a: all CPUs.
 * An offline CPU runs no LWP.
 */
#include <stdio.h>
#include <sys/processor.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../procids.h"
#include "../usage.h"

static int verbose;

static int set(int cpu, int flag)
{
	int old = p_online(cpu, flag);

	if (old < 0) {
		warn("processor %d", cpu);
		return 1;
	}
	if (verbose && old != flag)
		printf("processor %d now %s.\n", cpu, flag == P_ONLINE ? "on-line" : "off-line");
	return 0;
}

static const char usage[] = "usage: psradm -f|-n [-v] CPU...|-a\n";

int main(int argc, char **argv)
{
	int flag = 0, all = 0, failed = 0, option, cpu;
	struct weft_cpuinfo info;

	usage_asked(argv, usage);
	while ((option = getopt(argc, argv, "fnav")) != -1) {
		if (option == 'f' || option == 'n')
			flag = option == 'f' ? P_OFFLINE : P_ONLINE;
		else if (option == 'a')
			all = 1;
		else if (option == 'v')
			verbose = 1;
		else
			flag = -1;
		if (flag < 0)
			break;
	}
	if (flag <= 0 || all != (optind == argc))
		return usage_wrong(usage);
	if (all)
		for (cpu = 0; __sys_cpuinfo(cpu, &info) == 0; cpu++)
			failed |= set(cpu, flag);
	for (; optind < argc; optind++)
		failed |= set(number("processor", argv[optind], 0, WEFT_MAXCPU - 1), flag);
	return failed;
}
