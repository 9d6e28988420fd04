/*
 * page.c - physical pages: a buddy allocator with a cache a CPU in front of it.
 *
 * A page is known by its frame number (address / PAGE_SIZE).  The frame table has a
 * struct frame for each page up to the highest usable one; links between free
 * blocks are kept there and not in the pages, so that memory which is not mapped
 * yet can be managed.  Frame 0 is never handed out and stands for "none".
 *
 * A free block of order n is 2^n pages, aligned to its size; only its first frame
 * says FRAME_FREE.  When both halves of a larger block are free they become one
 * (Knuth, The Art of Computer Programming 1, 2.5).
 *
 * Single pages go through the CPU's cache, which is filled from and emptied into
 * the buddy lists a batch at a time.  A cache has a lock, which only its CPU takes
 * but for the moments when memory is short and someone collects what the others
 * have.
 *
 * The reserve: allocations with PG_USER are refused when the buddy lists hold no
 * more than `reserve` pages, so that the kernel still has memory for its own
 * needs when programs have taken all of theirs.
 *
 * Reservations: page_reserve sets pages aside for memory that is mapped and not yet
 * touched, which then comes with PG_RESERVED.  Of the pages reserved, those that have
 * not come yet are "promised": allocations with PG_USER alone leave them alone, too.  A
 * page that fork shares is one page for two reservations, so the copy of it is promised.
 * What the kernel needs for a call (PG_CALL) leaves promises alone, too, and three quarters of the
 * reserve.  Only allocations without a flag know no promises; so that a promise is kept all the
 * same, it may be kept from the upper half of the reserve, and the page tables for it too.
 *
 * The room for programs: what stays when processes end, which is files (PG_STORE), leaves ROOM pages
 * more alone.  So when the files have taken all that they can have, a program can still be started
 * that removes them.
 * Pages that wait in the CPUs' caches count as taken here, which errs on the safe side.
 *
 * Locks: a cache's, then buddy.lock; both are taken in any context.
 */
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/mm.h>
#include <kern/page.h>
#include <kern/printk.h>
#include "impl.h"

#define MAX_ORDER 10 /* the largest block: 4 MiB */

enum {
	FRAME_NONE = 0, /* not managed, or inside of a free block */
	FRAME_FREE,     /* the first of a free block */
	FRAME_CACHED,   /* in a CPU's cache */
	FRAME_USED,     /* handed out */
	FRAME_USER,     /* handed out with PG_USER */
	FRAME_RESERVED, /* handed out with PG_RESERVED */
};

struct frame {
	uint32_t next, prev; /* FRAME_FREE: neighbours in the list of its order */
	uint32_t count;      /* holds; atomic */
	uint8_t state;       /* FRAME_* */
	uint8_t order;       /* FRAME_FREE: of the block; else as page_set_use said */
	uint8_t use;         /* enum page_use */
	uint8_t spare;
};
_Static_assert(sizeof(struct frame) == 16, "0.4 % of memory");

static struct frame *frames;
static uint32_t nframes;

static struct {
	struct spinlock lock;
	uint32_t first[MAX_ORDER + 1]; /* free blocks of each order */
	uint32_t nonempty;             /* bit n: first[n] is not 0 */
	uint64_t free;                 /* pages in all lists */
	uint64_t total, reserve;       /* pages managed; kept from users */
	/*
	 * An allocation was refused, and none has got a batch since.  Meanwhile the caches stay
	 * empty: what a call had from the reserve becomes no program's page.  Atomic.
	 */
	bool refused;
} buddy = {.lock = SPINLOCK_INIT("pages")};

#define ROOM 256 /* 1 MiB: twice what a shell and the `rm` that it starts need */

#define TABLES 256 /* one page in so many is more than enough for page tables */

static uint64_t reserved; /* pages; atomic */

#define CACHE_SIZE 64
#define CACHE_BATCH 32

struct page_cache {
	struct spinlock lock;
	uint32_t n;
	uint32_t frame[CACHE_SIZE]; /* the last is the warmest */
	int64_t user;               /* pages given out with PG_USER less those that came back */
	int64_t backing;            /* of these, with PG_RESERVED */
} CACHE_ALIGNED;

static struct page_cache caches[WEFT_MAXCPU];

/* Of `pages` reserved, those that have not come. */
static uint64_t not_yet_come(uint64_t pages)
{
	int64_t n = pages;
	for (unsigned i = 0; i < MAX(ncpu, 1u); i++)
		n -= __atomic_load_n(&caches[i].backing, __ATOMIC_RELAXED);
	return MAX(n, 0);
}

/*
 * Pages that are promised; an upper bound, which costs less, if twice as many are free as
 * there are reserved.
 */
