/* boot.h - the interface between boot.S and the C code of boot/. */
#pragma once
#include <kern/types.h>

enum { BOOT_PVH = 1, BOOT_MULTIBOOT2 = 2 }; /* EBP in boot.S */

/* Fills boot_info from the loader's information at this physical address. */
void boot_info_init(uint32_t kind, paddr_t info);
