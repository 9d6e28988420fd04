/*
 * heap.h - what allocation (heap.c) and the collector (collect.c) share.
 */

#ifndef HEAP_H
#define HEAP_H

#include "vm.h"

#define BLOCK 8192u
#define SMALL_MAX 4096u
#define MARK_WORDS (BLOCK / 16 / 64)

enum { BLOCK_FREE, BLOCK_CELLS, BLOCK_LARGE, BLOCK_REST };

struct block {
	uint8_t kind;
	bool dirty;    /* has been used: its bytes are not zero */
	uint32_t size; /* of a cell, in bytes; of a large object, in blocks */
	uint32_t n_free;
	void *free;                 /* cells */
	struct block *next;         /* in heap.partial */
	uint64_t marks[MARK_WORDS]; /* a bit for each 16 bytes; of a large object, the first */
};

struct heap {
	char *base;
	struct block *blocks;
	size_t n_blocks, used, limit;
	size_t n_free_from;             /* no block before it is free */
	_Atomic unsigned epoch;         /* number of collections */
	bool tight;                     /* the last collection left next to nothing free */
	struct block *partial[N_SIZES]; /* with free cells that no thread has */
};

extern struct heap heap;
void block_link(struct block *b, char *base);
bool heap_grow(uint64_t size);
uint32_t element_size(char kind);
size_t object_size(const struct object *o);
void collect_after(struct jthread *t, unsigned epoch);
int size_index_of(uint32_t size);

#endif
