/*
 * thr_own_malloc.c - a program's own malloc, free, calloc, realloc and memalign take the place
 * of the library's, everywhere: the C library's own blocks come from them and go back to
 * them, in threads, and in a child of fork.
 *
 * The allocator: blocks of powers of 2 from one array, a list of free ones a size, one mutex.
 * A word before each block says that it is one; a block without it belongs to another allocator.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/wait.h>
#include "tap.h"

#define ARENA (8 << 20)
#define SIZES 24
#define MINE 0x6d696e65u

struct head {
	uint32_t magic, size; /* a power of 2: 1 << size, the head included */
	struct head *next;    /* while free */
} __attribute__((aligned(16)));

static _Alignas(4096) char arena[ARENA];
static size_t arena_used;
static struct head *unused[SIZES];
static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long allocations, foreign;
/* A thread's malloc waits until the allocator's lock has been taken by fork. */
static _Thread_local int waits_for_fork;
static volatile int waiting, lock_taken;

static unsigned size_for(size_t n)
{
	unsigned size = 5;

	while (((size_t)1 << size) < n)
		size++;
	return size;
}

/* Blocks are aligned to their size, so that memalign is malloc of the larger number. */
static void *block_of(size_t n, size_t align)
{
	unsigned size = size_for(n + sizeof(struct head));
	struct head *h = NULL;

	if (waits_for_fork) {
		waiting = 1;
		while (!lock_taken)
			sched_yield();
	}
	pthread_mutex_lock(&arena_lock);
	allocations++;
	if (size < SIZES && align <= 16 && unused[size] != NULL) {
		h = unused[size];
		unused[size] = h->next;
	} else if (size < SIZES) {
		uintptr_t at = (uintptr_t)arena + arena_used + sizeof(struct head);

		at = (at + align - 1) & -align;
		if (at - (uintptr_t)arena - sizeof(struct head) + (1ul << size) <= ARENA) {
			h = (struct head *)at - 1;
			arena_used = (char *)h - arena + (1ul << size);
		}
	}
	if (h != NULL)
		*h = (struct head){.magic = MINE, .size = size};
	else
		errno = ENOMEM;
	pthread_mutex_unlock(&arena_lock);
	return h != NULL ? h + 1 : NULL;
}

void *malloc(size_t n)
{
	return block_of(n, 16);
}

void free(void *p)
{
	struct head *h = (struct head *)p - 1;

	if (p == NULL)
		return;
	pthread_mutex_lock(&arena_lock);
	if ((char *)p < arena || (char *)p >= arena + ARENA || h->magic != MINE) {
		foreign++;
	} else {
		h->magic = 0;
		h->next = unused[h->size];
		unused[h->size] = h;
	}
	pthread_mutex_unlock(&arena_lock);
}

void *calloc(size_t n, size_t size)
{
	volatile char *p = block_of(n * size, 16); /* volatile: GCC sees no calloc in it */

	for (size_t i = 0; p != NULL && i < n * size; i++)
		p[i] = 0;
	return (void *)p;
}

void *realloc(void *p, size_t n)
{
	void *q = block_of(n, 16);
	size_t had = p != NULL ? (1ul << ((struct head *)p - 1)->size) - sizeof(struct head) : 0;

	if (q != NULL && p != NULL)
		memcpy(q, p, had < n ? had : n);
	if (q != NULL)
		free(p);
	return q;
}

void *memalign(size_t align, size_t n)
{
	return block_of(n, align);
}

static int is_mine(const void *p)
{
	return (const char *)p >= arena && (const char *)p < arena + ARENA;
}

