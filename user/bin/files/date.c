/* date.c - date [-u] [-r FILE] [+FORMAT]: the time (weft knows only UTC), or the time when FILE was
 * changed, in strftime's format. */
#include <err.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "../usage.h"

static const char usage[] = "usage: date [-u] [-r FILE] [+FORMAT]\n";

int main(int argc, char **argv)
{
	const char *format = "%a %b %e %H:%M:%S UTC %Y";
	time_t now = time(NULL);
	char text[1024];
	struct stat st;
	struct tm tm;
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "ur:")) != -1) {
		if (c == 'r') {
			if (stat(optarg, &st) < 0)
				err(1, "%s", optarg);
			now = st.st_mtime;
		} else if (c == '?') {
			optind = argc + 1;
		}
	}
	if (argc - optind == 1 && argv[optind][0] == '+')
		format = argv[optind++] + 1;
	if (optind != argc)
		return usage_wrong(usage);
	gmtime_r(&now, &tm);
	text[0] = '\0';
	if (strftime(text, sizeof(text), format, &tm) == 0 && *format)
		errx(1, "too long, or nothing: %s", format);
	puts(text);
	return 0;
}
