/*
 * time.c - time [-p] CMD ARG...: runs a command, then prints on standard error its elapsed time
 * and the CPU time of it and its children, in the format of POSIX: seconds.
 *
 * Exits as the command does; 128 + signal if one killed it.
 */
#include <err.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../usage.h"

static const char usage[] = "usage: time [-p] CMD ARG...\n";

int main(int argc, char **argv)
{
	struct rusage ru;
	hrtime_t start;
	int c, status, error;
	pid_t pid;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "+p")) != -1)
		if (c == '?')
			optind = argc;
	if (optind == argc)
		return usage_wrong(usage);
	start = gethrtime();
	error = posix_spawnp(&pid, argv[optind], NULL, NULL, argv + optind, environ);
	if (error) {
		errno = error;
		err(error == ENOENT ? 127 : 126, "%s", argv[optind]);
	}
	while (wait4(pid, &status, 0, &ru) < 0)
		if (errno != EINTR)
			err(1, "wait4");
	fprintf(stderr, "real %.2f\nuser %ld.%02ld\nsys %ld.%02ld\n", (gethrtime() - start) / 1e9,
		(long)ru.ru_utime.tv_sec, (long)ru.ru_utime.tv_usec / 10000,
		(long)ru.ru_stime.tv_sec, (long)ru.ru_stime.tv_usec / 10000);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
