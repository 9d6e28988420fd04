/*
 * usercopy.S - the instructions that touch user memory.
 *
 * Where the CPU has SMAP, user memory can be reached only between STAC and CLAC,
 * which stand here and nowhere else.  An access that cannot be resolved continues at
 * the address that .extable gives for it.  An interrupt or a fault in between clears
 * AC for its handler and restores it on return (cpu/entry.S).
 */

	.macro USER_BEGIN
	cmpb $0, cpu_has_smap
	je 101f
	stac
101:
	.endm

	.macro USER_END
	cmpb $0, cpu_has_smap
	je 102f
	clac
102:
	.endm

	.macro MAY_FAULT at, fixup
	.pushsection .extable, "a"
	.quad \at, \fixup
	.popsection
	.endm

	.text

/*
 * size_t user_copy(void *dst, const void *src, size_t n)
 * Copies; the number of bytes that were not copied.
 */
	.globl user_copy
	.balign 16
user_copy:
	USER_BEGIN
	movq %rdx, %rcx
	shrq $3, %rcx
1:	rep movsq
	movl %edx, %ecx
	andl $7, %ecx
2:	rep movsb
	xorl %eax, %eax
3:	USER_END
	ret
4:	/* RCX words and the odd bytes are left */
	andl $7, %edx
	leaq (%rdx, %rcx, 8), %rax
	jmp 3b
5:	movl %ecx, %eax
	jmp 3b
	MAY_FAULT 1b, 4b
	MAY_FAULT 2b, 5b

/*
 * int64_t user_strcpy(char *dst, const char *src, size_t n)
 * Copies up to and with the NUL, at most n bytes; the length without the NUL, n when
 * none came, or -1 when a byte could not be read.
 */
	.globl user_strcpy
	.balign 16
user_strcpy:
	USER_BEGIN
	xorl %eax, %eax
1:	cmpq %rdx, %rax
	je 3f
2:	movb (%rsi, %rax), %cl
	movb %cl, (%rdi, %rax)
	testb %cl, %cl
	jz 3f
	incq %rax
	jmp 1b
3:	USER_END
	ret
4:	movq $-1, %rax
	jmp 3b
	MAY_FAULT 2b, 4b

/*
 * int user_load32(uint32_t *to, vaddr_t p), user_load64
 * int user_cas32(vaddr_t p, uint32_t *old, uint32_t new), user_cas64
 * Single accesses (kern/mm.h).
 */
	.macro USER_LOAD name, mov, reg
	.globl \name
	.balign 16
\name:
	USER_BEGIN
1:	\mov (%rsi), \reg
	USER_END
	\mov \reg, (%rdi)
	xorl %eax, %eax
	ret
	MAY_FAULT 1b, user_access_failed
	.endm

	.macro USER_CAS name, mov, cmpxchg, ax, new
	.globl \name
	.balign 16
\name:
	\mov (%rsi), \ax
	USER_BEGIN
1:	lock \cmpxchg \new, (%rdi)
	setne %cl
	USER_END
	\mov \ax, (%rsi)
	movzbl %cl, %eax
	ret
	MAY_FAULT 1b, user_access_failed
	.endm

	USER_LOAD user_load32, movl, %eax
	USER_LOAD user_load64, movq, %rax
	USER_CAS user_cas32, movl, cmpxchgl, %eax, %edx
	USER_CAS user_cas64, movq, cmpxchgq, %rax, %rdx

user_access_failed:
	USER_END
	movl $-14, %eax
	ret

	.section .note.GNU-stack, "", @progbits
