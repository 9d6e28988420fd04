/*
 * collect.c - the garbage collector: stops the world, marks what can be reached, and frees the rest.
 *
 * It is precise in the heap: a class says which fields are references. It is conservative on the threads' Java stacks: each
 * word there that is the address of an object keeps that object. Objects do not move, so a word that only looks like
 * an address does no harm, except that an object may live longer. C functions are not looked at: what they have at hand
 * is on the Java stack, as an argument, or in t->roots.
 *
 * The stack of marked objects whose fields wait to be looked at has a fixed size. When it is full, the collector goes on
 * without the object, and later looks through all marked objects again, until nothing new is found.
 *
 * Only the collecting thread runs (world_stop), so no lock and no atomic access is needed here.
 */

#include "heap.h"
#include <string.h>

#define PENDING 8192

static struct object *pending[PENDING];
static int n_pending;
static bool overflow;

static uint64_t *object_mark(struct object *o, uint64_t *bit)
{
	size_t at = (size_t)((char *)o - heap.base);
	struct block *b = &heap.blocks[at / BLOCK];
	size_t n = at % BLOCK / 16;

	*bit = 1ull << n % 64;
	return &b->marks[n / 64];
}

static bool object_is_marked(struct object *o)
{
	uint64_t bit, *word = object_mark(o, &bit);

	return *word & bit;
}

static void mark(struct object *o)
{
	uint64_t bit, *word;

	if (o == NULL)
		return;
	word = object_mark(o, &bit);
	if (*word & bit)
		return;
	*word |= bit;
	if (o->cls->n_refs == 0 && o->cls->kind != 'L' && o->cls->kind != '[')
		return;
	if (n_pending == PENDING)
		overflow = true;
	else
		pending[n_pending++] = o;
}

static void mark_fields(struct object *o)
{
	struct class *c = o->cls;

	if (c->element == NULL)
		for (uint32_t i = 0; i < c->n_refs; i++)
			mark(o->fields[c->refs[i]].a);
	else if (c->kind == 'L' || c->kind == '[')
		for (int32_t i = 0; i < ARRAY(o)->length; i++)
			mark(ARRAY(o)->a[i]);
}

/* The object at this address, or NULL if there is none. */
static struct object *object_at(void *p)
{
	size_t at = (size_t)((char *)p - heap.base);
	struct block *b;

	if (at >= heap.n_blocks * BLOCK || at % 16 != 0)
		return NULL;
	b = &heap.blocks[at / BLOCK];
	if (b->kind == BLOCK_CELLS
		    ? at % BLOCK % b->size != 0 || at % BLOCK / b->size >= BLOCK / b->size
		    : b->kind != BLOCK_LARGE || at % BLOCK != 0)
		return NULL;
	return *(void **)p == NULL ? NULL : p;
}

static void mark_thread(struct jthread *t)
{
	struct frame *f = t->frame;
	union slot *end = f == NULL ? t->stack : FRAME_STACK(f) + f->method->max_stack;

	/* What a call from C has put behind the last frame has a frame of its own by now. */
	for (union slot *s = t->stack; s < end; s++)
		mark(object_at(s->p));
	for (int i = 0; i < t->n_roots; i++)
		mark(t->roots[i]);
	mark(t->exception);
	mark(t->object);
}

static void mark_class(struct class *c)
{
	mark(c->mirror);
	for (int i = 0; i < c->n_fields && c->statics != NULL; i++)
		if ((c->fields[i].access & ACC_STATIC) &&
		    (c->fields[i].type == 'L' || c->fields[i].type == '['))
			mark(c->statics[c->fields[i].slot].a);
}

static void mark_drain(void)
{
	while (n_pending > 0)
		mark_fields(pending[--n_pending]);
}

/* Calls f for each marked object. */
static void each_marked(void (*f)(struct object *))
{
	for (size_t i = 0; i < heap.n_blocks; i++) {
		struct block *b = &heap.blocks[i];

		for (uint32_t n = 0; b->kind != BLOCK_FREE && n < BLOCK / 16; n++)
			if (b->marks[n / 64] & 1ull << n % 64)
				f((struct object *)(heap.base + i * BLOCK + n * 16));
	}
}

static void mark_and_drain(struct object *o)
{
	mark_fields(o);
	mark_drain();
}

static void mark_all(void)
{
	for (size_t i = 0; i < heap.n_blocks; i++)
		memset(heap.blocks[i].marks, 0, sizeof(heap.blocks[i].marks));
	for (struct jthread *t = world.threads; t != NULL; t = t->next) {
		mark_thread(t);
		mark_drain();
	}
	class_each(mark_class);
	for (const char *p = "ZBCDFIJSV"; *p != 0; p++)
		mark_class(known.primitive[(int)*p]);
	string_roots(mark);
	mark(out_of_memory);
	mark_drain();
	while (overflow) {
		overflow = false;
		each_marked(mark_and_drain);
	}
}

/* Frees the cells of a block that are not marked. */
static void sweep_cells(struct block *b, char *base)
{
	uint32_t n = BLOCK / b->size;

	for (uint32_t i = 0; i < n; i++) {
		struct object *o = (struct object *)(base + i * b->size);

		if (o->cls != NULL && !object_is_marked(o))
			o->cls = NULL;
	}
	block_link(b, base);
	if (b->n_free == n) {
		b->kind = BLOCK_FREE;
		heap.used--;
	} else if (b->n_free != 0) {
		int index = size_index_of(b->size);

		b->next = heap.partial[index];
		heap.partial[index] = b;
	}
}

static void sweep(void)
{
	uint64_t live = 0;

	memset(heap.partial, 0, sizeof(heap.partial));
	for (size_t i = heap.n_blocks; i-- > 0;) {
		struct block *b = &heap.blocks[i];

		if (b->kind == BLOCK_CELLS) {
			sweep_cells(b, heap.base + i * BLOCK);
			if (b->kind == BLOCK_CELLS)
				live += BLOCK - b->n_free * b->size;
		} else if (b->kind == BLOCK_LARGE && b->marks[0] == 0) {
			uint32_t n = b->size;

			for (uint32_t k = 0; k < n; k++)
				b[k].kind = BLOCK_FREE;
			heap.used -= n;
		} else if (b->kind == BLOCK_LARGE) {
			live += (uint64_t)b->size * BLOCK;
		}
	}
	heap.n_free_from = 0;
	heap.tight = live > (uint64_t)(heap.n_blocks - heap.n_blocks / 64) * BLOCK;
	if (live > (uint64_t)heap.limit * BLOCK / 2)
		heap.limit = live / BLOCK * 2 < heap.n_blocks ? live / BLOCK * 2 : heap.n_blocks;
}

/*
 * Collects, unless a collection has ended since `epoch` was read: threads that find the heap full at once collect once.
 * The caller has what it needs on its Java stack or in its roots. Waits until all threads stand still.
 */
void collect_after(struct jthread *t, unsigned epoch)
{
	world_stop(t);
	if (atomic_load(&heap.epoch) == epoch) {
		mark_all();
		monitor_sweep(object_is_marked);
		sweep();
		for (struct jthread *o = world.threads; o != NULL; o = o->next)
			heap_forget(o);
		atomic_fetch_add(&heap.epoch, 1);
	}
	world_resume();
}

/* Collects (System.gc). */
void collect(struct jthread *t)
{
	collect_after(t, atomic_load(&heap.epoch));
}
