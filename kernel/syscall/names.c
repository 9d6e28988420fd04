/*
 * names.c - the system calls that change directories and the attributes of files.
 *
 * Path errors of each call with a path: EFAULT: it cannot be read; ENAMETOOLONG: more than
 * WEFT_PATH_MAX bytes, or WEFT_NAME_MAX in a name; ENOENT: a name does not exist; ENOTDIR: a name
 * that must be a directory is not; ELOOP: more than VFS_SYMLINKS_MAX symbolic links; ENOMEM: no
 * memory.
 *
 * All calls may sleep; none blocks for long.  There is one user, with all rights.  So permissions
 * are stored and shown, and not checked.
 */
#include <kern/cache.h>
#include <kern/page.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/usercopy.h>
#include "files.h"

/* Resolves a path in user memory.  Path errors. */
static int resolve_user(vaddr_t user, bool follow, struct vfs_name *out)
{
	char *path;
	int err = path_in(user, &path);
	if (err != 0)
		return err;
	err = fdtable_resolve(my_files(), path, follow, out);
	kfree(path);
	return err;
}

/* The error for a name without a directory ("/", ".", ".."), which cannot be removed or renamed. */
static int no_entry(const struct vfs_name *n)
{
	return n->len == 0 ? -EBUSY : -EINVAL;
}

static uint32_t mode_masked(uint32_t mode)
{
	return mode & 07777 & ~__atomic_load_n(&my_files()->umask, __ATOMIC_RELAXED);
}

/*
 * mkdir(path, mode).
 * Path errors; EEXIST: the name exists; ENOSPC: no memory for it; EROFS: the file system is
 * read-only.
 */
int64_t sys_mkdir(const uint64_t arg[6])
{
	struct vfs_name n;
	int err = resolve_user(arg[0], false, &n);
	if (err != 0)
		return err;
	if (n.vn != NULL)
		err = -EEXIST;
	else if (n.dir->ops->mkdir == NULL)
		err = -EROFS;
	else
		err = n.dir->ops->mkdir(n.dir, n.name, n.len, mode_masked(arg[1]));
	vfs_name_rele(&n);
	return err;
}

/*
 * rmdir(path).  A process that has it as its current directory keeps it.  No file can be created in
 * it any more.
 * Path errors; ENOTDIR: also not a directory; ENOTEMPTY: it is not empty; EINVAL: the last name is
 * "." or ".."; EBUSY: the root, or a mount; EROFS: the file system is read-only.
 */
int64_t sys_rmdir(const uint64_t arg[6])
{
	struct vfs_name n;
	int err = resolve_user(arg[0], false, &n);
	if (err != 0)
		return err;
	if (n.dir == NULL)
		err = no_entry(&n);
	else if (n.vn == NULL)
		err = -ENOENT;
	else if (!vnode_is_directory(n.vn))
		err = -ENOTDIR;
	else if (n.vn->mount != NULL)
		err = -EBUSY;
	else if (n.dir->ops->rmdir == NULL)
		err = -EROFS;
	else
		err = n.dir->ops->rmdir(n.dir, n.name, n.len);
	vfs_name_rele(&n);
	return err;
}

/*
 * unlink(path): removes the name.  The file is freed when no process has it open or mapped.
 * Path errors; EPERM: a directory; EROFS: the file system is read-only.
 */
int64_t sys_unlink(const uint64_t arg[6])
{
	struct vfs_name n;
	int err = resolve_user(arg[0], false, &n);
	if (err != 0)
		return err;
	if (n.vn == NULL)
		err = -ENOENT;
	else if (vnode_is_directory(n.vn))
		err = -EPERM;
	else if (n.dir->ops->unlink == NULL)
		err = -EROFS;
	else
		err = n.dir->ops->unlink(n.dir, n.name, n.len);
	vfs_name_rele(&n);
	return err;
}

/* Checks that a new name does not exist, and is not a name of a directory. */
static int check_new(const struct vfs_name *n)
{
	return n->vn != NULL ? -EEXIST : n->slash ? -ENOENT : 0;
}

/*
 * link(old, new): adds a name to a file; does not follow a symbolic link as `old`.
 * Path errors; EEXIST: new exists; EPERM: a directory; EXDEV: another file system; ENOSPC:
 * no memory for the name; EROFS: the file system is read-only.
 */
int64_t sys_link(const uint64_t arg[6])
{
	struct vfs_name old, to;
	int err = resolve_user(arg[0], false, &old);
	if (err != 0)
		return err;
	err = old.vn == NULL ? -ENOENT : resolve_user(arg[1], false, &to);
	if (err == 0) {
		err = check_new(&to);
		if (err == 0 && vnode_is_directory(old.vn))
			err = -EPERM;
		if (err == 0 && old.vn->dev != to.dir->dev)
			err = -EXDEV;
		if (err == 0 && to.dir->ops->link == NULL)
			err = -EROFS;
		if (err == 0)
			err = to.dir->ops->link(to.dir, to.name, to.len, old.vn);
		vfs_name_rele(&to);
	}
	vfs_name_rele(&old);
	return err;
}

