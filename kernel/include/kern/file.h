/*
 * file.h - vnodes, open files, descriptor tables, and the console device.
 */
#pragma once
#include <weft/file.h>
#include "sync.h"
#include "types.h"

struct vnode;

/*
 * What a kind of file can do.  Missing operations give the error named.  Buffers
 * are kernel memory; offsets and sizes are bytes.  All may sleep.
 */
struct vnode_ops {
	int64_t (*read)(struct vnode *, uint64_t off, void *buf, size_t n);        /* -EINVAL */
	int64_t (*write)(struct vnode *, uint64_t off, const void *buf, size_t n); /* -EROFS */
	int (*lookup)(struct vnode *dir, const char *name, size_t len,
		      struct vnode **out); /* -ENOTDIR */
	/* Entry number *pos of a directory into buf (a struct weft_dirent with its
	 * name, at most size bytes): bytes used, 0 at the end, -EINVAL: too small. */
	int64_t (*readdir)(struct vnode *, uint64_t *pos, void *buf, size_t size); /* -ENOTDIR */
	int (*ioctl)(struct vnode *, uint64_t req, vaddr_t arg);                   /* -ENOTTY */
	void (*release)(struct vnode *); /* last reference gone */
};

struct vnode {
	const struct vnode_ops *ops;
	uint32_t refs; /* atomic */
	uint32_t mode; /* WEFT_S_IF* and permissions */
	uint64_t ino, size, mtime;
	void *data; /* the file system's */
};

void vnode_hold(struct vnode *);
void vnode_rele(struct vnode *);

/* Resolves a path from `cwd` (absolute paths: the root).  The vnode comes held.
 * -ENOENT, -ENOTDIR, -ENAMETOOLONG, -ELOOP. */
int vfs_lookup(struct vnode *cwd, const char *path, struct vnode **out);
struct vnode *vfs_root(void);
void vfs_init(void); /* unpacks the initial RAM disk; panics if there is none */

struct file; /* an open file: vnode, offset, flags; counted */

/* A process's descriptors and its current directory. */
struct fdtable {
	struct spinlock lock; /* leaf but for file and vnode counts */
	struct file **files;  /* grows; NULL: free */
	unsigned size, first_free;
	struct vnode *cwd; /* held */
	char *cwd_path;    /* its absolute path, kmalloc'ed */
};

int fdtable_init(struct fdtable *t); /* empty, cwd "/" ; -ENOMEM */
/*
 * The child's table: from[i] of the parent becomes i, for 0 to 2 (-1: none);
 * cwd as given or the parent's when NULL.  -EBADF, -ENOMEM, or path errors.
 */
int fdtable_inherit(struct fdtable *child, struct fdtable *parent, const int from[3],
		    const char *cwd);
void fdtable_destroy(struct fdtable *t); /* closes all */
/* Opens the console as 0, 1 and 2 (for the first process). */
int fdtable_open_console(struct fdtable *t);

/* --- the console (dev/console.c over dev/serial.c) ----------------------- */

void console_init_early(void); /* output works from here on; CPU 0, no memory needed */
void console_init(void);       /* input by interrupt; the /dev/console vnode */
void console_write(const char *s, size_t n); /* raw, any context */
struct vnode *console_vnode(void);
/* In a panic: break the console lock and go on writing. */
void console_panic(void);
