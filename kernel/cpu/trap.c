/*
 * trap.c - the handlers of every trap, fault and interrupt except SYSCALL.
 *
 * An interrupt handler runs with interrupts off on the stack of the interrupted code.  The handler
 * of a fault in user mode runs with interrupts on and may sleep.  A fault in the kernel is a panic,
 * unless the instruction is in the table of instructions that may fault (.extable).
 */
#include <kern/cpu.h>
#include <kern/kstack.h>
#include <kern/lwp.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <kern/timer.h>
#include <kern/timing.h>
#include <kern/tlb.h>
#include <kern/trap.h>
#include <weft/errno.h>
#include "machine.h"

#define RFLAGS_IF 0x200
#define PF_FETCH 16 /* a page fault's error code: an instruction fetch */

static const char *const trap_name[] = {
	[T_DIVIDE] = "divide error",
	[T_DEBUG] = "debug exception",
	[T_NMI] = "NMI",
	[T_BREAK] = "breakpoint",
	[T_OVERFLOW] = "overflow",
	[T_BOUND] = "bound range exceeded",
	[T_ILLEGAL] = "illegal instruction",
	[T_NOFPU] = "no FPU",
	[T_DOUBLE] = "double fault",
	[T_TSS] = "invalid TSS",
	[T_SEGMENT] = "segment not present",
	[T_STACK] = "stack fault",
	[T_PROTECT] = "general protection fault",
	[T_PAGE] = "page fault",
	[T_FPU] = "x87 exception",
	[T_ALIGN] = "alignment check",
	[T_MCHECK] = "machine check",
	[T_SIMD] = "SIMD exception",
};

/* The signal of each trap, and its code; code 0: fpe_code finds it. */
static const struct {
	uint8_t sig, code;
} trap_signal[] = {
	[T_DIVIDE] = {WEFT_SIGFPE, WEFT_FPE_INTDIV},
	[T_DEBUG] = {WEFT_SIGTRAP, WEFT_TRAP_TRACE},
	[T_BREAK] = {WEFT_SIGTRAP, WEFT_TRAP_BRKPT},
	[T_OVERFLOW] = {WEFT_SIGSEGV, WEFT_SI_KERNEL},
	[T_BOUND] = {WEFT_SIGSEGV, WEFT_SI_KERNEL},
	[T_ILLEGAL] = {WEFT_SIGILL, WEFT_ILL_ILLOPC},
	[T_NOFPU] = {WEFT_SIGFPE, WEFT_FPE_FLTINV},
	[T_SEGMENT] = {WEFT_SIGBUS, WEFT_SI_KERNEL},
	[T_STACK] = {WEFT_SIGBUS, WEFT_SI_KERNEL},
	[T_PROTECT] = {WEFT_SIGSEGV, WEFT_SI_KERNEL},
	[T_FPU] = {WEFT_SIGFPE, 0},
	[T_ALIGN] = {WEFT_SIGBUS, WEFT_BUS_ADRALN},
	[T_SIMD] = {WEFT_SIGFPE, 0},
};

static inline uint64_t read_cr2(void)
{
	uint64_t v;
	__asm__ volatile("movq %%cr2, %0" : "=r"(v));
	return v;
}

uint64_t extable_find(uint64_t rip)
{
	struct entry {
		uint64_t fault, fixup;
	};
	extern const struct entry __extable_start[], __extable_end[];
	for (const struct entry *e = __extable_start; e < __extable_end; e++)
		if (e->fault == rip)
			return e->fixup;
	return 0;
}

static void NORETURN kernel_fault(struct trapframe *f, uint64_t addr)
{
	const char *name = f->vec < ARRAY_LEN(trap_name) ? trap_name[f->vec] : NULL;
	if (f->vec == T_PAGE)
		panic_at(f, "page fault in the kernel: %s of %p%s",
			 f->err & 16  ? "execution"
			 : f->err & 2 ? "write"
				      : "read",
			 (void *)addr,
			 kstack_is_guard(addr) ? ", the guard page of a kernel stack" : "");
	panic_at(f, "%s in the kernel (trap %lu, error %#lx)", name ? name : "unknown trap", f->vec,
		 f->err);
}

/*
 * The signal code for the unmasked floating-point exception that was raised.  The flags of both
 * units are in the same order.  So are the masks, which are 7 bits higher than the flags in MXCSR.
 */
static int fpe_code(uint64_t vec)
{
	static const uint8_t code[] = {WEFT_FPE_FLTINV, WEFT_FPE_FLTINV, WEFT_FPE_FLTDIV,
				       WEFT_FPE_FLTOVF, WEFT_FPE_FLTUND, WEFT_FPE_FLTRES};
	uint32_t mxcsr, raised;
	uint16_t fcw, fsw;

	if (vec == T_SIMD) {
		__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
		raised = mxcsr & ~(mxcsr >> 7);
	} else {
		__asm__ volatile("fnstcw %0\n\tfnstsw %1" : "=m"(fcw), "=m"(fsw));
		raised = fsw & ~fcw;
	}
	for (unsigned i = 0; i < ARRAY_LEN(code); i++)
		if (raised & 1u << i)
			return code[i];
	return WEFT_FPE_FLTINV;
}

