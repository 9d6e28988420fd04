/*
 * genfs.c - directories and files whose contents are generated (kern/vnode.h).
 *
 * Nothing here is cached: each lookup makes a vnode, and several vnodes may stand for
 * one object.  A directory holds its parent, so that ".." and the way up need no search.
 *
 * A file's text is generated piece by piece.  A reader that goes forward generates each piece
 * once.  A read before the current piece starts again at the first piece, because the pieces
 * before it may be longer or shorter by then.
 *
 * Lock: n->lock, a mutex, is held while a file's text is generated and copied.
 */
#include <weft/errno.h>
#include <kern/cache.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include "fs.h"

struct gen_node {
	struct vnode vn;
	uint64_t arg;
	/* directories */
	const struct gen_dir_ops *ops;
	struct vnode *parent; /* held; NULL: a root */
	/* files */
	struct kmutex lock;
	int (*fill)(struct gen_text *, uint64_t arg);
	bool filled;
	uint64_t start;       /* offset of `text` in the file */
	struct gen_text text; /* the current piece; also a link's target */
	/* directories */
	char name[];
};

static struct gen_node *to_node(struct vnode *vn)
{
	return (struct gen_node *)vn;
}

/* --- text -------------------------------------------------------------------------------- */

#define TEXT_MAX (1u << 20) /* the most that kmalloc gives */

/* Makes room for n more bytes and a NUL; false: out of memory. */
static bool gen_text_room(struct gen_text *t, size_t n)
{
	if (t->failed || n > TEXT_MAX || t->len + n + 1 > TEXT_MAX) {
		t->failed = true;
		return false;
	}
	if (t->len + n + 1 <= t->size)
		return true;
	size_t size = MAX(t->size, 256u);
	while (size < t->len + n + 1)
		size *= 2;
	char *buf = kmalloc_user(size);
	if (buf == NULL) {
		t->failed = true;
		return false;
	}
	if (t->len > 0)
		memcpy(buf, t->buf, t->len);
	kfree(t->buf);
	t->buf = buf;
	t->size = size;
	return true;
}

void gen_write(struct gen_text *t, const void *bytes, size_t n)
{
	if (gen_text_room(t, n)) {
		memcpy(t->buf + t->len, bytes, n);
		t->len += n;
	}
}

