/* mkdir.c - mkdir [-p] [-m MODE] DIR...: makes directories; -p: also their missing parents, and
 * existing directories are no error.  MODE is octal. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../usage.h"

static int is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Makes the missing directories of path.  Cuts path at each slash for a moment.  Returns 0, or
 * -1. */
static int make_all(char *path, mode_t mode)
{
	char *slash = path;

	while ((slash = strchr(slash + 1, '/')) != NULL) {
		*slash = '\0';
		if (mkdir(path, 0777) < 0 && !is_dir(path))
			return -1;
		*slash = '/';
	}
	return mkdir(path, mode) < 0 && !is_dir(path) ? -1 : 0;
}

static const char usage[] = "usage: mkdir [-p] [-m MODE] DIR...\n";

int main(int argc, char **argv)
{
	int c, pflag = 0, failed = 0;
	mode_t mode = 0777;
	char *end;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "pm:")) != -1) {
		switch (c) {
		case 'p':
			pflag = 1;
			break;
		case 'm':
			mode = strtoul(optarg, &end, 8);
			if (end == optarg || *end || mode > 07777)
				errx(2, "not an octal mode: %s", optarg);
			umask(0);
			break;
		default:
			return usage_wrong(usage);
		}
	}
	if (optind == argc)
		return usage_wrong(usage);
	for (argv += optind; *argv; argv++)
		if (pflag ? make_all(*argv, mode) : mkdir(*argv, mode)) {
			warn("%s", *argv);
			failed = 1;
		}
	return failed;
}
