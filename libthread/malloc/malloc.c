/*
 * malloc.c - malloc and its family: which allocator they are, LIBTHREAD_OPTIONS=malloc=
 * chooses.
 *
 * newlib's has one lock for all threads and one heap, the break.  Its functions have the
 * names __newlib_* here (user.mk renames them), so that newlib's own calls (stdio's buffers,
 * for one) come through here too, and a program has one allocator.
 *
 * The choice is made before the first allocation, and never changes.
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <reent.h>
#include <stdint.h>
#include <stdlib.h>
#include "../core/model.h"
#include "malloc.h"

void *__newlib_malloc_r(struct _reent *r, size_t n);
void *__newlib_calloc_r(struct _reent *r, size_t n, size_t size);
void *__newlib_realloc_r(struct _reent *r, void *p, size_t n);
void *__newlib_memalign_r(struct _reent *r, size_t align, size_t n);
void __newlib_free_r(struct _reent *r, void *p);
size_t __newlib_malloc_usable_size_r(struct _reent *r, void *p);

static void *checked(struct _reent *r, void *p)
{
	if (unlikely(p == NULL))
		r->_errno = ENOMEM;
	return p;
}

void *_malloc_r(struct _reent *r, size_t n)
{
	if (!__options.mt_malloc)
		return __newlib_malloc_r(r, n);
	return checked(r, __mt_malloc(n));
}

void _free_r(struct _reent *r, void *p)
{
	if (!__options.mt_malloc)
		__newlib_free_r(r, p);
	else if (p != NULL)
		__mt_free(p);
}

void *_calloc_r(struct _reent *r, size_t n, size_t size)
{
	size_t bytes;

	if (!__options.mt_malloc)
		return __newlib_calloc_r(r, n, size);
	return checked(r, __builtin_mul_overflow(n, size, &bytes) ? NULL : __mt_calloc(bytes));
}

/*
 * p NULL: as malloc; n 0: as for 1 byte with malloc=mt.  newlib has no blocks of 2 GiB, and its
 * realloc says so with its lock in hand, for ever: here it is not asked.
 */
void *_realloc_r(struct _reent *r, void *p, size_t n)
{
	if (!__options.mt_malloc && n > INT_MAX - 64)
		return checked(r, NULL);
	if (!__options.mt_malloc)
		return __newlib_realloc_r(r, p, n);
	return checked(r, p != NULL ? __mt_realloc(p, n) : __mt_malloc(n));
}

/* EINVAL: align is not a power of 2. */
void *_memalign_r(struct _reent *r, size_t align, size_t n)
{
	if (!__options.mt_malloc)
		return __newlib_memalign_r(r, align, n);
	if (align == 0 || (align & (align - 1))) {
		r->_errno = EINVAL;
		return NULL;
	}
	return checked(r, __mt_memalign(align, n));
}

size_t _malloc_usable_size_r(struct _reent *r, void *p)
{
	if (!__options.mt_malloc)
		return __newlib_malloc_usable_size_r(r, p);
	return p != NULL ? __mt_usable(p) : 0;
}

/* These two without a look at the caller's reent, if they can. */
void *malloc(size_t n)
{
	void *p;

	if (!__options.mt_malloc)
		return __newlib_malloc_r(_REENT, n);
	p = __mt_malloc(n);
	if (unlikely(p == NULL))
		errno = ENOMEM;
	return p;
}

void free(void *p)
{
	if (!__options.mt_malloc)
		__newlib_free_r(_REENT, p);
	else if (p != NULL)
		__mt_free(p);
}

void *calloc(size_t n, size_t size)
{
	return _calloc_r(_REENT, n, size);
}

void *realloc(void *p, size_t n)
{
	return _realloc_r(_REENT, p, n);
}

void *memalign(size_t align, size_t n)
{
	return _memalign_r(_REENT, align, n);
}

size_t malloc_usable_size(void *p)
{
	return _malloc_usable_size_r(_REENT, p);
}
