/*
 * fs.h - what the files of fs/ share: tmpfs, poll, the parser of the initial RAM disk.
 */
#pragma once
#include <kern/file.h>
#include <weft/poll.h>

/* --- tmpfs_dir.c --------------------------------------------------------------------- */

/* Makes a tmpfs; returns its root directory, held.  NULL: out of memory. */
struct vnode *tmpfs_new(void);
/*
 * Between tmpfs_unpack(root, true) and (root, false), what is made in the tmpfs of root is the
 * contents of the initial RAM disk.  It changes no cost of other names, and no inode number
 * (tmpfs_names.c).  The tmpfs is empty before.
 */
void tmpfs_unpack(struct vnode *root, bool unpacking);
/* As the link operation of tmpfs, except that vn may be of any kind; it is not in the tree yet. */
int tmpfs_enter(struct vnode *dir, const char *name, struct vnode *vn);

/* --- tmpfs_file.c -------------------------------------------------------------------- */

/*
 * Appends a page to a regular file of whole pages.  The file takes over the caller's hold of
 * the page.  -ENOMEM, -EFBIG: the caller keeps the hold.  May block.
 */
int tmpfs_append_page(struct vnode *file, paddr_t page);

/* --- vfs.c ----------------------------------------------------------------------------- */

/* Puts one struct weft_dirent into buf, for readdir.  Returns its length; -EINVAL: no room. */
int64_t dirent_put(void *buf, size_t size, const char *name, size_t len, uint64_t ino,
		   uint32_t mode);

/* --- poll.c ------------------------------------------------------------------------ */

/*
 * Fills in fd[i].revents for the descriptors of t.  Returns how many revents are not 0.  Waits
 * until there is one, or until time_now() reaches deadline (0: does not wait).  -EINTR,
 * -ENOMEM.
 */
int file_poll(struct fdtable *t, struct weft_pollfd *fd, unsigned n, hrtime_t deadline);

/* --- cpio.c: the parser --------------------------------------------------------- */

struct cpio { /* set base and size, and the rest to zero; then call cpio_next */
	const uint8_t *base;
	uint64_t size;
	uint64_t pos;      /* of the next header */
	uint32_t archive;  /* number of trailers seen */
	const char *error; /* why cpio_next returned -EINVAL, in words */
};
struct cpio_entry {
	const char *name; /* ends with NUL, as it stands in the archive */
	size_t name_len;  /* 1 or more, without the NUL */
	uint32_t mode, nlink, ino, dev_major, dev_minor;
	uint32_t archive; /* number of the archive: an inode number is unique only within it */
	uint64_t mtime;   /* seconds since 1970 */
	const uint8_t *data;
	uint64_t size;
};
/* Parses the next entry: 1; 0 at the end; -EINVAL: damaged at c->pos, c->error says how. */
int cpio_next(struct cpio *c, struct cpio_entry *e);

/* --- initrd.c, devfs.c: what vfs_init calls --------------------------------------- */

/*
 * Fills `root` from the archives.  Names on the console what it could not use.  Frees the memory
 * of the archives as it goes, so they cannot be read again.
 */
void initrd_unpack(struct vnode *root, const void *base, uint64_t size);
/* Mounts /dev with its devices.  Panics when it cannot. */
void devfs_init(void);
/* Mounts /proc.  Panics when it cannot. */
void procfs_init(void);
