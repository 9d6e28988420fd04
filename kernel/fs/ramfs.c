/*
 * ramfs.c - directories and regular files in memory.
 *
 * The tree is built by the boot CPU before the first process starts and does not
 * change afterwards: readers take no lock.  Users cannot write it (regular files
 * and directories have no write operation: -EROFS).  A file's bytes are not
 * copied: they stay where the initial RAM disk lies.
 *
 * A directory sorts its entries twice: by name, for lookup, and by cookie, for
 * readdir.  A cookie is a number given to an entry for good, so a position in a
 * directory stays good whatever is added, and finding it again is O(log n).
 *
 * An entry holds its vnode, and a directory's parent outlives it (no directory is
 * ever removed), so the parent pointer needs no hold.
 */
#include <weft/errno.h>
#include <kern/mm.h>
#include <kern/printk.h>
#include "fs.h"

#define RAMFS_DEV 1

struct ramfs_file {
	struct vnode vn;
	const uint8_t *bytes;
};

struct ramfs_dir {
	struct vnode vn;
	struct ramfs_dir *parent; /* the root: itself */
	struct tree by_name, by_cookie;
	uint64_t next_cookie;
};

struct ramfs_entry {
	struct tree_node by_name, by_cookie;
	uint64_t cookie;
	struct vnode *vn; /* held */
	uint16_t len;
	char name[]; /* len bytes */
};

/* Cookies 0 and 1 are "." and "..". */
#define FIRST_COOKIE 2

static uint64_t next_ino = 1;

static const struct vnode_ops dir_ops, file_ops;

static struct ramfs_dir *to_dir(struct vnode *vn)
{
	debug_assert(vn->ops == &dir_ops);
	return (struct ramfs_dir *)vn;
}

static struct ramfs_file *to_file(struct vnode *vn)
{
	debug_assert(vn->ops == &file_ops);
	return (struct ramfs_file *)vn;
}

static void init_vnode(struct vnode *vn, const struct vnode_ops *ops, uint32_t mode, uint64_t mtime)
{
	vn->ops = ops;
	vn->refs = 1;
	vn->mode = mode;
	vn->mtime = mtime;
	vn->ino = next_ino++;
	vn->dev = RAMFS_DEV;
}

/* --- entries ------------------------------------------------------------------ */

static int compare_names(const char *a, size_t alen, const char *b, size_t blen)
{
	int c = memcmp(a, b, MIN(alen, blen));
	return c != 0 ? c : (alen > blen) - (alen < blen);
}

static int cmp_name(const struct tree_node *na, const struct tree_node *nb)
{
	const struct ramfs_entry *a = CONTAINER_OF(na, struct ramfs_entry, by_name);
	const struct ramfs_entry *b = CONTAINER_OF(nb, struct ramfs_entry, by_name);
	return compare_names(a->name, a->len, b->name, b->len);
}

static int cmp_cookie(const struct tree_node *na, const struct tree_node *nb)
{
	uint64_t a = CONTAINER_OF(na, struct ramfs_entry, by_cookie)->cookie;
	uint64_t b = CONTAINER_OF(nb, struct ramfs_entry, by_cookie)->cookie;
	return (a > b) - (a < b);
}

static struct ramfs_entry *find_name(struct ramfs_dir *d, const char *name, size_t len)
{
	struct tree_node *n = d->by_name.root;
	while (n != NULL) {
		struct ramfs_entry *e = CONTAINER_OF(n, struct ramfs_entry, by_name);
		int c = compare_names(name, len, e->name, e->len);
		if (c == 0)
			return e;
		n = n->child[c > 0];
	}
	return NULL;
}

/* The first entry whose cookie is `from` or more. */
static struct ramfs_entry *find_cookie(struct ramfs_dir *d, uint64_t from)
{
	struct tree_node *n = d->by_cookie.root;
	struct ramfs_entry *best = NULL;
	while (n != NULL) {
		struct ramfs_entry *e = CONTAINER_OF(n, struct ramfs_entry, by_cookie);
		if (e->cookie >= from)
			best = e;
		n = n->child[e->cookie < from];
	}
	return best;
}

static int add_entry(struct ramfs_dir *d, const char *name, size_t len, struct vnode *vn)
{
	debug_assert(len > 0 && len <= WEFT_NAME_MAX);
	if (find_name(d, name, len) != NULL)
		return -EEXIST;
	struct ramfs_entry *e = kmalloc(sizeof(*e) + len);
	if (e == NULL)
		return -ENOMEM;
	vnode_hold(vn);
	e->vn = vn;
	e->len = len;
	e->cookie = d->next_cookie++;
	memcpy(e->name, name, len);
	tree_insert(&d->by_name, &e->by_name, cmp_name);
	tree_insert(&d->by_cookie, &e->by_cookie, cmp_cookie);
	return 0;
}

/* --- operations of directories --------------------------------------------------- */

