/*
 * setjmp.S - setjmp and longjmp.  They replace newlib's, with which setjmp returns 0 after
 * longjmp(env, 0).
 *
 * jmp_buf, as newlib's header has it: RBX, RBP, R12, R13, R14, R15, RSP after the return, RIP.  The
 * control words of SSE and x87 stay as they are at the jump, as ISO C says (7.13.2.1).
 */
	.text
	.globl	setjmp
	.type	setjmp, @function
	.p2align 4
setjmp:
	movq	%rbx, 0(%rdi)
	movq	%rbp, 8(%rdi)
	movq	%r12, 16(%rdi)
	movq	%r13, 24(%rdi)
	movq	%r14, 32(%rdi)
	movq	%r15, 40(%rdi)
	leaq	8(%rsp), %rax
	movq	%rax, 48(%rdi)
	movq	(%rsp), %rax
	movq	%rax, 56(%rdi)
	xorl	%eax, %eax
	ret
	.size	setjmp, . - setjmp

	.globl	longjmp
	.type	longjmp, @function
	.p2align 4
longjmp:
	movl	%esi, %eax
	cmpl	$1, %eax	/* carry: it is 0, and becomes 1 */
	adcl	$0, %eax
	movq	0(%rdi), %rbx
	movq	8(%rdi), %rbp
	movq	16(%rdi), %r12
	movq	24(%rdi), %r13
	movq	32(%rdi), %r14
	movq	40(%rdi), %r15
	movq	48(%rdi), %rsp
	jmp	*56(%rdi)
	.size	longjmp, . - longjmp
	.section .note.GNU-stack, "", @progbits
