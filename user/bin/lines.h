/*
 * lines.h - what the text tools share: input files, their lines, and the check of the
 * output at the end.
 */
#pragma once
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* "-" is standard input.  NULL: the file cannot be opened; a message has been printed. */
static inline FILE *open_input(const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "r") : stdin;

	if (!f)
		warn("%s", name);
	return f;
}

/* False: not all of the file could be read; a message has been printed. */
static inline int close_input(FILE *f, const char *name)
{
	int good = !ferror(f);

	if (!good)
		warn("%s", name);
	if (f != stdin)
		fclose(f);
	return good;
}

/*
 * Reads the next line without its newline into *line, which grows.  Returns its length, or -1 at
 * the end.
 */
static inline ssize_t next_line(char **line, size_t *size, FILE *f)
{
	ssize_t n = __getdelim(line, size, '\n', f);

	if (n > 0 && (*line)[n - 1] == '\n')
		(*line)[--n] = '\0';
	return n;
}

/* Returns the exit status: 2 if the output could not be written. */
static inline int end_output(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		warn("standard output");
		return 2;
	}
	return status;
}

static inline void *need(void *p)
{
	if (!p)
		err(2, "memory");
	return p;
}

/* Parses a whole number from 0 on; anything else ends the program with a message. */
static inline long natural(const char *s)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (end == s || *end || n < 0)
		errx(2, "not a number: %s", s);
	return n;
}