/*
 * symlink(target, path): target may be any string that is not empty.
 * Path errors; EEXIST: path exists; ENOSPC: no memory for it; EROFS: the file system is
 * read-only.
 */
int64_t sys_symlink(const uint64_t arg[6])
{
	char *target;
	struct vfs_name n;
	int err = path_in(arg[0], &target);
	if (err != 0)
		return err;
	err = *target == '\0' ? -ENOENT : resolve_user(arg[1], false, &n);
	if (err == 0) {
		err = check_new(&n);
		if (err == 0)
			err = n.dir->ops->symlink == NULL
				      ? -EROFS
				      : n.dir->ops->symlink(n.dir, n.name, n.len, target);
		vfs_name_rele(&n);
	}
	kfree(target);
	return err;
}

/*
 * readlink(path, buffer, n) = bytes of the target, without a NUL, cut to n.
 * Path errors; EFAULT: also buffer; EINVAL: not a symbolic link, or n is 0.
 */
int64_t sys_readlink(const uint64_t arg[6])
{
	struct vfs_name n;
	int64_t r = resolve_user(arg[0], false, &n);
	if (r != 0)
		return r;
	char *buf = kmalloc(WEFT_PATH_MAX);
	if (buf == NULL)
		r = -ENOMEM;
	else if (n.vn == NULL)
		r = -ENOENT;
	else if (n.vn->ops->readlink == NULL || arg[2] == 0)
		r = -EINVAL;
	else
		r = n.vn->ops->readlink(n.vn, buf, MIN(arg[2], WEFT_PATH_MAX));
	if (r > 0 && copyout(arg[1], buf, r) != 0)
		r = -EFAULT;
	kfree(buf);
	vfs_name_rele(&n);
	return r;
}

static int check_rename(const struct vfs_name *old, const struct vfs_name *to)
{
	if (old->dir == NULL || to->dir == NULL)
		return no_entry(old->dir == NULL ? old : to);
	if (old->vn == NULL)
		return -ENOENT;
	if (!vnode_is_directory(old->vn) && to->slash)
		return -ENOTDIR;
	if (old->vn->mount != NULL || (to->vn != NULL && to->vn->mount != NULL))
		return -EBUSY;
	if (old->dir->dev != to->dir->dev)
		return -EXDEV;
	return old->dir->ops->rename == NULL ? -EROFS : 0;
}

/*
 * rename(old, new): gives the file the new name in one step.  A file that had the new name loses
 * it.  Does nothing if both are names of the same file.
 * Path errors; EISDIR: new is a directory, old is not; ENOTDIR: also old is a directory, new is
 * not; ENOTEMPTY: new is a directory that is not empty; EINVAL: a directory into itself, or "."
 * or ".."; EBUSY: the root, or a mount; EXDEV: another file system; ENOSPC: no memory for the
 * name; EROFS: the file system is read-only.
 */
int64_t sys_rename(const uint64_t arg[6])
{
	struct vfs_name *name = kmalloc(2 * sizeof(*name));
	if (name == NULL)
		return -ENOMEM;
	struct vfs_name *old = &name[0], *to = &name[1];
	int err = resolve_user(arg[0], false, old);
	if (err == 0) {
		err = resolve_user(arg[1], false, to);
		if (err == 0) {
			err = check_rename(old, to);
			if (err == 0)
				err = old->dir->ops->rename(old->dir, old->name, old->len, to->dir,
							    to->name, to->len);
			vfs_name_rele(to);
		}
		vfs_name_rele(old);
	}
	kfree(name);
	return err;
}

/* --- attributes of a file --------------------------------------------------------------- */

static int set_attr(struct vnode *vn, const struct vattr *a)
{
	return vn->ops->setattr == NULL ? -EROFS : vn->ops->setattr(vn, a);
}

/* chmod(path, mode).  Path errors; EROFS: the file's mode cannot change. */
int64_t sys_chmod(const uint64_t arg[6])
{
	const struct vattr a = {.set = VATTR_MODE, .mode = arg[1]};
	struct vnode *vn;
	int err = lookup_user(arg[0], &vn);
	if (err != 0)
		return err;
	err = set_attr(vn, &a);
	vnode_rele(vn);
	return err;
}

/* fchmod(fd, mode).  EBADF: no such descriptor; EROFS: the file's mode cannot change. */
int64_t sys_fchmod(const uint64_t arg[6])
{
	const struct vattr a = {.set = VATTR_MODE, .mode = arg[1]};
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	int err = set_attr(f->vn, &a);
	file_rele(f);
	return err;
}

