/*
 * tree.c - the intrusive tree of kern/tree.h: an AVL tree with parent links.
 *
 * Invariants: `balance` is the height of the right subtree minus the height of the left subtree.
 * It is -1, 0 or 1 between calls.  t->first is the leftmost node.  No function recurses, so a deep
 * tree costs no kernel stack.  The caller locks.
 */
#include <kern/tree.h>

enum { LEFT = 0, RIGHT = 1 };

static inline int side_of(const struct tree_node *n)
{
	return n->parent->child[RIGHT] == n ? RIGHT : LEFT;
}

/* Puts `n` (may be NULL) in the place of `old`. */
static void replace_child(struct tree *t, struct tree_node *old, struct tree_node *n)
{
	struct tree_node *p = old->parent;
	if (p == NULL)
		t->root = n;
	else
		p->child[side_of(old)] = n;
	if (n != NULL)
		n->parent = p;
}

/* Lifts n's child on `side` into n's place; n goes down to the other side. */
static struct tree_node *tree_rotate(struct tree *t, struct tree_node *n, int side)
{
	struct tree_node *up = n->child[side], *inner = up->child[!side];
	replace_child(t, n, up);
	n->child[side] = inner;
	if (inner != NULL)
		inner->parent = n;
	up->child[!side] = n;
	n->parent = up;
	return up;
}

/*
 * The subtree of n on `side` is two levels higher than the other: restores the balance.  Returns
 * the root of the whole subtree.  It is lower than before, unless the balance of this root is not
 * 0.
 */
static struct tree_node *tree_rebalance(struct tree *t, struct tree_node *n, int side)
{
	int lean = side == RIGHT ? 1 : -1;
	struct tree_node *child = n->child[side];

	if (child->balance != -lean) {
		tree_rotate(t, n, side);
		n->balance = lean - child->balance;
		child->balance -= lean;
		return child;
	}
	struct tree_node *mid = child->child[!side];
	tree_rotate(t, child, !side);
	tree_rotate(t, n, side);
	n->balance = mid->balance == lean ? -lean : 0;
	child->balance = mid->balance == -lean ? lean : 0;
	mid->balance = 0;
	return mid;
}

void tree_insert(struct tree *t, struct tree_node *n, tree_cmp *cmp)
{
	struct tree_node *parent = NULL, **at = &t->root;
	bool leftmost = true;

	while (*at != NULL) {
		parent = *at;
		int side = cmp(n, parent) < 0 ? LEFT : RIGHT;
		leftmost = leftmost && side == LEFT;
		at = &parent->child[side];
	}
	*n = (struct tree_node){.parent = parent, .linked = true};
	*at = n;
	if (leftmost)
		t->first = n;

	/* Goes up as long as the subtree below has grown. */
	while (parent != NULL) {
		int side = side_of(n);
		parent->balance += side == RIGHT ? 1 : -1;
		if (parent->balance == 0)
			break;
		if (parent->balance == 2 || parent->balance == -2) {
			tree_rebalance(t, parent, side);
			break;
		}
		n = parent;
		parent = n->parent;
	}
}

void tree_remove(struct tree *t, struct tree_node *n)
{
	struct tree_node *p; /* the lowest node with a subtree that shrinks */
	int side;            /* the side of this subtree */

	if (t->first == n)
		t->first = tree_next(n);

	if (n->child[LEFT] != NULL && n->child[RIGHT] != NULL) {
		/* The successor, which has no left child, takes n's place. */
		struct tree_node *next = n->child[RIGHT];
		while (next->child[LEFT] != NULL)
			next = next->child[LEFT];
		side = side_of(next);
		p = next->parent == n ? next : next->parent;
		replace_child(t, next, next->child[RIGHT]);
		replace_child(t, n, next);
		next->balance = n->balance;
		for (int i = LEFT; i <= RIGHT; i++) {
			next->child[i] = n->child[i];
			if (next->child[i] != NULL)
				next->child[i]->parent = next;
		}
	} else {
		p = n->parent;
		side = p != NULL ? side_of(n) : LEFT;
		replace_child(t, n, n->child[LEFT] != NULL ? n->child[LEFT] : n->child[RIGHT]);
	}
	*n = (struct tree_node){.linked = false};

	/* Goes up as long as the subtree below has shrunk. */
	while (p != NULL) {
		p->balance += side == RIGHT ? -1 : 1;
		if (p->balance == 1 || p->balance == -1)
			break;
		if (p->balance != 0) {
			p = tree_rebalance(t, p, !side);
			if (p->balance != 0)
				break;
		}
		if (p->parent != NULL)
			side = side_of(p);
		p = p->parent;
	}
}

/* The next node in the direction `side`, or NULL. */
static struct tree_node *tree_step(const struct tree_node *n, int side)
{
	struct tree_node *to = n->child[side];
	if (to != NULL) {
		while (to->child[!side] != NULL)
			to = to->child[!side];
		return to;
	}
	while (n->parent != NULL && side_of(n) == side)
		n = n->parent;
	return n->parent;
}

struct tree_node *tree_next(const struct tree_node *n)
{
	return tree_step(n, RIGHT);
}

struct tree_node *tree_prev(const struct tree_node *n)
{
	return tree_step(n, LEFT);
}

struct tree_node *tree_last(const struct tree *t)
{
	struct tree_node *n = t->root;
	while (n != NULL && n->child[RIGHT] != NULL)
		n = n->child[RIGHT];
	return n;
}
