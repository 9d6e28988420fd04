/*
 * mm_many.c - many mappings: tens of thousands at a time, stacks that come and go by
 * the ten thousands, and random changes compared with a model.
 */
#include "mmtest.h"

/* --- tens of thousands at a time -------------------------------------------------------- */

static void alternating(void)
{
	const unsigned n = 50000;
	char *p = must_map(n * PAGE, RW);
	unsigned errors = 0;

	for (unsigned i = 0; i < n; i += 2)
		errors += __sys_mprotect(p + i * PAGE, PAGE, R) != 0;
	is("50,000 mappings by mprotect", errors, 0);
	for (unsigned i = 0; i < n; i += 499) {
		errors += !readable(p + i * PAGE);
		errors += writable(p + i * PAGE + 2048) != (i % 2 == 1);
	}
	is("each as it should be", errors, 0);
	for (unsigned i = 1; i < n; i += 2)
		errors += __sys_munmap(p + i * PAGE, PAGE) != 0;
	is("every second one unmapped", errors, 0);
	for (unsigned i = 0; i < n; i += 499)
		errors += readable(p + i * PAGE) != (i % 2 == 0);
	is("the others stay", errors, 0);
	is("all unmapped at once", __sys_munmap(p, n * PAGE), 0);
	ok("all gone", !readable(p) && !readable(p + (n - 2) * PAGE));
}

/* --- as many as there may be ---------------------------------------------------------------- */

static void limit(void)
{
	const unsigned n = WEFT_MAPPINGS_MAX + 100, near = n - 10;
	const int rx = R | WEFT_PROT_EXEC;
	char *p = (char *)map(NULL, n * PAGE, RW, ANON | WEFT_MAP_NORESERVE);
	unsigned i = 1;
	long r = 0;

	/* Each makes two more. */
	for (; i < n && r == 0; i += 2)
		r = __sys_mprotect(p + i * PAGE, PAGE, R);
	is("too many mappings by mprotect", r, -ENOMEM);
	ok("as many as there may be", i > WEFT_MAPPINGS_MAX - 100 && i <= WEFT_MAPPINGS_MAX);
	map(NULL, PAGE, rx, ANON); /* if one was left */
	is("mmap", map(NULL, PAGE, R, ANON), -ENOMEM);
	is("mmap in the middle of one", map(p + near * PAGE, PAGE, rx, AT), -ENOMEM);
	is("munmap in the middle of one", __sys_munmap(p + near * PAGE, PAGE), -ENOMEM);
	ok("nothing has changed", writable(p + near * PAGE));
	char *end = (char *)__sys_brk(NULL);
	ok("brk", (char *)__sys_brk(end + 2 * PAGE) == end);
	is("mprotect that makes none", __sys_mprotect(p, PAGE, NONE), 0);
	is("munmap of one", __sys_munmap(p, PAGE), 0);
	ok("makes room for one", map(NULL, PAGE, NONE, ANON) > 0);
	is("and no more", map(NULL, PAGE, R, ANON), -ENOMEM);
	is("all unmapped", __sys_munmap(p, n * PAGE), 0);
	ok("mmap again", map(NULL, PAGE, R, ANON) > 0);
}

/* --- stacks -------------------------------------------------------------------------------- */

#define STACKS 20000
#define STACK (16 * PAGE)

static char *stack[STACKS];

static char *stack_new(uint64_t stamp)
{
	long p = map(NULL, STACK, RW, ANON | WEFT_MAP_NORESERVE);
	if (p < 0 || __sys_mprotect((void *)p, PAGE, NONE) != 0)
		return NULL;
	*(uint64_t *)(p + STACK - 8) = stamp;
	return (char *)p;
}

