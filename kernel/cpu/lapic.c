/*
 * lapic.c - the local interrupt controller of each CPU: inter-processor
 * interrupts and the CPU's timer.
 *
 * The registers are model-specific registers where the CPU has the x2APIC, and otherwise memory.
 * All CPUs use the same kind.  Each function works on the calling CPU's own controller, so there is
 * no lock.  An interrupt command takes two stores to memory, so interrupts are off around it.
 */
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/printk.h>
#include <kern/spinlock.h>
#include <kern/trap.h>
#include "machine.h"

#define MSR_APIC_BASE 0x1b
#define APIC_BASE_X2 0x400
#define APIC_BASE_ENABLE 0x800
#define MSR_X2APIC 0x800 /* register r is this plus r / 16 */

enum { /* registers, by their offset in memory */
       ID = 0x20,
       TPR = 0x80,
       EOI = 0xb0,
       SPURIOUS = 0xf0,
       IN_SERVICE = 0x100, /* 8 words, 0x10 apart */
       REQUEST = 0x200,
       ICR = 0x300,
       ICR_HIGH = 0x310,
       LVT_TIMER = 0x320,
       LVT_LINT0 = 0x350,
       LVT_LINT1 = 0x360,
       LVT_ERROR = 0x370,
       TIMER_INITIAL = 0x380,
       TIMER_CURRENT = 0x390,
       TIMER_DIVIDE = 0x3e0,
};

#define LVT_MASKED 0x10000
#define LVT_NMI 0x400
#define SPURIOUS_ENABLE 0x100
#define DIVIDE_BY_1 0xb
#define ICR_PENDING 0x1000
#define ICR_NMI 0x4400
#define ICR_INIT 0x4500
#define ICR_STARTUP 0x4600
#define ICR_FIXED 0x4000

static bool x2apic;
static volatile uint32_t *memory; /* NULL: not set up yet, or x2APIC */
static uint64_t timer_mult;       /* counts a nanosecond, 32.32 fixed point */

static void lapic_write(unsigned reg, uint32_t v)
{
	if (x2apic)
		wrmsr(MSR_X2APIC + reg / 16, v);
	else
		memory[reg / 4] = v;
}

static uint32_t lapic_read(unsigned reg)
{
	return x2apic ? rdmsr(MSR_X2APIC + reg / 16) : memory[reg / 4];
}

void lapic_init_cpu(void)
{
	uint64_t base = rdmsr(MSR_APIC_BASE) | APIC_BASE_ENABLE;
	if (this_cpu()->id == 0) {
		uint32_t r[4];
		cpuid(1, r);
		/* Exact timing arms the timer with one store whose cost it knows. */
		x2apic = r[2] & 1u << 21 && timing->ipi == lapic_ipi;
		memory = phys_to_virt(base & 0xffffff000);
	}
	wrmsr(MSR_APIC_BASE, x2apic ? base | APIC_BASE_X2 : base);

	lapic_write(SPURIOUS, SPURIOUS_ENABLE | VEC_SPURIOUS);
	lapic_write(LVT_LINT0, LVT_MASKED); /* the legacy controller */
	lapic_write(LVT_LINT1, LVT_NMI);
	lapic_write(LVT_ERROR, LVT_MASKED);
	lapic_write(TIMER_DIVIDE, DIVIDE_BY_1);
	lapic_write(LVT_TIMER, VEC_TIMER); /* one-shot */
	lapic_write(TIMER_INITIAL, 0);
	/* This comes last.  The legacy controller may have interrupted the CPU before LINT0 was
	 * masked.  QEMU forgets that only when it looks at priorities again.  Without this write
	 * the first STI takes an interrupt that has no vector. */
	lapic_write(TPR, 0);
}

uint32_t lapic_id(void)
{
	return x2apic ? lapic_read(ID) : lapic_read(ID) >> 24;
}

void lapic_eoi(void)
{
	lapic_write(EOI, 0);
}

/*
 * *Race:* this CPU has written ICR_HIGH and not yet ICR, the NMI that ends a window (exact timing)
 * sends an interrupt of its own; *without this:* the first interrupt goes to a wrong CPU; *closed
 * by:* this function, which is what the NMI calls, restores ICR_HIGH.
 */
static void lapic_send(uint32_t apic_id, uint32_t command)
{
	irqstate_t s = irq_save();
	if (x2apic) {
		/* A write to this register, unlike a write to memory, does not wait until earlier
		 * stores are visible.  The receiver must see them. */
		__asm__ volatile("mfence; lfence" ::: "memory");
		wrmsr(MSR_X2APIC + ICR / 16, (uint64_t)apic_id << 32 | command);
	} else {
		while (lapic_read(ICR) & ICR_PENDING)
			cpu_pause();
		uint32_t interrupted = lapic_read(ICR_HIGH);
		lapic_write(ICR_HIGH, apic_id << 24);
		lapic_write(ICR, command);
		lapic_write(ICR_HIGH, interrupted);
	}
	irq_restore(s);
}

void lapic_ipi(struct cpu *to, unsigned vec)
{
	lapic_send(to->lapic, ICR_FIXED | vec);
}

void lapic_nmi(struct cpu *to)
{
	lapic_send(to->lapic, ICR_NMI);
}

void lapic_send_init(uint32_t apic_id)
{
	lapic_send(apic_id, ICR_INIT);
}

void lapic_send_startup(uint32_t apic_id, paddr_t entry)
{
	lapic_send(apic_id, ICR_STARTUP | (uint32_t)(entry >> PAGE_SHIFT));
}

uint32_t lapic_pending(unsigned word)
{
	return lapic_read(REQUEST + 0x10 * word);
}

uint32_t lapic_in_service(unsigned word)
{
	return lapic_read(IN_SERVICE + 0x10 * word);
}

void lapic_timer_start(void)
{
	lapic_write(TIMER_INITIAL, UINT32_MAX);
}

void lapic_timer_nmi(void)
{
	lapic_write(TIMER_INITIAL, 0);
	lapic_write(LVT_TIMER, LVT_NMI);
}

volatile uint32_t *lapic_timer_register(void)
{
	return &memory[TIMER_INITIAL / 4];
}

uint32_t lapic_timer_left(void)
{
	return lapic_read(TIMER_CURRENT);
}

void lapic_timer_set_hz(uint64_t hz)
{
	timer_mult = (hz << 32) / 1000000000;
}

/* A time beyond the counter's range is cut to the range: the timer then expires early. */
void lapic_timer(uint64_t ns)
{
	unsigned __int128 count = (unsigned __int128)ns * timer_mult >> 32;
	if (ns != 0)
		count = count == 0 ? 1 : MIN(count, UINT32_MAX);
	lapic_write(TIMER_INITIAL, count);
}
