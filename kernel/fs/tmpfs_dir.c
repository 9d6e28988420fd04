/*
 * tmpfs_dir.c - directories of tmpfs, a file system in memory, and what changes them.
 *
 * An entry holds its vnode, and a directory holds its parent.  This circle is broken when the
 * directory is removed from its parent.  It is `dead` then: it stays empty, and is freed with
 * the last hold.  Its ".." still leads to the old parent.
 *
 * Locks.  d->lock, which sleeps, guards a directory's entries, d->dead, and its vnode's link
 * count.  d->parent and d->self change under the locks of both d and the parent.  d->parent
 * also needs fs->moves to change, so an LWP that holds fs->moves may go up the tree.
 *
 * Order.  A rename from one directory to another holds fs->moves.  Then directories' locks are
 * taken from the root downwards (a parent's before its child's).  If neither of two directories
 * is above the other, the one with the lower inode number comes first; this needs fs->moves too.
 * All other operations hold at most a parent and one child.
 *
 * *Race:* two renames move two directories, each into the other; *without this:* each is checked
 * before the other has moved, and both end in a circle without the root; *closed by:* fs->moves.
 *
 * A file's link count is atomic, because its names may be in several directories.
 */
#include <weft/errno.h>
#include <kern/cache.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include "tmpfs.h"

struct tmpfs_dir {
	struct vnode vn;
	struct tmpfs *fs;
	struct krwlock lock;
	struct tmpfs_dir *parent; /* held; the root: itself, without a hold */
	struct tmpfs_entry *self; /* its entry in the parent; NULL: the root, or dead */
	bool dead;
	struct names names;
};

/* The lowest inode number of a file that is not from the initial RAM disk. */
#define LATER_INO 10000

static const struct vnode_ops dir_ops;

static struct tmpfs_dir *to_dir(struct vnode *vn)
{
	debug_assert(vn->ops == &dir_ops);
	return (struct tmpfs_dir *)vn;
}

static bool tmpfs_is_dir(const struct vnode *vn)
{
	return vn->ops == &dir_ops;
}

static void set_time(uint64_t *time, uint64_t to)
{
	__atomic_store_n(time, to, __ATOMIC_RELAXED);
}

/* Sets the times of d after a change of its entries.  While the initial RAM disk is unpacked, the
 * archive gives the times of d instead. */
static void tmpfs_dir_touch(struct tmpfs_dir *d)
{
	if (d->fs->unpacking)
		return;
	uint64_t now = time_real();
	set_time(&d->vn.mtime, now);
	set_time(&d->vn.ctime, now);
}

void tmpfs_init_vnode(struct vnode *vn, struct tmpfs *fs, const struct vnode_ops *ops,
		      uint32_t mode)
{
	uint64_t now = time_real();
	*vn = (struct vnode){
		.ops = ops,
		.refs = 1,
		.mode = mode,
		.ino = __atomic_add_fetch(&fs->next_ino, 1, __ATOMIC_RELAXED),
		.dev = fs->dev,
		.atime = now,
		.mtime = now,
		.ctime = now,
	};
}

int tmpfs_setattr(struct vnode *vn, const struct vattr *a)
{
	/* No lock: each field is one word, and of two changes at a time one wins. */
	if (a->set & VATTR_MODE)
		__atomic_store_n(&vn->mode, (vn->mode & WEFT_S_IFMT) | (a->mode & 07777),
				 __ATOMIC_RELAXED);
	if (a->set & VATTR_ATIME)
		set_time(&vn->atime, a->atime);
	if (a->set & VATTR_MTIME)
		set_time(&vn->mtime, a->mtime);
	set_time(&vn->ctime, time_real());
	return 0;
}

/* --- entries ------------------------------------------------------------------ */

/* Makes e, which has a vnode and a hold of it, an entry of d.  d->lock held for writing. */
static void insert_entry(struct tmpfs_dir *d, struct tmpfs_entry *e)
{
	names_insert(&d->names, e, d->fs->unpacking);
	tmpfs_dir_touch(d);
}

