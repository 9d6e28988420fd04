/*
 * lockstep.S - the assembly half of exact timing: windows begin and end here.
 *
 * A window is the time in which a CPU runs.  It ends by an NMI of the CPU's own
 * LAPIC timer (lockstep_nmi) or by the CPU's own choice (lockstep_op).  Both build
 * the same frame:
 *
 *	GS base, pad, 15 registers, RIP CS RFLAGS RSP SS
 *
 * Both call lockstep_switch.  It chooses the CPU that runs next, and returns when it
 * is the turn of this CPU again.  Both leave through window_begin.  All instructions
 * between the RDTSC that ends a window and the RDTSC that begins the next window lie
 * outside of virtual time.
 *
 * The NMI may arrive anywhere: in user code, in the gap before SWAPGS, while RSP is
 * still the user's.  So it has a stack of its own with the struct cpu in the word
 * above, and saves and restores GS by value.  While a CPU waits for the token, its
 * frame lies on one IST stack.  The NMI that hands it the token must arrive on the
 * other stack.  window_begin points IST1 back.
 *
 * lockstep_nmi_to_rdtsc, lockstep_nmi_in_probe and the two numbers in window_begin count the
 * instructions between the points that are named there.  After a change of these lines they must
 * be counted again: the self-test at boot panics when a window is one instruction off.
 */
#include "../cpu/asm.h"

	.macro PUSH_REGS
	pushq %rax
	pushq %rbx
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %rbp
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	.endm

	.macro POP_REGS
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rbp
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rbx
	popq %rax
	.endm

	/* For a debugger: from here on the frame is whole, up to FRAME_KNOWN_END.  The instruction after
	 * the call belongs to it. */
	.macro FRAME_KNOWN
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_def_cfa %rsp, 176
	.cfi_offset %rsp, -16
	.cfi_offset %rip, -40
	.cfi_offset %rax, -48
	.cfi_offset %rbx, -56
	.cfi_offset %rcx, -64
	.cfi_offset %rdx, -72
	.cfi_offset %rsi, -80
	.cfi_offset %rdi, -88
	.cfi_offset %rbp, -96
	.cfi_offset %r8, -104
	.cfi_offset %r9, -112
	.cfi_offset %r10, -120
	.cfi_offset %r11, -128
	.cfi_offset %r12, -136
	.cfi_offset %r13, -144
	.cfi_offset %r14, -152
	.cfi_offset %r15, -160
	.endm
	.macro FRAME_KNOWN_END
	.cfi_endproc
	.endm

	/* The registers that a C function preserves. */
	.macro PUSH_PRESERVED
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	.endm

	.macro POP_PRESERVED
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	.endm

/* The LAPIC's registers; lockstep_icr points at the last. */
#define EOI 0xb0
#define ICR 0x300
#define ICR_HIGH 0x310
#define TIMER_INITIAL 0x380

#define FRAME_RIP 120 /* above the registers */
#define FRAME_CPU 160

	.cfi_sections .debug_frame
	.text

	/* All instructions of lockstep_nmi if it finds RIP in a record. */
	.globl lockstep_nmi_in_probe
	.set lockstep_nmi_in_probe, 50

	/* From the first instruction of lockstep_nmi up to its RDTSC, both included. */
	.globl lockstep_nmi_to_rdtsc
	.set lockstep_nmi_to_rdtsc, 21

	.globl lockstep_nmi
lockstep_nmi:
	cld
	PUSH_REGS
	movq FRAME_CPU(%rsp), %rbx
	cmpl $0, lockstep_stopped(%rip)
	jne nmi_elsewhere
	cmpl $0, CPU_WAITING(%rbx)
	jne nmi_waiting
	rdtsc
	cmpl $0, CPU_INWIN(%rbx) /* a late timer between two windows */
	je nmi_ignore
	movq FRAME_RIP(%rsp), %rcx /* in a record: probe/record.S ends the window where it is due */
	movq %rcx, %rsi
	subq $probe_code, %rcx
	cmpq $probe_code_size, %rcx
	sbbl %edi, %edi
	subq $PROBE_USER, %rsi /* or in a program's stub; the same number of instructions */
	cmpq $(2 * PROBE_SLOTS), %rsi
	sbbl %esi, %esi
	orl %esi, %edi
	jnz nmi_ignore
	movl $0, CPU_INWIN(%rbx)
	shlq $32, %rdx
	orq %rax, %rdx
	rdgsbase %rcx
	pushq %rcx
	pushq %rcx
	wrgsbase %rbx
	movq CPU_NMI_STACK_B(%rbx), %rcx
	movq CPU_IST1(%rbx), %rsi
	movq %rcx, (%rsi)
	movq %rsp, CPU_FRAME(%rbx)
	movq %rbx, %rdi
	xorl %esi, %esi /* LS_EXPIRE */
	xorl %ebp, %ebp
	FRAME_KNOWN
	call lockstep_switch /* (cpu, why, tsc): the length of the window */
