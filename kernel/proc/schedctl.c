/*
 * schedctl.c - the pages of preemption-control records that a process shares
 * with the kernel (weft/schedctl.h).
 *
 * A record belongs to one LWP at a time.  A page holds 64 records.  The kernel keeps
 * a reference to each page, so a process that unmaps a page harms only itself.
 * p->lock guards the lists of pages and their bit maps.
 */
#include <kern/cache.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/schedctl.h>
#include <kern/signal.h>
#include <kern/space.h>
#include <weft/errno.h>
#include <weft/mman.h>
#include "impl.h"

#define RECORDS (PAGE_SIZE / sizeof(struct schedctl))
_Static_assert(sizeof(struct schedctl) == 64 && RECORDS == 64, "one bit a record in a word");

struct sc_page {
	struct list link;
	struct schedctl *records; /* direct map */
	vaddr_t user;
	uint64_t used; /* bit i: record i has an LWP */
};

/* Makes page number n of records, mapped into `as`.  NULL: no memory. */
static struct sc_page *schedctl_page_make(struct address_space *as, unsigned n)
{
	struct sc_page *sp = kmalloc(sizeof(*sp));
	if (sp == NULL)
		return NULL;
	paddr_t page = page_alloc(PG_ZERO | PG_USER);
	if (page == 0) {
		kfree(sp);
		return NULL;
	}
	sp->records = phys_to_virt(page);
	sp->user = SCHEDCTL_USER + n * PAGE_SIZE;
	sp->used = 0;
	if (as_map_page(as, sp->user, page, WEFT_PROT_READ | WEFT_PROT_WRITE) != 0) {
		schedctl_free_page(sp);
		return NULL;
	}
	return sp;
}

void schedctl_free_page(struct sc_page *sp)
{
	page_free(virt_to_phys(sp->records));
	kfree(sp);
}

/* Adds a page of records to p.  -ENOMEM. */
static int add_page(struct proc *p)
{
	irqstate_t s = spin_lock(&p->lock);
	unsigned n = p->sc_npages++; /* no address is used twice */
	spin_unlock(&p->lock, s);

	struct sc_page *sp = schedctl_page_make(p->as, n);
	if (sp == NULL)
		return -ENOMEM;
	s = spin_lock(&p->lock);
	list_push_back(&p->sc_partial, &sp->link);
	spin_unlock(&p->lock, s);
	return 0;
}

struct sc_page *schedctl_first_page(struct address_space *as)
{
	return schedctl_page_make(as, 0);
}

/* Gives record i of sp, which is free, to l.  p->lock held, or no other LWP can find l yet. */
static void schedctl_give(struct sc_page *sp, unsigned i, struct lwp *l, uint32_t state)
{
	struct schedctl *sc = &sp->records[i];

	sp->used |= 1ull << i;
	*sc = (struct schedctl){.state = state, .cpu = l->cpu, .lwpid = l->id};
	l->sc = sc;
	l->sc_user = sp->user + i * sizeof(*sc);
	l->sc_page = sp;
}

int schedctl_attach(struct proc *p, struct lwp *l)
{
	irqstate_t s = spin_lock(&p->lock);
	while (list_empty(&p->sc_partial)) {
		spin_unlock(&p->lock, s);
		int err = add_page(p);
		if (err != 0)
			return err;
		s = spin_lock(&p->lock);
	}
	struct sc_page *sp = LIST_FIRST(&p->sc_partial, struct sc_page, link);
	schedctl_give(sp, __builtin_ctzll(~sp->used), l, SC_STOPPED);
	if (sp->used == ~0ull) {
		list_remove(&sp->link);
		list_push_back(&p->sc_full, &sp->link);
	}
	spin_unlock(&p->lock, s);
	return 0;
}

void schedctl_detach(struct proc *p, struct lwp *l)
{
	struct sc_page *sp = l->sc_page;
	struct schedctl *sc = l->sc;
	unsigned i = sc - sp->records;

	/* No l->lock is needed.  Other readers of l->sc hold p->lock (signal.c), or make l
	 * runnable.  They do not make l runnable now, because l runs, or has not been started. */
	l->sc = NULL;
	__atomic_store_n(&sc->state, SC_FREE, __ATOMIC_RELEASE);
	if (sp->used == ~0ull) {
		list_remove(&sp->link);
		list_push_back(&p->sc_partial, &sp->link);
	}
	sp->used &= ~(1ull << i);
}

static void schedctl_pages_free(struct list *pages)
{
	while (!list_empty(pages)) {
		struct sc_page *sp = LIST_FIRST(pages, struct sc_page, link);
		list_remove(&sp->link);
		schedctl_free_page(sp);
	}
}

void schedctl_free_all(struct proc *p)
{
	schedctl_pages_free(&p->sc_partial);
	schedctl_pages_free(&p->sc_full);
}

void schedctl_restart(struct proc *p, struct lwp *l, struct sc_page *first)
{
	uint64_t mask = sig_mask(l);
	schedctl_give(first, 0, l,
		      SC_ONCPU); /* l runs, and p->lock is held: as in schedctl_detach */
	sig_begin_record(p, l, mask);
	schedctl_free_all(p);
	list_push_back(&p->sc_partial, &first->link);
	p->sc_npages = 1;
}
