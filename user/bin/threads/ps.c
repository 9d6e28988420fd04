/*
 * ps [-eAfL] [-o COLUMN,...] [-p PID,...]: lists processes, with -L their LWPs.
 *
 * -e, -A	all processes.  This is the default: there is only one terminal and one user
 * -f	more columns, and the arguments
 * -L	a line for each LWP: its state, class, priority, CPU and what it waits for
 * -o	these columns (`ps -o help` lists them)
 * -p	these processes only
 *
 * Sizes are in KiB.  Times are CPU time, user and system, in minutes:seconds.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>
#include "../procids.h"
#include "states.h"
#include "../usage.h"

struct line {
	struct weft_procinfo proc;
	struct lwp_info lwp; /* with -L */
	bool by_lwp;
	char text[160];
};

static const char *show_number(struct line *l, uint64_t v)
{
	sprintf(l->text, "%" PRIu64, v);
	return l->text;
}

static const char *cpu_time(struct line *l, uint64_t ns)
{
	uint64_t ms = ns / 1000000;

	sprintf(l->text, "%" PRIu64 ":%02u.%03u", ms / 60000, (unsigned)(ms / 1000 % 60),
		(unsigned)(ms % 1000));
	return l->text;
}

static uint32_t state_of(const struct line *l)
{
	return l->by_lwp ? l->lwp.state : l->proc.state;
}

static const char *show_pid(struct line *l)
{
	return show_number(l, l->proc.pid);
}

static const char *show_ppid(struct line *l)
{
	return show_number(l, l->proc.ppid);
}

static const char *show_pgid(struct line *l)
{
	return show_number(l, l->proc.pgrp);
}

static const char *show_sid(struct line *l)
{
	return show_number(l, l->proc.sid);
}

static const char *show_nlwp(struct line *l)
{
	return show_number(l, l->proc.nlwp);
}

static const char *show_lwp(struct line *l)
{
	return l->by_lwp ? show_number(l, l->lwp.id) : "-";
}

/* One letter, as Solaris: on a CPU, runnable, sleeping, stopped, zombie. */
static const char *show_s(struct line *l)
{
	uint32_t state = state_of(l);

	sprintf(l->text, "%c", state < 6 ? "IROSTZ"[state] : '?');
	return l->text;
}

static const char *show_state(struct line *l)
{
	return state_name(state_of(l));
}

static const char *show_vsz(struct line *l)
{
	return show_number(l, l->proc.size / 1024);
}

static const char *show_rss(struct line *l)
{
	return show_number(l, l->proc.rss / 1024);
}

static const char *show_user(struct line *l)
{
	return cpu_time(l, l->by_lwp ? l->lwp.utime : l->proc.ru.utime);
}

static const char *show_sys(struct line *l)
{
	return cpu_time(l, l->by_lwp ? l->lwp.stime : l->proc.ru.stime);
}

static const char *show_time(struct line *l)
{
	return cpu_time(l, l->by_lwp ? l->lwp.utime + l->lwp.stime
				     : l->proc.ru.utime + l->proc.ru.stime);
}

static const char *show_stime(struct line *l)
{
	sprintf(l->text, "%.3f", l->proc.start / 1e9);
	return l->text;
}

static const char *show_class(struct line *l)
{
	return l->by_lwp ? l->lwp.sclass : "-";
}

static const char *show_pri(struct line *l)
{
	sprintf(l->text, "%d", l->lwp.pri);
	return l->by_lwp ? l->text : "-";
}

static const char *show_psr(struct line *l)
{
	return l->by_lwp ? show_number(l, l->lwp.cpu) : "-";
}

static const char *show_call(struct line *l)
{
	const char *name = l->by_lwp ? sysdesc_name(l->lwp.syscall) : NULL;

	return name ? name : "-";
}

static const char *show_wchan(struct line *l)
{
	return l->by_lwp && *l->lwp.wchan ? l->lwp.wchan : "-";
}

static const char *show_comm(struct line *l)
{
	return l->proc.name;
}

static const char *show_args(struct line *l)
{
	char path[40];
	FILE *f;

	sprintf(path, "/proc/%d/cmdline", l->proc.pid);
	f = fopen(path, "r");
	if (f == NULL || fgets(l->text, sizeof(l->text), f) == NULL || *l->text == '\n')
		strcpy(l->text, l->proc.name);
	if (f != NULL)
		fclose(f);
	l->text[strcspn(l->text, "\n")] = '\0';
	return l->text;
}

