/* touch.c - touch [-acm] [-r FILE] PATH...: sets the times of files to now, or (-r) to those of
 * FILE; -a: of the last access, -m: of the last change, default: both.  Creates missing files,
 * except with -c. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../usage.h"

static const char usage[] = "usage: touch [-acm] [-r FILE] PATH...\n";

int main(int argc, char **argv)
{
	struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
	int c, aflag = 0, mflag = 0, cflag = 0, failed = 0, fd;
	struct stat st;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "acmr:")) != -1) {
		switch (c) {
		case 'a':
			aflag = 1;
			break;
		case 'm':
			mflag = 1;
			break;
		case 'c':
			cflag = 1;
			break;
		case 'r':
			if (stat(optarg, &st) < 0)
				err(1, "%s", optarg);
			times[0] = st.st_atim;
			times[1] = st.st_mtim;
			break;
		default:
			optind = argc;
		}
	}
	if (optind == argc)
		return usage_wrong(usage);
	if (aflag && !mflag)
		times[1].tv_nsec = UTIME_OMIT;
	if (mflag && !aflag)
		times[0].tv_nsec = UTIME_OMIT;
	for (argv += optind; *argv; argv++) {
		if (utimensat(AT_FDCWD, *argv, times, 0) == 0)
			continue;
		if (errno == ENOENT && cflag)
			continue;
		fd = errno == ENOENT ? open(*argv, O_WRONLY | O_CREAT, 0666) : -1;
		if (fd < 0 || futimens(fd, times) < 0) {
			warn("%s", *argv);
			failed = 1;
		}
		if (fd >= 0)
			close(fd);
	}
	return failed;
}
