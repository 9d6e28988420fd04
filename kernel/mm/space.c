/*
 * space.c - address spaces: mmap, munmap, mprotect and brk, on top of the set of mappings
 * (mappings.c) and the page tables (upt.c).
 *
 * A call that changes mappings holds as->lock for writing from the first check to the
 * end of the shoot-down, so a fault finds either all of the old or all of the new.
 * Memory that a change needs is allocated before anything changes: a call that fails
 * has changed nothing.
 *
 * A loop over mappings gives up the CPU after each one if another LWP needs it (preempt_point):
 * the time of a call depends on its range, the delay of other LWPs does not.  as->lock stays
 * held, so the current mapping of the loop, and the next one, are there when it goes on.
 *
 * A page is allocated at its first access.  Memory that a process may write, and that nothing
 * else holds, is reserved when it is mapped (page_reserve): the call fails with ENOMEM, and no
 * access fails later.  as->reserved counts the reserved pages; MAPPING_RESERVED marks their
 * mappings.  Memory with WEFT_MAP_NORESERVE is not reserved.  A process that touches it when no
 * memory is left is killed.
 *
 * Locks: as->lock (sleeps), then the object caches' and the page allocator's.
 */
#include <weft/errno.h>
#include <weft/mman.h>
#include <kern/cache.h>
#include <kern/file.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <kern/tlb.h>
#include "impl.h"

#define PROT_ALL (WEFT_PROT_READ | WEFT_PROT_WRITE | WEFT_PROT_EXEC)
#define SHARING (WEFT_MAP_SHARED | WEFT_MAP_PRIVATE)
#define MAP_ALL (SHARING | WEFT_MAP_FIXED | WEFT_MAP_ANON | WEFT_MAP_NORESERVE | AS_MAP_READONLY)

/* A process that ends leaves free stacks and empty slabs of LWPs.  So many stacks are kept for
 * the next process; so many slabs, too, when there are more than twice as many. */
#define KEEP_STACKS 64
#define KEEP_SLABS 16

/* --- life ---------------------------------------------------------------------------- */

struct address_space *as_create(void)
{
	struct address_space *as = kzalloc(sizeof(*as));
	paddr_t pml4 = page_alloc(PG_ZERO | PG_USER);
	if (as == NULL || pml4 == 0) {
		kfree(as);
		if (pml4 != 0)
			page_free(pml4);
		return NULL;
	}
	const size_t half = PAGE_SIZE / 2;
	memcpy((char *)phys_to_virt(pml4) + half, (char *)phys_to_virt(kernel_pml4) + half, half);
	as->pml4 = pml4;
	as->refs = 1;
	as->max_size = as->max_data = as->max_stack = UINT64_MAX;
	krw_init(&as->lock, "address space");
	spin_init(&as->pt_lock, "user page tables");
	kmutex_init(&as->copying, "copy on write");
	mappings_init_space(as);
	return as;
}

void as_hold(struct address_space *as)
{
	__atomic_fetch_add(&as->refs, 1, __ATOMIC_RELAXED);
}

