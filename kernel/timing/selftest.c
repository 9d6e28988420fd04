/*
 * selftest.c - the proof at each boot that exact timing holds.
 *
 * The self-test.  All CPUs execute a loop of a known number of instructions at the same time, and
 * compare this number with the count of their clocks.  So a clock that is one instruction off in
 * one window is found.  Meanwhile, the clock of a CPU whose window begins is compared with the
 * clocks of the others.  They are within one round of each other, because active CPUs get the same
 * time in each round.  Both tests hold for any length of a round, and so for any seed and quantum.
 */
#include <kern/boot.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/timing.h>
#include "lockstep.h"

#define SELFTEST_ROUNDS 1000  /* at most, and */
#define SELFTEST_WINDOWS 1000 /* of all CPUs, because each costs the host time */
#define SELFTEST_TIMED 4000   /* so many windows would take the time before programs begin */
#define SELFTEST_PROBED 1000  /* turns that pass a probe point, at most */

#define SELFTEST_POINT PROBE_ASM("selftest", "turns", "%[turns]", "$0", "$0", "8", "4", "4")

static struct selftest {
	volatile uint64_t executed, counted;
	volatile uint64_t apart; /* from the clock of `other`, the farthest of all */
	volatile unsigned other;
} tests[WEFT_MAXCPU];

static uint32_t selftest_turns;
static uint64_t selftest_probed;                  /* turns that pass a probe point (kern/probe.h) */
static uint64_t selftest_quantum, selftest_round; /* a round; the longest */
static uint64_t selftest_thousands;               /* of instructions; 0: see below */
static uint32_t selftest_here, selftest_done;     /* how many CPUs have reached this point */

static void selftest_meet(uint32_t *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(count, __ATOMIC_RELAXED) < ncpu)
		;
}

/*
 * Counts two loops.  The second passes a probe point in each turn; the three instructions that a
 * trace displaces there are often a window's last.  From the first RDTSC that is used to the last
 * RDTSC there are 2 + 2 * turns + 4 * probed + 8 * tries instructions.  A reading is tried again if a
 * window began in the middle of it.
 */
static void selftest_count(struct cpu *c, struct selftest *t)
{
	uint64_t begin, end, tries = 0, turns = selftest_turns;

	__asm__ volatile(
		"1:	rdtsc\n"
		"	movq %[now], %%r8\n"
		"	movq %[ws], %%r9\n"
		"	shlq $32, %%rdx\n"
		"	orq %%rdx, %%rax\n"
		"	subq %%r9, %%rax\n"
		"	jb 1b\n"
		"	leaq (%%rax, %%r8), %[begin]\n"
		"2:	decq %[turns]\n"
		"	jnz 2b\n"
		"	movq %[probed], %[turns]\n"
		"4:\n" SELFTEST_POINT "	nop\n"
		"	nop\n"
		"	decq %[turns]\n"
		"	jnz 4b\n"
		"3:	incq %[tries]\n"
		"	rdtsc\n"
		"	movq %[now], %%r8\n"
		"	movq %[ws], %%r9\n"
		"	shlq $32, %%rdx\n"
		"	orq %%rdx, %%rax\n"
		"	subq %%r9, %%rax\n"
		"	jb 3b\n"
		"	leaq (%%rax, %%r8), %[end]\n"
		: [begin] "=&r"(begin), [end] "=&r"(end), [turns] "+&r"(turns), [tries] "+&r"(tries)
		: [now] "m"(ls[c->id].now), [ws] "m"(c->timerec->ws), [probed] "r"(selftest_probed)
		: "rax", "rdx", "r8", "r9", "memory", "cc");
	t->executed = 2 + 2 * (uint64_t)selftest_turns + 4 * selftest_probed + 8 * tries;
	t->counted = end - begin;
}

void lockstep_selftest_look(const struct cpu *c)
{
	struct selftest *t = &tests[c->id];

	if (selftest_here < ncpu || selftest_done == ncpu)
		return; /* not all CPUs execute the self-test */
	for (unsigned i = 0; i < ncpu; i++) {
		uint64_t mine = ls[c->id].now, its = ls[i].now;
		uint64_t apart = mine > its ? mine - its : its - mine;

		if (ls[i].active && apart > t->apart) {
			t->apart = apart;
			t->other = i;
		}
	}
}

void lockstep_selftest_init(uint64_t quantum, uint64_t longest_round)
{
	selftest_quantum = quantum;
	selftest_round = longest_round;
	selftest_thousands = boot_option_num("selftest", 0);
}

/* The instructions of each CPU in a test of so many windows.  If rounds are long there are fewer of
 * them; two rounds contain the end of a window. */
static uint64_t selftest_length(uint64_t windows)
{
	uint64_t rounds = MIN(SELFTEST_ROUNDS, windows / ncpu);

	return MAX(rounds * MIN(selftest_quantum, 1000ull), 2 * selftest_quantum);
}

/* CPU 0 calls it before the others begin. */
void lockstep_selftest_begin(void)
{
	uint64_t length = selftest_length(SELFTEST_WINDOWS);

	if (selftest_thousands != 0)
		length = selftest_thousands * 1000;
	selftest_probed = MIN(SELFTEST_PROBED, length / 8);
	selftest_turns = (length - 4 * selftest_probed) / 2;
}

uint64_t lockstep_selftest_rest(void)
{
	if (selftest_thousands != 0)
		return 0;
	return selftest_length(SELFTEST_TIMED) - selftest_length(SELFTEST_WINDOWS);
}

void lockstep_selftest(void)
{
	struct cpu *c = this_cpu();

	selftest_meet(&selftest_here);
	selftest_count(c, &tests[c->id]);
	selftest_meet(&selftest_done);
}

void lockstep_selftest_judge(uint64_t short_windows, uint64_t long_windows)
{
	for (unsigned i = 0; i < ncpu; i++) {
		struct selftest *t = &tests[i];
		if (t->counted != t->executed)
			panic("exact timing does not hold: CPU %u executed %llu instructions, its "
			      "clock counted %llu",
			      i, (unsigned long long)t->executed, (unsigned long long)t->counted);
		if (t->apart > selftest_round)
			panic("exact timing does not hold: the clocks of CPUs %u and %u are %llu "
			      "instructions apart, more than a round",
			      i, t->other, (unsigned long long)t->apart);
	}
	if (short_windows + long_windows != 0)
		panic("exact timing does not hold: %llu windows too short, %llu too long",
		      (unsigned long long)short_windows, (unsigned long long)long_windows);
}
