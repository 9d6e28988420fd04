/* machine.h - the declarations that the files of cpu/ and boot/ share. */
#pragma once
#include <kern/cpu.h>
#include <kern/trap.h>
#include <kern/types.h>
#include <kern/timing.h>

/* cpu.c: EAX, EBX, ECX, EDX of a leaf (sub-leaf 0). */
void cpuid(uint32_t leaf, uint32_t out[4]);
/* A new struct cpu with its stacks, entered as cpus[id].  Panics if there is no memory. */
struct cpu *cpu_alloc(unsigned id);
void cpu_ap_main(struct cpu *c) NORETURN;
/* With one processor: makes it CPU c, except for the registers that belong to an LWP. */
void cpu_take_over(struct cpu *c);
/* Takes all pending interrupts of vectors VEC_TIMER to VEC_LAST, by a handler that does nothing. */
void cpu_take_interrupts(void (*handler)(void));
/* Sets the entry point of every CPU's NMI. */
void cpu_set_nmi_entry(void (*entry)(void));
/* Lets programs enter the kernel by the instruction INT with this vector, interrupts off. */
void cpu_set_user_entry(unsigned vec, void (*entry)(void));
/* entry.S: leaves the current stack for ever. */
void cpu_call_on_stack(void *top, void (*fn)(void)) NORETURN;

/* trap.c: handles the NMI, double faults and machine checks, on their own stacks. */
void trap_anywhere(struct trapframe *f);

/* lapic.c */
void lapic_init_cpu(void); /* the first caller decides between xAPIC and x2APIC */
uint32_t lapic_id(void);
void lapic_send_init(uint32_t apic_id);
void lapic_send_startup(uint32_t apic_id, paddr_t entry); /* a page below 1 MiB */
/* 32 vectors from 32 * word: those that are pending; those whose handler has not ended. */
uint32_t lapic_pending(unsigned word);
uint32_t lapic_in_service(unsigned word);
/* For calibration: starts counting down from the highest value; reads what is left. */
void lapic_timer_start(void);
uint32_t lapic_timer_left(void);
void lapic_timer_set_hz(uint64_t hz); /* counts a second */

/* Exact timing: this CPU's timer ends windows by an NMI from now on; 0 counts stop it. */
void lapic_timer_nmi(void);
/* The register that arms it, for lockstep.S. */
volatile uint32_t *lapic_timer_register(void);

/* Exact timing: virtual time stands still at this value during the boot, and begins here. */
#define LOCKSTEP_BEGIN 1000000000ull
/* lockstep.c: replaces fast timing.  Call it before lapic_init_cpu. */
void lockstep_init(void);
/* How many CPUs one processor runs in turn; 0: each CPU is a processor. */
unsigned lockstep_cpus(void);
/* With one processor, in place of smp.c's functions: makes cpus[] and ncpu; runs cpu_ap_main on each
 * CPU, up to timing->start_cpu. */
void lockstep_alloc_cpus(void);
void lockstep_start_cpus(void);
/* For a report: where a CPU that does not have the token was interrupted; NULL: fast timing, or no
 * window has ended there.  The frame has RIP, CS, RFLAGS, RSP, SS and RBP. */
const struct trapframe *lockstep_stopped_at(unsigned id);
/* With one processor, for a report: gives the LWPs on the other CPUs their thread pointers. */
void lockstep_keep_fsbase(void);
/* Ends exact timing, for a panic.  NMIs then have their ordinary meaning. */
void lockstep_stop(void);

/* acpi.c: the MADT, reduced to what weft uses. */
#define ACPI_MAX_IOAPIC 8
struct acpi_madt {
	unsigned ncpu; /* enabled CPUs; CPUs beyond WEFT_MAXCPU are left out */
	uint32_t apic_id[WEFT_MAXCPU];
	unsigned nioapic;
	struct {
		paddr_t base;
		uint32_t gsi_base; /* its first global interrupt */
	} ioapic[ACPI_MAX_IOAPIC];
	struct {
		uint32_t gsi;
		bool low, level; /* active low, level-triggered */
	} isa[16];
};

/* smp.c: makes the struct cpu of each CPU of m except the boot CPU, and counts it in ncpu. */
void cpu_find_others(const struct acpi_madt *m);

/* ioapic.c: masks all pins. */
void ioapic_init(const struct acpi_madt *m);
void irq_interrupt(unsigned pin); /* the interrupt VEC_EXTERNAL + pin has arrived */

/* panic.c: as panic, with the backtrace of the interrupted code. */
void panic_at(const struct trapframe *f, const char *fmt, ...) NORETURN PRINTF_LIKE(2, 3);
/* Stops all other CPUs, for good.  Interrupts off. */
void stop_others(void);
/* Handles an NMI.  If stop_others has sent it, stops this CPU.  If the host has sent it, ends the
 * machine (time_limit).  Returns only if this CPU stops the others already. */
void stop_nmi(const struct trapframe *f);
/* The host's time limit for this run has passed: prints what runs and what waits, and ends QEMU.
 * Called on any CPU, in an NMI.  f: the frame of the interrupted code, or NULL. */
void time_limit(const struct trapframe *f) NORETURN;

/* backtrace.c: prints one line for each call.  It starts from a frame pointer and an instruction:
 * the instruction that was interrupted, or (is_return) the instruction after a call. */
void backtrace(uint64_t rip, uint64_t rbp, bool is_return);
