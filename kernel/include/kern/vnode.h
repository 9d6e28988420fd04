/*
 * vnode.h - files of any kind: vnodes, their operations, mounts, and names.
 *
 * A file system makes vnodes and gives each its table of operations (fs/tmpfs_dir.c,
 * tmpfs_file.c, genfs.c; devices and pipes are vnodes too).  fs/vfs.c resolves paths across
 * mounts and symbolic links.
 *
 * A vnode is alive while its count is not 0.  Code that keeps a pointer to a vnode has a hold,
 * which it took while another hold existed.
 */
#pragma once
#include <weft/file.h>
#include <weft/proc.h>
#include "list.h"
#include "types.h"

struct mount;
struct poll_entry;
struct reclock;
struct vnode;

/* Flags of recv and send, besides WEFT_O_NONBLOCK. */
#define IO_PART 1 /* send: a part of a longer write, so it need not stay in one piece */

/* What setattr changes: the fields named in `set`. */
struct vattr {
	unsigned set; /* VATTR_* */
	uint32_t mode;
	uint64_t atime, mtime; /* nanoseconds since 1970 */
};
#define VATTR_MODE 1
#define VATTR_ATIME 2
#define VATTR_MTIME 4

/*
 * What a kind of file can do.  Missing operations give the error named.  Buffers
 * are kernel memory; offsets and sizes are bytes.  All may sleep.
 *
 * A file has read and write, and an offset in each open file.  A stream (a device, a
 * pipe) has recv and send in their place, and no offset.  recv and send wait until they can
 * give or take something, unless flags has WEFT_O_NONBLOCK: then -EAGAIN.  They return
 * how much it was (recv: 0 at the end), -EINTR when that is nothing, or another error.
 *
 * Names have 1 to WEFT_NAME_MAX bytes without '/' and NUL.  A name to make,
 * remove or rename is neither "." nor "..".  Making something in a directory that has been
 * removed gives -ENOENT.
 */
struct vnode_ops {
	int64_t (*read)(struct vnode *, uint64_t off, void *buf, size_t n); /* -EINVAL */
	/* Writes from *off on, and moves *off to the end of what was written; append: writes
	 * from the end of the file on.  -EFBIG, -ENOSPC (no memory), when not even one byte was
	 * written.  Missing: -EROFS. */
	int64_t (*write)(struct vnode *, uint64_t *off, const void *buf, size_t n, bool append);
	int64_t (*recv)(struct vnode *, void *buf, size_t n, unsigned flags);
	int64_t (*send)(struct vnode *, const void *buf, size_t n, unsigned flags);
	/* Returns the WEFT_POLL* that hold now: those in `events`, and those that need not be
	 * asked for.  If there are none and e is not NULL, e joins the object's pollhead, under
	 * the lock that any change of the answer takes.  Missing: always ready.  Does not sleep. */
	int (*poll)(struct vnode *, int events, struct poll_entry *e);
	int (*truncate)(struct vnode *, uint64_t size);          /* -EROFS; -EFBIG */
	int (*ioctl)(struct vnode *, uint64_t req, vaddr_t arg); /* -ENOTTY */
	int (*setattr)(struct vnode *, const struct vattr *);    /* -EROFS */
	uint64_t (*allocated)(struct vnode *);                   /* bytes of memory; size */
	int (*readlink)(struct vnode *, char *buf, size_t n);    /* length, cut to n; -EINVAL */
	/*
	 * For mmap: the page with bytes [index * PAGE_SIZE, + PAGE_SIZE) of a file whose
	 * contents are pages (kern/pageset.h), held for the caller.  A hole becomes a page
	 * of zeros.  It is the same page at every call, until it is truncated: shared mappings
	 * write it, and read and write use it.  -EINVAL (beyond the end), -ENOMEM.
	 * Missing: shared mappings -ENODEV; private mappings read the file. */
	int (*getpage)(struct vnode *, uint64_t index, paddr_t *page);

