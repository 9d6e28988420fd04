/*
 * initrd.c - fills the root file system from the initial RAM disk.
 *
 * A later entry replaces an earlier entry of the same name, so that an archive
 * appended by the loader can override what the first archive holds.  Missing
 * parent directories are made.  Names with the same inode number within one
 * archive are one file.  Its bytes come with one of the names, usually the last.
 *
 * If a file's bytes start at a page boundary, their pages are not copied: they become the
 * file's (tools/weft_host/cpio.py aligns the files for that).  All else is copied, and the
 * memory of what has been copied is freed at once: the archive and the copies together need
 * not fit into memory.
 *
 * The memory of the files is apart from all else (mm_apart, tmpfs_names.c), and the clock of exact
 * timing stands meanwhile (timing.h).  So an entry costs only a command that uses it: whatever
 * else the archives hold, a command executes the same instructions at the same times.
 *
 * What cannot be used (device nodes, names with "..") is named on
 * the console and left out.  A damaged archive ends the unpacking there; what
 * came before it stays.  Only the boot CPU runs this.
 */
#include <weft/errno.h>
#include <kern/cache.h>
#include <kern/layout.h>
#include <kern/mm.h>
#include <kern/page.h>
#include <kern/printk.h>
#include "fs.h"

#define NS 1000000000ull /* nanoseconds in a second */

/* A file with several names, by its identity in the archive; exists while unpacking. */
struct link {
	struct tree_node node;
	uint32_t key[4];
	struct vnode *vn; /* held */
};

static int cmp_link(const struct tree_node *a, const struct tree_node *b)
{
	const uint32_t *ka = CONTAINER_OF(a, struct link, node)->key;
	const uint32_t *kb = CONTAINER_OF(b, struct link, node)->key;
	for (int i = 0; i < 4; i++)
		if (ka[i] != kb[i])
			return ka[i] < kb[i] ? -1 : 1;
	return 0;
}

static struct vnode *find_link(struct tree *links, const struct link *key)
{
	struct tree_node *n = links->root;
	while (n != NULL) {
		int c = cmp_link(&key->node, n);
		if (c == 0)
			return CONTAINER_OF(n, struct link, node)->vn;
		n = n->child[c > 0];
	}
	return NULL;
}

static void free_links(struct tree *links)
{
	struct tree_node *n;
	while ((n = tree_first(links)) != NULL) {
		struct link *l = CONTAINER_OF(n, struct link, node);
		tree_remove(links, n);
		vnode_rele(l->vn);
		kfree(l);
	}
}

static void set_times(struct vnode *vn, uint32_t mode, uint64_t mtime)
{
	const struct vattr a = {.set = VATTR_MODE | VATTR_ATIME | VATTR_MTIME,
				.mode = mode,
				.atime = mtime,
				.mtime = mtime};
	vn->ops->setattr(vn, &a);
}

/* Remembers vn as the file with this identity in the archive; it may have other names. */
static int initrd_link_remember(struct tree *links, const struct link *key, struct vnode *vn)
{
	struct link *l = kmalloc(sizeof(*l));
	if (l == NULL)
		return -ENOMEM;
	*l = *key;
	l->vn = vn;
	vnode_hold(vn);
	tree_insert(links, &l->node, cmp_link);
	return 0;
}

/* Makes the entry's bytes the contents of the file. */
static int initrd_file_fill(struct vnode *vn, const struct cpio_entry *e)
{
	uint64_t off = 0;
	if (e->size == 0)
		return 0;
	int err = vn->size > 0 ? vn->ops->truncate(vn, 0) : 0;
	for (; err == 0 && e->size - off >= PAGE_SIZE; off += PAGE_SIZE) {
		paddr_t page = virt_to_phys(e->data + off);
		if (page % PAGE_SIZE != 0 || !page_keep_initrd(page))
			break;
		err = tmpfs_append_page(vn, page);
		if (err != 0)
			page_free(page);
	}
	while (err == 0 && off < e->size) {
		int64_t n = vn->ops->write(vn, &off, e->data + off, e->size - off, false);
		err = MIN(n, 0);
	}
	return err;
}

/* Makes a regular file; replaces one that is there. */
static int make_file(struct vnode *dir, const char *name, size_t len, struct tree *links,
		     const struct cpio_entry *e)
{
	struct link key = {.key = {e->archive, e->dev_major, e->dev_minor, e->ino}};
	struct vnode *vn = e->nlink > 1 ? find_link(links, &key) : NULL;
	int err = dir->ops->unlink(dir, name, len);

	if (err != 0 && err != -ENOENT)
		return err;
	if (vn != NULL && vn->nlink > 0) {
		vnode_hold(vn);
		err = dir->ops->link(dir, name, len, vn);
	} else {
		err = dir->ops->create(dir, name, len, e->mode, &vn);
		if (err != 0)
			return err;
		if (e->nlink > 1)
			err = initrd_link_remember(links, &key, vn);
	}
	if (err == 0)
		err = initrd_file_fill(vn, e);
	set_times(vn, e->mode, e->mtime * NS);
	vnode_rele(vn);
	return err;
}

