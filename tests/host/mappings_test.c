/*
 * mappings_test.c - kernel/mm/mappings.c against a plain array of pages, on the host.
 *
 * Random mappings, removals, splits and protections in an arena that straddles the end
 * of the room that as_map may choose.  After each step the trees are checked in full:
 * what is mapped where, that neighbours which are alike were merged around the
 * change, the gaps and where the next mapping would go, the sum of sizes, the holds on
 * files.  Argument: seed.
 */
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <weft/mman.h>
#include <kern/cache.h>
#include <kern/file.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/space.h>
#include "../../kernel/mm/impl.h"

#define PAGES 200
/* The last 20 pages are above what may be chosen. */
#define TOP (USER_STACK_TOP - USER_STACK_SIZE - USER_STACK_GUARD)
#define ARENA (TOP - (PAGES - 20) * PAGE_SIZE)
#define LOWEST 0x0000200000000000ull

struct model { /* of a page; prot < 0: not mapped */
	int prot;
	struct vnode *vnode;
	uint64_t off;
};

static struct model model[PAGES];
static struct address_space as;
static struct vnode files[2];
static unsigned live; /* mappings allocated */

/* --- what mappings.c needs of the kernel -------------------------------------------- */

void vnode_hold(struct vnode *v)
{
	v->refs++;
}
void vnode_rele(struct vnode *v)
{
	v->refs--;
}
struct kcache *kcache_create(const char *name, size_t size, size_t align, unsigned flags,
			     void (*ctor)(void *))
{
	return (struct kcache *)files; /* any that is not NULL */
}
void *kcache_alloc(struct kcache *c)
{
	live++;
	return malloc(sizeof(struct mapping));
}
void kcache_free(struct kcache *c, void *p)
{
	live--;
	free(p);
}
void mm_reclaim(void)
{
}
void panic(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	abort();
}

/* --- checks -------------------------------------------------------------------------------- */

static void fail(const char *what, unsigned long n)
{
	fprintf(stderr, "mappings_test: %s (%lu)\n", what, n);
	exit(1);
}

static struct mapping *of(struct tree_node *n)
{
	return CONTAINER_OF(n, struct mapping, node);
}

static void check_pages(void)
{
	uint64_t mapped = 0;
	for (unsigned i = 0; i < PAGES; i++) {
		vaddr_t at = ARENA + i * PAGE_SIZE;
		struct mapping *m = mapping_find(&as, at + 100);
		if ((m == NULL) != (model[i].prot < 0))
			fail("mapped or not", i);
		if (m == NULL)
			continue;
		mapped += PAGE_SIZE;
		if (m->prot != model[i].prot || m->vnode != model[i].vnode)
			fail("a page with another's mapping", i);
		if (m->vnode != NULL && m->off + (at - m->start) != model[i].off)
			fail("a page with another's place in the file", i);
	}
	if (as.size != mapped)
		fail("size", as.size);
}

static void check_trees(void)
{
	unsigned gaps = 0, n = 0, holds[2] = {0};
	vaddr_t end = 0;
	uint64_t smallest[PAGES + 2], largest = 0;

	for (unsigned i = 0; i < PAGES + 2; i++)
		smallest[i] = 0;
	for (struct tree_node *t = tree_first(&as.mappings); t != NULL; t = tree_next(t), n++) {
		struct mapping *m = of(t);
		if (m->start < end || (m->start >= m->end && m != &as.limit))
			fail("mappings overlap", n);
		vaddr_t from = MAX(end, LOWEST), to = MIN(m->start, TOP);
		uint64_t gap = to > from ? to - from : 0;
		if (m->gap != gap)
			fail("a wrong gap", n);
		gaps += gap != 0;
		largest = MAX(largest, gap);
		for (unsigned i = 1; i < PAGES + 2; i++)
			if (gap >= i * PAGE_SIZE && (smallest[i] == 0 || gap < smallest[i]))
				smallest[i] = gap;
		for (unsigned f = 0; f < 2; f++)
			holds[f] += m->vnode == &files[f];
		end = m->end;
	}
	if (n - 1 != live)
		fail("mappings lost", live);
	for (struct tree_node *t = tree_first(&as.gaps); t != NULL; t = tree_next(t))
		gaps--;
	if (gaps != 0)
		fail("gaps lost", gaps);
	for (unsigned f = 0; f < 2; f++)
		if (files[f].refs != holds[f])
			fail("holds on a file", f);

	for (unsigned i = 1; i < PAGES + 2; i += 7) {
		vaddr_t at = mapping_find_space(&as, i * PAGE_SIZE);
		struct mapping *m = mapping_above(&as, at);
		if (m->start < at + i * PAGE_SIZE || at < LOWEST || at + i * PAGE_SIZE > TOP)
			fail("room that is none", i);
		if (m->gap != smallest[i])
			fail("room that is not the smallest", i);
	}
	if (mapping_find_space(&as, largest + PAGE_SIZE) != 0)
		fail("room beyond the largest", 0);
}

