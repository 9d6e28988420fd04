/*
 * memory.c - which memory there is: from what the boot loader reports to the pages that page.c
 * hands out.
 *
 * Memory is added in three steps.  First comes what the boot page tables reach, for the
 * allocations that make the final page tables.  The rest follows when these are in place.  Last
 * comes the initial RAM disk, piece by piece, as its files have been read or have taken its
 * pages over.  Only CPU 0 runs this.
 *
 * The size of the RAM disk must not change where the rest lies (page.c).  So the RAM disk lies at
 * the top of the memory below 4 GiB.  QEMU puts it there; if GRUB has put it elsewhere, it is
 * moved.  The frame table comes directly below the RAM disk, because its size depends on the size
 * of the memory.  `weft run --free` makes the memory larger for a larger RAM disk.
 */
#include <kern/boot.h>
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/mm.h>
#include <kern/page.h>
#include <kern/printk.h>
#include "impl.h"

/* The end of what the boot page tables map.  Until mm_init is done, only memory below is used. */
#define BOOT_REACH (1ull << 32)

/*
 * SeaBIOS keeps the last pages below 4 GiB for its tables, and qboot keeps none.  A machine shall have
 * the same memory with both, so the kernel leaves these pages alone.
 */
#define FIRMWARE_SIZE (128ull << 10)
#define MIB (1ull << 20)

/* A RAM disk that is nearer than this to the end of memory need not be moved there. */
#define INITRD_NEAR (1ull << 20)

struct range {
	paddr_t start, end;
};

/* The memory that may be handed out: page-aligned and disjoint. */
static struct range usable[3 * BOOT_MAX_REGIONS];
static unsigned nusable;

/* Ranges that overlap a usable region and must be left alone. */
static struct range taken[2 * BOOT_MAX_REGIONS + 2];
static unsigned ntaken;

static void memory_take(paddr_t start, paddr_t end)
{
	taken[ntaken++] = (struct range){PAGE_ROUND_DOWN(start), PAGE_ROUND_UP(end)};
}

/* Adds what is not in taken[] of [from, end) to usable[]. */
static void add_usable(paddr_t from, paddr_t end)
{
	from = PAGE_ROUND_UP(from);
	end = PAGE_ROUND_DOWN(end);
	while (from < end) {
		paddr_t stop = end, skip = 0;
		for (unsigned i = 0; i < ntaken; i++) {
			if (taken[i].start <= from && from < taken[i].end)
				skip = MAX(skip, taken[i].end);
			else if (taken[i].start > from && taken[i].start < stop)
				stop = taken[i].start;
		}
		if (skip != 0) {
			from = skip;
			continue;
		}
		if (nusable < ARRAY_LEN(usable))
			usable[nusable++] = (struct range){from, stop};
		from = stop;
	}
}

/* A region that ends with a whole MiB has no firmware's pages behind it yet. */
static void take_for_firmware(const struct boot_region *r)
{
	paddr_t end = r->base + r->size;

	if (end <= BOOT_REACH && end % MIB == 0 && r->size > FIRMWARE_SIZE)
		memory_take(end - FIRMWARE_SIZE, end);
}

static void find_usable(void)
{
	extern char __text_start[], __kernel_end[];

	memory_take(image_to_phys(__text_start), image_to_phys(__kernel_end));
	if (boot_info.initrd_size != 0)
		memory_take(boot_info.initrd, boot_info.initrd + boot_info.initrd_size);
	for (unsigned i = 0; i < boot_info.nregions; i++) {
		const struct boot_region *r = &boot_info.region[i];
		if (r->usable)
			take_for_firmware(r);
		else
			memory_take(r->base, r->base + r->size);
	}
	for (unsigned i = 0; i < boot_info.nregions; i++) {
		const struct boot_region *r = &boot_info.region[i];
		if (!r->usable)
			continue;
		add_usable(r->base, r->base + r->size);
		/* Firmware may describe a piece twice; taken[] then hides the second one. */
		memory_take(r->base, r->base + r->size);
	}
}

/* The pages of the initial RAM disk that have not been freed yet. */
static struct range initrd;

