/*
 * switch.S - from one user-level thread to another, without the kernel.
 *
 * long __mxn_switch(struct thread *from, struct thread *to, struct section *c)
 * void __mxn_leave(struct thread *from, struct thread *to, struct section *c)
 * long __local_switch(struct thread *from, struct thread *to, struct section *c, struct ulwp *l)
 * void __local_leave_to(struct thread *from, struct thread *to, struct section *c, struct ulwp *l)
 *
 * Called with _schedlock held.  __mxn_switch saves what a function must preserve.  RBX, RBP and R12
 * to R15 go onto the stack of `from`, the control words of SSE and x87 into from->fp_control, and
 * RSP into from->rsp.  (The direction flag is clear at any call.)  __mxn_leave saves nothing; once
 * it is off the stack of `from`, it releases that stack.  Both load the same registers of `to`, and
 * point FS base at `to`.
 *
 * Then both release _schedlock and leave its critical section c, as schedunlock does, and return 0
 * on the stack of `to`.  A new thread "returns" into its entry function.  struct thread
 * (core/tcb.h) describes the layout.
 *
 * __local_switch is __mxn_switch, and __local_leave_to is __mxn_leave, for a caller that holds l->run_lock instead of
 * _schedlock (local.c).  The first tells queue.c that the registers of `from` are saved.
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

#define SCHEDLOCK_RELEASE 0x80000001

	.text
	.globl	__mxn_switch
	.type	__mxn_switch, @function
	.p2align 4
__mxn_switch:
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
.Ltake:	ldmxcsr	THREAD_FP_CONTROL(%rsi)
	fldcw	THREAD_FP_CONTROL + 4(%rsi)
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp

	addl	$SCHEDLOCK_RELEASE, _schedlock(%rip)
	subq	$1, (%rdx)
	jne	1f
	xorl	%eax, %eax
	ret
1:	jmp	__critical_left
	.size	__mxn_switch, . - __mxn_switch

	.globl	__local_switch
	.type	__local_switch, @function
	.p2align 4
__local_switch:
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
	movl	$APART_SAVED, THREAD_APART(%rdi)
.Llocal_take:
	ldmxcsr	THREAD_FP_CONTROL(%rsi)
	fldcw	THREAD_FP_CONTROL + 4(%rsi)
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp

	movl	$0, ULWP_RUN_LOCK(%rcx)
	subq	$1, (%rdx)
	jne	1f
	xorl	%eax, %eax
	ret
1:	jmp	__critical_left
	.size	__local_switch, . - __local_switch

	.globl	__mxn_leave
	.type	__mxn_leave, @function
	.p2align 4
__mxn_leave:
	PROBE	thread_leave, "thread next", %rdi, %rsi, $0, 8, 8, 4
	movq	THREAD_RSP(%rsi), %rsp
	wrfsbase %rsi
	movl	$0, THREAD_ON_STACK(%rdi)
	jmp	.Ltake
	.size	__mxn_leave, . - __mxn_leave

	.globl	__local_leave_to
	.type	__local_leave_to, @function
	.p2align 4
__local_leave_to:
	PROBE	thread_leave, "thread next", %rdi, %rsi, $0, 8, 8, 4
	movq	THREAD_RSP(%rsi), %rsp
	wrfsbase %rsi
	movl	$0, THREAD_ON_STACK(%rdi)
	jmp	.Llocal_take
	.size	__local_leave_to, . - __local_leave_to
	.section .note.GNU-stack, "", @progbits