/* Reads one of the two times to *to; sets the bit `which` of a->set if it changes.  -EINVAL. */
static int time_in(const struct weft_timespec *ts, uint64_t *to, unsigned which, struct vattr *a)
{
	if (ts->nsec == WEFT_UTIME_OMIT)
		return 0;
	a->set |= which;
	*to = time_real();
	if (ts->nsec == WEFT_UTIME_NOW)
		return 0;
	if (ts->nsec < 0 || ts->nsec >= 1000000000 || ts->sec < 0 ||
	    ts->sec > INT64_MAX / 1000000000 - 1)
		return -EINVAL;
	*to = ts->sec * 1000000000 + ts->nsec;
	return 0;
}

/* Reads two struct weft_timespec from user memory (NULL: both now).  -EFAULT, -EINVAL. */
static int times_in(vaddr_t user, struct vattr *a)
{
	struct weft_timespec ts[2] = {{0, WEFT_UTIME_NOW}, {0, WEFT_UTIME_NOW}};

	if (user != 0 && copyin(ts, user, sizeof(ts)) != 0)
		return -EFAULT;
	*a = (struct vattr){0};
	int err = time_in(&ts[0], &a->atime, VATTR_ATIME, a);
	return err != 0 ? err : time_in(&ts[1], &a->mtime, VATTR_MTIME, a);
}

/*
 * utimens(path, const struct weft_timespec[2], follow): sets the times of the last access and of
 * the last change; NULL: both now; nsec may be WEFT_UTIME_NOW or WEFT_UTIME_OMIT.  follow 0: does
 * not follow a symbolic link.
 * Path errors; EFAULT: also the times; EINVAL: a time is not valid; EROFS: the file's times cannot
 * change.
 */
int64_t sys_utimens(const uint64_t arg[6])
{
	struct vattr a;
	struct vfs_name n;
	int err = times_in(arg[1], &a);
	if (err == 0)
		err = resolve_user(arg[0], arg[2] != 0, &n);
	if (err != 0)
		return err;
	err = n.vn == NULL ? -ENOENT : set_attr(n.vn, &a);
	vfs_name_rele(&n);
	return err;
}

/*
 * futimens(fd, const struct weft_timespec[2]): as utimens.
 * EBADF: no such descriptor; EFAULT: the times; EINVAL: a time is not valid; EROFS: the file's
 * times cannot change.
 */
int64_t sys_futimens(const uint64_t arg[6])
{
	struct vattr a;
	int err = times_in(arg[1], &a);
	if (err != 0)
		return err;
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	err = set_attr(f->vn, &a);
	file_rele(f);
	return err;
}

static int truncate_vnode(struct vnode *vn, int64_t size)
{
	if (vnode_is_directory(vn))
		return -EISDIR;
	if (vnode_is_stream(vn))
		return -EINVAL;
	return vn->ops->truncate == NULL ? -EROFS : vn->ops->truncate(vn, size);
}

/*
 * truncate(path, size): makes the file shorter, or longer with a hole.
 * Path errors; EISDIR: a directory; EINVAL: a size below 0, a device; EFBIG: larger than a
 * file can be; EROFS: the file cannot change.
 */
int64_t sys_truncate(const uint64_t arg[6])
{
	struct vnode *vn;
	int err = (int64_t)arg[1] < 0 ? -EINVAL : lookup_user(arg[0], &vn);
	if (err != 0)
		return err;
	err = truncate_vnode(vn, arg[1]);
	vnode_rele(vn);
	return err;
}

/*
 * ftruncate(fd, size): as truncate.
 * EBADF: no such descriptor; EINVAL: it is not open for writing, a size below 0, a device;
 * EFBIG: larger than a file can be.
 */
int64_t sys_ftruncate(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	int err = -EINVAL;
	if ((int64_t)arg[1] >= 0 && (file_flags(f) & WEFT_O_ACCMODE) != WEFT_O_RDONLY)
		err = truncate_vnode(f->vn, arg[1]);
	file_rele(f);
	return err;
}

/* umask(mask) = the old mask.  New files and directories do not get the permissions in the mask. */
int64_t sys_umask(const uint64_t arg[6])
{
	return __atomic_exchange_n(&my_files()->umask, arg[0] & 0777, __ATOMIC_RELAXED);
}

/*
 * mountinfo(n, struct weft_mount *): describes mount number n, from 0 on.
 * ENOENT: there is no mount n; EFAULT: the structure; ENOMEM: no memory.
 */
int64_t sys_mountinfo(const uint64_t arg[6])
{
	struct weft_mount *out = kzalloc(sizeof(*out));
	if (out == NULL)
		return -ENOMEM;
	int err = -ENOENT;
	const struct mount *m =
		arg[0] < UINT32_MAX ? vfs_mount_at(arg[0], out->path, sizeof(out->path)) : NULL;
	if (m != NULL) {
		strlcpy(out->type, m->type, sizeof(out->type));
		out->dev = m->root->dev;
		if (m->in_memory) {
			out->size = page_total() * PAGE_SIZE;
			out->free = page_free_count() * PAGE_SIZE;
		}
		err = copyout(arg[1], out, sizeof(*out));
	}
	kfree(out);
	return err;
}
