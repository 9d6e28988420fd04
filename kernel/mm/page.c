/*
 * page.c - physical pages: a buddy allocator, and in front of it one cache for each CPU.
 *
 * A page is known by its frame number (address / PAGE_SIZE).  The frame table (zone.h) has a
 * struct frame for each page up to the highest usable one.  Links between free
 * blocks are kept there and not in the pages, so that memory can be managed that is
 * not mapped yet.  Frame 0 is never handed out and stands for "none".
 *
 * A free block of order n is 2^n pages, aligned to its size; only its first frame
 * says FRAME_FREE.  When both halves of a larger block are free they become one
 * (Knuth, The Art of Computer Programming 1, 2.5).
 *
 * Single pages go through the CPU's cache, which is filled from the buddy lists and emptied
 * into them a batch at a time.  A cache has a lock.  Only its CPU takes it, except when
 * memory is short: then another CPU collects the pages of all caches.
 *
 * The reserve: allocations with PG_USER are refused when the buddy lists hold no
 * more than `reserve` pages.  So the kernel still has memory for its own needs when
 * programs have taken all of theirs.
 *
 * Reservations: page_reserve sets pages aside for memory that is mapped and not yet
 * touched.  Such a page is allocated with PG_RESERVED.  Reserved pages that have not been
 * allocated yet are "promised".  Allocations with only PG_USER leave promised pages alone.  A
 * page that fork shares is one page for two reservations, so the copy of it is promised.
 * What the kernel needs for a call (PG_CALL) leaves promised pages and three quarters of the
 * reserve alone.  Only allocations without a flag ignore reservations.  To honour one anyway,
 * PG_RESERVED may use the upper half of the reserve.  So may the page tables for it (PG_URGENT).
 *
 * The room for programs: memory that stays when processes end is memory of files (PG_STORE).  It
 * leaves ROOM pages more alone.  So when files have taken all that they can have, a program that
 * removes them can still be started.
 * Pages in the CPUs' caches count as taken here, which errs on the safe side.
 *
 * The contents of the initial RAM disk change no address of the rest.  Memory has two zones.  The
 * top zone holds the frame table, the RAM disk, and what the kernel makes of it (page_from_top).
 * It consists of whole largest blocks, and grows downwards.  The low zone is the rest.
 * Allocations use the low zone, its lowest blocks first.  They use the top zone only when the low
 * zone has nothing left.  So a larger RAM disk moves only the end of the low zone.  No decision
 * depends on how many pages are free, either, as long as half of all pages are free.
 *
 * Locks: a cache's, then buddy.lock; both are taken in any context.
 */
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/mm.h>
#include <kern/page.h>
#include <kern/printk.h>
#include "impl.h"
#include "zone.h"

struct frame *frames;
static uint32_t nframes;

static struct {
	struct spinlock lock;
	struct zone low, top;
	struct zone *zone;              /* where allocations look first */
	uint32_t top_start, top_frames; /* the top zone: multiples of LARGEST, or all 0 */
	uint64_t free;                  /* pages in all lists */
	uint64_t total, reserve;        /* pages managed; pages kept from programs */
	uint64_t half, quarter;         /* of the pages that programs and the RAM disk may have */
	/*
	 * Set by an allocation that was refused, cleared by the next one that gets a batch.
	 * Meanwhile a freed page leaves its cache at once: a page that a call had from the
	 * reserve must not become a program's.  Atomic.
	 */
	bool refused;
} buddy = {.lock = SPINLOCK_INIT("pages"), .zone = &buddy.low};

#define ROOM 256 /* 1 MiB: twice what a shell and the `rm` that it starts need */

#define TABLES 256 /* page tables need less than one page in so many */

static uint64_t reserved; /* pages; atomic */

#define CACHE_SIZE 64
#define CACHE_BATCH 32

