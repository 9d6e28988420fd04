/*
 * trampoline.S - the first instructions of a CPU that smp.c starts.
 *
 * (Say here where this code runs, and what smp.c has prepared.)
 */
#include "asm.h"

/* The physical address of a symbol of the kernel. */
#define PHYS(s) ((s) - 0xffffffff80000000)

	.section .text.boot, "ax"

/*
 * Yours.  The CPU begins at a copy of this code, at the physical address AP_TRAMPOLINE, in real mode.
 * The copy ends at ap_trampoline_end.
 */
	.globl ap_trampoline, ap_trampoline_end
	.code16
ap_trampoline:
	cli
1:	hlt
	jmp 1b
ap_trampoline_end:

	.section .note.GNU-stack, "", @progbits
