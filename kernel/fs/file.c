/*
 * file.c - open files and descriptor tables.
 *
 * Locks: t->lock guards all of a table.  It is held only to look up or exchange
 * pointers.  It is a leaf: memory is allocated before it is acquired.  Files and
 * vnodes are released when it is no longer held, because their release may sleep.
 *
 * *Race:* one LWP uses a file through a descriptor, another LWP of the process closes the
 * descriptor; *without this:* the file is freed and its memory used again; *closed by:* each
 * call takes a hold of the file under t->lock (fd_get), and keeps it to its end.  The same
 * holds for the current directory (fdtable_cwd).
 */
#include <weft/errno.h>
#include <kern/cache.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include "fs.h"

#define FIRST_SIZE 16 /* descriptors that a table starts with */

/* --- open files -------------------------------------------------------------- */

int file_open(struct vnode *vn, uint32_t flags, struct file **out)
{
	struct file *f = kmalloc_user(sizeof(*f));
	if (f == NULL)
		return -ENOMEM;
	*f = (struct file){.refs = 1, .flags = flags, .vn = vn};
	kmutex_init(&f->lock, "file");
	*out = f;
	return 0;
}

void file_hold(struct file *f)
{
	uint32_t was = __atomic_fetch_add(&f->refs, 1, __ATOMIC_RELAXED);
	debug_assert(was > 0);
	(void)was;
}

void file_rele(struct file *f)
{
	uint32_t was = __atomic_fetch_sub(&f->refs, 1, __ATOMIC_RELEASE);
	debug_assert(was > 0);
	if (was == 1) {
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		vnode_rele(f->vn);
		kfree(f);
	}
}

/* t has lost a descriptor for f; releases the descriptor's hold. */
static void file_closed(struct fdtable *t, struct file *f, bool is_private)
{
	if (__atomic_load_n(&f->vn->reclocks, __ATOMIC_RELAXED) != NULL && !is_private)
		reclock_closed(t, f->vn);
	file_rele(f);
}

/* --- descriptors --------------------------------------------------------------- */

int fdtable_init(struct fdtable *t)
{
	*t = (struct fdtable){.size = FIRST_SIZE, .limit = WEFT_OPEN_MAX};
	spin_init(&t->lock, "fdtable");
	t->files = kzalloc(FIRST_SIZE * sizeof(*t->files));
	if (t->files == NULL)
		return -ENOMEM;
	t->umask = 022;
	t->cwd = vfs_root();
	vnode_hold(t->cwd);
	return 0;
}

void fdtable_destroy(struct fdtable *t)
{
	for (unsigned fd = 0; fd < t->size; fd++)
		if (t->files[fd] != NULL) {
			file_closed(t, t->files[fd], false);
			preempt_point();
		}
	kfree(t->files);
	vnode_rele(t->cwd);
}

/* The lowest free descriptor from `least` on, or -EMFILE.  t->lock held. */
static int lowest_free(const struct fdtable *t, int least)
{
	for (unsigned i = least / 64; i < ARRAY_LEN(t->used); i++) {
		uint64_t free = ~t->used[i];
		if (i == (unsigned)least / 64)
			free &= UINT64_MAX << least % 64;
		if (free != 0) {
			unsigned fd = 64 * i + __builtin_ctzll(free);
			return fd < t->limit ? (int)fd : -EMFILE;
		}
	}
	return -EMFILE;
}

/* Sets or clears bit fd of a map. */
static void set_bit(uint64_t *map, int fd, bool on)
{
	if (on)
		map[fd / 64] |= 1ull << fd % 64;
	else
		map[fd / 64] &= ~(1ull << fd % 64);
}

/* Sets files[fd], fd < size, and returns what was there.  t->lock held. */
static struct file *fdtable_exchange(struct fdtable *t, int fd, struct file *f, bool cloexec)
{
	struct file *old = t->files[fd];
	t->files[fd] = f;
	set_bit(t->used, fd, f != NULL);
	set_bit(t->cloexec, fd, cloexec);
	return old;
}

