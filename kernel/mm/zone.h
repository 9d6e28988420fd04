/*
 * zone.h - the frame table, and the free blocks of a part of memory.
 *
 * A zone has a list of its free blocks for each order.  The block that was added last is taken
 * first.  Only page.c uses zones; its lock guards all of them.  The functions are inline, because
 * every page that a program touches goes through them.
 */
#pragma once
#include <kern/types.h>

#define MAX_ORDER 10 /* the largest block: 4 MiB */
#define LARGEST (1u << MAX_ORDER)

enum {
	FRAME_NONE = 0, /* not managed, or inside of a free block */
	FRAME_FREE,     /* the first frame of a free block */
	FRAME_CACHED,   /* in a CPU's cache */
	FRAME_USED,     /* handed out */
	FRAME_USER,     /* handed out with PG_USER */
	FRAME_RESERVED, /* handed out with PG_RESERVED */
};

struct frame {
	uint32_t next, prev; /* FRAME_FREE: neighbours in the list of its order */
	uint32_t count;      /* how many holders; atomic */
	uint8_t state;       /* FRAME_* */
	uint8_t order;       /* FRAME_FREE: of the block; else as page_set_use said */
	uint8_t use;         /* enum page_use */
	uint8_t spare;
};
_Static_assert(sizeof(struct frame) == 16, "0.4 % of memory");

extern struct frame *frames; /* by frame number */

struct zone {
	uint32_t first[MAX_ORDER + 1]; /* free blocks of each order */
	uint32_t nonempty;             /* bit n: first[n] is not 0 */
};

/* Adds the block at f, which is free and in no list. */
static inline void zone_add(struct zone *z, uint32_t f, unsigned order)
{
	uint32_t next = z->first[order];
	frames[f].state = FRAME_FREE;
	frames[f].order = order;
	frames[f].next = next;
	frames[f].prev = 0;
	if (next != 0)
		frames[next].prev = f;
	z->first[order] = f;
	z->nonempty |= 1u << order;
}

/* Removes the free block at f from its list in z. */
static inline void zone_del(struct zone *z, uint32_t f)
{
	struct frame *p = &frames[f];
	if (p->next != 0)
		frames[p->next].prev = p->prev;
	if (p->prev != 0)
		frames[p->prev].next = p->next;
	else
		z->first[p->order] = p->next;
	if (z->first[p->order] == 0)
		z->nonempty &= ~(1u << p->order);
	p->state = FRAME_NONE;
}

/* Is there a free block of this order, or a larger one? */
static inline bool zone_has(const struct zone *z, unsigned order)
{
	return z->nonempty >> order != 0;
}

/* Takes such a block, which zone_has has found; returns its first frame. */
static inline uint32_t zone_take(struct zone *z, unsigned order)
{
	unsigned have = __builtin_ctz(z->nonempty >> order << order);
	uint32_t f = z->first[have];
	zone_del(z, f);
	while (have > order) {
		have--;
		zone_add(z, f + (1u << have), have);
	}
	return f;
}
