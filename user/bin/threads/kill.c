/* kill.c - kill [-SIGNAL | -s SIGNAL] PID..., kill -l [NUMBER]: sends a signal (TERM) to processes
 * or, PID below 0, to process groups; -l: prints the names of all signals, or of one.  SIGNAL: a
 * name, with or without SIG, or a number; 0 only checks whether the process exists. */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "../usage.h"

static int list(const char *number)
{
	char name[SIG2STR_MAX], *end;
	int sig, column = 0;

	if (number) {
		sig = strtol(number, &end, 10);
		/* The shell's exit status contains the signal as well. */
		if (end == number || *end || sig2str(sig > 128 ? sig - 128 : sig, name) < 0)
			errx(1, "%s: no such signal", number);
		puts(name);
		return 0;
	}
	for (sig = 1; sig < NSIG; sig++)
		if (sig2str(sig, name) == 0)
			printf("%2d) %-10s%s", sig, name, ++column % 5 ? "" : "\n");
	if (column % 5)
		putchar('\n');
	return 0;
}

static const char usage[] = "usage: kill [-SIGNAL | -s SIGNAL] PID...\n       kill -l [NUMBER]\n";

int main(int argc, char **argv)
{
	int sig = SIGTERM, i = 1, failed = 0;
	const char *name = NULL;
	char *end;
	long pid;

	usage_asked(argv, usage);
	if (argc > 1 && !strcmp(argv[1], "-l"))
		return argc > 3 ? usage_wrong(usage) : list(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "-s")) {
		name = argv[2];
		i = 3;
	} else if (argc > 1 && argv[1][0] == '-' && strcmp(argv[1], "--")) {
		name = argv[1] + 1;
		i = 2;
	}
	if (name && str2sig(strncasecmp(name, "SIG", 3) ? name : name + 3, &sig) < 0)
		errx(1, "%s: no such signal", name);
	if (i < argc && !strcmp(argv[i], "--"))
		i++;
	if (i == argc)
		return usage_wrong(usage);
	for (; i < argc; i++) {
		pid = strtol(argv[i], &end, 10);
		if (end == argv[i] || *end || pid != (pid_t)pid) {
			warnx("%s: not a process id", argv[i]);
			failed = 1;
		} else if (kill(pid, sig) < 0) {
			warn("%s", argv[i]);
			failed = 1;
		}
	}
	return failed;
}
