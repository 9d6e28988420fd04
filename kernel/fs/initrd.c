/*
 * initrd.c - fills the root file system from the initial RAM disk.
 *
 * A later entry of the same name takes the place of an earlier one, so that an
 * archive appended by the loader can override what the first one holds.  Missing
 * parent directories are made.  Names with the same inode number within one
 * archive are one file; the bytes stand with one of them, by custom the last.
 *
 * What cannot be used (device nodes, symbolic links, names with "..") is named on
 * the console and left out; a damaged archive ends the unpacking there, and what
 * came before it stays.  Runs on the boot CPU alone.
 */
#include <weft/errno.h>
#include <kern/mm.h>
#include <kern/printk.h>
#include "fs.h"

/* A file with several names, by its identity in the archive; lives while unpacking. */
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

/* The file of an entry, held: a new one, or the one that it is another name of. */
static struct vnode *file_of(struct tree *links, const struct cpio_entry *e)
{
	struct link key = {.key = {e->archive, e->dev_major, e->dev_minor, e->ino}};
	struct vnode *vn = e->nlink > 1 ? find_link(links, &key) : NULL;

	if (vn != NULL) {
		vnode_hold(vn);
	} else {
		vn = ramfs_file(e->mode, e->mtime * 1000000000ull);
		if (vn == NULL)
			return NULL;
		if (e->nlink > 1) {
			struct link *l = kmalloc(sizeof(*l));
			if (l == NULL) {
				vnode_rele(vn);
				return NULL;
			}
			*l = key;
			l->vn = vn;
			vnode_hold(vn);
			tree_insert(links, &l->node, cmp_link);
		}
	}
	if (e->size > 0)
		ramfs_set_content(vn, e->data, e->size);
	return vn;
}

/*
 * Finds or makes the directory `name` in dir and moves *dir on to it.  Directories
 * of this file system are never freed, so nothing here needs a hold.
 */
static int enter(struct vnode **dir, const char *name, size_t len, uint32_t mode, uint64_t mtime)
{
	struct vnode *next;
	int err = (*dir)->ops->lookup(*dir, name, len, &next);
	if (err == -ENOENT)
		err = ramfs_mkdir(*dir, name, len, mode, mtime, &next);
	if (err != 0)
		return err;
	bool is_dir = (next->mode & WEFT_S_IFMT) == WEFT_S_IFDIR;
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
	uint64_t mtime = e->mtime * 1000000000ull;

	if (type != WEFT_S_IFDIR && type != WEFT_S_IFREG)
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

		if (len > WEFT_NAME_MAX)
			return -ENAMETOOLONG;
		if (len == 2 && memcmp(name, "..", 2) == 0)
			return -EINVAL;
		if (len == 0 || (len == 1 && *name == '.')) {
			if (*rest != '\0')
				continue;
			/* The name is a directory that is there: "/", ".", "a/." */
			if (type != WEFT_S_IFDIR)
				return -EISDIR;
			dir->mode = WEFT_S_IFDIR | (e->mode & 07777);
			dir->mtime = mtime;
			return 0;
		}
		if (*rest != '\0' || type == WEFT_S_IFDIR) {
			bool last = *rest == '\0';
			int err = enter(&dir, name, len, 0755, mtime);
			if (err != 0)
				return err;
			if (last) {
				dir->mode = WEFT_S_IFDIR | (e->mode & 07777);
				dir->mtime = mtime;
				return 0;
			}
			continue;
		}
		struct vnode *vn = file_of(links, e);
		if (vn == NULL)
			return -ENOMEM;
		int err = ramfs_replace(dir, name, len, vn);
		vnode_rele(vn);
		return err == -EEXIST ? -EISDIR : err;
	}
}

static const char *why_not(int err)
{
	switch (err) {
	case -ENOTSUP:
		return "neither a regular file nor a directory";
	case -EISDIR:
		return "there is a directory of that name";
	case -ENOTDIR:
		return "a part of the path is not a directory";
	case -ENAMETOOLONG:
		return "a part of the name is too long";
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

	while ((more = cpio_next(&c, &e)) > 0) {
		int err = unpack_entry(root, &links, &e);
		if (err == 0)
			files++;
		else
			printk("initrd: %s left out: %s\n", e.name, why_not(err));
	}
	free_links(&links);
	if (more < 0)
		printk("initrd: damaged at byte %llu of %llu: %s; the rest is lost\n",
		       (unsigned long long)c.pos, (unsigned long long)size, c.error);
	printk_info("initrd: %u files and directories, %llu KiB\n", files,
		    (unsigned long long)(size / 1024));
}
