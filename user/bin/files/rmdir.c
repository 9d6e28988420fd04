/* rmdir.c - rmdir [-p] DIR...: removes empty directories; -p: then also the parents named in
 * DIR. */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../usage.h"

static int remove_one(char *path, int up)
{
	char *slash;

	do {
		if (rmdir(path) < 0) {
			warn("%s", path);
			return 1;
		}
		slash = strrchr(path, '/');
		while (slash && slash > path && slash[-1] == '/')
			slash--;
		if (slash)
			*slash = '\0';
	} while (up && slash && *path);
	return 0;
}

static const char usage[] = "usage: rmdir [-p] DIR...\n";

int main(int argc, char **argv)
{
	int c, up = 0, failed = 0;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "p")) != -1) {
		if (c == '?')
			optind = argc;
		up = 1;
	}
	if (optind == argc)
		return usage_wrong(usage);
	for (argv += optind; *argv; argv++)
		failed |= remove_one(*argv, up);
	return failed;
}
