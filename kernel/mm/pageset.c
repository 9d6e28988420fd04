/*
 * pageset.c - pages by index: a radix tree whose nodes are pages of 512 entries, as deep
 * as the largest index needs.
 *
 * An entry is 0, or the address of a node, or in the lowest level of a page of the file.
 * A node without entries is freed at once, so the cost of a sparse file depends only on its
 * pages.
 *
 * Locks: ps->lock, then the page allocator's.  Pages are filled with zeros without ps->lock.
 *
 * *Race:* two LWPs make the same page of a file; *without this:* the second LWP's page replaces
 * the first's, and a mapping of the first shows a page that is no longer the file's; *closed
 * by:* the second LWP finds the first's page under ps->lock, and frees its own (pageset_get).
 */
#include <weft/errno.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/pageset.h>
#include <kern/printk.h>
#include <kern/sched.h>

#define BITS 9
#define ENTRIES (1u << BITS)
#define MAX_LEVELS 4
_Static_assert(1ull << (BITS * MAX_LEVELS) == PAGESET_MAX, "depth of the tree");

static unsigned pageset_slot(uint64_t index, unsigned level)
{
	return index >> (BITS * (level - 1)) & (ENTRIES - 1);
}

void pageset_init(struct pageset *ps)
{
	*ps = (struct pageset){0};
	spin_init(&ps->lock, "pages of a file");
}

/* --- ps->lock held ------------------------------------------------------------------- */

static bool pageset_reaches(const struct pageset *ps, uint64_t index)
{
	return ps->levels > 0 && index >> (BITS * ps->levels) == 0;
}

/* The entry of a page, or NULL if a node above it is missing. */
static uint64_t *pageset_word(const struct pageset *ps, uint64_t index)
{
	if (!pageset_reaches(ps, index))
		return NULL;
	uint64_t *node = phys_to_virt(ps->root);
	for (unsigned level = ps->levels; level > 1; level--) {
		paddr_t next = node[pageset_slot(index, level)];
		if (next == 0)
			return NULL;
		node = phys_to_virt(next);
	}
	return &node[pageset_slot(index, 1)];
}

/*
 * The entry of a page; missing nodes above it are made.  NULL: out of memory; the tree then
 * holds the same pages as before.
 */
static uint64_t *pageset_word_make(struct pageset *ps, uint64_t index)
{
	while (!pageset_reaches(ps, index)) {
		paddr_t top = page_alloc(PG_ZERO | PG_USER);
		if (top == 0)
			return NULL;
		*(uint64_t *)phys_to_virt(top) = ps->root;
		ps->root = top;
		ps->levels++;
	}
	uint64_t *node = phys_to_virt(ps->root);
	for (unsigned level = ps->levels; level > 1; level--) {
		uint64_t *e = &node[pageset_slot(index, level)];
		if (*e == 0 && (*e = page_alloc(PG_ZERO | PG_USER)) == 0)
			return NULL;
		node = phys_to_virt(*e);
	}
	return &node[pageset_slot(index, 1)];
}

/*
 * Pages that were taken out; they are freed without the lock.  A batch is full when it has so
 * many pages.  It is also full when so many nodes have been searched, because in a sparse file
 * each page may have its own nodes.
 */
#define BATCH_NODES 16 /* more than twice MAX_LEVELS: each batch frees some, or is the last */
struct batch {
	unsigned n, nodes;
	paddr_t page[64];
};

static bool batch_is_full(const struct batch *b)
{
	return b->n == ARRAY_LEN(b->page) || b->nodes >= BATCH_NODES;
}

/*
 * Takes pages out of a node that begins at index `base`, from index `from` on, until the batch
 * is full.  True: nothing is left in the node.
 */
static bool pageset_take(struct pageset *ps, uint64_t *node, unsigned level, uint64_t base,
			 uint64_t from, struct batch *b)
{
	uint64_t span = 1ull << (BITS * (level - 1));

	b->nodes++;
	for (unsigned i = 0; i < ENTRIES; i++) {
		uint64_t at = base + i * span;
		if (node[i] == 0 || at + span <= from)
			continue;
		if (batch_is_full(b))
			return false;
		if (level == 1) {
			b->page[b->n++] = node[i];
			ps->npages--;
		} else if (pageset_take(ps, phys_to_virt(node[i]), level - 1, at, from, b)) {
			page_free(node[i]);
		} else {
			continue;
		}
		node[i] = 0;
	}
	for (unsigned i = 0; i < ENTRIES; i++)
		if (node[i] != 0)
			return false;
	return true;
}

/* --- the interface ------------------------------------------------------------------- */

paddr_t pageset_find(struct pageset *ps, uint64_t index)
{
	irqstate_t s = spin_lock(&ps->lock);
	const uint64_t *e = pageset_word(ps, index);
	paddr_t page = e != NULL ? *e : 0;
	if (page != 0)
		page_hold(page);
	spin_unlock(&ps->lock, s);
	return page;
}

int pageset_get(struct pageset *ps, uint64_t index, unsigned flags, paddr_t *page)
{
	if (index >= PAGESET_MAX)
		return -EFBIG;
	*page = pageset_find(ps, index);
	if (*page != 0)
		return 0;
	paddr_t fresh = page_alloc(PG_ZERO | flags);
	if (fresh == 0)
		return -ENOMEM;
	irqstate_t s = spin_lock(&ps->lock);
	uint64_t *e = pageset_word_make(ps, index);
	if (e != NULL && *e == 0) {
		*e = fresh;
		ps->npages++;
		fresh = 0;
	}
	*page = e != NULL ? *e : 0;
	if (*page != 0)
		page_hold(*page);
	spin_unlock(&ps->lock, s);
	if (fresh != 0)
		page_free(fresh);
	return *page != 0 ? 0 : -ENOMEM;
}

int pageset_put(struct pageset *ps, uint64_t index, paddr_t page)
{
	if (index >= PAGESET_MAX)
		return -EFBIG;
	irqstate_t s = spin_lock(&ps->lock);
	uint64_t *e = pageset_word_make(ps, index);
	if (e != NULL) {
		assert(*e == 0);
		*e = page;
		ps->npages++;
	}
	spin_unlock(&ps->lock, s);
	return e != NULL ? 0 : -ENOMEM;
}

void pageset_truncate(struct pageset *ps, uint64_t from)
{
	struct batch b;

	do {
		b.n = b.nodes = 0;
		irqstate_t s = spin_lock(&ps->lock);
		if (ps->levels > 0 &&
		    pageset_take(ps, phys_to_virt(ps->root), ps->levels, 0, from, &b)) {
			page_free(ps->root);
			ps->root = 0;
			ps->levels = 0;
		}
		spin_unlock(&ps->lock, s);
		for (unsigned i = 0; i < b.n; i++)
			page_free(b.page[i]);
		preempt_point();
	} while (batch_is_full(&b));
	assert(from != 0 || ps->npages == 0);
}
