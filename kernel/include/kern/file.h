/*
 * file.h - vnodes, open files, descriptor tables, and the console device.
 */
#pragma once
#include <weft/file.h>
#include <weft/proc.h>
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
	/*
	 * For mmap: the page with bytes [index * PAGE_SIZE, + PAGE_SIZE) of a file whose
	 * contents are pages (kern/pageset.h), held for the caller; a hole becomes a page
	 * of zeros.  The same page at every call, until it is truncated: shared mappings
	 * write it, and it is what read and write use.  -EINVAL (beyond the end), -ENOMEM.
	 * Missing: shared mappings -ENODEV; private ones read the file. */
	int (*getpage)(struct vnode *, uint64_t index, paddr_t *page);
	void (*release)(struct vnode *); /* last reference gone */
};

struct vnode {
	const struct vnode_ops *ops;
	uint32_t refs;             /* atomic */
	uint32_t mode;             /* WEFT_S_IF* and permissions */
	uint64_t ino, size, mtime; /* mtime: nanoseconds since 1970 */
	uint32_t nlink, dev, rdev;
	void *data; /* the file system's */
};

void vnode_hold(struct vnode *);
void vnode_rele(struct vnode *);

/* Resolves a path from `cwd` (absolute paths: the root).  The vnode comes held.
 * -ENOENT, -ENOTDIR, -ENAMETOOLONG.  May sleep. */
int vfs_lookup(struct vnode *cwd, const char *path, struct vnode **out);
struct vnode *vfs_root(void);
void vfs_init(void); /* unpacks the initial RAM disk; panics if there is none */

/*
 * An open file: what open() makes and dup() shares.  It is counted: a descriptor
 * holds it, and so does every call that works on it, so that a close by another
 * LWP takes the descriptor away at once and the file when the last call is done.
 */
struct file {
	uint32_t refs;      /* atomic */
	uint32_t flags;     /* WEFT_O_* of open; does not change */
	struct vnode *vn;   /* held */
	struct kmutex lock; /* off; held across a transfer, so before any as->lock */
	uint64_t off;       /* unused by character devices */
};

/* An open file on vn, whose hold it takes over on success.  -ENOMEM. */
int file_open(struct vnode *vn, uint32_t flags, struct file **out);
void file_hold(struct file *);
void file_rele(struct file *); /* may release the vnode: no spin lock held */

/* A process's descriptors and its current directory. */
struct fdtable {
	struct spinlock lock;              /* leaf */
	struct file **files;               /* grows; NULL: free */
	unsigned size;                     /* of files[] */
	uint64_t used[WEFT_OPEN_MAX / 64]; /* bit map of descriptors in use */
	struct vnode *cwd;                 /* held */
	char *cwd_path;                    /* its absolute path, kmalloc'ed */
};

int fdtable_init(struct fdtable *t); /* empty, cwd "/" ; -ENOMEM */
/*
 * The child's table: from[i] of the parent becomes i, for 0 to 2 (-1: none);
 * cwd as given or the parent's when NULL.  The child's has come from fdtable_init
 * and is the caller's to destroy, also after an error.  -EBADF, -ENOMEM, or path
 * errors.  May sleep.
 */
int fdtable_inherit(struct fdtable *child, struct fdtable *parent, const int from[3],
		    const char *cwd);
void fdtable_destroy(struct fdtable *t); /* closes all; no LWP may be using it */
/* Opens the console as 0, 1 and 2 (for the first process).  -ENOMEM. */
int fdtable_open_console(struct fdtable *t);

/* The open file behind fd, held; NULL: there is none. */
struct file *fd_get(struct fdtable *t, int fd);
/* Lowest free descriptor for f, whose hold it takes over on success.  -EMFILE, -ENOMEM. */
int fd_install(struct fdtable *t, struct file *f);
/* Makes fd stand for f, closing what it stood for.  fd, or -EBADF (out of range), -ENOMEM. */
int fd_replace(struct fdtable *t, int fd, struct file *f);
int fd_close(struct fdtable *t, int fd); /* -EBADF */

/* As vfs_lookup, from the table's current directory. */
int fdtable_lookup(struct fdtable *t, const char *path, struct vnode **out);
/* Path errors, -ENOTDIR, -ENOMEM; -ENAMETOOLONG also when the absolute path gets too long. */
int fdtable_chdir(struct fdtable *t, const char *path);
/* Copies the current directory's path; its length with the NUL, or -ERANGE. */
int64_t fdtable_getcwd(struct fdtable *t, char *buf, size_t size);

/* --- the console (dev/console.c over dev/serial.c) ----------------------- */

void console_init_early(void); /* output works from here on; CPU 0, no memory needed */
void console_init(void);       /* input by interrupt; the /dev/console vnode */
/* The kernel's own output: newlines go out as CR LF, in one piece.  Any context. */
void console_write(const char *s, size_t n);
struct vnode *console_vnode(void); /* not held */
/* The process group that Ctrl-C on the console kills; 0: nobody. */
void console_set_pgrp(int pgrp);
/* In a panic: break the console lock and go on writing. */
void console_panic(void);