static void stacks(void)
{
	uint32_t seed = 12345;
	unsigned errors = 0;

	for (unsigned i = 0; i < STACKS; i++) {
		stack[i] = stack_new(i);
		errors += stack[i] == NULL;
	}
	is("20,000 stacks with a guard", errors, 0);
	char *lowest = stack[0];
	for (unsigned i = 0; i < STACKS; i++)
		if (stack[i] < lowest)
			lowest = stack[i];

	/* Given back and taken again in no order. */
	for (unsigned round = 0; round < STACKS && errors == 0; round++) {
		unsigned i = next_random(&seed) % STACKS, j = next_random(&seed) % STACKS;
		errors += *(uint64_t *)(stack[i] + STACK - 8) != i;
		__sys_munmap(stack[i], STACK);
		if (j != i) {
			errors += *(uint64_t *)(stack[j] + STACK - 8) != j;
			__sys_munmap(stack[j], STACK);
			stack[j] = stack_new(j);
		}
		stack[i] = stack_new(i);
		errors += stack[i] == NULL || stack[j] == NULL;
		errors += stack[i] < lowest || stack[j] < lowest;
	}
	is("they come and go in the same room", errors, 0);
	for (unsigned i = 0; i < STACKS; i++)
		errors += *(uint64_t *)(stack[i] + STACK - 8) != i || readable(stack[i]);
	is("each is still its own", errors, 0);
	for (unsigned i = 0; i < STACKS; i++)
		errors += __sys_munmap(stack[i], STACK) != 0;
	is("all are given back", errors, 0);
}

/* --- random changes, and a model ---------------------------------------------------------------- */

#define PAGES 64
#define ABSENT (-1)

static char *arena;
static int prot[PAGES];
static uint64_t stamp[PAGES];

/* One of the calls on a random range; the model follows if it succeeds. */
static int change(uint32_t *seed, uint64_t n)
{
	static const int prots[] = {NONE, R, RW, RW};
	unsigned first = next_random(seed) % PAGES;
	unsigned count = 1 + next_random(seed) % (PAGES - first);
	int p = prots[next_random(seed) % 4];
	char *at = arena + first * PAGE;
	int hole = 0;

	if (next_random(seed) % 4 != 0) /* mostly short ones */
		count = 1 + count % 6;
	if (count > PAGES - first)
		count = PAGES - first;
	switch (next_random(seed) % 4) {
	case 0:
		if (__sys_munmap(at, count * PAGE) != 0)
			return 1;
		for (unsigned i = first; i < first + count; i++)
			prot[i] = ABSENT;
		break;
	case 1:
		if (map(at, count * PAGE, p, AT) != (long)at)
			return 1;
		for (unsigned i = first; i < first + count; i++) {
			prot[i] = p;
			stamp[i] = 0;
		}
		break;
	case 2:
		for (unsigned i = first; i < first + count; i++)
			hole |= prot[i] == ABSENT;
		if (__sys_mprotect(at, count * PAGE, p) != (hole ? -ENOMEM : 0))
			return 1;
		for (unsigned i = first; i < first + count && !hole; i++)
			prot[i] = p;
		break;
	case 3:
		for (unsigned i = first; i < first + count; i++)
			if (prot[i] == RW)
				*(uint64_t *)(arena + i * PAGE) = stamp[i] = n << 8;
		break;
	}
	return 0;
}

static int differs(unsigned i)
{
	char *p = arena + i * PAGE;
	if (prot[i] == ABSENT || prot[i] == NONE)
		return readable(p);
	return !readable(p) || writable(p + 2048) != (prot[i] == RW) || *(uint64_t *)p != stamp[i];
}

static void random_changes(void)
{
	uint32_t seed = 987654321;
	unsigned errors = 0;
	uint64_t n;

	arena = must_map(PAGES * PAGE, RW);
	for (unsigned i = 0; i < PAGES; i++)
		prot[i] = RW;
	uint64_t before = resident();
	for (n = 1; n <= 4000 && errors == 0; n++) {
		errors += change(&seed, n);
		if (n % 8 == 0)
			for (unsigned i = 0; i < PAGES; i++)
				errors += differs(i);
	}
	tap_report(errors == 0, "4,000 random changes, as the model says", "%u errors after %lu",
		   errors, (unsigned long)n);
	__sys_munmap(arena, PAGES * PAGE);
	is("no page is left", resident(), before);
}

int main(void)
{
	alternating();
	limit();
	stacks();
	random_changes();
	return tap_done();
}
