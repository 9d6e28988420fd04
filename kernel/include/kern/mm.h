/*
 * mm.h - memory: pages, object caches, kernel stacks, address spaces, user
 * copies, TLB shoot-down.
 *
 * Layout of the kernel half (shared by all address spaces; its top-level
 * entries are made at boot and never change):
 *
 *	KDIRECT  all physical memory, RW, NX; at least the first 4 GiB, uncached where
 *	         there is no RAM: device registers are reached here too
 *	KSTACKS  kernel stacks, each with an unmapped guard page below
 *	KIMAGE   the kernel: text R-X, rodata R--, data RW-
 */
#pragma once
#include <weft/abi.h>
#include "types.h"
#include "spinlock.h"
#include "sync.h"
#include "tree.h"

#define KDIRECT 0xffff800000000000ull
#define KSTACKS 0xffffc00000000000ull
#define KIMAGE 0xffffffff80000000ull

static inline void *phys_to_virt(paddr_t p)
{
	return (void *)(KDIRECT + p);
}
static inline paddr_t virt_to_phys(const void *v) /* direct map only */
{
	return (paddr_t)v - KDIRECT;
}
/* Physical address of an object in the kernel image. */
static inline paddr_t image_to_phys(const void *v)
{
	return (paddr_t)v - KIMAGE;
}

/* --- pages (mm/page.c, mm/memory.c) ------------------------------------ */

void page_init(void);     /* from boot_info; CPU 0, before any allocation */
void page_init_cpu(void); /* this CPU's cache */

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

/* --- object caches (mm/cache.c) ---------------------------------------- */

/*
 * Fixed-size kernel objects.  The memory of a type-stable cache (KC_STABLE) becomes nothing else
 * while a CPU has interrupts off: so a pointer that is found with interrupts off points at an
 * object of that type until they are on again, freed or not; one may lock it and then check whether
 * it is the one meant.  The constructor runs once for each object, when its slab is made.
 */
struct kcache;
#define KC_STABLE 1
#define KC_USER 2 /* programs decide how many there are: leaves the kernel's reserve alone */
struct kcache *kcache_create(const char *name, size_t size, size_t align, unsigned flags,
			     void (*ctor)(void *));
void *kcache_alloc(struct kcache *c); /* NULL: out of memory.  Never blocks. */
void kcache_free(struct kcache *c, void *obj);
/*
 * Odd sizes, up to 1 MiB; aligned to 16.  NULL: out of memory.  Any context, never blocks.
 * kmalloc and kzalloc are for what goes with the call, or with something that takes pages with
 * PG_USER; the others for what programs decide how many there are: NULL, too, if page_spare says
 * no to PG_USER.
 */
void *kmalloc(size_t size);
void *kzalloc(size_t size);
void *kmalloc_user(size_t size);
void *kzalloc_user(size_t size);
void kfree(void *p); /* NULL is harmless */

/*
 * What cache number n holds, from 0; false: there are no more.  The objects that are in use
 * are exact while nobody takes or gives back any.
 */
struct kcache_info {
	const char *name;
	size_t size;          /* of an object, bytes */
	uint64_t used, pages; /* objects in use; pages of the cache's slabs */
};
bool kcache_info(unsigned n, struct kcache_info *info);

/*
 * When memory has run out: gets back what the caches hold.  May wait for other CPUs:
 * interrupts on and no spin lock held, else it does less.
 */
void mm_reclaim(void);
/* page_spare, after a reclaim if need be. */
bool mm_spare(unsigned flags);

/* --- kernel stacks (mm/kstack.c) --------------------------------------- */

#ifdef WEFT_DEBUG
#define KSTACK_SIZE (16 * 1024)
#else
#define KSTACK_SIZE (8 * 1024)
#endif
/* Returns the top (16-byte aligned), NULL when out of memory.  Freed stacks are
 * cached, mapped, so that LWP creation seldom touches page tables.  No TLB
 * shoot-down is needed: a stack's address is never used for anything else. */
void *kstack_alloc(void);
void kstack_free(void *top);
/* Pages of stacks that wait for the next LWP: exact while none is made or ends. */
uint64_t kstack_kept(void);
/* Does this address lie in a guard page? (for the double-fault message) */
bool kstack_is_guard(uint64_t addr);

/* --- address spaces (mm/space.c, mm/fault.c) --------------------------- */

struct vnode;

/*
 * Where exec_stack puts the first stack of a process: at the top, with a guard
 * below it that forbids all access.  as_map without an address stays below both.
 */
#define USER_STACK_TOP WEFT_USER_END
#define USER_STACK_SIZE (8ull << 20)
#define USER_STACK_GUARD (64ull << 10)

struct mapping {                   /* [start, end), page-aligned, one protection, one origin */
	struct tree_node node;     /* as->mappings */
	struct tree_node gap_node; /* as->gaps, while gap is not 0 */
	vaddr_t start, end;
	uint64_t gap;        /* free bytes below it that as_map may choose */
	uint8_t prot;        /* WEFT_PROT_* */
	uint32_t flags;      /* WEFT_MAP_* */
	struct vnode *vnode; /* file of an ELF segment; NULL: anonymous */
	uint64_t off;        /* offset in the file of `start` */
	uint64_t file_end;   /* bytes beyond this offset read as zero */
};

