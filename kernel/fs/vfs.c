/*
 * vfs.c - vnodes, mounts and paths.
 *
 * A vnode's count is atomic and needs no lock; the drop to 0 orders all earlier use before
 * the release.  Mounts are made at boot by CPU 0 alone and never change, so they need no lock.
 *
 * A path is resolved a name at a time, with a hold of the current directory and no
 * lock between the steps.  Other LWPs may change the tree meanwhile; each step sees it as it
 * is then.  A symbolic link's text takes the place of its name in the path.
 */
#include <weft/errno.h>
#include <kern/boot.h>
#include <kern/cache.h>
#include <kern/layout.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include "fs.h"

static struct vnode *root;
static struct list mounts = LIST_INIT(mounts);

void vnode_read(struct vnode *vn)
{
	__atomic_store_n(&vn->atime, time_real(), __ATOMIC_RELAXED);
}

void vnode_written(struct vnode *vn)
{
	uint64_t now = time_real();

	__atomic_store_n(&vn->mtime, now, __ATOMIC_RELAXED);
	__atomic_store_n(&vn->ctime, now, __ATOMIC_RELAXED);
}

void vnode_hold(struct vnode *vn)
{
	uint32_t was = __atomic_fetch_add(&vn->refs, 1, __ATOMIC_RELAXED);
	debug_assert(was > 0);
	(void)was;
}

bool vnode_unhold(struct vnode *vn)
{
	uint32_t was = __atomic_fetch_sub(&vn->refs, 1, __ATOMIC_RELEASE);
	debug_assert(was > 0);
	if (was != 1)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return true;
}

void vnode_rele(struct vnode *vn)
{
	if (vnode_unhold(vn))
		vn->ops->release(vn);
}

uint32_t vfs_new_dev(void)
{
	static uint32_t last;
	return ++last;
}

struct vnode *vfs_root(void)
{
	return root;
}

static bool vnode_is_dir(const struct vnode *vn)
{
	return vnode_is(vn, WEFT_S_IFDIR);
}

int64_t dirent_put(void *buf, size_t size, const char *name, size_t len, uint64_t ino,
		   uint32_t mode)
{
	size_t need = (offsetof(struct weft_dirent, name) + len + 1 + 7) & ~7ull;
	if (need > size)
		return -EINVAL;
	memset(buf, 0, need);
	struct weft_dirent *out = buf;
	out->ino = ino;
	out->reclen = need;
	out->type = (mode & WEFT_S_IFMT) >> 12;
	memcpy(out->name, name, len);
	return need;
}

/* --- one step ---------------------------------------------------------------------------- */

/* Finds the entry `name` of dir, or the root of what is mounted there. */
static int walk_step(struct vnode *dir, const char *name, size_t len, struct vnode **out)
{
	int err = dir->ops->lookup(dir, name, len, out);
	if (err != 0)
		return err;
	struct mount *m = (*out)->mount;
	if (m != NULL && m->covered == *out) {
		vnode_hold(m->root);
		vnode_rele(*out);
		*out = m->root;
	}
	return 0;
}

/* Finds the parent of dir; the parent of the root is the root. */
static int step_up(struct vnode *dir, struct vnode **out)
{
	struct mount *m = dir->mount;
	if (m != NULL && m->root == dir && m->covered != NULL)
		dir = m->covered;
	return dir->ops->lookup(dir, "..", 2, out);
}

/* --- paths ------------------------------------------------------------------------------- */

/* The state of a path's resolution. */
struct walk {
	struct vnode *at; /* the current directory of the walk, held */
	const char *path; /* the rest of the path */
	char *buf;        /* kmalloc'ed text that path points into, or NULL */
	unsigned links;   /* symbolic links met so far */
};

/* Replaces the path by the text of the link vn, and `rest` behind it. */
static int walk_follow(struct walk *w, struct vnode *vn, const char *rest)
{
	if (++w->links > VFS_SYMLINKS_MAX)
		return -ELOOP;
	char *buf = kmalloc(WEFT_PATH_MAX);
	if (buf == NULL)
		return -ENOMEM;
	size_t more = strlen(rest) + 1;
	int len = vn->ops->readlink ? vn->ops->readlink(vn, buf, WEFT_PATH_MAX) : -EINVAL;
	if (len == 0)
		len = -ENOENT;
	else if (len > 0 && len + more > WEFT_PATH_MAX)
		len = -ENAMETOOLONG;
	if (len < 0) {
		kfree(buf);
		return len;
	}
	memcpy(buf + len, rest, more);
	kfree(w->buf);
	w->buf = buf;
	w->path = buf;
	if (*buf == '/') {
		vnode_rele(w->at);
		w->at = root;
		vnode_hold(root);
	}
	return 0;
}

/*
 * Resolves the whole path.  0: *vn is what it names, held, or NULL if w->at has no such entry.
 * *name and *len are the last name (*len 0: the path has none); *slash: a slash follows it.  "."
 * is a name like others.  After "..", w->at is not the directory of the name.
 */
