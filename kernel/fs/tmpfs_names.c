/*
 * tmpfs_names.c - the names in a directory of tmpfs.
 *
 * A directory sorts its entries twice: by name, for lookup, and by cookie, for readdir.  A cookie
 * is a number that an entry keeps for its life.  So a position in a directory stays valid whatever
 * is added or removed, and finding it again is O(log n).
 *
 * The contents of the initial RAM disk must not change what any other name costs (mm_apart).  So
 * an entry of the RAM disk is in none of the trees of later entries.  The RAM disk's entries have
 * a tree by cookie, with lower cookies, and a cuckoo hash table by name (Pagh and Rodler, ESA
 * 2001).  A lookup there executes the same instructions whatever else the table holds, found or
 * not.  It looks at both places that the name's hash gives, without a branch on what the first
 * holds.  Only the boot adds to the table.
 *
 * Two names with the same 64-bit hash cannot both be in the table.  A name also stays out if there
 * is no memory for a larger table.  Such an entry goes to the trees of the later entries.
 *
 * Locks: the caller holds the directory's lock.
 */
#include <kern/cache.h>
#include <kern/printk.h>
#include "tmpfs.h"

#define LATER_COOKIE (1ull << 32) /* the first cookie of an entry not of the RAM disk */
#define KICKS 32                  /* entries that may move for a new entry, until the table grows */

/* It is in each free place of a table.  No name is empty. */
static struct tmpfs_entry vacant;
/* The table of an empty directory of the RAM disk. */
static struct tmpfs_entry *no_entries[1] = {&vacant};

void names_init(struct names *n, bool unpacking)
{
	*n = (struct names){.next_cookie = FIRST_COOKIE, .next_boot_cookie = FIRST_COOKIE};
	if (unpacking)
		names_unpack(n);
}

void names_unpack(struct names *n)
{
	assert(names_empty(n));
	n->table = no_entries;
	n->mask = 0;
	n->next_cookie = LATER_COOKIE;
}

void names_destroy(struct names *n)
{
	assert(names_empty(n));
	if (n->table != no_entries)
		kfree(n->table);
}

struct tmpfs_entry *names_entry(const char *name, size_t len)
{
	debug_assert(len > 0 && len <= WEFT_NAME_MAX);
	struct tmpfs_entry *e = kmalloc(sizeof(*e) + len);
	if (e != NULL) {
		e->len = len;
		memcpy(e->name, name, len);
	}
	return e;
}

/* --- the table ------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits (Fowler, Noll, Vo).  The last step is added, because the upper half is also used
 * alone. */
static uint64_t name_hash(const char *name, size_t len)
{
	uint64_t h = 0xcbf29ce484222325;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 0x100000001b3;
	return (h ^ h >> 32) * 0x9e3779b97f4a7c15;
}

/* The two places of a hash in a table of mask + 1 places. */
static uint64_t first_place(uint64_t hash, uint64_t mask)
{
	return hash & mask;
}

static uint64_t second_place(uint64_t hash, uint64_t mask)
{
	return hash >> 32 & mask;
}

/* Returns the entry with this hash, or any other entry. */
static struct tmpfs_entry *table_find(const struct names *n, uint64_t hash)
{
	struct tmpfs_entry *places[] = {n->table[first_place(hash, n->mask)],
					n->table[second_place(hash, n->mask)]};
	return places[places[0]->hash != hash];
}

/*
 * Puts e into its first place.  The entry that was there goes to its other place, and so on.
 * Returns the last entry that has lost its place, or NULL.
 */
static struct tmpfs_entry *table_place(struct tmpfs_entry **table, uint64_t mask,
				       struct tmpfs_entry *e)
{
	uint64_t at = first_place(e->hash, mask);
	for (unsigned i = 0; i < KICKS; i++) {
		struct tmpfs_entry *before = table[at];
		table[at] = e;
		if (before == &vacant)
			return NULL;
		e = before;
		uint64_t other = first_place(e->hash, mask);
		at = other != at ? other : second_place(e->hash, mask);
	}
	return e;
}

/* Copies the table into one of `places` places.  NULL: too small (*small), or no memory. */
static struct tmpfs_entry **table_copy(const struct names *n, uint64_t places, bool *small)
{
	struct tmpfs_entry **table = kmalloc(places * sizeof(*table));
	*small = false;
	for (uint64_t i = 0; table != NULL && i < places; i++)
		table[i] = &vacant;
	for (uint64_t i = 0; table != NULL && i <= n->mask; i++)
		if (n->table[i] != &vacant && table_place(table, places - 1, n->table[i]) != NULL) {
			kfree(table);
			table = NULL;
			*small = true;
		}
	return table;
}

static bool table_grow(struct names *n)
{
	struct tmpfs_entry **table;
	uint64_t places = n->mask + 1;
	bool small;

	do {
		places *= 2;
		table = table_copy(n, places, &small);
	} while (small);
	if (table == NULL)
		return false;
	if (n->table != no_entries)
		kfree(n->table);
	n->table = table;
	n->mask = places - 1;
	return true;
}

