/*
 * shm.c - shared anonymous memory: a file without a name, which lives as long as something
 * maps it.  Of a file's parts it needs only the pages.
 */
#include <weft/errno.h>
#include <weft/file.h>
#include <kern/cache.h>
#include <kern/file.h>
#include <kern/page.h>
#include <kern/pageset.h>
#include "impl.h"

struct shm {
	struct vnode vn;
	struct pageset pages;
	bool reserved;
};

static int shm_getpage(struct vnode *vn, uint64_t index, paddr_t *page)
{
	struct shm *m = CONTAINER_OF(vn, struct shm, vn);
	if (index >= vn->size / PAGE_SIZE)
		return -EINVAL;
	return pageset_get(&m->pages, index, m->reserved ? PG_RESERVED : PG_USER, page);
}

static void shm_release(struct vnode *vn)
{
	struct shm *m = CONTAINER_OF(vn, struct shm, vn);
	pageset_truncate(&m->pages, 0);
	if (m->reserved)
		page_unreserve(vn->size / PAGE_SIZE);
	kfree(m);
}

static const struct vnode_ops shm_ops = {
	.getpage = shm_getpage,
	.release = shm_release,
};

struct vnode *shm_create(uint64_t size, bool reserve)
{
	struct shm *m = kzalloc(sizeof(*m));
	if (m == NULL || (reserve && !mm_reserve(size / PAGE_SIZE))) {
		kfree(m);
		return NULL;
	}
	m->reserved = reserve;
	m->vn.ops = &shm_ops;
	m->vn.refs = 1;
	m->vn.mode = WEFT_S_IFREG | 0600;
	m->vn.size = size;
	pageset_init(&m->pages);
	return &m->vn;
}
