/*
 * entry.S - every way into the kernel and out of it, and the switch of stacks.
 *
 * Invariants.  In kernel mode GS holds the CPU's struct cpu, in user mode the
 * user's value, and SWAPGS at the boundary exchanges the two.  Every entry
 * builds a struct trapframe; from user mode it lies at the very top of the
 * LWP's kernel stack.  C code is entered with interrupts off and with the
 * direction, alignment-check and trap flags clear.
 *
 * Three events may arrive anywhere, also between an entry and its SWAPGS or while
 * RSP is still the user's: NMI, double fault and machine check.  They run on
 * stacks of their own (IST) and assume nothing about GS.  The word above such a
 * stack points at the struct cpu.  GS is saved and restored by value.  This
 * works in every state of SWAPGS, and also when the user has put a kernel
 * address there.
 */
#include "asm.h"

#define SEL_UDATA 0x23
#define SEL_UCODE 0x2b
#define TRAP_SYSCALL 0x100
#define T_PROTECT 13

	/* Lets a debugger see through a trap frame.  The description starts with RSP at
	 * the vector, and all words above it on the stack. */
	.cfi_sections .debug_frame
	.macro FRAME_BEGIN
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, TF_SIZE - TF_VEC
	.cfi_offset %rip, TF_RIP - TF_SIZE
	.cfi_offset %rsp, TF_RSP - TF_SIZE
	.endm

	.macro PUSH reg
	pushq %\reg
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %\reg, 0
	.endm
	.macro POP reg
	popq %\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore %\reg
	.endm
	.macro DROP bytes
	addq $\bytes, %rsp
	.cfi_adjust_cfa_offset -\bytes
	.endm

	/* The arguments of a system call lie side by side.  The registers that a C
	 * function preserves lie below all others: the way out of a call skips them. */
	.macro PUSH_REGS
	PUSH rax
	PUSH r9
	PUSH r8
	PUSH r10
	PUSH rdx
	PUSH rsi
	PUSH rdi
	PUSH rcx
	PUSH r11
	PUSH rbp
	PUSH rbx
	PUSH r12
	PUSH r13
	PUSH r14
	PUSH r15
	.endm

	.macro POP_REGS
	POP r15
	POP r14
	POP r13
	POP r12
	POP rbx
	POP_CALLER_REGS
	.endm
	.macro POP_CALLER_REGS
	POP rbp
	POP r11
	POP rcx
	POP rdi
	POP rsi
	POP rdx
	POP r10
	POP r8
	POP r9
	POP rax
	.endm

	/* Flags as C needs them.  An interrupt gate clears IF and TF only.  CLAC is not
	 * used for AC, because not every CPU has it. */
	.macro CLEAR_FLAGS
	pushq $2
	popfq
	.endm

	/* Jumps to \work if the LWP has something to do before user mode.
	 * Interrupts are off, so no AST is missed between here and user mode. */
	.macro CHECK_USER_WORK work
	movq %gs:CPU_LWP, %rax
	movl LWP_AST(%rax), %eax
	orl %gs:CPU_NEED_RESCHED, %eax
	jnz \work
	.endm

	.text

/* --- SYSCALL --------------------------------------------------------------- */

	.globl syscall_entry
	.balign 16
syscall_entry:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 0
	.cfi_register %rip, %rcx
	swapgs
	movq %rsp, %gs:CPU_USER_RSP
	movq %gs:CPU_TSS_RSP0, %rsp
	pushq $SEL_UDATA
	pushq %gs:CPU_USER_RSP
	pushq %r11 /* the user's RFLAGS; the CPU has masked the flags that matter */
	pushq $SEL_UCODE
	pushq %rcx
	pushq %rax
	pushq $TRAP_SYSCALL
	.cfi_endproc
	FRAME_BEGIN
	PUSH_REGS
	xorl %ebp, %ebp
	movq %rsp, %rdi
	call syscall_dispatch
	CHECK_USER_WORK 1f
	cmpl $TRAP_SYSCALL, TF_VEC(%rsp)
	jne return_by_iret /* the call has rewritten the frame */
	/* SYSRET takes RIP from RCX and RFLAGS from R11, where SYSCALL has put them.
	 * That RIP is canonical, because the last page below 2^47 is never mapped. */
	.cfi_remember_state
	DROP TF_CALLER_REGS
	.irp reg, r15, r14, r13, r12, rbx /* C has restored them */
	.cfi_restore \reg
	.endr
	POP_CALLER_REGS
	movq TF_RSP - TF_VEC(%rsp), %rsp
	swapgs
	sysretq
	.cfi_restore_state

	/* Where swtch_in_park, swtch_in_idle and swtch_in_yield let an LWP go on: RSP is the frame.  lwp_park and
	 * upcall_idle return the function's result, lwp_yield returns 0. */
