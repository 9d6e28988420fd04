/*
 * tmpfs_file.c - regular files and symbolic links of tmpfs.
 *
 * A file's bytes are in a set of pages (kern/pageset.h).  A page is made when something is
 * written to it: a hole reads as zeros and takes no memory.  mmap maps the same pages, so the
 * last page may hold anything beyond the file's end.  Therefore an LWP that moves the end up
 * clears the rest of that page first.
 *
 * A file with mapped pages can be truncated.  The mappings keep the pages that they
 * have; the file gets other pages if it grows again.
 *
 * Locks: f->lock sleeps.  An LWP that reads or looks for a page holds it for reading, and an
 * LWP that changes contents or size holds it for writing.  f->lock comes after as->lock, which
 * faults hold when they ask for a page.  Each time stamp is atomic; a reader may see one changed
 * and another not yet.
 */
#include <weft/errno.h>
#include <kern/cache.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/pageset.h>
#include <kern/printk.h>
#include <kern/timing.h>
#include "tmpfs.h"

#define SIZE_MAX_FILE (PAGESET_MAX * PAGE_SIZE)

struct tmpfs_file {
	struct vnode vn;
	struct krwlock lock; /* contents, vn.size */
	struct pageset pages;
};

static const struct vnode_ops file_ops;

static struct tmpfs_file *to_file(struct vnode *vn)
{
	return (struct tmpfs_file *)vn;
}

/* Finds the page that holds byte `off`, held; makes it if it is missing. */
static int tmpfs_file_page(struct tmpfs_file *f, uint64_t off, paddr_t *page)
{
	int err = pageset_get(&f->pages, off / PAGE_SIZE, PG_USER | PG_STORE, page);
	if (err == -ENOMEM) {
		mm_reclaim();
		err = pageset_get(&f->pages, off / PAGE_SIZE, PG_USER | PG_STORE, page);
	}
	return err;
}

/*
 * Clears the rest of the last page of a file that ends at `size`.  f->lock held for writing.
 */
static void clear_tail(struct tmpfs_file *f, uint64_t size)
{
	size_t used = size % PAGE_SIZE;
	paddr_t last = used != 0 ? pageset_find(&f->pages, size / PAGE_SIZE) : 0;
	if (last != 0) {
		memset((char *)phys_to_virt(last) + used, 0, PAGE_SIZE - used);
		page_free(last);
	}
}

static int64_t tmpfs_file_read(struct vnode *vn, uint64_t off, void *buf, size_t n)
{
	struct tmpfs_file *f = to_file(vn);

	krw_read_enter(&f->lock);
	n = off < vn->size ? MIN(n, vn->size - off) : 0;
	for (size_t done = 0; done < n;) {
		uint64_t at = off + done;
		size_t some = MIN(n - done, PAGE_SIZE - at % PAGE_SIZE);
		paddr_t page = pageset_find(&f->pages, at / PAGE_SIZE);
		if (page != 0) {
			memcpy((char *)buf + done, (char *)phys_to_virt(page) + at % PAGE_SIZE,
			       some);
			page_free(page);
		} else {
			memset((char *)buf + done, 0, some);
		}
		done += some;
	}
	krw_read_exit(&f->lock);
	vnode_read(vn);
	return n;
}

static int64_t tmpfs_file_write(struct vnode *vn, uint64_t *off, const void *buf, size_t n,
				bool append)
{
	struct tmpfs_file *f = to_file(vn);
	size_t done = 0;
	int err = 0;

	krw_write_enter(&f->lock);
	uint64_t start = append ? vn->size : *off;
	if (start >= SIZE_MAX_FILE)
		err = -EFBIG;
	else
		n = MIN(n, SIZE_MAX_FILE - start);
	if (start > vn->size)
		clear_tail(f, vn->size);
	while (done < n && err == 0) {
		uint64_t at = start + done;
		size_t some = MIN(n - done, PAGE_SIZE - at % PAGE_SIZE);
		paddr_t page;
		err = tmpfs_file_page(f, at, &page);
		if (err != 0)
			break;
		memcpy((char *)phys_to_virt(page) + at % PAGE_SIZE, (const char *)buf + done, some);
		page_free(page);
		done += some;
	}
	if (done > 0) {
		*off = start + done;
		vn->size = MAX(vn->size, start + done);
		vnode_written(vn);
	}
	krw_write_exit(&f->lock);
	return done > 0 ? (int64_t)done : err == -ENOMEM ? -ENOSPC : err;
}

