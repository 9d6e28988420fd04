/*
 * space.h - address spaces: their mappings, and the faults that bring in pages (mm/space.c,
 * mm/mappings.c, mm/fault.c, mm/copy.c).
 */
#pragma once
#include <weft/abi.h>
#include "spinlock.h"
#include "sync.h"
#include "tree.h"
#include "types.h"

struct trapframe;
struct vnode;

/*
 * exec_stack puts the first stack of a process at the top of user space.  A guard
 * below it forbids all access.  as_map without an address stays below both.
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
	struct mapping limit;    /* empty, at the end of user space: the last mapping */
	struct mapping *hint;    /* the mapping found last; readers write it: atomic */
	struct spinlock pt_lock; /* page tables, for readers of lock; a writer is alone */
	struct kmutex copying;   /* copy on write (mm/fault.c); after lock */
	paddr_t pml4;
	uint64_t size;       /* bytes mapped; lock */
	uint32_t nmappings;  /* in `mappings`, without `limit`; lock */
	uint64_t rss;        /* pages resident; pt_lock, or lock for writing */
	uint64_t rss_before; /* most pages before some were freed; lock for writing (as_rss_max) */
	uint64_t reserved;   /* pages of mappings with MAPPING_RESERVED; lock */
	uint64_t max_size, max_data, max_stack; /* limits in bytes (proc/limits.c); atomic */
	vaddr_t brk_start, brk;
	uint32_t refs; /* holds of as_create and as_hold; atomic */
	uint64_t cpus; /* CPUs that may hold translations (bit mask); atomic, mm/tlb.c */
};

struct address_space *as_create(void); /* NULL: out of memory */
/* The most pages that have been resident.  Not exact while LWPs fault; no lock. */
uint64_t as_rss_max(const struct address_space *as);
/* Adds a holder.  An LWP that takes p->as from another process calls it under p->lock. */
void as_hold(struct address_space *as);
/* Drops one hold, as_create's or as_hold's; the last frees all: no CPU may be using it. */
void as_destroy(struct address_space *as);
/*
 * Copies an address space, for fork.  The copy has the same mappings, except the pages that the
 * kernel puts into every process (as_map_page).  Private pages are shared until the first write to
 * them; shared mappings stay shared.  -ENOMEM: nothing has changed.  Takes as->lock; waits for
 * other CPUs; may sleep.
 */
int as_fork(struct address_space *as, struct address_space **out);

/*
 * Makes a mapping of [addr, addr + len).  Without WEFT_MAP_FIXED, if that is not free (or
 * addr is 0), maps anywhere below the stack.  With FIXED, replaces what was there.  SHARED memory
 * without a file is shared with the processes that fork makes.  Takes as->lock; may sleep.
 * Returns the address, or an error:
 * -EINVAL: zero or wrapping length, unaligned fixed address, both or none of SHARED
 * and PRIVATE, unknown bits;
 * -ENOMEM: no room; no memory for the mapping; more than WEFT_MAPPINGS_MAX; addresses outside user
 * space; beyond max_size; or, without WEFT_MAP_NORESERVE, writable or shared memory that cannot be
 * reserved.
 */
int64_t as_map(struct address_space *as, vaddr_t addr, uint64_t len, int prot, uint32_t flags,
	       struct vnode *vn, uint64_t off, uint64_t file_end);
#define AS_MAP_READONLY 0x40000000u /* flag of as_map: as_protect never allows writing */
/*
 * Unmaps what lies in the range, if anything.  When it returns no CPU can reach the
 * pages.  -EINVAL: unaligned, empty, or not all user space; -ENOMEM: no memory to
 * make two mappings out of one, or more than WEFT_MAPPINGS_MAX.  Takes as->lock; waits for other
 * CPUs; may sleep.
 */