/* The reverse.  The caller frees the entry and its hold. */
static void remove_entry(struct tmpfs_dir *d, struct tmpfs_entry *e)
{
	names_remove(&d->names, e);
	tmpfs_dir_touch(d);
}

/* --- link counts of files that are not directories ------------------------------------ */

/*
 * Counts one more name of a file.  created: the file is new.  False: the file has lost its last
 * name.
 *
 * *Race:* two LWPs link the file at the same time, in two directories; *without this:* one link
 * is not counted; *closed by:* the compare-and-exchange.
 */
static bool link_file(struct vnode *vn, bool created)
{
	uint32_t n = __atomic_load_n(&vn->nlink, __ATOMIC_RELAXED);
	do
		if (n == 0 && !created)
			return false;
	while (!__atomic_compare_exchange_n(&vn->nlink, &n, n + 1, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	return true;
}

static void unlink_file(struct vnode *vn)
{
	__atomic_fetch_sub(&vn->nlink, 1, __ATOMIC_RELAXED);
	set_time(&vn->ctime, time_real());
}

/* --- looking ------------------------------------------------------------------------ */

static int tmpfs_dir_lookup(struct vnode *vn, const char *name, size_t len, struct vnode **out)
{
	struct tmpfs_dir *d = to_dir(vn);
	int err = 0;

	krw_read_enter(&d->lock);
	if (len == 2 && memcmp(name, "..", 2) == 0) {
		*out = &d->parent->vn;
	} else {
		struct tmpfs_entry *e = names_find(&d->names, name, len);
		if (e != NULL)
			*out = e->vn;
		else
			err = -ENOENT;
	}
	if (err == 0)
		vnode_hold(*out);
	krw_read_exit(&d->lock);
	return err;
}

static int64_t tmpfs_dir_readdir(struct vnode *vn, uint64_t *pos, void *buf, size_t size)
{
	struct tmpfs_dir *d = to_dir(vn);
	uint64_t cookie = *pos;
	int64_t r = 0;

	krw_read_enter(&d->lock);
	if (cookie < FIRST_COOKIE) {
		r = dirent_put(buf, size, "..", cookie + 1,
			       cookie == 0 ? vn->ino : d->parent->vn.ino, WEFT_S_IFDIR);
	} else {
		const struct tmpfs_entry *e = names_from(&d->names, cookie);
		if (e != NULL) {
			cookie = e->cookie;
			r = dirent_put(buf, size, e->name, e->len, e->vn->ino, e->vn->mode);
		}
	}
	krw_read_exit(&d->lock);
	if (r > 0)
		*pos = cookie + 1;
	return r;
}

static int tmpfs_dir_where(struct vnode *vn, char *name, struct vnode **parent)
{
	struct tmpfs_dir *d = to_dir(vn);
	int err = -ENOENT;

	kmutex_enter(&d->fs->moves); /* so d->parent does not change */
	struct tmpfs_dir *p = d->parent;
	krw_read_enter(&p->lock);
	if (d->self != NULL) {
		memcpy(name, d->self->name, d->self->len);
		name[d->self->len] = '\0';
		*parent = &p->vn;
		vnode_hold(*parent);
		err = 0;
	}
	krw_read_exit(&p->lock);
	kmutex_exit(&d->fs->moves);
	return err;
}

/* --- making ------------------------------------------------------------------------- */

/*
 * Makes a new entry of d for vn, and takes over a hold of vn on success.  -EEXIST; -ENOENT: d, or
 * the file, has been removed meanwhile; -ENOSPC.
 */
static int tmpfs_entry_add(struct tmpfs_dir *d, const char *name, size_t len, struct vnode *vn,
			   bool created)
{
	struct tmpfs_entry *e = mm_spare(PG_USER | PG_STORE) ? names_entry(name, len) : NULL;
	if (e == NULL)
		return -ENOSPC;
	krw_write_enter(&d->lock);
	int err = 0;
	if (names_find(&d->names, name, len) != NULL)
		err = -EEXIST;
	else if (d->dead || (!tmpfs_is_dir(vn) && !link_file(vn, created)))
		err = -ENOENT;
	if (err == 0) {
		e->vn = vn;
		if (tmpfs_is_dir(vn)) {
			to_dir(vn)->self = e;
			d->vn.nlink++; /* for the ".." of the new directory */
		}
		insert_entry(d, e);
	}
	krw_write_exit(&d->lock);
	if (err != 0)
		kfree(e);
	return err;
}

static int tmpfs_dir_create(struct vnode *vn, const char *name, size_t len, uint32_t mode,
			    struct vnode **out)
{
	struct tmpfs_dir *d = to_dir(vn);
	struct vnode *file = tmpfs_file(d->fs, mode);
	if (file == NULL)
		return -ENOSPC;
	vnode_hold(file); /* for the caller */
	int err = tmpfs_entry_add(d, name, len, file, true);
	if (err != 0) {
		vnode_rele(file);
		vnode_rele(file);
		return err;
	}
	*out = file;
	return 0;
}

static int tmpfs_dir_symlink(struct vnode *vn, const char *name, size_t len, const char *target)
{
	struct tmpfs_dir *d = to_dir(vn);
	struct vnode *link = tmpfs_symlink(d->fs, target);
	if (link == NULL)
		return -ENOSPC;
	int err = tmpfs_entry_add(d, name, len, link, true);
	if (err != 0)
		vnode_rele(link);
	return err;
}

static int tmpfs_dir_link(struct vnode *vn, const char *name, size_t len, struct vnode *file)
{
	vnode_hold(file);
	int err = tmpfs_entry_add(to_dir(vn), name, len, file, false);
	if (err != 0)
		vnode_rele(file);
	else
		set_time(&file->ctime, time_real());
	return err;
}

int tmpfs_enter(struct vnode *dir, const char *name, struct vnode *vn)
{
	vnode_hold(vn);
	int err = tmpfs_entry_add(to_dir(dir), name, strlen(name), vn, true);
	if (err != 0)
		vnode_rele(vn);
	return err;
}

static struct tmpfs_dir *new_dir(struct tmpfs *fs, uint32_t mode)
{
	struct tmpfs_dir *d = kzalloc(sizeof(*d));
	if (d == NULL)
		return NULL;
	tmpfs_init_vnode(&d->vn, fs, &dir_ops, WEFT_S_IFDIR | (mode & 07777));
	d->vn.nlink = 2; /* its name and its "." */
	d->fs = fs;
	krw_init(&d->lock, "directory");
	names_init(&d->names, fs->unpacking);
	return d;
}

static int tmpfs_dir_mkdir(struct vnode *vn, const char *name, size_t len, uint32_t mode)
{
	struct tmpfs_dir *parent = to_dir(vn);
	struct tmpfs_dir *d = new_dir(parent->fs, mode);
	if (d == NULL)
		return -ENOSPC;
	d->parent = parent;
	vnode_hold(vn);
	int err = tmpfs_entry_add(parent, name, len, &d->vn, true);
	if (err != 0)
		vnode_rele(&d->vn);
	return err;
}

/* --- removing ----------------------------------------------------------------------- */

/* Frees an entry that was taken out of the tree.  Call it when no lock is held. */
static void tmpfs_entry_drop(struct tmpfs_entry *e)
{
	vnode_rele(e->vn);
	kfree(e);
}

/*
 * Makes d, a child of `parent`, dead, because it is to lose its name.  0, -ENOTEMPTY, -EBUSY.
 * The parent's lock is held for writing.
 */
static int tmpfs_dir_bury(struct tmpfs_dir *parent, struct tmpfs_dir *d)
{
	if (d->vn.mount != NULL)
		return -EBUSY;
	krw_write_enter(&d->lock);
	bool empty = names_empty(&d->names);
	if (empty) {
		d->dead = true;
		d->self = NULL;
		d->vn.nlink = 0;
		parent->vn.nlink--;
	}
	krw_write_exit(&d->lock);
	return empty ? 0 : -ENOTEMPTY;
}

static int tmpfs_dir_unlink(struct vnode *vn, const char *name, size_t len)
{
	struct tmpfs_dir *d = to_dir(vn);

	krw_write_enter(&d->lock);
	struct tmpfs_entry *e = names_find(&d->names, name, len);
	int err = e == NULL ? -ENOENT : tmpfs_is_dir(e->vn) ? -EPERM : 0;
	if (err == 0) {
		remove_entry(d, e);
		unlink_file(e->vn);
	}
	krw_write_exit(&d->lock);
	if (err == 0)
		tmpfs_entry_drop(e);
	return err;
}

static int tmpfs_dir_rmdir(struct vnode *vn, const char *name, size_t len)
{
	struct tmpfs_dir *d = to_dir(vn);

	krw_write_enter(&d->lock);
	struct tmpfs_entry *e = names_find(&d->names, name, len);
	int err = e == NULL             ? -ENOENT
		  : tmpfs_is_dir(e->vn) ? tmpfs_dir_bury(d, to_dir(e->vn))
					: -ENOTDIR;
	if (err == 0)
		remove_entry(d, e);
	krw_write_exit(&d->lock);
	if (err == 0)
		tmpfs_entry_drop(e);
	return err;
}

/* --- renaming ----------------------------------------------------------------------- */

/*
 * Is `a` the same as d, or above it?  fs->moves is held, unless a and d are the same: so the way
 * up does not change when this LWP gives up the CPU.
 */
static bool is_above(const struct tmpfs_dir *a, const struct tmpfs_dir *d)
{
	for (;; d = d->parent) {
		preempt_point();
		if (a == d)
			return true;
		if (d->parent == d)
			return false;
	}
}

/* Acquires both locks for writing, in the order given at the top. */
static void lock_both(struct tmpfs_dir *a, struct tmpfs_dir *b)
{
	if (a != b && (is_above(b, a) || (!is_above(a, b) && b->vn.ino < a->vn.ino))) {
		struct tmpfs_dir *first = b;
		b = a;
		a = first;
	}
	krw_write_enter(&a->lock);
	if (b != a)
		krw_write_enter(&b->lock);
}

/*
 * May `what`, an entry of `from`, become an entry of `to`, and replace `old` (or NULL)?
 * If old is a directory, it is dead after success.  Both locks are held.
 */
static int may_move(struct tmpfs_dir *from, struct vnode *what, struct tmpfs_dir *to,
		    struct vnode *old)
{
	if (to->dead)
		return -ENOENT;
	if (tmpfs_is_dir(what)) {
		if (what->mount != NULL)
			return -EBUSY;
		if (from != to && is_above(to_dir(what), to))
			return -EINVAL;
		if (old != NULL && !tmpfs_is_dir(old))
			return -ENOTDIR;
	} else if (old != NULL && tmpfs_is_dir(old)) {
		return -EISDIR;
	}
	if (old == NULL || !tmpfs_is_dir(old))
		return 0;
	/* If old is above `from`, the order of locks forbids to lock it.  It is not empty then. */
	if (from != to && is_above(to_dir(old), from))
		return -ENOTEMPTY;
	return tmpfs_dir_bury(to, to_dir(old));
}

/*
 * One step for every LWP that looks up the new name, because to->lock is held throughout.
 * -EINVAL: a directory into itself; -ENOTEMPTY, -ENOTDIR, -EISDIR: because of what has the new
 * name; -EBUSY: a mount.
 */
static int tmpfs_dir_rename(struct vnode *vn, const char *name, size_t len, struct vnode *to_vn,
			    const char *to_name, size_t to_len)
{
	struct tmpfs_dir *from = to_dir(vn), *to = to_dir(to_vn);
	struct tmpfs_entry *fresh = NULL, *old = NULL;
	int err = -ENOENT;

	/* A name that is not longer than the old one takes no memory for good. */
	if (to_len <= len || mm_spare(PG_USER | PG_STORE))
		fresh = names_entry(to_name, to_len);
	if (fresh == NULL)
		return -ENOSPC;
	if (from != to)
		kmutex_enter(&from->fs->moves);
	lock_both(from, to);
	struct tmpfs_entry *e = names_find(&from->names, name, len);
	if (e != NULL) {
		old = names_find(&to->names, to_name, to_len);
		if (old != NULL && old->vn == e->vn)
			old = e = NULL; /* two names of one file: both stay */
		err = e != NULL ? may_move(from, e->vn, to, old ? old->vn : NULL) : 0;
	}
	bool moved = err == 0 && e != NULL;
	struct vnode *left = NULL; /* an old parent, with one hold too many */
	if (moved) {
		if (old != NULL) {
			remove_entry(to, old);
			if (!tmpfs_is_dir(old->vn))
				unlink_file(old->vn);
		}
		remove_entry(from, e);
		fresh->vn = e->vn;
		insert_entry(to, fresh);
		if (tmpfs_is_dir(fresh->vn)) {
			struct tmpfs_dir *d = to_dir(fresh->vn);
			krw_write_enter(&d->lock);
			d->self = fresh;
			if (from != to) {
				left = vn;
				vnode_hold(to_vn);
				d->parent = to;
				from->vn.nlink--;
				to->vn.nlink++;
			}
			krw_write_exit(&d->lock);
		}
		set_time(&fresh->vn->ctime, time_real());
	}
	krw_write_exit(&to->lock);
	if (from != to) {
		krw_write_exit(&from->lock);
		kmutex_exit(&from->fs->moves);
	}
	kfree(moved ? e : fresh);
	if (moved && old != NULL)
		tmpfs_entry_drop(old);
	if (left != NULL)
		vnode_rele(left);
	return err;
}

/* --- life and death ----------------------------------------------------------------- */

/*
 * A dead directory may hold a dead parent as its last holder, and so on upwards: this is a
 * loop, not a recursion.  The root is never released.
 */
static void tmpfs_dir_release(struct vnode *vn)
{
	struct tmpfs_dir *d = to_dir(vn), *parent;

	do {
		parent = d->parent;
		names_destroy(&d->names);
		kfree(d);
		d = parent;
		preempt_point(); /* the chain may be long; only this LWP has it */
	} while (vnode_unhold(&d->vn));
}

static const struct vnode_ops dir_ops = {
	.lookup = tmpfs_dir_lookup,
	.readdir = tmpfs_dir_readdir,
	.where = tmpfs_dir_where,
	.setattr = tmpfs_setattr,
	.create = tmpfs_dir_create,
	.mkdir = tmpfs_dir_mkdir,
	.symlink = tmpfs_dir_symlink,
	.link = tmpfs_dir_link,
	.unlink = tmpfs_dir_unlink,
	.rmdir = tmpfs_dir_rmdir,
	.rename = tmpfs_dir_rename,
	.release = tmpfs_dir_release,
};

struct vnode *tmpfs_new(void)
{
	struct tmpfs *fs = kzalloc(sizeof(*fs));
	if (fs == NULL)
		return NULL;
	fs->dev = vfs_new_dev();
	kmutex_init(&fs->moves, "rename");
	struct tmpfs_dir *d = new_dir(fs, 0755);
	if (d == NULL) {
		kfree(fs);
		return NULL;
	}
	d->parent = d;
	return &d->vn;
}

void tmpfs_unpack(struct vnode *root, bool unpacking)
{
	struct tmpfs_dir *d = to_dir(root);

	if (unpacking)
		names_unpack(&d->names);
	else
		d->fs->next_ino = MAX(d->fs->next_ino, LATER_INO - 1);
	d->fs->unpacking = unpacking;
}
