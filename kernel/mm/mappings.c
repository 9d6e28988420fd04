/*
 * mappings.c - the set of mappings of an address space, and the free room between
 * them.
 *
 * Mappings lie in a tree by address and never overlap.  Neighbours that are alike
 * are merged into one mapping, except where a search would be needed to find them.  The
 * last in the tree is always as->limit, an empty mapping at the end of user space.
 * So all free room lies below some mapping.
 *
 * Room for a new mapping is found in a second tree.  It holds the mappings that have a gap
 * (free room) below them, in the order of the gap's size.  The new mapping gets the top of
 * the smallest gap that is large enough.  So room that was freed (a thread's stack) is
 * found again in O(log n), and large gaps stay large.  Only what lies between
 * AUTO_BASE and AUTO_TOP counts as room: the addresses below are left to the
 * program, its heap and the kernel's pages in it.
 *
 * Page tables are not touched here.  The caller holds as->lock: for reading in the functions
 * that only find, for writing in all others.  A function that visits many mappings gives up the
 * CPU in between if another LWP needs it; the lock stays held.
 */
#include <weft/errno.h>
#include <weft/mman.h>
#include <kern/cache.h>
#include <kern/file.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/space.h>
#include "impl.h"

#define AUTO_BASE 0x0000200000000000ull
#define AUTO_TOP (USER_STACK_TOP - USER_STACK_SIZE - USER_STACK_GUARD)

static struct kcache *mapping_cache;

static inline struct mapping *of_node(const struct tree_node *n)
{
	return n != NULL ? CONTAINER_OF(n, struct mapping, node) : NULL;
}

static int cmp_address(const struct tree_node *a, const struct tree_node *b)
{
	vaddr_t x = CONTAINER_OF(a, struct mapping, node)->start;
	vaddr_t y = CONTAINER_OF(b, struct mapping, node)->start;
	return x < y ? -1 : x > y;
}

static int cmp_gap(const struct tree_node *a, const struct tree_node *b)
{
	uint64_t x = CONTAINER_OF(a, struct mapping, gap_node)->gap;
	uint64_t y = CONTAINER_OF(b, struct mapping, gap_node)->gap;
	return x < y ? -1 : x > y;
}

/* --- single mappings ----------------------------------------------------------------- */

void mappings_init(void)
{
	mapping_cache = kcache_create("mapping", sizeof(struct mapping), 0, KC_USER, NULL);
	if (mapping_cache == NULL)
		panic("no memory for the cache of mappings");
}

struct mapping *mapping_alloc(void)
{
	struct mapping *m = kcache_alloc(mapping_cache);
	if (m == NULL) {
		mm_reclaim();
		m = kcache_alloc(mapping_cache);
	}
	if (m != NULL)
		*m = (struct mapping){0};
	return m;
}

void mapping_free(struct mapping *m)
{
	if (m == NULL)
		return;
	if (m->vnode != NULL)
		vnode_rele(m->vnode);
	kcache_free(mapping_cache, m);
}

static bool mapping_alike(const struct mapping *a, const struct mapping *b)
{
	return a->prot == b->prot && a->flags == b->flags && a->vnode == b->vnode &&
	       (a->vnode == NULL ||
		(a->file_end == b->file_end && a->off + (b->start - a->start) == b->off));
}

/* --- the two trees ------------------------------------------------------------------- */

/* Call it when what lies below m has changed. */
static void update_gap(struct address_space *as, struct mapping *m)
{
	const struct mapping *below = of_node(tree_prev(&m->node));
	vaddr_t from = MAX(below != NULL ? below->end : 0, AUTO_BASE);
	vaddr_t to = MIN(m->start, AUTO_TOP);
	uint64_t gap = to > from ? to - from : 0;

	if (gap == m->gap)
		return;
	if (m->gap != 0)
		tree_remove(&as->gaps, &m->gap_node);
	m->gap = gap;
	if (gap != 0)
		tree_insert(&as->gaps, &m->gap_node, cmp_gap);
}

bool mapping_shares_file(const struct mapping *m)
{
	return (m->flags & WEFT_MAP_SHARED) && m->vnode != NULL && m->vnode->ops->read != NULL;
}

struct mapping *mapping_next(const struct mapping *m)
{
	return of_node(tree_next(&m->node));
}

static void link_mapping(struct address_space *as, struct mapping *m)
{
	m->gap = 0;
	tree_insert(&as->mappings, &m->node, cmp_address);
	update_gap(as, m);
	update_gap(as, mapping_next(m));
	as->size += m->end - m->start;
	as->nmappings++;
}

static void unlink_mapping(struct address_space *as, struct mapping *m)
{
	struct mapping *next = mapping_next(m);
	if (m->gap != 0)
		tree_remove(&as->gaps, &m->gap_node);
	tree_remove(&as->mappings, &m->node);
	m->gap = 0;
	update_gap(as, next);
	as->size -= m->end - m->start;
	as->nmappings--;
	/* No reader uses the hint: we hold the lock for writing. */
	if (as->hint == m)
		as->hint = NULL;
}

