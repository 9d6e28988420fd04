/*
 * probe.h - probe points: places of the library whose passing a trace records.
 *
 * They are as the kernel's (kernel/include/kern/probe.h), and emit no instruction either.  Their list
 * is for the host command alone, which makes the stubs.  Its section is named like debugging
 * information, so that no page of a program has it, and the linker keeps no function for its sake.
 *
 * A point may stand anywhere except
 *	- in a restartable range (ilock.h), and
 *	- where less than five bytes come before a label that a jump leads to.
 * The host command refuses such a point (tests/test_trace_programs.py patches all).  If a value
 * lies in memory, the thread has used this memory just before: a record brings in no page.
 */
#pragma once

/* What a thread waits for; tools/weft_trace/library.py has the names. */
enum probe_kind {
	PROBE_MUTEX = 1,
	PROBE_READ,
	PROBE_WRITE,
	PROBE_COND,
	PROBE_SEMA,
	PROBE_BARRIER,
	PROBE_JOIN,
	PROBE_ONCE,
};

/* Why the pool has got an LWP, or has lost one. */
enum probe_pool { PROBE_ASKED = 1, PROBE_ALL_BLOCKED, PROBE_AGED, PROBE_TOO_MANY, PROBE_SPARE };

/*
 * A point with the name `name` and up to three values; `names` has the names of the values, with
 * spaces between.  A value that is not needed is 0, and has no name.  Values are integers or pointers
 * that lie in a register or in memory, or constants of 32 bits with a sign.
 */
#define PROBE(name, names, a, b, c)                                                                \
	__asm__ inline volatile("661:\n\t"                                                         \
				".pushsection .debug_probe_list, \"\", @progbits\n\t"              \
				".quad 661b\n\t"                                                   \
				".byte %c3, %c4, %c5\n\t"                                          \
				".asciz \"" #name "\", \"" names "\", \"%q0 %q1 %q2\"\n\t"         \
				".popsection\n\t"                                                  \
				:                                                                  \
				: "nor"(a), "nor"(b), "nor"(c), "i"(sizeof(a)), "i"(sizeof(b)),    \
				  "i"(sizeof(c)))
