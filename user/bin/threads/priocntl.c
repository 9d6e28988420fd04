/*
 * priocntl.c - scheduling classes and parameters of processes:
 *
 *	priocntl -l                                       the classes
 *	priocntl -d [-i TYPE] [ID...]                     displays parameters
 *	priocntl -s [-c CLASS] PARAMETERS [-i TYPE] [ID...]  sets them
 *	priocntl -e [-c CLASS] PARAMETERS CMD ARG...      runs a command with them
 *
 * TYPE: pid ppid pgid class uid gid all.  No ID: the process that called.  Parameters:
 *
 *	TS  -m LIMIT -p PRIORITY       the user priority, -60 to 60, and its limit
 *	RT  -p PRIORITY [-t SLICE [-r RES]]  0 to 59; slice in 1/RES second (1000), -2: no end
 *	NT  -b BASE -p RELATIVE        level of the process: idle normal high realtime, or 1 to
 *	                               31; of the thread in it: -2 to 2, -15, 15
 */
#include <stdio.h>
#include <sys/priocntl.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../procids.h"
#include "../usage.h"

static const char *const full_name[WEFT_NCLASS] = {"System Class", "Time Sharing", "Real Time",
						   "Windows NT"};

static int class_of(const char *name)
{
	struct pcinfo info = {0};

	if (strlcpy(info.pc_clname, name, PC_CLNMSZ) >= PC_CLNMSZ ||
	    priocntl(P_ALL, 0, PC_GETCID, &info) < 0)
		errx(1, "%s: no such class", name);
	return info.pc_cid;
}

static int list(void)
{
	puts("CONFIGURED CLASSES\n==================\n");
	for (int i = 0; i < WEFT_NCLASS; i++) {
		struct pcinfo info = {.pc_cid = i};
		if (priocntl(P_ALL, 0, PC_GETCLINFO, &info) < 0)
			err(1, "class %d", i);
		printf("%s (%s)\n", info.pc_clname, full_name[i]);
		if (i == WEFT_CLASS_TS)
			printf("\tConfigured TS User Priority Range: -%d through %d\n",
			       info.pc_maxpri, info.pc_maxpri);
		else if (i != WEFT_CLASS_SYS)
			printf("\tMaximum Configured %s Priority: %d\n", info.pc_clname,
			       info.pc_maxpri);
		if (i + 1 < WEFT_NCLASS)
			putchar('\n');
	}
	return 0;
}

/* --- display ----------------------------------------------------------------------------- */

static void show(int pid, const struct pcparms *p)
{
	printf("%7d    ", pid);
	if (p->pc_cid == WEFT_CLASS_TS)
		printf("%7d    %7d\n", p->ts.ts_uprilim, p->ts.ts_upri);
	else if (p->pc_cid == WEFT_CLASS_RT && p->rt.rt_tqnsecs == RT_TQINF)
		printf("%7d    %7d\n", p->rt.rt_pri, RT_TQINF);
	else if (p->pc_cid == WEFT_CLASS_RT)
		printf("%7d    %7ld\n", p->rt.rt_pri,
		       (long)p->rt.rt_tqsecs * 1000 + p->rt.rt_tqnsecs / 1000000);
	else
		printf("%7d    %7d    %7d\n", p->nt.nt_class, p->nt.nt_relative, p->nt.nt_level);
}

/* Does (type, id) mean this process?  The caller checks classes. */
static int meant(const struct weft_procinfo *p, int type, int id)
{
	return type == P_PID    ? p->pid == id
	       : type == P_PPID ? p->ppid == id
	       : type == P_PGID ? p->pgrp == id
	       : type == P_SID  ? p->sid == id
				: 1;
}

/* Shows the processes that the ids select, class by class.  Returns their number. */
static int display(int type, const int *ids, int n)
{
	static const char *const head[WEFT_NCLASS] = {
		[WEFT_CLASS_TS] = "TIME SHARING PROCESSES:\n    PID    TSUPRILIM    TSUPRI",
		[WEFT_CLASS_RT] = "REAL TIME PROCESSES:\n    PID      RTPRI     TQNTM (ms)",
		[WEFT_CLASS_NT] = "WINDOWS NT PROCESSES:\n    PID       BASE    RELATIVE    LEVEL",
	};
	int shown = 0;

	for (int cid = WEFT_CLASS_TS; cid < WEFT_NCLASS; cid++) {
		struct weft_procinfo p;
		int first = 1;
		for (long pid = 1; (pid = __sys_procinfo(pid, &p)) > 0; pid++) {
			struct pcparms parms = {.pc_cid = cid};
			int hit = 0;
			for (int i = 0; i < n && !hit; i++)
				hit = type == P_CID ? ids[i] == cid : meant(&p, type, ids[i]);
			if (!hit || priocntl(P_PID, pid, PC_GETPARMS, &parms) < 0)
				continue;
			if (first)
				puts(head[cid]);
			first = 0;
			show(pid, &parms);
			shown++;
		}
	}
	return shown;
}

/* --- setting ------------------------------------------------------------------------------ */

