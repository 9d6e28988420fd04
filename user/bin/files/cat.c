/* cat.c - cat [FILE...]: copies files (- or none: standard input) to standard output. */
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "../usage.h"

/* Returns 0, or 1 after an error, for which it has printed a message. */
static int copy(int fd, const char *name)
{
	char buf[4096];
	ssize_t n, done, put;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (done = 0; done < n; done += put) {
			put = write(STDOUT_FILENO, buf + done, n - done);
			if (put < 0)
				err(1, "standard output");
		}
	if (n < 0)
		warn("%s", name);
	return n < 0;
}

static const char usage[] = "usage: cat [FILE...]\n";

int main(int argc, char **argv)
{
	int i, fd, failed = 0;

	usage_asked(argv, usage);
	if (argc == 1)
		return copy(STDIN_FILENO, "standard input");
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-")) {
			failed |= copy(STDIN_FILENO, "standard input");
			continue;
		}
		fd = open(argv[i], O_RDONLY);
		if (fd < 0) {
			warn("%s", argv[i]);
			failed = 1;
			continue;
		}
		failed |= copy(fd, argv[i]);
		close(fd);
	}
	return failed;
}
