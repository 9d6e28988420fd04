/*
 * builtin_limit.c - built-in commands for a process's limits: umask ulimit.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "sh.h"

static void print_symbolic(mode_t mask)
{
	static const char who[] = "ugo";
	int i;

	for (i = 0; i < 3; i++) {
		mode_t may = ~mask >> 3 * (2 - i) & 7;

		printf("%s%c=%s%s%s", i ? "," : "", who[i], may & 4 ? "r" : "", may & 2 ? "w" : "",
		       may & 1 ? "x" : "");
	}
	putchar('\n');
}

/* umask [-S | MODE]: the permissions that new files lack, in octal; -S: those allowed, in
 * letters. */
int builtin_umask(int argc, char **argv)
{
	mode_t now = umask(0);
	unsigned long mask;
	char *end;

	umask(now);
	if (argc == 1) {
		printf("%04o\n", (unsigned)now);
	} else if (argc == 2 && !strcmp(argv[1], "-S")) {
		print_symbolic(now);
	} else if (argc == 2) {
		mask = strtoul(argv[1], &end, 8);
		if (!isdigit((unsigned char)*argv[1]) || *end || mask > 0777) {
			complain("umask: no octal number up to 777: %s", argv[1]);
			return 1;
		}
		umask(mask);
	} else {
		fputs("usage: umask [-S | MODE]\n", stderr);
		return STATUS_ERROR;
	}
	return 0;
}

/* --- ulimit ------------------------------------------------------------------------- */

static const struct resource {
	char letter;
	int which;
	unsigned unit; /* bytes, or 1 */
	const char *name;
} resources[] = {
	{'d', RLIMIT_DATA, 1024, "data (KiB)"},   {'n', RLIMIT_NOFILE, 1, "descriptors"},
	{'s', RLIMIT_STACK, 1024, "stack (KiB)"}, {'u', RLIMIT_NPROC, 1, "processes"},
	{'v', RLIMIT_AS, 1024, "memory (KiB)"},
};
#define NRESOURCES (sizeof(resources) / sizeof(resources[0]))

static void print_limit(const struct resource *r, bool hard, bool named)
{
	struct rlimit l;

	getrlimit(r->which, &l);
	if (named)
		printf("-%c %-12s ", r->letter, r->name);
	if ((hard ? l.rlim_max : l.rlim_cur) == RLIM_INFINITY)
		puts("unlimited");
	else
		printf("%llu\n", (unsigned long long)(hard ? l.rlim_max : l.rlim_cur) / r->unit);
}

static bool set_limit(const struct resource *r, const char *text, bool hard, bool soft)
{
	rlim_t value = RLIM_INFINITY;
	struct rlimit l;
	char *end;

	if (strcmp(text, "unlimited")) {
		errno = 0;
		value = strtoull(text, &end, 10);
		if (!isdigit((unsigned char)*text) || *end || errno ||
		    value > RLIM_INFINITY / r->unit) {
			complain("ulimit: not a number: %s", text);
			return false;
		}
		value *= r->unit;
	}
	getrlimit(r->which, &l);
	if (hard)
		l.rlim_max = value;
	if (soft)
		l.rlim_cur = value;
	if (setrlimit(r->which, &l) == 0)
		return true;
	complain("ulimit: %s: %s", text, strerror(errno));
	return false;
}

/*
 * ulimit [-HS] [-a | -d | -n | -s | -u | -v] [LIMIT | unlimited]: shows or sets a limit (-v) of the
 * shell and its children.  Without -H or -S sets the hard and the soft limit, and shows the soft
 * one.
 */
int builtin_ulimit(int argc, char **argv)
{
	const struct resource *r = &resources[NRESOURCES - 1];
	bool hard = false, soft = false, all = false;
	size_t k;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		const char *s;

		for (s = argv[i] + 1; *s; s++) {
			for (k = 0; k < NRESOURCES && resources[k].letter != *s; k++)
				;
			if (k < NRESOURCES)
				r = &resources[k];
			else if (!strchr("HSa", *s))
				goto usage;
			hard |= *s == 'H';
			soft |= *s == 'S';
			all |= *s == 'a';
		}
	}
	if (argc - i > 1 || (all && i < argc))
		goto usage;
	if (i < argc)
		return set_limit(r, argv[i], hard || !soft, soft || !hard) ? 0 : 1;
	for (k = 0; all && k < NRESOURCES; k++)
		print_limit(&resources[k], hard, true);
	if (!all)
		print_limit(r, hard, false);
	return 0;
usage:
	fputs("usage: ulimit [-HS] [-a | -d | -n | -s | -u | -v] [LIMIT | unlimited]\n", stderr);
	return STATUS_ERROR;
}
