/*
 * mt.c - an allocator for many threads (malloc=mt), after Solaris's mtmalloc(3): one cache for each
 * CPU, so that threads on different CPUs do not contend for a lock.
 *
 * Each CPU has an arena with a lock of its own, which is hardly ever contended.  A thread takes the
 * lock of its CPU's arena for a few instructions, with preemption control.  (There may be a million
 * threads, and there are only a few CPUs.) Two threads contend only if one frees an object that the
 * other has allocated, or if a thread is moved to another CPU meanwhile.
 *
 * Sizes up to SMALL_MAX bytes are rounded up to one of CLASSES sizes: 16, 32, ... 256, then four
 * for each doubling, so that at most a fifth is wasted.  Objects of a class are in spans.  A span
 * has SPAN bytes, is aligned to SPAN, and has a header in its first page.  So the header of an
 * object is found from its address, and an object needs no header of its own.
 *
 * A span belongs to one arena and class while it has objects in use.  Its free objects form a chain
 * through the objects themselves, with the object that was freed last at the front.  The objects
 * that were never used begin at `next`.  Each class of an arena has a list of the spans with room.
 * An empty span goes back to a pool for all arenas, unless it is the only span with room.  Spans
 * above the limit of the pool are unmapped.
 *
 * Larger objects are mappings of their own, with the same header.  A few freed mappings are kept
 * for later requests of about the same size.
 *
 * Guards: a bit for every 16 bytes of a span says whether an object in use begins there.  An
 * assertion stops a thread that frees something else (an object that was freed already, or memory
 * that is not from here).  It costs four instructions under the lock that is held anyway.
 *
 * Locks, in the order in which they nest (only around fork): arenas by number, the pool.  A thread
 * makes no system call while it holds one of them.  No handler runs while a lock is held, so a
 * handler may call malloc and free.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <weft/mman.h>
#include "../core/core.h"
#include "malloc.h"

#define SPAN 262144ul
#define HEADER 4096ul /* before the first object, so that its alignment is that of its size */
#define CHUNK 8       /* spans that are mapped at a time */
#define SMALL_MAX 32768ul
#define CLASSES 44
#define NARENAS 64
#define SPANS_KEPT 16
#define LARGE_KEPT 8
#define LARGE_KEPT_MAX 524288ul /* bytes of each */

#define MAGIC 0x6d74737061616e31ul /* XORed with the header's address */

struct span {
	uintptr_t magic;
	struct arena *arena; /* NULL: a large object */
	uint32_t size;       /* of one object */
	uint32_t next;       /* offset of the first unused object; arena's lock, as below */
	uint32_t live;       /* objects in use */
	uint8_t class;
	bool zeroed;                      /* large: as mapped, never used */
	void *free;                       /* chain */
	struct span *with_room, **linked; /* its list, and the pointer to it; linked NULL: full */
	size_t mapped;                    /* large: bytes from the header on */
	char *object;                     /* large */
	uint64_t used[SPAN / 16 / 64];
};
_Static_assert(sizeof(struct span) <= HEADER, "header of a span");

struct arena {
	struct ilock lock;
	struct span *with_room[CLASSES];
} __attribute__((aligned(64)));

static struct arena arenas[NARENAS];

static struct {
	struct ilock lock;
	unsigned n;
	struct span *first;             /* linked by with_room */
	struct span *large[LARGE_KEPT]; /* NULL: empty */
	unsigned oldest;
} pool;

/* n: 1 to SMALL_MAX. */
static inline unsigned size_class(size_t n)
{
	unsigned log;

	if (n <= 256)
		return (n - 1) / 16;
	log = 63 - __builtin_clzl(n - 1); /* 8 or more */
	return 16 + (log - 8) * 4 + ((n - 1) >> (log - 2)) - 4;
}

static inline size_t class_size(unsigned class)
{
	return class < 16 ? (class + 1) * 16 : (class % 4 + 5ul) << (class / 4 + 2);
}

/*
 * An object may begin at the end of its span (memalign), and never begins at the start of a span.
 */
static inline struct span *span_of(const void *p)
{
	struct span *s = (struct span *)(((uintptr_t)p - 1) & -SPAN);

	ASSERT(s->magic == ((uintptr_t)s ^ MAGIC)); /* else the pointer is not malloc's */
	return s;
}

/* --- memory of the system ------------------------------------------------------------------- */

static void span_unmap(void *from, void *to)
{
	if (from != to)
		__sys_munmap(from, (char *)to - (char *)from);
}

/*
 * Maps memory and reserves it, unlike __pages_alloc.  So memory from malloc is available when the
 * program touches it.  NULL: no memory.
 */
static char *span_map(size_t bytes)
{
	long r = __sys_mmap(NULL, bytes, WEFT_PROT_READ | WEFT_PROT_WRITE,
			    WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1, 0);

	return r < 0 ? NULL : (char *)r;
}