static const struct column {
	const char *name, *header;
	int width; /* below 0: to the left */
	const char *(*show)(struct line *);
} columns[] = {
	{"pid", "PID", 5, show_pid},
	{"ppid", "PPID", 5, show_ppid},
	{"pgid", "PGID", 5, show_pgid},
	{"sid", "SID", 5, show_sid},
	{"nlwp", "NLWP", 4, show_nlwp},
	{"lwp", "LWP", 5, show_lwp},
	{"s", "S", 1, show_s},
	{"state", "STATE", -6, show_state},
	{"vsz", "VSZ", 8, show_vsz},
	{"rss", "RSS", 7, show_rss},
	{"user", "USER", 9, show_user},
	{"sys", "SYS", 9, show_sys},
	{"time", "TIME", 9, show_time},
	{"stime", "STIME", 8, show_stime},
	{"class", "CLS", -4, show_class},
	{"pri", "PRI", 3, show_pri},
	{"psr", "CPU", 3, show_psr},
	{"call", "CALL", -14, show_call},
	{"wchan", "WCHAN", -10, show_wchan},
	{"comm", "COMMAND", -10, show_comm},
	{"args", "CMD", -20, show_args},
};
#define NCOLUMNS (sizeof(columns) / sizeof(columns[0]))

static const struct column *chosen[NCOLUMNS];
static unsigned nchosen;

static void choose(const char *names)
{
	char *list = strdup(names), *rest = list, *name;

	while ((name = strsep(&rest, ", ")) != NULL) {
		unsigned i = 0;
		while (i < NCOLUMNS && strcmp(columns[i].name, name) != 0)
			i++;
		if (i == NCOLUMNS || nchosen == NCOLUMNS) {
			fprintf(stderr, "ps: no column %s; there are:", name);
			for (i = 0; i < NCOLUMNS; i++)
				fprintf(stderr, " %s", columns[i].name);
			fputc('\n', stderr);
			exit(2);
		}
		chosen[nchosen++] = &columns[i];
	}
	free(list);
}

static void print(struct line *l)
{
	for (unsigned i = 0; i < nchosen; i++) {
		bool last = i == nchosen - 1;
		const char *text = l ? chosen[i]->show(l) : chosen[i]->header;
		/* The last column of a line is not padded. */
		printf("%*s%c", last && chosen[i]->width < 0 ? 0 : chosen[i]->width, text,
		       last ? '\n' : ' ');
	}
}

static const char usage[] = "usage: ps [-eAfL] [-o COLUMN,...] [-p PID,...]\n";

int main(int argc, char **argv)
{
	bool full = false, by_lwp = false, any = false;
	const char *pids = NULL;
	static struct line l;
	long pid, id;
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "eAfLo:p:")) != -1)
		switch (c) {
		case 'e':
		case 'A':
			break;
		case 'f':
			full = true;
			break;
		case 'L':
			by_lwp = true;
			break;
		case 'o':
			choose(optarg);
			break;
		case 'p':
			pids = optarg;
			pid_listed(pids, 0); /* checks that they are ids */
			break;
		default:
			return usage_wrong(usage);
		}
	if (argv[optind] != NULL)
		return usage_wrong(usage);
	if (nchosen == 0)
		choose(full && by_lwp
			       ? "pid,ppid,lwp,nlwp,s,class,pri,psr,stime,time,call,wchan,args"
		       : full   ? "pid,ppid,pgid,nlwp,state,vsz,rss,stime,time,args"
		       : by_lwp ? "pid,lwp,state,class,pri,psr,time,call,wchan,comm"
				: "pid,ppid,nlwp,state,vsz,rss,user,sys,comm");
	print(NULL);
	for (pid = 1; (pid = __sys_procinfo(pid, &l.proc)) > 0; pid++) {
		if (!pid_listed(pids, pid))
			continue;
		any = true;
		l.by_lwp = by_lwp;
		if (!by_lwp)
			print(&l);
		for (id = 1; by_lwp && (id = __sys_lwp_info(pid, id, &l.lwp)) > 0; id++)
			print(&l);
	}
	return pids != NULL && !any;
}
