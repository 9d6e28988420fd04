/*
 * syscalls.c - the raw system calls, made from the one list.
 *
 * __sys_NAME puts the number in RAX, moves the fourth argument from C's register (RCX) to the
 * kernel's (R10), and returns the kernel's result.  __point_NAME does the same as a
 * cancellation point (weft/point.h).  The linker keeps only the functions that are used.
 *
 * A function of the C library that passes its arguments to a call unchanged is such a stub too,
 * followed by the setting of errno: two instructions more than the raw call.
 */
#include <weft/sys.h>
#include "libc.h"

#define X(number, name, nargs)                                                                     \
	__asm__(".set .Lnumber_" #name ", " #number "\n"                                           \
		".section .text.__sys_" #name ", \"ax\", @progbits\n"                              \
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

/* FUNCTION, CALL, number of arguments: the description is the call's (kernel/syscall/). */
#define FUNCTIONS(X)                                                                                   \
	X(chdir, chdir, 1)                                                                             \
	X(chmod, chmod, 2)                                                                             \
	X(dup, dup, 1)                                                                                 \
	X(dup2, dup2, 2)                                                                               \
	X(fchdir, fchdir, 1)                                                                           \
	X(fchmod, fchmod, 2)                                                                           \
	X(ftruncate, ftruncate, 2)                                                                     \
	X(futimens, futimens, 2)                                                                       \
	X(getpgid, getpgrp, 1)                                                                         \
	X(getpid, getpid, 0)                                                                           \
	X(getppid, getppid, 0)                                                                         \
	X(getsid, getsid, 1)                                                                           \
	X(ioctl, ioctl, 3)                                                                             \
	X(kill, kill, 2)                                                                               \
	X(link, link, 2)                                                                               \
	X(lseek, lseek, 3)                                                                             \
	X(madvise, madvise, 3)                                                                         \
	X(mkdir, mkdir, 2)                                                                             \
	X(mprotect, mprotect, 3)                                                                       \
	X(munmap, munmap, 2)                                                                           \
	X(p_online, p_online, 2)                                                                       \
	X(pipe2, pipe, 2)                                                                              \
	X(priocntl, priocntl, 4)                                                                       \
	X(processor_bind, processor_bind, 4)                                                           \
	X(pset_assign, pset_assign, 3)                                                                 \
	X(pset_bind, pset_bind, 4)                                                                     \
	X(pset_create, pset_create, 1)                                                                 \
	X(pset_destroy, pset_destroy, 1)                                                               \
	X(pset_info, pset_info, 4)                                                                     \
	X(pset_list, pset_list, 2)                                                                     \
	X(readlink, readlink, 3)                                                                       \
	X(rename, rename, 2)                                                                           \
	X(rmdir, rmdir, 1)                                                                             \
	X(setpgid, setpgrp, 2)                                                                         \
	X(setsid, setsid, 0)                                                                           \
	X(sigpending, sigpending, 1)                                                                   \
	X(symlink, symlink, 2)                                                                         \
	X(timer_getoverrun, timer_getoverrun, 1)                                                       \
	X(truncate, truncate, 2)                                                                       \
	X(unlink, unlink, 1)                                                                           \
	/* What newlib's stdio calls (user.mk): no cancellation points.  A thread that ended in one  \
	 * of stdio's functions would leave a stream half made. */ \
	X(__plain_close, close, 1)                                                                     \
	X(__plain_read, read, 3)                                                                       \
	X(__plain_write, write, 3)

/* Weak: this object is in every program, and a program may have a `link' of its own. */
#define X(function, call, nargs)                                                                   \
	__asm__(".section .text." #function ", \"ax\", @progbits\n"                                \
		".weak " #function "\n"                                                            \
		".type " #function ", @function\n" #function ":\n"                                 \
		".if " #nargs " >= 4\n"                                                            \
		"	movq %rcx, %r10\n"                                                               \
		".endif\n"                                                                         \
		"	movl $.Lnumber_" #call ", %eax\n"                                          \
		"	syscall\n"                                                                       \
		"	testq %rax, %rax\n"                                                              \
		"	js 1f\n"                                                                         \
		"	ret\n"                                                                           \
		"1:	movq %rax, %rdi\n"                                                             \
		"	jmp __syscall_error\n"                                                           \
		".size " #function ", . - " #function "\n"                                         \
		".text\n");
FUNCTIONS(X)
#undef X

long __syscall_error(long r)
{
	errno = -r;
	return -1;
}
