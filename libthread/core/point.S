/*
 * point.S - the one place where system calls are made that are cancellation points.
 *
 * Entered by __point_NAME (user/libc/syscalls.c) with the number in EAX and the arguments where
 * C has them.  If a cancellation is due, -EINTR; otherwise the call, with the thread in R9.
 * Whoever cancels the thread from here on tells the kernel to end a call that is made for R9
 * by the instruction before __cancel_point_made (lwp_cancel, weft/lwp.h).  As that holds for a
 * call that is yet to come, no moment is left between the look and the sleep.
 *
 * A thread that is not to be cancelled, or not now, makes its call elsewhere.
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
