/*
 * nice.c - nice [-n MORE | -MORE] CMD ARG...: runs a command with its nice value raised by
 * MORE (10).  MORE may be negative; the result is in -20 to 19.
 */
#include <ctype.h>
#include <stdio.h>
#include "../procids.h"
#include "../usage.h"

static const char usage[] = "usage: nice [-n MORE | -MORE] CMD ARG...\n";

int main(int argc, char **argv)
{
	long more = 10;
	int at = 1;

	usage_asked(argv, usage);
	if (at < argc && strcmp(argv[at], "-n") == 0 && at + 1 < argc) {
		more = number("nice", argv[at + 1], -40, 40);
		at += 2;
	} else if (at < argc && argv[at][0] == '-' &&
		   isdigit((unsigned char)argv[at][1 + (argv[at][1] == '-')])) {
		more = number("nice", argv[at] + 1, -40, 40);
		at++;
	}
	if (at >= argc || argv[at][0] == '-')
		return usage_wrong(usage);
	errno = 0;
	if (nice(more) == -1 && errno != 0)
		err(1, "nice");
	become(argv + at);
}
