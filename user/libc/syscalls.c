/*
 * syscalls.c - the raw system calls, made from the one list: __sys_NAME puts the
 * number in RAX, moves the fourth argument from where C has it (RCX) to where the
 * kernel wants it (R10), and returns what the kernel returned.  __point_NAME does the same as a
 * cancellation point (weft/point.h); the linker keeps those that are used.
 */
#include <weft/sys.h>

#define X(number, name, nargs)                                                                     \
	__asm__(".section .text.__sys_" #name ", \"ax\", @progbits\n"                              \
		".globl __sys_" #name "\n"                                                         \
		".type __sys_" #name ", @function\n"                                               \
		"__sys_" #name ":\n"                                                               \
		".if " #nargs " >= 4\n"                                                            \
		"	movq %rcx, %r10\n"                                                               \
		".endif\n"                                                                         \
		"	movl $" #number ", %eax\n"                                                 \
		"	syscall\n"                                                                       \
		"	ret\n"                                                                           \
		".size __sys_" #name ", . - __sys_" #name "\n"                                     \
		".section .text.__point_" #name ", \"ax\", @progbits\n"                            \
		".globl __point_" #name "\n"                                                       \
		".type __point_" #name ", @function\n"                                             \
		"__point_" #name ":\n"                                                             \
		"	movl $" #number ", %eax\n"                                                 \
		"	jmp __cancel_point\n"                                                            \
		".size __point_" #name ", . - __point_" #name "\n"                                 \
		".text\n");
SYSCALLS(X)
#undef X

/* Every call of the list must have its prototype in weft/sys.h. */
#define X(number, name, nargs) _Static_assert(sizeof(&__sys_##name) == 8, "");
SYSCALLS(X)
#undef X
