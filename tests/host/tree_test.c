/*
 * tree_test.c - kernel/lib/tree.c against a sorted array, on the host.
 *
 * Random insertions and removals, with many equal keys; after each step the
 * whole tree is checked: order, links, balances, leftmost node.  Argument: seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <kern/tree.h>

#define N 300

struct item {
	struct tree_node node;
	int key;
	unsigned serial; /* order of insertion */
};

static struct item items[N];
static struct item *sorted[N]; /* by key, then serial */
static int count;

static int by_key(const struct tree_node *a, const struct tree_node *b)
{
	int x = CONTAINER_OF(a, const struct item, node)->key;
	int y = CONTAINER_OF(b, const struct item, node)->key;
	return (x > y) - (x < y);
}

static void fail(const char *what)
{
	fprintf(stderr, "tree_test: %s\n", what);
	exit(1);
}

/* Height; checks links and balances on the way. */
static int check_node(const struct tree_node *n, const struct tree_node *parent)
{
	if (n == NULL)
		return 0;
	if (n->parent != parent)
		fail("wrong parent link");
	if (!n->linked)
		fail("node in the tree not marked");
	int l = check_node(n->child[0], n), r = check_node(n->child[1], n);
	if (r - l != n->balance || r - l < -1 || r - l > 1)
		fail("wrong balance");
	return 1 + (l > r ? l : r);
}

static void check(const struct tree *t)
{
	check_node(t->root, NULL);
	const struct tree_node *n = tree_first(t);
	for (int i = 0; i < count; i++, n = tree_next(n))
		if (n != &sorted[i]->node)
			fail("wrong order forward");
	if (n != NULL)
		fail("too many nodes");
	n = tree_last(t);
	for (int i = count - 1; i >= 0; i--, n = tree_prev(n))
		if (n != &sorted[i]->node)
			fail("wrong order backward");
	if (n != NULL)
		fail("too many nodes backward");
}

int main(int argc, char **argv)
{
	struct tree t = {0};
	unsigned serial = 0;

	srand(argc > 1 ? atoi(argv[1]) : 1);
	for (int step = 0; step < 20000; step++) {
		struct item *it = &items[rand() % N];
		int i;
		if (it->node.linked) {
			tree_remove(&t, &it->node);
			if (it->node.linked)
				fail("removed node still marked");
			for (i = 0; sorted[i] != it; i++)
				;
			for (count--; i < count; i++)
				sorted[i] = sorted[i + 1];
		} else {
			it->key = rand() % 100;
			it->serial = serial++;
			tree_insert(&t, &it->node, by_key);
			for (i = count++; i > 0 && sorted[i - 1]->key > it->key; i--)
				sorted[i] = sorted[i - 1];
			sorted[i] = it;
		}
		check(&t);
	}
	printf("ok\n");
	return 0;
}
