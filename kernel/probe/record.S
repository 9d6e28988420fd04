/*
 * record.S - what the stubs of probe points call (kern/probe.h).
 *
 * A stub pushes the values and the point's address, and calls probe_record.  It is 48 instructions
 * in fast timing from the jump at the point to the jump back, both included.  The points whose records
 * come with a stack (stack.c) lead to probe_record_stack and probe_program_stack instead.
 *
 * Exact timing.  What a record costs lies outside of virtual time: from the jump at the point to
 * the jump back, except for the displaced instructions.  The way out of here sets the timer and the
 * clock of the window as if nothing of this had been executed (PROBE_END).  So a window ends at the
 * same instruction of the kernel as without a trace, and each reading of the clock is the same.
 *
 *	NMI: the timer of the window may expire in a record, before PROBE_END sets it again.
 *	lockstep_nmi then finds RIP in .probe.code or .probe.stubs, or the CPU outside of a window, and does nothing.
 *	At least one instruction of the window is left at the point, because otherwise the window would
 *	have ended before the jump.  Nothing is lost by ignoring the NMI.
 *
 *	Displaced instructions: they belong to the window, and the jump back that follows them does
 *	not.  If the window has PROBE_DISPLACED instructions or more left, it cannot end among them,
 *	and PROBE_END allows for the jump in advance.  Else the copy in .probe.copies is executed, where
 *	an NMI ends a window as anywhere.  It allows for nothing, and calls probe_settle before it
 *	jumps back.
 *
 *	Interrupts are off at a point, so none comes in a stub or among the displaced instructions.
 *
 * Points of programs (kern/probe.h).  A record is 57 instructions in fast timing, from the jump at the
 * point to the jump back.  The stub enters the kernel by an INT of its own vector, and the kernel
 * leaves by IRETQ; interrupts are off between them, so a record is whole.  An interrupt before the INT
 * or among the displaced instructions finds a RIP in the stub, and returns there, perhaps on another CPU
 * and after handlers of signals: a stub keeps nothing anywhere.
 *
 *	Exact timing: both INTs belong to the record.  The INT in the copy takes the place of the jump back.
 *	NMIs are ignored at the first INT and in the kernel.  A window may end anywhere in the copy, also
 *	before its INT.  The same instructions of the program lie in it then as without a trace.
 *
 * The numbers in probe.c and behind PROBE_END count instructions.  After a change of these lines they
 * must be counted again: the self-test at boot passes a point a thousand times, and panics if the
 * clock is one instruction off.
 */
#include "../cpu/asm.h"

#define T_PROTECT 13
#define PROBE_COPIES (PROBE_USER + 2 * PROBE_SLOTS)

#define RING_HEAD 0
#define RING_MASK 8
#define RING_ENTRY 64
#define ENTRY_TIME 0
#define ENTRY_SEQ 8
#define ENTRY_POINT 12
#define ENTRY_VALUE 16

#define WORDS 40        /* of the stub, above the registers */
#define PROGRAM_WORDS 24 /* the values of a program's point; above them is what INT pushes */

	.macro PUSH_USED
	pushq %rax
	pushq %rdx
	pushq %rcx
	pushq %rdi
	pushq %rsi
	.endm
	.macro POP_USED
	popq %rsi
	popq %rdi
	popq %rcx
	popq %rdx
	popq %rax
	.endm

	/* The other registers that a C function may change. */
	.macro PUSH_OTHERS
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	.endm
	.macro POP_OTHERS
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	.endm

	/* Outside of the window from here on, because probe.c lies outside of .probe.code: an NMI there would
	 * end the window. */
	.macro PROBE_BEGIN
	movl $0, %gs:CPU_INWIN
	PUSH_OTHERS
	.endm

	/* The window goes on.  RAX: what probe.c has returned.  `length`: the instructions from RDTSC to
	 * the RET of probe_record, or to the program's IRETQ, both included. */
	.macro PROBE_END length
	movq %gs:CPU_TIMEREC, %rsi
	movq lockstep_icr(%rip), %rdi
	movl %eax, (%rdi)
	rdtsc
	shlq $32, %rdx
	leaq \length(%rax, %rdx), %rax
	subq %gs:CPU_PROBE_RAN, %rax
	movq %rax, TIMEREC_WS(%rsi)
	movl $1, %gs:CPU_INWIN
	POP_OTHERS
	POP_USED
	.endm

	/* Fast timing: writes the record.  RDX:RAX is the time stamp counter in two halves, RDI the ring;
	 * `point` and `values` are places on the stack.  In exact timing: jumps to `exact`, with the counter
	 * in RAX. */
	.macro RECORD exact, point, values
	shlq $32, %rdx
	orq %rdx, %rax
	cmpl $0, %gs:CPU_INWIN
	jne \exact
	movl $1, %ecx
	xaddq %rcx, RING_HEAD(%rdi)
	movq %gs:CPU_TIMEREC, %rsi
	subq TIMEREC_WS(%rsi), %rax
	mulq TIMEREC_MULT(%rsi)
	shrdq $32, %rdx, %rax
	addq TIMEREC_VBASE(%rsi), %rax
	movl %ecx, %edx
	andl RING_MASK(%rdi), %edx
	leaq (%rdx, %rdx, 4), %rdx
	leaq RING_ENTRY(%rdi, %rdx, 8), %rdx
	movq %rax, ENTRY_TIME(%rdx)
	movl \point(%rsp), %eax
	movl %eax, ENTRY_POINT(%rdx)
	movq \values(%rsp), %rax
	movq %rax, ENTRY_VALUE(%rdx)
	movq \values + 8(%rsp), %rax
	movq %rax, ENTRY_VALUE + 8(%rdx)
	movq \values + 16(%rsp), %rax
	movq %rax, ENTRY_VALUE + 16(%rdx)
	incl %ecx
	movl %ecx, ENTRY_SEQ(%rdx)
	.endm

	.section .probe.code, "ax", @progbits

	.globl probe_record
