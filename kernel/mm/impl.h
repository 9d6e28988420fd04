/*
 * impl.h - what the files of mm/ share among themselves.
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
#define PT_SPAN(level) (1ull << (12 + 9 * ((level)-1))) /* bytes that one entry maps */

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
 * The entry that maps the page at va of the kernel half, its tables made if they
 * are missing; NULL: no memory.  Takes the lock of the kernel's tables, which are
 * never freed; the entry itself is the caller's to guard.
 */
uint64_t *kernel_pte(uint64_t va);

/* --- page.c -------------------------------------------------------------------------- */

/* For memory.c.  The frame table for all below `top`: its bytes, and its place; then memory may come
 * in. */
uint64_t frames_size(paddr_t top);
void frames_init(void *table, paddr_t top);
/* [start, end) and what shares largest blocks with it will be the top zone.  Before page_add. */
void page_set_top(paddr_t start, paddr_t end);
/* [start, end) is free memory, in the largest aligned blocks. */
void page_add(paddr_t start, paddr_t end);
/* Allocations come from the top zone if `top`, else from the low one.  At boot, on CPU 0. */
void page_from_top(bool top);
/* p, which has not come in, is as if page_alloc(PG_USER) had handed it out. */
void page_adopt(paddr_t p);
bool page_in_use(paddr_t p); /* handed out */

paddr_t page_top(void); /* the end of the highest usable page */

/*
 * What a page is used as, for kfree: set for all pages of a block, by who has the
 * block from page_alloc_order.
 */
enum page_use { USE_OTHER, USE_SLAB, USE_LARGE };
void page_set_use(paddr_t p, unsigned order, enum page_use use);
enum page_use page_use(paddr_t p, unsigned *order);

/* --- memory.c ------------------------------------------------------------------------ */

/* Memory that the boot page tables do not reach: once the final ones are in place. */
void page_init_high(void);

/* --- cache.c, kstack.c --------------------------------------------------------------- */

void cache_init(void);
/* kmalloc begins slabs of its own, until false is given.  At boot, on CPU 0. */
void cache_apart(bool apart);
void cache_reap(void); /* gives memory that no object needs back to page.c */
/*
 * Gives the empty slabs of KC_STABLE caches back, all but `keep` of a cache that has more than
 * `most`.  Waits for all CPUs if there are any.  Interrupts on, no spin lock held.
 */
void cache_trim_stable(unsigned most, unsigned keep);
/* Gives back all free stacks but `keep`.  Waits as the former. */
void kstack_trim(unsigned keep);

/* --- selftest.c ---------------------------------------------------------------------- */

void mm_selftest(void); /* if the command line asks for it */

/* --- tlb.c --------------------------------------------------------------------------- */

void tlb_init_cpu(void);
/* Makes every CPU forget all of the kernel's translations too.  As tlb_shootdown. */
void tlb_flush_kernel(void);
/* Takes `as` off the CPUs that have it in CR3 for no reason but to save a reload. */
void tlb_evict(struct address_space *as);

/* --- mappings.c: the set of mappings of an address space; as->lock held -------------- */

/* A page of the kernel's choosing (as_map_page): the user cannot change its protection. */
#define MAPPING_KERNEL 0x80000000u
/* All of its pages have been reserved (page_reserve). */
#define MAPPING_RESERVED 0x20000000u

/* Is it the pages of a file that read finds too?  (Not shared anonymous memory.) */
bool mapping_shares_file(const struct mapping *m);

void mappings_init(void);
void mappings_init_space(struct address_space *as);
struct mapping *mapping_alloc(void); /* NULL: out of memory */
void mapping_free(struct mapping *m);
/* May the address space have n mappings more (WEFT_MAPPINGS_MAX)? */
bool mappings_fit(const struct address_space *as, unsigned n);
/* Does a mapping begin below `at` and end above it, so that mapping_split makes two? */
bool mapping_is_cut(struct address_space *as, vaddr_t at);
/* The mapping that contains addr, or NULL. */
struct mapping *mapping_find(struct address_space *as, vaddr_t addr);
/* The lowest mapping that ends above addr: at least as->limit. */
struct mapping *mapping_above(struct address_space *as, vaddr_t addr);
/* The next one: at last as->limit. */
struct mapping *mapping_next(const struct mapping *m);
/* Puts m, which overlaps nothing, in; merges it with its neighbours if it can. */
void mapping_insert(struct address_space *as, struct mapping *m);
/*
 * Takes [start, end) away.  `spare` is used if that makes two mappings out of one
 * (mapping_needs_spare); the result is what is left of it, NULL or spare.
 */
bool mapping_needs_spare(struct address_space *as, vaddr_t start, vaddr_t end);
struct mapping *mapping_remove(struct address_space *as, vaddr_t start, vaddr_t end,
			       struct mapping *spare);
/*
 * Makes `at` a boundary between mappings: true if it split one, with `spare`.
 */
bool mapping_split(struct address_space *as, vaddr_t at, struct mapping *spare);
/* Sets prot of all of [start, end), whose ends are boundaries, and merges. */
void mapping_set_prot(struct address_space *as, vaddr_t start, vaddr_t end, int prot);
/* Where len bytes are free below the stack, or 0. */
vaddr_t mapping_find_space(struct address_space *as, uint64_t len);

/* --- upt.c: the user half of an address space's page tables -------------------------- */

/* Flags of an entry that gives the user prot; no P for WEFT_PROT_NONE. */
uint64_t upt_flags(int prot);
/* The entry for addr, or NULL if a table above it is missing.  as->lock. */
uint64_t *upt_find(struct address_space *as, vaddr_t addr);
/* The same, with the tables made, from pages with these flags; NULL: no memory.  as->lock and
 * as->pt_lock. */
uint64_t *upt_make(struct address_space *as, vaddr_t addr, unsigned flags);
/* Flags for upt_make: for a page of m. */
static inline unsigned upt_page_flags(const struct mapping *m)
{
	return PG_USER | (m->flags & MAPPING_RESERVED ? PG_URGENT : 0);
}
/*
 * Takes the pages of [start, end) away from the user, without freeing them yet.  No
 * mapping lies in [low, high), which contains the range: tables that lie inside of
 * it go too.  True if a CPU may have a translation.  as->lock for writing.
 */
bool upt_revoke(struct address_space *as, vaddr_t start, vaddr_t end, vaddr_t low, vaddr_t high);
/* Frees what upt_revoke took away, once no CPU has a translation left. */
void upt_release(struct address_space *as, vaddr_t start, vaddr_t end, vaddr_t low, vaddr_t high);
/* Sets the protection of the pages that are there.  True if it took a right away. */
bool upt_protect(struct address_space *as, vaddr_t start, vaddr_t end, int prot);
/*
 * Gives `to`, which is nobody's yet, the pages of [start, end) too; neither may write to
 * them from now on.  *lost becomes true if a CPU may remember that it could.  -ENOMEM.
 * as->lock for writing.
 */
int upt_share(struct address_space *as, struct address_space *to, vaddr_t start, vaddr_t end,
	      bool *lost);

/* --- shm.c --------------------------------------------------------------------------- */

/*
 * `size` bytes (whole pages) of memory that mappings can share, held; reserved if asked for.
 * NULL: no memory.
 */
struct vnode *shm_create(uint64_t size, bool reserve);
/* page_reserve, after a reclaim if need be. */
bool mm_reserve(uint64_t npages);
