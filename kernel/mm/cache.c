/*
 * cache.c - caches of kernel objects, and kmalloc on top of them.
 *
 * The design is Bonwick's: slabs ("The Slab Allocator", USENIX 1994) under
 * magazines (Bonwick and Adams, "Magazines and Vmem", USENIX 2001).
 *
 *	magazine layer	each CPU has two magazines, arrays of free objects.  An
 *			allocation takes from them and a free adds to them, with
 *			interrupts off and no lock.  There are two, so that a CPU at
 *			the edge of one does not go to the depot each time.
 *	depot		full magazines, to exchange for empty ones
 *	slab layer	a slab is 2^order pages: a header, then the objects.  Free
 *			objects are linked by indices in the header, and never in
 *			the objects themselves.  So a free object stays as it is:
 *			the constructor has run, and an LWP may look at an object
 *			of a KC_STABLE cache after it was freed.
 *
 * Slabs with free objects are on `partial`, the empty ones (no object in use) last.  One
 * empty slab is kept; the others go back to page.c.  The depot is bounded: the memory that
 * a burst of allocations took returns when the objects are freed.
 *
 * Empty slabs of a KC_STABLE cache stay until cache_trim_stable.  The holder of a stale
 * pointer has interrupts off from the moment when it finds the pointer until its last use of
 * it.  So cache_trim_stable takes empty slabs off the cache, waits until each CPU has had
 * interrupts on, and only then frees the memory.  By then no LWP holds such a pointer, and
 * none can find one any more.
 *
 * With WEFT_DEBUG a word behind each object says whether the object is in use.  It finds
 * overflows and double frees.  Free objects without a constructor are filled with a
 * pattern, which is checked when they are used again.
 *
 * Locks: a cache's lock guards depot and slabs; page.c's are taken under it.  Two
 * caches' locks are never held together.
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/list.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include "impl.h"

#define ROUNDS 16     /* objects in a magazine */
#define DEPOT_FULL 16 /* full magazines that a depot keeps */
#define MAX_SLAB_ORDER 3
#define NO_MAGAZINES 0x80 /* internal flag: the cache of magazines itself */
#define KC_CALL 0x40      /* internal flag: a cache of kmalloc; its pages come with PG_CALL */

struct magazine {
	struct magazine *next; /* in the depot */
	unsigned n;
	void *round[ROUNDS];
};

struct slab {
	struct list link; /* kcache.partial; alone when full */
	struct kcache *cache;
	uint16_t used, first; /* objects handed out; first free one, or NO_OBJECT */
	uint16_t next[];      /* of each free object */
};
#define NO_OBJECT 0xffff

struct kcache {
	const char *name;
	size_t size;    /* of an object, as the user of the cache asked for it */
	size_t stride;  /* from the start of an object to the start of the next */
	unsigned flags; /* KC_* */
	void (*ctor)(void *);
	unsigned order, nobj, offset; /* of a slab: 2^order pages, objects, where they begin */
	struct kcache *next;          /* in all_caches; set once */

	struct spinlock lock;
	struct list partial;
	unsigned nempty;        /* empty slabs; they are the last on `partial` */
	uint64_t nslabs, taken; /* slabs; objects in use or in magazines */
	struct magazine *full, *empty;
	unsigned nfull;

	struct {
		struct magazine *loaded, *previous;
	} CACHE_ALIGNED cpu[WEFT_MAXCPU];
};

static struct kcache *all_caches;
static struct kcache cache_cache = {.name = "kcache"}, magazine_cache = {.name = "magazine"};

/* --- debugging: a word behind each object -------------------------------------------- */

#ifdef WEFT_DEBUG

#define WORD_FREE 0xf4eef4eef4eef4eeull
#define WORD_USED 0xa11ca11ca11ca11cull
#define DEBUG_WORD sizeof(uint64_t)
#define POISON 0x6b

static uint64_t *slab_word(struct kcache *c, void *obj)
{
	return (uint64_t *)((char *)obj + ((c->size + 7) & ~7ull));
}

static bool kcache_poisoned(const struct kcache *c)
{
	return c->ctor == NULL && !(c->flags & KC_STABLE);
}

