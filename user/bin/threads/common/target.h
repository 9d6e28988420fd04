/*
 * target.h - a process that a tool holds and reads.
 *
 * While the process is held (TRACE_HOLD), its LWPs execute no instruction in user mode.  A call that
 * an LWP is in goes on, so an exec or an exit may replace the memory meanwhile.  The memory may also
 * be damaged.  So a tool checks everything that it reads, and follows no list without end.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/proc.h>
#include <weft/trace.h>
#include "../symbols.h"

struct target {
	int pid;
	struct weft_procinfo info;
	struct program program; /* the process's file, or no symbols */
	struct lwp_regs *lwps;  /* by ascending id */
	size_t nlwps;
};

/*
 * Holds the process and fills *t.  False: it is printed why not (no such process; it is the tool
 * itself, or the first process; another process traces it; no memory).  Waits until each LWP has
 * left its CPU.
 */
bool target_hold(struct target *t, int pid);
/* The process goes on.  Frees what target_hold has allocated. */
void target_release(struct target *t);

/*
 * The rest of main for a tool whose arguments are process ids: shows one after the other.  `show`
 * returns false if it could not show all.  Returns the status of the tool.
 */
int target_show_each(char **argv, const char *usage, bool (*show)(int pid));

/* Copies n bytes at this address of the process.  False: not all of them can be read. */
bool target_read(const struct target *t, uint64_t at, void *to, size_t n);
/* The same for a number of `size` bytes, 1 to 8.  0 if it cannot be read. */
uint64_t target_number(const struct target *t, uint64_t at, size_t size);

/*
 * Writes the name of the variable at this address: NAME, NAME+OFFSET, or the address as a number.
 * Returns `to`.
 */
#define OBJECT_NAME 96
const char *target_object(const struct target *t, uint64_t at, char to[OBJECT_NAME]);

/*
 * Prints the functions of a stack, innermost first.  `returned`: rip is a return address, because
 * the registers are those of a function that called a switch.
 */
void target_print_stack(const struct target *t, uint64_t rip, uint64_t rsp, uint64_t rbp,
			bool returned);
