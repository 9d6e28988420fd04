/*
 * switch.S - from one thread to another, without the kernel.
 *
 * struct thread *__small_switch(struct thread *from, struct thread *to)
 *
 * Saves what a function must preserve: RBX, RBP and R12 to R15 on the stack of `from`, the control
 * words of SSE and x87 in from->fp_control, and RSP in from->rsp.  Loads the same of `to`, and points FS
 * base at `to`.  Returns on the stack of `to`, with `from` as the result.  A thread that begins finds
 * `from` as the argument of its entry function.  It releases no lock.
 */
#include "../../core/offsets.h"

	/* A probe point (core/probe.h); sizes: those of the three values. */
	.macro PROBE name, names, a, b, c, sizes:vararg
661:	.pushsection .debug_probe_list, "", @progbits
	.quad 661b
	.byte \sizes
	.asciz "\name", "\names", "\a \b \c"
	.popsection
	.endm

	.text
	.globl	__small_switch
	.type	__small_switch, @function
	.p2align 4
__small_switch:
	PROBE	thread_switch, "thread state next", %rdi, THREAD_STATE(%rdi), %rsi, 8, 4, 8
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	stmxcsr	THREAD_FP_CONTROL(%rdi)
	fnstcw	THREAD_FP_CONTROL + 4(%rdi)
	movq	%rsp, THREAD_RSP(%rdi)

	movq	THREAD_RSP(%rsi), %rsp
	wrfsbase %rsi
	ldmxcsr	THREAD_FP_CONTROL(%rsi)
	fldcw	THREAD_FP_CONTROL + 4(%rsi)
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	movq	%rdi, %rax
	ret
	.size	__small_switch, . - __small_switch
	.section .note.GNU-stack, "", @progbits