/* Maps `bytes`, whole pages and zeroed.  `before` of them are in front of a multiple of align. */
static char *map_aligned(size_t bytes, size_t before, size_t align)
{
	char *all, *at;

	if (bytes > PTRDIFF_MAX - align)
		return NULL;
	all = span_map(bytes + align);
	if (all == NULL)
		return NULL;
	at = (char *)(((uintptr_t)all + before + align - 1) & -align) - before;
	span_unmap(all, at);
	span_unmap(at + bytes, all + bytes + align);
	return at;
}

static void pool_put(struct span *s)
{
	ilock_lock(&pool.lock);
	if (pool.n < SPANS_KEPT) {
		s->with_room = pool.first;
		pool.first = s;
		pool.n++;
		s = NULL;
	}
	ilock_unlock(&pool.lock);
	if (s != NULL)
		span_unmap(s, (char *)s + SPAN);
}

static struct span *pool_get(void)
{
	struct span *s;
	char *chunk;

	ilock_lock(&pool.lock);
	s = pool.first;
	if (s != NULL) {
		pool.first = s->with_room;
		pool.n--;
	}
	ilock_unlock(&pool.lock);
	if (s != NULL)
		return s;
	chunk = map_aligned(CHUNK * SPAN, 0, SPAN);
	if (chunk == NULL)
		return (struct span *)map_aligned(SPAN, 0, SPAN);
	for (unsigned i = 1; i < CHUNK; i++)
		pool_put((struct span *)(chunk + i * SPAN));
	return (struct span *)chunk;
}

/* --- small objects ---------------------------------------------------------------------------- */

/*
 * The common paths call no function.  All other paths end in a call of a function marked SLOW, so
 * that the common paths need not save registers.
 */
#define SLOW __attribute__((noinline, cold))

/* Releases the lock of a and returns p. */
static inline void *arena_leave(struct arena *a, void *p)
{
	ilock_unlock(&a->lock);
	return p;
}

/* All functions below are called with the arena's lock held.  Those that release it say so. */

static void span_link(struct span *s)
{
	struct span **head = &s->arena->with_room[s->class];

	s->with_room = *head;
	if (s->with_room != NULL)
		s->with_room->linked = &s->with_room;
	s->linked = head;
	*head = s;
}

static void span_unlink(struct span *s)
{
	*s->linked = s->with_room;
	if (s->with_room != NULL)
		s->with_room->linked = s->linked;
	s->linked = NULL;
}

/* Releases the lock. */
static SLOW void *last_of_span(struct arena *a, struct span *s, void *p)
{
	span_unlink(s);
	return arena_leave(a, p);
}

static SLOW void *allocate_more(struct arena *a, unsigned class);

/* Releases the lock. */
static inline void *arena_allocate(struct arena *a, unsigned class)
{
	struct span *s = a->with_room[class];
	size_t i;
	void *p;

	if (unlikely(s == NULL))
		return allocate_more(a, class);
	p = s->free;
	if (likely(p != NULL)) {
		s->free = *(void **)p;
	} else {
		p = (char *)s + s->next;
		s->next += s->size;
	}
	i = ((uintptr_t)p & (SPAN - 1)) / 16;
	s->used[i / 64] |= 1ul << i % 64;
	s->live++;
	if (unlikely(s->free == NULL && s->next + s->size > SPAN))
		return last_of_span(a, s, p);
	return arena_leave(a, p);
}

/* The class has no span with room.  Releases the lock and takes a span from the pool. */
static SLOW void *allocate_more(struct arena *a, unsigned class)
{
	struct span *s;

	arena_leave(a, NULL);
	s = pool_get();
	if (s == NULL)
		return NULL;
	s->magic = (uintptr_t)s ^ MAGIC;
	s->arena = a;
	s->class = class;
	s->size = class_size(class);
	s->next = HEADER;
	s->free = NULL;
	ilock_lock(&a->lock);
	span_link(s);
	return arena_allocate(a, class);
}

static inline void *small_alloc(unsigned class)
{
	struct arena *a = &arenas[thread_self()->lwp->sc->cpu % NARENAS];

	ilock_lock(&a->lock);
	return arena_allocate(a, class);
}

/* Are there other spans with room? */
static inline bool is_spare(const struct arena *a, const struct span *s)
{
	return s->with_room != NULL || a->with_room[s->class] != s;
}

/* An object has been freed into s, which was full before, or is empty now.  Releases the lock. */
static SLOW void full_or_empty(struct arena *a, struct span *s)
{
	if (s->linked == NULL)
		span_link(s);
	if (s->live == 0 && is_spare(a, s)) {
		span_unlink(s);
		arena_leave(a, NULL);
		pool_put(s);
		return;
	}
	arena_leave(a, NULL);
}

