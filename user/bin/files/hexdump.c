/*
 * hexdump.c - hexdump [-Cv] [-n BYTES] [-s SKIP] [FILE...]: shows the bytes of files one after
 * the other, or of standard input, sixteen a line.
 *
 * Bytes are shown as little-endian words, or (-C) byte by byte and as text.  Lines that repeat
 * are shown once, followed by a * (-v: shows all).
 */
#include <ctype.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../usage.h"

#define LINE 16

static int canonical, all;
static unsigned long left = ~0ul, to_skip;
static int failed;

static char **names;
static FILE *current;

/* The next byte of all files, or EOF. */
static int next(void)
{
	int c;

	for (;;) {
		if (!current) {
			if (!*names)
				return EOF;
			current = strcmp(*names, "-") ? fopen(*names, "r") : stdin;
			if (!current) {
				warn("%s", *names++);
				failed = 1;
				continue;
			}
		}
		c = getc(current);
		if (c != EOF)
			return c;
		if (ferror(current)) {
			warn("%s", *names);
			failed = 1;
		}
		if (current != stdin)
			fclose(current);
		current = NULL;
		names++;
	}
}

static void print(unsigned long at, const unsigned char *b, unsigned n)
{
	unsigned i;

	printf(canonical ? "%08lx" : "%07lx", at);
	for (i = 0; i < (canonical ? LINE : n); i += canonical ? 1 : 2) {
		if (canonical) {
			if (i % 8 == 0)
				putchar(' ');
			if (i < n)
				printf(" %02x", b[i]);
			else
				printf("   ");
		} else {
			printf(" %04x", b[i] | (i + 1 < n ? b[i + 1] << 8 : 0));
		}
	}
	if (canonical) {
		printf("  |");
		for (i = 0; i < n; i++)
			putchar(isprint(b[i]) ? b[i] : '.');
		putchar('|');
	}
	putchar('\n');
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (end == text || *end)
		errx(2, "not a number: %s", text);
	return n;
}

static const char usage[] = "usage: hexdump [-Cv] [-n BYTES] [-s SKIP] [FILE...]\n";

int main(int argc, char **argv)
{
	static char *standard_input[] = {"-", NULL};
	unsigned char line[LINE], before[LINE];
	unsigned long at = 0;
	int c, starred = 0, first = 1;
	unsigned n;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "Cvn:s:")) != -1) {
		switch (c) {
		case 'C':
			canonical = 1;
			break;
		case 'v':
			all = 1;
			break;
		case 'n':
			left = number(optarg);
			break;
		case 's':
			to_skip = number(optarg);
			break;
		default:
			return usage_wrong(usage);
		}
	}
	names = optind < argc ? argv + optind : standard_input;
	while (at < to_skip && next() != EOF)
		at++;
	for (;;) {
		for (n = 0; n < LINE && left > 0 && (c = next()) != EOF; n++, left--)
			line[n] = c;
		if (n == 0)
			break;
		if (n == LINE && !first && !all && !memcmp(line, before, LINE)) {
			if (!starred)
				puts("*");
			starred = 1;
		} else {
			print(at, line, n);
			starred = 0;
		}
		memcpy(before, line, LINE);
		first = 0;
		at += n;
	}
	if (at > 0)
		printf(canonical ? "%08lx\n" : "%07lx\n", at);
	return failed;
}