static uint64_t pages_promised(uint64_t free)
{
	uint64_t n = __atomic_load_n(&reserved, __ATOMIC_RELAXED);
	return n < free / 2 ? n : not_yet_come(n);
}

static struct frame *frame_of(paddr_t p)
{
	debug_assert(p % PAGE_SIZE == 0);
	assert(p >> PAGE_SHIFT < nframes);
	return &frames[p >> PAGE_SHIFT];
}

static inline paddr_t frame_addr(uint32_t f)
{
	return (paddr_t)f << PAGE_SHIFT;
}

/* --- the buddy lists; buddy.lock held ------------------------------------------------ */

static void free_list_add(uint32_t f, unsigned order)
{
	uint32_t next = buddy.first[order];
	frames[f].state = FRAME_FREE;
	frames[f].order = order;
	frames[f].next = next;
	frames[f].prev = 0;
	if (next != 0)
		frames[next].prev = f;
	buddy.first[order] = f;
	buddy.nonempty |= 1u << order;
}

static void list_del(uint32_t f)
{
	struct frame *p = &frames[f];
	if (p->next != 0)
		frames[p->next].prev = p->prev;
	if (p->prev != 0)
		frames[p->prev].next = p->next;
	else
		buddy.first[p->order] = p->next;
	if (buddy.first[p->order] == 0)
		buddy.nonempty &= ~(1u << p->order);
	p->state = FRAME_NONE;
}

static void buddy_free(uint32_t f, unsigned order)
{
	buddy.free += 1ull << order;
	for (; order < MAX_ORDER; order++) {
		uint32_t other = f ^ 1u << order;
		if (other >= nframes || frames[other].state != FRAME_FREE ||
		    frames[other].order != order)
			break;
		list_del(other);
		f &= ~(1u << order);
	}
	free_list_add(f, order);
}

/* The first frame of a block, or 0. */
static uint32_t buddy_alloc(unsigned order)
{
	uint32_t orders = buddy.nonempty >> order << order;
	if (orders == 0)
		return 0;
	unsigned have = __builtin_ctz(orders);
	uint32_t f = buddy.first[have];
	list_del(f);
	while (have > order) {
		have--;
		free_list_add(f + (1u << have), have);
	}
	buddy.free -= 1ull << order;
	return f;
}

/* Pages in the lists that an allocation with these flags leaves alone. */
static uint64_t pages_kept(unsigned flags)
{
	uint64_t free = __atomic_load_n(&buddy.free, __ATOMIC_RELAXED);

	if (flags & (PG_RESERVED | PG_URGENT))
		return buddy.reserve / 2;
	if (flags & PG_STORE)
		return buddy.reserve + pages_promised(free) + ROOM;
	if (flags & PG_USER)
		return buddy.reserve + pages_promised(free);
	if (flags & PG_CALL)
		return buddy.reserve / 4 * 3 + pages_promised(free);
	return 0;
}

/* --- the caches; the cache's lock held ----------------------------------------------- */

/* From the buddy lists: a batch, or one page when little is left. */
static void page_cache_refill(struct page_cache *c, unsigned flags)
{
	spin_acquire(&buddy.lock);
	/* What is in the cache is anybody's: a batch only if programs may have it. */
	uint64_t keep = pages_kept(flags), most = MAX(keep, pages_kept(PG_USER));
	unsigned n = buddy.free > most + CACHE_BATCH ? CACHE_BATCH : buddy.free > keep;
	if (n != 1)
		__atomic_store_n(&buddy.refused, n == 0, __ATOMIC_RELAXED);
	while (n-- > 0) {
		uint32_t f = buddy_alloc(0);
		if (f == 0)
			break;
		frames[f].state = FRAME_CACHED;
		c->frame[c->n++] = f;
	}
	spin_release(&buddy.lock);
}

/* The n coldest pages go to the buddy lists. */
static void page_cache_drain(struct page_cache *c, unsigned n)
{
	spin_acquire(&buddy.lock);
	for (unsigned i = 0; i < n; i++)
		buddy_free(c->frame[i], 0);
	spin_release(&buddy.lock);
	c->n -= n;
	memmove(c->frame, c->frame + n, c->n * sizeof(c->frame[0]));
}

/* Memory is short: collects what all CPUs have in their caches. */
static void drain_all(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(caches); i++) {
		struct page_cache *c = &caches[i];
		if (__atomic_load_n(&c->n, __ATOMIC_RELAXED) == 0)
			continue;
		irqstate_t s = spin_lock(&c->lock);
		page_cache_drain(c, c->n);
		spin_unlock(&c->lock, s);
	}
}