	/* Directories.  lookup finds ".." as well.  Missing: -ENOTDIR. */
	int (*lookup)(struct vnode *dir, const char *name, size_t len, struct vnode **out);
	/* Puts entry number *pos of a directory into buf (a struct weft_dirent with its
	 * name, at most size bytes): bytes used, 0 at the end, -EINVAL: too small. */
	int64_t (*readdir)(struct vnode *, uint64_t *pos, void *buf, size_t size);
	/* The name of a directory in its parent, WEFT_NAME_MAX + 1 bytes, and the parent,
	 * held.  -ENOENT: it was removed.  All directories except roots have it. */
	int (*where)(struct vnode *dir, char *name, struct vnode **parent);

	/* What changes directories.  Missing: -EROFS.  All: -ENOENT, -ENOSPC (no memory). */
	int (*create)(struct vnode *dir, const char *name, size_t len, uint32_t mode,
		      struct vnode **out); /* a regular file; -EEXIST */
	int (*mkdir)(struct vnode *dir, const char *name, size_t len, uint32_t mode); /* -EEXIST */
	int (*symlink)(struct vnode *dir, const char *name, size_t len,
		       const char *target);                                           /* -EEXIST */
	int (*link)(struct vnode *dir, const char *name, size_t len, struct vnode *); /* -EEXIST */
	int (*unlink)(struct vnode *dir, const char *name, size_t len);               /* -EISDIR */
	int (*rmdir)(struct vnode *dir, const char *name,
		     size_t len); /* -ENOTDIR, -ENOTEMPTY, -EBUSY (a mount) */
	/* In one step; replaces what has the new name.  rename(2) says more. */
	int (*rename)(struct vnode *dir, const char *name, size_t len, struct vnode *to_dir,
		      const char *to, size_t to_len);

	void (*release)(struct vnode *); /* the last hold has been released */

	bool endless; /* recv always has all that is asked for: a read goes on until it is full */
	bool zeros;   /* mmap gives anonymous memory */
};

struct vnode {
	const struct vnode_ops *ops;
	uint32_t refs; /* atomic */
	uint32_t mode; /* WEFT_S_IF* (never changes) and permissions */
	uint64_t ino, size;
	uint64_t atime, mtime, ctime; /* nanoseconds since 1970 */
	uint32_t nlink, dev, rdev;
	struct reclock *reclocks; /* record locks on it (fs/reclock.c) */
	struct mount *mount;      /* the mount with this root, or that covers it; set at boot */
};

/* Set times to now: of reading; of changes and status.  Each is atomic; any lock may be held. */
void vnode_read(struct vnode *);
void vnode_written(struct vnode *);

void vnode_hold(struct vnode *);
void vnode_rele(struct vnode *);
/* Drops a hold.  True: it was the last one, and the caller must do what release does. */
bool vnode_unhold(struct vnode *);
static inline bool vnode_is(const struct vnode *vn, uint32_t type) /* WEFT_S_IF* */
{
	return (vn->mode & WEFT_S_IFMT) == type;
}
/* A device or a pipe: it has no offset, and a transfer calls recv or send once. */
static inline bool vnode_is_stream(const struct vnode *vn)
{
	return vn->ops->recv != NULL || vn->ops->send != NULL;
}

/* --- mounts (fs/vfs.c) ------------------------------------------------------------------ */

/* A file system in use.  Mounts are made at boot and stay. */
struct mount {
	const char *type;      /* what mount shows */
	struct vnode *root;    /* held */
	struct vnode *covered; /* the directory that root replaces, held; NULL: the root */
	bool in_memory;        /* its files take memory: its free space is the free memory */
	struct list link;
};

/*
 * Makes `path`, a directory, stand for m->root from now on.  At boot, on CPU 0.  Path errors;
 * -ENOTDIR; -EBUSY: something is mounted there.
 */
int vfs_mount(struct mount *m, const char *path);
uint32_t vfs_new_dev(void); /* vnode.dev of a new file system; at boot */
/* Mount number n in order of mounting, and the path of its root; NULL: no more. */
const struct mount *vfs_mount_at(unsigned n, char *path, size_t size);