/* Returns the entry for which the table has no place (e, or another entry), or NULL. */
static struct tmpfs_entry *table_insert(struct names *n, struct tmpfs_entry *e)
{
	e->hash = name_hash(e->name, e->len);
	if (table_find(n, e->hash)->hash == e->hash)
		return e;
	if (2 * n->in_table >= n->mask && !table_grow(n))
		return e;
	n->in_table++;
	e = table_place(n->table, n->mask, e);
	while (e != NULL && table_grow(n))
		e = table_place(n->table, n->mask, e);
	if (e != NULL)
		n->in_table--;
	return e;
}

static void table_remove(struct names *n, const struct tmpfs_entry *e)
{
	uint64_t at = first_place(e->hash, n->mask);
	if (n->table[at] != e)
		at = second_place(e->hash, n->mask);
	assert(n->table[at] == e);
	n->table[at] = &vacant;
	n->in_table--;
}

/* --- the trees ------------------------------------------------------------------------------- */

static int compare_names(const char *a, size_t alen, const char *b, size_t blen)
{
	int c = memcmp(a, b, MIN(alen, blen));
	return c != 0 ? c : (alen > blen) - (alen < blen);
}

static int cmp_name(const struct tree_node *na, const struct tree_node *nb)
{
	const struct tmpfs_entry *a = CONTAINER_OF(na, struct tmpfs_entry, by_name);
	const struct tmpfs_entry *b = CONTAINER_OF(nb, struct tmpfs_entry, by_name);
	return compare_names(a->name, a->len, b->name, b->len);
}

static int cmp_cookie(const struct tree_node *na, const struct tree_node *nb)
{
	uint64_t a = CONTAINER_OF(na, struct tmpfs_entry, by_cookie)->cookie;
	uint64_t b = CONTAINER_OF(nb, struct tmpfs_entry, by_cookie)->cookie;
	return (a > b) - (a < b);
}

static struct tmpfs_entry *tree_find_name(const struct tree *t, const char *name, size_t len)
{
	struct tree_node *node = t->root;
	while (node != NULL) {
		struct tmpfs_entry *e = CONTAINER_OF(node, struct tmpfs_entry, by_name);
		int c = compare_names(name, len, e->name, e->len);
		if (c == 0)
			return e;
		node = node->child[c > 0];
	}
	return NULL;
}

static struct tmpfs_entry *tree_find_cookie(const struct tree *t, uint64_t from)
{
	struct tree_node *node = t->root;
	struct tmpfs_entry *best = NULL;
	while (node != NULL) {
		struct tmpfs_entry *e = CONTAINER_OF(node, struct tmpfs_entry, by_cookie);
		if (e->cookie >= from)
			best = e;
		node = node->child[e->cookie < from];
	}
	return best;
}

/* --- both ------------------------------------------------------------------------------------ */

struct tmpfs_entry *names_find(const struct names *n, const char *name, size_t len)
{
	struct tmpfs_entry *e = tree_find_name(&n->by_name, name, len);
	if (e != NULL || n->table == NULL)
		return e;
	uint64_t hash = name_hash(name, len);
	e = table_find(n, hash);
	return e->hash == hash && e->len == len && memcmp(e->name, name, len) == 0 ? e : NULL;
}

struct tmpfs_entry *names_from(const struct names *n, uint64_t cookie)
{
	struct tmpfs_entry *e = tree_find_cookie(&n->boot_by_cookie, cookie);
	return e != NULL ? e : tree_find_cookie(&n->by_cookie, cookie);
}

bool names_empty(const struct names *n)
{
	return tree_first(&n->by_cookie) == NULL && tree_first(&n->boot_by_cookie) == NULL;
}

/* Inserts e, which may have been in the table, into the trees of later entries. */
static void names_insert_later(struct names *n, struct tmpfs_entry *e)
{
	e->in_table = false;
	e->cookie = n->next_cookie++;
	tree_insert(&n->by_name, &e->by_name, cmp_name);
	tree_insert(&n->by_cookie, &e->by_cookie, cmp_cookie);
}

void names_insert(struct names *n, struct tmpfs_entry *e, bool unpacking)
{
	if (!unpacking) {
		names_insert_later(n, e);
		return;
	}
	e->in_table = true;
	e->cookie = n->next_boot_cookie++;
	tree_insert(&n->boot_by_cookie, &e->by_cookie, cmp_cookie);
	struct tmpfs_entry *without = table_insert(n, e);
	if (without != NULL) {
		tree_remove(&n->boot_by_cookie, &without->by_cookie);
		names_insert_later(n, without);
	}
}

void names_remove(struct names *n, struct tmpfs_entry *e)
{
	if (e->in_table) {
		table_remove(n, e);
		tree_remove(&n->boot_by_cookie, &e->by_cookie);
	} else {
		tree_remove(&n->by_name, &e->by_name);
		tree_remove(&n->by_cookie, &e->by_cookie);
	}
}
