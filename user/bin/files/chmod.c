/*
 * chmod.c - chmod MODE PATH...: sets permissions.
 *
 * MODE is octal, or a comma list of CLASSES OPERATOR RIGHTS: some of ugoa (none: a), one of + - =,
 * some of rwx.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "../usage.h"

/* Returns the mode that results from applying `text` to `mode`. */
static mode_t change(const char *text, mode_t mode)
{
	const char *p = text;
	char *end;

	if (*p >= '0' && *p <= '7') {
		mode = strtoul(p, &end, 8);
		if (*end || mode > 07777)
			errx(2, "not a mode: %s", text);
		return mode;
	}
	for (;; p++) {
		mode_t who = 0, what = 0;
		char op;

		for (; *p && strchr("ugoa", *p); p++)
			who |= *p == 'u' ? 0700 : *p == 'g' ? 0070 : *p == 'o' ? 0007 : 0777;
		if (!who)
			who = 0777;
		op = *p++;
		if (op != '+' && op != '-' && op != '=')
			errx(2, "not a mode: %s", text);
		for (; *p && strchr("rwx", *p); p++)
			what |= *p == 'r' ? 0444 : *p == 'w' ? 0222 : 0111;
		what &= who;
		mode = op == '+' ? mode | what : op == '-' ? mode & ~what : (mode & ~who) | what;
		if (!*p)
			return mode;
		if (*p != ',')
			errx(2, "not a mode: %s", text);
	}
}

static const char usage[] = "usage: chmod MODE PATH...\n";

int main(int argc, char **argv)
{
	struct stat st;
	int i, failed = 0;

	usage_asked(argv, usage);
	if (argc < 3)
		return usage_wrong(usage);
	for (i = 2; i < argc; i++)
		if (stat(argv[i], &st) < 0 ||
		    chmod(argv[i], change(argv[1], st.st_mode & 07777)) < 0) {
			warn("%s", argv[i]);
			failed = 1;
		}
	return failed;
}
