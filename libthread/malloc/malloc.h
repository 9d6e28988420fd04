/* malloc.h - the allocators behind malloc: newlib's, and the allocator of mt.c. */
#pragma once
#include <reent.h>
#include <stddef.h>

/* The library's own malloc and free, also in a program that defines its own. */
void *__libc_malloc(size_t n);
void *__libc_malloc_r(struct _reent *r, size_t n);
void __libc_free(void *p);

/* NULL: no memory (the caller sets errno).  Sizes may be 0. */
void *__mt_malloc(size_t n);
void *__mt_calloc(size_t n); /* bytes */
void *__mt_realloc(void *p, size_t n);
void *__mt_memalign(size_t align, size_t n); /* align: a power of 2 */
void __mt_free(void *p);
size_t __mt_usable(void *p);

/* Called around fork, with no other lock of this kind held; __mt_forked in the child. */
void __mt_before_fork(void), __mt_after_fork(void), __mt_forked(void);
