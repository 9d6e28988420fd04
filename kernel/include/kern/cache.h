/*
 * cache.h - caches of kernel objects, and kmalloc (mm/cache.c).
 */
#pragma once
#include "types.h"

/*
 * Fixed-size kernel objects.  The memory of a type-stable cache (KC_STABLE) gets no other use
 * while a CPU has interrupts off.  So a pointer that is found with interrupts off points at an
 * object of that type until they are on again, even if the object is freed.  The finder may
 * lock it, and then check whether it is the right object.  The constructor runs once for each
 * object, when its slab is made.
 */
struct kcache;
#define KC_STABLE 1
#define KC_USER 2 /* programs decide how many objects there are: leaves the reserve alone */
struct kcache *kcache_create(const char *name, size_t size, size_t align, unsigned flags,
			     void (*ctor)(void *));
void *kcache_alloc(struct kcache *c); /* NULL: out of memory.  Never blocks. */
void kcache_free(struct kcache *c, void *obj);
/*
 * Memory of any size up to 1 MiB; aligned to 16.  NULL: out of memory.  Any context, never blocks.
 * kmalloc and kzalloc are for memory that lasts no longer than the call, or that belongs to an
 * object with PG_USER pages.  The other two are for objects of which programs decide how many there
 * are.  They also return NULL if page_spare(PG_USER) is false.
 */
void *kmalloc(size_t size);
void *kzalloc(size_t size);
void *kmalloc_user(size_t size);
void *kzalloc_user(size_t size);
void kfree(void *p); /* NULL is harmless */

/*
 * Describes cache number n, from 0 on.  False: there are no more.  The number of objects in use
 * is exact while no LWP allocates or frees any.
 */
struct kcache_info {
	const char *name;
	size_t size;          /* of an object, bytes */
	uint64_t used, pages; /* objects in use; pages of the cache's slabs */
};
bool kcache_info(unsigned n, struct kcache_info *info);
