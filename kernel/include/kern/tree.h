/*
 * tree.h - an intrusive balanced tree, for timers (by time) and mappings (by
 * address).  A node lives inside the object that it sorts; nothing is
 * allocated.  All operations are O(log n); the caller locks.
 */
#pragma once
#include "types.h"

struct tree_node {
	struct tree_node *child[2];
	struct tree_node *parent;
	int8_t balance; /* for tree.c only */
	bool linked;    /* in a tree now */
};

struct tree {
	struct tree_node *root;
	struct tree_node *first; /* the leftmost node */
};

/* < 0, 0, > 0: a comes before, equals, comes after b.  Equal nodes keep the order of insertion. */
typedef int tree_cmp(const struct tree_node *a, const struct tree_node *b);

void tree_insert(struct tree *t, struct tree_node *n, tree_cmp *cmp);
void tree_remove(struct tree *t, struct tree_node *n);
struct tree_node *tree_next(const struct tree_node *n);
struct tree_node *tree_prev(const struct tree_node *n);
struct tree_node *tree_last(const struct tree *t);
static inline struct tree_node *tree_first(const struct tree *t)
{
	return t->first;
}
