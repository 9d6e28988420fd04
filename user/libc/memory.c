/*
 * memory.c - the break (malloc's arena), mappings, shared memory objects.
 *
 * The break is guarded by newlib's malloc lock, which is recursive: malloc holds it
 * when it calls sbrk.
 */
#include <fcntl.h>
#include <malloc.h>
#include <reent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/proc.h>
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
	if (r >= 0 && r != old + incr) /* the kernel returns the present break */
		r = -ENOMEM;
	return result(r) < 0 ? (void *)-1 : (void *)old;
}

/* Weak: a program with its own malloc has its own posix_memalign (libthread/malloc/malloc.c). */
__attribute__((weak)) int posix_memalign(void **out, size_t align, size_t size)
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

/* POSIX's MADV_DONTNEED is a hint, which must not discard written data. */
int posix_madvise(void *addr, size_t len, int advice)
{
	return -__sys_madvise(addr, len, advice == POSIX_MADV_DONTNEED ? WEFT_MADV_NORMAL : advice);
}

/*
 * A mapped page stays in memory: weft has no paging.  So locking and unlocking only check their
 * arguments.  A page that was never touched is still allocated at its first touch.
 *
 * The range is widened to whole pages.  ENOMEM: not all of it is mapped.  (POSIX, mlock.)
 */
int mlock(const void *addr, size_t len)
{
	size_t off = (uintptr_t)addr % WEFT_PAGE_SIZE;

	if (len > SIZE_MAX - off)
		return fails(ENOMEM);
	if (len == 0)
		return 0;
	return result(__sys_madvise((char *)addr - off, len + off, WEFT_MADV_WILLNEED));
}

int munlock(const void *addr, size_t len)
{
	return mlock(addr, len);
}

/* EINVAL: flags.  (POSIX, mlockall.) */
int mlockall(int flags)
{
	if (flags == 0 || (flags & ~(MCL_CURRENT | MCL_FUTURE)))
		return fails(EINVAL);
	return 0;
}

int munlockall(void)
{
	return 0;
}

int msync(void *addr, size_t len, int flags)
{
	pthread_testcancel();
	return result(__sys_msync(addr, len, flags));
}

/* --- shared memory objects: files in SHM_DIR ---------------------------------------- */

#define SHM_DIR "/tmp"

/* Checks "/name", with no other slash.  -1: another form. */
static int shm_path(const char *name, char path[WEFT_PATH_MAX])
{
	while (*name == '/')
		name++;
	if (*name == '\0' || strchr(name, '/'))
		return fails(EINVAL);
	if (strlen(name) > WEFT_NAME_MAX - strlen(".shm."))
		return fails(ENAMETOOLONG);
	snprintf(path, WEFT_PATH_MAX, SHM_DIR "/.shm.%s", name);
	return 0;
}

/* EINVAL, ENAMETOOLONG: the name; errors of open. */
int shm_open(const char *name, int flags, mode_t mode)
{
	char path[WEFT_PATH_MAX];

	if (shm_path(name, path) < 0)
		return -1;
	return result(__sys_open(path, flags | O_CLOEXEC, mode));
}

int shm_unlink(const char *name)
{
	char path[WEFT_PATH_MAX];

	if (shm_path(name, path) < 0)
		return -1;
	return unlink(path);
}
