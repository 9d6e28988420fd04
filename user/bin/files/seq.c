/*
 * seq.c - seq [-w] [-s TEXT] [FIRST [STEP]] LAST: prints numbers from FIRST (1) to LAST by STEP
 * (1), with as many decimals as the argument with the most.  -s: text between the numbers (a
 * newline); -w: leading zeros make the numbers equally wide.
 */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

static double number(const char *s, int *decimals)
{
	const char *point = strchr(s, '.');
	char *end;
	double d = strtod(s, &end);

	if (end == s || *end || !isfinite(d))
		errx(2, "not a number: %s", s);
	if (point && (int)strlen(point + 1) > *decimals)
		*decimals = strlen(point + 1);
	return d;
}

static const char usage[] = "usage: seq [-w] [-s TEXT] [FIRST [STEP]] LAST\n";

int main(int argc, char **argv)
{
	const char *separator = "\n";
	double first = 1, step = 1, last;
	int c, decimals = 0, width = 0, n;
	bool wide = false;
	long i, count;

	usage_asked(argv, usage);
	opterr = 0; /* negative numbers look like options */
	while (optind < argc && argv[optind][0] == '-' && strchr("ws", argv[optind][1]) &&
	       (c = getopt(argc, argv, "ws:")) != -1) {
		if (c == '?')
			optind = argc;
		else if (c == 'w')
			wide = true;
		else
			separator = optarg;
	}
	n = argc - optind;
	if (n < 1 || n > 3)
		return usage_wrong(usage);
	if (n > 1)
		first = number(argv[optind], &decimals);
	if (n > 2)
		step = number(argv[optind + 1], &decimals);
	last = number(argv[argc - 1], &decimals);
	if (step == 0)
		errx(2, "a step of 0");
	/* The numbers are counted in advance, because sums of fractions would drift. */
	count = floor((last - first) / step + 1e-9);
	if (wide) {
		width = snprintf(NULL, 0, "%.*f", decimals, first);
		c = snprintf(NULL, 0, "%.*f", decimals, last);
		width = c > width ? c : width;
	}
	for (i = 0; i <= count; i++)
		printf("%s%0*.*f", i ? separator : "", width, decimals, first + i * step);
	if (count >= 0)
		putchar('\n');
	return end_output(0);
}