static void debug_made(struct kcache *c, void *obj)
{
	*slab_word(c, obj) = WORD_FREE;
	if (kcache_poisoned(c))
		memset(obj, POISON, c->size);
}

static void debug_out(struct kcache *c, void *obj)
{
	if (*slab_word(c, obj) != WORD_FREE)
		panic("%s object %p: written behind its end while free, or in use (%#lx)", c->name,
		      obj, *slab_word(c, obj));
	for (size_t i = 0; kcache_poisoned(c) && i < c->size; i++)
		if (((uint8_t *)obj)[i] != POISON)
			panic("%s object %p: written at offset %zu while free", c->name, obj, i);
	*slab_word(c, obj) = WORD_USED;
}

static void debug_back(struct kcache *c, void *obj)
{
	if (*slab_word(c, obj) == WORD_FREE)
		panic("%s object %p: freed twice", c->name, obj);
	if (*slab_word(c, obj) != WORD_USED)
		panic("%s object %p: written behind its end (%#lx)", c->name, obj,
		      *slab_word(c, obj));
	debug_made(c, obj);
}

#else

#define DEBUG_WORD 0
static inline void debug_made(struct kcache *c, void *obj)
{
}
static inline void debug_out(struct kcache *c, void *obj)
{
}
static inline void debug_back(struct kcache *c, void *obj)
{
}

#endif

/* --- slabs; the cache's lock held ---------------------------------------------------- */

static struct slab *slab_of(const struct kcache *c, void *obj)
{
	return (struct slab *)((uint64_t)obj & ~((PAGE_SIZE << c->order) - 1));
}

static struct slab *slab_make(struct kcache *c)
{
	unsigned flags = c->flags & KC_USER ? PG_USER : c->flags & KC_CALL ? PG_CALL : 0;
	paddr_t p = page_alloc_order(c->order, flags);
	if (p == 0)
		return NULL;
	page_set_use(p, c->order, USE_SLAB);
	struct slab *b = phys_to_virt(p);
	*b = (struct slab){.cache = c};
	for (unsigned i = 0; i < c->nobj; i++) {
		void *obj = (char *)b + c->offset + i * c->stride;
		b->next[i] = i + 1 < c->nobj ? i + 1 : NO_OBJECT;
		debug_made(c, obj);
		if (c->ctor != NULL)
			c->ctor(obj);
	}
	list_push_back(&c->partial, &b->link);
	c->nempty++;
	c->nslabs++;
	return b;
}

/* Frees the memory of b, which is no longer on `partial`. */
static void slab_give_back(const struct kcache *c, struct slab *b)
{
	paddr_t p = virt_to_phys(b);
	page_set_use(p, c->order, USE_OTHER);
	page_free_order(p, c->order);
}

static void slab_unmake(struct kcache *c, struct slab *b)
{
	list_remove(&b->link);
	c->nempty--;
	c->nslabs--;
	slab_give_back(c, b);
}

static void *slab_take(struct kcache *c)
{
	struct slab *b =
		list_empty(&c->partial) ? slab_make(c) : LIST_FIRST(&c->partial, struct slab, link);
	if (b == NULL)
		return NULL;
	unsigned i = b->first;
	c->taken++;
	if (b->used++ == 0)
		c->nempty--;
	b->first = b->next[i];
	if (b->first == NO_OBJECT)
		list_remove(&b->link);
	return (char *)b + c->offset + i * c->stride;
}

static void slab_put(struct kcache *c, void *obj)
{
	struct slab *b = slab_of(c, obj);
	unsigned i = ((char *)obj - (char *)b - c->offset) / c->stride;

	assert(b->cache == c && b->used > 0);
	if (b->first == NO_OBJECT)
		list_push_front(&c->partial, &b->link);
	b->next[i] = b->first;
	b->first = i;
	c->taken--;
	if (--b->used == 0) {
		list_remove(&b->link);
		list_push_back(&c->partial, &b->link);
		c->nempty++;
		if (c->nempty > 1 && !(c->flags & KC_STABLE))
			slab_unmake(c, b);
	}
}

/* --- the depot and the CPUs' magazines ----------------------------------------------- */

static struct magazine *magazine_pop(struct magazine **list)
{
	struct magazine *m = *list;
	if (m != NULL)
		*list = m->next;
	return m;
}

