/*
 * harness.c - starts victims, watches their reports, and kills victims that make no more calls.
 *
 * It runs above all victims, in the real-time class at a level that they do not use.  So the
 * priorities that victims give themselves do not keep it from looking.
 */
#include "fuzz.h"
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/priocntl.h>
#include <weft/proc.h>
#include <weft/signal.h>
#include <weft/sys.h>
#include <weft/time.h>

#define STRAY_MS 100  /* a victim without calls for so long is killed; its children too */
#define KILL_MS 60000 /* by then a killed process is gone, on any host */
#define POLL_MS 5     /* how often the harness looks */

struct watched {
	int pid;          /* 0: free */
	uint64_t began;   /* its report's calls when it was started */
	uint64_t calls;   /* when we last looked */
	uint64_t changed; /* when they last did, ns */
};

static struct watched watched[MAX_VICTIMS];
static char *reports; /* REPORT_SIZE each */
static int reports_fd;

static struct report *report_of(const struct watched *w)
{
	return (struct report *)(reports + (w - watched) * REPORT_SIZE);
}

void harness_init(void)
{
	static const char path[] = "/tmp/fuzz-reports";
	struct pcparms top = {.pc_cid = WEFT_CLASS_RT,
			      .rt = {.rt_pri = RT_LEVELS - 1, .rt_tqnsecs = RT_TQDEF}};

	/* The file lives as long as somebody has it mapped or open. */
	reports_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (reports_fd < 0 || unlink(path) != 0 ||
	    ftruncate(reports_fd, MAX_VICTIMS * REPORT_SIZE) != 0)
		err(1, "%s", path);
	reports = mmap(NULL, MAX_VICTIMS * REPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       reports_fd, 0);
	if (reports == MAP_FAILED)
		err(1, "mmap");
	memset(reports, 0, MAX_VICTIMS * REPORT_SIZE);
	if (__sys_priocntl(WEFT_P_PID, getpid(), PC_SETPARMS, &top) < 0)
		errx(1, "no real-time priority");
}

void count_calls(unsigned number, uint64_t *made, uint64_t *good)
{
	*made = *good = 0;
	for (unsigned i = 0; i < MAX_VICTIMS; i++) {
		*made += report_of(&watched[i])->made[number];
		*good += report_of(&watched[i])->good[number];
	}
}

bool has_given(unsigned number, unsigned error)
{
	for (unsigned i = 0; i < MAX_VICTIMS; i++)
		if (report_of(&watched[i])->errors[number][error / 64] >> error % 64 & 1)
			return true;
	return false;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t calls_of(const struct watched *w)
{
	return __atomic_load_n(&report_of(w)->calls, __ATOMIC_RELAXED);
}

static void start_victim(struct watched *w, const struct plan *p, unsigned long batch)
{
	char id[16], slot[16], seed_text[32], number[32], nlwps[16];
	char *argv[] = {"fuzz", "-v", id, slot, seed_text, number, nlwps, (char *)p->names, NULL};
	char *envp[] = {NULL};
	/* Nothing that it does gets out. */
	const struct spawn_action fds[] = {{.what = SPAWN_DUP2, .from = reports_fd, .fd = 0},
					   {.what = SPAWN_CLOSE, .fd = 1},
					   {.what = SPAWN_CLOSE, .fd = 2}};
	struct spawn_args a = {
		.path = (uint64_t) "/bin/fuzz",
		.argv = (uint64_t)argv,
		.envp = (uint64_t)envp,
		.actions = (uint64_t)fds,
		.nactions = 3,
		.flags = SPAWN_SETPGROUP,
	};

	sprintf(id, "%d", getpid());
	sprintf(slot, "%d", (int)(w - watched));
	sprintf(seed_text, "%llu", (unsigned long long)(p->seed * 1000003 + batch));
	sprintf(number, "%lu", batch);
	sprintf(nlwps, "%u", p->lwps);
	long pid = __sys_spawn(&a);
	*w = (struct watched){.pid = pid > 0 ? pid : 0, .changed = now()};
	w->began = w->calls = calls_of(w);
}

/* What a victim has done so far. */
static void look(struct watched *w)
{
	uint64_t calls = calls_of(w);

	if (calls != w->calls) {
		w->calls = calls;
		w->changed = now();
	}
}

static struct watched *find(int pid)
{
	for (unsigned i = 0; i < MAX_VICTIMS; i++)
		if (watched[i].pid == pid)
			return &watched[i];
	return NULL;
}

/* Has it made all its calls and more?  Its LWP 1, which would end it, gets no CPU while others
 * have made themselves real-time. */
static bool is_done(const struct watched *w)
{
	return w->calls - w->began > BATCH + BATCH / 4;
}

/* Kills every process but us and the first one that is older than this, or a victim that has
 * made no call for so long, or enough of them; returns how many there are. */
static int sweep(uint64_t ns)
{
	struct weft_procinfo i;
	int others = 0;

	for (long pid = 1; (pid = __sys_procinfo(pid, &i)) > 0; pid++) {
		if (pid == 1 || pid == getpid())
			continue;
		struct watched *w = find(pid);
		others++;
		if (now() - (w != NULL ? w->changed : i.start) > ns || (w != NULL && is_done(w)))
			__sys_kill(pid, WEFT_SIGKILL);
	}
	return others;
}

/* Killed processes do not die: prints their names, and ends the run. */
static void accuse(void)
{
	struct weft_procinfo p;
	struct lwp_info l;

	for (long pid = 1; (pid = __sys_procinfo(pid, &p)) > 0; pid++)
		for (long id = 1; (id = __sys_lwp_info(pid, id, &l)) > 0; id++)
			printf("fuzz: pid %ld (parent %d, %s) lwp %ld: state %u, call %d, %s\n",
			       pid, p.ppid, p.name, id, l.state, (int)l.syscall, l.wchan);
	errx(1, "processes that were killed %d ms ago are still there", KILL_MS);
}

static void nap(void)
{
	const struct weft_timespec t = {0, POLL_MS * 1000000};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &t);
}

uint64_t run_victims(const struct plan *p, unsigned long *batch, uint64_t calls)
{
	uint64_t total = 0;
	int status;
	long pid;

	make_home();
	while (total < calls) {
		for (unsigned i = 0; i < p->processes; i++)
			if (watched[i].pid == 0)
				start_victim(&watched[i], p, (*batch)++);
		nap();
		for (unsigned i = 0; i < p->processes; i++)
			if (watched[i].pid != 0)
				look(&watched[i]);
		sweep(STRAY_MS * 1000000ull);
		machine_restore();
		while ((pid = __sys_waitpid(-1, &status, WEFT_WNOHANG, NULL)) > 0) {
			struct watched *w = find(pid);
			if (w == NULL)
				continue;
			total += calls_of(w) - w->began;
			w->pid = 0;
		}
	}
	uint64_t began = now();
	while (sweep(0) > 0) {
		while (__sys_waitpid(-1, &status, WEFT_WNOHANG, NULL) > 0)
			;
		nap();
		if (now() - began > KILL_MS * 1000000ull)
			accuse();
	}
	memset(watched, 0, sizeof(watched));
	machine_restore();
	clean_files();
	return total;
}
