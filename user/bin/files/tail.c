/*
 * tail.c - tail [-n [+]LINES | -c [+]BYTES] [FILE...]: the last lines (10) of files, or of
 * standard input.  With a plus: from that line or byte on, counted from 1.
 *
 * tail keeps in memory what may become the end: for lines, as many as asked for.
 */
#include <stdlib.h>
#include "ends.h"

static long count = 10;
static bool bytes, from_start;

/* Prints from line or byte number `count` on. */
static void skip(FILE *f)
{
	long left = count - 1;
	int c;

	while (left > 0 && (c = getc(f)) != EOF)
		left -= bytes || c == '\n';
	while ((c = getc(f)) != EOF)
		putchar(c);
}

/* The kept text: a ring of the last `count` pieces, each a line or (bytes) one byte. */
static void last_bytes(FILE *f)
{
	char *ring = malloc(count + 1);
	long n = 0, i;
	int c;

	if (!ring)
		err(1, "%ld bytes", count);
	while ((c = getc(f)) != EOF)
		if (count > 0)
			ring[n++ % count] = c;
	for (i = n > count ? n - count : 0; i < n; i++)
		putchar(ring[i % count]);
	free(ring);
}

static void last_lines(FILE *f)
{
	char **ring = calloc(count + 1, sizeof(*ring));
	size_t *room = calloc(count + 1, sizeof(*room)), *len = calloc(count + 1, sizeof(*len));
	long n = 0, i;
	ssize_t got;

	if (!ring || !room || !len)
		err(1, "%ld lines", count);
	while ((got = getline(&ring[n % (count + 1)], &room[n % (count + 1)], f)) >= 0) {
		len[n % (count + 1)] = got;
		n++;
	}
	for (i = n > count ? n - count : 0; i < n; i++)
		fwrite(ring[i % (count + 1)], 1, len[i % (count + 1)], stdout);
	for (i = 0; i <= count; i++)
		free(ring[i]);
	free(ring);
	free(room);
	free(len);
}

static int tail(FILE *f, const char *name)
{
	if (from_start)
		skip(f);
	else if (bytes)
		last_bytes(f);
	else
		last_lines(f);
	if (ferror(f))
		warn("%s", name);
	return ferror(f) != 0;
}

static void number(const char *text)
{
	char *end;

	from_start = *text == '+';
	count = strtol(text + from_start, &end, 10);
	if (end == text + from_start || *end || count < 0 || count > 1000000000)
		errx(2, "not a number: %s", text);
}

int main(int argc, char **argv)
{
	return ends_main(&(struct ends){"usage: tail [-n [+]LINES | -c [+]BYTES] [FILE...]\n",
					number, tail, &bytes},
			 argc, argv);
}