static void magazine_push(struct magazine **list, struct magazine *m)
{
	m->next = *list;
	*list = m;
}

/* The CPU's magazines are empty: takes a full one from the depot, or a single object. */
static void *alloc_slow(struct kcache *c, unsigned cpu)
{
	void *obj = NULL;

	spin_acquire(&c->lock);
	struct magazine *m = magazine_pop(&c->full);
	if (m != NULL) {
		c->nfull--;
		if (c->cpu[cpu].previous != NULL)
			magazine_push(&c->empty, c->cpu[cpu].previous);
		c->cpu[cpu].previous = c->cpu[cpu].loaded;
		c->cpu[cpu].loaded = m;
		obj = m->round[--m->n];
	} else {
		obj = slab_take(c);
	}
	spin_release(&c->lock);
	return obj;
}

void *kcache_alloc(struct kcache *c)
{
	irqstate_t s = irq_save();
	unsigned cpu = this_cpu()->id;
	struct magazine *m = c->cpu[cpu].loaded;
	void *obj;

	if (m == NULL || m->n == 0) {
		m = c->cpu[cpu].previous;
		if (m != NULL && m->n > 0) {
			c->cpu[cpu].previous = c->cpu[cpu].loaded;
			c->cpu[cpu].loaded = m;
		}
	}
	if (m != NULL && m->n > 0)
		obj = m->round[--m->n];
	else
		obj = alloc_slow(c, cpu);
	irq_restore(s);
	if (obj != NULL)
		debug_out(c, obj);
	return obj;
}

/*
 * The CPU's magazines are full: an empty magazine from the depot takes the object.
 * If there is none, the object goes back to its slab.
 */
static void free_slow(struct kcache *c, unsigned cpu, void *obj)
{
	struct magazine *fresh = NULL, *surplus = NULL;

	/* Read without the lock: in the worst case there is one empty magazine too many. */
	if (!(c->flags & NO_MAGAZINES) && __atomic_load_n(&c->empty, __ATOMIC_RELAXED) == NULL) {
		fresh = kcache_alloc(&magazine_cache);
		if (fresh != NULL)
			fresh->n = 0;
	}
	spin_acquire(&c->lock);
	if (fresh != NULL)
		magazine_push(&c->empty, fresh);
	struct magazine *m = magazine_pop(&c->empty);
	if (m != NULL) {
		surplus = c->cpu[cpu].previous;
		c->cpu[cpu].previous = c->cpu[cpu].loaded;
		c->cpu[cpu].loaded = m;
		m->round[m->n++] = obj;
		if (surplus != NULL && c->nfull < DEPOT_FULL) {
			magazine_push(&c->full, surplus);
			c->nfull++;
			surplus = NULL;
		}
		while (surplus != NULL && surplus->n > 0)
			slab_put(c, surplus->round[--surplus->n]);
		if (surplus != NULL)
			magazine_push(&c->empty, surplus);
	} else {
		slab_put(c, obj);
	}
	spin_release(&c->lock);
}

void kcache_free(struct kcache *c, void *obj)
{
	debug_back(c, obj);
	irqstate_t s = irq_save();
	unsigned cpu = this_cpu()->id;
	struct magazine *m = c->cpu[cpu].loaded;

	if (m == NULL || m->n == ROUNDS) {
		m = c->cpu[cpu].previous;
		if (m != NULL && m->n == 0) {
			c->cpu[cpu].previous = c->cpu[cpu].loaded;
			c->cpu[cpu].loaded = m;
		}
	}
	if (m != NULL && m->n < ROUNDS && m == c->cpu[cpu].loaded)
		m->round[m->n++] = obj;
	else
		free_slow(c, cpu, obj);
	irq_restore(s);
}

/*
 * Moves this CPU's magazines to the depot.  c->lock held.  One without objects is none of the full ones:
 * alloc_slow takes an object of each of these.
 */
static void kcache_give_back(struct kcache *c)
{
	struct magazine **mine[] = {&c->cpu[this_cpu()->id].loaded,
				    &c->cpu[this_cpu()->id].previous};

	for (unsigned i = 0; i < ARRAY_LEN(mine); i++)
		if (*mine[i] != NULL) {
			bool some = (*mine[i])->n > 0;
			magazine_push(some ? &c->full : &c->empty, *mine[i]);
			c->nfull += some;
			*mine[i] = NULL;
		}
}

