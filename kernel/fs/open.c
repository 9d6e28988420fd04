/*
 * open.c - from a name to an open file: what open(2) does before there is a descriptor.
 */
#include <weft/errno.h>
#include <weft/file.h>
#include "fs.h"

#define OPEN_FLAGS                                                                                 \
	(WEFT_O_ACCMODE | WEFT_O_APPEND | WEFT_O_CREAT | WEFT_O_TRUNC | WEFT_O_EXCL |              \
	 WEFT_O_CLOEXEC | WEFT_O_DIRECTORY | WEFT_O_NOFOLLOW | WEFT_O_NONBLOCK | WEFT_O_NOCTTY |   \
	 WEFT_O_SYNC)

/* May vn, which existed before this open, be opened with these flags? */
static int check_open(const struct vnode *vn, uint32_t flags)
{
	bool writes = (flags & WEFT_O_ACCMODE) != WEFT_O_RDONLY;

	if ((flags & (WEFT_O_CREAT | WEFT_O_EXCL)) == (WEFT_O_CREAT | WEFT_O_EXCL))
		return -EEXIST;
	if (vnode_is(vn, WEFT_S_IFLNK))
		return -ELOOP;
	if (vnode_is(vn, WEFT_S_IFDIR))
		return writes || (flags & (WEFT_O_CREAT | WEFT_O_TRUNC)) ? -EISDIR : 0;
	if (flags & WEFT_O_DIRECTORY)
		return -ENOTDIR;
	if (writes && vn->ops->write == NULL && vn->ops->send == NULL)
		return -EROFS;
	if ((flags & WEFT_O_TRUNC) && vn->ops->truncate == NULL && !vnode_is_stream(vn))
		return -EROFS;
	return 0;
}

/*
 * Finds the file that `path` names, held.  Makes it if it does not exist and flags say so.
 *
 * *Race:* another LWP makes the file after this LWP has not found it; *without this:* the open
 * fails with EEXIST although it has no WEFT_O_EXCL; *closed by:* `raced`: it looks again.
 */
static int find_or_create(struct vnode *dir, const char *path, uint32_t flags, uint32_t mode,
			  struct vnode **out)
{
	bool follow = !(flags & WEFT_O_NOFOLLOW) &&
		      (flags & (WEFT_O_CREAT | WEFT_O_EXCL)) != (WEFT_O_CREAT | WEFT_O_EXCL);

	for (;;) {
		struct vfs_name n;
		int err = vfs_resolve(dir, path, follow, &n);
		if (err != 0)
			return err;
		if (n.vn != NULL) {
			err = check_open(n.vn, flags);
			if (err == 0 && (flags & WEFT_O_TRUNC) && !vnode_is_stream(n.vn))
				err = n.vn->ops->truncate(n.vn, 0);
			*out = n.vn;
			vnode_hold(n.vn);
		} else if (!(flags & WEFT_O_CREAT)) {
			err = -ENOENT;
		} else if (n.slash || (flags & WEFT_O_DIRECTORY)) {
			err = n.slash ? -EISDIR : -EINVAL;
		} else if (n.dir->ops->create == NULL) {
			err = -EROFS;
		} else {
			err = n.dir->ops->create(n.dir, n.name, n.len, mode, out);
		}
		if (err != 0 && n.vn != NULL)
			vnode_rele(n.vn);
		bool raced = err == -EEXIST && n.vn == NULL && !(flags & WEFT_O_EXCL);
		vfs_name_rele(&n);
		if (!raced)
			return err;
	}
}

int file_open_path(struct fdtable *t, struct vnode *dir, const char *path, uint32_t flags,
		   uint32_t mode, struct file **out)
{
	uint32_t mask = __atomic_load_n(&t->umask, __ATOMIC_RELAXED);
	struct vnode *vn;

	if ((flags & ~OPEN_FLAGS) != 0 || (flags & WEFT_O_ACCMODE) == WEFT_O_ACCMODE)
		return -EINVAL;
	int err = find_or_create(dir, path, flags, mode & 07777 & ~mask, &vn);
	if (err != 0)
		return err;
	err = file_open(vn, flags, out);
	if (err != 0)
		vnode_rele(vn);
	return err;
}
