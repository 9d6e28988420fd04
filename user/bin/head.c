/* head.c - head [-n LINES | -c BYTES] [FILE...]: the first lines (10) of files, or of standard
 * input.  -LINES is short for -n LINES. */
#include <ctype.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long count = 10;
static int bytes;

static int head(FILE *f, const char *name)
{
	long left = count;
	int c;

	while (left > 0 && (c = getc(f)) != EOF) {
		putchar(c);
		left -= bytes || c == '\n';
	}
	if (ferror(f))
		warn("%s", name);
	return ferror(f) != 0;
}

static void number(const char *text)
{
	char *end;

	count = strtol(text, &end, 10);
	if (end == text || *end || count < 0)
		errx(2, "not a number: %s", text);
}

int main(int argc, char **argv)
{
	int c, failed = 0, many;
	FILE *f;

	if (argc > 1 && argv[1][0] == '-' && isdigit((unsigned char)argv[1][1])) {
		number(argv[1] + 1);
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	while ((c = getopt(argc, argv, "n:c:")) != -1) {
		if (c == '?') {
			fputs("usage: head [-n LINES | -c BYTES] [FILE...]\n", stderr);
			return 2;
		}
		bytes = c == 'c';
		number(optarg);
	}
	if (optind == argc)
		return head(stdin, "standard input");
	many = argc - optind > 1;
	for (argv += optind; *argv; argv++) {
		f = strcmp(*argv, "-") ? fopen(*argv, "r") : stdin;
		if (!f) {
			warn("%s", *argv);
			failed = 1;
			continue;
		}
		if (many)
			printf("==> %s <==\n", *argv);
		failed |= head(f, *argv);
		if (f != stdin)
			fclose(f);
	}
	return failed;
}
