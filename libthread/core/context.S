/*
 * context.S - getcontext, swapcontext, and the place to which a context of makecontext returns.
 *
 * The registers that a function must preserve, RSP after the return, and RIP go into *context.  C
 * code does the rest (context.c), on the caller's stack.
 */
#include "offsets.h"

	.macro	save_registers
	movq	%r12, CONTEXT_R12(%rdi)
	movq	%r13, CONTEXT_R13(%rdi)
	movq	%r14, CONTEXT_R14(%rdi)
	movq	%r15, CONTEXT_R15(%rdi)
	movq	%rbp, CONTEXT_RBP(%rdi)
	movq	%rbx, CONTEXT_RBX(%rdi)
	leaq	8(%rsp), %rax
	movq	%rax, CONTEXT_RSP(%rdi)
	movq	(%rsp), %rax
	movq	%rax, CONTEXT_RIP(%rdi)
	.endm

	.text
	.globl	getcontext
	.type	getcontext, @function
	.p2align 4
getcontext:
	save_registers
	jmp	__context_save
	.size	getcontext, . - getcontext

	.globl	swapcontext
	.type	swapcontext, @function
	.p2align 4
swapcontext:
	save_registers
	jmp	__context_swap
	.size	swapcontext, . - swapcontext

/* A context's function has returned.  RBX, which the function has preserved, is uc_link. */
	.globl	__context_returns
	.type	__context_returns, @function
	.p2align 4
	nop			/* a debugger looks for the call before a return address */
__context_returns:
	movq	%rbx, %rdi
	xorl	%ebp, %ebp
	andq	$-16, %rsp
	call	__context_end
	.size	__context_returns, . - __context_returns
	.section .note.GNU-stack, "", @progbits