idle_resumed:
	xorl %ebp, %ebp
	movq %rax, %rdi
	movq %rdx, %rsi
	call sched_idle_resumed
	movq %rax, TF_RAX(%rsp)
	jmp call_resumed
park_resumed:
	xorl %ebp, %ebp
	movq %rax, %rdi
	movq %rdx, %rsi
	call sched_park_resumed
	movq %rax, TF_RAX(%rsp)
	jmp call_resumed
yield_resumed:
	xorl %ebp, %ebp
	movq %rax, %rdi
	movq %rdx, %rsi
	call sched_yield_resumed
	movq $0, TF_RAX(%rsp)
call_resumed:
	CHECK_USER_WORK 1f
	.cfi_remember_state
	POP_REGS
	movq TF_RSP - TF_VEC(%rsp), %rsp
	swapgs
	sysretq
	.cfi_restore_state
1:	xorl %ebp, %ebp
	movq %rsp, %rdi
	call user_return_work
	jmp return_to_user
	.cfi_endproc

/* --- traps and interrupts -------------------------------------------------- */

	/* Vector \n enters at trap_stubs + 16 * \n. */
	.altmacro
	.macro STUB n
	.balign 16
	.if !(\n == 8 || (\n >= 10 && \n <= 14) || \n == 17 || \n == 21 || \n == 29 || \n == 30)
	pushq $0
	.endif
	pushq $\n
	jmp trap_common
	.endm

	.globl trap_stubs
	.balign 16
trap_stubs:
	.set i, 0
	.rept 256
	STUB %i
	.set i, i + 1
	.endr

	.globl trap_call_end, trap_iretq, trap_common
	.balign 16
trap_common:
	FRAME_BEGIN
	testb $3, TF_CS - TF_VEC(%rsp)
	jz from_kernel
	swapgs
	.cfi_remember_state
	PUSH_REGS
	xorl %ebp, %ebp /* backtraces end here */
	jmp 1f
	.cfi_restore_state
from_kernel:
	cmpq $trap_iretq, TF_RIP - TF_VEC(%rsp)
	jne 2f
	swapgs /* the IRET has failed when GS was already the user's */
2:	PUSH_REGS
1:	CLEAR_FLAGS
	movq %rsp, %rdi
	call trap
trap_call_end:
	testb $3, TF_CS(%rsp)
	jz return_to_kernel
return_to_user: /* RSP: the frame; interrupts off */
	CHECK_USER_WORK 3f
return_by_iret:
	.cfi_remember_state
	POP_REGS
	DROP 16
	swapgs
trap_iretq:
	iretq
	.cfi_restore_state
3:	movq %rsp, %rdi
	call user_return_work
	jmp return_to_user

return_to_kernel:
	POP_REGS
	DROP 16
	iretq
	.cfi_endproc

	/* An IRET to user mode failed, because its frame is not valid for user mode;
	 * for example, RIP is not canonical.  The stack is as before the IRET, and the
	 * general registers are the user's.  So it becomes a fault at the user's RIP. */
	.section .extable, "a"
	.quad trap_iretq, iret_failed
	.text
iret_failed:
	pushq $0
	pushq $T_PROTECT
	FRAME_BEGIN
	PUSH_REGS
	xorl %ebp, %ebp
	movq %rsp, %rdi
	call trap
	jmp return_to_user
	.cfi_endproc

/* --- events that may arrive anywhere ---------------------------------------- */

	.globl nmi_entry, double_fault_entry, machine_check_entry, anywhere_call_end
nmi_entry:
	pushq $0
	pushq $2
	jmp anywhere
double_fault_entry: /* with an error code */
	pushq $8
	jmp anywhere