static int dir_lookup(struct vnode *vn, const char *name, size_t len, struct vnode **out)
{
	struct ramfs_dir *d = to_dir(vn);

	if (len == 2 && memcmp(name, "..", 2) == 0) {
		*out = &d->parent->vn;
	} else {
		struct ramfs_entry *e = find_name(d, name, len);
		if (e == NULL)
			return -ENOENT;
		*out = e->vn;
	}
	vnode_hold(*out);
	return 0;
}

static int64_t dir_readdir(struct vnode *vn, uint64_t *pos, void *buf, size_t size)
{
	struct ramfs_dir *d = to_dir(vn);
	const char *name = "..";
	size_t len;
	const struct vnode *what;
	uint64_t cookie = *pos;

	if (cookie < FIRST_COOKIE) {
		len = cookie + 1;
		what = cookie == 0 ? vn : &d->parent->vn;
	} else {
		struct ramfs_entry *e = find_cookie(d, cookie);
		if (e == NULL)
			return 0;
		cookie = e->cookie;
		name = e->name;
		len = e->len;
		what = e->vn;
	}

	size_t need = (offsetof(struct weft_dirent, name) + len + 1 + 7) & ~7ull;
	if (need > size)
		return -EINVAL;
	memset(buf, 0, need);
	struct weft_dirent *out = buf;
	out->ino = what->ino;
	out->reclen = need;
	out->type = (what->mode & WEFT_S_IFMT) >> 12;
	memcpy(out->name, name, len);
	*pos = cookie + 1;
	return need;
}

static void dir_release(struct vnode *vn)
{
	struct ramfs_dir *d = to_dir(vn);
	assert(tree_first(&d->by_cookie) == NULL);
	kfree(d);
}

static const struct vnode_ops dir_ops = {
	.lookup = dir_lookup,
	.readdir = dir_readdir,
	.release = dir_release,
};

/* --- operations of files ------------------------------------------------------------ */

static int64_t file_read(struct vnode *vn, uint64_t off, void *buf, size_t n)
{
	if (off >= vn->size)
		return 0;
	n = MIN(n, vn->size - off);
	memcpy(buf, to_file(vn)->bytes + off, n);
	return n;
}

static void file_release(struct vnode *vn)
{
	kfree(to_file(vn));
}

static const struct vnode_ops file_ops = {
	.read = file_read,
	.release = file_release,
};

/* --- building the tree (fs.h) ---------------------------------------------------------- */

static struct ramfs_dir *new_dir(uint32_t mode, uint64_t mtime)
{
	struct ramfs_dir *d = kzalloc(sizeof(*d));
	if (d == NULL)
		return NULL;
	init_vnode(&d->vn, &dir_ops, WEFT_S_IFDIR | (mode & 07777), mtime);
	d->vn.nlink = 2; /* its name and its "." */
	d->next_cookie = FIRST_COOKIE;
	return d;
}

struct vnode *ramfs_root(void)
{
	struct ramfs_dir *d = new_dir(0755, 0);
	if (d == NULL)
		return NULL;
	d->parent = d;
	return &d->vn;
}

int ramfs_mkdir(struct vnode *parent, const char *name, size_t len, uint32_t mode, uint64_t mtime,
		struct vnode **out)
{
	struct ramfs_dir *d = new_dir(mode, mtime);
	if (d == NULL)
		return -ENOMEM;
	d->parent = to_dir(parent);
	int err = add_entry(d->parent, name, len, &d->vn);
	if (err == 0) {
		parent->nlink++; /* for the new one's ".." */
		vnode_hold(&d->vn);
		*out = &d->vn;
	}
	vnode_rele(&d->vn);
	return err;
}

int ramfs_link(struct vnode *dir, const char *name, size_t len, struct vnode *vn)
{
	int err = add_entry(to_dir(dir), name, len, vn);
	if (err == 0)
		vn->nlink++;
	return err;
}

int ramfs_replace(struct vnode *dir, const char *name, size_t len, struct vnode *vn)
{
	struct ramfs_entry *e = find_name(to_dir(dir), name, len);
	if (e == NULL)
		return ramfs_link(dir, name, len, vn);
	if (e->vn->ops == &dir_ops)
		return -EEXIST;
	struct vnode *old = e->vn;
	vnode_hold(vn);
	vn->nlink++;
	e->vn = vn;
	old->nlink--;
	vnode_rele(old);
	return 0;
}

struct vnode *ramfs_file(uint32_t mode, uint64_t mtime)
{
	struct ramfs_file *f = kzalloc(sizeof(*f));
	if (f == NULL)
		return NULL;
	init_vnode(&f->vn, &file_ops, WEFT_S_IFREG | (mode & 07777), mtime);
	return &f->vn;
}

void ramfs_set_content(struct vnode *file, const void *bytes, uint64_t size)
{
	to_file(file)->bytes = bytes;
	file->size = size;
}
