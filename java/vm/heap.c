/*
 * heap.c - allocation.
 *
 * The heap is one range of addresses, in blocks of 8 KiB. A block holds cells of one size, or is a part of a large object.
 * A cell is free if its first word, the class, is NULL; its second word then links the free cells. Objects do not move.
 *
 * A thread takes all free cells of a block at once, and allocates from these without a lock. heap_lock guards the blocks.
 * Its owner never stops at a safepoint, so that the collector finds the blocks in order. A cell gets its class last, and
 * there is no safepoint in between: the collector, which runs while all threads stand still, sees whole objects.
 *
 * A collection begins when `limit` bytes are in use. The limit grows with what a collection leaves, up to the maximum.
 * After a collection at the maximum that leaves less than a 64th free there is OutOfMemoryError.
 */

#include "heap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_LIMIT (2u << 20)
#define MAX_TRIES 8 /* collections for one object, where other threads take what they free */

struct heap heap;
struct object *out_of_memory;
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

/* Sizes of cells: steps of 16 up to 512 and of 256 up to 2,048; then a third and a half of a block. */
static uint16_t sizes[N_SIZES];
static uint8_t size_index[SMALL_MAX / 16 + 1];

static void sizes_make(void)
{
	int n = 0;

	for (uint32_t size = 16; size <= 2048; size += size < 512 ? 16 : 256)
		sizes[n++] = (uint16_t)size;
	sizes[n++] = BLOCK / 3 & ~15u;
	sizes[n++] = BLOCK / 2;
	for (uint32_t i = 0, k = 0; i <= SMALL_MAX / 16; i++) {
		while (sizes[k] < i * 16)
			k++;
		size_index[i] = (uint8_t)k;
	}
}

