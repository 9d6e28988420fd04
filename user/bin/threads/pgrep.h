/* pgrep.h - what pgrep and pkill share: the selection of processes by a pattern and options. */
#pragma once
#include <sys/types.h>
#include <regex.h>
#include <stdbool.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../lines.h"
#include "../procids.h"

#define PGREP_OPTIONS "fnovxg:P:s:"
#define PGREP_USAGE "[-fnovx] [-g PGRP] [-P PPID] [-s SESSION] [PATTERN]"

struct pgrep {
	bool args, exact, others, newest, oldest; /* -f -x -v -n -o */
	int group, parent, session;               /* 0: any */
	const char *pattern;                      /* NULL: any */
	regex_t regex;
};

/* Writes a process's arguments if there are any, else its name. */
static inline void pgrep_args(const struct weft_procinfo *p, char *text, size_t size)
{
	char path[40];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", p->pid);
	snprintf(text, size, "%s", p->name);
	f = fopen(path, "r");
	if (f && fgets(text, size, f))
		text[strcspn(text, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* Handles one of PGREP_OPTIONS; false: c is none of them. */
static inline bool pgrep_option(struct pgrep *g, int c)
{
	switch (c) {
	case 'f':
		return g->args = true;
	case 'n':
		return g->newest = true;
	case 'o':
		return g->oldest = true;
	case 'v':
		return g->others = true;
	case 'x':
		return g->exact = true;
	case 'g':
		return g->group = process_id(optarg), true;
	case 'P':
		return g->parent = process_id(optarg), true;
	case 's':
		return g->session = process_id(optarg), true;
	default:
		return false;
	}
}

static inline bool pgrep_meant(const struct pgrep *g, const struct weft_procinfo *p)
{
	char text[WEFT_PATH_MAX];
	regmatch_t at = {0};
	bool fits = true;

	if (g->pattern) {
		snprintf(text, sizeof(text), "%s", p->name);
		if (g->args)
			pgrep_args(p, text, sizeof(text));
		fits = regexec(&g->regex, text, 1, &at, 0) == 0 &&
		       (!g->exact || (at.rm_so == 0 && !text[at.rm_eo]));
	}
	fits &= !g->group || p->pgrp == g->group;
	fits &= !g->parent || p->ppid == g->parent;
	fits &= !g->session || p->sid == g->session;
	return fits != g->others;
}

/*
 * Calls one() on each selected process, except the caller.  Returns 0: one or more processes,
 * 1: none, 3: one() failed.  Wrong use ends with 2.  (POSIX has no such command; these are
 * Solaris's statuses.)
 */
static inline int pgrep_run(struct pgrep *g, char **operands,
			    int (*one)(const struct weft_procinfo *))
{
	struct weft_procinfo p, best = {0};
	int status = 1, error;
	char text[200];

	g->pattern = operands[0];
	if ((operands[0] && operands[1]) || (g->newest && g->oldest) ||
	    (!g->pattern && !g->group && !g->parent && !g->session))
		return 2;
	if (g->pattern) {
		error = regcomp(&g->regex, *g->pattern ? g->pattern : "()", REG_EXTENDED);
		if (error) {
			regerror(error, &g->regex, text, sizeof(text));
			errx(2, "%s: %s", g->pattern, text);
		}
	}
	for (int pid = 1; (pid = __sys_procinfo(pid, &p)) > 0; pid++) {
		if (pid == getpid() || !pgrep_meant(g, &p))
			continue;
		if (!g->newest && !g->oldest) {
			status = one(&p) == 0 && status != 3 ? 0 : 3;
			continue;
		}
		/* If two processes began at once, the greater id is the younger. */
		if (!best.pid || (g->newest ? p.start >= best.start : p.start < best.start))
			best = p;
	}
	if (best.pid)
		status = one(&best) == 0 ? 0 : 3;
	return status;
}
