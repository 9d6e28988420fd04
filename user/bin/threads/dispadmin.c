/*
 * dispadmin.c - the tables of the scheduling classes:
 *
 * dispadmin -l                    the classes
 * dispadmin -c CLASS -g [-r RES]  prints a class's table
 * dispadmin -c CLASS -s FILE      replaces it
 *
 * A file has a line RES=N: the unit of slices is 1/N second (1000).  Then it has a line of
 * numbers for each level.  -s reads what -g prints.  From # on a line is comment.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/priocntl.h>
#include "../procids.h"
#include "../usage.h"

static const char *const full_name[WEFT_NCLASS] = {
	[WEFT_CLASS_SYS] = "System Class",
	[WEFT_CLASS_TS] = "Time Sharing",
	[WEFT_CLASS_RT] = "Real Time",
	[WEFT_CLASS_NT] = "Windows NT",
};

#define MICRO 1000000
#define MAXCOLUMN 5

/* Room for any class's table. */
static union {
	struct tsdpent ts[TS_LEVELS];
	struct rtdpent rt[RT_LEVELS];
	struct ntadmin nt;
} table;
static long res = 1000;

static const struct shape {
	int rows, columns;
	size_t size;
	const char *head;
} shapes[WEFT_NCLASS] = {
	[WEFT_CLASS_TS] =
		{TS_LEVELS, 5, sizeof(table.ts),
		 "# ts_quantum  ts_tqexp  ts_slpret  ts_maxwait ts_lwait  PRIORITY LEVEL"},
	[WEFT_CLASS_RT] = {RT_LEVELS, 1, sizeof(table.rt), "# rt_quantum  PRIORITY LEVEL"},
	/* nt_maxwait in milliseconds. */
	[WEFT_CLASS_NT] = {1, 5, sizeof(table.nt),
			   "# nt_quantum  nt_stretch  nt_boost  nt_maxwait  nt_clock"},
};

static int list(void)
{
	puts("CONFIGURED CLASSES\n==================\n");
	for (int i = 0; i < WEFT_NCLASS; i++) {
		struct pcinfo info = {.pc_cid = i};
		if (priocntl(P_ALL, 0, PC_GETCLINFO, &info) < 0)
			err(1, "class %d", i);
		printf("%s\t(%s)\n", info.pc_clname, full_name[i]);
	}
	return 0;
}

static void admin(int cid, int cmd)
{
	struct pcadmin a = {cid, cmd, (uint64_t)&table, shapes[cid].size};

	if (priocntl(P_ALL, 0, PC_ADMIN, &a) < 0)
		err(1, cmd == PC_GETTABLE ? "cannot read the table" : "the table makes no sense");
}

/* Converts from microseconds; rounds up. */
static uint64_t in_res(uint32_t us)
{
	return ((uint64_t)us * res + MICRO - 1) / MICRO;
}

static int get(int cid)
{
	const struct shape *s = &shapes[cid];

	admin(cid, PC_GETTABLE);
	printf("# %s Dispatcher Configuration\nRES=%ld\n\n%s\n", full_name[cid], res, s->head);
	for (int i = 0; i < s->rows; i++)
		if (cid == WEFT_CLASS_TS)
			printf("%12" PRIu64 " %9d %10d %11d %8d        # %5d\n",
			       in_res(table.ts[i].ts_quantum), table.ts[i].ts_tqexp,
			       table.ts[i].ts_slpret, table.ts[i].ts_maxwait, table.ts[i].ts_lwait,
			       i);
		else if (cid == WEFT_CLASS_RT)
			printf("%12" PRIu64 "        # %5d\n", in_res(table.rt[i].rt_quantum), i);
		else
			printf("%12" PRIu64 " %11" PRIu32 " %9" PRIu32 " %11" PRIu32 " %9" PRIu32
			       "\n",
			       in_res(table.nt.nt_quantum), table.nt.nt_stretch, table.nt.nt_boost,
			       table.nt.nt_maxwait, table.nt.nt_clock);
	return 0;
}