window_begin:            /* RBX: cpu, RAX: length */
	movq lockstep_icr(%rip), %r8
	FRAME_KNOWN_END
	leal 15(%rax), %edi /* the timer ends at count + 1; 16 instructions follow the store */
	movq CPU_NMI_STACK_A(%rbx), %rcx
	movq CPU_IST1(%rbx), %rdx
	movq %rcx, (%rdx)
	movq CPU_TIMEREC(%rbx), %rsi
	movl $1, CPU_INWIN(%rbx)
	popq %rcx
	popq %rcx
	wrgsbase %rcx
	rdtsc
	shlq $32, %rdx
	leaq 21(%rax, %rdx), %rax /* the instructions from RDTSC to IRETQ, both included */
	movq %rax, TIMEREC_WS(%rsi)
	movl %edi, (%r8)
	POP_REGS
	iretq
nmi_ignore:
	POP_REGS
	iretq
nmi_elsewhere: /* lockstep has ended (a panic): the ordinary NMI */
	POP_REGS
	jmp nmi_entry
nmi_waiting: /* a kick: it is for this CPU only if the CPU is in the wait and holds the token */
	movq FRAME_RIP(%rsp), %rax
	cmpq $wait_begin, %rax
	jb nmi_ignore
	cmpq $wait_end, %rax
	ja nmi_ignore
	movl lockstep_token(%rip), %eax
	cmpl CPU_ID(%rbx), %eax
	jne nmi_ignore
got_token: /* drops the frame; in the NMI, further NMIs stay masked until window_begin's IRETQ */
	cli
	movl $0, CPU_WAITING(%rbx)
	movq CPU_WAIT_RSP(%rbx), %rsp
	POP_PRESERVED
	ret

/*
 * void lockstep_wait(struct cpu *c): halts the CPU until it has the token.
 * IRETQ unmasks the NMI.  Interrupts stay off: they wait until a window.
 */
	.globl lockstep_wait
lockstep_wait:
	PUSH_PRESERVED
	movq %rdi, %rbx
	movq %rsp, CPU_WAIT_RSP(%rbx)
	movq %rsp, %rax
	pushq $0x10
	pushq %rax
	pushq $2
	pushq $8
	pushq $wait_begin
	iretq
wait_begin:
	movl lockstep_token(%rip), %eax
	cmpl CPU_ID(%rbx), %eax
	je got_token
	movl $1, CPU_PARKED(%rbx)
1:	hlt
wait_end:
	jmp 1b

/* void lockstep_op(int why): ends the window by choice. */
	.globl lockstep_op
lockstep_op:
	popq %rcx
	pushfq
	popq %r8
	cli
	movl $0, %gs:CPU_INWIN /* first: from here on a timer's NMI is ignored */
	movq lockstep_icr(%rip), %rax
	movl $0, (%rax)
	rdtsc
	shlq $32, %rdx
	orq %rax, %rdx
	movq %rsp, %rax
	pushq $0x10
	pushq %rax
	pushq %r8
	pushq $8
	pushq %rcx
	PUSH_REGS
	movq %gs:CPU_SELF, %rbx
	pushq %rbx
	pushq %rbx
	movq %rsp, CPU_FRAME(%rbx)
	movl %edi, %esi
	movq %rbx, %rdi
	xorl %ebp, %ebp
	FRAME_KNOWN
	call lockstep_switch
	jmp window_begin
	FRAME_KNOWN_END

/*
 * void lockstep_send(struct cpu *to, unsigned vec): in a window.
 * With one processor only the CPU that runs has a LAPIC; for all others `irr` is enough (one.c).
 * Both ways take IPI_COST instructions, and one more if interrupts are on, because the engines are
 * to agree.  The number is what lapic_send takes; NOPs stand for what is not needed here.
 *
 * *Race:* a window ends in the middle of this function, the receiver's next window begins;
 * *without this:* the receiver takes the interrupt in one engine and not yet in the other; *closed
 * by:* BTS without a LAPIC and the store to the ICR with one, which are the same instruction by
 * count.
 */
#define IPI_COST 33
	.globl lockstep_send, lockstep_send_icr
lockstep_send:
	pushfq
	popq %r8
	cli
	movl CPU_LAPIC(%rdi), %ecx
	testl %ecx, %ecx
	js 1f
	movq lockstep_icr(%rip), %rdx
	shll $24, %ecx
	leal 0x4000(%rsi), %eax /* fixed */
	movl %ecx, ICR_HIGH - TIMER_INITIAL(%rdx)
	btsl %esi, CPU_IRR(%rdi)
lockstep_send_icr:
	movl %eax, ICR - TIMER_INITIAL(%rdx)
	.rept IPI_COST - 15
	nop
	.endr
	testl $0x200, %r8d
	jz 2f
	sti
2:	ret
1:	.rept 5
	nop
	.endr
	btsl %esi, CPU_IRR(%rdi)
	.rept IPI_COST - 15
	nop
	.endr
	testl $0x200, %r8d
	jz 2b
	sti
	ret

/* void vcpu_switch(uint64_t *save, uint64_t load) */
	.globl vcpu_switch
vcpu_switch:
	PUSH_PRESERVED
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	POP_PRESERVED
	ret

	/* A CPU's first turn.  RBX: its struct cpu. */
	.globl vcpu_first
vcpu_first:
	movq %rbx, %rdi
	call cpu_ap_main
	ud2

	/* Takes an interrupt, and does nothing. */
	.globl vcpu_irq_take
vcpu_irq_take:
	pushq %rax
	movq lockstep_icr(%rip), %rax
	movl $0, EOI - TIMER_INITIAL(%rax)
	popq %rax
	iretq