#define NOT_GIVEN (-99999)
static long p_limit = NOT_GIVEN, p_pri = NOT_GIVEN, p_slice = NOT_GIVEN, p_res = 1000,
	    p_base = NOT_GIVEN;

static long base_level(const char *text)
{
	static const struct {
		const char *name;
		int level;
	} names[] = {{"idle", NT_IDLE_CLASS},
		     {"normal", NT_NORMAL_CLASS},
		     {"high", NT_HIGH_CLASS},
		     {"realtime", NT_REALTIME_CLASS}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i].name) == 0)
			return names[i].level;
	return number("base level", text, 1, 31);
}

static int given(long n)
{
	return n != NOT_GIVEN;
}

static void make_parms(struct pcparms *p)
{
	if (p->pc_cid == WEFT_CLASS_SYS)
		errx(1, "nobody can enter class SYS");
	if ((given(p_limit) && p->pc_cid != WEFT_CLASS_TS) ||
	    (given(p_slice) && p->pc_cid != WEFT_CLASS_RT) ||
	    (given(p_base) && p->pc_cid != WEFT_CLASS_NT))
		errx(2, "-m is for class TS, -t for RT, -b for NT");
	if (p->pc_cid == WEFT_CLASS_TS) {
		p->ts.ts_uprilim = given(p_limit) ? p_limit : TS_NOCHANGE;
		p->ts.ts_upri = given(p_pri) ? p_pri : TS_NOCHANGE;
	} else if (p->pc_cid == WEFT_CLASS_RT) {
		p->rt.rt_pri = given(p_pri) ? p_pri : RT_NOCHANGE;
		p->rt.rt_tqsecs = 0;
		p->rt.rt_tqnsecs = given(p_slice) ? p_slice : RT_NOCHANGE;
		if (given(p_slice) && p_slice >= 0) {
			__int128 ns = (__int128)p_slice * 1000000000 / p_res;
			p->rt.rt_tqsecs = ns / 1000000000;
			p->rt.rt_tqnsecs = ns % 1000000000;
		}
	} else {
		p->nt.nt_class = given(p_base) ? p_base : NT_NOCHANGE;
		p->nt.nt_relative = given(p_pri) ? p_pri : NT_NOCHANGE;
	}
}

/* Without -c, uses the class of the selected processes for the parameters. */
static void set(int type, int id, int cid)
{
	struct pcparms p = {.pc_cid = PC_CLNULL};

	if (cid == PC_CLNULL) {
		if (priocntl(type, id, PC_GETPARMS, &p) < 0)
			err(1, "%d", id);
		cid = p.pc_cid;
	}
	p.pc_cid = cid;
	make_parms(&p);
	if (priocntl(type, id, PC_SETPARMS, &p) < 0)
		err(1, "%d", id);
}

static const char usage[] =
	"usage: priocntl -l\n"
	"       priocntl -d [-i TYPE] [ID...]\n"
	"       priocntl -s [-c CLASS] [-m N] [-p N] [-t N [-r RES]] [-b BASE] [-i TYPE] "
	"[ID...]\n"
	"       priocntl -e [-c CLASS] [-m N] [-p N] [-t N [-r RES]] [-b BASE] CMD ARG...\n";

int main(int argc, char **argv)
{
	int what = 0, cid = PC_CLNULL, type = P_PID, option, n = 0;

	usage_asked(argv, usage);
	/* +: the options after a command belong to the command. */
	while ((option = getopt(argc, argv, "+ldsec:i:m:p:t:r:b:")) != -1) {
		switch (option) {
		case 'l':
		case 'd':
		case 's':
		case 'e':
			if (what)
				return usage_wrong(usage);
			what = option;
			break;
		case 'c':
			cid = class_of(optarg);
			break;
		case 'i':
			type = idtype_of(optarg);
			if (type < 0)
				errx(2, "%s: no such type of id", optarg);
			break;
		case 'm':
			p_limit = number("limit", optarg, -60, 60);
			break;
		case 'p':
			p_pri = number("priority", optarg, -60, 60);
			break;
		case 't':
			p_slice = number("slice", optarg, -3, INT32_MAX);
			break;
		case 'r':
			p_res = number("resolution", optarg, 1, 1000000000);
			break;
		case 'b':
			p_base = base_level(optarg);
			break;
		default:
			return usage_wrong(usage);
		}
	}
	if (what == 'l' && optind == argc)
		return list();
	if (what == 'e' && optind < argc) {
		set(P_PID, P_MYID, cid);
		become(argv + optind);
	}
	if (what != 'd' && what != 's')
		return usage_wrong(usage);

	int *ids = malloc((argc + 1) * sizeof(*ids));
	if (ids == NULL)
		err(1, NULL);
	for (; optind < argc; optind++)
		ids[n++] = type == P_CID ? class_of(argv[optind])
					 : number("id", argv[optind], type == P_PID, WEFT_PID_MAX);
	if (n == 0) {
		if (type != P_PID && type != P_ALL)
			return usage_wrong(usage);
		ids[n++] = getppid();
	}
	if (what == 'd') {
		if (display(type, ids, n) == 0)
			errx(1, "no such process");
		return 0;
	}
	for (int i = 0; i < n; i++)
		set(type, ids[i], cid);
	return 0;
}