/* Reads the numbers of a line without its comment.  Returns their count; `most` + 1: too many. */
static int numbers(char *line, long *n, int most)
{
	int got = 0;
	char *end;

	for (line[strcspn(line, "#\n")] = '\0';; line = end) {
		line += strspn(line, " \t");
		if (*line == '\0')
			return got;
		if (got == most)
			return got + 1;
		n[got] = strtol(line, &end, 10);
		if (end == line)
			return -1;
		got++;
	}
}

static void put_row(int cid, int row, const long *n)
{
	/* A slice that no table can hold becomes 0, which the kernel refuses. */
	uint64_t us = n[0] > 0 ? ((uint64_t)n[0] * MICRO + res - 1) / res : 0;
	uint32_t slice = us > UINT32_MAX ? 0 : us;

	if (cid == WEFT_CLASS_TS)
		table.ts[row] = (struct tsdpent){slice, n[1], n[2], n[3], n[4]};
	else if (cid == WEFT_CLASS_RT)
		table.rt[row] = (struct rtdpent){slice};
	else
		table.nt = (struct ntadmin){slice, n[1], n[2], n[3], n[4]};
}

static int set(int cid, const char *path)
{
	const struct shape *s = &shapes[cid];
	char line[256];
	long n[MAXCOLUMN];
	int row = 0, nr = 0, got, known = 0;
	FILE *f = fopen(path, "r");

	if (f == NULL)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		nr++;
		if (!known && strncmp(line, "RES=", 4) == 0) {
			if (numbers(line + 4, &res, 1) != 1 || res <= 0 || res > 1000000000)
				errx(1, "%s:%d: RES is a number from 1 to 1000000000", path, nr);
			known = 1;
			continue;
		}
		got = numbers(line, n, s->columns);
		if (got == 0)
			continue;
		if (!known)
			errx(1, "%s:%d: RES=N comes first", path, nr);
		if (got != s->columns || row == s->rows)
			errx(1, "%s:%d: wants %d lines of %d numbers", path, nr, s->rows,
			     s->columns);
		for (int i = 0; i < got; i++)
			if (n[i] < 0 ||
			    n[i] > (i == 0 || cid != WEFT_CLASS_TS ? INT32_MAX : INT16_MAX))
				errx(1, "%s:%d: %ld is out of range", path, nr, n[i]);
		put_row(cid, row++, n);
	}
	if (ferror(f) || row != s->rows)
		errx(1, "%s: %d lines of %d numbers", path, row, s->rows);
	fclose(f);
	admin(cid, PC_SETTABLE);
	return 0;
}

static const char usage[] = "usage: dispadmin -l | -c CLASS -g [-r RES] | -c CLASS -s FILE\n";

int main(int argc, char **argv)
{
	struct pcinfo info = {0};
	const char *class = NULL, *file = NULL;
	int what = 0, option;

	usage_asked(argv, usage);
	while ((option = getopt(argc, argv, "lc:gr:s:")) != -1) {
		switch (option) {
		case 'c':
			class = optarg;
			break;
		case 'r':
			res = number("resolution", optarg, 1, 1000000000);
			break;
		case 's':
			file = optarg;
			/* fall through */
		case 'l':
		case 'g':
			what = what == 0 ? option : '?';
			break;
		default:
			what = '?';
		}
	}
	if (what == 0 || what == '?' || optind != argc || (class == NULL) != (what == 'l'))
		return usage_wrong(usage);
	if (what == 'l')
		return list();
	if (strlcpy(info.pc_clname, class, PC_CLNMSZ) >= PC_CLNMSZ ||
	    priocntl(P_ALL, 0, PC_GETCID, &info) < 0)
		errx(1, "%s: no such class", class);
	if (shapes[info.pc_cid].rows == 0)
		errx(1, "class %s has no table", class);
	return what == 'g' ? get(info.pc_cid) : set(info.pc_cid, file);
}
