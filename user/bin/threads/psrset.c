/*
 * psrset.c - processor sets:
 *
 * psrset [-i [SET...]]       the sets and their CPUs
 * psrset -c [CPU...]         creates a set, of these CPUs
 * psrset -d SET...           destroys sets
 * psrset -a SET CPU...       assigns CPUs to a set
 * psrset -r CPU...           returns CPUs to the default set
 * psrset -b SET PID...       binds processes to a set
 * psrset -u PID...           unbinds processes
 * psrset -e SET CMD ARG...   runs a command in a set
 * psrset -p [CPU...]         the sets that CPUs are in
 * psrset -q [PID...]         the sets that processes are in
 */
#include <stdio.h>
#include <sys/pset.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../procids.h"
#include "../usage.h"

static int failed;

static void complain(const char *what, long id)
{
	warn("%s %ld", what, id);
	failed = 1;
}

static int cpu_arg(const char *text)
{
	return number("processor", text, 0, WEFT_MAXCPU - 1);
}

static int set_arg(const char *text)
{
	return number("processor set", text, 1, WEFT_MAXPSET);
}

static const char *set_name(int set, char buf[16])
{
	if (set == PS_NONE)
		return "not assigned";
	snprintf(buf, 16, "%d", set);
	return buf;
}

static void info(int set)
{
	unsigned n = WEFT_MAXCPU;
	int cpus[WEFT_MAXCPU];

	if (pset_info(set, NULL, &n, cpus) < 0) {
		complain("processor set", set);
		return;
	}
	printf("user processor set %d:", set);
	if (n == 0)
		printf(" empty");
	else
		printf(n == 1 ? " processor" : " processors");
	for (unsigned i = 0; i < n; i++)
		printf(" %d", cpus[i]);
	putchar('\n');
}

static void info_all(void)
{
	unsigned n = WEFT_MAXPSET;
	int sets[WEFT_MAXPSET];

	if (pset_list(sets, &n) < 0)
		err(1, "pset_list");
	for (unsigned i = 0; i < n; i++)
		info(sets[i]);
}

static void assign(int set, int cpu)
{
	char was[16], now[16];
	int old;

	if (pset_assign(set, cpu, &old) < 0)
		complain("processor", cpu);
	else
		printf("processor %d: was %s, now %s\n", cpu, set_name(old, was),
		       set_name(set, now));
}

static void where_is_cpu(int cpu)
{
	char buf[16];
	int set;

	if (pset_assign(PS_QUERY, cpu, &set) < 0)
		complain("processor", cpu);
	else
		printf("processor %d: %s\n", cpu, set_name(set, buf));
}

static const char *bound(int set, char buf[16])
{
	return set == PS_NONE ? "not bound" : set_name(set, buf);
}

static void bind(int set, int pid)
{
	char was[16], now[16];
	int old;

	if (pset_bind(set, P_PID, pid, &old) < 0)
		complain("process id", pid);
	else if (set == PS_QUERY)
		printf("process id %d: %s\n", pid, bound(old, was));
	else
		printf("process id %d: was %s, now %s\n", pid, bound(old, was), bound(set, now));
}

static int create(char **args)
{
	int set;

	if (pset_create(&set) < 0)
		err(1, "cannot create a processor set");
	printf("created processor set %d\n", set);
	for (; *args; args++)
		assign(set, cpu_arg(*args));
	return failed;
}

static int execute(char **args)
{
	int set = set_arg(args[0]);

	if (pset_bind(set, P_PID, P_MYID, NULL) < 0)
		err(1, "processor set %d", set);
	become(args + 1);
}

static const char usage[] =
	"usage: psrset [-i [SET...]] | -c [CPU...] | -d SET... | -a SET CPU... | -r CPU... "
	"|\n"
	"              -b SET PID... | -u PID... | -e SET CMD ARG... | -p [CPU...] |\n"
	"              -q [PID...]\n";

int main(int argc, char **argv)
{
	char **args = argv + 2;
	struct weft_cpuinfo cpu;
	int set = PS_NONE, n = argc - 2;
	char option = argc > 1 && argv[1][0] == '-' && argv[1][1] && !argv[1][2] ? argv[1][1] : 0;

	usage_asked(argv, usage);
	if (argc == 1) {
		info_all();
		return failed;
	}
	switch (option) {
	case 'i':
		if (n == 0)
			info_all();
		for (; *args; args++)
			info(set_arg(*args));
		return failed;
	case 'c':
		return create(args);
	case 'd':
		if (n < 1)
			return usage_wrong(usage);
		for (; *args; args++) {
			set = set_arg(*args);
			if (pset_destroy(set) < 0)
				complain("processor set", set);
			else
				printf("removed processor set %d\n", set);
		}
		return failed;
	case 'a':
		if (n < 2)
			return usage_wrong(usage);
		set = set_arg(*args++);
		/* fall through */
	case 'r':
		if (n < 1)
			return usage_wrong(usage);
		for (; *args; args++)
			assign(set, cpu_arg(*args));
		return failed;
	case 'b':
		if (n < 2)
			return usage_wrong(usage);
		set = set_arg(*args++);
		/* fall through */
	case 'u':
		if (n < 1)
			return usage_wrong(usage);
		for (; *args; args++)
			bind(set, process_id(*args));
		return failed;
	case 'e':
		return n < 2 ? usage_wrong(usage) : execute(args);
	case 'p':
		for (int i = 0; n == 0 && __sys_cpuinfo(i, &cpu) == 0; i++)
			where_is_cpu(i);
		for (; *args; args++)
			where_is_cpu(cpu_arg(*args));
		return failed;
	case 'q':
		if (n == 0)
			bind(PS_QUERY, getppid());
		for (; *args; args++)
			bind(PS_QUERY, process_id(*args));
		return failed;
	default:
		return usage_wrong(usage);
	}
}
