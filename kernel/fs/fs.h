/*
 * fs.h - what the files of fs/ share: tmpfs, poll, and the parser of the initial RAM disk.
 */
#pragma once
#include <kern/file.h>
#include <weft/poll.h>

/* --- tmpfs_dir.c --------------------------------------------------------------------- */

/* The root directory of a new tmpfs, held; NULL: out of memory. */
struct vnode *tmpfs_new(void);
/*
 * From true to false, what is made in the tmpfs of root, which is empty before, is what the initial RAM
 * disk holds: it changes no cost of other names, and no inode number (tmpfs_names.c).
 */
void tmpfs_unpack(struct vnode *root, bool unpacking);
/* As its link operation, but for a vnode of any kind that is not in the tree yet. */
int tmpfs_enter(struct vnode *dir, const char *name, struct vnode *vn);

/* --- tmpfs_file.c -------------------------------------------------------------------- */

/*
 * Appends a page, which becomes the file's own with the caller's hold of it, to a regular file
 * of whole pages.  -ENOMEM, -EFBIG: the hold is still the caller's.  May block.
 */
int tmpfs_append_page(struct vnode *file, paddr_t page);

/* --- vfs.c ----------------------------------------------------------------------------- */

/* One struct weft_dirent in buf, for readdir: its length, or -EINVAL: size is too small. */
int64_t dirent_put(void *buf, size_t size, const char *name, size_t len, uint64_t ino,
		   uint32_t mode);

/* --- poll.c ------------------------------------------------------------------------ */

/*
 * Fills in fd[i].revents for the descriptors of t.  Returns how many have something to
 * tell, waiting until one has or time_now() reaches deadline (0: does not wait).  -EINTR,
 * -ENOMEM.
 */
int file_poll(struct fdtable *t, struct weft_pollfd *fd, unsigned n, hrtime_t deadline);

/* --- cpio.c: the parser --------------------------------------------------------- */

struct cpio { /* zero all but base and size, then call cpio_next */
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
	uint32_t archive; /* inode numbers mean something within one archive only */
	uint64_t mtime;   /* seconds since 1970 */
	const uint8_t *data;
	uint64_t size;
};
/* The next entry: 1; 0 at the end; -EINVAL: damaged at c->pos, c->error says how. */
int cpio_next(struct cpio *c, struct cpio_entry *e);

/* --- initrd.c, devfs.c: what vfs_init calls --------------------------------------- */

/*
 * Fills `root` from the archives; says on the console what it could not use.  The memory of
 * what it has read it gives back as it goes: none of it may be read again.
 */
void initrd_unpack(struct vnode *root, const void *base, uint64_t size);
/* Mounts /dev with its devices.  Panics when it cannot. */
void devfs_init(void);
/* Mounts /proc.  Panics when it cannot. */
void procfs_init(void);
