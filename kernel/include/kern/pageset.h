/*
 * pageset.h - the pages of a file that lives in memory, by index: sparse, as large as a
 * file can be, O(log size).  read and write copy from and to these pages, and mmap maps
 * the same pages.
 *
 * The set has a hold of each of its pages; so has every mapping of one.  A page that
 * leaves the set (pageset_truncate) stays until its last mapping is removed.
 */
#pragma once
#include "spinlock.h"
#include "types.h"

#define PAGESET_MAX (1ull << 36) /* pages: indices are below */

struct pageset {
	struct spinlock lock; /* only the page allocator's come below it; guards all below */
	paddr_t root;         /* the top node, 512 entries; 0: none */
	unsigned levels;      /* of nodes: 0 with root 0 */
	uint64_t npages;      /* in the set */
};

void pageset_init(struct pageset *ps);
/*
 * The page with this index, held for the caller.  A missing page is made, filled with zeros, by
 * page_alloc(flags | PG_ZERO).  -ENOMEM, -EFBIG (index).  Never blocks.
 */
int pageset_get(struct pageset *ps, uint64_t index, unsigned flags, paddr_t *page);
/*
 * Makes `page` the page with this index, which is missing.  The set takes over the caller's
 * hold.  -ENOMEM, -EFBIG (index): the caller keeps the hold.  Never blocks.
 */
int pageset_put(struct pageset *ps, uint64_t index, paddr_t page);
/* As pageset_get, but 0 if there is none: a hole reads as zeros. */
paddr_t pageset_find(struct pageset *ps, uint64_t index);
/* Drops the pages from index `from` on; 0: all of them, and the set's own memory.  May
 * give up the CPU. */
void pageset_truncate(struct pageset *ps, uint64_t from);
