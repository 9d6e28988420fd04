/*
 * ps.c - lists the processes: identity, how many LWPs, what the most active of them
 * does, memory in KiB, CPU time in seconds of all LWPs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "states.h"

int main(void)
{
	struct weft_procinfo p;
	long pid;

	printf("%5s %5s %5s %5s %-6s %8s %8s %9s %9s NAME\n", "PID", "PPID", "PGRP", "LWPS",
	       "STATE", "SIZE", "RSS", "USER", "SYS");
	for (pid = 1; (pid = __sys_procinfo(pid, &p)) > 0; pid++)
		printf("%5d %5d %5d %5u %-6s %7" PRIu64 "K %7" PRIu64 "K %9.3f %9.3f %s\n", p.pid,
		       p.ppid, p.pgrp, p.nlwp, state_name(p.state), p.size / 1024, p.rss / 1024,
		       p.ru.utime / 1e9, p.ru.stime / 1e9, p.name);
	return 0;
}
