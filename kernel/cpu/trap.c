/*
 * trap.c - every trap, fault and interrupt but SYSCALL: who handles it.
 *
 * A handler of interrupts runs with interrupts off on the stack of whatever was
 * interrupted; a fault of user mode runs with interrupts on and may sleep.  What
 * goes wrong in the kernel itself is a panic, unless the instruction is in the
 * table of those that may fault (.extable).
 */
#include <kern/cpu.h>
#include <kern/lwp.h>
#include <kern/mm.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/timer.h>
#include <kern/timing.h>
#include <kern/trap.h>
#include <weft/errno.h>
#include <weft/signal.h>
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

static const uint8_t trap_signal[] = {
	[T_DIVIDE] = WEFT_SIGFPE,    [T_DEBUG] = WEFT_SIGTRAP,  [T_BREAK] = WEFT_SIGTRAP,
	[T_OVERFLOW] = WEFT_SIGSEGV, [T_BOUND] = WEFT_SIGSEGV,  [T_ILLEGAL] = WEFT_SIGILL,
	[T_NOFPU] = WEFT_SIGFPE,     [T_SEGMENT] = WEFT_SIGBUS, [T_STACK] = WEFT_SIGBUS,
	[T_PROTECT] = WEFT_SIGSEGV,  [T_FPU] = WEFT_SIGFPE,     [T_ALIGN] = WEFT_SIGBUS,
	[T_SIMD] = WEFT_SIGFPE,
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

static void user_trap(struct trapframe *f)
{
	struct lwp *l = curlwp();
	uint64_t addr = f->vec == T_PAGE ? read_cr2() : f->rip;

	lwp_mstate_enter(l,
			 f->vec != T_PAGE    ? MS_TRAP
			 : f->err & PF_FETCH ? MS_TFAULT
					     : MS_DFAULT,
			 time_now_here());
	irq_restore(RFLAGS_IF);
	if (f->vec == T_PAGE) {
		int err = page_fault(f, addr);
		if (err != 0)
			user_fault(f, addr, err == -ENOMEM ? WEFT_SIGBUS : WEFT_SIGSEGV);
	} else {
		int sig = f->vec < ARRAY_LEN(trap_signal) ? trap_signal[f->vec] : 0;
		user_fault(f, addr, sig ? sig : WEFT_SIGILL);
	}
	irq_save();
	assert(this_cpu()->nlocks == 0);
	lwp_mstate_at(l, MS_USER, time_now_here());
}

static void kernel_trap(struct trapframe *f)
{
	uint64_t addr = f->vec == T_PAGE ? read_cr2() : 0;
	uint64_t fixup = extable_find(f->rip);

	/* A failed IRET, or a backtrace that looks at a broken stack. */
	if (fixup != 0 && (f->vec != T_PAGE || this_cpu()->in_panic)) {
		f->rip = fixup;
		return;
	}
	/* A single access under a spin lock, which does without the page. */
	if (fixup != 0 && !(f->rflags & RFLAGS_IF) && addr < WEFT_USER_END) {
		f->rip = fixup;
		return;
	}
	/* A user copy, which may sleep for its page. */
	if (fixup != 0 && f->rflags & RFLAGS_IF) {
		struct lwp *l = curlwp();
		uint32_t before = l->mstate;
		lwp_mstate_at(l, MS_KFAULT, time_now_here());
		irq_restore(RFLAGS_IF);
		int err = page_fault(f, addr);
		irq_save();
		lwp_mstate_at(l, before, time_now_here());
		if (err == 0)
			return;
	}
	kernel_fault(f, addr);
}

static void interrupt(struct trapframe *f)
{
	struct cpu *c = this_cpu();
	c->nirq++;
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
	case VEC_EXTERNAL ... VEC_EXTERNAL + 23:
		/* The handler first: a level-triggered line must fall before. */
		irq_interrupt(f->vec - VEC_EXTERNAL);
		lapic_eoi();
		break;
	default:
		/* Spurious ones, of the LAPIC or the masked legacy controller:
		 * they set no bit in service and want no answer. */
		break;
	}
}

void trap(struct trapframe *f)
{
	if (f->vec >= 32)
		interrupt(f);
	else if (frame_is_user(f))
		user_trap(f);
	else
		kernel_trap(f);
}

/*
 * NMI, double fault, machine check.  The interrupted code may be anywhere, also
 * at a point where its RSP is the user's; only the first may return.
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
