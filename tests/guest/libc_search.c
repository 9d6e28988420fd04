/*
 * libc_search.c - search.h's arrays, lists, trees and hash table; random's states; catalogues.
 */
#define _GNU_SOURCE
#include <nl_types.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include "tap.h"

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static void arrays(void)
{
	int array[5] = {30, 10, 20}, key = 10;
	size_t n = 3;

	ok("lfind", lfind(&key, array, &n, sizeof(int), compare) == &array[1] && n == 3);
	ok("lsearch: what is there", lsearch(&key, array, &n, sizeof(int), compare) == &array[1]);
	key = 40;
	ok("lfind: what is not", lfind(&key, array, &n, sizeof(int), compare) == NULL && n == 3);
	ok("lsearch: adds it", lsearch(&key, array, &n, sizeof(int), compare) == &array[3]);
	ok("lsearch: behind the last", n == 4 && array[3] == 40 && array[2] == 20);
	n = 0;
	ok("lfind: in none", lfind(&key, array, &n, sizeof(int), compare) == NULL);
}

struct element {
	struct element *next, *previous;
	int number;
};

static void lists(void)
{
	struct element e[3] = {{.number = 0}, {.number = 1}, {.number = 2}}, ring;

	e[0].next = e[0].previous = &ring;
	insque(&e[0], NULL);
	ok("insque: the first", !e[0].next && !e[0].previous);
	insque(&e[2], &e[0]);
	insque(&e[1], &e[0]);
	ok("insque: forwards", e[0].next == &e[1] && e[1].next == &e[2] && !e[2].next);
	ok("insque: backwards", e[2].previous == &e[1] && e[1].previous == &e[0]);
	remque(&e[1]);
	ok("remque: in the middle", e[0].next == &e[2] && e[2].previous == &e[0]);
	remque(&e[2]);
	ok("remque: the last", !e[0].next);
	ring.next = ring.previous = &ring;
	insque(&e[0], &ring);
	insque(&e[1], &e[0]);
	ok("insque: a ring", ring.previous == &e[1] && e[1].next == &ring && ring.next == &e[0]);
	remque(&e[0]);
	remque(&e[1]);
	ok("remque: a ring", ring.next == &ring && ring.previous == &ring);
}

static int visited[100], visits;

static void visit(const void *node, VISIT when, int depth)
{
	if (when == postorder || when == leaf)
		visited[visits++] = **(int *const *)node;
}

static void trees(void)
{
	static int key[100];
	void *root = NULL, *node;
	int wrong = 0;

	for (int i = 0; i < 100; i++) {
		key[i] = i * 37 % 100;
		node = tsearch(&key[i], &root, compare);
		wrong += node == NULL || *(int **)node != &key[i];
	}
	twalk(root, visit);
	for (int i = 0; i < 100; i++)
		wrong += visited[i] != i;
	ok("tsearch, twalk: in their order", wrong == 0 && visits == 100);
	for (int i = 0; i < 100; i++) {
		wrong += tfind(&key[i], &root, compare) == NULL;
		wrong += tdelete(&key[i], &root, compare) == NULL;
		wrong += tfind(&key[i], &root, compare) != NULL;
	}
	ok("tfind, tdelete", wrong == 0 && root == NULL);
}

static void tables(void)
{
	static char name[50][8];
	ENTRY e, *found;
	int wrong = 0;

	ok("hcreate", hcreate(100) != 0);
	for (long i = 0; i < 50; i++) {
		snprintf(name[i], sizeof(name[i]), "n%ld", i);
		e = (ENTRY){.key = strdup(name[i]), .data = (void *)i};
		wrong += hsearch(e, ENTER) == NULL;
	}
	for (long i = 0; i < 50; i++) {
		found = hsearch((ENTRY){.key = name[i]}, FIND);
		wrong += found == NULL || found->data != (void *)i;
	}
	is("hsearch", wrong, 0);
	ok("hsearch: what is not there", hsearch((ENTRY){.key = (char *)"other"}, FIND) == NULL);
	hdestroy();
}

static void states(void)
{
	char one[9], two[256];
	long first[10], again;
	int wrong = 0;
	char *before;

	srandom(7);
	for (int i = 0; i < 10; i++)
		first[i] = random();
	srandom(7);
	for (int i = 0; i < 10; i++)
		wrong += random() != first[i] || first[i] < 0 || first[i] > 0x7fffffff;
	is("srandom: the same seed, the same numbers", wrong, 0);
	srandom(7);
	random();
	before = initstate(7, one + 1, 8);
	ok("initstate: begins anew",
	   before != NULL && random() == first[0] && random() == first[1]);
	ok("initstate: another", initstate(7, two, sizeof(two)) == one + 1 && random() == first[0]);
	ok("setstate: where it was left", setstate(one + 1) == two && random() == first[2]);
	ok("setstate: and the other", setstate(two) == one + 1 && random() == first[1]);
	ok("setstate: the first", setstate(before) == two && random() == first[1]);
	errno = 0;
	ok("initstate: too small", initstate(7, one, 7) == NULL && errno == EINVAL);
	ok("initstate: changes nothing then", random() == first[2]);
	again = first[3];
	rand();
	is("rand: is another sequence", random(), again);
}

#define DRAWS 2000
static long drawn[2][DRAWS];

static void *draw(void *numbers)
{
	for (int i = 0; i < DRAWS; i++)
		((long *)numbers)[i] = random();
	return NULL;
}

/* Together they have drawn what one of them would have. */
static void draws(void)
{
	pthread_t id;
	long sum = 0;

	srandom(1);
	pthread_create(&id, NULL, draw, drawn[0]);
	draw(drawn[1]);
	pthread_join(id, NULL);
	srandom(1);
	for (int i = 0; i < 2 * DRAWS; i++)
		sum += random() - drawn[i % 2][i / 2];
	is("random: threads draw from one sequence", sum, 0);
}

static void catalogues(void)
{
	nl_catd catalogue = catopen("messages", NL_CAT_LOCALE);
	const char *text = "text";

	ok("catopen: there is none", catalogue == (nl_catd)-1 && errno == ENOENT);
	ok("catgets: the program's own text", catgets(catalogue, NL_SETD, 1, text) == text);
	fails("catclose", catclose(catalogue), EBADF);
}

int main(void)
{
	arrays();
	lists();
	trees();
	tables();
	states();
	draws();
	catalogues();
	return tap_done();
}
