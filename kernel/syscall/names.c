/*
 * names.c - the system calls that change directories and what files say of themselves.
 *
 * Path errors, which each call that takes a path may give: EFAULT: it cannot be read;
 * ENAMETOOLONG: more than WEFT_PATH_MAX bytes, or WEFT_NAME_MAX in a name; ENOENT: a name is not
 * there; ENOTDIR: one that must be a directory's is none; ELOOP: more than VFS_SYMLINKS_MAX
 * symbolic links; ENOMEM: no memory.
 *
 * All may sleep, none blocks for long.  There is one user, who may do everything: permissions
 * are kept and shown.
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

/* Why a name without a directory ("/", ".", "..") cannot be removed or renamed. */
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
 * Path errors; EEXIST: the name is there; ENOSPC: no memory for it; EROFS: nothing can be made
 * there.
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
 * rmdir(path).  Whoever is in the directory stays there; nothing can be made in it any more.
 * Path errors; ENOTDIR: also no directory; ENOTEMPTY: there is something in it; EINVAL: the
 * last name is "." or ".."; EBUSY: the root, or a mount; EROFS: nothing can be removed there.
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
 * unlink(path): takes the name away; the file goes when nobody has it open or mapped any more.
 * Path errors; EPERM: a directory; EROFS: nothing can be removed there.
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

/* A new name that must not be there and is no directory's. */
static int check_new(const struct vfs_name *n)
{
	return n->vn != NULL ? -EEXIST : n->slash ? -ENOENT : 0;
}

/*
 * link(old, new): one more name for a file; a symbolic link as `old` is not followed.
 * Path errors; EEXIST: new is there; EPERM: a directory; EXDEV: another file system; ENOSPC:
 * no memory for the name; EROFS: nothing can be made there.
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
 * symlink(target, path): target may be anything that is not empty.
 * Path errors; EEXIST: path is there; ENOSPC: no memory for it; EROFS: nothing can be made
 * there.
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
 * Path errors; EFAULT: also buffer; EINVAL: no symbolic link, or n is 0.
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
 * rename(old, new): in one step; what had the new name loses it.  Nothing happens if both are
 * names of one file.
 * Path errors; EISDIR: new is a directory, old is not; ENOTDIR: also the reverse; ENOTEMPTY:
 * the new name's directory; EINVAL: a directory into itself, or "."  or ".."; EBUSY: the root, or
 * a mount; EXDEV: another file system; ENOSPC: no memory for the name; EROFS: nothing can be
 * changed there.
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

/* --- what a file says of itself -------------------------------------------------------- */

static int set_attr(struct vnode *vn, const struct vattr *a)
{
	return vn->ops->setattr == NULL ? -EROFS : vn->ops->setattr(vn, a);
}

/* chmod(path, mode).  Path errors; EROFS: a file whose mode cannot change. */
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

/* fchmod(fd, mode).  EBADF: no such descriptor; EROFS: a file whose mode cannot change. */
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

/* One time of the two; the bit `which` of a->set, if it changes.  -EINVAL. */
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

/* Two struct weft_timespec (or none: now) in user memory.  -EFAULT, -EINVAL. */
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
 * utimens(path, const struct weft_timespec[2], follow): time of the last access and of the
 * last change; NULL: both now; nsec may be WEFT_UTIME_NOW or WEFT_UTIME_OMIT.  follow 0: a
 * symbolic link's own.
 * Path errors; EFAULT: also the times; EINVAL: no time; EROFS: a file whose times cannot
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
 * EBADF: no such descriptor; EFAULT: the times; EINVAL: no time; EROFS: a file whose times
 * cannot change.
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
 * truncate(path, size): shorter, or longer with a hole.
 * Path errors; EISDIR: a directory; EINVAL: a size below 0, a device; EFBIG: larger than a
 * file can be; EROFS: a file that cannot change.
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

/* umask(mask) = the old one: permissions that new files and directories do not get. */
int64_t sys_umask(const uint64_t arg[6])
{
	return __atomic_exchange_n(&my_files()->umask, arg[0] & 0777, __ATOMIC_RELAXED);
}

/*
 * mountinfo(n, struct weft_mount *): mount number n, from 0 on.
 * ENOENT: there are not so many; EFAULT: the structure; ENOMEM: no memory.
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