/* Returns the objects of the depot and of this CPU's magazines to their slabs. */
static void kcache_reap(struct kcache *c)
{
	struct magazine *m, *empty;
	irqstate_t s = spin_lock(&c->lock);

	kcache_give_back(c);
	c->nfull = 0;
	while ((m = magazine_pop(&c->full)) != NULL) {
		while (m->n > 0)
			slab_put(c, m->round[--m->n]);
		magazine_push(&c->empty, m);
	}
	if (c->nempty > 0 && !(c->flags & KC_STABLE))
		slab_unmake(c, CONTAINER_OF(c->partial.prev, struct slab, link));
	empty = c->empty;
	c->empty = NULL;
	spin_unlock(&c->lock, s);
	while ((m = magazine_pop(&empty)) != NULL)
		kcache_free(&magazine_cache, m);
}

/* How many empty slabs are taken off a cache, and freed, at a time. */
#define TRIM_PIECE 32

/* Moves at most TRIM_PIECE of the empty slabs of c beyond `keep` to `list`. */
static void cache_surplus(struct kcache *c, unsigned keep, struct list *list)
{
	irqstate_t s = spin_lock(&c->lock);
	for (unsigned n = 0; n < TRIM_PIECE && c->nempty > keep; n++) {
		struct slab *b = CONTAINER_OF(c->partial.prev, struct slab, link);
		list_remove(&b->link);
		list_push_back(list, &b->link);
		c->nempty--;
		c->nslabs--;
	}
	spin_unlock(&c->lock, s);
}

/*
 * Frees at most TRIM_PIECE empty slabs.  False: c has no empty slabs beyond `keep`.  Holds no
 * slab when it gives up the CPU; the reason is the one in kstack_trim.
 */
static bool cache_trim_piece(struct kcache *c, unsigned keep)
{
	struct list surplus = LIST_INIT(surplus);

	cache_surplus(c, keep, &surplus);
	if (list_empty(&surplus))
		return false;
	/*
	 * *Race:* an LWP finds another LWP by its id, and that LWP is freed, with its whole slab,
	 * before the finder has locked it; *without this:* the finder locks a word of a page that
	 * has another use by now; *closed by:* this line: each CPU answers with interrupts on, so
	 * after the end of its lookup.
	 */
	tlb_flush_kernel();
	while (!list_empty(&surplus)) {
		struct slab *b = LIST_FIRST(&surplus, struct slab, link);
		list_remove(&b->link);
		slab_give_back(c, b);
	}
	preempt_point();
	return true;
}

void cache_trim_stable(unsigned most, unsigned keep)
{
	for (struct kcache *c = __atomic_load_n(&all_caches, __ATOMIC_ACQUIRE); c != NULL;
	     c = c->next)
		/* Read without the lock, so only a guess. */
		if ((c->flags & KC_STABLE) &&
		    __atomic_load_n(&c->nempty, __ATOMIC_RELAXED) > most) {
			/* Free objects in the depot keep slabs that would be empty otherwise. */
			kcache_reap(c);
			while (cache_trim_piece(c, keep))
				;
		}
}

uint64_t cache_holders(void)
{
	uint64_t holders = 0;

	/* Read without the locks: a CPU whose magazines come and go just now may be missed. */
	for (struct kcache *c = __atomic_load_n(&all_caches, __ATOMIC_ACQUIRE); c != NULL;
	     c = c->next)
		for (unsigned i = 0; i < ncpu; i++)
			if (__atomic_load_n(&c->cpu[i].loaded, __ATOMIC_RELAXED) != NULL ||
			    __atomic_load_n(&c->cpu[i].previous, __ATOMIC_RELAXED) != NULL)
				holders |= 1ull << i;
	return holders;
}

void cache_give_back(void)
{
	for (struct kcache *c = __atomic_load_n(&all_caches, __ATOMIC_ACQUIRE); c != NULL;
	     c = c->next) {
		irqstate_t s = spin_lock(&c->lock);
		kcache_give_back(c);
		spin_unlock(&c->lock, s);
	}
}

void cache_reap(void)
{
	for (struct kcache *c = __atomic_load_n(&all_caches, __ATOMIC_ACQUIRE); c != NULL;
	     c = c->next)
		kcache_reap(c);
}

