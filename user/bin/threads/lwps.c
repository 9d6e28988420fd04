/*
 * lwps.c - lwps [PID...]: shows the LWPs of processes (default: of all).
 *
 * The columns: state, scheduling class and priority, the CPU that the LWP is on or was last on, CPU
 * time in seconds, the system call that it is in and what it sleeps on, and the program's name.
 * Then the LWP's own name or, if the LWP is on no CPU, the name of the thread that it runs.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../procids.h"
#include "common/library.h"
#include "states.h"
#include "../usage.h"

static const char *syscall_name(uint32_t number)
{
#define X(nr, name, nargs) [nr] = #name,
	static const char *const names[WEFT_SYSCALL_MAX] = {SYSCALLS(X)};
#undef X

	return number < WEFT_SYSCALL_MAX && names[number] ? names[number] : "-";
}

static void list(const struct weft_procinfo *p)
{
	struct target target = {.pid = p->pid};
	char thread[THREAD_NAME_MAX];
	struct library library;
	struct lwp_info l;
	struct lwp_regs r;
	const char *why;
	long id;
	bool known = library_describe(&library, &target, &why);

	for (id = 1; (id = __sys_lwp_info(p->pid, id, &l)) > 0; id++) {
		strcpy(thread, l.name);
		if (known && *thread == '\0' && __sys_lwp_regs(p->pid, id, &r) == id)
			library_thread_name(&library, r.fsbase, thread);
		printf("%5d %5u %-6s %-4s %3d %3u %9.3f %9.3f %-12s %-12s %s%s%s\n", p->pid, l.id,
		       state_name(l.state), l.sclass, l.pri, l.cpu, l.utime / 1e9, l.stime / 1e9,
		       syscall_name(l.syscall), *l.wchan ? l.wchan : "-", p->name,
		       *thread ? "/" : "", thread);
	}
}

static const char usage[] = "usage: lwps [PID...]\n";

int main(int argc, char **argv)
{
	struct weft_procinfo p;
	int i, failed = 0;
	long pid;

	usage_asked(argv, usage);
	for (i = 1; i < argc; i++)
		process_id(argv[i]); /* checks that they are ids */
	printf("%5s %5s %-6s %-4s %3s %3s %9s %9s %-12s %-12s NAME\n", "PID", "LWP", "STATE", "CLS",
	       "PRI", "CPU", "USER", "SYS", "SYSCALL", "WAITS FOR");
	if (argc == 1)
		for (pid = 1; (pid = __sys_procinfo(pid, &p)) > 0; pid++)
			list(&p);
	for (i = 1; i < argc; i++) {
		pid = process_id(argv[i]);
		if (__sys_procinfo(pid, &p) != pid) {
			fflush(stdout);
			warnx("no process %s", argv[i]);
			failed = 1;
			continue;
		}
		list(&p);
	}
	return failed;
}