/*
 * Makes room for descriptor fd.  Takes t->lock, so the caller must not hold
 * it.  The table never shrinks, so the room stays.
 */
static int fdtable_grow(struct fdtable *t, int fd)
{
	unsigned size = FIRST_SIZE;
	while (size <= (unsigned)fd)
		size *= 2;
	struct file **files = kzalloc_user(size * sizeof(*files));
	if (files == NULL)
		return -ENOMEM;

	irqstate_t s = spin_lock(&t->lock);
	struct file **unwanted = files;
	if (t->size < size) { /* otherwise another LWP was faster */
		memcpy(files, t->files, t->size * sizeof(*files));
		unwanted = t->files;
		t->files = files;
		t->size = size;
	}
	spin_unlock(&t->lock, s);
	kfree(unwanted);
	return 0;
}

struct file *fd_get(struct fdtable *t, int fd)
{
	struct file *f = NULL;
	irqstate_t s = spin_lock(&t->lock);
	if (fd >= 0 && (unsigned)fd < t->size)
		f = t->files[fd];
	if (f != NULL)
		file_hold(f);
	spin_unlock(&t->lock, s);
	return f;
}

static int fd_enter(struct fdtable *t, struct file *f, int least, bool cloexec, bool is_private)
{
	for (;;) {
		irqstate_t s = spin_lock(&t->lock);
		int fd = lowest_free(t, least);
		bool fits = fd < 0 || (unsigned)fd < t->size;
		if (fd >= 0 && fits)
			fdtable_exchange(t, fd, f, cloexec);
		if (fd >= 0 && fits && is_private)
			set_bit(t->private_fds, fd, true);
		spin_unlock(&t->lock, s);
		if (fits)
			return fd;
		int err = fdtable_grow(t, fd);
		if (err != 0)
			return err;
	}
}

int fd_install(struct fdtable *t, struct file *f, int least, bool cloexec)
{
	return fd_enter(t, f, least, cloexec, false);
}

int fd_install_private(struct fdtable *t, struct file *f, int least)
{
	return fd_enter(t, f, least, true, true);
}

/* Was descriptor fd private?  Clears the mark.  t->lock held. */
static bool was_private(struct fdtable *t, int fd)
{
	bool is_private = t->private_fds[fd / 64] >> fd % 64 & 1;
	if (is_private)
		set_bit(t->private_fds, fd, false);
	return is_private;
}

int fd_replace(struct fdtable *t, int fd, struct file *f, bool cloexec)
{
	if (fd < 0 || (unsigned)fd >= t->limit)
		return -EBADF;
	for (;;) {
		struct file *old = NULL;
		irqstate_t s = spin_lock(&t->lock);
		bool fits = (unsigned)fd < t->size, is_private = was_private(t, fd);
		if (fits)
			old = fdtable_exchange(t, fd, f, cloexec);
		spin_unlock(&t->lock, s);
		if (old != NULL)
			file_closed(t, old, is_private);
		if (fits)
			return fd;
		int err = fdtable_grow(t, fd);
		if (err != 0)
			return err;
	}
}

int fd_close(struct fdtable *t, int fd)
{
	struct file *f = NULL;
	bool is_private = false;
	irqstate_t s = spin_lock(&t->lock);
	if (fd >= 0 && (unsigned)fd < t->size) {
		f = fdtable_exchange(t, fd, NULL, false);
		is_private = was_private(t, fd);
	}
	spin_unlock(&t->lock, s);
	if (f == NULL)
		return -EBADF;
	file_closed(t, f, is_private);
	return 0;
}

int fd_get_cloexec(struct fdtable *t, int fd)
{
	int r = -EBADF;
	irqstate_t s = spin_lock(&t->lock);
	if (fd >= 0 && (unsigned)fd < t->size && t->files[fd] != NULL)
		r = t->cloexec[fd / 64] >> fd % 64 & 1;
	spin_unlock(&t->lock, s);
	return r;
}

