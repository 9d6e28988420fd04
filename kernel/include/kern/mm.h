/*
 * mm.h - how memory management starts.
 */
#pragma once
#include "types.h"

void page_init(void);              /* from boot_info; CPU 0, before any allocation */
void page_init_cpu(void);          /* each CPU: its cache of pages */
void mm_init(void);                /* kernel page tables with W^X, direct map, caches; CPU 0 */
void mm_init_cpu(void);            /* each CPU: CR0.WP, NX, SMEP, SMAP, caches */
uint64_t kernel_table_pages(void); /* pages of the kernel's page tables; never freed */

/* Adds PROBE_MEMORY_MAX bytes from `base` on to the direct map; at boot, on CPU 0, before the first
 * address space.  The address is a multiple of 1 GiB above all RAM.  The first PROBE_CODE bytes
 * also become the stubs of programs, at PROBE_USER in every address space (kern/probe.h). */
void mm_map_probe_memory(paddr_t base);

/*
 * Memory that is allocated between mm_apart(true) and mm_apart(false) is apart: no address and no
 * cost of a later allocation depends on it, as long as half of the memory is free.  It is for the
 * files of the initial RAM disk.  Memory of both kinds may be freed at any time.  At boot, on
 * CPU 0.
 */
void mm_apart(bool apart);
