/*
 * ioapic.c - device interrupts: the IOAPIC's pins, all delivered to CPU 0.
 *
 * CPU 0 sets up the pins while the kernel starts.  They do not change after that, so there is no
 * lock.  The legacy controllers stay masked.
 */
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/printk.h>
#include <kern/trap.h>
#include "machine.h"

enum { REG_VERSION = 1, REG_PIN = 0x10 }; /* two registers a pin from REG_PIN on */
#define PIN_LOW 0x2000
#define PIN_LEVEL 0x8000
#define PIN_MASKED 0x10000
#define NPINS 24 /* reserved vectors: VEC_EXTERNAL + 0 to 23 */

static struct acpi_madt table;
static void (*handler[NPINS])(void);

static uint32_t ioapic_read(volatile uint32_t *io, unsigned reg)
{
	io[0] = reg;
	return io[4];
}

static void ioapic_write(volatile uint32_t *io, unsigned reg, uint32_t v)
{
	io[0] = reg;
	io[4] = v;
}

static void mask_legacy(void)
{
	/* First moves the vectors away from the exceptions, because even a masked controller can
	 * raise a spurious interrupt.  The vectors 0x20 and 0x28 are not used otherwise. */
	static const uint8_t init[][2] = {{0x11, 0x11}, {0x20, 0x28}, {0x04, 0x02}, {0x01, 0x01}};
	outb(0x20, init[0][0]);
	outb(0xa0, init[0][1]);
	for (unsigned i = 1; i < ARRAY_LEN(init); i++) {
		outb(0x21, init[i][0]);
		outb(0xa1, init[i][1]);
	}
	outb(0x21, 0xff);
	outb(0xa1, 0xff);
}

static unsigned pins_of(volatile uint32_t *io)
{
	return (ioapic_read(io, REG_VERSION) >> 16 & 0xff) + 1;
}

void ioapic_init(const struct acpi_madt *m)
{
	table = *m;
	mask_legacy();
	for (unsigned i = 0; i < table.nioapic; i++) {
		volatile uint32_t *io = phys_to_virt(table.ioapic[i].base);
		for (unsigned pin = 0; pin < pins_of(io); pin++)
			ioapic_write(io, REG_PIN + 2 * pin, PIN_MASKED);
	}
}

void irq_register(unsigned isa_irq, void (*fn)(void))
{
	assert(isa_irq < ARRAY_LEN(table.isa));
	uint32_t gsi = table.isa[isa_irq].gsi;
	for (unsigned i = 0; i < table.nioapic; i++) {
		volatile uint32_t *io = phys_to_virt(table.ioapic[i].base);
		uint32_t pin = gsi - table.ioapic[i].gsi_base;
		if (gsi < table.ioapic[i].gsi_base || pin >= pins_of(io) || gsi >= NPINS)
			continue;
		assert(handler[gsi] == NULL);
		handler[gsi] = fn;
		ioapic_write(io, REG_PIN + 2 * pin + 1, cpus[0]->apic_id << 24);
		ioapic_write(io, REG_PIN + 2 * pin,
			     (VEC_EXTERNAL + gsi) | (table.isa[isa_irq].low ? PIN_LOW : 0) |
				     (table.isa[isa_irq].level ? PIN_LEVEL : 0));
		return;
	}
	printk("weft: no IOAPIC has a pin for interrupt %u\n", isa_irq);
}

void irq_interrupt(unsigned pin)
{
	if (handler[pin] != NULL)
		handler[pin]();
}
