/* head.c - head [-n LINES | -c BYTES] [FILE...]: the first lines (10) of files, or of standard
 * input.  -LINES is short for -n LINES. */
#include <stdlib.h>
#include "ends.h"

static long count = 10;
static bool bytes;

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
	return ends_main(&(struct ends){"usage: head [-n LINES | -c BYTES] [FILE...]\n", number,
					head, &bytes},
			 argc, argv);
}
