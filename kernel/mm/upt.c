/*
 * upt.c - the user half of an address space's page tables.
 *
 * An entry of the lowest level has one of three states: 0 (no page), present, or not present
 * with an address.  The last is a page that no access may reach (WEFT_PROT_NONE), or a page
 * that is being taken away.  An entry higher up is 0 or names a table.  If it is not present
 * and has an address, the table is being taken away with everything under it.
 *
 * Pages are taken away in three steps, because their memory may be used again only when no
 * CPU has a translation left.  upt_revoke clears the present bits, a whole table at a
 * time where it can.  Then comes the shoot-down.  Then upt_release walks the same
 * range and frees.  So nothing has to be remembered in between, whatever the size.
 * Tables are freed as soon as no mapping lies in the addresses that they cover.
 *
 * The caller holds as->lock.  Page faults hold it for reading; as->pt_lock excludes them from
 * each other.  An entry is exchanged as a whole, because the CPUs set bits in it.
 *
 * Each function gives up the CPU before each table of level 1 if another LWP needs it
 * (preempt_point), so a range may have any length.  as->lock stays held meanwhile: faults and
 * other calls of the address space wait, and the walk goes on in the same tables.  Programs
 * that run meanwhile, on this CPU or on others, may still use revoked translations.  That is
 * harmless, because no page is freed before the shoot-down.
 */
#include <weft/errno.h>
#include <weft/mman.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/space.h>
#include "impl.h"

uint64_t upt_flags(int prot)
{
	if (prot == WEFT_PROT_NONE)
		return PTE_U | PTE_NX;
	/* Accessed and dirty are set already: the kernel never reads them, and the CPU need
	 * not write them. */
	return PTE_P | PTE_U | PTE_A | (prot & WEFT_PROT_WRITE ? PTE_W | PTE_D : 0) |
	       (prot & WEFT_PROT_EXEC ? 0 : PTE_NX);
}

uint64_t *upt_find(struct address_space *as, vaddr_t addr)
{
	uint64_t *t = phys_to_virt(as->pml4);
	for (int level = PT_LEVELS; level > 1; level--) {
		uint64_t e = __atomic_load_n(&t[pt_index(addr, level)], __ATOMIC_ACQUIRE);
		if (e == 0)
			return NULL;
		t = pt_table(e);
	}
	return &t[pt_index(addr, 1)];
}

bool as_peek(struct address_space *as, vaddr_t addr, void *to, size_t n)
{
	if (addr > WEFT_USER_END || n > WEFT_USER_END - addr)
		return false;
	while (n > 0) {
		uint64_t *e = upt_find(as, addr);
		size_t part = MIN(n, PAGE_SIZE - addr % PAGE_SIZE);

		if (e == NULL || !(*e & PTE_P))
			return false;
		memcpy(to, (char *)phys_to_virt(*e & PTE_ADDR) + addr % PAGE_SIZE, part);
		to = (char *)to + part;
		addr += part;
		n -= part;
	}
	return true;
}

uint64_t *upt_make(struct address_space *as, vaddr_t addr, unsigned flags)
{
	uint64_t *t = phys_to_virt(as->pml4);
	for (int level = PT_LEVELS; level > 1; level--) {
		uint64_t *e = &t[pt_index(addr, level)];
		if (*e == 0) {
			paddr_t p = page_alloc(PG_ZERO | flags);
			if (p == 0)
				return NULL;
			/* Release: CPUs that walk the table find it zeroed. */
			__atomic_store_n(e, p | PTE_P | PTE_W | PTE_U | PTE_A, __ATOMIC_RELEASE);
		}
		t = pt_table(*e);
	}
	return &t[pt_index(addr, 1)];
}

/* A range to take away, and the room without mappings around it: [low, high). */
struct cut {
	vaddr_t start, end, low, high;
};

/* Is all that an entry for [at, at + span) covers taken away? */
static bool cut_covers(const struct cut *c, vaddr_t at, uint64_t span)
{
	return at >= c->low && at + span <= c->high;
}

/* The first address of the range that an entry of this level covers, rounded down to its span. */
static vaddr_t first_at(const struct cut *c, vaddr_t base, int level)
{
	return MAX(base, c->start & ~(PT_SPAN(level) - 1));
}

static bool table_revoke(uint64_t *table, int level, vaddr_t base, const struct cut *c)
{
	uint64_t span = PT_SPAN(level);
	vaddr_t stop = MIN(c->end, base + PT_ENTRIES * span);
	bool any = false;

	if (level == 1)
		preempt_point();
	for (vaddr_t at = first_at(c, base, level); at < stop; at += span) {
		uint64_t *e = &table[pt_index(at, level)];
		if (!(*e & PTE_P))
			continue;
		if (level == 1 || cut_covers(c, at, span)) {
			__atomic_fetch_and(e, ~PTE_P, __ATOMIC_RELAXED);
			any = true;
		} else {
			any |= table_revoke(pt_table(*e), level - 1, at, c);
		}
	}
	return any;
}

static void table_release(struct address_space *as, uint64_t *table, int level, vaddr_t base,
			  const struct cut *c)
{
	uint64_t span = PT_SPAN(level);
	vaddr_t stop = MIN(c->end, base + PT_ENTRIES * span);

	if (level == 1)
		preempt_point();
	for (vaddr_t at = first_at(c, base, level); at < stop; at += span) {
		uint64_t *e = &table[pt_index(at, level)];
		if (*e == 0)
			continue;
		if (level > 1)
			table_release(as, pt_table(*e), level - 1, at, c);
		if (level == 1)
			as->rss--;
		else if (!cut_covers(c, at, span))
			continue;
		page_free(*e & PTE_ADDR);
		*e = 0;
	}
}