static uint32_t cache_take(unsigned flags)
{
	irqstate_t s = irq_save();
	struct page_cache *c = this_cpu()->pages;
	uint32_t f = 0;

	spin_acquire(&c->lock);
	if (c->n == 0)
		page_cache_refill(c, flags);
	if (c->n > 0) {
		f = c->frame[--c->n];
		if (flags & (PG_USER | PG_RESERVED))
			c->user++;
		if (flags & PG_RESERVED)
			c->backing++;
	}
	spin_unlock(&c->lock, s);
	return f;
}

static void cache_put(uint32_t f, unsigned state)
{
	irqstate_t s = irq_save();
	struct page_cache *c = this_cpu()->pages;

	spin_acquire(&c->lock);
	if (c->n == CACHE_SIZE)
		page_cache_drain(c, CACHE_BATCH);
	c->frame[c->n++] = f;
	if (__atomic_load_n(&buddy.refused, __ATOMIC_RELAXED))
		page_cache_drain(c, c->n);
	if (state != FRAME_USED)
		c->user--;
	if (state == FRAME_RESERVED)
		c->backing--;
	spin_unlock(&c->lock, s);
}

/* --- handing out and taking back ----------------------------------------------------- */

#define POISON 0xa5

static paddr_t hand_out(uint32_t f, unsigned order, unsigned flags)
{
	struct frame *p = &frames[f];
	assert(p->count == 0);
	p->state = flags & PG_RESERVED ? FRAME_RESERVED : flags & PG_USER ? FRAME_USER : FRAME_USED;
	p->order = order;
	p->use = USE_OTHER;
	__atomic_store_n(&p->count, 1, __ATOMIC_RELAXED);
	if (flags & PG_ZERO)
		memset(phys_to_virt(frame_addr(f)), 0, PAGE_SIZE << order);
	return frame_addr(f);
}

/* The last hold is gone. */
static void taken_back(struct frame *p, unsigned order)
{
#ifdef WEFT_DEBUG
	memset(phys_to_virt(frame_addr(p - frames)), POISON, PAGE_SIZE << order);
#endif
	p->state = order == 0 ? FRAME_CACHED : FRAME_NONE;
}

paddr_t page_alloc(unsigned flags)
{
	uint32_t f = cache_take(flags);
	if (f == 0) {
		drain_all();
		f = cache_take(flags);
	}
	return f != 0 ? hand_out(f, 0, flags) : 0;
}

void page_free(paddr_t addr)
{
	struct frame *p = frame_of(addr);
	/* Before our hold goes: then the page may go with another's, and be anything. */
	unsigned state = p->state;
	assert(state >= FRAME_USED);
	uint32_t left = __atomic_sub_fetch(&p->count, 1, __ATOMIC_ACQ_REL);
	assert(left != UINT32_MAX);
	if (left != 0)
		return;
	taken_back(p, 0);
	cache_put(p - frames, state);
}

bool page_spare(unsigned flags)
{
	for (int try = 0; try < 2; try++) {
		if (__atomic_load_n(&buddy.free, __ATOMIC_RELAXED) > pages_kept(flags))
			return true;
		drain_all();
	}
	return false;
}

paddr_t page_alloc_order(unsigned order, unsigned flags)
{
	if (order == 0)
		return page_alloc(flags);
	if (order > MAX_ORDER)
		return 0;
	for (int try = 0; try < 2; try++) {
		irqstate_t s = spin_lock(&buddy.lock);
		uint64_t need = (1ull << order) + pages_kept(flags);
		uint32_t f = buddy.free >= need ? buddy_alloc(order) : 0;
		spin_unlock(&buddy.lock, s);
		if (f != 0)
			return hand_out(f, order, flags & ~PG_USER);
		drain_all(); /* pages in the caches keep blocks apart */
	}
	return 0;
}

void page_free_order(paddr_t addr, unsigned order)
{
	if (order == 0) {
		page_free(addr);
		return;
	}
	struct frame *p = frame_of(addr);
	assert(p->count == 1 && p->state == FRAME_USED && p->order == order);
	p->count = 0;
	taken_back(p, order);
	irqstate_t s = spin_lock(&buddy.lock);
	buddy_free(p - frames, order);
	spin_unlock(&buddy.lock, s);
}

void page_hold(paddr_t addr)
{
	/* Relaxed: the caller has a hold, so the page cannot go meanwhile. */
	uint32_t before = __atomic_fetch_add(&frame_of(addr)->count, 1, __ATOMIC_RELAXED);
	assert(before != 0);
}

unsigned page_count(paddr_t addr)
{
	/* Acquire: who finds the others' holds gone writes after all that they read. */
	return __atomic_load_n(&frame_of(addr)->count, __ATOMIC_ACQUIRE);
}

void page_set_use(paddr_t addr, unsigned order, enum page_use use)
{
	struct frame *p = frame_of(addr);
	for (unsigned i = 0; i < 1u << order; i++) {
		p[i].order = order;
		p[i].use = use;
	}
}

