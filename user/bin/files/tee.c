/* tee.c - tee [-ai] [FILE...]: copies standard input to standard output and to files; -a: appends
 * to the files; -i: ignores SIGINT. */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../usage.h"

static int write_all(int fd, const char *buf, ssize_t n)
{
	ssize_t put;

	for (; n > 0; buf += put, n -= put)
		if ((put = write(fd, buf, n)) < 0)
			return -1;
	return 0;
}

static const char usage[] = "usage: tee [-ai] [FILE...]\n";

int main(int argc, char **argv)
{
	int c, i, n, aflag = 0, failed = 0, *fd;
	static char buf[16384];
	ssize_t got;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "ai")) != -1) {
		if (c == '?')
			return usage_wrong(usage);
		if (c == 'i')
			signal(SIGINT, SIG_IGN);
		else
			aflag = 1;
	}
	argv += optind;
	n = argc - optind;
	fd = malloc((n + 1) * sizeof(*fd));
	if (!fd)
		err(1, "tee");
	for (i = 0; i < n; i++) {
		fd[i] = open(argv[i], O_WRONLY | O_CREAT | (aflag ? O_APPEND : O_TRUNC), 0666);
		if (fd[i] < 0) {
			warn("%s", argv[i]);
			failed = 1;
		}
	}
	while ((got = read(STDIN_FILENO, buf, sizeof(buf))) > 0) {
		if (write_all(STDOUT_FILENO, buf, got) < 0)
			err(1, "standard output");
		for (i = 0; i < n; i++)
			if (fd[i] >= 0 && write_all(fd[i], buf, got) < 0) {
				warn("%s", argv[i]);
				failed = 1;
				close(fd[i]);
				fd[i] = -1;
			}
	}
	if (got < 0)
		err(1, "standard input");
	return failed;
}