static void library_calls(void)
{
	unsigned long before = allocations;
	char *text = strdup("text"), *made = NULL;
	void *aligned = NULL;
	regex_t pattern;
	FILE *f;

	ok("strdup allocates by the program's malloc", is_mine(text));
	free(text);
	asprintf(&made, "%0100d", 7);
	ok("asprintf too, which makes its block larger", is_mine(made) && strlen(made) == 100);
	free(made);
	ok("posix_memalign by its memalign", posix_memalign(&aligned, 256, 10) == 0 &&
						     is_mine(aligned) &&
						     (uintptr_t)aligned % 256 == 0);
	free(aligned);
	aligned = aligned_alloc(64, 64);
	ok("aligned_alloc too", is_mine(aligned) && (uintptr_t)aligned % 64 == 0);
	free(aligned);
	before = allocations;
	f = fopen("/tmp/own", "w");
	fprintf(f, "%.3f\n", 0.5);
	fclose(f);
	ok("a stream's buffer is the program's block", allocations > before);
	before = allocations;
	ok("regcomp", regcomp(&pattern, "a[bc]*d", 0) == 0 && allocations > before);
	regfree(&pattern);
	fails("no memory is ENOMEM", malloc(ARENA) == NULL ? -1 : 0, ENOMEM);
	is("no block of another allocator came back", foreign, 0);
}

#define THREADS 4
#define ROUNDS 40
#define FILES 24

static pthread_key_t keys[20];

/* Keys, since the values of the later ones take a block of their own; streams and their list. */
static void *allocates(void *arg)
{
	unsigned long damaged = 0;
	FILE *f[FILES];

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned n = i * 37 % 500 + 1;
		char *p = malloc(n), *text;

		memset(p, n, n);
		asprintf(&text, "%u %g", n, n + 0.25);
		p = realloc(p, 2 * n);
		for (unsigned k = 0; k < n; k++)
			damaged += p[k] != (char)n;
		damaged += strtoul(text, NULL, 10) != n;
		free(p);
		free(text);
	}
	for (unsigned i = 0; i < 20; i++)
		pthread_setspecific(keys[i], &keys[i]);
	for (unsigned i = 0; i < FILES; i++)
		f[i] = fopen("/dev/null", "w");
	for (unsigned i = 0; i < FILES; i++)
		damaged += f[i] == NULL || fclose(f[i]) != 0;
	return (void *)damaged;
}

static void threads(void)
{
	pthread_t thread[THREADS];
	void *damaged;
	unsigned long wrong = 0;

	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, allocates, NULL);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &damaged);
		wrong += (unsigned long)damaged;
	}
	is("threads find what they wrote", wrong, 0);
	is("and no block of another allocator came back", foreign, 0);
}

/* --- fork --------------------------------------------------------------------------- */

static void before(void)
{
	pthread_mutex_lock(&arena_lock);
	lock_taken = 1;
}

static void after(void)
{
	pthread_mutex_unlock(&arena_lock);
}

static volatile int opened;

/* Some of these streams make the list of streams grow, with that list's lock in hand. */
static void *opens(void *arg)
{
	FILE *f[FILES];

	waits_for_fork = 1;
	for (unsigned i = 0; i < FILES; i++)
		f[i] = fopen("/dev/null", "w");
	opened = 1;
	for (unsigned i = 0; i < FILES; i++)
		fclose(f[i]);
	return NULL;
}

static int forked_well(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		char *text = strdup("child");
		FILE *f = fopen("/dev/null", "w");

		fprintf(f, "%s", text);
		_exit(!is_mine(text) || fclose(f) != 0 || foreign != 0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void forks(void)
{
	pthread_t thread;
	unsigned good = 0;

	pthread_atfork(before, after, after);
	pthread_create(&thread, NULL, opens, NULL);
	while (!opened && !waiting)
		sched_yield();
	ok("fork, while a thread makes the list of streams grow", forked_well());
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, allocates, NULL);
	for (unsigned i = 0; i < 5; i++)
		good += forked_well();
	pthread_join(thread, NULL);
	is("children of fork allocate, while a thread allocates", good, 5);
}

int main(void)
{
	library_calls();
	for (unsigned i = 0; i < 20; i++)
		pthread_key_create(&keys[i], NULL);
	forks();
	threads();
	return tap_done();
}
