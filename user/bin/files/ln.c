/* ln.c - ln [-sf] FILE [NAME], ln [-sf] FILE... DIRECTORY: gives a file one more name (default:
 * FILE's last name, in the current directory).  -s: makes a symbolic link; -f: removes NAME
 * first. */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../usage.h"

static const char usage[] = "usage: ln [-sf] FILE... [TARGET]\n";

int main(int argc, char **argv)
{
	int c, sflag = 0, fflag = 0, failed = 0, into, last;
	const char *target, *name;
	char to[PATH_MAX];
	struct stat st;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "sf")) != -1) {
		if (c == '?')
			optind = argc;
		*(c == 's' ? &sflag : &fflag) = 1;
	}
	if (optind == argc)
		return usage_wrong(usage);
	last = optind + 1 < argc ? argc - 1 : argc;
	target = last < argc ? argv[last] : ".";
	into = stat(target, &st) == 0 && S_ISDIR(st.st_mode);
	if (last - optind > 1 && !into)
		errx(1, "%s: not a directory", target);
	for (; optind < last; optind++) {
		name = strrchr(argv[optind], '/');
		name = name ? name + 1 : argv[optind];
		if (snprintf(to, sizeof(to), into ? "%s/%s" : "%s", target, name) >=
		    (int)sizeof(to))
			errx(1, "%s: name too long", name);
		if (fflag)
			unlink(to);
		if (sflag ? symlink(argv[optind], to) : link(argv[optind], to)) {
			warn("%s", to);
			failed = 1;
		}
	}
	return failed;
}
