/*
 * probe.h - probe points: places of the kernel whose passing a trace records.
 *
 * A point emits no instruction.  The compiler knows where the values are at that place, and its
 * words go into a stub, a piece of code far from the point.  The kernel as it is built never
 * executes a stub.  For a trace the host command makes a copy of the kernel
 * (tools/weft_trace/patch.py).  There, a jump to the stub stands in place of the first five
 * bytes that follow the point.  The stub records (probe/record.S), executes the instructions that
 * the jump has displaced, and jumps back.  Points are those of SystemTap's <sys/sdt.h>, except that
 * no NOP marks the place.
 *
 * At a point interrupts are off.  It may stand anywhere except
 *	- outside of the windows of exact timing: in what lockstep_switch calls (timing/lockstep.c),
 *	- between the reading of the time stamp counter and its use in time_now(), and
 *	- where less than five bytes come before a label that a jump leads to, or where the
 *	  instructions that follow cannot be elsewhere.  The host command then refuses the point
 *	  (tests/test_trace.py patches all).
 *
 * Sections:
 *	.probe.code	what stubs call.  An NMI that ends a window does nothing here and in the stubs
 *	.probe.stubs	the stubs, each PROBE_SIZE bytes
 *	.probe.copies	as many bytes: for each stub the displaced instructions once more
 *	.probe.list	not loaded: for each point addresses, names and the words of the operands
 */
#pragma once
#include "types.h"

/*
 * The text of a point.  The operands a, b, c are words of assembly that PUSHQ takes, the sizes are
 * operands too.  The stub pushes all, and so it needs no register.  The host command drops what
 * PUSHQ takes beyond the size of an operand.
 */
#define PROBE_SIZE "128"
#define PROBE_ASM(name, names, a, b, c, asize, bsize, csize)                                       \
	"661:\n\t"                                                                                 \
	".pushsection .probe.stubs, \"ax\", @progbits\n\t"                                         \
	".balign " PROBE_SIZE ", 0xcc\n"                                                           \
	"662:\tpushq " c "\n\tpushq " b "\n\tpushq " a "\n\tpushq $661b\n\t"                       \
	"call probe_record\n"                                                                      \
	"663:\t.skip " PROBE_SIZE " - (663b - 662b), 0xcc\n\t"                                     \
	".popsection\n\t"                                                                          \
	".pushsection .probe.copies, \"ax\", @progbits\n\t"                                        \
	".balign " PROBE_SIZE ", 0xcc\n\t"                                                         \
	".skip " PROBE_SIZE ", 0xcc\n\t"                                                           \
	".popsection\n\t"                                                                          \
	".pushsection .probe.list, \"\", @progbits\n\t"                                            \
	".quad 661b, 662b, 663b\n\t"                                                               \
	".byte " asize ", " bsize ", " csize "\n\t"                                                \
	".asciz \"" name "\", \"" names "\", \"" a " " b " " c "\"\n\t"                            \
	".popsection\n\t"

/*
 * A point with the name `name` and up to three values; `names` are their names, with spaces
 * between.  A value that is not needed is 0, and has no name.  Values are integers or pointers
 * that lie in a register or in memory, or constants of 32 bits with a sign.  A value that would
 * have to be computed costs the kernel instructions even when nothing is traced.
 */
#define PROBE(name, names, a, b, c)                                                                \
	__asm__ inline volatile(PROBE_ASM(#name, names, "%q0", "%q1", "%q2", "%c3", "%c4", "%c5")  \
				:                                                                  \
				: "nor"(a), "nor"(b), "nor"(c), "i"(sizeof(a)), "i"(sizeof(b)),    \
				  "i"(sizeof(c)))

/* Bytes 8 * i to 8 * i + 7 of a text, as a value. */
#define PROBE_CHARS(text, i) (((const uint64_t *)(text))[i])

/*
 * Points of programs (libthread/core/probe.h).  The host command writes their stubs into the probe
 * memory, three slots of PROBE_SLOT bytes for a point.  They are at the same addresses in every address
 * space, at the same distance from PROBE_USER (cpu/asm.h), PROBE_KERNEL and PROBE_COPIES:
 *
 *	stub	INT, which a jump at the point leads to.  In fast timing, then the displaced
 *		instructions and the jump back.  The program executes it
 *	kernel	PUSHQs of the values, and a jump to probe_program_record.  The kernel executes it with the
 *		program's registers
 *	copy	in exact timing: the displaced instructions, and another INT
 *
 * Nothing is written to the program's memory, and nothing in it differs from a run without a trace
 * except the bytes of the jump.
 */
#define PROBE_KERNEL (PROBE_USER + PROBE_SLOTS)
#define PROBE_COPIES (PROBE_KERNEL + PROBE_SLOTS)
#define PROBE_SLOT 256

/* The probe memory: a table of pages, the slots, the rings. */
#define PROBE_MEMORY_MAX (1ull << 30)
#define PROBE_CODE (0x200000 + 3 * PROBE_SLOTS)

/* Does a program stand at rip in a stub?  False if nothing is traced. */
bool probe_is_stub(uint64_t rip);

/* A page fault in the kernel's part of a program's stub: a value lies on a page that is missing.  The record
 * gets zeros.  False: the fault is elsewhere. */
struct trapframe;
bool probe_fault(struct trapframe *f);

/*
 * probe/probe.c.  Gives every CPU its ring if the command line says where they are:
 *	probe-memory=N	MiB, the physical address of memory that is not the kernel's RAM
 *	probe-records=N	records of each ring, a power of two
 * CPU 0, before timing->start.
 */
void probe_init(void);
