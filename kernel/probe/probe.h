/*
 * probe.h - the rings of the trace, as the host command reads them (tools/weft_trace/ring.py).
 *
 * Each CPU alone writes its ring, with interrupts off.  The host reads while the guest runs.  A
 * record is reserved (`head`) before anything is written, and it is complete when `seq` has its
 * number.  x86 keeps the order of these stores.  A ring that is full starts again: the host counts
 * the records that it comes too late for.
 *
 * *Race:* the host reads the oldest record, the CPU writes the newest in its place; *without this:*
 * the host takes half of each; *closed by:* `head`, which the host reads again after the record.
 */
#pragma once
#include <kern/types.h>

struct probe_entry {
	uint64_t time;  /* nanoseconds, as time_now() gives them at the point */
	uint32_t seq;   /* the number of the record in its ring, from 1, modulo 2^32 */
	uint32_t point; /* the lower half of the point's address, or PROBE_STACK */
	union {
		uint64_t value[3];
		uint32_t stack[6];
	};
};

/* Part of a stack (stack.c), in place of a point: no address of a point has this lower half. */
#define PROBE_STACK 1

struct probe_ring {
	volatile uint64_t head; /* how many records have been reserved */
	uint32_t mask;          /* the number of records that the ring holds, less one */
	uint32_t pad[13];
	struct probe_entry entry[];
};

/* What a stub leaves on the stack, and probe_record above its own registers. */
struct probe_words {
	uint64_t back; /* the address in the stub where the point's instructions follow */
	uint64_t point, value[3];
};

/* What the stub of a program's point leaves on the LWP's kernel stack: the topmost words of it. */
struct program_words {
	uint64_t value[3];
	uint64_t rip, cs, rflags, rsp, ss;
};
