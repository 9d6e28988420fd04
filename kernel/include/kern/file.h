/*
 * file.h - open files, descriptor tables, pipes, and the console device.
 */
#pragma once
#include "sync.h"
#include "types.h"
#include "vnode.h"

struct fdtable;

/*
 * An open file: made by open(), shared by dup().  It is counted: a descriptor and
 * every call that works on it have a hold of it.  So a close by another LWP removes
 * the descriptor at once, and the file when the last call is done.
 */
struct file {
	uint32_t refs;      /* atomic */
	uint32_t flags;     /* WEFT_O_*; atomic: F_SETFL changes O_APPEND and O_NONBLOCK */
	struct vnode *vn;   /* held */
	struct kmutex lock; /* guards off; held across a transfer, so before any as->lock */
	uint64_t off;       /* unused by streams */
};

/* Makes an open file on vn; takes over the caller's hold of vn on success.  -ENOMEM. */
int file_open(struct vnode *vn, uint32_t flags, struct file **out);
/*
 * open(2) without the descriptor: makes an open file for `path`, starting from the directory dir.
 * If flags ask for it, makes the file too, with t's umask.  May sleep.
 * -EINVAL: unknown flags or access mode, O_CREAT with O_DIRECTORY; path errors; -ELOOP: also a
 * symbolic link with O_NOFOLLOW; -EEXIST: O_CREAT | O_EXCL; -EISDIR: a directory is to be written,
 * created or truncated; -ENOTDIR: O_DIRECTORY; -EROFS: writing, creating, truncating; -ENOSPC: no
 * memory to create; -ENOMEM.
 */
int file_open_path(struct fdtable *t, struct vnode *dir, const char *path, uint32_t flags,
		   uint32_t mode, struct file **out);
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
	unsigned limit;                       /* all descriptors are below: RLIMIT_NOFILE; atomic */
	uint64_t used[WEFT_OPEN_MAX / 64];    /* bit map of descriptors in use */
	uint64_t cloexec[WEFT_OPEN_MAX / 64]; /* those with FD_CLOEXEC; clear where unused */
	uint64_t private_fds[WEFT_OPEN_MAX /
			     64]; /* those of fd_install_private; clear where unused */
	struct vnode *cwd;        /* held */
	uint32_t umask;           /* permissions that new files do not get; atomic */
};

int fdtable_init(struct fdtable *t); /* empty, cwd "/" ; -ENOMEM */
/*
 * Makes `child`, fresh from fdtable_init, a copy of parent: descriptors with their
 * flags and the current directory, as fork does.  -ENOMEM: the child has some of it; the
 * caller destroys it.  May sleep.
 */
int fdtable_copy(struct fdtable *child, struct fdtable *parent);
/* What exec does: closes the descriptors with FD_CLOEXEC.  May sleep. */
void fdtable_close_on_exec(struct fdtable *t);
void fdtable_destroy(struct fdtable *t); /* closes all; no LWP may be using it */
/* Opens the console as 0, 1 and 2 (for the first process).  -ENOMEM. */
int fdtable_open_console(struct fdtable *t);

/* The open file behind fd, held; NULL: there is none. */
struct file *fd_get(struct fdtable *t, int fd);
/* Makes the lowest free descriptor from `least` (0 or more) on stand for f; takes over the
 * caller's hold of f on success.  -EMFILE, -ENOMEM. */
int fd_install(struct fdtable *t, struct file *f, int least, bool cloexec);
/*
 * The same for a descriptor that a library uses besides the program's (libthread's aio.c).  exec
 * closes it, a child of fork does not have it, and its close leaves the process's record locks
 * alone.
 */
int fd_install_private(struct fdtable *t, struct file *f, int least);
/* Makes fd stand for f; closes what it stood for.  fd, or -EBADF (out of range), -ENOMEM. */
int fd_replace(struct fdtable *t, int fd, struct file *f, bool cloexec);
int fd_close(struct fdtable *t, int fd); /* -EBADF */
/* FD_CLOEXEC: 0 or 1, or -EBADF. */
int fd_get_cloexec(struct fdtable *t, int fd);
int fd_set_cloexec(struct fdtable *t, int fd, bool on);

/* As vfs_lookup, from the table's current directory. */
int fdtable_lookup(struct fdtable *t, const char *path, struct vnode **out);
/* As vfs_resolve, from the table's current directory. */
int fdtable_resolve(struct fdtable *t, const char *path, bool follow, struct vfs_name *out);
/* Makes dir the current directory; takes over the caller's hold of dir in any case.  -ENOTDIR. */
int fdtable_chdir(struct fdtable *t, struct vnode *dir);
struct vnode *fdtable_cwd(struct fdtable *t); /* held */

/* --- record locks (fs/reclock.c) ----------------------------------------------- */

/*
 * F_GETLK, F_SETLK, F_SETLKW of f, the file behind fd of t, the current process's table.  F_GETLK
 * writes *lk.  -EINVAL: lk, or a stream; -EOVERFLOW: the range; -EBADF: f is not open in
 * this way, or has been closed meanwhile; -EAGAIN: another process has a lock; -ENOLCK: no memory;
 * only F_SETLKW: -EDEADLK, -EINTR.  F_SETLKW blocks; all may sleep.
 */
int reclock_fcntl(struct fdtable *t, int fd, struct file *f, int cmd, struct weft_flock *lk);
/* t has closed a descriptor for vn, which is still held: releases t's locks on vn.  May sleep. */
void reclock_closed(const struct fdtable *t, struct vnode *vn);

/* --- pipes (fs/pipe.c) ---------------------------------------------------- */

/* Makes a pipe: the vnodes of the end to read from and the end to write to, both held.
 * -ENOMEM. */
int pipe_new(struct vnode *end[2]);
void pipe_init(void);

/* --- the console (dev/console.c over dev/serial.c) ----------------------- */

void console_init_early(void); /* output works from here on; CPU 0, no memory needed */
void console_init(void);       /* input by interrupt; the /dev/console vnode */
/* The kernel's own output, in one piece.  A newline is sent as CR LF.  Any context. */
void console_write(const char *s, size_t n);
struct vnode *console_vnode(void); /* not held */
/* Sets the process group that Ctrl-C on the console kills; 0: none. */
void console_set_pgrp(int pgrp);
int console_pgrp(void); /* the foreground process group, or 0 */
/* For a panic: breaks the console lock, so that output goes on. */
void console_panic(void);