void as_destroy(struct address_space *as)
{
	/* Acquire and release: all that other holders did with it comes before its end. */
	if (__atomic_sub_fetch(&as->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	tlb_evict(as);
	mapping_remove(as, 0, WEFT_USER_END, NULL);
	upt_release(as, 0, PT_SPAN(4) * PT_ENTRIES / 2, 0, PT_SPAN(4) * PT_ENTRIES / 2);
	assert(as->size == 0 && as->rss == 0);
	page_unreserve(as->reserved);
	page_free(as->pml4);
	kfree(as);
	kstack_trim(KEEP_STACKS);
	cache_trim_stable(2 * KEEP_SLABS, KEEP_SLABS);
}

/* Enters a copy of m into `to`, without its pages. */
static int copy_mapping(struct address_space *to, const struct mapping *m)
{
	struct mapping *copy = mapping_alloc();
	if (copy == NULL)
		return -ENOMEM;
	copy->start = m->start;
	copy->end = m->end;
	copy->prot = m->prot;
	copy->flags = m->flags;
	copy->vnode = m->vnode;
	copy->off = m->off;
	copy->file_end = m->file_end;
	if (copy->vnode != NULL)
		vnode_hold(copy->vnode);
	mapping_insert(to, copy);
	return 0;
}

int as_fork(struct address_space *as, struct address_space **out)
{
	struct address_space *to = as_create();
	bool lost = false;
	int err = 0;

	if (to == NULL)
		return -ENOMEM;
	krw_write_enter(&as->lock);
	if (mm_reserve(as->reserved))
		to->reserved = as->reserved;
	else
		err = -ENOMEM;
	for (struct mapping *m = mapping_above(as, 0); m != &as->limit && err == 0;
	     m = mapping_next(m)) {
		if (m->flags & MAPPING_KERNEL)
			continue;
		err = copy_mapping(to, m);
		/* Pages of a shared mapping are found again through its vnode. */
		if (err == 0 && (m->flags & WEFT_MAP_PRIVATE))
			err = upt_share(as, to, m->start, m->end, &lost);
		preempt_point();
	}
	to->brk_start = as->brk_start;
	to->brk = as->brk;
	/* From here on no CPU can write to a page that the child has too. */
	if (lost)
		tlb_shootdown(as, 0, WEFT_USER_END);
	krw_write_exit(&as->lock);
	if (err != 0)
		as_destroy(to);
	else
		*out = to;
	return err;
}

/* --- helpers; as->lock held for writing ---------------------------------------------- */

static bool in_user(vaddr_t addr, uint64_t len)
{
	return addr >= WEFT_USER_START && addr <= WEFT_USER_END && len <= WEFT_USER_END - addr;
}

/*
 * Finds the end of [addr, addr + len) in whole pages.  -EINVAL: unaligned; -ENOMEM: not all of
 * it lies in user space.
 */
static int range_end(vaddr_t addr, uint64_t len, vaddr_t *end)
{
	if (addr % PAGE_SIZE != 0)
		return -EINVAL;
	/* A length that wraps when it is rounded would look like an empty range. */
	if (len > WEFT_USER_END || !in_user(addr, PAGE_ROUND_UP(len)))
		return -ENOMEM;
	*end = addr + PAGE_ROUND_UP(len);
	return 0;
}

static bool is_free(struct address_space *as, vaddr_t start, vaddr_t end)
{
	return mapping_above(as, start)->start >= end;
}

/* Must memory with this protection and these flags be reserved? */
static bool to_reserve(int prot, uint32_t flags)
{
	return (prot & WEFT_PROT_WRITE) && (flags & WEFT_MAP_PRIVATE) &&
	       !(flags & (WEFT_MAP_NORESERVE | MAPPING_RESERVED | MAPPING_KERNEL));
}

/* How many pages of [start, end) are reserved. */
static uint64_t reserved_in(struct address_space *as, vaddr_t start, vaddr_t end)
{
	uint64_t bytes = 0;

	for (struct mapping *m = mapping_above(as, start); m->start < end; m = mapping_next(m)) {
		if (m->flags & MAPPING_RESERVED)
			bytes += MIN(m->end, end) - MAX(m->start, start);
		preempt_point();
	}
	return bytes / PAGE_SIZE;
}

/*
 * Unmaps [start, end) and frees its pages.  -ENOMEM: the range lies in the middle of a
 * mapping, and there is no memory, or no room in the set, for a second mapping.
 */
static int as_unmap_locked(struct address_space *as, vaddr_t start, vaddr_t end)
{
	struct mapping *spare = NULL;

	if (is_free(as, start, end))
		return 0;
	if (mapping_needs_spare(as, start, end)) {
		spare = mappings_fit(as, 1) ? mapping_alloc() : NULL;
		if (spare == NULL)
			return -ENOMEM;
	}
	uint64_t reserved = reserved_in(as, start, end);
	mapping_remove(as, start, end, spare);

	struct mapping *above = mapping_above(as, start);
	struct tree_node *n = tree_prev(&above->node);
	vaddr_t low = n != NULL ? CONTAINER_OF(n, struct mapping, node)->end : 0;
	if (upt_revoke(as, start, end, low, above->start))
		tlb_shootdown(as, start, end);
	upt_release(as, start, end, low, above->start);
	as->reserved -= reserved;
	page_unreserve(reserved);
	return 0;
}

/* --- mmap and munmap ----------------------------------------------------------------- */

/* The address for a mapping without WEFT_MAP_FIXED, or 0. */
static vaddr_t gap_choose(struct address_space *as, vaddr_t hint, uint64_t len)
{
	hint = PAGE_ROUND_DOWN(hint);
	if (in_user(hint, len) && is_free(as, hint, hint + len))
		return hint;
	return mapping_find_space(as, len);
}

int64_t as_map(struct address_space *as, vaddr_t addr, uint64_t len, int prot, uint32_t flags,
	       struct vnode *vn, uint64_t off, uint64_t file_end)
{
	bool fixed = flags & WEFT_MAP_FIXED;
	uint32_t sharing = flags & SHARING;

	len = PAGE_ROUND_UP(len);
	if (len == 0 || (prot & ~PROT_ALL) || (flags & ~MAP_ALL) || sharing == 0 ||
	    sharing == SHARING || (fixed && addr % PAGE_SIZE != 0) || off % PAGE_SIZE != 0)
		return -EINVAL;
	if (fixed && !in_user(addr, len))
		return -ENOMEM;
	if (vn == NULL && sharing == WEFT_MAP_SHARED) {
		vn = shm_create(len, !(flags & WEFT_MAP_NORESERVE));
		if (vn == NULL)
			return -ENOMEM;
		off = 0;
		file_end = UINT64_MAX;
	} else if (vn != NULL) {
		vnode_hold(vn);
	}
	uint64_t reserve = to_reserve(prot, flags) ? len / PAGE_SIZE : 0;
	bool reserved = mm_reserve(reserve);

	krw_write_enter(&as->lock);
	int64_t r = -ENOMEM;
	struct mapping *m = mapping_alloc();
	if (!fixed)
		addr = gap_choose(as, addr, len);
	/* One mapping more; two if the new mapping cuts an old mapping in two. */
	unsigned more = fixed && mapping_needs_spare(as, addr, addr + len) ? 2 : 1;
	if (m != NULL && addr != 0 && reserved && mappings_fit(as, more) &&
	    as->size <= as->max_size && len <= as->max_size - as->size)
		r = fixed ? as_unmap_locked(as, addr, addr + len) : 0;
	if (r == 0) {
		m->start = addr;
		m->end = addr + len;
		m->prot = prot;
		m->flags = sharing | (flags & (WEFT_MAP_NORESERVE | AS_MAP_READONLY)) |
			   (reserve != 0 ? MAPPING_RESERVED : 0);
		as->reserved += reserve;
		m->vnode = vn;
		m->off = off;
		m->file_end = file_end;
		vn = NULL;
		mapping_insert(as, m);
		r = addr;
	} else {
		mapping_free(m);
		if (reserved)
			page_unreserve(reserve);
	}
	krw_write_exit(&as->lock);
	if (vn != NULL)
		vnode_rele(vn);
	return r;
}

int as_unmap(struct address_space *as, vaddr_t addr, uint64_t len)
{
	len = PAGE_ROUND_UP(len);
	if (addr % PAGE_SIZE != 0 || len == 0 || addr > WEFT_USER_END || len > WEFT_USER_END - addr)
		return -EINVAL;
	krw_write_enter(&as->lock);
	int err = as_unmap_locked(as, addr, addr + len);
	krw_write_exit(&as->lock);
	return err;
}

int as_map_page(struct address_space *as, vaddr_t addr, paddr_t page, int prot)
{
	int err = -ENOMEM;

	if (addr % PAGE_SIZE != 0 || !in_user(addr, PAGE_SIZE))
		return -EINVAL;
	krw_write_enter(&as->lock);
	struct mapping *m = mapping_alloc();
	uint64_t *e = NULL;
	if (m != NULL && mappings_fit(as, 1) && is_free(as, addr, addr + PAGE_SIZE))
		e = upt_make(as, addr, PG_USER);
	if (e != NULL) {
		m->start = addr;
		m->end = addr + PAGE_SIZE;
		m->prot = prot;
		m->flags = WEFT_MAP_SHARED | MAPPING_KERNEL;
		mapping_insert(as, m);
		page_hold(page);
		as->rss++;
		__atomic_store_n(e, page | upt_flags(prot), __ATOMIC_RELEASE);
		err = 0;
	} else {
		mapping_free(m);
	}
	krw_write_exit(&as->lock);
	return err;
}

/* --- mprotect ------------------------------------------------------------------------ */

/* Is all of [start, end) mapped?  *flags gets all flags of these mappings, ORed. */
static bool is_mapped(struct address_space *as, vaddr_t start, vaddr_t end, uint32_t *flags)
{
	*flags = 0;
	for (vaddr_t at = start; at < end;) {
		const struct mapping *m = mapping_above(as, at);
		if (m == NULL || m->start > at)
			return false;
		*flags |= m->flags;
		at = m->end;
		preempt_point();
	}
	return true;
}

/* May the user give [start, end) this protection?  0, -ENOMEM: not all mapped, or -EACCES. */
static int may_protect(struct address_space *as, vaddr_t start, vaddr_t end, int prot)
{
	uint32_t flags;

	if (!is_mapped(as, start, end, &flags))
		return -ENOMEM;
	if ((flags & MAPPING_KERNEL) || ((flags & AS_MAP_READONLY) && (prot & WEFT_PROT_WRITE)))
		return -EACCES;
	return 0;
}

/* How many pages of [start, end) must be reserved before it may have this protection. */
static uint64_t pages_to_reserve(struct address_space *as, vaddr_t start, vaddr_t end, int prot)
{
	uint64_t bytes = 0;

	if (!(prot & WEFT_PROT_WRITE))
		return 0;
	for (struct mapping *m = mapping_above(as, start); m->start < end; m = mapping_next(m)) {
		if (to_reserve(prot, m->flags))
			bytes += MIN(m->end, end) - MAX(m->start, start);
		preempt_point();
	}
	return bytes / PAGE_SIZE;
}

/* Allocates the two mappings that splitting at both ends may need. */
static int alloc_two(struct mapping *m[2])
{
	m[0] = mapping_alloc();
	m[1] = mapping_alloc();
	if (m[0] != NULL && m[1] != NULL)
		return 0;
	mapping_free(m[0]);
	mapping_free(m[1]);
	return -ENOMEM;
}

int as_protect(struct address_space *as, vaddr_t addr, uint64_t len, int prot)
{
	struct mapping *spare[2];
	vaddr_t end;

	if (addr % PAGE_SIZE != 0 || (prot & ~PROT_ALL))
		return -EINVAL;
	if (len == 0)
		return 0;
	int err = range_end(addr, len, &end);
	if (err != 0)
		return err;

	krw_write_enter(&as->lock);
	err = may_protect(as, addr, end, prot);
	if (err == 0 && !mappings_fit(as, 2) &&
	    !mappings_fit(as, mapping_is_cut(as, addr) + mapping_is_cut(as, end)))
		err = -ENOMEM;
	uint64_t reserve = err == 0 ? pages_to_reserve(as, addr, end, prot) : 0;
	if (err == 0 && !mm_reserve(reserve))
		err = -ENOMEM;
	if (err == 0) {
		err = alloc_two(spare);
		if (err != 0)
			page_unreserve(reserve);
	}
	if (err == 0) {
		if (mapping_split(as, addr, spare[0]))
			spare[0] = NULL;
		if (mapping_split(as, end, spare[1]))
			spare[1] = NULL;
		as->reserved += reserve;
		for (struct mapping *m = mapping_above(as, addr); reserve > 0 && m->start < end;
		     m = mapping_next(m)) {
			if (to_reserve(prot, m->flags))
				m->flags |= MAPPING_RESERVED;
			preempt_point();
		}
		mapping_set_prot(as, addr, end, prot);
		if (upt_protect(as, addr, end, prot))
			tlb_shootdown(as, addr, end);
		mapping_free(spare[0]);
		mapping_free(spare[1]);
	}
	krw_write_exit(&as->lock);
	return err;
}

/* --- madvise, msync ------------------------------------------------------------------ */

/*
 * Acquires as->lock for writing, for work on the range up to *end.  All of the range is mapped;
 * *flags gets all flags of its mappings, ORed.  -EINVAL: the range; -ENOMEM: not all is mapped.
 * After an error the lock is not held.
 */
static int range_enter(struct address_space *as, vaddr_t addr, uint64_t len, vaddr_t *end,
		       uint32_t *flags)
{
	int err = range_end(addr, len, end);

	if (err != 0)
		return err;
	krw_write_enter(&as->lock);
	if (is_mapped(as, addr, *end, flags))
		return 0;
	krw_write_exit(&as->lock);
	return -ENOMEM;
}

int as_discard(struct address_space *as, vaddr_t addr, uint64_t len)
{
	vaddr_t end;
	uint32_t flags;
	int err = range_enter(as, addr, len, &end, &flags);

	if (err != 0)
		return err;
	if (flags & MAPPING_KERNEL) {
		err = -EINVAL;
	} else {
		/* Every table stays, because the whole range is mapped. */
		if (upt_revoke(as, addr, end, end, addr))
			tlb_shootdown(as, addr, end);
		upt_release(as, addr, end, end, addr);
	}
	krw_write_exit(&as->lock);
	return err;
}

int as_check(struct address_space *as, vaddr_t addr, uint64_t len)
{
	vaddr_t end;
	uint32_t flags;
	int err = range_enter(as, addr, len, &end, &flags);

	if (err == 0)
		krw_write_exit(&as->lock);
	return err;
}

uint64_t as_rss_max(const struct address_space *as)
{
	return MAX(__atomic_load_n(&as->rss, __ATOMIC_RELAXED),
		   __atomic_load_n(&as->rss_before, __ATOMIC_RELAXED));
}

int as_sync(struct address_space *as, vaddr_t addr, uint64_t len)
{
	vaddr_t end;
	uint32_t flags;
	int err = range_enter(as, addr, len, &end, &flags);

	if (err != 0)
		return err;
	for (struct mapping *m = mapping_above(as, addr); m->start < end; m = mapping_next(m)) {
		vaddr_t from = MAX(m->start, addr), to = MIN(m->end, end);
		int prot = (m->prot & ~WEFT_PROT_WRITE) | WEFT_PROT_READ;
		if ((m->prot & WEFT_PROT_WRITE) && mapping_shares_file(m) &&
		    upt_protect(as, from, to, prot)) {
			tlb_shootdown(as, from, to);
			vnode_written(m->vnode);
		}
		preempt_point();
	}
	krw_write_exit(&as->lock);
	return 0;
}

/* --- brk ----------------------------------------------------------------------------- */

/* Maps [from, to) as heap. */
static int grow_heap(struct address_space *as, vaddr_t from, vaddr_t to)
{
	uint64_t npages = (to - from) / PAGE_SIZE;

	if (to > WEFT_USER_END || !is_free(as, from, to) || to - as->brk_start > as->max_data ||
	    as->size + (to - from) > as->max_size || !mappings_fit(as, 1) || !mm_reserve(npages))
		return -ENOMEM;
	struct mapping *m = mapping_alloc();
	if (m == NULL) {
		page_unreserve(npages);
		return -ENOMEM;
	}
	as->reserved += npages;
	m->start = from;
	m->end = to;
	m->prot = WEFT_PROT_READ | WEFT_PROT_WRITE;
	m->flags = WEFT_MAP_PRIVATE | MAPPING_RESERVED;
	mapping_insert(as, m);
	return 0;
}

vaddr_t as_brk(struct address_space *as, vaddr_t to)
{
	krw_write_enter(&as->lock);
	if (to >= as->brk_start && to <= WEFT_USER_END) {
		vaddr_t old = PAGE_ROUND_UP(as->brk), target = PAGE_ROUND_UP(to);
		int err = 0;
		if (target > old)
			err = grow_heap(as, old, target);
		else if (target < old)
			err = as_unmap_locked(as, target, old);
		if (err == 0)
			as->brk = to;
	}
	to = as->brk;
	krw_write_exit(&as->lock);
	return to;
}

/* --- looking ------------------------------------------------------------------------- */

const struct mapping *as_mapping_above(struct address_space *as, vaddr_t addr)
{
	const struct mapping *m = addr < WEFT_USER_END ? mapping_above(as, addr) : &as->limit;
	return m != &as->limit ? m : NULL;
}
