/*
 * pagetable.c - the kernel's own page tables, and what each CPU sets for them.
 *
 * The kernel half is the same in every address space.  Its top-level entries are
 * made here, before the first address space, and never change; as_create copies
 * them.  No memory is both writable and executable: text is mapped R-X, rodata R--
 * and everything else NX.  The direct map shows text and rodata a second time, as R-- too.
 *
 * The direct map reaches over all RAM and at least the first 4 GiB.  A 2 MiB piece
 * of it without RAM is uncached: device registers (LAPIC, IOAPIC) are reached
 * through phys_to_virt as well.
 *
 * There is no identity mapping: CPUs that start later pass through the boot page
 * tables (boot/boot.S), which stay as they are.
 */
#include <kern/boot.h>
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/mm.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include "../cpu/asm.h"
#include "../cpu/machine.h"
#include "impl.h"

#define CR0_WP (1u << 16)
#define CR4_PGE (1u << 7)
#define CR4_SMEP (1u << 20)
#define CR4_SMAP (1u << 21)

#define LARGE_PAGE PT_SPAN(2)

extern char __text_start[], __text_end[], __rodata_start[], __rodata_end[], __data_start[],
	__kernel_end[];

paddr_t kernel_pml4;
bool cpu_has_smap;

/* Guards the tables below KSTACKS, which grow.  The other tables do not change. */
static struct spinlock table_lock = SPINLOCK_INIT("kernel page tables");

static uint64_t ntables; /* table_lock, except during start-up */

/* The table under an entry; it is made if it is missing.  NULL: out of memory. */
static uint64_t *kernel_table_descend(uint64_t *entry)
{
	if (!(*entry & PTE_P)) {
		paddr_t p = page_alloc(PG_ZERO);
		if (p == 0)
			return NULL;
		__atomic_store_n(entry, p | PTE_P | PTE_W | PTE_A, __ATOMIC_RELEASE);
		ntables++;
	}
	assert(!(*entry & PTE_PS));
	return pt_table(*entry);
}

uint64_t *kernel_pte(uint64_t va)
{
	irqstate_t s = spin_lock(&table_lock);
	uint64_t *t = phys_to_virt(kernel_pml4);
	for (int level = PT_LEVELS; level > 1 && t != NULL; level--)
		t = kernel_table_descend(&t[pt_index(va, level)]);
	spin_unlock(&table_lock, s);
	return t != NULL ? &t[pt_index(va, 1)] : NULL;
}

uint64_t kernel_table_pages(void)
{
	irqstate_t s = spin_lock(&table_lock);
	uint64_t n = ntables;
	spin_unlock(&table_lock, s);
	return n;
}

/* --- start-up ------------------------------------------------------------------------ */

static bool has_1g_pages;

/* Maps [va, va + size) to pa with the largest pages that fit. */
static void kernel_map(uint64_t va, paddr_t pa, uint64_t size, uint64_t flags)
{
	while (size > 0) {
		uint64_t *t = phys_to_virt(kernel_pml4);
		for (int level = PT_LEVELS;; level--) {
			uint64_t *e = &t[pt_index(va, level)];
			uint64_t span = PT_SPAN(level);
			bool may = level == 1 || level == 2 || (level == 3 && has_1g_pages);
			if (may && size >= span && (va | pa) % span == 0) {
				assert(*e == 0);
				*e = pa | flags | PTE_P | PTE_G | PTE_A | PTE_D |
				     (level > 1 ? PTE_PS : 0);
				va += span;
				pa += span;
				size -= span;
				break;
			}
			t = kernel_table_descend(e);
			if (t == NULL)
				panic("no memory for the kernel's page tables");
		}
	}
}

static void map_image(char *start, char *end, uint64_t flags)
{
	paddr_t from = image_to_phys(start), to = PAGE_ROUND_UP(image_to_phys(end));
	kernel_map(KIMAGE + from, from, to - from, flags);
}

static bool has_ram(paddr_t start, paddr_t end)
{
	for (unsigned i = 0; i < boot_info.nregions; i++) {
		const struct boot_region *r = &boot_info.region[i];
		if (r->usable && r->base < end && start < r->base + r->size)
			return true;
	}
	return false;
}