bool kcache_info(unsigned n, struct kcache_info *info)
{
	struct kcache *c = __atomic_load_n(&all_caches, __ATOMIC_ACQUIRE);

	while (c != NULL && n-- > 0)
		c = c->next;
	if (c == NULL)
		return false;
	irqstate_t s = spin_lock(&c->lock);
	uint64_t idle = 0;
	for (struct magazine *m = c->full; m != NULL; m = m->next)
		idle += m->n;
	/*
	 * A magazine leaves its CPU only under c->lock, so each pointer read here leads to a
	 * magazine.
	 */
	for (unsigned i = 0; i < ARRAY_LEN(c->cpu); i++) {
		const struct magazine *m[] = {
			__atomic_load_n(&c->cpu[i].loaded, __ATOMIC_RELAXED),
			__atomic_load_n(&c->cpu[i].previous, __ATOMIC_RELAXED)};
		for (unsigned k = 0; k < ARRAY_LEN(m); k++)
			idle += m[k] != NULL ? __atomic_load_n(&m[k]->n, __ATOMIC_RELAXED) : 0;
	}
	*info = (struct kcache_info){
		.name = c->name,
		.size = c->size,
		.used = c->taken - MIN(idle, c->taken),
		.pages = c->nslabs << c->order,
	};
	spin_unlock(&c->lock, s);
	return true;
}

/* --- making a cache ------------------------------------------------------------------ */

/* How many objects fit into a slab of this order, and where the first begins. */
static void kcache_layout(struct kcache *c, size_t align)
{
	size_t bytes = PAGE_SIZE << c->order;
	c->nobj = (bytes - sizeof(struct slab)) / (c->stride + sizeof(uint16_t));
	for (;; c->nobj--) {
		c->offset = (sizeof(struct slab) + c->nobj * sizeof(uint16_t) + align - 1) &
			    ~(align - 1);
		if (c->offset + c->nobj * c->stride <= bytes)
			break;
	}
}

