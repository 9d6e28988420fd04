/*
 * fault.c - page faults: a page is allocated when it is first touched.
 *
 * A fault holds as->lock for reading, so mappings stay as they are and no page is
 * freed; faults in one address space run in parallel.  The page is allocated and
 * filled without any further lock; as->pt_lock covers only the moment in which the
 * page enters the page table.
 *
 * *Race:* two LWPs fault on one page; *without this:* the second puts its page in the place of
 * the first's, and what was stored to the first is lost; *closed by:* the second finds the
 * entry under as->pt_lock, and frees its own page (bring_in).
 *
 * Copy on write.  A private mapping may write to a page only while the page's count is 1, so
 * while the page has no other holder.  Other holders are the file that the page came from, and
 * the address spaces of related processes (fork).
 *
 * Locks: as->lock, as->copying (sleeps), as->pt_lock, then the page allocator's.
 *
 * An LWP that gains a right (mprotect) tells no other CPU: a CPU itself looks again
 * at the page tables when a remembered translation forbids an access.
 */
#include <weft/errno.h>
#include <weft/mman.h>
#include <kern/cpu.h>
#include <kern/file.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/space.h>
#include <kern/tlb.h>
#include <kern/trap.h>
#include "impl.h"

/* Bits of a page fault's error code (Intel SDM 3A, 4.7). */
#define PF_WRITE 0x02
#define PF_RESERVED 0x08
#define PF_FETCH 0x10

/* Page tables cannot express memory that can be written or executed but not read. */
static bool fault_permits(int prot, unsigned access)
{
	if (access & FAULT_WRITE)
		return prot & WEFT_PROT_WRITE;
	if (access & FAULT_EXEC)
		return prot & WEFT_PROT_EXEC;
	return prot != WEFT_PROT_NONE;
}

/* A fresh page for m; 0: out of memory. */
static paddr_t alloc_page(const struct mapping *m, unsigned flags)
{
	flags |= m->flags & MAPPING_RESERVED ? PG_RESERVED : PG_USER;
	paddr_t p = page_alloc(flags);
	if (p == 0) {
		mm_reclaim();
		p = page_alloc(flags);
	}
	return p;
}

/* Makes a page of the caller's own, with the bytes of page `from`.  0 or -ENOMEM. */
static int copy_page(const struct mapping *m, paddr_t from, paddr_t *page)
{
	*page = alloc_page(m, 0);
	if (*page == 0)
		return -ENOMEM;
	memcpy(phys_to_virt(*page), phys_to_virt(from), PAGE_SIZE);
	return 0;
}

/*
 * Makes a fresh page with the bytes of m's file at off: at most `want` bytes, then zeros.
 * 0 or -ENOMEM.
 */
static int read_page(const struct mapping *m, uint64_t off, size_t want, paddr_t *page)
{
	paddr_t p = alloc_page(m, want < PAGE_SIZE ? PG_ZERO : 0);
	if (p == 0)
		return -ENOMEM;
	*page = p;
	if (want == 0)
		return 0;
	int64_t got = m->vnode->ops->read(m->vnode, off, phys_to_virt(p), want);
	/* If the file has become shorter since it was mapped, the rest reads as zero. */
	if (got < (int64_t)want)
		memset((char *)phys_to_virt(p) + MAX(got, 0), 0, want - MAX(got, 0));
	return 0;
}

/*
 * Finds or makes the page with what m has at addr; the caller gets a hold of it.  It is the
 * file's own page if m shares it or only reads it; otherwise a page of the caller's own.
 * -EINVAL: beyond the end of the file; -ENOMEM.  May sleep.
 */
static int fault_page_make(const struct mapping *m, vaddr_t addr, unsigned access, paddr_t *page)
{
	uint64_t off = m->off + (addr - m->start);
	struct vnode *vn = m->vnode;
	bool whole = vn != NULL && off < m->file_end && m->file_end - off >= PAGE_SIZE;

	if (vn == NULL || off >= m->file_end)
		return read_page(m, 0, 0, page);
	if (!whole || vn->ops->getpage == NULL) {
		if (whole && off >= vn->size)
			return -EINVAL;
		return read_page(m, off, MIN(PAGE_SIZE, m->file_end - off), page);
	}
	int err = vn->ops->getpage(vn, off / PAGE_SIZE, page);
	if (err == 0 && (m->flags & WEFT_MAP_PRIVATE) && (access & FAULT_WRITE)) {
		paddr_t shared = *page;
		err = copy_page(m, shared, page);
		page_free(shared);
	}
	return err;
}

