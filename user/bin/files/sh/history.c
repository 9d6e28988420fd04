/*
 * history.c - the lines typed so far, for the editor and the builtin `history'.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "edit.h"
#include "sh.h"

#define HISTORY 500

static char *lines[HISTORY];  /* oldest first */
static int length, forgotten; /* number of lines; number of dropped older lines */

int history_length(void)
{
	return length;
}

const char *history_line(int i)
{
	return lines[i];
}

void history_add(const char *line)
{
	if (!*line || (length && !strcmp(lines[length - 1], line)))
		return;
	if (length == HISTORY) {
		free(lines[0]);
		memmove(lines, lines + 1, --length * sizeof(*lines));
		forgotten++;
	}
	lines[length++] = xstrdup(line);
}

int history_find(const char *text, int before)
{
	while (--before >= 0 && !strstr(lines[before], text))
		;
	return before;
}

/* history [N | -c]: shows the lines, or the last N, with their numbers; -c: drops all lines. */
int builtin_history(int argc, char **argv)
{
	int i = 0;

	if (argc == 2 && !strcmp(argv[1], "-c")) {
		while (length > 0)
			free(lines[--length]);
		forgotten = 0;
		return 0;
	}
	if (argc > 2 || (argc == 2 && !isdigit((unsigned char)*argv[1]))) {
		fputs("usage: history [N | -c]\n", stderr);
		return STATUS_ERROR;
	}
	if (argc == 2 && atoi(argv[1]) < length)
		i = length - atoi(argv[1]);
	for (; i < length; i++)
		printf("%5d  %s\n", forgotten + i + 1, lines[i]);
	return 0;
}
