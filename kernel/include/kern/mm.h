/*
 * mm.h - the start of the memory.
 */
#pragma once
#include "types.h"

void page_init(void);              /* from boot_info; CPU 0, before any allocation */
void page_init_cpu(void);          /* each CPU: its cache of pages */
void mm_init(void);                /* kernel page tables with W^X, direct map, caches; CPU 0 */
void mm_init_cpu(void);            /* each CPU: CR0.WP, NX, SMEP, SMAP, caches */
uint64_t kernel_table_pages(void); /* pages of the kernel's page tables; they stay */

/*
 * What is allocated from mm_apart(true) to mm_apart(false) is apart: no address and no cost of a later
 * allocation depends on it, as long as half of the memory is free.  For what the initial RAM disk
 * becomes.  An allocation of either time may be freed at any time.  At boot, on CPU 0.
 */
void mm_apart(bool apart);