/* Releases the lock. */
static inline void give_back(struct arena *a, struct span *s, void *p)
{
	size_t i = ((uintptr_t)p & (SPAN - 1)) / 16;
	uint64_t bit = 1ul << i % 64;

	ASSERT((uintptr_t)p % 16 == 0 && (s->used[i / 64] & bit)); /* otherwise: freed twice */
	s->used[i / 64] &= ~bit;
	*(void **)p = s->free;
	s->free = p;
	s->live--;
	if (unlikely(s->linked == NULL || (s->live == 0 && is_spare(a, s))))
		full_or_empty(a, s);
	else
		arena_leave(a, NULL);
}

static inline void free_small(struct span *s, void *p)
{
	struct arena *a = s->arena;

	ilock_lock(&a->lock);
	give_back(a, s, p);
}

/* --- large objects -------------------------------------------------------------------------------- */

/* Takes a kept mapping of at least `bytes` and at most twice as many.  NULL: none. */
static struct span *span_kept(size_t bytes)
{
	struct span *s = NULL;

	ilock_lock(&pool.lock);
	for (unsigned i = 0; i < LARGE_KEPT && s == NULL; i++) {
		s = pool.large[i];
		if (s != NULL && s->mapped >= bytes && s->mapped / 2 <= bytes)
			pool.large[i] = NULL;
		else
			s = NULL;
	}
	ilock_unlock(&pool.lock);
	return s;
}

static SLOW void *large_alloc(size_t align, size_t n)
{
	size_t before = align < HEADER ? HEADER : align < SPAN ? align : SPAN, bytes;
	struct span *s;

	if (n > PTRDIFF_MAX / 2 || align > PTRDIFF_MAX / 4)
		return NULL;
	bytes = (before + n + WEFT_PAGE_SIZE - 1) & -(size_t)WEFT_PAGE_SIZE;
	s = align <= HEADER ? span_kept(bytes) : NULL;
	if (s != NULL) {
		s->zeroed = false;
	} else {
		s = (struct span *)map_aligned(bytes, align > SPAN ? SPAN : 0,
					       align > SPAN ? align : SPAN);
		if (s == NULL)
			return NULL;
		s->magic = (uintptr_t)s ^ MAGIC;
		s->mapped = bytes;
		s->zeroed = true;
	}
	s->object = (char *)s + before;
	return s->object;
}

static SLOW void free_large(struct span *s, void *p)
{
	ASSERT(s->object == p); /* otherwise: freed twice, or malloc has not returned it */
	s->object = NULL;
	if (s->mapped <= LARGE_KEPT_MAX) {
		struct span *out;

		ilock_lock(&pool.lock);
		out = pool.large[pool.oldest];
		pool.large[pool.oldest] = s;
		pool.oldest = (pool.oldest + 1) % LARGE_KEPT;
		ilock_unlock(&pool.lock);
		s = out;
	}
	if (s != NULL)
		span_unmap(s, (char *)s + s->mapped);
}

/* --- the interface ---------------------------------------------------------------------------------- */

void *__mt_malloc(size_t n)
{
	if (unlikely(n > SMALL_MAX))
		return large_alloc(1, n);
	return small_alloc(size_class(n + (n == 0)));
}

void __mt_free(void *p)
{
	struct span *s = span_of(p);

	if (likely(s->arena != NULL))
		free_small(s, p);
	else
		free_large(s, p);
}

size_t __mt_usable(void *p)
{
	struct span *s = span_of(p);

	return s->arena != NULL ? s->size : s->mapped - (s->object - (char *)s);
}

void *__mt_calloc(size_t n)
{
	void *p = __mt_malloc(n);

	if (p != NULL && (n <= SMALL_MAX || !span_of(p)->zeroed))
		memset(p, 0, n);
	return p;
}

/* The block stays in place if n fits and uses at least half of it. */
void *__mt_realloc(void *p, size_t n)
{
	size_t have = __mt_usable(p);
	void *q;

	if (n <= have && n >= have / 2)
		return p;
	q = __mt_malloc(n);
	if (q != NULL) {
		memcpy(q, p, n < have ? n : have);
		__mt_free(p);
	}
	return q;
}

/*
 * A small object gets a class whose size is a multiple of align.  A power of 2 is such a size, so
 * there is one.
 */
void *__mt_memalign(size_t align, size_t n)
{
	unsigned class;

	if (align > HEADER || n > SMALL_MAX)
		return large_alloc(align, n);
	class = size_class(n > align ? n : align);
	while (class_size(class) % align != 0)
		class ++;
	return small_alloc(class);
}

/* --- fork ---------------------------------------------------------------------------------------- */

void __mt_before_fork(void)
{
	for (unsigned i = 0; i < NARENAS; i++)
		ilock_lock(&arenas[i].lock);
	ilock_lock(&pool.lock);
}

void __mt_after_fork(void)
{
	ilock_unlock(&pool.lock);
	for (unsigned i = NARENAS; i-- > 0;)
		ilock_unlock(&arenas[i].lock);
}

/* The child's LWP has a new record, which counts no locks. */
void __mt_forked(void)
{
	pool.lock.held = 0;
	for (unsigned i = 0; i < NARENAS; i++)
		arenas[i].lock.held = 0;
}
