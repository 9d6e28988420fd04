/*
 * slow.S - the rare way from a fast path to a function of C.
 *
 * The fast paths of locks and critical sections are inline assembly (ilock.h).  They branch to the
 * functions here from code that is out of the way.  The compiler does not see this as a call.  So
 * all registers except the flags are kept, SSE and x87 included.  A function with such a fast path
 * stays a leaf, and needs no frame and no register that it would have to save.  This is a third of
 * the cost of blocking on a semaphore.  For the same reason the library is compiled without a red
 * zone.
 */
	.text

	.macro KEEPING_ALL name, function
	.globl	\name
	.type	\name, @function
\name:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	subq	$512, %rsp
	andq	$-16, %rsp
	fxsave64 (%rsp)
	call	\function
	fxrstor64 (%rsp)
	leaq	-72(%rbp), %rsp
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popq	%rbp
	ret
	.size	\name, . - \name
	.endm

	/* RDI: the lock. */
	KEEPING_ALL __ilock_slow, __ilock_contended
	KEEPING_ALL __critical_slow, __critical_left
	.section .note.GNU-stack, "", @progbits
