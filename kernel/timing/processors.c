/*
 * processors.c - exact timing's engine of several processors: each virtual CPU is a processor of
 * QEMU.
 *
 * All processors except the token's holder are in HLT.  The holder passes the token on by an NMI to
 * the next CPU (lockstep.S), and waits in its own HLT.  This engine is the machine itself:
 * interrupts go from LAPIC to LAPIC, and each processor has its own TLB.
 */
#include <kern/timing.h>
#include "../cpu/machine.h"
#include "lockstep.h"

extern volatile uint32_t lockstep_token;
void lockstep_wait(struct cpu *c); /* lockstep.S */

static volatile uint32_t prev; /* the CPU that gave the token last */

static void processors_join(struct cpu *c)
{
	c->waiting = 1;
	lockstep_wait(c);
}

static void processors_give(struct cpu *c, struct cpu *next, bool idle)
{
	c->waiting = 1;
	c->parked = 0;
	prev = c->id;
	lockstep_token = next->id;
	lapic_nmi(next);
	lockstep_wait(c);
}

/* The CPU that gave the token must be in its HLT before this window begins, and gets a slice to
 * execute it.  Otherwise it would run within this window. */
static void processors_begin(struct cpu *c)
{
	while (prev != c->id && !cpus[prev]->parked)
		cpu_pause();
	cpu_pause();
}

static void processors_end(struct cpu *c)
{
}

const struct engine engine_processors = {
	.join = processors_join,
	.give = processors_give,
	.end = processors_end,
	.begin = processors_begin,
};
