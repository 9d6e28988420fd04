/*
 * impl.h - what the files of mm/ share with each other.
 */
#pragma once
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/space.h>

/* --- page-table entries (Intel SDM 3A, 4.5) ------------------------------------------ */

#define PTE_P (1ull << 0)
#define PTE_W (1ull << 1)
#define PTE_U (1ull << 2)
#define PTE_PWT (1ull << 3)
#define PTE_PCD (1ull << 4)
#define PTE_A (1ull << 5)
#define PTE_D (1ull << 6)
#define PTE_PS (1ull << 7) /* a large page, in levels 2 and 3 */
#define PTE_G (1ull << 8)
#define PTE_NX (1ull << 63)
#define PTE_ADDR 0x000ffffffffff000ull

/* Levels count from 1, the tables of 4 KiB pages, to 4, the one that CR3 names. */
#define PT_LEVELS 4
#define PT_ENTRIES 512
#define PT_SPAN(level) (1ull << (12 + 9 * ((level)-1))) /* bytes that an entry maps */

static inline unsigned pt_index(uint64_t va, int level)
{
	return va / PT_SPAN(level) % PT_ENTRIES;
}
static inline uint64_t *pt_table(uint64_t entry)
{
	return phys_to_virt(entry & PTE_ADDR);
}

/* --- pagetable.c: the kernel's own tables -------------------------------------------- */

extern paddr_t kernel_pml4;
extern bool cpu_has_smap; /* usercopy.S reads it */

static inline void load_cr3(paddr_t pml4)
{
	__asm__ volatile("movq %0, %%cr3" ::"r"(pml4) : "memory");
}

/*
 * The entry that maps the page at va of the kernel half; missing tables above it are made.
 * NULL: out of memory.  Takes the lock of the kernel's tables, which are never freed.  The
 * caller guards the entry itself.
 */
uint64_t *kernel_pte(uint64_t va);

/* --- page.c -------------------------------------------------------------------------- */

/*
 * For memory.c.  frames_size: the bytes of a frame table for all memory below `top`.
 * frames_init: the frame table is at `table`; memory can be added from now on.
 */
uint64_t frames_size(paddr_t top);
void frames_init(void *table, paddr_t top);
/* Makes [start, end), and all that shares largest blocks with it, the top zone.  Call it before
 * page_add. */
void page_set_top(paddr_t start, paddr_t end);
/* Adds [start, end) as free memory, in the largest aligned blocks. */
void page_add(paddr_t start, paddr_t end);
/* Makes allocations come from the top zone if `top`, else from the low one.  At boot, on CPU 0. */
void page_from_top(bool top);
/* Adds p, which was not managed yet, as a page that page_alloc(PG_USER) has handed out. */
void page_adopt(paddr_t p);
bool page_in_use(paddr_t p); /* has the page been handed out? */

paddr_t page_top(void); /* the end of the highest usable page */

/*
 * What a page is used as; kfree asks.  The owner of a block from page_alloc_order sets it for all
 * pages of the block.
 */
enum page_use { USE_OTHER, USE_SLAB, USE_LARGE };
void page_set_use(paddr_t p, unsigned order, enum page_use use);
enum page_use page_use(paddr_t p, unsigned *order);

/* --- memory.c ------------------------------------------------------------------------ */

/* Adds the memory that the boot page tables do not reach.  Call it with the final ones in place. */
void page_init_high(void);

/* --- cache.c, kstack.c --------------------------------------------------------------- */

void cache_init(void);
/* true: kmalloc's caches begin slabs of their own, until false is given.  At boot, on CPU 0. */
void cache_apart(bool apart);
/* Frees the pages that hold no object in use, except what other CPUs' magazines hold. */
void cache_reap(void);
/* A bit for each CPU that has magazines.  A guess: each CPU changes its own without a lock. */
uint64_t cache_holders(void);
/* Moves this CPU's magazines to where cache_reap of any CPU finds them.  Interrupts off. */
void cache_give_back(void);
/*
 * Frees the empty slabs of KC_STABLE caches: of a cache that has more than `most`, all
 * except `keep`.  If there are any to free, waits for all CPUs.  Interrupts on, no spin lock
 * held.
 */
void cache_trim_stable(unsigned most, unsigned keep);
/* The CPUs that have free stacks of their own; one whose stacks come and go may be missed. */
uint64_t kstack_holders(void);
/* Moves this CPU's own free stacks to the list that kstack_trim frees. */
void kstack_give_back(void);
/* Frees the memory of the free stacks on the list, except `keep`.  Waits as cache_trim_stable. */
void kstack_trim(unsigned keep);

/* --- selftest.c ---------------------------------------------------------------------- */

void mm_selftest(void); /* if the command line asks for it */

/* --- tlb.c --------------------------------------------------------------------------- */