/* --- names (fs/vfs.c) ------------------------------------------------------------------- */

#define VFS_SYMLINKS_MAX 40 /* symbolic links in the resolution of one path; more: -ELOOP */

/*
 * Resolves a path from `cwd` (absolute paths: the root); follows symbolic links.  The vnode
 * is held for the caller.  -ENOENT, -ENOTDIR, -ENAMETOOLONG, -ELOOP, -ENOMEM.  May sleep.
 */
int vfs_lookup(struct vnode *cwd, const char *path, struct vnode **out);

/* A name in a directory, and the vnode that has it. */
struct vfs_name {
	struct vnode *dir; /* held; NULL: the path has no last name ("/"), or it is . or .. */
	struct vnode *vn;  /* held; NULL: there is no such entry in dir */
	size_t len;
	bool slash;    /* the path ended with a slash */
	bool last_dot; /* the last name is "." */
	char name[WEFT_NAME_MAX + 1];
};
/* The same, except that the last name need not exist.  follow: follows a symbolic link there. */
int vfs_resolve(struct vnode *cwd, const char *path, bool follow, struct vfs_name *out);
void vfs_name_rele(struct vfs_name *n); /* both holds */

/* The absolute path of a directory: its length with the NUL; -ENOENT: it was removed;
 * -ERANGE: longer than size; -ENOMEM. */
int64_t vfs_path(struct vnode *dir, char *buf, size_t size);

struct vnode *vfs_root(void);
void vfs_init(void); /* unpacks the initial RAM disk; panics if there is none */

/* --- generated directories and files (fs/genfs.c) ------------------------------------ */

/*
 * For file systems that show what the kernel knows (/proc).  Each lookup makes a vnode, which
 * vanishes with its last hold.  A file's text is generated piece by piece, as it is read.  The
 * vnode keeps one piece.  Each piece shows one moment.  A short file is one piece, which does not
 * change as long as the vnode exists.
 */

#define GEN_END UINT64_MAX

/* A piece of text, which grows.  Out of memory, it grows no more, and the read gives -ENOMEM. */
struct gen_text {
	char *buf; /* kmalloc'ed */
	size_t len, size;
	bool failed;
	uint64_t from; /* where this piece begins, in the file's own numbers; 0: the first */
	uint64_t next; /* fill sets it: where the next piece begins; otherwise it is GEN_END */
};
void gen_write(struct gen_text *t, const void *bytes, size_t n); /* need not be text */
void gen_printf(struct gen_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct gen_entry { /* an entry in the list of a directory */
	char name[WEFT_NAME_MAX + 1];
	uint64_t ino;
	uint32_t type; /* WEFT_S_IF* */
};

struct gen_dir_ops {
	/* Makes the vnode of an entry (gen_dir, gen_file, gen_link), held.  -ENOENT, -ENOMEM. */
	int (*lookup)(struct vnode *dir, uint64_t arg, const char *name, size_t len,
		      struct vnode **out);
	/* Finds the entry at position *pos (from 0 on, in order) or the next after it, and moves
	 * *pos beyond it.  False: there is none. */
	bool (*next)(uint64_t arg, uint64_t *pos, struct gen_entry *e);
};

/*
 * Make vnodes, held; NULL: out of memory.  `arg` belongs to the file system (a pid, say).  mode:
 * permissions.  parent: NULL for the root of a mount.
 */
struct vnode *gen_dir(struct vnode *parent, const char *name, const struct gen_dir_ops *ops,
		      uint64_t arg, uint64_t ino, uint32_t mode, uint32_t dev);
/*
 * fill writes a piece of the text, which is not empty unless it is the last piece.  An error (below
 * 0) is what read returns.
 */
struct vnode *gen_file(int (*fill)(struct gen_text *, uint64_t arg), uint64_t arg, uint64_t ino,
		       uint32_t mode, uint32_t dev);
struct vnode *gen_link(const char *target, uint64_t ino, uint32_t dev);
