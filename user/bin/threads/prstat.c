/*
 * prstat.c - prstat [-mL] [-n N] [-p PID,...] [-c] [INTERVAL [COUNT]]: the processes that use
 * the CPUs most, every INTERVAL seconds (5), COUNT times (default: until it is killed).
 *
 * -L  a line an LWP
 * -m  microstates, in percent of the time: in user mode (USR), in the kernel (SYS), in traps
 *     (TRP), in page faults of instructions (TFL) and data, the kernel's included (DFL), waiting
 *     for a lock (LCK), asleep or stopped (SLP), waiting for a CPU (LAT).  Also the number of
 *     switches because an LWP blocked (VCX) or was preempted (ICX), and of system calls (SCL)
 * -n  no more than N lines
 * -p  only these processes
 * -c  prints reports below each other.  This is the default if standard output is no terminal (or
 *     TERM is not set), or if COUNT is 1.  Otherwise each report replaces the report before, cut to
 *     the size of the window
 *
 * The first report covers the time since each process began; each later report covers its interval.
 * CPU is the part of all CPUs' time that the process used.  Exited LWPs count for their process.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <weft/lwp.h>
#include <weft/msacct.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../procids.h"
#include "states.h"
#include "../usage.h"

struct line {
	struct weft_msacct now, was; /* was: at the last report; all 0: the LWP is new */
	struct weft_procinfo proc;
	struct lwp_info lwp; /* the line's LWP, else the process's LWP with the highest priority */
	double cpu;
};

struct report {
	struct line *line;
	size_t n, room;
	hrtime_t time;
};

static int by_lwp, microstates, ncpu, in_place;
static const char *only; /* -p's list, or NULL */

/* --- what there is ---------------------------------------------------------------------------- */

static void add(struct report *r, const struct line *l)
{
	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		r->line = realloc(r->line, r->room * sizeof(*r->line));
		if (r->line == NULL)
			err(1, NULL);
	}
	r->line[r->n++] = *l;
}

/* Collects all lines.  Omits processes and LWPs that exit between two calls. */
static void gather(struct report *r)
{
	struct line l = {0};
	struct lwp_info i;

	r->n = 0;
	r->time = gethrtime();
	for (long pid = 1; (pid = __sys_procinfo(pid, &l.proc)) > 0; pid++) {
		if (!pid_listed(only, pid) || l.proc.state == LWP_ST_ZOMB)
			continue;
		l.lwp = (struct lwp_info){.pri = INT32_MIN};
		for (long id = 1; (id = __sys_lwp_info(pid, id, &i)) > 0; id++) {
			if (i.state == LWP_ST_ZOMB)
				continue;
			if (by_lwp) {
				l.lwp = i;
				if (__sys_msacct(pid, id, &l.now) == 0)
					add(r, &l);
			} else if (i.pri > l.lwp.pri) {
				l.lwp = i;
			}
		}
		if (!by_lwp && l.lwp.pri != INT32_MIN && __sys_msacct(pid, 0, &l.now) == 0)
			add(r, &l);
	}
}

static int by_id(const void *a, const void *b)
{
	const struct weft_msacct *x = &((const struct line *)a)->now;
	const struct weft_msacct *y = &((const struct line *)b)->now;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->lwpid < y->lwpid ? -1 : x->lwpid > y->lwpid;
}

static int by_cpu(const void *a, const void *b)
{
	double x = ((const struct line *)a)->cpu, y = ((const struct line *)b)->cpu;

	return x > y ? -1 : x < y ? 1 : by_id(a, b);
}

static uint64_t on_cpu(const struct weft_msacct *a)
{
	uint64_t t = 0;

	for (int i = MS_USER; i <= MS_KFAULT; i++)
		t += a->ms[i];
	return t;
}

/* Computes what each process or LWP did since the last report, and sorts the lines by it. */
static void compare(struct report *r, const struct report *last)
{
	qsort(r->line, r->n, sizeof(*r->line), by_id);
	for (size_t i = 0; i < r->n; i++) {
		struct line *l = &r->line[i], *was = NULL;
		if (last->n)
			was = bsearch(l, last->line, last->n, sizeof(*l), by_id);
		/* The id may belong to a new LWP by now. */
		if (was && was->now.created == l->now.created)
			l->was = was->now;
		int64_t time = l->now.now - (last->n ? (uint64_t)last->time : l->now.created);
		l->cpu = time > 0 ? 100.0 * (on_cpu(&l->now) - on_cpu(&l->was)) / time / ncpu : 0;
	}
}

/* --- how it is shown -------------------------------------------------------------------------- */

static void percent(const struct line *l, uint64_t part)
{
	uint64_t whole = l->now.elapsed - l->was.elapsed;
	double p = whole ? 100.0 * part / whole : 0;

	printf(p >= 9.95 ? " %3.0f" : " %3.1f", p);
}

#define SINCE(member) (l->now.member - l->was.member)

/* Prints a number in four columns. */
static void short_number(uint64_t n)
{
	if (n < 10000)
		printf(" %4" PRIu64, n);
	else if (n < 1000000)
		printf(" %3" PRIu64 "K", n / 1000);
	else
		printf(" %3" PRIu64 "M", n / 1000000);
}

/* Cuts a row that is wider than the window: it would take two rows, and the head would scroll
 * away. */
static void begin_row(void)
{
	if (in_place)
		fputs("\033[?7l", stdout);
}

