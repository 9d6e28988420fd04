/*
 * file.h - vnodes, open files, descriptor tables, and the console device.
 */
#pragma once
#include <weft/file.h>
#include <weft/proc.h>
#include "sync.h"
#include "types.h"

struct vnode;

struct poll_entry;

/* Flags of recv and send, beside WEFT_O_NONBLOCK. */
#define IO_PART 1 /* send: a part of something larger, so it need not stay in one piece */

/*
 * What a kind of file can do.  Missing operations give the error named.  Buffers
 * are kernel memory; offsets and sizes are bytes.  All may sleep.
 *
 * A file has read and write, and an offset in each open file.  A stream (a device, a
 * pipe) has recv and send in their place, and no offset.  They wait until they can
 * give or take something, unless flags has WEFT_O_NONBLOCK: then -EAGAIN.  They return
 * how much it was (recv: 0 at the end), -EINTR when that is nothing, or another error.
 */
struct vnode_ops {
	int64_t (*read)(struct vnode *, uint64_t off, void *buf, size_t n);        /* -EINVAL */
	int64_t (*write)(struct vnode *, uint64_t off, const void *buf, size_t n); /* -EROFS */
	int64_t (*recv)(struct vnode *, void *buf, size_t n, unsigned flags);
	int64_t (*send)(struct vnode *, const void *buf, size_t n, unsigned flags);
	/* WEFT_POLL* that hold now: of `events`, and those that nobody need ask for.  If
	 * there are none and e is not NULL, e joins the object's pollhead, under the lock
	 * that any change of the answer takes.  Missing: always ready.  Does not sleep. */
	int (*poll)(struct vnode *, int events, struct poll_entry *e);
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
	uint32_t flags;     /* WEFT_O_*; atomic: F_SETFL changes O_APPEND and O_NONBLOCK */
	struct vnode *vn;   /* held */
	struct kmutex lock; /* off; held across a transfer, so before any as->lock */
	uint64_t off;       /* unused by streams */
};

/* An open file on vn, whose hold it takes over on success.  -ENOMEM. */
int file_open(struct vnode *vn, uint32_t flags, struct file **out);
static inline uint32_t file_flags(const struct file *f)
{
	return __atomic_load_n(&f->flags, __ATOMIC_RELAXED);
}
void file_hold(struct file *);
void file_rele(struct file *); /* may release the vnode: no spin lock held */

/* A process's descriptors and its current directory. */
struct fdtable {
	struct spinlock lock;                 /* leaf */
	struct file **files;                  /* grows; NULL: free */
	unsigned size;                        /* of files[] */
	uint64_t used[WEFT_OPEN_MAX / 64];    /* bit map of descriptors in use */
	uint64_t cloexec[WEFT_OPEN_MAX / 64]; /* those with FD_CLOEXEC; clear where unused */
	struct vnode *cwd;                    /* held */
	char *cwd_path;                       /* its absolute path, kmalloc'ed */
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
/*
 * Makes `child`, fresh from fdtable_init, a copy of parent: descriptors with their
 * flags and the current directory, as fork does.  -ENOMEM: the child has some of it and
 * is the caller's to destroy.  May sleep.
 */
int fdtable_copy(struct fdtable *child, struct fdtable *parent);
/* What exec does: closes the descriptors with FD_CLOEXEC.  May sleep. */
void fdtable_close_on_exec(struct fdtable *t);
void fdtable_destroy(struct fdtable *t); /* closes all; no LWP may be using it */
/* Opens the console as 0, 1 and 2 (for the first process).  -ENOMEM. */
int fdtable_open_console(struct fdtable *t);

/* The open file behind fd, held; NULL: there is none. */
struct file *fd_get(struct fdtable *t, int fd);
/* Lowest free descriptor from `least` (0 or more) on for f, whose hold it takes over on
 * success.  -EMFILE, -ENOMEM. */
int fd_install(struct fdtable *t, struct file *f, int least, bool cloexec);
/* Makes fd stand for f, closing what it stood for.  fd, or -EBADF (out of range), -ENOMEM. */
int fd_replace(struct fdtable *t, int fd, struct file *f, bool cloexec);
int fd_close(struct fdtable *t, int fd); /* -EBADF */
/* FD_CLOEXEC: 0 or 1, or -EBADF. */
int fd_get_cloexec(struct fdtable *t, int fd);
int fd_set_cloexec(struct fdtable *t, int fd, bool on);

/* As vfs_lookup, from the table's current directory. */
int fdtable_lookup(struct fdtable *t, const char *path, struct vnode **out);
/* Path errors, -ENOTDIR, -ENOMEM; -ENAMETOOLONG also when the absolute path gets too long. */
int fdtable_chdir(struct fdtable *t, const char *path);
/* Copies the current directory's path; its length with the NUL, or -ERANGE. */
int64_t fdtable_getcwd(struct fdtable *t, char *buf, size_t size);

/* --- pipes (fs/pipe.c) ---------------------------------------------------- */

/* A new pipe: the vnodes of the end to read from and the end to write to, both held.
 * -ENOMEM. */
int pipe_new(struct vnode *end[2]);
void pipe_init(void);

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