int tmpfs_append_page(struct vnode *vn, paddr_t page)
{
	struct tmpfs_file *f = to_file(vn);

	krw_write_enter(&f->lock);
	assert(vn->ops == &file_ops && vn->size % PAGE_SIZE == 0);
	int err = pageset_put(&f->pages, vn->size / PAGE_SIZE, page);
	if (err == 0)
		vn->size += PAGE_SIZE;
	krw_write_exit(&f->lock);
	return err;
}

static int tmpfs_file_truncate(struct vnode *vn, uint64_t size)
{
	struct tmpfs_file *f = to_file(vn);

	if (size > SIZE_MAX_FILE)
		return -EFBIG;
	krw_write_enter(&f->lock);
	if (size < vn->size)
		pageset_truncate(&f->pages, PAGE_ROUND_UP(size) / PAGE_SIZE);
	clear_tail(f, MIN(size, vn->size));
	vn->size = size;
	vnode_written(vn);
	krw_write_exit(&f->lock);
	return 0;
}

static int tmpfs_file_getpage(struct vnode *vn, uint64_t index, paddr_t *page)
{
	struct tmpfs_file *f = to_file(vn);
	int err = -EINVAL;

	krw_read_enter(&f->lock);
	if (index < PAGE_ROUND_UP(vn->size) / PAGE_SIZE)
		err = tmpfs_file_page(f, index * PAGE_SIZE, page);
	krw_read_exit(&f->lock);
	return err;
}

static uint64_t tmpfs_file_allocated(struct vnode *vn)
{
	return __atomic_load_n(&to_file(vn)->pages.npages, __ATOMIC_RELAXED) * PAGE_SIZE;
}

static void tmpfs_file_release(struct vnode *vn)
{
	pageset_truncate(&to_file(vn)->pages, 0);
	kfree(to_file(vn));
}

static const struct vnode_ops file_ops = {
	.read = tmpfs_file_read,
	.write = tmpfs_file_write,
	.truncate = tmpfs_file_truncate,
	.setattr = tmpfs_setattr,
	.allocated = tmpfs_file_allocated,
	.getpage = tmpfs_file_getpage,
	.release = tmpfs_file_release,
};

struct vnode *tmpfs_file(struct tmpfs *fs, uint32_t mode)
{
	struct tmpfs_file *f = kmalloc(sizeof(*f));
	if (f == NULL)
		return NULL;
	tmpfs_init_vnode(&f->vn, fs, &file_ops, WEFT_S_IFREG | (mode & 07777));
	krw_init(&f->lock, "file contents");
	pageset_init(&f->pages);
	return &f->vn;
}

/* --- symbolic links ---------------------------------------------------------------------- */

struct tmpfs_symlink {
	struct vnode vn; /* its size: the length of the target */
	char target[];   /* with its NUL */
};

static int symlink_readlink(struct vnode *vn, char *buf, size_t n)
{
	size_t len = MIN(n, vn->size);
	memcpy(buf, ((struct tmpfs_symlink *)vn)->target, len);
	return len;
}

static void symlink_release(struct vnode *vn)
{
	kfree((struct tmpfs_symlink *)vn);
}

static const struct vnode_ops symlink_ops = {
	.readlink = symlink_readlink,
	.setattr = tmpfs_setattr,
	.release = symlink_release,
};

struct vnode *tmpfs_symlink(struct tmpfs *fs, const char *target)
{
	size_t len = strlen(target);
	struct tmpfs_symlink *l = kmalloc(sizeof(*l) + len + 1);
	if (l == NULL)
		return NULL;
	tmpfs_init_vnode(&l->vn, fs, &symlink_ops, WEFT_S_IFLNK | 0777);
	l->vn.size = len;
	memcpy(l->target, target, len + 1);
	return &l->vn;
}