void gen_printf(struct gen_text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	size_t n = vsnprintk(t->buf + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	if (n >= t->size - t->len) {
		if (!gen_text_room(t, n))
			return;
		va_start(ap, fmt);
		vsnprintk(t->buf + t->len, n + 1, fmt, ap);
		va_end(ap);
	}
	t->len += n;
}

/* --- vnodes -------------------------------------------------------------------------------- */

static void node_release(struct vnode *vn)
{
	struct gen_node *n = to_node(vn);
	/* This may release the parent's parent, and so on; trees of this kind are shallow. */
	if (n->parent != NULL)
		vnode_rele(n->parent);
	kfree(n->text.buf);
	kfree(n);
}

static struct gen_node *new_node(const struct vnode_ops *ops, uint32_t mode, uint64_t arg,
				 uint64_t ino, uint32_t dev, const char *name)
{
	size_t len = strlen(name);
	struct gen_node *n = kzalloc_user(sizeof(*n) + len + 1);
	if (n == NULL)
		return NULL;
	uint64_t now = time_real();
	n->vn = (struct vnode){
		.ops = ops,
		.refs = 1,
		.mode = mode,
		.ino = ino,
		.dev = dev,
		.nlink = 1,
		.atime = now,
		.mtime = now,
		.ctime = now,
	};
	n->arg = arg;
	kmutex_init(&n->lock, "generated file");
	memcpy(n->name, name, len + 1);
	return n;
}

static int gen_dir_lookup(struct vnode *vn, const char *name, size_t len, struct vnode **out)
{
	struct gen_node *n = to_node(vn);
	if (len == 2 && memcmp(name, "..", 2) == 0) {
		*out = n->parent ? n->parent : vn;
		vnode_hold(*out);
		return 0;
	}
	return n->ops->lookup(vn, n->arg, name, len, out);
}

/* Positions 0 and 1 are "." and "..". */
static int64_t gen_dir_readdir(struct vnode *vn, uint64_t *pos, void *buf, size_t size)
{
	struct gen_node *n = to_node(vn);
	struct gen_entry *e = kmalloc(sizeof(*e));
	if (e == NULL)
		return -ENOMEM;
	uint64_t at = *pos;
	if (at < 2) {
		strlcpy(e->name, at == 0 ? "." : "..", sizeof(e->name));
		e->ino = at == 1 && n->parent ? n->parent->ino : vn->ino;
		e->type = WEFT_S_IFDIR;
		at++;
	} else {
		at -= 2;
		if (!n->ops->next(n->arg, &at, e)) {
			kfree(e);
			return 0;
		}
		at += 2;
	}
	int64_t used = dirent_put(buf, size, e->name, strlen(e->name), e->ino, e->type);
	kfree(e);
	if (used > 0)
		*pos = at;
	return used;
}

static int gen_dir_where(struct vnode *vn, char *name, struct vnode **parent)
{
	struct gen_node *n = to_node(vn);
	strlcpy(name, n->name, WEFT_NAME_MAX + 1);
	*parent = n->parent;
	vnode_hold(*parent);
	return 0;
}

static const struct vnode_ops dir_ops = {
	.lookup = gen_dir_lookup,
	.readdir = gen_dir_readdir,
	.where = gen_dir_where,
	.release = node_release,
};

/*
 * Generates the next piece, or the first one if `again`.  After an error there is no piece.
 * n->lock held.
 */
static int next_piece(struct gen_node *n, bool again)
{
	struct gen_text *t = &n->text;

	n->start = again ? 0 : n->start + t->len;
	t->from = again ? 0 : t->next;
	t->next = GEN_END;
	t->len = 0;
	t->failed = false;
	int err = n->fill(t, n->arg);
	if (err == 0 && t->failed)
		err = -ENOMEM;
	n->filled = err == 0;
	return err;
}

static int64_t gen_file_read(struct vnode *vn, uint64_t off, void *buf, size_t size)
{
	struct gen_node *n = to_node(vn);
	struct gen_text *t = &n->text;
	size_t done = 0;
	int err = 0;

	kmutex_enter(&n->lock);
	if (!n->filled || off < n->start)
		err = next_piece(n, true);
	while (err == 0 && done < size) {
		uint64_t at = off + done - n->start;
		if (at < t->len) {
			size_t some = MIN(size - done, t->len - at);
			memcpy((char *)buf + done, t->buf + at, some);
			done += some;
		} else if (t->next != GEN_END) {
			preempt_point();
			err = next_piece(n, false);
		} else {
			break;
		}
	}
	kmutex_exit(&n->lock);
	return done > 0 ? (int64_t)done : err;
}

static const struct vnode_ops file_ops = {.read = gen_file_read, .release = node_release};

static int link_readlink(struct vnode *vn, char *buf, size_t size)
{
	struct gen_node *n = to_node(vn);
	size = MIN(size, n->text.len);
	memcpy(buf, n->text.buf, size);
	return size;
}

static const struct vnode_ops link_ops = {.readlink = link_readlink, .release = node_release};

struct vnode *gen_dir(struct vnode *parent, const char *name, const struct gen_dir_ops *ops,
		      uint64_t arg, uint64_t ino, uint32_t mode, uint32_t dev)
{
	struct gen_node *n = new_node(&dir_ops, WEFT_S_IFDIR | mode, arg, ino, dev, name);
	if (n == NULL)
		return NULL;
	n->ops = ops;
	n->vn.nlink = 2;
	n->parent = parent;
	if (parent != NULL)
		vnode_hold(parent);
	return &n->vn;
}

struct vnode *gen_file(int (*fill)(struct gen_text *, uint64_t arg), uint64_t arg, uint64_t ino,
		       uint32_t mode, uint32_t dev)
{
	struct gen_node *n = new_node(&file_ops, WEFT_S_IFREG | mode, arg, ino, dev, "");
	if (n == NULL)
		return NULL;
	n->fill = fill;
	return &n->vn;
}

struct vnode *gen_link(const char *target, uint64_t ino, uint32_t dev)
{
	struct gen_node *n = new_node(&link_ops, WEFT_S_IFLNK | 0777, 0, ino, dev, "");
	if (n == NULL)
		return NULL;
	gen_write(&n->text, target, strlen(target));
	if (n->text.failed) {
		vnode_rele(&n->vn);
		return NULL;
	}
	n->vn.size = n->text.len;
	return &n->vn;
}
