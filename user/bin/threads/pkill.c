/*
 * pkill.c - pkill [-SIGNAL] [-fnovx] [-g PGRP] [-P PPID] [-s SESSION] [PATTERN]: sends a signal
 * (TERM) to the processes that pgrep would list.
 */
#include <signal.h>
#include "pgrep.h"
#include "../usage.h"

static int sig = SIGTERM;

static int send(const struct weft_procinfo *p)
{
	if (kill(p->pid, sig) == 0)
		return 0;
	warn("%d", p->pid);
	return 1;
}

static const char usage[] = "usage: pkill [-SIGNAL] " PGREP_USAGE "\n";

int main(int argc, char **argv)
{
	struct pgrep g = {0};
	int c, status = 2;

	usage_asked(argv, usage);
	/* No option begins with the first character of a signal's name or number. */
	if (argc > 1 && argv[1][0] == '-' && argv[1][1] && !strchr("fnovxgPs-", argv[1][1])) {
		const char *name = argv[1] + 1;

		if (str2sig(strncmp(name, "SIG", 3) ? name : name + 3, &sig) < 0)
			errx(2, "%s: no such signal", name);
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	while ((c = getopt(argc, argv, PGREP_OPTIONS)) != -1)
		if (!pgrep_option(&g, c))
			goto usage;
	status = pgrep_run(&g, argv + optind, send);
usage:
	if (status == 2)
		usage_wrong(usage);
	return status;
}
