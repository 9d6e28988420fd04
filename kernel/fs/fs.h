/*
 * fs.h - what the files of fs/ share: the RAM file system that the boot fills,
 * and the parser of its archive.
 */
#pragma once
#include <kern/file.h>
#include <weft/poll.h>

/* --- ramfs.c: directories and files in memory; see there for the rules ------ */

/* A new root directory, held; NULL: out of memory. */
struct vnode *ramfs_root(void);
/*
 * Make an entry of a directory.  The name has 1 to WEFT_NAME_MAX bytes, none of
 * them '/' or NUL, and is not "." or "..".  -EEXIST, -ENOMEM.
 */
int ramfs_mkdir(struct vnode *dir, const char *name, size_t len, uint32_t mode, uint64_t mtime,
		struct vnode **out);
/* Any vnode that is not a directory; the entry takes a hold of its own. */
int ramfs_link(struct vnode *dir, const char *name, size_t len, struct vnode *vn);
/* As above, in the place of an entry that is there already and no directory. */
int ramfs_replace(struct vnode *dir, const char *name, size_t len, struct vnode *vn);
/* A regular file without a name, held; NULL: out of memory. */
struct vnode *ramfs_file(uint32_t mode, uint64_t mtime);
/* Its bytes, which are used where they lie and must stay there. */
void ramfs_set_content(struct vnode *file, const void *bytes, uint64_t size);

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

/* Fills `root` from the archives; says on the console what it could not use. */
void initrd_unpack(struct vnode *root, const void *base, uint64_t size);
/* Adds /dev with its devices.  Panics when it cannot. */
void devfs_init(struct vnode *root);
