/* machine.h - what the files of cpu/ and boot/ share among themselves. */
#pragma once
#include <kern/cpu.h>
#include <kern/trap.h>
#include <kern/types.h>
#include <kern/timing.h>

/* cpu.c: EAX, EBX, ECX, EDX of a leaf (sub-leaf 0). */
void cpuid(uint32_t leaf, uint32_t out[4]);
/* A struct cpu with its stacks, entered as cpus[id]; panics without memory. */
struct cpu *cpu_alloc(unsigned id);
void cpu_ap_main(struct cpu *c) NORETURN;
/* Where every CPU's NMI goes from now on. */
void cpu_set_nmi_entry(void (*entry)(void));
/* entry.S: leaves the current stack for ever. */
void cpu_call_on_stack(void *top, void (*fn)(void)) NORETURN;

/* trap.c: the NMI, double faults, machine checks; on their own stacks. */
void trap_anywhere(struct trapframe *f);

/* lapic.c */
void lapic_init_cpu(void); /* the first caller decides between xAPIC and x2APIC */
uint32_t lapic_id(void);
void lapic_send_init(uint32_t apic_id);
void lapic_send_startup(uint32_t apic_id, paddr_t entry); /* a page below 1 MiB */
/* For calibration: starts counting down from the highest value; what is left. */
void lapic_timer_start(void);
uint32_t lapic_timer_left(void);
void lapic_timer_set_hz(uint64_t hz); /* counts a second */

/* Exact timing: this CPU's timer ends windows by an NMI from now on; 0 counts stop it. */
void lapic_timer_nmi(void);
/* The register that arms it, for lockstep.S. */
volatile uint32_t *lapic_timer_register(void);

/* Virtual time of exact timing begins here, and stands at it during the boot. */
#define LOCKSTEP_BEGIN 1000000000ull
/* lockstep.c: takes the place of fast timing; before lapic_init_cpu. */
void lockstep_init(void);
/* Ends exact timing: NMIs mean what they mean otherwise.  For a panic. */
void lockstep_stop(void);

/* acpi.c: the MADT, reduced to what weft uses. */
#define ACPI_MAX_IOAPIC 8
struct acpi_madt {
	unsigned ncpu; /* enabled CPUs; those beyond WEFT_MAXCPU are left out */
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
/* Without usable tables: no CPU, no IOAPIC, ISA interrupts one to one; false. */
bool acpi_read_madt(struct acpi_madt *m);

/* ioapic.c: masks all pins. */
void ioapic_init(const struct acpi_madt *m);
void irq_interrupt(unsigned pin); /* VEC_EXTERNAL + pin has come */

/* panic.c: as panic, with the backtrace of what was interrupted. */
void panic_at(const struct trapframe *f, const char *fmt, ...) NORETURN PRINTF_LIKE(2, 3);
/* Stops all other CPUs, for good.  Interrupts off. */
void stop_others(void);
/* An NMI: that of stop_others, or of the host, which ends the machine (time_limit); does not return then. */
void stop_nmi(const struct trapframe *f);
/* The host's time limit for this run has passed: prints what runs and what waits, and ends QEMU.  On any CPU, in an
 * NMI; f: what it has interrupted, or NULL. */
void time_limit(const struct trapframe *f) NORETURN;

/* backtrace.c: prints one line a call, from a frame pointer and an instruction, the
 * one that was interrupted or (is_return) the one after a call. */
void backtrace(uint64_t rip, uint64_t rbp, bool is_return);