static int walk_path(struct walk *w, bool follow_last, struct vnode **vn, const char **name,
		     size_t *len, bool *slash)
{
	for (;;) {
		preempt_point(); /* between two names no lock is held, only w->at */
		while (*w->path == '/')
			w->path++;
		const char *first = w->path;
		while (*w->path != '\0' && *w->path != '/')
			w->path++;
		const char *rest = w->path;
		while (*w->path == '/')
			w->path++;
		bool last = *w->path == '\0';

		*name = first;
		*len = rest - first;
		*slash = *rest == '/';
		*vn = NULL;
		if (!vnode_is_dir(w->at))
			return -ENOTDIR;
		if (*len > WEFT_NAME_MAX)
			return -ENAMETOOLONG;

		int err = 0;
		if (*len == 0 || (*len == 1 && *first == '.'))
			vnode_hold(*vn = w->at);
		else if (*len == 2 && first[0] == '.' && first[1] == '.')
			err = step_up(w->at, vn);
		else
			err = walk_step(w->at, first, *len, vn);
		if (err == -ENOENT && last) {
			*vn = NULL;
			return 0;
		}
		if (err != 0)
			return err;
		if (vnode_is(*vn, WEFT_S_IFLNK) && (!last || follow_last || *slash)) {
			err = walk_follow(w, *vn, rest);
			vnode_rele(*vn);
			if (err != 0)
				return err;
			continue;
		}
		if (last) {
			if (*slash && !vnode_is_dir(*vn)) {
				vnode_rele(*vn);
				return -ENOTDIR;
			}
			return 0;
		}
		vnode_rele(w->at);
		w->at = *vn;
	}
}

static int walk_start(struct walk *w, struct vnode *cwd, const char *path)
{
	if (strnlen(path, WEFT_PATH_MAX) == WEFT_PATH_MAX)
		return -ENAMETOOLONG;
	if (*path == '\0')
		return -ENOENT;
	*w = (struct walk){.at = *path == '/' ? root : cwd, .path = path};
	vnode_hold(w->at);
	return 0;
}

int vfs_lookup(struct vnode *cwd, const char *path, struct vnode **out)
{
	struct walk w;
	const char *name;
	size_t len;
	bool slash;

	int err = walk_start(&w, cwd, path);
	if (err != 0)
		return err;
	err = walk_path(&w, true, out, &name, &len, &slash);
	if (err == 0 && *out == NULL)
		err = -ENOENT;
	vnode_rele(w.at);
	kfree(w.buf);
	return err;
}

int vfs_resolve(struct vnode *cwd, const char *path, bool follow_last, struct vfs_name *out)
{
	struct walk w;
	const char *name;

	int err = walk_start(&w, cwd, path);
	if (err != 0)
		return err;
	err = walk_path(&w, follow_last, &out->vn, &name, &out->len, &out->slash);
	if (err == 0) {
		memcpy(out->name, name, out->len);
		out->name[out->len] = '\0';
		out->last_dot = strcmp(out->name, ".") == 0;
		bool none = out->len == 0 || out->last_dot || strcmp(out->name, "..") == 0;
		out->dir = none ? NULL : w.at;
		if (none && out->vn == NULL)
			err = -ENOENT; /* ".." of a directory that was removed */
	}
	if (err != 0 || out->dir == NULL)
		vnode_rele(w.at);
	kfree(w.buf);
	return err;
}

void vfs_name_rele(struct vfs_name *n)
{
	if (n->dir != NULL)
		vnode_rele(n->dir);
	if (n->vn != NULL)
		vnode_rele(n->vn);
}

int64_t vfs_path(struct vnode *dir, char *buf, size_t size)
{
	char *name = kmalloc(WEFT_NAME_MAX + 1);
	size_t at = size; /* buf[at..size) is the path so far */
	int err = name == NULL ? -ENOMEM : size == 0 ? -ERANGE : 0;

	if (err == 0)
		buf[--at] = '\0';
	vnode_hold(dir);
	while (err == 0 && dir != root) {
		struct vnode *up;
		struct mount *m = dir->mount;
		if (m != NULL && m->root == dir) {
			vnode_hold(m->covered);
			vnode_rele(dir);
			dir = m->covered;
			continue;
		}
		err = dir->ops->where(dir, name, &up);
		if (err != 0)
			break;
		vnode_rele(dir);
		dir = up;
		size_t len = strlen(name);
		if (len + 1 > at) {
			err = -ERANGE;
			break;
		}
		at -= len;
		memcpy(buf + at, name, len);
		buf[--at] = '/';
	}
	vnode_rele(dir);
	kfree(name);
	if (err == 0 && size - at == 1) {
		if (at == 0)
			err = -ERANGE;
		else
			buf[--at] = '/';
	}
	if (err != 0)
		return err;
	memmove(buf, buf + at, size - at);
	return size - at;
}

/* --- mounts ------------------------------------------------------------------------------ */

int vfs_mount(struct mount *m, const char *path)
{
	struct vnode *dir;
	int err = vfs_lookup(root, path, &dir);
	if (err != 0)
		return err;
	if (!vnode_is_dir(dir) || dir->mount != NULL) {
		err = vnode_is_dir(dir) ? -EBUSY : -ENOTDIR;
		vnode_rele(dir);
		return err;
	}
	m->covered = dir;
	m->root->mount = m;
	dir->mount = m;
	list_push_back(&mounts, &m->link);
	return 0;
}

const struct mount *vfs_mount_at(unsigned n, char *path, size_t size)
{
	LIST_FOREACH (&mounts, m, struct mount, link)
		if (n-- == 0)
			return vfs_path(m->root, path, size) > 0 ? m : NULL;
	return NULL;
}

void vfs_init(void)
{
	static struct mount root_mount = {.type = "tmpfs", .in_memory = true};

	if (boot_info.initrd_size == 0)
		panic("no initial RAM disk: give QEMU -initrd, or GRUB a module2 line");
	pipe_init();
	root = tmpfs_new();
	if (root == NULL)
		panic("out of memory for the root directory");
	root_mount.root = root;
	root->mount = &root_mount;
	list_push_back(&mounts, &root_mount.link);
	initrd_unpack(root, phys_to_virt(boot_info.initrd), boot_info.initrd_size);
	devfs_init();
	procfs_init();
}
