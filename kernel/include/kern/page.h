/*
 * page.h - pages of memory (mm/page.c, mm/memory.c).
 */
#pragma once
#include "types.h"

#define PG_ZERO 1     /* filled with zeros */
#define PG_USER 2     /* programs decide how many: leaves the kernel's reserve alone */
#define PG_RESERVED 4 /* one of the pages that page_reserve has promised */
#define PG_URGENT 8   /* with PG_USER: memory that a reserved page needs */
#define PG_STORE 16   /* with PG_USER: stays when processes end; leaves room to start some */
#define PG_CALL 32    /* needed only during a call; may use part of the reserve, no promised page */

/* One page, or 0 when there is none.  Any context, never blocks. */
paddr_t page_alloc(unsigned flags);
void page_free(paddr_t p);
/* 2^order contiguous pages, aligned to their size; 0: none. */
paddr_t page_alloc_order(unsigned order, unsigned flags);
void page_free_order(paddr_t p, unsigned order);
/* A page counts its holders: page_alloc sets the count to 1, page_free subtracts 1. */
void page_hold(paddr_t p);
unsigned page_count(paddr_t p);
/*
 * If the page at p lies in the initial RAM disk, gives it to the caller with its contents, as if
 * page_alloc(PG_USER) had.  False: it is not a whole page of the disk, or not in usable memory.
 * Once for each page; only on CPU 0.
 */
bool page_keep_initrd(paddr_t p);
/*
 * The first `read` bytes of the initial RAM disk are no longer needed: frees the whole pages
 * among them that have not been kept.  Only on CPU 0.
 */
void page_add_initrd(uint64_t read);
/*
 * Would page_alloc give a page with these flags?  Ask before you create an object that is smaller
 * than a page: the object's slab may have come with other flags.  Any context, never blocks.
 */
bool page_spare(unsigned flags);
uint64_t page_total(void), page_free_count(void); /* in pages; the caches' pages count as free */
/*
 * At boot, on CPU 0: leaves so many pages free, and removes the others for ever.  The reserve is
 * then a part of the pages left.  False: there are not so many, and nothing changes.
 */
bool page_limit(uint64_t pages);
uint64_t page_user_count(void); /* allocated with PG_USER or PG_RESERVED, in pages */
/*
 * Sets n pages aside for later allocations with PG_RESERVED.  False: there are not so many
 * free pages that are not promised already.  page_unreserve ends the reservation, both of pages
 * that have been allocated and of pages that have not.  An allocated page is freed by page_free
 * as any other.
 */
bool page_reserve(uint64_t n);
void page_unreserve(uint64_t n);

/*
 * When memory has run out: frees what the caches hold.  May wait for other CPUs:
 * interrupts on and no spin lock held, otherwise it does less.
 */
void mm_reclaim(void);
void reclaim_interrupt(void); /* VEC_RECLAIM */
/* As page_spare; if that is false, asks again after mm_reclaim. */
bool mm_spare(unsigned flags);
