/*
 * point.S - the one place that makes the system calls that are cancellation points.
 *
 * __point_NAME (user/libc/syscalls.c) enters here with the number in EAX and the arguments where C
 * has them.  If a cancellation is due, returns -EINTR.  Otherwise makes the call, with the thread
 * in R9.
 *
 * *Race:* the thread looks at its cancellation, another thread cancels it, and then the thread
 * sleeps in the call.  *Without this:* the thread sleeps on; *closed by:* the canceller tells the
 * kernel to end a call that is made for R9 by the instruction before __cancel_point_made
 * (lwp_cancel, weft/lwp.h).  The kernel also ends such a call that is yet to come.
 *
 * A thread that must not be cancelled, or not now, makes its call by the second SYSCALL
 * instruction.
 */
#include "offsets.h"

	.text
	.globl	__cancel_point
	.type	__cancel_point, @function
	.p2align 4
__cancel_point:
	movq	%rcx, %r10
	movl	%fs:THREAD_ID, %r9d
	cmpl	$CANCEL_DUE, %fs:THREAD_CANCEL
	jae	1f
	syscall
	.globl	__cancel_point_made
__cancel_point_made:
	ret
1:	je	2f
	syscall
	ret
2:	movq	$-4, %rax	/* EINTR */
	ret
	.size	__cancel_point, . - __cancel_point
	.section .note.GNU-stack, "", @progbits