/* Erases what an older report has left after the row. */
static void end_row(void)
{
	puts(in_place ? "\033[K\033[?7h" : "");
}

/* Rows of the window, except those of the head, the total and the cursor. */
static size_t rows_of_window(void)
{
	struct winsize w;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_row == 0)
		return SIZE_MAX;
	return w.ws_row > 4 ? w.ws_row - 3 : 1;
}

static void show(const struct line *l)
{
	uint64_t s = on_cpu(&l->now) / 1000000000;
	char state[16];

	begin_row();
	printf("%6d", l->proc.pid);
	if (microstates) {
		percent(l, SINCE(ms[MS_USER]));
		percent(l, SINCE(ms[MS_SYSTEM]));
		percent(l, SINCE(ms[MS_TRAP]));
		percent(l, SINCE(ms[MS_TFAULT]));
		percent(l, SINCE(ms[MS_DFAULT]) + SINCE(ms[MS_KFAULT]));
		percent(l, SINCE(ms[MS_LOCK]));
		percent(l, SINCE(ms[MS_SLEEP]) + SINCE(ms[MS_STOPPED]));
		percent(l, SINCE(ms[MS_WAITCPU]));
		short_number(SINCE(nvcsw));
		short_number(SINCE(nivcsw));
		short_number(SINCE(nsyscall));
	} else {
		if (l->lwp.state == LWP_ST_ONPROC)
			snprintf(state, sizeof(state), "cpu%" PRIu32, l->lwp.cpu);
		else
			snprintf(state, sizeof(state), "%s", state_name(l->lwp.state));
		printf(" %6" PRIu64 "K %6" PRIu64 "K %-6s %-3s %3d %3u:%02u:%02u %5.1f%%",
		       l->proc.size / 1024, l->proc.rss / 1024, state, l->lwp.sclass, l->lwp.pri,
		       (unsigned)(s / 3600), (unsigned)(s / 60 % 60), (unsigned)(s % 60), l->cpu);
	}
	printf(" %s/%u", l->proc.name, by_lwp ? l->lwp.id : l->proc.nlwp);
	end_row();
}

static void print(const struct report *r, size_t most)
{
	struct weft_sysinfo sys = {0};

	if (in_place) {
		fputs("\033[H", stdout);
		if (most > rows_of_window())
			most = rows_of_window();
	}
	begin_row();
	if (microstates)
		printf("   PID USR SYS TRP TFL DFL LCK SLP LAT  VCX  ICX  SCL PROCESS/%s",
		       by_lwp ? "LWPID" : "NLWP");
	else
		printf("   PID    SIZE     RSS STATE  CLS PRI      TIME    CPU PROCESS/%s",
		       by_lwp ? "LWPID" : "NLWP");
	end_row();
	for (size_t i = 0; i < r->n && i < most; i++)
		show(&r->line[i]);
	__sys_sysinfo(&sys);
	begin_row();
	printf("Total: %" PRIu32 " processes, %" PRIu32 " lwps", sys.nproc, sys.nlwp);
	end_row();
	if (in_place)
		fputs("\033[J", stdout);
	fflush(stdout);
}

/* Is standard output a terminal with a TERM?  A console that the host pipes has no TERM. */
static int can_paint(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

static const char usage[] = "usage: prstat [-mLc] [-n N] [-p PID,...] [INTERVAL [COUNT]]\n";

int main(int argc, char **argv)
{
	struct report a = {0}, b = {0}, *now = &a, *last = &b, *swap;
	long interval = 5, count = LONG_MAX, most = LONG_MAX;
	struct weft_sysinfo sys;
	int option;

	usage_asked(argv, usage);
	in_place = can_paint();
	while ((option = getopt(argc, argv, "mLcn:p:")) != -1) {
		switch (option) {
		case 'm':
			microstates = 1;
			break;
		case 'L':
			by_lwp = 1;
			break;
		case 'c':
			in_place = 0;
			break;
		case 'n':
			most = number("lines", optarg, 1, INT32_MAX);
			break;
		case 'p':
			only = optarg;
			pid_listed(only, 0); /* checks that they are ids */
			break;
		default:
			return usage_wrong(usage);
		}
	}
	if (argc - optind > 2)
		return usage_wrong(usage);
	if (optind < argc)
		interval = number("interval", argv[optind++], 1, INT32_MAX);
	if (optind < argc)
		count = number("count", argv[optind], 1, INT32_MAX);
	if (__sys_sysinfo(&sys) < 0)
		err(1, "sysinfo");
	ncpu = sys.ncpu;
	if (count == 1)
		in_place = 0;
	if (in_place)
		fputs("\033[2J", stdout);

	/* The times are points of a grid, so that reports do not drift. */
	for (hrtime_t next = gethrtime(); count > 0; count--) {
		gather(now);
		compare(now, last);
		swap = last;
		last = now;
		now = swap;
		/* `last` stays sorted by id for the next comparison: print a copy. */
		struct report sorted = {.line = malloc((last->n + 1) * sizeof(struct line)),
					.n = last->n};
		if (sorted.line == NULL)
			err(1, NULL);
		memcpy(sorted.line, last->line, last->n * sizeof(struct line));
		qsort(sorted.line, sorted.n, sizeof(struct line), by_cpu);
		print(&sorted, most);
		free(sorted.line);
		if (count > 1) {
			next += interval * 1000000000;
			struct timespec ts = {next / 1000000000, next % 1000000000};
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		}
	}
	return 0;
}
