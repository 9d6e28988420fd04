/* usage.h - prints the usage of a tool, for -h or --help, and after wrong use. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For --help as the first argument, or -h alone: prints text on standard output, ends with 0. */
static inline void usage_asked(char **argv, const char *text)
{
	if (argv[0] == NULL || argv[1] == NULL)
		return;
	if (strcmp(argv[1], "--help") == 0 || (strcmp(argv[1], "-h") == 0 && argv[2] == NULL)) {
		fputs(text, stdout);
		exit(fflush(stdout) != 0);
	}
}

/* Prints the text on standard error; returns 2, the status to end with. */
static inline int usage_wrong(const char *text)
{
	fputs(text, stderr);
	return 2;
}
