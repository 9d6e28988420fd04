/*
 * mem.c - the system calls for memory (weft/syscall.h, 40 to 45).  Their effects on an address
 * space and the errors of these are described with as_map, as_unmap, as_protect, as_discard and
 * as_brk (kern/space.h).
 */
#include <weft/mman.h>
#include <kern/proc.h>
#include <kern/space.h>
#include <kern/syscall.h>

/*
 * Gets the file of fd, if it may be mapped with this protection and these flags; *vn is held.
 * /dev/zero is anonymous memory, and gives NULL.  Adds flags for as_map to *flags.
 */
static int mapped_file(int fd, int prot, uint32_t *flags, struct vnode **vn)
{
	struct file *f = fd_get(&curproc()->files, fd);
	int err = 0;

	if (f == NULL)
		return -EBADF;
	uint32_t access = file_flags(f) & WEFT_O_ACCMODE;
	bool shared = *flags & WEFT_MAP_SHARED;
	bool zeros = f->vn->ops->zeros;
	*vn = zeros ? NULL : f->vn;
	if (!zeros && ((f->vn->mode & WEFT_S_IFMT) != WEFT_S_IFREG || f->vn->ops->read == NULL ||
		       (shared && f->vn->ops->getpage == NULL)))
		err = -ENODEV;
	else if (access == WEFT_O_WRONLY ||
		 (shared && (prot & WEFT_PROT_WRITE) && access != WEFT_O_RDWR))
		err = -EACCES;
	else if (shared && access != WEFT_O_RDWR)
		*flags |= AS_MAP_READONLY;
	if (err == 0 && !zeros)
		vnode_hold(*vn);
	file_rele(f);
	return err;
}

/*
 * mmap(addr, len, prot, flags, fd, off) = addr: maps a file, or anonymous memory, which is zero
 * when first touched (fd and off are ignored, or fd is /dev/zero).  A page of a private mapping
 * shows the file until the process writes to the page.  A shared mapping is the file.  The call
 * marks the file as read.  An access to a page beyond the end of the file gives SIGBUS; bytes after
 * the end in its last page are zero.  May sleep.
 * EINVAL: len is 0 or close to 2^64, prot or flags, addr or off is not a multiple of a page; EBADF:
 * no such descriptor; EACCES: it is not open for reading, or, for a shared mapping that can be
 * written, not for writing; ENODEV: the file cannot be mapped; EOVERFLOW: off + len is too large;
 * ENOMEM: no memory or no room for it, a fixed range outside user space, WEFT_RLIMIT_AS,
 * WEFT_MAPPINGS_MAX.
 */
int64_t sys_mmap(const uint64_t arg[6])
{
	uint64_t len = arg[1], off = arg[5];
	uint32_t flags = arg[3];
	struct vnode *vn;

	if (flags & AS_MAP_READONLY)
		return -EINVAL;
	if (flags & WEFT_MAP_ANON)
		return as_map(curproc()->as, arg[0], len, arg[2], flags, NULL, 0, 0);
	if (off > INT64_MAX || len > INT64_MAX - off)
		return -EOVERFLOW;
	int err = mapped_file(arg[4], arg[2], &flags, &vn);
	if (err != 0)
		return err;
	int64_t r = as_map(curproc()->as, arg[0], len, arg[2], flags, vn, off, UINT64_MAX);
	if (r >= 0 && vn != NULL)
		vnode_read(vn);
	if (vn != NULL)
		vnode_rele(vn);
	return r;
}

/*
 * munmap(addr, len): removes the mappings in the range, if there are any.  May sleep.
 * EINVAL: addr is not a multiple of a page, len is 0, or the range is outside user space; ENOMEM:
 * no memory to split a mapping, or WEFT_MAPPINGS_MAX.
 */
int64_t sys_munmap(const uint64_t arg[6])
{
	return as_unmap(curproc()->as, arg[0], arg[1]);
}

/*
 * mprotect(addr, len, prot): changes the protection of the range.  May sleep.
 * EINVAL: addr is not a multiple of a page, or prot; ENOMEM: not all of the range is mapped, no
 * memory to split a mapping, or for the pages that become writable, or WEFT_MAPPINGS_MAX; EACCES:
 * the kernel's pages, or writing to a shared mapping of a file that is not open for writing.
 */
int64_t sys_mprotect(const uint64_t arg[6])
{
	return as_protect(curproc()->as, arg[0], arg[1], arg[2]);
}

/*
 * brk(addr) = the break.  It is unchanged if it cannot be moved to addr (no memory,
 * WEFT_RLIMIT_DATA, WEFT_RLIMIT_AS, WEFT_MAPPINGS_MAX).  May sleep.
 */
int64_t sys_brk(const uint64_t arg[6])
{
	return as_brk(curproc()->as, arg[0]);
}

/*
 * madvise(addr, len, advice): WEFT_MADV_DONTNEED removes the pages of the range now.  At the next
 * access an anonymous private page is zero; any other page has the contents of the file or of the
 * shared memory.  Other advice is checked and ignored.  May sleep.
 * EINVAL: unknown advice, addr is not a multiple of a page, DONTNEED of the kernel's pages;
 * ENOMEM: not all of the range is mapped, or it ends beyond user space.
 */
int64_t sys_madvise(const uint64_t arg[6])
{
	switch (arg[2]) {
	case WEFT_MADV_NORMAL:
	case WEFT_MADV_RANDOM:
	case WEFT_MADV_SEQUENTIAL:
	case WEFT_MADV_WILLNEED:
		return as_check(curproc()->as, arg[0], arg[1]);
	case WEFT_MADV_DONTNEED:
		return as_discard(curproc()->as, arg[0], arg[1]);
	default:
		return -EINVAL;
	}
}

/*
 * msync(addr, len, flags): updates the times of change of each file that has been written through
 * a shared mapping in the range since the last msync.  Nothing else is to do, because a mapping of
 * a file is the file.  May sleep.
 * EINVAL: flags, or addr is not a multiple of a page; ENOMEM: not all of the range is mapped, or
 * it ends beyond user space.
 */
int64_t sys_msync(const uint64_t arg[6])
{
	const uint64_t all = WEFT_MS_ASYNC | WEFT_MS_INVALIDATE | WEFT_MS_SYNC;

	if ((arg[2] & ~all) || (arg[2] & all) == (WEFT_MS_ASYNC | WEFT_MS_SYNC))
		return -EINVAL;
	return as_sync(curproc()->as, arg[0], arg[1]);
}
