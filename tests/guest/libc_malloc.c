/*
 * libc_malloc.c - malloc and its family, the break and anonymous mappings: contents
 * survive, alignment holds, and what cannot be had is refused without harm.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include "tap.h"

#define SLOTS 500

static struct {
	unsigned char *p;
	size_t n;
} slot[SLOTS];

static uint64_t state = 1;

static unsigned rnd(unsigned below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

static void fill(unsigned i)
{
	size_t k;

	for (k = 0; k < slot[i].n; k++)
		slot[i].p[k] = i * 7 + k;
}

static int intact(unsigned i, size_t n)
{
	size_t k;

	for (k = 0; k < n; k++)
		if (slot[i].p[k] != (unsigned char)(i * 7 + k))
			return 0;
	return 1;
}

/* Random allocations, resizes and frees; every block holds a pattern of its own. */
static void stress(void)
{
	unsigned round, i, damaged = 0, misaligned = 0, failed = 0;
	size_t n, keep;
	void *p;

	for (round = 0; round < 100000; round++) {
		i = rnd(SLOTS);
		n = rnd(4) ? rnd(200) : rnd(20000);
		if (!slot[i].p) {
			slot[i].p = malloc(n);
			slot[i].n = n;
		} else if (rnd(3)) {
			damaged += !intact(i, slot[i].n);
			free(slot[i].p);
			slot[i].p = NULL;
			continue;
		} else {
			keep = n < slot[i].n ? n : slot[i].n;
			p = realloc(slot[i].p, n ? n : 1);
			failed += !p;
			if (!p)
				continue;
			slot[i].p = p;
			slot[i].n = n;
			damaged += !intact(i, keep);
		}
		failed += !slot[i].p;
		misaligned += (uintptr_t)slot[i].p & 15 ? 1 : 0;
		if (slot[i].p)
			fill(i);
	}
	is("blocks damaged", damaged, 0);
	is("blocks not aligned to 16", misaligned, 0);
	is("allocations failed", failed, 0);
	for (i = 0; i < SLOTS; i++)
		free(slot[i].p);
}

static void family(void)
{
	unsigned char *p;
	void *q = NULL;
	volatile size_t half = SIZE_MAX / 2; /* or the compiler objects */
	size_t i, set = 0;

	p = malloc(100000);
	memset(p, 0xff, 100000);
	free(p);
	p = calloc(1000, 100);
	for (i = 0; i < 100000; i++)
		set += p[i] != 0;
	is("calloc clears", set, 0);
	free(p);
	is("posix_memalign", posix_memalign(&q, 4096, 10), 0);
	is("its alignment", (uintptr_t)q & 4095, 0);
	free(q);
	is("posix_memalign: not a power of two", posix_memalign(&q, 24, 10), EINVAL);
	is("posix_memalign: too small", posix_memalign(&q, 4, 10), EINVAL);
	errno = 0;
	ok("malloc of 64 TiB", !malloc(1ull << 46) && errno == ENOMEM);
	errno = 0;
	ok("calloc overflow", !calloc(half, 3) && errno == ENOMEM);
	p = malloc(10);
	ok("malloc after that", p != NULL);
	free(p);
	ok("sbrk(0)", sbrk(0) != (void *)-1 && sbrk(0) == sbrk(0));
	errno = 0;
	ok("sbrk of 64 TiB", sbrk(1ll << 46) == (void *)-1 && errno == ENOMEM);
}

static void mappings(void)
{
	size_t len = 1 << 20, i, set = 0;
	unsigned char *p =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ok("mmap", p != MAP_FAILED);
	if (p == MAP_FAILED)
		return;
	for (i = 0; i < len; i++)
		set += p[i] != 0;
	is("its memory is clear", set, 0);
	memset(p, 1, len);
	is("mprotect", mprotect(p, len, PROT_READ), 0);
	is("contents after it", p[len - 1], 1);
	is("munmap", munmap(p, len), 0);
	errno = 0;
	ok("mmap of no bytes",
	   mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0) == MAP_FAILED &&
		   errno == EINVAL);
	errno = 0;
	ok("mprotect of what is not mapped", mprotect(p, len, PROT_READ) < 0 && errno == ENOMEM);
}

int main(void)
{
	stress();
	family();
	mappings();
	return tap_done();
}
