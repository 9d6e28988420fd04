/* ends.h - what head and tail share: their options, and the walk over the files. */
#pragma once
#include <ctype.h>
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../usage.h"

struct ends {
	const char *usage;
	void (*number)(const char *text);       /* the argument of -n or -c */
	int (*show)(FILE *f, const char *name); /* shows one file; returns not 0: failed */
	bool *bytes;                            /* set for -c */
};

/* Parses [-n N | -c N | -N] [FILE...]; no FILE, or "-": standard input.  Returns the exit
 * status. */
static inline int ends_main(const struct ends *e, int argc, char **argv)
{
	int c, failed = 0;

	usage_asked(argv, e->usage);
	if (argc > 1 && argv[1][0] == '-' && isdigit((unsigned char)argv[1][1])) {
		e->number(argv[1] + 1);
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	while ((c = getopt(argc, argv, "n:c:")) != -1) {
		if (c == '?') {
			return usage_wrong(e->usage);
		}
		*e->bytes = c == 'c';
		e->number(optarg);
	}
	if (optind == argc)
		return e->show(stdin, "standard input");
	bool many = argc - optind > 1;
	for (argv += optind; *argv; argv++) {
		FILE *f = strcmp(*argv, "-") ? fopen(*argv, "r") : stdin;
		if (!f) {
			warn("%s", *argv);
			failed = 1;
			continue;
		}
		if (many)
			printf("==> %s <==\n", *argv);
		failed |= e->show(f, *argv);
		if (f != stdin)
			fclose(f);
	}
	return failed;
}
