/*
 * trap.h - the frame that every entry into the kernel builds, and its handlers.
 */
#pragma once
#include "types.h"

/* Built by cpu/entry.S on the kernel stack; the last five by the CPU itself. */
struct trapframe {
	uint64_t r15, r14, r13, r12, rbx;
	uint64_t rbp, r11, rcx;
	union {
		struct {
			uint64_t rdi, rsi, rdx, r10, r8, r9;
		};
		uint64_t arg[6]; /* of a system call */
	};
	uint64_t rax;
	uint64_t vec, err;
	uint64_t rip, cs, rflags, rsp, ss;
};

#define TRAP_SYSCALL 0x100 /* vec of a frame made by SYSCALL; err is the call's number */
#define TRAP_NONE 0x101    /* vec of a frame that no entry has made, or that was rewritten */

static inline bool frame_is_user(const struct trapframe *f)
{
	return f->cs & 3;
}

/* Selectors.  The user's are in the order that SYSRET needs: 32-bit code, data, 64-bit code. */
#define SEL_KCODE 0x08
#define SEL_KDATA 0x10
#define SEL_UDATA 0x23
#define SEL_UCODE 0x2b
#define SEL_TSS 0x30

enum {
	T_DIVIDE = 0,
	T_DEBUG = 1,
	T_NMI = 2,
	T_BREAK = 3,
	T_OVERFLOW = 4,
	T_BOUND = 5,
	T_ILLEGAL = 6,
	T_NOFPU = 7,
	T_DOUBLE = 8,
	T_TSS = 10,
	T_SEGMENT = 11,
	T_STACK = 12,
	T_PROTECT = 13,
	T_PAGE = 14,
	T_FPU = 16,
	T_ALIGN = 17,
	T_MCHECK = 18,
	T_SIMD = 19,
};

/* Interrupt vectors. */
enum {
	VEC_EXTERNAL = 0x30, /* IOAPIC pin n arrives as VEC_EXTERNAL + n, 0 to 23 */
	VEC_TIMER = 0x60,    /* this CPU's LAPIC timer */
	VEC_RESCHED = 0x61,  /* look at the dispatch queue; sent by timing_kick */
	VEC_TLB = 0x62,      /* TLB shoot-down */
	VEC_RECLAIM = 0x63,  /* memory is short; sent by mm_reclaim */
	VEC_LAST = VEC_RECLAIM,
	VEC_SPURIOUS = 0xff,
};

/* cpu/trap.c: handles every trap, fault and interrupt except SYSCALL; interrupts off. */
void trap(struct trapframe *f);
/* The address to continue at after a fault of the instruction at rip (.extable), or 0. */
uint64_t extable_find(uint64_t rip);

/*
 * Registers the handler of an IOAPIC pin (ISA interrupts after the MADT's
 * overrides) and unmasks the pin.  Its interrupts go to the boot CPU.  The handler runs with
 * interrupts off; it may wake LWPs, and never sleeps.
 */
void irq_register(unsigned isa_irq, void (*handler)(void));

/*
 * syscall/syscall.c: carries out the frame's call and sets RAX.  Entered with
 * interrupts off, turns them on around the call, returns with them off.
 */
void syscall_dispatch(struct trapframe *f);

/*
 * sched/: called with interrupts off on the way out to user mode, when the CPU's
 * need_resched or the LWP's ast is set.  Returns with interrupts off and both clear.
 * May switch to other LWPs, and does not return if the LWP exits.
 */
void user_return_work(struct trapframe *f);