/*
 * The page-table entry for this page of m.  A private page is writable for its only holder.  A
 * page of a shared file is writable once it was written, so that the first write after each
 * msync faults.
 */
static uint64_t entry_of(const struct mapping *m, paddr_t page, unsigned access)
{
	uint64_t flags = upt_flags(m->prot);
	bool later = m->flags & WEFT_MAP_PRIVATE
			     ? page_count(page) != 1
			     : !(access & FAULT_WRITE) && mapping_shares_file(m);
	if (later)
		flags &= ~(PTE_W | PTE_D);
	return page | flags;
}

/* Brings in the page of addr, which has no entry.  0, or an error of fault_page_make. */
static int bring_in(struct address_space *as, const struct mapping *m, vaddr_t addr,
		    unsigned access)
{
	paddr_t fresh;
	int err = fault_page_make(m, addr, access, &fresh);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&as->pt_lock);
	uint64_t *e = upt_make(as, addr, upt_page_flags(m));
	if (e != NULL && *e == 0) {
		/* Release: CPUs that walk the table find the page filled. */
		__atomic_store_n(e, entry_of(m, fresh, access), __ATOMIC_RELEASE);
		as->rss++;
		fresh = 0;
	}
	spin_unlock(&as->pt_lock, s);
	if (fresh != 0)
		page_free(fresh);
	return e != NULL ? 0 : -ENOMEM;
}

/*
 * A write to a page of a private mapping that has other holders too: puts a copy in its
 * place.  v is what the entry was.  -ENOMEM.
 *
 * *Race:* this LWP stores to the new page, while another CPU still remembers the old page;
 * *without this:* the other CPU reads the old value after a store that came first; *closed by:*
 * the entry, which is not present until all CPUs have forgotten the old page.  as->copying is
 * held meanwhile; a fault that finds such an entry waits for it.
 */
static int copy_on_write(struct address_space *as, const struct mapping *m, vaddr_t addr,
			 uint64_t *e, uint64_t v)
{
	paddr_t old = v & PTE_ADDR, fresh;

	kmutex_enter(&as->copying);
	int err = copy_page(m, old, &fresh);
	if (err == 0) {
		irqstate_t s = spin_lock(&as->pt_lock);
		bool mine = *e == v;
		if (mine)
			__atomic_store_n(e, v & ~PTE_P, __ATOMIC_RELAXED);
		spin_unlock(&as->pt_lock, s);
		if (mine) {
			tlb_shootdown(as, addr, addr + PAGE_SIZE);
			__atomic_store_n(e, fresh | upt_flags(m->prot), __ATOMIC_RELEASE);
		}
		page_free(mine ? old : fresh);
	}
	kmutex_exit(&as->copying);
	return err;
}

/* Lets the caller write to a page that is there.  0: done, or look again; -ENOMEM. */
static int make_writable(struct address_space *as, const struct mapping *m, vaddr_t addr,
			 uint64_t *e, uint64_t v)
{
	/*
	 * A count of 1 stays 1: a second hold comes from another holder, or from a fork of this
	 * address space, which would hold as->lock for writing.
	 */
	if ((m->flags & WEFT_MAP_PRIVATE) && page_count(v & PTE_ADDR) != 1)
		return copy_on_write(as, m, addr, e, v);
	irqstate_t s = spin_lock(&as->pt_lock);
	if (*e == v)
		__atomic_store_n(e, v | PTE_W | PTE_D, __ATOMIC_RELAXED);
	spin_unlock(&as->pt_lock, s);
	return 0;
}

/*
 * Makes addr accessible; *page: the page there.  0, -EFAULT: not mapped, -EACCES: the
 * protection forbids it, or an error of bring_in.  as->lock held for reading.
 */
