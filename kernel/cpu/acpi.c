/*
 * acpi.c - the one ACPI table that weft reads: the MADT, with the CPUs and the
 * interrupt controllers, and what follows from it.
 *
 * The tables come from firmware and are not trusted: signatures, lengths and
 * checksums are checked before anything is used, and a table that fails counts
 * as missing.  Runs once, on CPU 0.
 */
#include <kern/boot.h>
#include <kern/layout.h>
#include <kern/printk.h>
#include "machine.h"

struct rsdp {
	char signature[8];
	uint8_t checksum;
	char oem[6];
	uint8_t revision;
	uint32_t rsdt;
	/* from revision 2 on */
	uint32_t length;
	uint64_t xsdt;
	uint8_t checksum2, reserved[3];
} __attribute__((packed));

struct header {
	char signature[4];
	uint32_t length; /* of the whole table */
	uint8_t revision, checksum;
	char oem[6], oem_table[8];
	uint32_t oem_revision, creator, creator_revision;
} __attribute__((packed));

/* Tables lie below 4 GiB, which is always in the direct map. */
#define TABLE_LIMIT (1ull << 32)
#define TABLE_MAX (1u << 20)

static bool sum_is_zero(const void *p, size_t n)
{
	uint8_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += ((const uint8_t *)p)[i];
	return sum == 0;
}

/* The table at pa if it is sound and has this signature, or NULL. */
static const struct header *table_at(paddr_t pa, const char *signature)
{
	if (pa == 0 || pa > TABLE_LIMIT - sizeof(struct header))
		return NULL;
	const struct header *h = phys_to_virt(pa);
	if (memcmp(h->signature, signature, 4) != 0 || h->length < sizeof(*h) ||
	    h->length > TABLE_MAX || h->length > TABLE_LIMIT - pa || !sum_is_zero(h, h->length))
		return NULL;
	return h;
}

static const struct header *find_table(const char *signature)
{
	paddr_t pa = boot_info.rsdp;
	if (pa == 0 || pa > TABLE_LIMIT - sizeof(struct rsdp))
		return NULL;
	const struct rsdp *r = phys_to_virt(pa);
	if (memcmp(r->signature, "RSD PTR ", 8) != 0 || !sum_is_zero(r, 20))
		return NULL;

	unsigned width = 8;
	const struct header *root = r->revision >= 2 ? table_at(r->xsdt, "XSDT") : NULL;
	if (root == NULL) {
		width = 4;
		root = table_at(r->rsdt, "RSDT");
	}
	if (root == NULL)
		return NULL;
	const uint8_t *end = (const uint8_t *)root + root->length;
	for (const uint8_t *p = (const uint8_t *)(root + 1); p + width <= end; p += width) {
		paddr_t at = 0;
		memcpy(&at, p, width);
		const struct header *h = table_at(at, signature);
		if (h != NULL)
			return h;
	}
	return NULL;
}

enum { MADT_LAPIC = 0, MADT_IOAPIC = 1, MADT_OVERRIDE = 2, MADT_X2APIC = 9 };
#define CPU_ENABLED 1

static uint32_t acpi_get32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static void add_cpu(struct acpi_madt *m, uint32_t apic_id, uint32_t flags)
{
	if (!(flags & CPU_ENABLED))
		return;
	for (unsigned i = 0; i < m->ncpu; i++)
		if (m->apic_id[i] == apic_id)
			return;
	if (m->ncpu < WEFT_MAXCPU)
		m->apic_id[m->ncpu++] = apic_id;
	else
		printk("weft: no room for the CPU with APIC id %u\n", apic_id);
}

static void add_entry(struct acpi_madt *m, const uint8_t *e, unsigned len)
{
	if (e[0] == MADT_LAPIC && len >= 8) {
		add_cpu(m, e[3], acpi_get32(e + 4));
	} else if (e[0] == MADT_X2APIC && len >= 16) {
		add_cpu(m, acpi_get32(e + 4), acpi_get32(e + 8));
	} else if (e[0] == MADT_IOAPIC && len >= 12 && m->nioapic < ACPI_MAX_IOAPIC) {
		m->ioapic[m->nioapic].base = acpi_get32(e + 4);
		m->ioapic[m->nioapic].gsi_base = acpi_get32(e + 8);
		m->nioapic++;
	} else if (e[0] == MADT_OVERRIDE && len >= 10 && e[2] == 0 && e[3] < ARRAY_LEN(m->isa)) {
		m->isa[e[3]].gsi = acpi_get32(e + 4);
		m->isa[e[3]].low = (e[8] & 3) == 3;
		m->isa[e[3]].level = (e[8] >> 2 & 3) == 3;
	}
}

/* False: there are no usable tables; *m has no CPU, no IOAPIC, and ISA interrupts one to one. */
static bool acpi_read_madt(struct acpi_madt *m)
{
	memset(m, 0, sizeof(*m));
	for (unsigned i = 0; i < ARRAY_LEN(m->isa); i++)
		m->isa[i].gsi = i;

	const struct header *h = find_table("APIC");
	if (h == NULL)
		return false;
	const uint8_t *p = (const uint8_t *)(h + 1) + 8, *end = (const uint8_t *)h + h->length;
	while (end - p >= 2 && p[1] >= 2 && p[1] <= end - p) {
		add_entry(m, p, p[1]);
		p += p[1];
	}
	return true;
}

void cpu_init_acpi(void)
{
	struct acpi_madt m;

	if (!acpi_read_madt(&m))
		printk("weft: no usable ACPI tables: one CPU, no device interrupts\n");
	lapic_init_cpu();
	ioapic_init(&m);

	cpus[0]->apic_id = lapic_id();
	cpus[0]->lapic = cpus[0]->apic_id;
	ncpu = 1;
	if (lockstep_cpus() == 0)
		cpu_find_others(&m);
	else
		lockstep_alloc_cpus();
}