/* Neighbours at a boundary that a change has touched are not alike. */
static void check_merged(vaddr_t at)
{
	struct mapping *m = mapping_above(&as, at);
	struct tree_node *t = tree_prev(&m->node);
	if (t == NULL || m == &as.limit)
		return;
	struct mapping *below = of(t);
	if (below->end == m->start && below->prot == m->prot && below->vnode == m->vnode &&
	    (m->vnode == NULL || below->off + (m->start - below->start) == m->off))
		fail("alike and not merged", (at - ARENA) / PAGE_SIZE);
}

/* --- random changes ---------------------------------------------------------------------------- */

static void do_remove(vaddr_t start, vaddr_t end)
{
	struct mapping *spare = mapping_needs_spare(&as, start, end) ? mapping_alloc() : NULL;
	if (mapping_remove(&as, start, end, spare) != NULL)
		fail("a spare that was not needed", 0);
}

static void do_insert(vaddr_t start, vaddr_t end, int prot, struct vnode *vn, uint64_t off)
{
	struct mapping *m = mapping_alloc();
	m->start = start;
	m->end = end;
	m->prot = prot;
	m->flags = WEFT_MAP_PRIVATE;
	m->vnode = vn;
	m->off = off;
	if (vn != NULL)
		vnode_hold(vn);
	mapping_insert(&as, m);
}

static void do_protect(vaddr_t start, vaddr_t end, int prot)
{
	struct mapping *a = mapping_alloc(), *b = mapping_alloc();
	if (mapping_split(&as, start, a))
		a = NULL;
	if (mapping_split(&as, end, b))
		b = NULL;
	mapping_set_prot(&as, start, end, prot);
	mapping_free(a);
	mapping_free(b);
}

static void change(void)
{
	unsigned first = rand() % PAGES, n = 1 + rand() % 12;
	n = MIN(n, PAGES - first);
	vaddr_t start = ARENA + first * PAGE_SIZE, end = start + n * PAGE_SIZE;
	int prot = rand() % 3, pick = rand() % 4;
	struct vnode *vn = pick < 2 ? &files[pick] : NULL;
	bool hole = false;

	for (unsigned i = first; i < first + n; i++)
		hole |= model[i].prot < 0;
	switch (rand() % 3) {
	case 0:
		do_remove(start, end);
		for (unsigned i = first; i < first + n; i++)
			model[i].prot = -1;
		break;
	case 1:
		do_remove(start, end);
		do_insert(start, end, prot, vn, start - ARENA);
		for (unsigned i = first; i < first + n; i++)
			model[i] = (struct model){prot, vn, i * PAGE_SIZE};
		check_merged(start);
		check_merged(end);
		break;
	case 2:
		if (hole)
			return;
		do_protect(start, end, prot);
		for (unsigned i = first; i < first + n; i++)
			model[i].prot = prot;
		check_merged(start);
		check_merged(end);
		break;
	}
}

int main(int argc, char **argv)
{
	srand(argc > 1 ? atoi(argv[1]) : 1);
	mappings_init();
	mappings_init_space(&as);
	for (unsigned i = 0; i < PAGES; i++)
		model[i].prot = -1;
	for (unsigned i = 0; i < 20000; i++) {
		change();
		check_pages();
		check_trees();
	}
	do_remove(0, WEFT_USER_END);
	if (live != 0 || as.size != 0 || files[0].refs != 0 || files[1].refs != 0)
		fail("not empty at the end", live);
	puts("ok");
	return 0;
}
