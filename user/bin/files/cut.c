/*
 * cut.c - cut -b LIST | -c LIST | -f LIST [-d CHAR] [-s] [FILE...]: prints parts of each line.
 *
 * -b: bytes; -c: characters (UTF-8); -f: fields, separated by CHAR (a tab).  LIST: numbers and
 * ranges such as 1,3-5,7-.  -s: skips lines without CHAR.
 */
#include <stdbool.h>
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

struct range {
	long from, to;
};
static struct range *ranges;
static int nranges;

static void parse_list(char *list)
{
	struct range r;
	char *item, *s;

	while ((item = strsep(&list, ", ")) != NULL) {
		r.from = *item == '-' ? 1 : strtol(item, &s, 10);
		if (*item == '-')
			s = item;
		r.to = r.from;
		if (*s == '-') {
			item = s + 1;
			r.to = strtol(item, &s, 10);
			if (s == item)
				r.to = 0x7fffffffffffffff;
		}
		if (*s || r.from < 1 || r.to < r.from)
			errx(2, "not a list of numbers from 1 on");
		ranges = need(realloc(ranges, (nranges + 1) * sizeof(*ranges)));
		ranges[nranges++] = r;
	}
}

static bool wanted(long n)
{
	int i;

	for (i = 0; i < nranges; i++)
		if (n >= ranges[i].from && n <= ranges[i].to)
			return true;
	return false;
}

static void cut_chars(const char *line, bool bytes)
{
	long n = 0;

	for (; *line; line++) {
		n += bytes || (*line & 0xc0) != 0x80;
		if (wanted(n))
			putchar(*line);
	}
	putchar('\n');
}

static void cut_fields(char *line, char delimiter, bool only)
{
	const char stop[] = {delimiter, '\0'};
	bool any = false;
	char *field;
	long n = 0;

	if (!strchr(line, delimiter)) {
		if (!only)
			puts(line);
		return;
	}
	while ((field = strsep(&line, stop)) != NULL) {
		if (!wanted(++n))
			continue;
		if (any)
			putchar(delimiter);
		fputs(field, stdout);
		any = true;
	}
	putchar('\n');
}

static const char usage[] = "usage: cut -b LIST | -c LIST | -f LIST [-d CHAR] [-s] [FILE...]\n";

int main(int argc, char **argv)
{
	static char *none[] = {"-", NULL};
	char kind = 0, delimiter = '\t', *line = NULL;
	bool only = false, failed = false;
	size_t size = 0;
	FILE *f;
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "b:c:f:d:s")) != -1) {
		if (c == 's') {
			only = true;
		} else if (c == 'd') {
			if (strlen(optarg) != 1)
				errx(2, "not one character: %s", optarg);
			delimiter = *optarg;
		} else if (c == '?' || kind) {
			kind = 0;
			break;
		} else {
			kind = c;
			parse_list(optarg);
		}
	}
	if (!kind)
		return usage_wrong(usage);
	argv = optind < argc ? argv + optind : none;
	for (; *argv; argv++) {
		f = open_input(*argv);
		if (!f) {
			failed = true;
			continue;
		}
		while (next_line(&line, &size, f) >= 0)
			if (kind == 'f')
				cut_fields(line, delimiter, only);
			else
				cut_chars(line, kind == 'b');
		failed |= !close_input(f, *argv);
	}
	return end_output(failed);
}
