/*
 * switch.S - from one user-level thread to another, without the kernel.
 *
 * struct thread *__mxn_switch(struct thread *from, struct thread *to)
 *
 * Called with _schedlock held.  Saves what a function must preserve (RBX, RBP, R12 to
 * R15, the control words of SSE and x87; the flags' direction bit is clear at any call)
 * on the stack of `from`, and RSP in from->rsp; takes the same of `to`, and points FS
 * base at it.  The layout is described at struct thread (core/impl.h).
 *
 * `from` comes out in RAX, and stays in RDI: the first switch to a new thread "returns"
 * into its entry function, which takes it as its argument.
 */
#define THREAD_RSP 24 /* offsetof(struct thread, rsp), asserted in sched.c */

	.text
	.globl	__mxn_switch
	.type	__mxn_switch, @function
	.p2align 4
__mxn_switch:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$8, %rsp
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rsp, THREAD_RSP(%rdi)

	movq	THREAD_RSP(%rsi), %rsp
	wrfsbase %rsi
	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	addq	$8, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	movq	%rdi, %rax
	ret
	.size	__mxn_switch, . - __mxn_switch
	.section .note.GNU-stack, "", @progbits