static void cache_setup(struct kcache *c, const char *name, size_t size, size_t align,
			unsigned flags, void (*ctor)(void *))
{
	align = MAX(align, sizeof(uint64_t));
	assert(size > 0 && (align & (align - 1)) == 0 && align <= PAGE_SIZE);
	c->name = name;
	c->size = size;
	c->stride = (((size + 7) & ~7ull) + DEBUG_WORD + align - 1) & ~(align - 1);
	c->flags = flags;
	c->ctor = ctor;
	spin_init(&c->lock, "object cache");
	list_init(&c->partial);
	/* The smallest slab that wastes at most an eighth. */
	for (c->order = 0;; c->order++) {
		kcache_layout(c, align);
		size_t bytes = PAGE_SIZE << c->order;
		if (c->nobj > 0 && (bytes - c->nobj * c->stride) * 8 <= bytes)
			break;
		if (c->order == MAX_SLAB_ORDER)
			break;
	}
	assert(c->nobj > 0);

	struct kcache *head = __atomic_load_n(&all_caches, __ATOMIC_RELAXED);
	do
		c->next = head;
	while (!__atomic_compare_exchange_n(&all_caches, &head, c, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

struct kcache *kcache_create(const char *name, size_t size, size_t align, unsigned flags,
			     void (*ctor)(void *))
{
	struct kcache *c = kcache_alloc(&cache_cache);
	if (c == NULL)
		return NULL;
	memset(c, 0, sizeof(*c));
	cache_setup(c, name, size, align, flags, ctor);
	return c;
}

/* --- kmalloc ------------------------------------------------------------------------- */

/* At most four classes for each power of two; larger sizes get whole pages. */
static const struct {
	uint16_t size;
	const char *name;
} class_size[] = {
	{16, "kmalloc-16"},     {32, "kmalloc-32"},     {48, "kmalloc-48"},
	{64, "kmalloc-64"},     {96, "kmalloc-96"},     {128, "kmalloc-128"},
	{192, "kmalloc-192"},   {256, "kmalloc-256"},   {384, "kmalloc-384"},
	{512, "kmalloc-512"},   {768, "kmalloc-768"},   {1024, "kmalloc-1024"},
	{1536, "kmalloc-1536"}, {2048, "kmalloc-2048"},
};
#define MAX_CLASS 2048
#define MAX_KMALLOC (1u << 20)

static struct kcache classes[ARRAY_LEN(class_size)];
static uint8_t class_of[MAX_CLASS / 16 + 1]; /* by size in units of 16, rounded up */

void *kmalloc(size_t size)
{
	if (size <= MAX_CLASS)
		return kcache_alloc(&classes[class_of[(size + 15) / 16]]);
	if (size > MAX_KMALLOC)
		return NULL;
	unsigned order = 0;
	while (PAGE_SIZE << order < size)
		order++;
	paddr_t p = page_alloc_order(order, PG_CALL);
	if (p == 0)
		return NULL;
	page_set_use(p, order, USE_LARGE);
	return phys_to_virt(p);
}

void *kzalloc(size_t size)
{
	void *p = kmalloc(size);
	if (p != NULL)
		memset(p, 0, size);
	return p;
}

void *kmalloc_user(size_t size)
{
	return page_spare(PG_USER) ? kmalloc(size) : NULL;
}

void *kzalloc_user(size_t size)
{
	return page_spare(PG_USER) ? kzalloc(size) : NULL;
}

void kfree(void *p)
{
	unsigned order;

	if (p == NULL)
		return;
	paddr_t pa = virt_to_phys(p);
	enum page_use use = page_use(pa, &order);
	if (use == USE_SLAB) {
		struct slab *b = (struct slab *)((uint64_t)p & ~((PAGE_SIZE << order) - 1));
		kcache_free(b->cache, p);
	} else {
		assert(use == USE_LARGE && pa % (PAGE_SIZE << order) == 0);
		page_set_use(pa, order, USE_OTHER);
		page_free_order(pa, order);
	}
}

/*
 * Between cache_apart(true) and cache_apart(false), the earlier slabs of kmalloc's caches, and of
 * the magazine cache, are set aside here.  A slab that was made meanwhile stays off `partial`
 * afterwards.  So later allocations do not find its free objects, until an object of a full slab,
 * or the last object of any slab, is freed.
 */
static struct set_aside {
	struct list partial;
	unsigned nempty;
} set_aside[ARRAY_LEN(classes) + 1];

static void slabs_move(struct list *from, struct list *to)
{
	list_init(to);
	while (!list_empty(from)) {
		struct list *link = from->next;
		list_remove(link);
		list_push_back(to, link);
	}
}

static void slabs_leave(struct kcache *c)
{
	while (!list_empty(&c->partial)) {
		struct slab *b = LIST_FIRST(&c->partial, struct slab, link);
		if (b->used == 0)
			slab_unmake(c, b);
		else
			list_remove(&b->link);
	}
}

static void one_cache_apart(struct kcache *c, struct set_aside *before, bool apart)
{
	kcache_reap(c);
	irqstate_t s = spin_lock(&c->lock);
	if (apart) {
		slabs_move(&c->partial, &before->partial);
		before->nempty = c->nempty;
		c->nempty = 0;
	} else {
		slabs_leave(c);
		slabs_move(&before->partial, &c->partial);
		c->nempty = before->nempty;
	}
	spin_unlock(&c->lock, s);
}

void cache_apart(bool apart)
{
	for (unsigned i = 0; i < ARRAY_LEN(classes); i++)
		one_cache_apart(&classes[i], &set_aside[i], apart);
	/* As the last cache, because the others have freed their magazines by now. */
	one_cache_apart(&magazine_cache, &set_aside[ARRAY_LEN(classes)], apart);
}

void cache_init(void)
{
	cache_setup(&magazine_cache, "magazine", sizeof(struct magazine), 0, NO_MAGAZINES, NULL);
	cache_setup(&cache_cache, "kcache", sizeof(struct kcache), 64, 0, NULL);
	unsigned class = 0;
	for (unsigned i = 0; i < ARRAY_LEN(class_of); i++) {
		if (i * 16 > class_size[class].size)
			class ++;
		class_of[i] = class;
	}
	for (unsigned i = 0; i < ARRAY_LEN(classes); i++)
		cache_setup(&classes[i], class_size[i].name, class_size[i].size, 16, KC_CALL, NULL);
}
