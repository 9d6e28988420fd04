/*
 * fiber.S - switches from one fiber to another.
 *
 * void __win_fiber_switch(struct fiber *from, struct fiber *to)
 *
 * Saves the registers that a function must preserve (RBX, RBP, R12 to R15, the control words of SSE
 * and x87) on the stack of `from`, and RSP in `from`.  Then any thread may switch to `from`, and
 * this code does not touch its stack again.  Loads the same registers of `to`.  The thread pointer
 * is unchanged, because thread-local data belong to the thread.
 */
#define FIBER_RSP 0    /* offsets in struct fiber, asserted in fiber.c */
#define FIBER_ACTIVE 8

	.text
	.globl	__win_fiber_switch
	.type	__win_fiber_switch, @function
	.p2align 4
__win_fiber_switch:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$8, %rsp
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rsp, FIBER_RSP(%rdi)
	movq	FIBER_RSP(%rsi), %rsp
	movl	$0, FIBER_ACTIVE(%rdi)	/* a release: x86 keeps the order of stores */

	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	addq	$8, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.size	__win_fiber_switch, . - __win_fiber_switch
	.section .note.GNU-stack, "", @progbits