machine_check_entry:
	pushq $0
	pushq $18
anywhere:
	FRAME_BEGIN
	PUSH_REGS
	CLEAR_FLAGS
	movq TF_SIZE(%rsp), %rbx /* the word above the stack: struct cpu */
	rdgsbase %r12
	wrgsbase %rbx
	movq %rsp, %rdi
	call trap_anywhere
anywhere_call_end:
	wrgsbase %r12
	POP_REGS
	DROP 16
	iretq
	.cfi_endproc

/* --- switching --------------------------------------------------------------- */

/*
 * swtch: RDI from, RSI to, RDX the lock that crosses the switch.
 * Switches from this stack to that of `to`.  The caller saves the registers (sched/switch.h), and
 * has pushed RBP last.  Returns to the call of swtch that `to` made some time ago: RAX is `from`,
 * RDX the lock.  A new LWP's stack looks as if lwp_trampoline had called swtch.
 *
 * swtch_in_yield: the same for an LWP whose system call has nothing left to do except to return 0.
 * So nothing on its stack is kept, and no register except the user's, which are in its frame.  The
 * LWP goes on at yield_resumed.  swtch_in_park, swtch_in_idle: the same for an LWP that parks, or that sleeps in
 * upcall_idle; it goes on at park_resumed, idle_resumed.
 */
	.globl swtch, swtch_in_yield, swtch_in_park, swtch_in_idle
swtch_in_idle:
	.cfi_startproc
	.cfi_undefined %rip
	movq LWP_FRAME(%rdi), %rsp
	pushq $idle_resumed
	jmp swtch
	.cfi_endproc
swtch_in_park:
	.cfi_startproc
	.cfi_undefined %rip
	movq LWP_FRAME(%rdi), %rsp
	pushq $park_resumed
	jmp swtch
	.cfi_endproc
swtch_in_yield:
	.cfi_startproc
	.cfi_undefined %rip
	movq LWP_FRAME(%rdi), %rsp
	pushq $yield_resumed
	.cfi_endproc
swtch:
	.cfi_startproc
	.cfi_offset %rbp, 0
	movq %rsp, LWP_KSP(%rdi)
	movq LWP_KSP(%rsi), %rsp
	movq %rdi, %rax
	ret
	.cfi_endproc

/*
 * stay_on_cpu: RDI from, RSI the lock of `from`.  `from` will go on at idle_resumed, and this CPU calls stay_here(from) on the
 * same stack meanwhile.  That returns the LWP to switch to, or ends in stay_goes_on.
 *
 * stay_goes_on: RDI the LWP that has stayed, RSI the result of its call, at whose end it goes on.
 */
	.globl stay_on_cpu, stay_goes_on
stay_goes_on:
	.cfi_startproc
	.cfi_undefined %rip
	movq LWP_FRAME(%rdi), %rsp
	movq %rsi, TF_RAX(%rsp)
	jmp call_resumed
	.cfi_endproc
stay_on_cpu:
	.cfi_startproc
	.cfi_undefined %rip
	movq LWP_FRAME(%rdi), %rsp
	pushq $idle_resumed
	movq %rsp, LWP_KSP(%rdi)
	movq %rdi, %rbx
	movq %rsi, %r12
	xorl %ebp, %ebp
	call stay_here
	movq LWP_KSP(%rax), %rsp
	movq %rbx, %rax
	movq %r12, %rdx
	ret
	.cfi_endproc

	/* RSP: a user LWP's frame.  For a kernel LWP sched_lwp_first does not return. */
	.globl lwp_trampoline
lwp_trampoline:
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, TF_SIZE
	.cfi_offset %rip, TF_RIP - TF_SIZE
	.cfi_offset %rsp, TF_RSP - TF_SIZE
	xorl %ebp, %ebp
	movq %rax, %rdi
	movq %rdx, %rsi
	call sched_lwp_first
	jmp return_to_user
	.cfi_endproc

/* void cpu_call_on_stack(void *top, void (*fn)(void)): fn does not return. */
	.globl cpu_call_on_stack
cpu_call_on_stack:
	movq %rdi, %rsp
	xorl %ebp, %ebp
	call *%rsi
	ud2

	.section .note.GNU-stack, "", @progbits
