/*
 * cache.h - caches of kernel objects, and kmalloc (mm/cache.c).
 */
#pragma once
#include "types.h"

/*
 * Fixed-size kernel objects.  The memory of a type-stable cache (KC_STABLE) becomes nothing else
 * while a CPU has interrupts off: so a pointer that is found with interrupts off points at an
 * object of that type until they are on again, freed or not; one may lock it and then check whether
 * it is the one meant.  The constructor runs once for each object, when its slab is made.
 */
struct kcache;
#define KC_STABLE 1
#define KC_USER 2 /* programs decide how many there are: leaves the kernel's reserve alone */
struct kcache *kcache_create(const char *name, size_t size, size_t align, unsigned flags,
			     void (*ctor)(void *));
void *kcache_alloc(struct kcache *c); /* NULL: out of memory.  Never blocks. */
void kcache_free(struct kcache *c, void *obj);
/*
 * Odd sizes, up to 1 MiB; aligned to 16.  NULL: out of memory.  Any context, never blocks.
 * kmalloc and kzalloc are for what goes with the call, or with something that takes pages with
 * PG_USER; the others for what programs decide how many there are: NULL, too, if page_spare says
 * no to PG_USER.
 */
void *kmalloc(size_t size);
void *kzalloc(size_t size);
void *kmalloc_user(size_t size);
void *kzalloc_user(size_t size);
void kfree(void *p); /* NULL is harmless */

/*
 * What cache number n holds, from 0; false: there are no more.  The objects that are in use
 * are exact while nobody takes or gives back any.
 */
struct kcache_info {
	const char *name;
	size_t size;          /* of an object, bytes */
	uint64_t used, pages; /* objects in use; pages of the cache's slabs */
};
bool kcache_info(unsigned n, struct kcache_info *info);
