/*
 * pgrep.c - pgrep [-flnovx] [-d SEPARATOR] [-g PGRP] [-P PPID] [-s SESSION] [PATTERN]: prints the
 * ids of the processes with names that match the extended regular expression.
 *
 * -f: matches the arguments; -x: matches the whole name.  -v: the other processes; -n, -o: only the
 * newest, the oldest; -l: prints names, too.
 */
#include "pgrep.h"
#include "../usage.h"

static bool with_names, args, any;
static const char *separator = "\n";

static int show(const struct weft_procinfo *p)
{
	char text[WEFT_PATH_MAX];

	printf("%s%d", any ? separator : "", p->pid);
	any = true;
	if (with_names) {
		snprintf(text, sizeof(text), "%s", p->name);
		if (args)
			pgrep_args(p, text, sizeof(text));
		printf(" %s", text);
	}
	return 0;
}

static const char usage[] = "usage: pgrep [-l] [-d SEPARATOR] " PGREP_USAGE "\n";

int main(int argc, char **argv)
{
	struct pgrep g = {0};
	int c, status = 2;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, PGREP_OPTIONS "ld:")) != -1) {
		if (c == 'l')
			with_names = true;
		else if (c == 'd')
			separator = optarg;
		else if (!pgrep_option(&g, c))
			goto usage;
	}
	args = g.args;
	status = pgrep_run(&g, argv + optind, show);
	if (any)
		putchar('\n');
usage:
	if (status == 2)
		usage_wrong(usage);
	return end_output(status);
}