int fd_set_cloexec(struct fdtable *t, int fd, bool on)
{
	int r = -EBADF;
	irqstate_t s = spin_lock(&t->lock);
	if (fd >= 0 && (unsigned)fd < t->size && t->files[fd] != NULL) {
		set_bit(t->cloexec, fd, on);
		r = 0;
	}
	spin_unlock(&t->lock, s);
	return r;
}

void fdtable_close_on_exec(struct fdtable *t)
{
	for (unsigned i = 0; i < ARRAY_LEN(t->cloexec); i++) {
		uint64_t bits;
		/* This LWP is the only one of its process: no other LWP sets bits meanwhile. */
		while ((bits = t->cloexec[i]) != 0) {
			fd_close(t, 64 * i + __builtin_ctzll(bits));
			preempt_point();
		}
	}
}

int fdtable_copy(struct fdtable *child, struct fdtable *parent)
{
	irqstate_t s = spin_lock(&parent->lock);
	/* The parent's other LWPs may open more files before there is room for all. */
	while (child->size < parent->size) {
		int last = parent->size - 1;
		spin_unlock(&parent->lock, s);
		int err = fdtable_grow(child, last);
		if (err != 0)
			return err;
		s = spin_lock(&parent->lock);
	}
	for (unsigned i = 0; i < ARRAY_LEN(child->used); i++) {
		child->used[i] = parent->used[i] & ~parent->private_fds[i];
		child->cloexec[i] = parent->cloexec[i] & ~parent->private_fds[i];
	}
	for (unsigned fd = 0; fd < parent->size; fd++)
		if (child->used[fd / 64] >> fd % 64 & 1) {
			child->files[fd] = parent->files[fd];
			file_hold(child->files[fd]);
		}
	spin_unlock(&parent->lock, s);
	child->umask = __atomic_load_n(&parent->umask, __ATOMIC_RELAXED);
	return fdtable_chdir(child, fdtable_cwd(parent));
}

int fdtable_open_console(struct fdtable *t)
{
	struct file *f;
	vnode_hold(console_vnode());
	int err = file_open(console_vnode(), WEFT_O_RDWR, &f);
	if (err != 0) {
		vnode_rele(console_vnode());
		return err;
	}
	for (int fd = 0; fd < 3 && err >= 0; fd++) {
		file_hold(f);
		err = fd_replace(t, fd, f, false);
		if (err < 0)
			file_rele(f);
	}
	file_rele(f);
	return MIN(err, 0);
}

/* --- the current directory ---------------------------------------------------------- */

struct vnode *fdtable_cwd(struct fdtable *t)
{
	irqstate_t s = spin_lock(&t->lock);
	struct vnode *cwd = t->cwd;
	vnode_hold(cwd);
	spin_unlock(&t->lock, s);
	return cwd;
}

int fdtable_chdir(struct fdtable *t, struct vnode *dir)
{
	if (!vnode_is(dir, WEFT_S_IFDIR)) {
		vnode_rele(dir);
		return -ENOTDIR;
	}
	irqstate_t s = spin_lock(&t->lock);
	struct vnode *old = t->cwd;
	t->cwd = dir;
	spin_unlock(&t->lock, s);
	vnode_rele(old);
	return 0;
}

int fdtable_lookup(struct fdtable *t, const char *path, struct vnode **out)
{
	struct vnode *cwd = fdtable_cwd(t);
	int err = vfs_lookup(cwd, path, out);
	vnode_rele(cwd);
	return err;
}

int fdtable_resolve(struct fdtable *t, const char *path, bool follow, struct vfs_name *out)
{
	struct vnode *cwd = fdtable_cwd(t);
	int err = vfs_resolve(cwd, path, follow, out);
	vnode_rele(cwd);
	return err;
}