struct address_space {
	struct krwlock lock;     /* mappings: read by faults, written by mmap etc.  Sleeps. */
	struct tree mappings;    /* by address, no overlaps; the last is `limit` */
	struct tree gaps;        /* by size of the gap below */
	struct mapping limit;    /* stands for what is above user space: empty, at its end */
	struct mapping *hint;    /* last one found: of readers, so atomic */
	struct spinlock pt_lock; /* page tables, among readers of lock; a writer is alone */
	struct kmutex copying;   /* copy on write (mm/fault.c); after lock */
	paddr_t pml4;
	uint64_t size;       /* bytes mapped; lock */
	uint32_t nmappings;  /* in `mappings`, without `limit`; lock */
	uint64_t rss;        /* pages resident; pt_lock, or lock for writing */
	uint64_t rss_before; /* the most before pages went; lock for writing (as_rss_max) */
	uint64_t reserved;   /* pages of mappings with MAPPING_RESERVED; lock */
	uint64_t max_size, max_data, max_stack; /* limits in bytes (proc/limits.c); atomic */
	vaddr_t brk_start, brk;
	uint32_t refs; /* as_create, as_hold; atomic */
	uint64_t cpus; /* CPUs that may hold translations (bit mask); atomic, mm/tlb.c */
};

struct address_space *as_create(void); /* NULL: out of memory */
/* The most pages that have been resident.  A rough answer while LWPs fault; no lock. */
uint64_t as_rss_max(const struct address_space *as);
/* One more who may look at it.  Whoever takes p->as from a process does, under p->lock. */
void as_hold(struct address_space *as);
/* Drops one hold, as_create's or as_hold's; the last frees all: no CPU may be using it. */
void as_destroy(struct address_space *as);
/*
 * A copy of an address space, for fork: the same mappings, private pages shared until
 * somebody writes, shared mappings shared; but without the pages that the kernel puts into
 * every process (as_map_page).  -ENOMEM: nothing has changed.  Takes as->lock; waits for
 * other CPUs; may sleep.
 */
int as_fork(struct address_space *as, struct address_space **out);

/*
 * Maps [addr, addr + len) afresh; without WEFT_MAP_FIXED, if that is not free (or
 * addr is 0), anywhere below the stack.  Returns the address, or a negative error:
 * -EINVAL (zero or wrapping length, unaligned fixed address, both or none of SHARED
 * and PRIVATE, unknown bits), -ENOMEM (no room, no memory for the mapping; more than
 * WEFT_MAPPINGS_MAX; addresses outside user space; beyond max_size; without WEFT_MAP_NORESERVE, memory to be written or
 * shared that cannot be reserved).  Replaces what was there if FIXED.  SHARED memory without a file is
 * shared with the processes that fork makes.  Takes as->lock; may sleep.
 */
int64_t as_map(struct address_space *as, vaddr_t addr, uint64_t len, int prot, uint32_t flags,
	       struct vnode *vn, uint64_t off, uint64_t file_end);
#define AS_MAP_READONLY 0x40000000u /* flag of as_map: as_protect never allows writing */
/*
 * Unmaps what lies in the range, if anything.  When it returns no CPU can reach the
 * pages.  -EINVAL: unaligned, empty, or not all user space; -ENOMEM: no memory to
 * make two mappings out of one, or more than WEFT_MAPPINGS_MAX.  Takes as->lock; waits for other CPUs; may sleep.
 */
int as_unmap(struct address_space *as, vaddr_t addr, uint64_t len);
/*
 * Changes the protection of all of the range; pages keep their contents under
 * WEFT_PROT_NONE too.  When it returns no CPU has a right that was taken away.
 * -EINVAL: unaligned, or unknown bits; -ENOMEM: not all of it is mapped, no memory
 * to split a mapping or to reserve, or more than WEFT_MAPPINGS_MAX; -EACCES: it holds pages of the kernel's (as_map_page), or ones that
 * the file forbids to write (AS_MAP_READONLY).  After
 * an error nothing has changed.  Takes as->lock; waits for other CPUs; may sleep.
 */
int as_protect(struct address_space *as, vaddr_t addr, uint64_t len, int prot);
/*
 * Takes the pages of the range away, but not the mappings: the next touch brings them
 * afresh.  -EINVAL: unaligned, or pages of the kernel's; -ENOMEM: not all of it is mapped.
 * Takes as->lock; waits for other CPUs; may sleep.
 */
int as_discard(struct address_space *as, vaddr_t addr, uint64_t len);
/* 0 if all of the range is mapped; -EINVAL: unaligned; -ENOMEM.  Takes as->lock. */
int as_check(struct address_space *as, vaddr_t addr, uint64_t len);
/*
 * The same, and marks files as changed that were written through shared mappings there since
 * the last call.  Waits for other CPUs.
 */