int as_unmap(struct address_space *as, vaddr_t addr, uint64_t len);
/*
 * Changes the protection of all of the range; pages keep their contents, also under
 * WEFT_PROT_NONE.  When it returns no CPU has a right that was taken away.
 * After an error nothing has changed.  Takes as->lock; waits for other CPUs; may sleep.
 * -EINVAL: unaligned, or unknown bits;
 * -ENOMEM: not all of it is mapped, no memory to split a mapping or to reserve, or more than
 * WEFT_MAPPINGS_MAX;
 * -EACCES: it holds pages of the kernel's (as_map_page), or pages that the file forbids to write
 * (AS_MAP_READONLY).
 */
int as_protect(struct address_space *as, vaddr_t addr, uint64_t len, int prot);
/*
 * Frees the pages of the range, and keeps the mappings: the next access brings in fresh pages.
 * -EINVAL: unaligned, or pages of the kernel's; -ENOMEM: not all of it is mapped.
 * Takes as->lock; waits for other CPUs; may sleep.
 */
int as_discard(struct address_space *as, vaddr_t addr, uint64_t len);
/* 0 if all of the range is mapped; -EINVAL: unaligned; -ENOMEM.  Takes as->lock. */
int as_check(struct address_space *as, vaddr_t addr, uint64_t len);
/*
 * As as_check; also marks files as changed if they were written through shared mappings there
 * since the last call.  Waits for other CPUs.
 */
int as_sync(struct address_space *as, vaddr_t addr, uint64_t len);
/*
 * brk(2): grows or shrinks the heap; returns the break (unchanged if it cannot).
 * Takes as->lock; may wait and sleep as as_unmap.
 */
vaddr_t as_brk(struct address_space *as, vaddr_t to);
/* Maps one page that the kernel chose at a fixed user address (time page,
 * schedctl pages).  The user's access is prot and never changes.  The page gets one more
 * hold.  -EINVAL; -ENOMEM, also when something is mapped there already. */
int as_map_page(struct address_space *as, vaddr_t addr, paddr_t page, int prot);

#define FAULT_WRITE 1
#define FAULT_USER 2
#define FAULT_EXEC 4
/*
 * Resolves a fault at addr: 0, -EFAULT (no mapping, or its protection forbids the access), -EINVAL
 * (beyond the end of a mapped file), -ENOMEM (no page).  Takes as->lock for reading; may
 * sleep; interrupts on.
 */
int as_fault(struct address_space *as, vaddr_t addr, unsigned access);

/*
 * copyout into an address space that need not be the current one (the stack of a
 * process that has not started).  Faults each page in for writing and copies
 * through the direct map.  0, -EFAULT, -ENOMEM.  Takes as->lock; may sleep.
 */
int as_copyout(struct address_space *as, vaddr_t dst, const void *src, size_t n);
/* copyin from an address space that need not be the current one, in the same way. */
int as_copyin(struct address_space *as, void *dst, vaddr_t src, size_t n);

/*
 * Copies n bytes at addr if their pages are there; false: they are not.  Takes no lock: for a
 * report when nothing runs any more (proc/report.c).
 */
bool as_peek(struct address_space *as, vaddr_t addr, void *to, size_t n);

/* The first mapping that ends above addr; NULL: none.  as->lock held. */
const struct mapping *as_mapping_above(struct address_space *as, vaddr_t addr);
/*
 * Counts the pages of [*at, end) that are there, for some 0.1 ms.  Moves *at up to where it has
 * stopped: to `end` when it is done.  as->lock held.
 */
uint64_t as_resident(struct address_space *as, vaddr_t *at, vaddr_t end);

/* Makes `as` (NULL: the kernel's own) current on this CPU.  Interrupts off. */
void as_switch(struct address_space *as);

/*
 * A page fault: tries as_fault.  If that fails in kernel mode, resumes at the
 * fix-up of the user copy that faulted.  0: resolved or fixed up; -EFAULT, -EINVAL
 * or -ENOMEM: the user's fault (frame_is_user).  Panics on a bug of the kernel.
 */
int page_fault(struct trapframe *f, uint64_t addr);
