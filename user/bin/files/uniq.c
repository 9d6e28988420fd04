/*
 * uniq.c - uniq [-c] [-d | -u] [INPUT [OUTPUT]]: prints each run of equal lines once.
 * -c: prefixes the length of the run; -d: only runs of several lines; -u: only runs of one line.
 */
#include <stdbool.h>
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

static bool counts, repeated, single;

static void print(const char *line, long n)
{
	if ((repeated && n == 1) || (single && n > 1))
		return;
	if (counts)
		printf("%7ld ", n);
	puts(line);
}

static const char usage[] = "usage: uniq [-c] [-d | -u] [INPUT [OUTPUT]]\n";

int main(int argc, char **argv)
{
	char *line = NULL, *last = NULL, *swap;
	size_t size = 0, last_size = 0, swap_size;
	const char *name;
	FILE *f;
	long n = 0;
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "cdu")) != -1) {
		counts |= c == 'c';
		repeated |= c == 'd';
		single |= c == 'u';
		if (c == '?')
			optind = argc + 1;
	}
	if (argc - optind > 2 || optind > argc)
		return usage_wrong(usage);
	name = optind < argc ? argv[optind] : "-";
	f = open_input(name);
	if (!f)
		return 2;
	if (argc - optind == 2 && !freopen(argv[optind + 1], "w", stdout))
		err(2, "%s", argv[optind + 1]);
	while (next_line(&line, &size, f) >= 0) {
		if (n && !strcmp(line, last)) {
			n++;
			continue;
		}
		if (n)
			print(last, n);
		swap = last, swap_size = last_size;
		last = line, last_size = size;
		line = swap, size = swap_size;
		n = 1;
	}
	if (n)
		print(last, n);
	return end_output(close_input(f, name) ? 0 : 2);
}