struct page_cache {
	struct spinlock lock;
	uint32_t n;
	uint32_t frame[CACHE_SIZE]; /* the last one was used most recently */
	int64_t user;               /* pages allocated with PG_USER, less those freed here */
	int64_t backing;            /* of these, with PG_RESERVED */
} CACHE_ALIGNED;

static struct page_cache caches[WEFT_MAXCPU];

/* Of so many reserved pages, how many have not been allocated yet. */
static uint64_t not_yet_come(uint64_t pages)
{
	int64_t n = pages;
	for (unsigned i = 0; i < MAX(ncpu, 1u); i++)
		n -= __atomic_load_n(&caches[i].backing, __ATOMIC_RELAXED);
	return MAX(n, 0);
}

/*
 * Is so much free that n reserved pages need not be counted exactly?  Both bounds are the same
 * whatever the RAM disk holds.
 */
static bool page_plenty(uint64_t free, uint64_t n)
{
	return n < buddy.quarter && free > buddy.half;
}

/* How many pages are promised.  If there is plenty, only an upper bound, which costs less. */
static uint64_t pages_promised(uint64_t free)
{
	uint64_t n = __atomic_load_n(&reserved, __ATOMIC_RELAXED);
	return page_plenty(free, n) ? n : not_yet_come(n);
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

static struct zone *zone_of(uint32_t f)
{
	return f - buddy.top_start < buddy.top_frames ? &buddy.top : &buddy.low;
}

/* Both halves of a block are in one zone. */
static void buddy_free(uint32_t f, unsigned order)
{
	struct zone *z = zone_of(f);

	buddy.free += 1ull << order;
	for (; order < MAX_ORDER; order++) {
		uint32_t other = f ^ 1u << order;
		if (other >= nframes || frames[other].state != FRAME_FREE ||
		    frames[other].order != order)
			break;
		zone_del(z, other);
		f &= ~(1u << order);
	}
	zone_add(z, f, order);
}

/* Makes the block below the top zone a part of it; false: the block is not free. */
static bool top_grow(void)
{
	uint32_t f = buddy.top_start - LARGEST;
	if (buddy.top_start <= LARGEST || frames[f].state != FRAME_FREE ||
	    frames[f].order != MAX_ORDER)
		return false;
	zone_del(&buddy.low, f);
	buddy.top_start = f;
	buddy.top_frames += LARGEST;
	zone_add(&buddy.top, f, MAX_ORDER);
	return true;
}

/* Called when the zone where allocations look first has no such block: a zone that has, or NULL. */
static struct zone *__attribute__((noinline)) buddy_elsewhere(unsigned order)
{
	struct zone *other = buddy.zone == &buddy.low || top_grow() ? &buddy.top : &buddy.low;
	return zone_has(other, order) ? other : NULL;
}

/* Returns the first frame of a block, or 0. */
static uint32_t buddy_alloc(unsigned order)
{
	struct zone *z = buddy.zone;
	if (!zone_has(z, order) && (z = buddy_elsewhere(order)) == NULL)
		return 0;
	buddy.free -= 1ull << order;
	return zone_take(z, order);
}

/* How many pages in the lists an allocation with these flags leaves alone. */
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

/* Fetches a batch from the buddy lists, or one page when little is left. */
static void page_cache_refill(struct page_cache *c, unsigned flags)
{
	spin_acquire(&buddy.lock);
	/* Any allocation may use the cache: fetch a batch only if files may have it. */
	uint64_t keep = pages_kept(flags), most = MAX(keep, pages_kept(PG_USER | PG_STORE));
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

/* Moves the n least recently used pages to the buddy lists. */
static void page_cache_drain(struct page_cache *c, unsigned n)
{
	spin_acquire(&buddy.lock);
	for (unsigned i = 0; i < n; i++)
		buddy_free(c->frame[i], 0);
	spin_release(&buddy.lock);
	c->n -= n;
	memmove(c->frame, c->frame + n, c->n * sizeof(c->frame[0]));
}

/* Memory is short: collects the pages of all CPUs' caches. */
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

/* The last holder has freed the page. */
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
	/*
	 * *Race:* this LWP gives up its hold, and another holder frees the page, which is then
	 * allocated for another use; *without this:* the state read is that of the new use;
	 * *closed by:* this line reads the state before the hold is given up.
	 */
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
	/* Relaxed: the caller has a hold, so the page cannot be freed meanwhile. */
	uint32_t before = __atomic_fetch_add(&frame_of(addr)->count, 1, __ATOMIC_RELAXED);
	assert(before != 0);
}

unsigned page_count(paddr_t addr)
{
	/* Acquire: a holder that finds itself alone writes after all reads of the others. */
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

/* --- counts: exact when no LWP allocates meanwhile ----------------------------------- */

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

/* Can n pages more be reserved if `before` pages are already? */
static bool can_reserve(uint64_t before, uint64_t n)
{
	uint64_t free = __atomic_load_n(&buddy.free, __ATOMIC_RELAXED);
	if (n < buddy.quarter && page_plenty(free, before + n))
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

/* Sets the limits that follow from how many pages there are.  buddy.lock held. */
static void buddy_set_limits(uint64_t pages)
{
	buddy.reserve = MAX(RESERVE_MIN, MIN(pages / 64, RESERVE_MAX));
	buddy.half = pages / 2;
	buddy.quarter = pages / 4;
}

/* Counts so many pages more as managed.  buddy.lock held. */
static void add_total(uint64_t pages)
{
	buddy.total += pages;
	buddy_set_limits(buddy.total);
}

void page_set_top(paddr_t start, paddr_t end)
{
	const paddr_t size = (paddr_t)LARGEST << PAGE_SHIFT;
	paddr_t from = start & ~(size - 1), to = (end + size - 1) & ~(size - 1);

	buddy.top_start = from >> PAGE_SHIFT;
	buddy.top_frames = (to - from) >> PAGE_SHIFT;
}

/* From the end downwards, so that the lowest blocks become the first of their lists. */
void page_add(paddr_t start, paddr_t end)
{
	irqstate_t s = spin_lock(&buddy.lock);
	uint64_t f = end >> PAGE_SHIFT, first = start >> PAGE_SHIFT;
	while (f > first) {
		unsigned order = MIN(__builtin_ctzll(f), MAX_ORDER);
		while (f - first < 1ull << order)
			order--;
		f -= 1ull << order;
		buddy_free(f, order);
	}
	add_total((end - start) >> PAGE_SHIFT);
	spin_unlock(&buddy.lock, s);
}

void page_from_top(bool top)
{
	/* No page of one zone may wait in a cache for an allocation from the other zone. */
	drain_all();
	irqstate_t s = spin_lock(&buddy.lock);
	buddy.zone = top && buddy.top_frames != 0 ? &buddy.top : &buddy.low;
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

/* Removes the free block at f from management, except its lowest pages as far as they are needed
 * for `pages` free pages.  buddy.lock held. */
static void page_limit_block(uint32_t f, uint64_t pages)
{
	uint64_t size = 1ull << frames[f].order;
	uint64_t keep = pages - MIN(pages, buddy.free - size);

	zone_del(zone_of(f), f); /* its state is FRAME_NONE: no allocation finds it */
	buddy.free -= size;
	buddy.total -= size - keep;
	while (keep-- > 0)
		buddy_free(f + keep, 0);
}

/* Removes the highest pages, so the addresses of the rest do not depend on how many there were. */
bool page_limit(uint64_t pages)
{
	drain_all();
	irqstate_t s = spin_lock(&buddy.lock);
	bool enough = buddy.free >= pages;
	for (uint32_t f = nframes; enough && buddy.free > pages && f-- > 0;)
		if (frames[f].state == FRAME_FREE)
			page_limit_block(f, pages);
	if (enough)
		buddy_set_limits(pages);
	spin_unlock(&buddy.lock, s);
	return enough;
}
