/*
 * kmem.h - has the kernel's memory come back?  Two readings of /proc/kmem, compared exactly.
 *
 * Memory that the kernel keeps for the next time (free objects in the CPUs' magazines, slabs,
 * kernel stacks and the page tables that map them) counts as free, and objects are counted where
 * they are in use, cache by cache, so that a leak has a name.  What the program itself takes
 * between two readings is missing as well: it does nothing for the first time after the first.
 */
#pragma once
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/abi.h>
#include <weft/sys.h>
#include <weft/time.h>

struct kmem {
	uint64_t idle; /* pages that are free, or wait in caches */
	unsigned ncaches;
	struct {
		char name[24];
		uint64_t used; /* objects */
	} cache[64];
};

#define KMEM_LOOK_NS 5000000
#define KMEM_SETTLED 4  /* looks that say the same */
#define KMEM_LOOKS 2000 /* by then all is back, or is lost */

/* All memory that looking needs is there before the first number counts. */
static struct kmem kmem_seen, kmem_last;
static char kmem_text[16384];

static void kmem_nap(void)
{
	const struct weft_timespec t = {0, KMEM_LOOK_NS};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &t);
}

static void kmem_look(struct kmem *k)
{
	size_t len = 0;
	ssize_t n;
	int fd = open("/proc/kmem", O_RDONLY);
	char *end;

	while (fd >= 0 && (n = read(fd, kmem_text + len, sizeof(kmem_text) - 1 - len)) > 0)
		len += n;
	close(fd);
	kmem_text[len] = '\0';
	memset(k, 0, sizeof(*k));
	for (char *line = strtok_r(kmem_text, "\n", &end); line != NULL;
	     line = strtok_r(NULL, "\n", &end)) {
		unsigned long size, used, pages;
		char word[16];
		/* A name may have spaces. */
		if (sscanf(line, "Cache:\t%23[^\t]\t%lu\t%lu\t%lu", k->cache[k->ncaches].name,
			   &size, &used, &pages) == 4) {
			k->cache[k->ncaches++].used = used;
			k->idle += pages;
		} else if (sscanf(line, "%15[^:]:\t%lu", word, &pages) == 2 &&
			   strcmp(word, "Total") != 0) {
			k->idle += pages;
		}
	}
	if (k->ncaches == 0)
		errx(1, "/proc/kmem cannot be read");
}

/* Magazines are what free objects wait in: their number says nothing. */
static bool kmem_counts(const struct kmem *k, unsigned i)
{
	return strcmp(k->cache[i].name, "magazine") != 0;
}

static bool kmem_agree(const struct kmem *a, const struct kmem *b)
{
	for (unsigned i = 0; i < a->ncaches; i++)
		if (kmem_counts(a, i) && a->cache[i].used != b->cache[i].used)
			return false;
	return a->idle == b->idle && a->ncaches == b->ncaches;
}

/* Takes as much stack and heap as the program will ever need, so that they are not missing. */
static void kmem_init(void)
{
	volatile char stack[64 << 10];
	char *heap = malloc(sizeof(stack));

	if (heap == NULL)
		err(1, "malloc");
	for (size_t i = 0; i < sizeof(stack); i += WEFT_PAGE_SIZE)
		stack[i] = ((volatile char *)heap)[i] = 1;
	free(heap);
}

/* A reading, when it no longer changes. */
static void kmem_settle(struct kmem *k)
{
	for (unsigned same = 0, looks = 0; same < KMEM_SETTLED && looks < KMEM_LOOKS; looks++) {
		kmem_look(&kmem_seen);
		same = kmem_agree(&kmem_seen, &kmem_last) ? same + 1 : 0;
		*k = kmem_last = kmem_seen; /* each time: it is in memory by the last look */
		kmem_nap();
	}
}

/* Waits until the kernel has as much as `before`; says what is missing if that does not
 * come.  True: nothing is. */
__attribute__((unused)) static bool kmem_returns(const struct kmem *before)
{
	for (unsigned looks = 0; looks < KMEM_LOOKS; looks++) {
		kmem_look(&kmem_seen);
		if (kmem_agree(before, &kmem_seen))
			return true;
		kmem_nap();
	}
	printf("# %lld pages are missing\n", (long long)(before->idle - kmem_seen.idle));
	for (unsigned i = 0; i < kmem_seen.ncaches; i++)
		if (kmem_counts(&kmem_seen, i) && kmem_seen.cache[i].used != before->cache[i].used)
			printf("# %s: %llu objects in use, %llu before\n", kmem_seen.cache[i].name,
			       (unsigned long long)kmem_seen.cache[i].used,
			       (unsigned long long)before->cache[i].used);
	fflush(stdout);
	return false;
}
