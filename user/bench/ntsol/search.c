/*
 * search.c - table 7: the symmetric travelling-salesman problem by parallel depth-first branch and
 * bound.
 *
 * The work pile holds the branches of the search tree down to DEPTH cities, except those that can
 * be pruned at once.  A thread takes a branch and expands it fully.
 *
 * The first tour, which bounds the search, comes from a heuristic: nearest neighbour from each
 * city, improved by exchanges of two edges and by moves of up to three cities.  On these instances
 * this tour is the shortest.  So the threads only verify that, and the amount of work does not
 * depend on the number of threads.
 *
 * The lower bound of a branch is the length of its edges plus, for each city not yet left, its
 * cheapest edge to a city other than its predecessor (half the sum of the two cheapest of each open
 * city).
 *
 * Locks: pile.lock guards the pile's next branch and the best tour; no lock is acquired under it.
 * `best` is also read without it: `best` only falls, and an old value prunes less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gr17.h"
#include "ntsol.h"

#define MAX_CITIES GR17_CITIES
#define DEPTH 5 /* cities in a branch of the pile, the first included */
/* The experiment nt-search-mutex compiles it with LOCK_GLOBAL: a mutex in the place of a section. */
#ifndef PILE_LOCK
#define PILE_LOCK LOCK_LOCAL
#endif

struct branch {
	signed char path[MAX_CITIES];
	int length;
};

static int cities;
static int distance[MAX_CITIES][MAX_CITIES];
static int two_cheapest[MAX_CITIES]; /* sum of a city's two cheapest edges */

static struct {
	struct lock lock;
	struct branch *branch;
	long n, room;
	long next;    /* not yet taken; lock */
	int best;     /* length of the best tour known; lock, atomic */
	long better;  /* tours found that were better than the heuristic's; lock */
	long visited; /* nodes of the tree; lock */
} pile;

struct searcher {
	struct task task;
	long branches, visited;
};

static void load(void)
{
	const short *d = gr17;

	for (int i = 0; i < GR17_CITIES; i++)
		for (int j = 0; j <= i; j++, d++)
			if (i < cities)
				distance[i][j] = distance[j][i] = *d;
	for (int i = 0; i < cities; i++) {
		int first = 1 << 20, second = 1 << 20;

		for (int j = 0; j < cities; j++) {
			int length = distance[i][j];

			if (j == i)
				continue;
			if (length < first) {
				second = first;
				first = length;
			} else if (length < second) {
				second = length;
			}
		}
		two_cheapest[i] = first + second;
	}
}

/* --- the heuristic ---------------------------------------------------------------------------- */

static int tour_length(const signed char *tour)
{
	int length = distance[tour[cities - 1]][tour[0]];

	for (int i = 1; i < cities; i++)
		length += distance[tour[i - 1]][tour[i]];
	return length;
}

static void nearest_neighbours(signed char *tour, int first)
{
	unsigned visited = 1u << first;

	tour[0] = first;
	for (int i = 1; i < cities; i++) {
		int best = -1;

		for (int j = 0; j < cities; j++)
			if (!(visited >> j & 1) &&
			    (best < 0 || distance[tour[i - 1]][j] < distance[tour[i - 1]][best]))
				best = j;
		tour[i] = best;
		visited |= 1u << best;
	}
}

/* Reverses tour[i..j]. */
static void reverse(signed char *tour, int i, int j)
{
	for (; i < j; i++, j--) {
		signed char city = tour[i];

		tour[i] = tour[j];
		tour[j] = city;
	}
}

/* Moves the n cities from index i to behind the city at position j of the rest. */
static void move(signed char *tour, int i, int n, int j)
{
	signed char part[3], rest[MAX_CITIES];
	int left = 0;

	memcpy(part, tour + i, n);
	for (int k = 0; k < cities; k++)
		if (k < i || k >= i + n)
			rest[left++] = tour[k];
	memcpy(tour, rest, j + 1);
	memcpy(tour + j + 1, part, n);
	memcpy(tour + j + 1 + n, rest + j + 1, left - j - 1);
}

/* Makes one change that shortens the tour; false: there is none. */
static bool improve(signed char *tour)
{
	int length = tour_length(tour);
	signed char changed[MAX_CITIES];

	for (int i = 1; i < cities - 1; i++)
		for (int j = i + 1; j < cities; j++) {
			memcpy(changed, tour, cities);
			reverse(changed, i, j);
			if (tour_length(changed) < length)
				goto shorter;
		}
	for (int n = 1; n <= 3; n++)
		for (int i = 0; i + n <= cities; i++)
			for (int j = 0; j < cities - n; j++) {
				memcpy(changed, tour, cities);
				move(changed, i, n, j);
				if (tour_length(changed) < length)
					goto shorter;
			}
	return false;
shorter:
	memcpy(tour, changed, cities);
	return true;
}

