/*
 * psrinfo.c - psrinfo [-v]: the CPUs; -v: what each runs, and its counters since
 * boot: LWP switches, LWPs taken from other CPUs, inter-processor interrupts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>

static void verbose(const struct weft_cpuinfo *c)
{
	char on[48] = "idle";

	if (c->pid)
		snprintf(on, sizeof(on), "process %d, LWP %u", c->pid, c->lwpid);
	printf("CPU %u (APIC id %u) is %s\n"
	       "  runs %s; %u more are runnable\n"
	       "  %" PRIu64 " switches, %" PRIu64 " steals, %" PRIu64 " IPIs, idle for %.3f s\n",
	       c->id, c->apic_id, c->online ? "on-line" : "off-line", on, c->nrunnable, c->switches,
	       c->steals, c->ipis, c->idle_ns / 1e9);
}

int main(int argc, char **argv)
{
	struct weft_cpuinfo c;
	int v = 0, option;
	uint32_t i;

	while ((option = getopt(argc, argv, "v")) != -1) {
		if (option == '?') {
			fputs("usage: psrinfo [-v]\n", stderr);
			return 2;
		}
		v = 1;
	}
	for (i = 0; __sys_cpuinfo(i, &c) == 0; i++)
		if (v)
			verbose(&c);
		else
			printf("%u\t%s\n", c.id, c.online ? "on-line" : "off-line");
	return 0;
}
