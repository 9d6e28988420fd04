/*
 * env.c - env [-i] [NAME=VALUE...] [CMD ARG...]: prints the environment, or runs a
 * command in a changed environment; -i: starts from an empty one.
 *
 * Exit status: the command's (128 + signal if one killed it); 127: no such command, 126: the
 * command cannot be run.
 */
#include <err.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../usage.h"

static const char usage[] = "usage: env [-i] [NAME=VALUE...] [CMD ARG...]\n";

int main(int argc, char **argv)
{
	static char *empty[] = {NULL};
	char **e;
	int i = 1, status, error;
	pid_t pid;

	usage_asked(argv, usage);
	if (i < argc && !strcmp(argv[i], "-i")) {
		environ = empty;
		i++;
	}
	for (; i < argc && strchr(argv[i], '='); i++)
		if (putenv(argv[i]) != 0)
			err(1, "%s", argv[i]);
	if (i == argc) {
		for (e = environ; *e; e++)
			puts(*e);
		return 0;
	}
	error = posix_spawnp(&pid, argv[i], NULL, NULL, argv + i, environ);
	if (error) {
		errno = error;
		err(error == ENOENT ? 127 : 126, "%s", argv[i]);
	}
	if (waitpid(pid, &status, 0) < 0)
		err(1, "waitpid");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
