/*
 * labdisp.h - what the tests of the dispatcher share.
 *
 * The LWPs have fixed priorities (class RT), so that only the dispatcher decides.  Every LWP that
 * computes stops by itself, so that a test ends also if the dispatcher takes no CPU from any LWP.
 * Times are nanoseconds of virtual time: one instruction is one nanosecond.
 */
#pragma once
#include "crew.h"
#include <weft/priocntl.h>
#include <weft/proc.h>
#include <weft/processor.h>

#define SOON 60000 /* ns: from the event that lets an LWP run until it runs, at most */

static unsigned ncpu;
static uint32_t ready; /* how many of the crew are where the game wants them */

/* The caller has this priority from now on; its slice is `slice` ns, or RT_TQINF. */
static inline void set_priority(int pri, int slice)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_RT};

	p.rt.rt_pri = pri;
	p.rt.rt_tqsecs = 0;
	p.rt.rt_tqnsecs = slice;
	if (__sys_priocntl(WEFT_P_LWPID, __sys_lwp_self(), PC_SETPARMS, &p) < 0)
		blame("priocntl fails for LWP %ld", __sys_lwp_self(), 0, 0);
}

/* This LWP runs on this CPU alone; PBIND_NONE: on each. */
static inline void bind_lwp(uint32_t id, int cpu)
{
	int old;

	if (__sys_processor_bind(WEFT_P_LWPID, id, cpu, &old) < 0)
		blame("processor_bind fails: CPU %ld", cpu, 0, 0);
}

static inline void bind(int cpu)
{
	bind_lwp(__sys_lwp_self(), cpu);
}

static inline void bind_and_look(int cpu)
{
	bind(cpu);
	unsigned now = cpu_now();
	EXPECT3(now == (unsigned)cpu,
		"an LWP binds itself to CPU %ld, and runs on CPU %ld afterwards: a bound LWP runs "
		"on no "
		"other CPU",
		cpu, now, 0);
}

static inline void get_ready(void)
{
	__atomic_add_fetch(&ready, 1, __ATOMIC_RELEASE);
}

/* Waits, asleep, until n of the crew are ready, and lets them go to sleep after that. */
static inline void until_ready(unsigned n)
{
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < n && !crew_over)
		nap(3000);
	nap(20000);
}

/* PROGRAM PART [ROUNDS [CHANCE]], on CPUs that are all online.  Returns the status. */
static int dispatch_part(const struct part *parts, unsigned n, int argc, char **argv)
{
	ncpu = sysconf(_SC_NPROCESSORS_CONF);
	set_priority(59, RT_TQINF);
	return play_part(parts, n, argc, argv);
}
