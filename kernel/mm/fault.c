/*
 * fault.c - page faults: pages come into being when they are first touched.
 *
 * A fault holds as->lock for reading, so mappings stay as they are and no page goes
 * away; faults in one address space run side by side.  The page is allocated and
 * filled without any further lock; as->pt_lock covers only the moment in which it
 * enters the page table.  Of two faults on one page, the second finds the entry and
 * gives its page back.
 *
 * Whoever gained a right (mprotect) tells no other CPU: the CPU itself looks again
 * at the page tables when a remembered translation forbids an access.
 */
#include <weft/errno.h>
#include <weft/mman.h>
#include <kern/cpu.h>
#include <kern/file.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/trap.h>
#include "impl.h"

/* Bits of a page fault's error code (Intel SDM 3A, 4.7). */
#define PF_WRITE 0x02
#define PF_RESERVED 0x08
#define PF_FETCH 0x10

/* The page tables know no memory that can be written or executed but not read. */
static bool permits(int prot, unsigned access)
{
	if (access & FAULT_WRITE)
		return prot & WEFT_PROT_WRITE;
	if (access & FAULT_EXEC)
		return prot & WEFT_PROT_EXEC;
	return prot != WEFT_PROT_NONE;
}

/* A page with what m has at addr, or 0.  May sleep. */
static paddr_t make_page(const struct mapping *m, vaddr_t addr)
{
	uint64_t off = m->off + (addr - m->start);
	uint64_t want = 0;
	if (m->vnode != NULL && off < m->file_end)
		want = MIN(PAGE_SIZE, m->file_end - off);

	unsigned flags = PG_USER | (want < PAGE_SIZE ? PG_ZERO : 0);
	paddr_t p = page_alloc(flags);
	if (p == 0) {
		mm_reclaim();
		p = page_alloc(flags);
	}
	if (p == 0 || want == 0)
		return p;
	int64_t got = m->vnode->ops->read(m->vnode, off, phys_to_virt(p), want);
	/* A file that is shorter than when it was mapped reads as zero. */
	if (got < (int64_t)want)
		memset((char *)phys_to_virt(p) + MAX(got, 0), 0, want - MAX(got, 0));
	return p;
}

/* Sees to it that addr can be accessed; *page: where.  as->lock held for reading. */
static int resolve(struct address_space *as, vaddr_t addr, unsigned access, paddr_t *page)
{
	struct mapping *m = mapping_find(as, addr);
	if (m == NULL)
		return -EFAULT;
	if (!permits(m->prot, access))
		return -EACCES;

	addr = PAGE_ROUND_DOWN(addr);
	uint64_t *e = upt_find(as, addr);
	uint64_t v = e != NULL ? __atomic_load_n(e, __ATOMIC_ACQUIRE) : 0;
	if (v == 0) {
		assert(!(m->flags & MAPPING_KERNEL));
		paddr_t fresh = make_page(m, addr);
		if (fresh == 0)
			return -ENOMEM;
		irqstate_t s = spin_lock(&as->pt_lock);
		e = upt_make(as, addr);
		if (e != NULL && *e == 0) {
			/* Release: CPUs that walk the table find the page filled. */
			__atomic_store_n(e, fresh | upt_flags(m->prot), __ATOMIC_RELEASE);
			as->rss++;
			fresh = 0;
		}
		v = e != NULL ? *e : 0;
		spin_unlock(&as->pt_lock, s);
		if (fresh != 0)
			page_free(fresh);
		if (v == 0)
			return -ENOMEM;
	}
	debug_assert(v & PTE_P);
	*page = v & PTE_ADDR;
	return 0;
}

int as_fault(struct address_space *as, vaddr_t addr, unsigned access)
{
	paddr_t page;
	krw_read_enter(&as->lock);
	int err = resolve(as, addr, access, &page);
	krw_read_exit(&as->lock);
	return err;
}

int as_copyout(struct address_space *as, vaddr_t dst, const void *src, size_t n)
{
	const char *from = src;

	if (dst > WEFT_USER_END || n > WEFT_USER_END - dst)
		return -EFAULT;
	while (n > 0) {
		size_t some = MIN(n, PAGE_SIZE - dst % PAGE_SIZE);
		paddr_t page;
		/* The page stays while the lock is held: munmap writes. */
		krw_read_enter(&as->lock);
		int err = resolve(as, dst, FAULT_WRITE, &page);
		if (err == 0)
			memcpy((char *)phys_to_virt(page) + dst % PAGE_SIZE, from, some);
		krw_read_exit(&as->lock);
		if (err != 0)
			return err;
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
		int err = resolve(as, src, 0, &page);
		if (err == 0)
			memcpy(to, (char *)phys_to_virt(page) + src % PAGE_SIZE, some);
		krw_read_exit(&as->lock);
		if (err != 0)
			return err;
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
		err = as_fault(p->as, addr, access);
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
