/*
 * labcpus.c CPUS - each CPU runs LWPs, has a timer of its own, and takes interrupts of other CPUs.
 *
 * CPUS: how many CPUs there are to be.  tests/kernel/harness.c looks at how they start; this program
 * comes after that, and finds what is missing in a CPU that has started.
 */
#include "labtest.h"
#include "rawlwp.h"
#include <stdio.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/processor.h>
#include <weft/start.h>
#include <weft/time.h>

#define NAP 100000       /* ns */
#define PATIENCE 2000000 /* ns: many times what a nap or a wake-up takes */

static volatile uint32_t awake; /* how often the sleeper has been woken */
static volatile uint32_t sleeper_cpu;

static void cpu_bind(int cpu)
{
	int old;

	__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, cpu, &old);
}

static void nap(int64_t ns)
{
	struct weft_timespec at = {.nsec = ns};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &at);
}

static void cpu_test_runs(unsigned cpu)
{
	struct weft_cpuinfo info;

	cpu_bind(cpu);
	__sys_cpuinfo(cpu, &info);
	lab_check(cpu_now() == cpu, "runs", "an LWP that is bound to CPU %u runs on CPU %u", cpu,
		  cpu_now());
	lab_check(info.online, "online", "CPU %u is not online", cpu);
}

/* Bound to the CPU: its own timer ends the nap. */
static void cpu_test_timer(unsigned cpu)
{
	int64_t began = gethrtime();

	nap(NAP);
	int64_t took = gethrtime() - began;
	lab_check(took >= NAP && took < PATIENCE, "timer",
		  "on CPU %u a sleep of %d ns takes %lld ns: does its timer interrupt it?", cpu,
		  NAP, (long long)took);
}

static void sleeper(struct raw *r)
{
	cpu_bind(r->arg);
	for (unsigned i = 0; i < 3; i++) {
		__sys_lwp_park(NULL, 0);
		sleeper_cpu = cpu_now();
		__atomic_add_fetch(&awake, 1, __ATOMIC_RELEASE);
	}
}

/* From CPU 0, which has to interrupt the CPU. */
static void cpu_test_interrupts(unsigned cpu)
{
	static struct raw lwp;

	cpu_bind(0);
	awake = 0;
	raw_start(&lwp, sleeper, cpu, 0);
	for (unsigned i = 1; i <= 3; i++) {
		int64_t began = gethrtime();
		nap(NAP);
		__sys_lwp_unpark(lwp.id);
		while (__atomic_load_n(&awake, __ATOMIC_ACQUIRE) < i)
			if (gethrtime() - began > PATIENCE) {
				lab_check(false, "interrupts",
					  "CPU 0 wakes an LWP that is bound to CPU %u, and it does "
					  "not run: do interrupts reach the CPU?",
					  cpu);
				_exit(lab_end());
			}
		lab_check(sleeper_cpu == cpu, "interrupts",
			  "an LWP that is bound to CPU %u wakes up on CPU %u", cpu, sleeper_cpu);
	}
	__sys_lwp_wait(lwp.id, NULL);
}

int main(int argc, char **argv)
{
	unsigned wanted = argc > 1 ? (unsigned)atoi(argv[1]) : __ncpu;

	lab_check(__ncpu == wanted, "count", "programs see %u CPUs, and %u can run", __ncpu,
		  wanted);
	for (unsigned cpu = 0; cpu < __ncpu && cpu < wanted; cpu++) {
		cpu_test_runs(cpu);
		cpu_test_timer(cpu);
		if (cpu != 0)
			cpu_test_interrupts(cpu);
	}
	return lab_end();
}
