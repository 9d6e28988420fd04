/*
 * selftest.c - the command line's selftest=mm: mm checks itself while it starts.
 *
 * It checks what a program in user space cannot see.  Blocks of pages do not overlap, and
 * grow together again.  The reserve holds.  Objects do not overlap.  Stacks have a hole
 * below them.  No page-table entry of the kernel breaks W^X.
 * Runs on CPU 0, before the other CPUs start; a failure is a panic.
 */
#include <kern/boot.h>
#include <kern/cache.h>
#include <kern/kstack.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/printk.h>
#include "impl.h"

#define N 256

static uint32_t seed = 2463534242u;

static uint32_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

static void *things[N];

/* --- pages --------------------------------------------------------------------------- */

/* Marks both ends of a block; check_block checks the marks. */
static void mark_block(paddr_t p, unsigned order)
{
	uint64_t *w = phys_to_virt(p);
	w[0] = w[(PAGE_SIZE << order) / 8 - 1] = p + order;
}

static void check_block(paddr_t p, unsigned order)
{
	uint64_t *w = phys_to_virt(p);
	assert(w[0] == p + order && w[(PAGE_SIZE << order) / 8 - 1] == p + order);
}

static void test_blocks(void)
{
	static unsigned order[N];
	uint64_t before = page_free_count();

	for (unsigned i = 0; i < 20000; i++) {
		unsigned k = next_random() % N;
		paddr_t p = (paddr_t)things[k];
		if (p != 0) {
			check_block(p, order[k]);
			page_free_order(p, order[k]);
			things[k] = NULL;
			continue;
		}
		order[k] = next_random() % 8 ? next_random() % 3 : next_random() % 8;
		p = page_alloc_order(order[k], 0);
		if (p == 0)
			continue;
		assert(p % (PAGE_SIZE << order[k]) == 0 && page_count(p) == 1);
		mark_block(p, order[k]);
		things[k] = (void *)p;
	}
	for (unsigned k = 0; k < N; k++)
		if (things[k] != NULL) {
			check_block((paddr_t)things[k], order[k]);
			page_free_order((paddr_t)things[k], order[k]);
			things[k] = NULL;
		}
	assert(page_free_count() == before);
}

/* Takes all pages there are, and chains them through the pages themselves.  Returns how many. */
static uint64_t take_all(unsigned flags, paddr_t *chain)
{
	uint64_t n = 0;
	for (paddr_t p; (p = page_alloc(flags)) != 0; n++) {
		*(paddr_t *)phys_to_virt(p) = *chain;
		*chain = p;
	}
	return n;
}

static void test_exhaustion(void)
{
	uint64_t before = page_free_count(), users = page_user_count();
	paddr_t chain = 0;

	uint64_t n = take_all(PG_USER, &chain);
	assert(page_free_count() == before - n && page_user_count() == users + n);
	/* The kernel still gets pages that no user gets. */
	assert(page_free_count() > 0 && page_alloc(PG_USER) == 0);
	n += take_all(0, &chain);
	assert(n == before && page_free_count() == 0 && page_alloc_order(1, 0) == 0);
	assert(kmalloc(100000) == NULL);
	while (chain != 0) {
		paddr_t p = chain;
		chain = *(paddr_t *)phys_to_virt(p);
		page_free(p);
	}
	assert(page_free_count() == before && page_user_count() == users);
	/* The single pages have become large blocks again. */
	paddr_t large = page_alloc_order(10, 0);
	assert(large != 0);
	page_free_order(large, 10);
}

static void test_holds(void)
{
	uint64_t before = page_free_count();
	paddr_t p = page_alloc(PG_ZERO);
	for (unsigned i = 0; i < PAGE_SIZE / 8; i++)
		assert(((uint64_t *)phys_to_virt(p))[i] == 0);
	page_hold(p);
	page_free(p);
	assert(page_count(p) == 1 && page_free_count() == before - 1);
	page_free(p);
	assert(page_free_count() == before);
}

/* --- objects ------------------------------------------------------------------------- */

static unsigned constructed;

static void selftest_construct(void *obj)
{
	constructed++;
	memset(obj, 0x77, 200);
}