void mappings_init_space(struct address_space *as)
{
	as->limit = (struct mapping){.start = WEFT_USER_END, .end = WEFT_USER_END};
	tree_insert(&as->mappings, &as->limit.node, cmp_address);
	update_gap(as, &as->limit);
}

struct mapping *mapping_above(struct address_space *as, vaddr_t addr)
{
	struct tree_node *n = as->mappings.root;
	struct mapping *best = NULL;
	while (n != NULL) {
		struct mapping *m = of_node(n);
		bool above = m->end > addr;
		if (above)
			best = m;
		n = n->child[!above];
	}
	return best;
}

struct mapping *mapping_find(struct address_space *as, vaddr_t addr)
{
	/* Readers share the hint; none of them can free the mapping that it points at. */
	struct mapping *m = __atomic_load_n(&as->hint, __ATOMIC_RELAXED);
	if (m != NULL && m->start <= addr && addr < m->end)
		return m;
	if (addr >= WEFT_USER_END)
		return NULL;
	m = mapping_above(as, addr);
	if (m->start > addr)
		return NULL;
	__atomic_store_n(&as->hint, m, __ATOMIC_RELAXED);
	return m;
}

vaddr_t mapping_find_space(struct address_space *as, uint64_t len)
{
	struct tree_node *n = as->gaps.root;
	struct mapping *best = NULL;
	while (n != NULL) {
		struct mapping *m = CONTAINER_OF(n, struct mapping, gap_node);
		bool fits = m->gap >= len;
		if (fits)
			best = m;
		n = n->child[!fits];
	}
	return best != NULL ? MIN(best->start, AUTO_TOP) - len : 0;
}

/* --- changing the set ---------------------------------------------------------------- */

/* Merges m and the mapping above it, if they touch and are alike. */
static void merge_up(struct address_space *as, struct mapping *m)
{
	struct mapping *next = mapping_next(m);
	if (m->end != next->start || next == &as->limit || !mapping_alike(m, next))
		return;
	unlink_mapping(as, next);
	as->size += next->end - next->start;
	m->end = next->end;
	update_gap(as, mapping_next(m));
	mapping_free(next);
}

void mapping_insert(struct address_space *as, struct mapping *m)
{
	link_mapping(as, m);
	merge_up(as, m);
	struct mapping *below = of_node(tree_prev(&m->node));
	if (below != NULL)
		merge_up(as, below);
}

/* Moves the start of m up to `start`. */
static void cut_below(struct address_space *as, struct mapping *m, vaddr_t start)
{
	as->size -= start - m->start;
	m->off += start - m->start;
	m->start = start; /* the order in the tree stays as it was */
	update_gap(as, m);
}

/* Moves the end of m down to `end`. */
static void cut_above(struct address_space *as, struct mapping *m, vaddr_t end)
{
	as->size -= m->end - end;
	m->end = end;
	update_gap(as, mapping_next(m));
}

bool mappings_fit(const struct address_space *as, unsigned n)
{
	return as->nmappings + n <= WEFT_MAPPINGS_MAX;
}

bool mapping_is_cut(struct address_space *as, vaddr_t at)
{
	const struct mapping *m = mapping_find(as, at); /* NULL at the end of user space, too */
	return m != NULL && m->start < at;
}

bool mapping_split(struct address_space *as, vaddr_t at, struct mapping *spare)
{
	struct mapping *m = mapping_find(as, at); /* NULL at the end of user space, too */
	if (m == NULL || m->start == at)
		return false;
	spare->start = at;
	spare->end = m->end;
	spare->prot = m->prot;
	spare->flags = m->flags;
	spare->vnode = m->vnode;
	spare->off = m->off + (at - m->start);
	spare->file_end = m->file_end;
	if (m->vnode != NULL)
		vnode_hold(m->vnode);
	cut_above(as, m, at);
	link_mapping(as, spare);
	return true;
}

bool mapping_needs_spare(struct address_space *as, vaddr_t start, vaddr_t end)
{
	struct mapping *m = mapping_above(as, start);
	return m->start < start && m->end > end;
}

struct mapping *mapping_remove(struct address_space *as, vaddr_t start, vaddr_t end,
			       struct mapping *spare)
{
	if (mapping_needs_spare(as, start, end)) {
		mapping_split(as, end, spare);
		spare = NULL;
	}
	struct mapping *m = mapping_above(as, start), *next;
	for (; m->start < end; m = next) {
		next = mapping_next(m);
		if (m->start < start) {
			cut_above(as, m, start);
		} else if (m->end > end) {
			cut_below(as, m, end);
		} else {
			unlink_mapping(as, m);
			mapping_free(m);
		}
		preempt_point();
	}
	return spare;
}

void mapping_set_prot(struct address_space *as, vaddr_t start, vaddr_t end, int prot)
{
	struct mapping *m = mapping_above(as, start);
	for (struct mapping *p = m; p->start < end; p = mapping_next(p)) {
		p->prot = prot;
		preempt_point();
	}
	struct mapping *below = of_node(tree_prev(&m->node));
	if (below != NULL)
		m = below;
	while (m->start < end && m != &as->limit) {
		vaddr_t was = m->end;
		merge_up(as, m);
		if (m->end == was)
			m = mapping_next(m);
		preempt_point();
	}
}