static int heuristic(void)
{
	signed char tour[MAX_CITIES];
	int best = 1 << 20;

	for (int first = 0; first < cities; first++) {
		nearest_neighbours(tour, first);
		while (improve(tour))
			;
		if (tour_length(tour) < best)
			best = tour_length(tour);
	}
	return best;
}

/* --- the search ------------------------------------------------------------------------------- */

static int best_now(void)
{
	return __atomic_load_n(&pile.best, __ATOMIC_RELAXED);
}

/* Returns twice a lower bound of the tours through this path.  open: sum of two_cheapest of the
 * cities that are not on the path.  The path's ends need one more edge each, whose length is taken
 * as 0. */
static int bound(int length, int open)
{
	return 2 * length + open;
}

static void found(int length)
{
	column->lock(&pile.lock);
	if (length < pile.best) {
		__atomic_store_n(&pile.best, length, __ATOMIC_RELAXED);
		pile.better++;
	}
	column->unlock(&pile.lock);
}

/* Expands the branch that ends in `last`.  unvisited: a bit a city. */
static void expand(struct searcher *self, int last, unsigned unvisited, int length, int open)
{
	self->visited++;
	if (unvisited == 0) {
		length += distance[last][0];
		if (length < best_now())
			found(length);
		return;
	}
	for (unsigned left = unvisited; left != 0; left &= left - 1) {
		int city = __builtin_ctz(left);
		int longer = length + distance[last][city];

		if (bound(longer, open - two_cheapest[city]) < 2 * best_now())
			expand(self, city, unvisited & ~(1u << city), longer,
			       open - two_cheapest[city]);
	}
}

static int open_of(unsigned unvisited)
{
	int open = 0;

	for (; unvisited != 0; unvisited &= unvisited - 1)
		open += two_cheapest[__builtin_ctz(unvisited)];
	return open;
}

static unsigned unvisited_of(const signed char *path, int n)
{
	unsigned unvisited = (1u << cities) - 1;

	for (int i = 0; i < n; i++)
		unvisited &= ~(1u << path[i]);
	return unvisited;
}

/* Puts all branches of DEPTH cities that begin as b does, up to n cities, onto the pile. */
static void fill(struct branch *b, int n)
{
	unsigned unvisited = unvisited_of(b->path, n);

	if (bound(b->length, open_of(unvisited)) >= 2 * pile.best)
		return;
	if (n == DEPTH) {
		if (pile.n == pile.room)
			fail("the work pile is full");
		pile.branch[pile.n++] = *b;
		return;
	}
	for (; unvisited != 0; unvisited &= unvisited - 1) {
		struct branch longer = *b;

		longer.path[n] = __builtin_ctz(unvisited);
		longer.length += distance[b->path[n - 1]][longer.path[n]];
		fill(&longer, n + 1);
	}
}

static void search(struct task *task)
{
	struct searcher *self = (struct searcher *)task;

	begin_by_reading();
	for (;;) {
		const struct branch *b = NULL;
		unsigned unvisited;

		column->lock(&pile.lock);
		if (pile.next < pile.n)
			b = &pile.branch[pile.next++];
		column->unlock(&pile.lock);
		if (b == NULL)
			break;
		self->branches++;
		unvisited = unvisited_of(b->path, DEPTH);
		expand(self, b->path[DEPTH - 1], unvisited, b->length, open_of(unvisited));
	}
	column->lock(&pile.lock);
	pile.visited += self->visited;
	column->unlock(&pile.lock);
}

void test_search(char **args)
{
	long n = number("search", args[0], 1, 1000), branches = 0;
	struct searcher *threads = allocate(n, sizeof(*threads));
	struct branch root = {.path = {0}};
	struct moment start, end;

	cities = number("cities", args[1], DEPTH, MAX_CITIES);
	if (gr17_shortest[cities] == 0)
		fail("the shortest tour of gr17's first %d cities is not known", cities);
	load();
	pile.best = heuristic();
	pile.room = (cities - 1) * (cities - 2) * (cities - 3) * (cities - 4);
	pile.branch = allocate(pile.room, sizeof(*pile.branch));
	column->lock_init(&pile.lock, PILE_LOCK);
	fill(&root, 1);

	start = moment();
	for (long i = 0; i < n; i++) {
		threads[i].task.run = search;
		create(&threads[i].task);
	}
	join_all(threads, n, sizeof(*threads));
	end = moment();
	for (long i = 0; i < n; i++)
		branches += threads[i].branches;
	printf("result test=search column=%s threads=%ld cities=%d length=%d branches=%ld "
	       "nodes=%ld reads=%ld",
	       column->name, n, cities, pile.best, branches, pile.visited, settings.reads);
	print_since(&start, &end);
	if (pile.best != gr17_shortest[cities] || pile.better != 0)
		fail("the shortest tour has length %d", gr17_shortest[cities]);
	if (branches != pile.n)
		fail("%ld of %ld branches were searched", branches, pile.n);
	free(pile.branch);
	free(threads);
}
