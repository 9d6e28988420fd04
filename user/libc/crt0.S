/*
 * crt0.S - where a program starts.  RSP points at argc, argv, envp and the
 * auxiliary vector, as the System V ABI lays them out; the frame pointer 0 ends
 * the chain that a debugger walks.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	xorl	%ebp, %ebp
	movq	%rsp, %rdi
	andq	$-16, %rsp
	call	__libc_start
	hlt
	.cfi_endproc
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
