/*
 * trampoline.S - the first instructions of a CPU that smp.c starts.
 *
 * The start-up IPI makes the CPU begin at AP_TRAMPOLINE, in real mode, where smp.c has put a copy of
 * ap_trampoline.  The copy leads to the kernel itself, and there to long mode.  The code runs at its
 * physical address, so every symbol is taken minus KIMAGE until the jump to the higher half.  Before
 * the IPI, smp.c has put the CPU's page tables, stack and struct cpu into ap_start.
 */
#include "asm.h"

#define PHYS(s) ((s) - 0xffffffff80000000)

	.section .text.boot, "ax"
	.globl ap_trampoline, ap_trampoline_end
	.code16
ap_trampoline:
	cli
	cld
	xorw %ax, %ax
	movw %ax, %ds
	lgdtl AP_TRAMPOLINE + (ap_gdtr - ap_trampoline)
	movl %cr0, %eax
	orb $1, %al
	movl %eax, %cr0
	ljmpl $0x18, $PHYS(ap_32)
	.balign 4
ap_gdtr:
	.word boot_gdt_limit
	.long PHYS(boot_gdt)
ap_trampoline_end:

	.code32
ap_32:
	movl $0x10, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movb $1, PHYS(ap_start) + 24 /* smp.c sends no further IPI */
	movl $PHYS(ap_boot_stack_top), %esp /* for this call; one CPU starts at a time */
	call enter_long_mode
	ljmp $0x08, $PHYS(ap_64)
	.code64
ap_64:
	movabsq $1f, %rax
	jmp *%rax
1:	xorl %eax, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl %eax, %fs
	movl %eax, %gs
	/* The final page tables, which also map the stack. */
	movq ap_start + 0, %rax
	movq %rax, %cr3
	movq ap_start + 8, %rsp
	movq ap_start + 16, %rdi
	xorl %ebp, %ebp
	call cpu_ap_main /* (struct cpu *); does not return */

	.section .note.GNU-stack, "", @progbits