/* A fault that ends in a signal.  err: the error of page_fault. */
static void fault_signal(struct trapframe *f, uint64_t addr, int err)
{
	struct weft_siginfo info = {.signo = WEFT_SIGILL, .code = WEFT_SI_KERNEL, .addr = addr};

	if (f->vec == T_PAGE) {
		info.signo = err == -EINVAL ? WEFT_SIGBUS : WEFT_SIGSEGV;
		info.code = err == -EINVAL   ? WEFT_BUS_ADRERR
			    : err == -EACCES ? WEFT_SEGV_ACCERR
					     : WEFT_SEGV_MAPERR;
	} else if (f->vec < ARRAY_LEN(trap_signal) && trap_signal[f->vec].sig != 0) {
		info.signo = trap_signal[f->vec].sig;
		info.code = trap_signal[f->vec].code;
		if (info.signo == WEFT_SIGFPE && info.code == 0)
			info.code = fpe_code(f->vec);
		/* The CPU does not report the address. */
		if (f->vec == T_PROTECT || f->vec == T_STACK)
			info.addr = 0;
	}
	sig_fault(f, addr, &info);
}

static void user_trap(struct trapframe *f)
{
	struct lwp *l = curlwp();
	PROBE(trap, "vector error rip", f->vec, f->err, f->rip);
	uint64_t addr = f->vec == T_PAGE ? read_cr2() : f->rip;
	PROBE(trap_address, "address", addr, 0, 0);

	lwp_mstate_move(l, MS_USER,
			f->vec != T_PAGE    ? MS_TRAP
			: f->err & PF_FETCH ? MS_TFAULT
					    : MS_DFAULT,
			time_now());
	irq_restore(RFLAGS_IF);
	if (f->vec == T_PAGE) {
		int err = page_fault(f, addr);
		if (err == -ENOMEM)
			proc_out_of_memory(addr);
		else if (err != 0)
			fault_signal(f, addr, err);
	} else {
		fault_signal(f, addr, 0);
	}
	irq_save();
	PROBE(trap_end, "", 0, 0, 0);
	assert(this_cpu()->nlocks == 0);
	lwp_mstate_at(l, MS_USER, time_now());
}

static void kernel_trap(struct trapframe *f)
{
	uint64_t addr = f->vec == T_PAGE ? read_cr2() : 0;
	uint64_t fixup = extable_find(f->rip);

	/* A failed IRET, or a backtrace that reads a broken stack. */
	if (fixup != 0 && (f->vec != T_PAGE || this_cpu()->in_panic)) {
		f->rip = fixup;
		return;
	}
	/* A single access to user memory under a spin lock: it fails if the page is missing. */
	if (fixup != 0 && !(f->rflags & RFLAGS_IF) && addr < WEFT_USER_END) {
		f->rip = fixup;
		return;
	}
	/* A user copy, which may sleep for its page. */
	if (fixup != 0 && f->rflags & RFLAGS_IF) {
		struct lwp *l = curlwp();
		uint32_t before = l->mstate;
		PROBE(kfault, "address", addr, 0, 0);
		lwp_mstate_at(l, MS_KFAULT, time_now());
		irq_restore(RFLAGS_IF);
		int err = page_fault(f, addr);
		irq_save();
		PROBE(kfault_end, "", 0, 0, 0);
		lwp_mstate_at(l, before, time_now());
		if (err == 0)
			return;
	}
	if (probe_fault(f))
		return;
	kernel_fault(f, addr);
}

static void trap_interrupt(struct trapframe *f)
{
	struct cpu *c = this_cpu();
	c->nirq++;
	PROBE(interrupt, "vector rip", f->vec, f->rip, 0);
	switch (f->vec) {
	case VEC_TIMER:
		lapic_eoi();
		timer_interrupt();
		break;
	case VEC_RESCHED:
		lapic_eoi();
		resched_interrupt();
		break;
	case VEC_TLB:
		lapic_eoi();
		c->nipi++;
		tlb_interrupt();
		break;
	case VEC_RECLAIM:
		lapic_eoi();
		c->nipi++;
		reclaim_interrupt();
		break;
	case VEC_EXTERNAL ... VEC_EXTERNAL + 23:
		/* The handler first: a level-triggered line must fall before the EOI. */
		irq_interrupt(f->vec - VEC_EXTERNAL);
		lapic_eoi();
		break;
	default:
		/* Spurious interrupts, of the LAPIC or the masked legacy controller.  They set no
		 * in-service bit and need no EOI. */
		break;
	}
	PROBE(interrupt_end, "", 0, 0, 0);
}

void trap(struct trapframe *f)
{
	if (f->vec >= 32)
		trap_interrupt(f);
	else if (frame_is_user(f))
		user_trap(f);
	else
		kernel_trap(f);
}

/*
 * NMI, double fault, machine check.  The interrupted code may be anywhere, also
 * at a point where its RSP is the user's.  Only the NMI may return.
 */
void trap_anywhere(struct trapframe *f)
{
	switch (f->vec) {
	case T_NMI:
		stop_nmi(f);
		break;
	case T_DOUBLE:
		if (kstack_is_guard(read_cr2()))
			panic_at(f, "kernel stack overflow: %p is in its guard page",
				 (void *)read_cr2());
		panic_at(f, "double fault (last page fault at %p)", (void *)read_cr2());
	default:
		panic_at(f, "machine check");
	}
}
