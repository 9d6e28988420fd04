/* readlink.c - readlink [-f] PATH...: the targets of symbolic links; -f: the absolute path of any
 * file, without symbolic links, . and .. in it. */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../usage.h"

static const char usage[] = "usage: readlink [-f] PATH...\n";

int main(int argc, char **argv)
{
	int c, fflag = 0, failed = 0;
	char path[PATH_MAX];
	ssize_t n;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "f")) != -1) {
		if (c == '?')
			optind = argc;
		fflag = 1;
	}
	if (optind == argc)
		return usage_wrong(usage);
	for (argv += optind; *argv; argv++) {
		if (fflag) {
			if (realpath(*argv, path)) {
				puts(path);
				continue;
			}
		} else if ((n = readlink(*argv, path, sizeof(path) - 1)) >= 0) {
			printf("%.*s\n", (int)n, path);
			continue;
		}
		warn("%s", *argv);
		failed = 1;
	}
	return failed;
}
