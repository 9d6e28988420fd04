/*
 * malloc.c - malloc and its family.  LIBTHREAD_OPTIONS=malloc= chooses the allocator.
 *
 * newlib's allocator has one lock for all threads and one heap, the break.  Its functions are
 * called __newlib_* here (user.mk renames them).  So newlib's own calls (for example stdio's
 * buffers) also come through here, and a program has one allocator.
 *
 * The choice is made before the first allocation, and never changes.
 *
 * A program may define malloc, free, calloc and realloc itself, and the rest of the family.  The
 * names are weak here, and the C library allocates by calling them (the *_r functions), so that
 * each block has one owner.  If a program defines malloc and not calloc, calloc uses the program's
 * malloc.  Some functions cannot be made from the program's malloc (realloc, memalign,
 * malloc_usable_size).  A call of one of them ends the process with a message that says so, because
 * a block of the other allocator would corrupt both allocators.
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <reent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../core/model.h"
#include "malloc.h"

void *__newlib_malloc_r(struct _reent *r, size_t n);
void *__newlib_calloc_r(struct _reent *r, size_t n, size_t size);
void *__newlib_realloc_r(struct _reent *r, void *p, size_t n);
void *__newlib_memalign_r(struct _reent *r, size_t align, size_t n);
void __newlib_free_r(struct _reent *r, void *p);
size_t __newlib_malloc_usable_size_r(struct _reent *r, void *p);

static void *result_checked(struct _reent *r, void *p)
{
	if (unlikely(p == NULL))
		r->_errno = ENOMEM;
	return p;
}

/* --- the library's own allocator ------------------------------------------------------- */

void *__libc_malloc(size_t n)
{
	void *p;

	if (!__options.mt_malloc)
		return __newlib_malloc_r(_REENT, n);
	p = __mt_malloc(n);
	if (unlikely(p == NULL))
		errno = ENOMEM;
	return p;
}

void __libc_free(void *p)
{
	if (!__options.mt_malloc)
		__newlib_free_r(_REENT, p);
	else if (p != NULL)
		__mt_free(p);
}

/*
 * Allocates the memory by which stdio's list of streams grows.  The caller owns the lock of that
 * list (user.mk).  *Race:* a program's malloc has a mutex, which a prepare handler of fork
 * acquires, and fork then acquires the list's lock; another thread owns that lock and calls malloc;
 * *without this:* both threads wait for ever; *closed by:* these blocks come from the library's
 * allocator, and are never freed.
 */
void *__libc_malloc_r(struct _reent *r, size_t n)
{
	return __libc_malloc(n);
}

/* --- the family ------------------------------------------------------------------------- */

__attribute__((weak, alias("__libc_malloc"))) void *malloc(size_t n);
__attribute__((weak, alias("__libc_free"))) void free(void *p);

static bool malloc_is_ours(void)
{
	return malloc == __libc_malloc;
}

/*
 * The program defines malloc, and does not define the function that was called.  stdio might
 * allocate, so this writes directly.
 */
static _Noreturn void __attribute__((noinline)) malloc_incomplete(const char *name)
{
	char line[128];
	int n = snprintf(line, sizeof(line),
			 "libthread: this program defines malloc, so it must define %s\n", name);

	__sys_write(2, line, n);
	abort();
}

__attribute__((weak)) void *calloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (likely(malloc_is_ours()) && !__options.mt_malloc)
		return __newlib_calloc_r(_REENT, n, size);
	if (__builtin_mul_overflow(n, size, &bytes))
		return result_checked(_REENT, NULL);
	if (malloc_is_ours())
		return result_checked(_REENT, __mt_calloc(bytes));
	p = malloc(bytes);
	__asm__("" : "+r"(p)); /* otherwise GCC makes a calloc of malloc and memset */
	return p != NULL ? memset(p, 0, bytes) : NULL;
}

/*
 * p NULL: as malloc.  n 0: as for 1 byte with malloc=mt.  newlib has no blocks of 2 GiB, and its
 * realloc returns that error without releasing its lock.  So such a request does not reach newlib.
 */
__attribute__((weak)) void *realloc(void *p, size_t n)
{
	if (unlikely(!malloc_is_ours())) {
		if (p != NULL)
			malloc_incomplete("realloc");
		return malloc(n);
	}
	if (!__options.mt_malloc && n > INT_MAX - 64)
		return result_checked(_REENT, NULL);
	if (!__options.mt_malloc)
		return __newlib_realloc_r(_REENT, p, n);
	return result_checked(_REENT, p != NULL ? __mt_realloc(p, n) : __mt_malloc(n));
}

/* EINVAL: align is not a power of 2. */
__attribute__((weak)) void *memalign(size_t align, size_t n)
{
	if (unlikely(!malloc_is_ours()))
		malloc_incomplete("memalign");
	if (!__options.mt_malloc)
		return __newlib_memalign_r(_REENT, align, n);
	if (align == 0 || (align & (align - 1))) {
		errno = EINVAL;
		return NULL;
	}
	return result_checked(_REENT, __mt_memalign(align, n));
}

__attribute__((weak)) size_t malloc_usable_size(void *p)
{
	if (unlikely(!malloc_is_ours()))
		malloc_incomplete("malloc_usable_size");
	if (!__options.mt_malloc)
		return __newlib_malloc_usable_size_r(_REENT, p);
	return p != NULL ? __mt_usable(p) : 0;
}

/* --- functions that newlib calls: the caller's reent is always the calling thread's ------- */

void *_malloc_r(struct _reent *r, size_t n)
{
	return malloc(n);
}

void _free_r(struct _reent *r, void *p)
{
	free(p);
}

void *_calloc_r(struct _reent *r, size_t n, size_t size)
{
	return calloc(n, size);
}

void *_realloc_r(struct _reent *r, void *p, size_t n)
{
	return realloc(p, n);
}

void *_memalign_r(struct _reent *r, size_t align, size_t n)
{
	return memalign(align, n);
}

size_t _malloc_usable_size_r(struct _reent *r, void *p)
{
	return malloc_usable_size(p);
}