enum page_use page_use(paddr_t addr, unsigned *order)
{
	const struct frame *p = frame_of(PAGE_ROUND_DOWN(addr));
	*order = p->order;
	return p->use;
}

/* --- counts: exact when nobody allocates meanwhile ----------------------------------- */

uint64_t page_total(void)
{
	return buddy.total;
}

uint64_t page_free_count(void)
{
	irqstate_t s = spin_lock(&buddy.lock);
	uint64_t n = buddy.free;
	spin_unlock(&buddy.lock, s);
	for (unsigned i = 0; i < ARRAY_LEN(caches); i++)
		n += __atomic_load_n(&caches[i].n, __ATOMIC_RELAXED);
	return n;
}

uint64_t page_user_count(void)
{
	int64_t n = 0;
	for (unsigned i = 0; i < ARRAY_LEN(caches); i++)
		n += __atomic_load_n(&caches[i].user, __ATOMIC_RELAXED);
	return n > 0 ? n : 0;
}

/* --- reservations -------------------------------------------------------------------- */

/* Can n pages more be reserved if `before` are? */
static bool can_reserve(uint64_t before, uint64_t n)
{
	uint64_t free = __atomic_load_n(&buddy.free, __ATOMIC_RELAXED);
	if (before < free / 4 && n < free / 4 && free > 2 * buddy.reserve)
		return true;
	free = page_free_count();
	free -= MIN(free, buddy.reserve);
	free -= free / TABLES; /* page tables will be needed as well */
	uint64_t taken = not_yet_come(before);
	return taken <= free && n <= free - taken;
}

bool page_reserve(uint64_t n)
{
	uint64_t before = __atomic_load_n(&reserved, __ATOMIC_RELAXED);
	do {
		if (!can_reserve(before, n))
			return false;
	} while (!__atomic_compare_exchange_n(&reserved, &before, before + n, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

void page_unreserve(uint64_t n)
{
	uint64_t before = __atomic_fetch_sub(&reserved, n, __ATOMIC_RELAXED);
	assert(before >= n);
}

/* --- memory comes in (memory.c) ------------------------------------------------------ */

#define RESERVE_MIN 64
#define RESERVE_MAX 1024

uint64_t frames_size(paddr_t top)
{
	return (top >> PAGE_SHIFT) * sizeof(struct frame);
}

void frames_init(void *table, paddr_t top)
{
	frames = table;
	nframes = top >> PAGE_SHIFT;
	memset(frames, 0, frames_size(top));
	for (unsigned i = 0; i < ARRAY_LEN(caches); i++)
		spin_init(&caches[i].lock, "page cache");
	page_init_cpu();
}

void page_init_cpu(void)
{
	struct cpu *c = this_cpu();
	c->pages = &caches[c->id];
}

paddr_t page_top(void)
{
	return frame_addr(nframes);
}

bool page_in_use(paddr_t p)
{
	return frame_of(p)->state >= FRAME_USED;
}

/* The reserve is a part of so many pages.  buddy.lock held. */
static void reserve_of(uint64_t pages)
{
	buddy.reserve = MAX(RESERVE_MIN, MIN(pages / 64, RESERVE_MAX));
}

/* So many pages more are managed.  buddy.lock held. */
static void add_total(uint64_t pages)
{
	buddy.total += pages;
	reserve_of(buddy.total);
}

void page_add(paddr_t start, paddr_t end)
{
	irqstate_t s = spin_lock(&buddy.lock);
	for (uint64_t f = start >> PAGE_SHIFT; f < end >> PAGE_SHIFT;) {
		unsigned order = MIN(__builtin_ctzll(f), MAX_ORDER);
		while (f + (1ull << order) > end >> PAGE_SHIFT)
			order--;
		buddy_free(f, order);
		f += 1ull << order;
	}
	add_total((end - start) >> PAGE_SHIFT);
	spin_unlock(&buddy.lock, s);
}

void page_adopt(paddr_t p)
{
	assert(frame_of(p)->state == FRAME_NONE);
	irqstate_t s = spin_lock(&buddy.lock);
	add_total(1);
	spin_unlock(&buddy.lock, s);
	s = irq_save();
	struct page_cache *c = this_cpu()->pages;
	spin_acquire(&c->lock);
	c->user++;
	spin_unlock(&c->lock, s);
	hand_out(p >> PAGE_SHIFT, 0, PG_USER);
}

bool page_limit(uint64_t pages)
{
	drain_all();
	irqstate_t s = spin_lock(&buddy.lock);
	bool enough = buddy.free >= pages;
	for (; enough && buddy.free > pages; buddy.total--)
		buddy_alloc(0); /* FRAME_NONE: nobody has it */
	if (enough)
		reserve_of(pages);
	spin_unlock(&buddy.lock, s);
	return enough;
}
