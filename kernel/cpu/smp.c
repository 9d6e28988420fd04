/*
 * smp.c - the other CPUs: makes their struct cpu, and starts them one after another.
 *
 * Runs on CPU 0 while the kernel starts.  A started CPU runs trampoline.S and cpu_ap_main, which sets
 * its `online`.  Until then it owns ap_start.
 */
#include <kern/boot.h>
#include <kern/layout.h>
#include <kern/lwp.h>
#include <kern/printk.h>
#include "asm.h"
#include "machine.h"

/* The values that trampoline.S loads on a CPU that starts. */
struct {
	uint64_t cr3, stack;
	struct cpu *cpu;
	bool runs; /* written by trampoline.S: the IPI has arrived */
} ap_start;

extern const char ap_trampoline[], ap_trampoline_end[]; /* trampoline.S */

/* A CPU that has not started after this time is left out. */
#define START_TIMEOUT_NS 5000000000ull
/*
 * The start-up IPI is lost if it overtakes the INIT.  So it is sent again in this interval until the CPU
 * runs.  A CPU that runs ignores the IPI.  But QEMU counts the IPI as the instruction of a debugger's step,
 * so that a breakpoint from which GDB goes on would hit twice.
 */
#define RETRY_NS 10000000ull

void cpu_find_others(const struct acpi_madt *m)
{
	for (unsigned i = 0; i < m->ncpu; i++)
		if (m->apic_id[i] != cpus[0]->apic_id && ncpu < WEFT_MAXCPU) {
			struct cpu *c = cpu_alloc(ncpu);
			c->apic_id = c->lapic = m->apic_id[i];
			ncpu++;
		}
}

static bool cpu_start(struct cpu *c)
{
	ap_start.cpu = c;
	ap_start.stack = (uint64_t)c->idle->kstack;
	__atomic_store_n(&ap_start.runs, false, __ATOMIC_RELAXED);
	lapic_send_init(c->apic_id);
	hrtime_t begin = timing_boot_time(), retry = begin;
	while (!__atomic_load_n(&c->online, __ATOMIC_ACQUIRE)) {
		hrtime_t now = timing_boot_time();
		if (now - begin > START_TIMEOUT_NS)
			return false;
		if (now >= retry && !__atomic_load_n(&ap_start.runs, __ATOMIC_RELAXED)) {
			lapic_send_startup(c->apic_id, AP_TRAMPOLINE);
			retry = now + RETRY_NS;
		}
		cpu_pause();
	}
	return true;
}

void cpu_start_others(void)
{
	memcpy(phys_to_virt(AP_TRAMPOLINE), ap_trampoline, ap_trampoline_end - ap_trampoline);
	__asm__ volatile("movq %%cr3, %0" : "=r"(ap_start.cr3));

	unsigned started = 1;
	for (unsigned i = 1; i < ncpu; i++) {
		/* CPU numbers have no gaps.  If a CPU does not start, the next CPU gets the struct
		 * cpu that was prepared for it. */
		struct cpu *c = cpus[started];
		c->apic_id = c->lapic = cpus[i]->apic_id;
		if (cpu_start(c)) {
			started++;
		} else {
			lapic_send_init(c->apic_id); /* it must not start later */
			printk("weft: the CPU with APIC id %u does not start\n", c->apic_id);
		}
	}
	for (unsigned i = started; i < ncpu; i++)
		cpus[i] = NULL;
	ncpu = started;
}
