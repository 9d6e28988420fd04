/*
 * restart.c - restartable ranges of instructions (ilock.h), like Linux's rseq and the kernel's
 * .extable.
 *
 * The linker puts the entries of all functions of the program together (libthread.ld).  The search
 * is linear, because only a thread that has changed its LWP in a handler needs it.
 */
#include "ilock.h"

void __restart_range(struct weft_ucontext *uc)
{
	extern const struct restartable __restartable_start[], __restartable_end[];

	for (const struct restartable *r = __restartable_start; r < __restartable_end; r++) {
		uint64_t from = (uintptr_t)r + r->from;

		if (uc->rip > from && uc->rip < from + r->length) {
			uc->rip = from;
			return;
		}
	}
}