/* All whole pages of the initial RAM disk, if it lies in usable memory. */
static struct range initrd_range(void)
{
	paddr_t start = PAGE_ROUND_UP(boot_info.initrd);
	paddr_t end = PAGE_ROUND_DOWN(boot_info.initrd + boot_info.initrd_size);

	for (unsigned i = 0; i < boot_info.nregions && start < end; i++) {
		const struct boot_region *r = &boot_info.region[i];
		if (r->usable && r->base <= start && end <= r->base + r->size)
			return (struct range){start, end};
	}
	return (struct range){0, 0};
}

/*
 * Moves the initial RAM disk to the end of the highest region that the boot page tables reach and
 * that has room above the kernel.  If it lies there already, does nothing.
 */
static void initrd_to_top(void)
{
	extern char __kernel_end[];
	paddr_t size = PAGE_ROUND_UP(boot_info.initrd_size), to = 0;

	for (unsigned i = 0; i < boot_info.nregions; i++) {
		const struct boot_region *r = &boot_info.region[i];
		paddr_t end = PAGE_ROUND_DOWN(MIN(r->base + r->size, BOOT_REACH));
		if (r->usable && end >= r->base + size)
			to = MAX(to, end - size);
	}
	/* QEMU leaves a little room behind it, for tables. */
	if (to < boot_info.initrd + INITRD_NEAR || to < image_to_phys(__kernel_end))
		return;
	memmove(phys_to_virt(to), phys_to_virt(boot_info.initrd), boot_info.initrd_size);
	boot_info.initrd = to;
}

/* Finds a place for the frame table where the boot page tables reach. */
static void *place_frames(paddr_t top)
{
	uint64_t size = PAGE_ROUND_UP(frames_size(top));
	for (unsigned i = 0; i < nusable; i++) {
		struct range *r = &usable[i];
		if (r->end != initrd.start || r->end - r->start < size || r->end > BOOT_REACH)
			continue;
		r->end -= size;
		page_set_top(r->end, initrd.end);
		return phys_to_virt(r->end);
	}
	page_set_top(initrd.start, initrd.end);
	for (unsigned i = 0; i < nusable; i++) {
		struct range *r = &usable[i];
		if (r->start + size > MIN(r->end, BOOT_REACH))
			continue;
		r->start += size;
		return phys_to_virt(r->start - size);
	}
	panic("no room for the table of %lu page frames", top >> PAGE_SHIFT);
}

void page_init(void)
{
	initrd_to_top();
	find_usable();
	paddr_t top = 0;
	for (unsigned i = 0; i < nusable; i++)
		top = MAX(top, usable[i].end);
	initrd = initrd_range();
	top = MAX(top, initrd.end);
	/* Frame numbers are 32 bits: 16 TiB. */
	top = MIN(top, (paddr_t)UINT32_MAX << PAGE_SHIFT);
	initrd.end = MIN(initrd.end, top);
	frames_init(place_frames(top), top);
	for (unsigned i = nusable; i-- > 0;)
		page_add(MIN(usable[i].start, BOOT_REACH), MIN(usable[i].end, BOOT_REACH));
}

void page_init_high(void)
{
	for (unsigned i = nusable; i-- > 0;)
		page_add(MIN(MAX(usable[i].start, BOOT_REACH), page_top()),
			 MIN(MAX(usable[i].end, BOOT_REACH), page_top()));
}

bool page_keep_initrd(paddr_t p)
{
	if (p < initrd.start || p + PAGE_SIZE > initrd.end)
		return false;
	page_adopt(p);
	return true;
}

void page_add_initrd(uint64_t read)
{
	paddr_t end = MIN(initrd.end, PAGE_ROUND_DOWN(boot_info.initrd + read));

	while (initrd.start < end) {
		paddr_t from = initrd.start;
		while (initrd.start < end && !page_in_use(initrd.start))
			initrd.start += PAGE_SIZE;
		page_add(from, initrd.start);
		while (initrd.start < end && page_in_use(initrd.start))
			initrd.start += PAGE_SIZE;
	}
}
