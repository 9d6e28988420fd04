/*
 * page.h - pages of memory (mm/page.c, mm/memory.c).
 */
#pragma once
#include "types.h"

#define PG_ZERO 1     /* filled with zeros */
#define PG_USER 2     /* programs decide how many: leaves the kernel's reserve alone */
#define PG_RESERVED 4 /* one of those that page_reserve has promised */
#define PG_URGENT 8   /* with PG_USER: what goes with such a page */
#define PG_STORE 16   /* with PG_USER: stays when processes end; leaves room to start some */
#define PG_CALL 32    /* goes with the call; may have a part of the reserve, no promised page */

/* One page, or 0 when there is none.  Any context, never blocks. */
paddr_t page_alloc(unsigned flags);
void page_free(paddr_t p);
/* 2^order contiguous pages, aligned to their size; 0: none. */
paddr_t page_alloc_order(unsigned order, unsigned flags);
void page_free_order(paddr_t p, unsigned order);
/* Pages are counted: page_alloc gives count 1, page_free drops one. */
void page_hold(paddr_t p);
unsigned page_count(paddr_t p);
/*
 * The page at p may lie in the initial RAM disk: makes it the caller's, as if page_alloc(PG_USER)
 * had given it out, with what it holds.  False: it is not a whole page of the disk, or not in memory
 * that is ours to use.  Once a page; CPU 0 alone.
 */
bool page_keep_initrd(paddr_t p);
/*
 * The first `read` bytes of the initial RAM disk will not be looked at again: the whole pages
 * among them that have not been kept may be used.  CPU 0 alone.
 */
void page_add_initrd(uint64_t read);
/*
 * Would page_alloc give a page with these flags?  The creator of an object that is smaller than a page
 * asks first, because the object's slab may have come with other flags.  Any context, never blocks.
 */
bool page_spare(unsigned flags);
uint64_t page_total(void), page_free_count(void); /* in pages; the caches' pages count as free */
/* At boot, on CPU 0: leaves so many pages free, and takes the others away for ever.  The reserve is then a
 * part of these.  False, and nothing happens: there are not so many. */
bool page_limit(uint64_t pages);
uint64_t page_user_count(void); /* given out with PG_USER or PG_RESERVED, in pages */
/*
 * Sets n pages aside for later allocations with PG_RESERVED: false if there are not so many
 * free that are not promised to others.  page_unreserve takes it back, for pages that have
 * come as for those that have not; a page that has come goes back by page_free as any other.
 */
bool page_reserve(uint64_t n);
void page_unreserve(uint64_t n);

/*
 * When memory has run out: gets back what the caches hold.  May wait for other CPUs:
 * interrupts on and no spin lock held, else it does less.
 */
void mm_reclaim(void);
/* page_spare, after a reclaim if need be. */
bool mm_spare(unsigned flags);
