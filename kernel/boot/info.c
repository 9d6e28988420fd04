/*
 * info.c - copies the boot loader's information, from either boot path, into boot_info.
 *
 * This is the first C code that runs, on the early page tables.  All information of the loader
 * lies below 4 GiB and is read through the direct map.  The kernel cannot print yet.  So a
 * missing part stays empty, and kmain or the user of that part reports it.
 */
#include <kern/boot.h>
#include <kern/layout.h>
#include <kern/types.h>
#include "boot.h"

struct boot_info boot_info;

/* The first MiB belongs to the firmware, and to CPUs that start (cpu/asm.h). */
#define LOW_MEMORY (1ull << 20)
#define TYPE_RAM 1 /* of a memory map, in both forms */

static void add_region(uint64_t base, uint64_t size, uint32_t type)
{
	bool usable = type == TYPE_RAM;
	if (usable && base < LOW_MEMORY) {
		uint64_t cut = MIN(size, LOW_MEMORY - base);
		base += cut;
		size -= cut;
	}
	if (size == 0 || base + size < base || boot_info.nregions == BOOT_MAX_REGIONS)
		return;
	boot_info.region[boot_info.nregions++] = (struct boot_region){base, size, usable};
}

/* --- PVH: start info, version 1 (Xen's public/arch-x86/hvm/start_info.h) ------ */

#define PVH_MAGIC 0x336ec578

struct pvh_start_info {
	uint32_t magic, version, flags, nr_modules;
	uint64_t modlist, cmdline, rsdp;
	uint64_t memmap; /* from version 1 on */
	uint32_t memmap_entries, reserved;
};
struct pvh_module {
	uint64_t base, size, cmdline, reserved;
};
struct pvh_memmap {
	uint64_t base, size;
	uint32_t type, reserved;
};

static void from_pvh(const struct pvh_start_info *info)
{
	if (info->magic != PVH_MAGIC)
		return;
	boot_info.loader = "pvh";
	boot_info.rsdp = info->rsdp;
	if (info->cmdline != 0)
		strlcpy(boot_info.cmdline, phys_to_virt(info->cmdline), BOOT_CMDLINE_MAX);
	if (info->nr_modules > 0) {
		const struct pvh_module *m = phys_to_virt(info->modlist);
		boot_info.initrd = m->base;
		boot_info.initrd_size = m->size;
	}
	if (info->version >= 1) {
		const struct pvh_memmap *m = phys_to_virt(info->memmap);
		for (uint32_t i = 0; i < info->memmap_entries; i++)
			add_region(m[i].base, m[i].size, m[i].type);
	}
}

/* --- Multiboot2 (its specification, 3.6) ---------------------------------------- */

enum {
	TAG_END = 0,
	TAG_CMDLINE = 1,
	TAG_MODULE = 3,
	TAG_MEMMAP = 6,
	TAG_ACPI_OLD = 14,
	TAG_ACPI_NEW = 15,
};

struct mb2_tag {
	uint32_t type, size;
	union {
		char cmdline[0];
		struct {
			uint32_t start, end;
		} module;
		struct {
			uint32_t entry_size, entry_version;
			uint8_t entries[];
		} memmap;
		uint8_t rsdp[0];
	};
};

/* The tag holds a copy of the root pointer, in memory that will be used for other things. */
static uint8_t rsdp_copy[64];

static void from_multiboot2(const uint32_t *info)
{
	const uint8_t *at = (const uint8_t *)info + 8, *end = (const uint8_t *)info + info[0];
	boot_info.loader = "multiboot2";
	while (end - at >= 8) {
		const struct mb2_tag *t = (const struct mb2_tag *)at;
		if (t->type == TAG_END || t->size < 8 || t->size > end - at)
			break;
		switch (t->type) {
		case TAG_CMDLINE:
			strlcpy(boot_info.cmdline, t->cmdline, BOOT_CMDLINE_MAX);
			break;
		case TAG_MODULE:
			if (boot_info.initrd_size == 0 && t->module.end > t->module.start) {
				boot_info.initrd = t->module.start;
				boot_info.initrd_size = t->module.end - t->module.start;
			}
			break;
		case TAG_MEMMAP:
			for (uint32_t off = 16;
			     t->memmap.entry_size >= 20 && off + t->memmap.entry_size <= t->size;
			     off += t->memmap.entry_size) {
				const struct pvh_memmap *m = (const void *)(at + off);
				add_region(m->base, m->size, m->type);
			}
			break;
		case TAG_ACPI_OLD:
		case TAG_ACPI_NEW:
			if (t->type == TAG_ACPI_OLD && boot_info.rsdp != 0)
				break;
			memcpy(rsdp_copy, t->rsdp, MIN(t->size - 8, sizeof(rsdp_copy)));
			boot_info.rsdp = image_to_phys(rsdp_copy);
			break;
		}
		at += (t->size + 7) & ~7u;
	}
}

void boot_info_init(uint32_t kind, paddr_t info)
{
	boot_info.loader = "unknown";
	if (kind == BOOT_PVH)
		from_pvh(phys_to_virt(info));
	else
		from_multiboot2(phys_to_virt(info));
}

/* --- options -------------------------------------------------------------------- */

bool boot_option(const char *key, char *value, size_t size)
{
	size_t len = strlen(key);
	const char *p = boot_info.cmdline;
	for (;;) {
		while (*p == ' ')
			p++;
		if (*p == '\0')
			return false;
		size_t word = 0;
		while (p[word] != '\0' && p[word] != ' ')
			word++;
		if (strncmp(p, key, len) == 0 && (word == len || p[len] == '=')) {
			size_t skip = MIN(len + 1, word);
			size_t n = size > 0 ? MIN(word - skip, size - 1) : 0;
			memcpy(value, p + skip, n);
			if (size > 0)
				value[n] = '\0';
			return true;
		}
		p += word;
	}
}

uint64_t boot_option_num(const char *key, uint64_t def)
{
	char text[24];
	uint64_t v = 0;
	if (!boot_option(key, text, sizeof(text)) || text[0] == '\0')
		return def;
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9' || v > (UINT64_MAX - 9) / 10)
			return def;
		v = v * 10 + *p - '0';
	}
	return v;
}