void tlb_init_cpu(void);
/* Makes every CPU forget all translations, the kernel's too.  Waits as tlb_shootdown. */
void tlb_flush_kernel(void);
/* Removes `as` from the CPUs that keep it in CR3 only to save a reload. */
void tlb_evict(struct address_space *as);

/* --- mappings.c: the set of mappings of an address space; as->lock held -------------- */

/* A page that the kernel chose (as_map_page): the user cannot change its protection. */
#define MAPPING_KERNEL 0x80000000u
/* All of its pages have been reserved (page_reserve). */
#define MAPPING_RESERVED 0x20000000u

/* Does m show the pages that read finds in the file?  Shared anonymous memory does not. */
bool mapping_shares_file(const struct mapping *m);

void mappings_init(void);
void mappings_init_space(struct address_space *as);
struct mapping *mapping_alloc(void); /* NULL: out of memory */
void mapping_free(struct mapping *m);
/* Is there room for n mappings more in the address space (WEFT_MAPPINGS_MAX)? */
bool mappings_fit(const struct address_space *as, unsigned n);
/* Does a mapping begin below `at` and end above it, so that mapping_split makes two? */
bool mapping_is_cut(struct address_space *as, vaddr_t at);
/* The mapping that contains addr, or NULL. */
struct mapping *mapping_find(struct address_space *as, vaddr_t addr);
/* The lowest mapping that ends above addr; if there is no other, as->limit. */
struct mapping *mapping_above(struct address_space *as, vaddr_t addr);
/* The next mapping; after the last one, as->limit. */
struct mapping *mapping_next(const struct mapping *m);
/* Inserts m, which overlaps no mapping, and merges it with its neighbours if it can. */
void mapping_insert(struct address_space *as, struct mapping *m);
/*
 * mapping_remove removes [start, end) from the set.  mapping_needs_spare: would that make two
 * mappings out of one?  Then it uses `spare` for the second.  Returns NULL if it has used
 * spare, and spare if not.
 */
bool mapping_needs_spare(struct address_space *as, vaddr_t start, vaddr_t end);
struct mapping *mapping_remove(struct address_space *as, vaddr_t start, vaddr_t end,
			       struct mapping *spare);
/* Makes `at` a boundary between mappings.  True: it has split a mapping, and used `spare`. */
bool mapping_split(struct address_space *as, vaddr_t at, struct mapping *spare);
/* Sets prot of all of [start, end), and merges neighbours.  Both ends are boundaries. */
void mapping_set_prot(struct address_space *as, vaddr_t start, vaddr_t end, int prot);
/* An address below the stack where len bytes are free, or 0. */
vaddr_t mapping_find_space(struct address_space *as, uint64_t len);

/* --- upt.c: the user half of an address space's page tables -------------------------- */

/* Flags of an entry that gives the user prot; WEFT_PROT_NONE: without PTE_P. */
uint64_t upt_flags(int prot);
/* The entry for addr, or NULL if a table above it is missing.  as->lock held. */
uint64_t *upt_find(struct address_space *as, vaddr_t addr);
/*
 * The entry for addr; missing tables above it are made from pages with these flags.  NULL: out
 * of memory.  as->lock and as->pt_lock held.
 */
uint64_t *upt_make(struct address_space *as, vaddr_t addr, unsigned flags);
/* Flags for upt_make, for an entry in the mapping m. */
static inline unsigned upt_page_flags(const struct mapping *m)
{
	return PG_USER | (m->flags & MAPPING_RESERVED ? PG_URGENT : 0);
}
/*
 * Takes the pages of [start, end) away from the user, without freeing them yet.  No
 * mapping lies in [low, high), which contains the range; tables that lie inside of
 * it are taken away too.  True if a CPU may have a translation.  as->lock held for writing.
 */
bool upt_revoke(struct address_space *as, vaddr_t start, vaddr_t end, vaddr_t low, vaddr_t high);
/* Frees what upt_revoke took away.  Call it when no CPU has a translation left. */
void upt_release(struct address_space *as, vaddr_t start, vaddr_t end, vaddr_t low, vaddr_t high);
/* Sets the protection of the pages that are there.  True if that took a right away. */
bool upt_protect(struct address_space *as, vaddr_t start, vaddr_t end, int prot);
/*
 * Gives `to`, which no CPU uses yet, the pages of [start, end) too.  Neither address space may
 * write to them from now on.  *lost becomes true if a CPU may remember that `as` could.
 * -ENOMEM.  as->lock held for writing.
 */
int upt_share(struct address_space *as, struct address_space *to, vaddr_t start, vaddr_t end,
	      bool *lost);

/* --- shm.c --------------------------------------------------------------------------- */

/*
 * Makes `size` bytes (whole pages) of memory that mappings can share.  The caller gets a hold of
 * it.  reserve: its pages are reserved.  NULL: out of memory.
 */
struct vnode *shm_create(uint64_t size, bool reserve);
/* As page_reserve; tries again after mm_reclaim if that fails. */
bool mm_reserve(uint64_t npages);