/* Reserves the heap: `max` bytes of addresses, which get memory when they are used. */
void heap_init(size_t max)
{
	heap.n_blocks = max / BLOCK;
	heap.blocks = vm_alloc(heap.n_blocks * sizeof(struct block));
	heap.base = mmap(NULL, (heap.n_blocks + 1) * BLOCK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (heap.base == MAP_FAILED) {
		fprintf(stderr, "java: no memory for a heap of %zu MiB; -Xmx16m asks for less\n",
			max >> 20);
		exit(1);
	}
	heap.base = (char *)(((uintptr_t)heap.base + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1));
	heap.limit = FIRST_LIMIT / BLOCK < heap.n_blocks ? FIRST_LIMIT / BLOCK : heap.n_blocks;
	sizes_make();
}

/* Links the free cells of a block. The caller has heap_lock, or all threads stand still. */
void block_link(struct block *b, char *base)
{
	b->free = NULL;
	b->n_free = 0;
	for (uint32_t n = BLOCK / b->size; n-- > 0;) {
		void **cell = (void **)(base + (size_t)n * b->size);

		if (cell[0] != NULL)
			continue;
		cell[1] = b->free;
		b->free = cell;
		b->n_free++;
	}
}

/* `n` free blocks in a row, or NULL. The caller has heap_lock. */
static struct block *blocks_take(size_t n)
{
	size_t run = 0;

	if (heap.used + n > heap.limit)
		return NULL;
	for (size_t i = heap.n_free_from; i < heap.n_blocks; i++) {
		run = heap.blocks[i].kind == BLOCK_FREE ? run + 1 : 0;
		if (run < n)
			continue;
		if (n == 1)
			heap.n_free_from = i + 1;
		heap.used += n;
		return &heap.blocks[i + 1 - n];
	}
	return NULL;
}

/* Free cells of a size, linked, or NULL. */
static void *cells_take(int index)
{
	struct block *b;
	void *cells = NULL;

	pthread_mutex_lock(&heap_lock);
	b = heap.partial[index];
	if (b != NULL) {
		heap.partial[index] = b->next;
	} else if ((b = blocks_take(1)) != NULL) {
		char *base = heap.base + (size_t)(b - heap.blocks) * BLOCK;

		b->kind = BLOCK_CELLS;
		b->size = sizes[index];
		if (b->dirty)
			memset(base, 0, BLOCK);
		b->dirty = true;
		block_link(b, base);
	}
	if (b != NULL) {
		cells = b->free;
		b->free = NULL;
	}
	pthread_mutex_unlock(&heap_lock);
	return cells;
}

static void *large_take(size_t size)
{
	size_t n = (size + BLOCK - 1) / BLOCK;
	struct block *b;
	char *p = NULL;

	pthread_mutex_lock(&heap_lock);
	b = blocks_take(n);
	if (b != NULL) {
		p = heap.base + (size_t)(b - heap.blocks) * BLOCK;
		for (size_t i = 0; i < n; i++) {
			b[i].kind = i == 0 ? BLOCK_LARGE : BLOCK_REST;
			if (b[i].dirty)
				memset(p + i * BLOCK, 0, BLOCK);
			b[i].dirty = true;
		}
		b->size = (uint32_t)n;
	}
	pthread_mutex_unlock(&heap_lock);
	return p;
}

static void *cell_take(struct jthread *t, size_t size)
{
	int index;
	void **cell;

	if (size > SMALL_MAX)
		return large_take(size);
	index = size_index[(size + 15) / 16];
	cell = t->free[index];
	if (cell == NULL) {
		cell = cells_take(index);
		if (cell == NULL)
			return NULL;
	}
	t->free[index] = cell[1];
	if (size > 16)
		memset(cell + 2, 0, size - 16);
	cell[1] = NULL;
	return cell;
}

/* Zeroed memory for an object of this size, without its class. NULL: OutOfMemoryError. May collect. */
static struct object *heap_cell(struct jthread *t, uint64_t size)
{
	struct object *o = NULL;

	for (int tries = 0; tries < MAX_TRIES && size <= heap.n_blocks * BLOCK; tries++) {
		unsigned epoch = atomic_load(&heap.epoch);

		o = cell_take(t, size);
		if (o != NULL)
			return o;
		if (tries != 0 && heap.tight)
			break;
		collect_after(t, epoch);
		if (heap_grow(size))
			tries = 0;
	}
	throw_no_memory(t);
	return NULL;
}

/* Raises the limit so that `size` bytes more have room. False: it is the maximum already. */
bool heap_grow(uint64_t size)
{
	size_t n = (size + BLOCK - 1) / BLOCK;
	bool grown = false;

	pthread_mutex_lock(&heap_lock);
	if (heap.used + n + 1 > heap.limit && heap.limit < heap.n_blocks) {
		size_t wanted = heap.used + n + heap.limit / 2;

		heap.limit = wanted < heap.n_blocks ? wanted : heap.n_blocks;
		grown = true;
	}
	pthread_mutex_unlock(&heap_lock);
	return grown;
}

/* NULL: t->exception. May collect; the class must be linked. */
struct object *heap_object(struct jthread *t, struct class *cls)
{
	struct object *o = heap_cell(t, sizeof(struct object) + cls->n_slots * sizeof(union slot));

	if (o != NULL)
		o->cls = cls;
	return o;
}

uint32_t element_size(char kind)
{
	switch (kind) {
	case 'Z':
	case 'B':
		return 1;
	case 'C':
	case 'S':
		return 2;
	case 'I':
	case 'F':
		return 4;
	}
	return 8;
}

/* NULL: t->exception. */
struct array *heap_array(struct jthread *t, struct class *cls, int32_t length)
{
	struct array *a;

	if (length < 0) {
		throw_new(t, "java/lang/NegativeArraySizeException", "%d", (int)length);
		return NULL;
	}
	a = (struct array *)heap_cell(t, sizeof(struct array) +
						 (uint64_t)length * element_size(cls->kind));
	if (a != NULL) {
		a->length = length;
		a->object.cls = cls;
	}
	return a;
}

/*
 * *Race:* a thread copies elements or fields; another one loads or stores one of them.
 * *Without this:* memmove and memcpy go byte by byte where it suits them. Half of a reference is then of one object, and
 * half of another: an address where no object is.
 * *Closed by:* each element is loaded and stored at once. Release and acquire are as for a field (slot_store).
 */
#define MOVE(name, type)                                                                           \
	static void move_##name(type *to, const type *from, size_t n)                              \
	{                                                                                          \
		if (to <= from)                                                                    \
			for (size_t i = 0; i < n; i++)                                             \
				__atomic_store_n(&to[i],                                           \
						 __atomic_load_n(&from[i], __ATOMIC_ACQUIRE),      \
						 __ATOMIC_RELEASE);                                \
		else                                                                               \
			for (size_t i = n; i-- > 0;)                                               \
				__atomic_store_n(&to[i],                                           \
						 __atomic_load_n(&from[i], __ATOMIC_ACQUIRE),      \
						 __ATOMIC_RELEASE);                                \
	}
MOVE(16, int16_t)
MOVE(32, int32_t)
MOVE(64, int64_t)

/* Copies n elements, from the i-th on to the k-th on. The arrays have elements of one size, and may be the same. */
void array_move(struct array *to, size_t k, const struct array *from, size_t i, size_t n)
{
	switch (element_size(to->object.cls->kind)) {
	case 1:
		memmove(to->b + k, from->b + i, n);
		break;
	case 2:
		move_16(to->s + k, from->s + i, n);
		break;
	case 4:
		move_32(to->i + k, from->i + i, n);
		break;
	default:
		move_64(to->j + k, from->j + i, n);
	}
}

/* A copy of an object, which the caller keeps alive. */
struct object *heap_clone(struct jthread *t, struct object *from)
{
	size_t size = object_size(from);
	struct object *o = heap_cell(t, size);

	if (o != NULL) {
		/* In whole words: a cell has room for the last one, and no element lies across two. */
		move_64(&o->fields[0].j, &from->fields[0].j,
			(size - sizeof(*o) + sizeof(int64_t) - 1) / sizeof(int64_t));
		o->cls = from->cls;
	}
	return o;
}

size_t object_size(const struct object *o)
{
	if (o->cls->element == NULL)
		return sizeof(*o) + o->cls->n_slots * sizeof(union slot);
	return sizeof(struct array) + (size_t)ARRAY(o)->length * element_size(o->cls->kind);
}

/* The thread has no cells any more: the collector has linked the free ones again. */
void heap_forget(struct jthread *t)
{
	memset(t->free, 0, sizeof(t->free));
}

void heap_sizes(int64_t *max, int64_t *total, int64_t *free)
{
	pthread_mutex_lock(&heap_lock);
	*max = (int64_t)(heap.n_blocks * BLOCK);
	*total = (int64_t)(heap.limit * BLOCK);
	*free = (int64_t)((heap.limit - heap.used) * BLOCK);
	pthread_mutex_unlock(&heap_lock);
}

int size_index_of(uint32_t size)
{
	return size_index[size / 16];
}