static void map_direct(void)
{
	/* The first piece holds the kernel; it has small pages too. */
	paddr_t text = image_to_phys(__text_start), data = image_to_phys(__data_start);
	paddr_t image_end = (image_to_phys(__kernel_end) + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	kernel_map(KDIRECT, 0, text, PTE_W | PTE_NX);
	kernel_map(KDIRECT + text, text, data - text, PTE_NX);
	kernel_map(KDIRECT + data, data, image_end - data, PTE_W | PTE_NX);

	paddr_t top = MAX(page_top(), 1ull << 32);
	top = (top + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	for (paddr_t p = image_end; p < top;) {
		bool ram = has_ram(p, p + LARGE_PAGE);
		paddr_t end = p + LARGE_PAGE;
		while (end < top && has_ram(end, end + LARGE_PAGE) == ram)
			end += LARGE_PAGE;
		kernel_map(KDIRECT + p, p, end - p, PTE_W | PTE_NX | (ram ? 0 : PTE_PCD | PTE_PWT));
		p = end;
	}
}

void mm_init(void)
{
	uint32_t r[4];
	cpuid(0x80000001, r);
	has_1g_pages = r[3] & 1u << 26;

	kernel_pml4 = page_alloc(PG_ZERO);
	if (kernel_pml4 == 0)
		panic("no memory for the kernel's page tables");
	/* The number of these tables depends on the size of the memory. */
	page_from_top(true);
	map_direct();
	page_from_top(false);
	map_image(__text_start, __text_end, 0);
	map_image(__rodata_start, __rodata_end, PTE_NX);
	map_image(__data_start, __kernel_end, PTE_W | PTE_NX);
	if (kernel_pte(KSTACKS) == NULL)
		panic("no memory for the kernel's page tables");
	load_cr3(kernel_pml4);

	page_init_high();
	cache_init();
	mappings_init();
	mm_selftest();
}

/*
 * With pages of 1 GiB this takes no memory: the table of the direct map is there.  So are the tables
 * that lead to PROBE_USER, except for the last, which lies in the probe memory itself.
 */
void mm_map_probe_memory(paddr_t base)
{
	const uint64_t flags[] = {PTE_U, 0, PTE_U}; /* stubs, the kernel's part of them, copies */
	uint64_t *table, *top = phys_to_virt(kernel_pml4);

	kernel_map(KDIRECT + base, base, PROBE_MEMORY_MAX, PTE_W | PTE_NX);
	table = phys_to_virt(base);
	for (uint64_t at = 0; at < ARRAY_LEN(flags) * PROBE_SLOTS; at += LARGE_PAGE)
		table[at / LARGE_PAGE] = (base + LARGE_PAGE + at) | flags[at / PROBE_SLOTS] |
					 PTE_PS | PTE_P | PTE_A | PTE_D;
	top += pt_index(PROBE_USER, 4);
	*top |= PTE_U;
	top = pt_table(*top) + pt_index(PROBE_USER, 3);
	assert(*top == 0);
	*top = base | PTE_P | PTE_U | PTE_A;
}

void mm_init_cpu(void)
{
	uint32_t max[4], r[4] = {0};
	uint64_t cr0, cr4;

	cpuid(0, max);
	if (max[0] >= 7)
		cpuid(7, r);
	bool smep = r[1] & 1u << 7, smap = r[1] & 1u << 20;

	__asm__ volatile("movq %%cr0, %0" : "=r"(cr0));
	__asm__ volatile("movq %0, %%cr0" ::"r"(cr0 | CR0_WP));
	__asm__ volatile("movq %%cr4, %0" : "=r"(cr4));
	cr4 |= CR4_PGE | (smep ? CR4_SMEP : 0) | (smap ? CR4_SMAP : 0);
	__asm__ volatile("movq %0, %%cr4" ::"r"(cr4));
	/* All CPUs of a machine have the same value here. */
	if (this_cpu()->id == 0)
		cpu_has_smap = smap;

	page_init_cpu();
	tlb_init_cpu();
	this_cpu()->as = NULL;
}

void mm_apart(bool apart)
{
	/* In this order: pages that the caches free leave the CPU's cache of pages, too. */
	cache_apart(apart);
	page_from_top(apart);
}