probe_record:
	PUSH_USED
	rdtsc
	movq %gs:CPU_PROBE_RING, %rdi
	testq %rdi, %rdi
	jz 1f
	RECORD record_exact, WORDS + 8, WORDS + 16
1:	POP_USED
	ret $32

record_exact: /* RAX: the time stamp counter */
	PROBE_BEGIN
	leaq 32 + WORDS(%rsp), %rdi
	movq %rax, %rsi
	call probe_record_exact
	PROBE_END 16
	ret $32

	/* The same with the stack of the LWP (stack.c). */
	.globl probe_record_stack
probe_record_stack:
	PUSH_USED
	rdtsc
	movq %gs:CPU_PROBE_RING, %rdi
	testq %rdi, %rdi
	jz 1f
	RECORD record_stack_exact, WORDS + 8, WORDS + 16
	PUSH_OTHERS
	call probe_stack_lwp
	POP_OTHERS
1:	POP_USED
	ret $32

record_stack_exact:
	PROBE_BEGIN
	leaq 32 + WORDS(%rsp), %rdi
	movq %rax, %rsi
	call probe_record_exact
	pushq %rax
	call probe_stack_lwp
	popq %rax
	PROBE_END 16
	ret $32

	/* Exact timing: the displaced instructions have been executed in .probe.copies. */
	.globl probe_settle
probe_settle:
	pushfq
	PUSH_USED
	rdtsc
	shlq $32, %rdx
	orq %rdx, %rax
	PROBE_BEGIN
	movq %rax, %rdi
	call probe_settle_exact
	PROBE_END 16
	popfq
	ret

/* --- points of programs -------------------------------------------------------------------------- */

	/* INT in a stub.  Goes on in the kernel's part of the stub, with the program's registers. */
	.globl probe_program_entry
probe_program_entry:
	swapgs
	cmpq $PROBE_USER, (%rsp)
	jb not_a_stub
	cmpb $2, (%rsp) /* the INT at the beginning of a slot, and no other */
	jne not_a_stub
	stac /* a value may lie in the program's memory */
	pushq (%rsp)
	addq $(PROBE_SLOTS - 2), (%rsp)
	ret

	.globl probe_program_blank, probe_program_record
probe_program_blank:
	pushq $0
	pushq $0
	pushq $0
probe_program_record:
	PUSH_USED
	rdtsc
	movq %gs:CPU_PROBE_RING, %rdi
	RECORD program_exact, WORDS + PROGRAM_WORDS, WORDS
	POP_USED
	addq $PROGRAM_WORDS, %rsp
	swapgs
	iretq

program_exact: /* RAX: the time stamp counter */
	PROBE_BEGIN
	leaq 32 + WORDS(%rsp), %rdi
	movq %rax, %rsi
	cld
	call probe_program_exact
program_end:
	PROBE_END 18
	addq $PROGRAM_WORDS, %rsp
	swapgs
	iretq

	/* The same with the stack of the thread (stack.c). */
	.globl probe_program_stack
probe_program_stack:
	PUSH_USED
	rdtsc
	movq %gs:CPU_PROBE_RING, %rdi
	RECORD program_stack_exact, WORDS + PROGRAM_WORDS, WORDS
	PUSH_OTHERS
	leaq 32 + WORDS(%rsp), %rdi
	movq %rbp, %rsi
	cld
	call probe_stack_thread
	POP_OTHERS
	POP_USED
	addq $PROGRAM_WORDS, %rsp
	swapgs
	iretq

program_stack_exact:
	PROBE_BEGIN
	leaq 32 + WORDS(%rsp), %rdi
	movq %rax, %rsi
	cld
	call probe_program_exact
	leaq 32 + WORDS(%rsp), %rdi
	movq %rbp, %rsi
	pushq %rax
	call probe_stack_thread
	popq %rax
	jmp program_end

	/* Exact timing: INT behind displaced instructions. */
	.globl probe_program_settle
probe_program_settle:
	swapgs
	cmpq $PROBE_COPIES, (%rsp)
	jb not_a_copy
	stac
	subq $PROGRAM_WORDS, %rsp
	PUSH_USED
	rdtsc
	shlq $32, %rdx
	orq %rdx, %rax
	PROBE_BEGIN
	leaq 32 + WORDS(%rsp), %rdi
	movq %rax, %rsi
	cld
	call probe_program_settle_exact
	jmp program_end

	/* A program has executed INT by itself: a general protection fault, as without a trace. */
not_a_stub:
	swapgs
	subq $2, (%rsp)
	pushq $(8 * VEC_PROBE + 2)
	jmp 1f
not_a_copy:
	swapgs
	subq $2, (%rsp)
	pushq $(8 * VEC_PROBE_SETTLE + 2)
1:	pushq $T_PROTECT
	jmp trap_common

	.section .note.GNU-stack, "", @progbits
