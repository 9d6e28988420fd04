/*
 * cpu.h - one struct cpu for each CPU, found through GS, and the machine operations.
 *
 * In kernel mode GS always holds the CPU's struct cpu.  The kernel is not
 * preempted in kernel mode: between two points where it may sleep, this_cpu()
 * stays the same.
 */
#pragma once
#include <weft/abi.h>
#include <weft/time.h>
#include "types.h"

struct lwp;
struct spinlock;
struct address_space;

struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	/* ist[0]: IST1, NMI; ist[1]: IST2, double fault; ist[2]: IST3, machine check. */
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3, iomap;
} __attribute__((packed));

struct cpu {
	/* Known to cpu/entry.S by offset (checked by static assertions in cpu.c). */
	struct cpu *self;               /* 0 */
	uint64_t user_rsp;              /* 8: scratch of the SYSCALL entry */
	struct lwp *lwp;                /* 16: the LWP on this CPU; if none, the idle LWP */
	volatile uint32_t need_resched; /* 24: set to make user_return_work run */
	uint32_t id;                    /* 28 */
	/* Exact timing (timing/lockstep.S, lockstep.c). */
	volatile uint32_t waiting; /* 32: has passed the token on, and not received it again */
	volatile uint32_t parked;  /* 36: has reached the HLT of its wait */
	uint64_t wait_rsp;         /* 40: its stack pointer in the wait */
	uint64_t nmi_stack[2];     /* 48, 56: tops of the two stacks that NMIs use in turn */
	volatile uint64_t *ist1;   /* 64: &tss.ist[0]: the top of the stack for the next NMI */
	struct timerec *timerec;   /* 72: this CPU's record in the time page */
	volatile uint32_t inwin;   /* 80: in a window */
	struct tss tss; /* 84; its rsp[0], at 88, is where SYSCALL starts its stack too */

	/* Known to timing/lockstep.S too. */
	int32_t lapic;                 /* 188: where its interrupts go, or LAPIC_NOBODY */
	void *frame;                   /* 192: where its last window ended (exact timing) */
	volatile uint32_t irr[8];      /* 200: bit n of all: vector n waits for it (exact timing) */
	struct probe_ring *probe_ring; /* 232: of this CPU's records (probe/record.S), or NULL */
	uint64_t probe_ran;            /* 240: see probe/probe.c */
	bool irr_sent;                 /* its LAPIC may hold an interrupt (exact timing) */

	uint32_t apic_id;
	volatile bool online;
	bool in_panic;
	uint32_t nlocks;          /* spin locks held, for assertions */
	uint32_t holds;           /* id + 1: the holder of a spin lock while this CPU has it */
	uint32_t nobody;          /* the holder of a free, plain lock; SPIN_NEVER: none is plain */
	struct lwp *idle;         /* this CPU's idle LWP */
	struct address_space *as; /* address space in CR3 (mm/) */

	struct dispq *dispq;      /* sched/disp.c */
	volatile int active_set;  /* the set from which it runs unbound LWPs, or none (disp.h) */
	int pset;                 /* the set that it is a member of; cpu_lock */
	bool offline;             /* set by p_online; cpu_lock */
	struct timerq *timerq;    /* sched/timer.c */
	hrtime_t timer;           /* the time that the hardware timer is set to; own CPU only */
	struct page_cache *pages; /* mm/page.c: this CPU's free pages */
	struct tlb_cpu *tlb;      /* mm/tlb.c */

	uint64_t nipi, nirq, nswitch, nsteal;
	uint64_t leaves; /* nswitch when its last slice ended with an LWP to take (cpu_balance) */
	hrtime_t idle_ns;
	uint64_t gdt[8];
} CACHE_ALIGNED;

#define LAPIC_NOBODY (-1)

/* cpus[0..ncpu): CPU 0 is the boot CPU; ncpu counts the CPUs in the MADT that started. */
extern struct cpu *cpus[WEFT_MAXCPU];
extern unsigned ncpu;

/* This CPU's structure, for access to a single member: an operand, not a pointer. */
#define cpu_here ((struct cpu __seg_gs *)0)

static inline struct cpu *this_cpu(void)
{
	return cpu_here->self;
}
static inline struct lwp *curlwp(void)
{
	return cpu_here->lwp;
}

/*
 * For spin loops.  A PAUSE costs the emulator several times a plain instruction.
 * It ends the vCPU's slice, so the host CPU can run the vCPU that we wait for.
 */
static inline void cpu_pause(void)
{
	__asm__ volatile("pause" ::: "memory");
}

static inline uint64_t rdmsr(uint32_t m)
{
	uint32_t a, d;
	__asm__ volatile("rdmsr" : "=a"(a), "=d"(d) : "c"(m));
	return (uint64_t)d << 32 | a;
}
static inline void wrmsr(uint32_t m, uint64_t v)
{
	__asm__ volatile("wrmsr" ::"c"(m), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)) : "memory");
}
static inline uint64_t rdtsc(void)
{
	uint64_t a, d; /* the upper halves become 0 */
	__asm__ volatile("rdtsc" : "=a"(a), "=d"(d)::"memory");
	return d << 32 | a;
}
static inline void outb(uint16_t p, uint8_t v)
{
	__asm__ volatile("outb %0,%1" ::"a"(v), "Nd"(p));
}
static inline uint8_t inb(uint16_t p)
{
	uint8_t v;
	__asm__ volatile("inb %1,%0" : "=a"(v) : "Nd"(p));
	return v;
}

/* cpu/lapic.c.  Sends a vector, or an NMI, to one CPU.  A CPU that may be idle needs
 * timing->ipi instead of lapic_ipi.  Any context. */
void lapic_ipi(struct cpu *to, unsigned vec);
void lapic_nmi(struct cpu *to);
void lapic_eoi(void);
/* Arms this CPU's one-shot timer (VEC_TIMER) `ns` nanoseconds ahead; 0 stops it. */
void lapic_timer(uint64_t ns);

/* In boot order; kmain calls them on the boot CPU, and cpu_init_ap on each other CPU. */
void cpu_init_early(void);   /* GDT, IDT, TSS, GS, SYSCALL of CPU 0; needs no memory */
void cpu_init_acpi(void);    /* MADT: cpus[], ncpu, IOAPIC; needs page allocator */
void cpu_start_others(void); /* INIT-SIPI-SIPI, one by one; returns when all are online */
/* The last function that a started CPU enters, on its idle LWP's stack (sched/). */
void sched_cpu_main(void) NORETURN;

/* cpu/exit.c: ends QEMU by the debug-exit device, or halts for ever.  With the word `stay' on the command line, a
 * machine that does not end well stands still, for the host tool.  machine_init comes first of all. */
void machine_init(void);
void machine_exit(int qemu_value) NORETURN;
void machine_reset(void) NORETURN;
/* The orderly end: reports `status` to the host tool on the console, then machine_exit. */
void machine_halt(int status) NORETURN;
/* As machine_halt, except that QEMU goes on, and keeps the caller's address space on this CPU,
 * for the host tool.  The host tool ends QEMU. */
void machine_hold(int status) NORETURN;
/* As machine_halt, except that the machine stands still, and the host tool reads its memory.  False:
 * the host tool does not want it. */
bool machine_fail(int status);
