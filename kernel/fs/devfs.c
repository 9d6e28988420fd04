/*
 * devfs.c - /dev: the console, and the devices that need no hardware.  Devices are vnodes
 * like any other, in a tmpfs of their own.  What a device does:
 *
 *	null	a write takes everything; a read finds the end of the file
 *	zero	a write takes everything; a read gives zeros without end.  A mapping of it is
 *		anonymous memory, as programs of SVR4 get it
 *	full	as zero, except that a write fails: -ENOSPC
 *	random, urandom
 *		bytes of a generator (SplitMix64, Steele et al., OOPSLA 2014).  The boot seeds it
 *		from the clock.  It is for programs that want different numbers each time; in
 *		exact timing they are the same at each run.  Not for secrets
 */
#include <weft/errno.h>
#include <kern/printk.h>
#include <kern/timing.h>
#include "fs.h"

static int64_t null_recv(struct vnode *vn, void *buf, size_t n, unsigned flags)
{
	return 0;
}

static int64_t null_send(struct vnode *vn, const void *buf, size_t n, unsigned flags)
{
	return n;
}

static int64_t zero_recv(struct vnode *vn, void *buf, size_t n, unsigned flags)
{
	memset(buf, 0, n);
	return n;
}

static int64_t full_send(struct vnode *vn, const void *buf, size_t n, unsigned flags)
{
	return -ENOSPC;
}

static uint64_t random_state; /* atomic */

static int64_t random_recv(struct vnode *vn, void *buf, size_t n, unsigned flags)
{
	for (size_t done = 0; done < n; done += 8) {
		uint64_t z =
			__atomic_add_fetch(&random_state, 0x9e3779b97f4a7c15, __ATOMIC_RELAXED);
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		z ^= z >> 31;
		memcpy((char *)buf + done, &z, MIN(n - done, 8));
	}
	return n;
}

static const struct vnode_ops null_ops = {.recv = null_recv, .send = null_send};
static const struct vnode_ops zero_ops = {
	.recv = zero_recv, .send = null_send, .endless = true, .zeros = true};
static const struct vnode_ops full_ops = {.recv = zero_recv, .send = full_send, .endless = true};
static const struct vnode_ops random_ops = {
	.recv = random_recv, .send = null_send, .endless = true};

static const struct {
	const char *name;
	const struct vnode_ops *ops;
	unsigned minor; /* as in Linux; the major number is 1 */
} devices[] = {
	{"null", &null_ops, 3},     {"zero", &zero_ops, 5},      {"full", &full_ops, 7},
	{"random", &random_ops, 8}, {"urandom", &random_ops, 9},
};
static struct vnode device_vnodes[ARRAY_LEN(devices)];

static void add_device(struct vnode *dir, const char *name, struct vnode *vn, uint64_t ino)
{
	vn->dev = dir->dev;
	vn->ino = ino;
	vn->atime = vn->mtime = vn->ctime = time_real();
	int err = tmpfs_enter(dir, name, vn);
	if (err != 0)
		panic("/dev/%s cannot be made: error %d", name, -err);
}

void devfs_init(void)
{
	static struct mount mount = {.type = "devfs"};
	struct vnode *root = vfs_root();

	mount.root = tmpfs_new();
	if (mount.root == NULL)
		panic("out of memory for /dev");
	random_state = time_real();
	uint64_t ino = 1000; /* apart from those of the tmpfs's directories */
	for (unsigned i = 0; i < ARRAY_LEN(devices); i++) {
		struct vnode *vn = &device_vnodes[i];
		*vn = (struct vnode){
			.ops = devices[i].ops,
			.refs = 1, /* never released */
			.mode = WEFT_S_IFCHR | 0666,
			.rdev = 1 << 8 | devices[i].minor,
		};
		add_device(mount.root, devices[i].name, vn, ino++);
	}
	add_device(mount.root, "console", console_vnode(), ino++);
	int err = root->ops->mkdir(root, "dev", 3, 0755);
	if (err == 0 || err == -EEXIST)
		err = vfs_mount(&mount, "/dev");
	if (err != 0)
		panic("/dev cannot be mounted: error %d", -err);
}
