/*
 * devfs.c - /dev: the console, and null.  Devices are vnodes like any other,
 * entered into a directory of the root file system at boot.
 */
#include <weft/errno.h>
#include <kern/printk.h>
#include "fs.h"

#define DEVFS_DEV 2

static int64_t null_recv(struct vnode *vn, void *buf, size_t n, unsigned flags)
{
	return 0;
}

static int64_t null_send(struct vnode *vn, const void *buf, size_t n, unsigned flags)
{
	return n;
}

static const struct vnode_ops null_ops = {.recv = null_recv, .send = null_send};

static struct vnode null_vnode = {
	.ops = &null_ops,
	.refs = 1, /* for ever */
	.mode = WEFT_S_IFCHR | 0666,
	.rdev = 1 << 8 | 3,
};

static void add_device(struct vnode *dir, const char *name, struct vnode *vn, uint64_t ino)
{
	vn->dev = DEVFS_DEV;
	vn->ino = ino;
	int err = ramfs_replace(dir, name, strlen(name), vn);
	if (err != 0)
		panic("/dev/%s cannot be made: error %d", name, -err);
}

void devfs_init(struct vnode *root)
{
	struct vnode *dev;
	int err = root->ops->lookup(root, "dev", 3, &dev);
	if (err == -ENOENT)
		err = ramfs_mkdir(root, "dev", 3, 0755, 0, &dev);
	if (err != 0)
		panic("/dev cannot be made: error %d", -err);
	if (dev->ops->lookup == NULL)
		panic("the initial RAM disk has a file named dev");
	add_device(dev, "null", &null_vnode, 1);
	add_device(dev, "console", console_vnode(), 2);
	vnode_rele(dev);
}