static int make_symlink(struct vnode *dir, const char *name, size_t len, const struct cpio_entry *e)
{
	char *target = kmalloc(WEFT_PATH_MAX);
	if (target == NULL)
		return -ENOMEM;
	int err = e->size == 0 || e->size >= WEFT_PATH_MAX ? -ENAMETOOLONG : 0;
	if (err == 0) {
		memcpy(target, e->data, e->size);
		target[e->size] = '\0';
		err = dir->ops->unlink(dir, name, len);
		if (err == 0 || err == -ENOENT)
			err = dir->ops->symlink(dir, name, len, target);
	}
	kfree(target);
	return err;
}

/*
 * Finds or makes the directory `name` in dir and moves *dir on to it.  No LWP removes
 * directories meanwhile, so nothing here needs a hold.
 */
static int initrd_dir_enter(struct vnode **dir, const char *name, size_t len, uint64_t mtime)
{
	struct vnode *next;
	int err = (*dir)->ops->lookup(*dir, name, len, &next);
	if (err == -ENOENT) {
		err = (*dir)->ops->mkdir(*dir, name, len, 0755);
		if (err == 0)
			err = (*dir)->ops->lookup(*dir, name, len, &next);
		if (err == 0)
			set_times(next, 0755, mtime);
	}
	if (err != 0)
		return err;
	bool is_dir = vnode_is(next, WEFT_S_IFDIR);
	vnode_rele(next);
	if (!is_dir)
		return -ENOTDIR;
	*dir = next;
	return 0;
}

static int unpack_entry(struct vnode *root, struct tree *links, const struct cpio_entry *e)
{
	struct vnode *dir = root;
	const char *p = e->name;
	uint32_t type = e->mode & WEFT_S_IFMT;
	uint64_t mtime = e->mtime * NS;

	if (type != WEFT_S_IFDIR && type != WEFT_S_IFREG && type != WEFT_S_IFLNK)
		return -ENOTSUP;
	for (;;) {
		while (*p == '/')
			p++;
		const char *name = p;
		while (*p != '\0' && *p != '/')
			p++;
		size_t len = p - name;
		const char *rest = p;
		while (*rest == '/')
			rest++;
		bool last = *rest == '\0';

		if (len > WEFT_NAME_MAX)
			return -ENAMETOOLONG;
		if (len == 2 && memcmp(name, "..", 2) == 0)
			return -EINVAL;
		bool here = len == 0 || (len == 1 && *name == '.'); /* "/", ".", "a/." */
		if (here && last && type != WEFT_S_IFDIR)
			return -EISDIR;
		if (!here && last && type == WEFT_S_IFREG)
			return make_file(dir, name, len, links, e);
		if (!here && last && type == WEFT_S_IFLNK)
			return make_symlink(dir, name, len, e);
		if (!here) {
			int err = initrd_dir_enter(&dir, name, len, mtime);
			if (err != 0)
				return err;
		}
		if (last) {
			set_times(dir, e->mode, mtime);
			return 0;
		}
	}
}

static const char *why_not(int err)
{
	switch (err) {
	case -ENOTSUP:
		return "neither a file nor a directory nor a symbolic link";
	case -EISDIR:
	case -EPERM: /* from unlink */
		return "there is a directory of that name";
	case -ENOTDIR:
		return "a part of the path is not a directory";
	case -ENAMETOOLONG:
		return "a part of the name, or a link's target, is too long or empty";
	case -EINVAL:
		return "the name has a \"..\" in it";
	default:
		return "out of memory";
	}
}

void initrd_unpack(struct vnode *root, const void *base, uint64_t size)
{
	struct cpio c = {.base = base, .size = size};
	struct cpio_entry e;
	struct tree links = {0};
	unsigned files = 0;
	int more;

	mm_apart(true);
	tmpfs_unpack(root, true);
	while ((more = cpio_next(&c, &e)) > 0) {
		int err = unpack_entry(root, &links, &e);
		if (err == 0)
			files++;
		else
			printk("initrd: %s left out: %s\n", e.name, why_not(err));
		page_add_initrd(c.pos);
	}
	free_links(&links);
	if (more < 0)
		printk("initrd: damaged at byte %llu of %llu: %s; the rest is lost\n",
		       (unsigned long long)c.pos, (unsigned long long)size, c.error);
	page_add_initrd(size);
	tmpfs_unpack(root, false);
	mm_apart(false);
	printk_info("initrd: %u files and directories, %llu KiB\n", files,
		    (unsigned long long)(size / 1024));
}
