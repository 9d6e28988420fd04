/* usage.h - how a tool is called: told if -h or --help asks for it, and after wrong use. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --help as the first argument, or -h alone: prints the text on standard output, and ends with 0. */
static inline void usage_asked(char **argv, const char *text)
{
	if (argv[0] == NULL || argv[1] == NULL)
		return;
	if (strcmp(argv[1], "--help") == 0 || (strcmp(argv[1], "-h") == 0 && argv[2] == NULL)) {
		fputs(text, stdout);
		exit(fflush(stdout) != 0);
	}
}

/* Says it on standard error; 2, the status to end with. */
static inline int usage_wrong(const char *text)
{
	fputs(text, stderr);
	return 2;
}
