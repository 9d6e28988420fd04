/*
 * boot.h - what the boot loader reports, in one form for both boot paths.
 *
 * boot/ fills it from the PVH start info or the Multiboot2 tags before kmain
 * runs; it does not change afterwards.
 */
#pragma once
#include "types.h"

#define BOOT_MAX_REGIONS 32
#define BOOT_CMDLINE_MAX 1024

struct boot_region {
	paddr_t base;
	uint64_t size;
	bool usable; /* ordinary RAM; false: reserved or ACPI */
};

struct boot_info {
	const char *loader; /* "pvh" or "multiboot2" */
	char cmdline[BOOT_CMDLINE_MAX];
	paddr_t initrd;
	uint64_t initrd_size; /* bytes; 0: none */
	paddr_t rsdp;         /* ACPI root pointer (it may be a copy in boot data) */
	unsigned nregions;
	struct boot_region region[BOOT_MAX_REGIONS];
};

extern struct boot_info boot_info;

/*
 * Looks up "key=value" on the kernel's command line.  Copies the value (at most
 * size - 1 bytes) and returns true.  A "key" without "=value" gives an empty value.
 */
bool boot_option(const char *key, char *value, size_t size);
/* As boot_option, for a decimal number; def if the key is missing or not a number. */
uint64_t boot_option_num(const char *key, uint64_t def);

/* The kernel's first C function: boot/ calls it on the boot CPU, in the higher
 * half, interrupts off, with boot_info filled and the direct map in place. */
void kmain(void) NORETURN;
