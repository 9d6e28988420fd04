/*
 * memory.c - the break (malloc's arena) and anonymous mappings.
 *
 * The break is guarded by newlib's malloc lock, which is recursive: malloc holds it
 * when it calls sbrk.
 */
#include <malloc.h>
#include <reent.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "libc.h"

extern void __malloc_lock(struct _reent *);
extern void __malloc_unlock(struct _reent *);

void *sbrk(ptrdiff_t incr)
{
	long old, r;

	__malloc_lock(_REENT);
	old = __sys_brk(NULL);
	r = incr ? __sys_brk((char *)old + incr) : old;
	__malloc_unlock(_REENT);
	if (r >= 0 && r != old + incr) /* the kernel answers with where the break is */
		r = -ENOMEM;
	return result(r) < 0 ? (void *)-1 : (void *)old;
}

int posix_memalign(void **out, size_t align, size_t size)
{
	void *p;

	if (align < sizeof(void *) || (align & (align - 1)))
		return EINVAL;
	p = memalign(align, size);
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return (void *)result(__sys_mmap(addr, len, prot, flags, fd, off));
}

int munmap(void *addr, size_t len)
{
	return result(__sys_munmap(addr, len));
}

int mprotect(void *addr, size_t len, int prot)
{
	return result(__sys_mprotect(addr, len, prot));
}