bool upt_revoke(struct address_space *as, vaddr_t start, vaddr_t end, vaddr_t low, vaddr_t high)
{
	struct cut c = {start, end, low, high};
	return table_revoke(phys_to_virt(as->pml4), PT_LEVELS, 0, &c);
}

void upt_release(struct address_space *as, vaddr_t start, vaddr_t end, vaddr_t low, vaddr_t high)
{
	struct cut c = {start, end, low, high};
	as->rss_before = as_rss_max(as);
	table_release(as, phys_to_virt(as->pml4), PT_LEVELS, 0, &c);
}

static bool table_protect(uint64_t *table, int level, vaddr_t base, const struct cut *c,
			  uint64_t flags)
{
	uint64_t span = PT_SPAN(level);
	vaddr_t stop = MIN(c->end, base + PT_ENTRIES * span);
	bool lost = false;

	if (level == 1)
		preempt_point();
	for (vaddr_t at = first_at(c, base, level); at < stop; at += span) {
		uint64_t *e = &table[pt_index(at, level)];
		if (*e == 0)
			continue;
		if (level > 1) {
			lost |= table_protect(pt_table(*e), level - 1, at, c, flags);
			continue;
		}
		/* A new right to write waits for a fault, unless the page has no other holder
		 * (fault.c). */
		uint64_t now = flags;
		if (!(*e & PTE_W) && page_count(*e & PTE_ADDR) != 1)
			now &= ~(PTE_W | PTE_D);
		uint64_t old = __atomic_exchange_n(e, (*e & PTE_ADDR) | now, __ATOMIC_RELAXED);
		lost |= (old & PTE_P) &&
			((old & ~flags & (PTE_P | PTE_W)) || (flags & ~old & PTE_NX));
	}
	return lost;
}

bool upt_protect(struct address_space *as, vaddr_t start, vaddr_t end, int prot)
{
	struct cut c = {.start = start, .end = end};
	return table_protect(phys_to_virt(as->pml4), PT_LEVELS, 0, &c, upt_flags(prot));
}

/* The arguments of upt_share besides the source, and its result. */
struct share {
	struct cut c;
	struct address_space *to;
	bool lost;
};

/* The lowest level: afterwards both tables have the same entries. */
static int share_entries(uint64_t *from, vaddr_t at, vaddr_t stop, struct share *sh)
{
	uint64_t *to = upt_make(sh->to, at, PG_USER);
	if (to == NULL)
		return -ENOMEM;
	preempt_point();
	for (; at < stop; at += PAGE_SIZE, to++, from++) {
		uint64_t e = *from;
		if (e == 0)
			continue;
		if (e & PTE_W) {
			e &= ~(PTE_W | PTE_D);
			__atomic_store_n(from, e, __ATOMIC_RELAXED);
			sh->lost = true;
		}
		page_hold(e & PTE_ADDR);
		*to = e;
		sh->to->rss++;
	}
	return 0;
}

static int table_share(uint64_t *table, int level, vaddr_t base, struct share *sh)
{
	uint64_t span = PT_SPAN(level);
	vaddr_t stop = MIN(sh->c.end, base + PT_ENTRIES * span);
	vaddr_t at = first_at(&sh->c, base, level);
	int err = 0;

	if (level == 1)
		return share_entries(&table[pt_index(at, 1)], at, stop, sh);
	for (; at < stop && err == 0; at += span) {
		uint64_t e = table[pt_index(at, level)];
		if (e != 0)
			err = table_share(pt_table(e), level - 1, at, sh);
	}
	return err;
}

int upt_share(struct address_space *as, struct address_space *to, vaddr_t start, vaddr_t end,
	      bool *lost)
{
	struct share sh = {.c = {.start = start, .end = end}, .to = to};
	int err = table_share(phys_to_virt(as->pml4), PT_LEVELS, 0, &sh);
	*lost |= sh.lost;
	return err;
}

/* State of as_resident: how many entries it may still look at, and from which address on. */
struct count {
	uint64_t left;
	vaddr_t at, end;
};
#define COUNT_STEP 8192

static uint64_t table_resident(uint64_t *table, int level, vaddr_t base, struct count *c)
{
	uint64_t span = PT_SPAN(level), n = 0;
	vaddr_t stop = MIN(c->end, base + PT_ENTRIES * span);

	while (c->at < stop && c->left > 0) {
		uint64_t e = __atomic_load_n(&table[pt_index(c->at, level)], __ATOMIC_ACQUIRE);
		vaddr_t from = c->at & ~(span - 1);
		c->left--;
		if (e != 0 && level > 1) {
			n += table_resident(pt_table(e), level - 1, from, c);
		} else {
			n += e != 0;
			c->at = from + span;
		}
	}
	return n;
}

uint64_t as_resident(struct address_space *as, vaddr_t *at, vaddr_t end)
{
	struct count c = {.left = COUNT_STEP, .at = *at, .end = end};
	uint64_t n = table_resident(phys_to_virt(as->pml4), PT_LEVELS, 0, &c);
	*at = MIN(c.at, end);
	return n;
}