static void test_cache(void)
{
	struct kcache *c = kcache_create("selftest", 200, 64, KC_STABLE, selftest_construct);
	assert(c != NULL);
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < N; i++) {
			char *obj = things[i] = kcache_alloc(c);
			assert(obj != NULL && (uint64_t)obj % 64 == 0);
			/* Its contents are those of the constructor or of the last user. */
			assert(obj[8] == 0x77 && obj[199] == 0x77);
			*(uint64_t *)obj = i;
		}
		for (unsigned i = 0; i < N; i++)
			assert(*(uint64_t *)things[i] == i);
		for (unsigned i = 0; i < N; i++)
			kcache_free(c, things[(i * 37 + round) % N]);
	}
	unsigned made = constructed;
	void *obj = kcache_alloc(c);
	assert(obj != NULL && constructed == made);
	kcache_free(c, obj);

	/* All N are in use, so the magazines are empty; given back, none is taken for a full one. */
	for (unsigned i = 0; i < N; i++)
		things[i] = kcache_alloc(c);
	irqstate_t s = irq_save();
	cache_give_back();
	irq_restore(s);
	obj = kcache_alloc(c);
	assert(obj != NULL && ((char *)obj)[199] == 0x77);
	kcache_free(c, obj);
	for (unsigned i = 0; i < N; i++)
		kcache_free(c, things[i]);
	memset(things, 0, sizeof(things));
}

static size_t random_size(void)
{
	uint32_t r = next_random();
	return 1 + (r % 16 == 0 ? r / 16 % 50000 : r / 16 % 2200);
}

static void test_kmalloc(void)
{
	static size_t size[N];

	for (unsigned i = 0; i < 20000; i++) {
		unsigned k = next_random() % N;
		uint8_t *p = things[k];
		if (p != NULL) {
			for (size_t j = 0; j < size[k]; j++)
				assert(p[j] == (uint8_t)k);
			kfree(p);
			things[k] = NULL;
			continue;
		}
		size[k] = random_size();
		p = things[k] = kmalloc(size[k]);
		assert(p != NULL && (uint64_t)p % 16 == 0);
		memset(p, k, size[k]);
	}
	for (unsigned k = 0; k < N; k++) {
		kfree(things[k]);
		things[k] = NULL;
	}
	assert(kmalloc((1 << 20) + 1) == NULL);
	void *largest = kzalloc(1 << 20);
	assert(largest != NULL);
	kfree(largest);
	kfree(NULL);
}

/* --- stacks and page tables ---------------------------------------------------------- */

static void test_stacks(void)
{
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < N; i++) {
			uint64_t top = (uint64_t)(things[i] = kstack_alloc());
			assert(top != 0 && top % 16 == 0);
			uint64_t bottom = top - KSTACK_SIZE;
			assert(*kernel_pte(bottom - 1) == 0 && kstack_is_guard(bottom - 1));
			assert(!kstack_is_guard(bottom) && !kstack_is_guard(top - 1));
			*(uint64_t *)bottom = *((uint64_t *)top - 1) = i;
		}
		for (unsigned i = 0; i < N; i++) {
			uint64_t *top = things[i];
			assert(top[-1] == i && *(top - KSTACK_SIZE / 8) == i);
			kstack_free(top);
		}
		uint64_t before = page_free_count();
		kstack_trim(0);
		assert(page_free_count() >= before + N / 2 * (KSTACK_SIZE / PAGE_SIZE));
	}
	memset(things, 0, sizeof(things));
}

extern char __text_start[], __rodata_end[];

static unsigned check_tables(const uint64_t *table, int level, bool writable, bool executable)
{
	unsigned leaves = 0;
	for (unsigned i = 0; i < PT_ENTRIES; i++) {
		uint64_t e = table[i];
		if (!(e & PTE_P))
			continue;
		bool w = writable && (e & PTE_W), x = executable && !(e & PTE_NX);
		assert(!(e & PTE_U));
		if (level > 1 && !(e & PTE_PS)) {
			leaves += check_tables(pt_table(e), level - 1, w, x);
			continue;
		}
		leaves++;
		assert(!(w && x));
		paddr_t from = e & PTE_ADDR & ~(PT_SPAN(level) - 1);
		bool constant = from < image_to_phys(__rodata_end) &&
				from + PT_SPAN(level) > image_to_phys(__text_start);
		assert(!(w && constant));
	}
	return leaves;
}

static void test_tables(void)
{
	const uint64_t *pml4 = phys_to_virt(kernel_pml4);
	for (unsigned i = 0; i < PT_ENTRIES / 2; i++)
		assert(pml4[i] == 0);
	assert(check_tables(pml4, PT_LEVELS, true, true) > 0);
}

void mm_selftest(void)
{
	char which[8];
	if (!boot_option("selftest", which, sizeof(which)) || strcmp(which, "mm") != 0)
		return;
	test_blocks();
	test_holds();
	test_cache();
	test_kmalloc();
	test_stacks();
	test_exhaustion();
	test_tables();
	printk("weft: selftest of mm: ok, %lu of %lu pages free\n", page_free_count(),
	       page_total());
}
