/*
 * mem.c - the system calls for memory (weft/syscall.h, 40 to 43).  What they do to an
 * address space, and which errors that may give, stands with as_map, as_unmap,
 * as_protect and as_brk (kern/mm.h).
 */
#include <weft/mman.h>
#include <kern/mm.h>
#include <kern/proc.h>
#include <kern/syscall.h>

/*
 * mmap(addr, len, prot, flags, fd, off) = addr: anonymous memory, zero when first
 * touched.  fd and off are ignored for it.  -ENODEV: without WEFT_MAP_ANON; -EINVAL,
 * -ENOMEM as as_map.  May sleep.
 */
int64_t sys_mmap(const uint64_t arg[6])
{
	uint32_t flags = arg[3];
	if (!(flags & WEFT_MAP_ANON))
		return -ENODEV;
	return as_map(curproc()->as, arg[0], arg[1], arg[2], flags, NULL, 0, 0);
}

/* munmap(addr, len): -EINVAL, -ENOMEM as as_unmap.  May sleep. */
int64_t sys_munmap(const uint64_t arg[6])
{
	return as_unmap(curproc()->as, arg[0], arg[1]);
}

/* mprotect(addr, len, prot): -EINVAL, -ENOMEM, -EACCES as as_protect.  May sleep. */
int64_t sys_mprotect(const uint64_t arg[6])
{
	return as_protect(curproc()->as, arg[0], arg[1], arg[2]);
}

/* brk(addr) = the break, unchanged if it cannot be where addr says.  May sleep. */
int64_t sys_brk(const uint64_t arg[6])
{
	return as_brk(curproc()->as, arg[0]);
}
