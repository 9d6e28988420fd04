/*
 * tlb.h - what CPUs remember of page tables, and how they forget it (mm/tlb.c).
 */
#pragma once
#include "types.h"

struct address_space;

/*
 * Makes every CPU forget its translations of [start, end) in `as`.  Called with
 * interrupts on and no spin lock held: it waits for the other CPUs.  Requests to
 * one CPU are batched: a CPU that has not yet answered gets no second interrupt.
 */
void tlb_shootdown(struct address_space *as, vaddr_t start, vaddr_t end);
void tlb_interrupt(void); /* VEC_TLB */
/*
 * Makes this CPU forget its address space if the page tables are being changed: as->lock is held for
 * writing, or as->copying.  Exact timing calls it when a window begins.  Interrupts off; takes no
 * lock: no other CPU runs.
 *
 * *Race:* an LWP protects a page, another CPU stores to it before the shoot-down reaches that CPU;
 * *without this:* the store faults or not by what a TLB happens to hold, which is QEMU's matter, so
 * a run need not repeat; *closed by:* this function: a window sees the page tables as they are.
 */
void tlb_refresh(void);