static int fault_resolve(struct address_space *as, vaddr_t addr, unsigned access, paddr_t *page)
{
	struct mapping *m = mapping_find(as, addr);
	if (m == NULL)
		return -EFAULT;
	if (!fault_permits(m->prot, access))
		return -EACCES;

	addr = PAGE_ROUND_DOWN(addr);
	for (;;) {
		uint64_t *e = upt_find(as, addr);
		uint64_t v = e != NULL ? __atomic_load_n(e, __ATOMIC_ACQUIRE) : 0;
		int err = 0;

		if (v == 0) {
			assert(!(m->flags & MAPPING_KERNEL));
			err = bring_in(as, m, addr, access);
		} else if (!(v & PTE_P)) {
			kmutex_enter(&as->copying);
			kmutex_exit(&as->copying);
		} else if ((access & FAULT_WRITE) && !(v & PTE_W)) {
			err = make_writable(as, m, addr, e, v);
		} else {
			*page = v & PTE_ADDR;
			return 0;
		}
		if (err != 0)
			return err;
		if ((access & FAULT_WRITE) && (m->flags & WEFT_MAP_SHARED) &&
		    mapping_shares_file(m))
			vnode_written(m->vnode);
	}
}

static int fault_in(struct address_space *as, vaddr_t addr, unsigned access)
{
	paddr_t page;
	krw_read_enter(&as->lock);
	int err = fault_resolve(as, addr, access, &page);
	krw_read_exit(&as->lock);
	return err;
}

/*
 * A system call says EFAULT for every bad address; the signal of a fault tells the reasons
 * apart.
 */
static int call_error(int err)
{
	return err == -EACCES || err == -EINVAL ? -EFAULT : err;
}

int as_fault(struct address_space *as, vaddr_t addr, unsigned access)
{
	return call_error(fault_in(as, addr, access));
}

int as_copyout(struct address_space *as, vaddr_t dst, const void *src, size_t n)
{
	const char *from = src;

	if (dst > WEFT_USER_END || n > WEFT_USER_END - dst)
		return -EFAULT;
	while (n > 0) {
		size_t some = MIN(n, PAGE_SIZE - dst % PAGE_SIZE);
		paddr_t page;
		/* The page stays while the lock is held: munmap needs it for writing. */
		krw_read_enter(&as->lock);
		int err = fault_resolve(as, dst, FAULT_WRITE, &page);
		if (err == 0)
			memcpy((char *)phys_to_virt(page) + dst % PAGE_SIZE, from, some);
		krw_read_exit(&as->lock);
		if (err != 0)
			return call_error(err);
		dst += some;
		from += some;
		n -= some;
	}
	return 0;
}

int as_copyin(struct address_space *as, void *dst, vaddr_t src, size_t n)
{
	char *to = dst;

	if (src > WEFT_USER_END || n > WEFT_USER_END - src)
		return -EFAULT;
	while (n > 0) {
		size_t some = MIN(n, PAGE_SIZE - src % PAGE_SIZE);
		paddr_t page;
		krw_read_enter(&as->lock);
		int err = fault_resolve(as, src, 0, &page);
		if (err == 0)
			memcpy(to, (char *)phys_to_virt(page) + src % PAGE_SIZE, some);
		krw_read_exit(&as->lock);
		if (err != 0)
			return call_error(err);
		src += some;
		to += some;
		n -= some;
	}
	return 0;
}

int page_fault(struct trapframe *f, uint64_t addr)
{
	struct proc *p = curproc();
	unsigned access = (f->err & PF_WRITE ? FAULT_WRITE : 0) |
			  (f->err & PF_FETCH ? FAULT_EXEC : 0) |
			  (frame_is_user(f) ? FAULT_USER : 0);
	int err = -EFAULT;

	if (f->err & PF_RESERVED)
		panic("a page table is broken at %p", (void *)addr);
	if (p != NULL && p->as != NULL && addr < WEFT_USER_END)
		err = fault_in(p->as, addr, access);
	if (err == 0) {
		curlwp()->minflt++;
	} else if (!frame_is_user(f)) {
		uint64_t fixup = extable_find(f->rip);
		if (fixup != 0) {
			f->rip = fixup;
			err = 0;
		}
	}
	return err;
}