int as_sync(struct address_space *as, vaddr_t addr, uint64_t len);
/*
 * brk(2): grows or shrinks the heap; returns the break (unchanged if it cannot).
 * Takes as->lock; may wait and sleep as as_unmap.
 */
vaddr_t as_brk(struct address_space *as, vaddr_t to);
/* Maps one page of the kernel's choosing at a fixed user address (time page,
 * schedctl pages); prot is what the user gets, for good.  The page gets one more
 * hold.  -EINVAL; -ENOMEM, also when something is mapped there already. */
int as_map_page(struct address_space *as, vaddr_t addr, paddr_t page, int prot);

#define FAULT_WRITE 1
#define FAULT_USER 2
#define FAULT_EXEC 4
/*
 * Resolves a fault at addr: 0, -EFAULT (no mapping, or one that forbids it), -EINVAL
 * (beyond the end of a mapped file), -ENOMEM (no page).  Takes as->lock for reading; may
 * sleep; interrupts on.
 */
int as_fault(struct address_space *as, vaddr_t addr, unsigned access);

/*
 * copyout into an address space that need not be the current one (the stack of a
 * process that has not started): faults each page in for writing and copies
 * through the direct map.  0, -EFAULT, -ENOMEM.  Takes as->lock; may sleep.
 */
int as_copyout(struct address_space *as, vaddr_t dst, const void *src, size_t n);
/* copyin from an address space that need not be the current one: the same way. */
int as_copyin(struct address_space *as, void *dst, vaddr_t src, size_t n);

/* The first mapping that ends above addr; NULL: none.  as->lock held. */
const struct mapping *as_mapping_above(struct address_space *as, vaddr_t addr);
/*
 * Counts the pages of [*at, end) that are there, as far as it comes in some 0.1 ms, and moves *at up
 * to where it has stopped: to `end` when it is done.  as->lock held.
 */
uint64_t as_resident(struct address_space *as, vaddr_t *at, vaddr_t end);

/* Makes `as` (NULL: the kernel's own) current on this CPU.  Interrupts off. */
void as_switch(struct address_space *as);

/* --- user memory (mm/usercopy.S, usercopy.c) --------------------------- */

/*
 * All may fault the page in, so may sleep; no spin lock may be held.  0, or
 * -EFAULT when any byte is not the current process's to read or write.
 */
int copyin(void *dst, vaddr_t src, size_t n);
int copyout(vaddr_t dst, const void *src, size_t n);
/* Copies a string with its NUL; the length without it, or -EFAULT,
 * -ENAMETOOLONG when size bytes hold no NUL: dst has them then. */
int64_t copyinstr(char *dst, vaddr_t src, size_t size);

/*
 * Single accesses that may be made under a spin lock, since they do not wait for a page:
 * -EFAULT if it is not there, for reading or writing as needed; then as_fault brings it,
 * or says why it cannot.  p is aligned, and below WEFT_USER_END.  Interrupts off.
 * user_cas: 0: *p was *old and is `new` now; 1: it was not, and *old is what it was.
 * Sequentially consistent.
 */
int user_load32(uint32_t *to, vaddr_t p);
int user_load64(uint64_t *to, vaddr_t p);
int user_cas32(vaddr_t p, uint32_t *old, uint32_t new);
int user_cas64(vaddr_t p, uint64_t *old, uint64_t new);

/*
 * What names a place in memory to all who can reach it (mm/key.c): the object that is
 * mapped there and the offset in it; for private memory the address space and the
 * address.  So it is the same before and after a page is copied or replaced.
 */
struct user_key {
	const void *object;
	uint64_t offset;
	struct vnode *held; /* keeps the object, if it is not the address space */
};
/*
 * The key of addr in the current process; with shared false as for private memory,
 * whatever is there.  -EFAULT: nothing is mapped there.  What comes back is held until
 * user_key_put.  Takes as->lock; may sleep.
 */
int user_key_get(struct user_key *key, vaddr_t addr, bool shared);
void user_key_put(struct user_key *key);

/* --- page faults from the kernel's side (cpu/trap.c calls) -------------- */

/*
 * A page fault: tries as_fault; when that fails in kernel mode, resumes at the
 * fix-up of the user copy that faulted.  0: resolved or fixed up; -EFAULT, -EINVAL
 * or -ENOMEM: the user's fault (frame_is_user).  Panics on a bug of the kernel.
 */
struct trapframe;
int page_fault(struct trapframe *f, uint64_t addr);

/* --- TLB (mm/tlb.c) ----------------------------------------------------- */

/*
 * Makes every CPU forget its translations of [start, end) in `as`.  Called with
 * interrupts on and no spin lock held: it waits for the other CPUs.  Requests to
 * one CPU are batched: a CPU that has not yet answered gets no second interrupt.
 */
void tlb_shootdown(struct address_space *as, vaddr_t start, vaddr_t end);
void tlb_interrupt(void); /* VEC_TLB */

uint64_t kernel_table_pages(void); /* pages of the kernel's page tables; they stay */

void mm_init(void);     /* kernel page tables with W^X, direct map, caches; CPU 0 */
void mm_init_cpu(void); /* each CPU: CR0.WP, NX, SMEP, SMAP, caches */
