/*
 * vfs.c - vnodes and paths.
 *
 * A vnode is alive while its count is not 0: whoever keeps a pointer to one has
 * a hold, taken from someone who had one.  Counts are atomic and need no lock;
 * the drop to 0 orders all earlier use before the release.
 *
 * There are no symbolic links, so ".." is the directory that holds this one and
 * a path never loops.
 */
#include <weft/errno.h>
#include <kern/boot.h>
#include <kern/mm.h>
#include <kern/printk.h>
#include "fs.h"

static struct vnode *root;

void vnode_hold(struct vnode *vn)
{
	uint32_t was = __atomic_fetch_add(&vn->refs, 1, __ATOMIC_RELAXED);
	debug_assert(was > 0);
	(void)was;
}

void vnode_rele(struct vnode *vn)
{
	uint32_t was = __atomic_fetch_sub(&vn->refs, 1, __ATOMIC_RELEASE);
	debug_assert(was > 0);
	if (was == 1) {
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		vn->ops->release(vn);
	}
}

struct vnode *vfs_root(void)
{
	return root;
}

/*
 * Component by component; `dir` is held throughout.  A "/" at the end, and any
 * "." or "..", asks for a directory: "file/" and "file/." are -ENOTDIR.
 */
int vfs_lookup(struct vnode *cwd, const char *path, struct vnode **out)
{
	if (strnlen(path, WEFT_PATH_MAX) == WEFT_PATH_MAX)
		return -ENAMETOOLONG;
	if (*path == '\0')
		return -ENOENT;

	struct vnode *dir = *path == '/' ? root : cwd;
	vnode_hold(dir);
	for (;;) {
		bool slash = *path == '/';
		while (*path == '/')
			path++;
		if (slash && (dir->mode & WEFT_S_IFMT) != WEFT_S_IFDIR) {
			vnode_rele(dir);
			return -ENOTDIR;
		}
		if (*path == '\0') {
			*out = dir;
			return 0;
		}

		const char *name = path;
		while (*path != '\0' && *path != '/')
			path++;
		size_t len = path - name;
		if (len == 1 && *name == '.')
			continue;

		struct vnode *next;
		int err = -ENOTDIR;
		if (len > WEFT_NAME_MAX)
			err = -ENAMETOOLONG;
		else if (dir->ops->lookup != NULL)
			err = dir->ops->lookup(dir, name, len, &next);
		vnode_rele(dir);
		if (err != 0)
			return err;
		dir = next;
	}
}

void vfs_init(void)
{
	if (boot_info.initrd_size == 0)
		panic("no initial RAM disk: give QEMU -initrd, or GRUB a module2 line");
	pipe_init();
	root = ramfs_root();
	if (root == NULL)
		panic("out of memory for the root directory");
	initrd_unpack(root, phys_to_virt(boot_info.initrd), boot_info.initrd_size);
	devfs_init(root);
}
