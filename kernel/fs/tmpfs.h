/*
 * tmpfs.h - what the files of tmpfs share: the file system, and how vnodes are made.
 */
#pragma once
#include <kern/tree.h>
#include "fs.h"

struct tmpfs {
	uint32_t dev;
	uint64_t next_ino;   /* atomic */
	struct kmutex moves; /* held while an entry moves from one directory to another */
	bool unpacking;      /* what is made now belongs to the initial RAM disk */
};

/* --- tmpfs_names.c: the names in a directory; the directory's lock held ---------------------- */

struct tmpfs_entry {
	union {
		struct tree_node by_name; /* not in_table */
		uint64_t hash;            /* in_table */
	};
	struct tree_node by_cookie;
	uint64_t cookie;
	struct vnode *vn; /* held */
	uint16_t len;
	bool in_table;
	char name[]; /* len bytes */
};

/* Cookies 0 and 1 are "." and "..". */
#define FIRST_COOKIE 2

struct names {
	struct tree by_name, by_cookie; /* the entries that are not of the RAM disk */
	uint64_t next_cookie;
	/* The entries of the RAM disk.  `table` is NULL in a directory that is not of it. */
	struct tree boot_by_cookie;
	uint64_t next_boot_cookie;
	struct tmpfs_entry **table;
	uint64_t mask; /* places of the table, less one */
	uint64_t in_table;
};

/* Makes an empty set of names.  unpacking: the directory is one of the RAM disk. */
void names_init(struct names *n, bool unpacking);
/* Makes an empty directory one of the RAM disk. */
void names_unpack(struct names *n);
void names_destroy(struct names *n); /* n is empty */
/* Makes an entry that is in no directory, without its vnode; NULL: out of memory.  kfree frees it.
 * Needs no lock. */
struct tmpfs_entry *names_entry(const char *name, size_t len);
/* The entry of that name, or NULL. */
struct tmpfs_entry *names_find(const struct names *n, const char *name, size_t len);
/* The first entry whose cookie is `cookie` or more, or NULL. */
struct tmpfs_entry *names_from(const struct names *n, uint64_t cookie);
bool names_empty(const struct names *n);
/* Inserts e, and gives it a cookie.  No entry has its name yet. */
void names_insert(struct names *n, struct tmpfs_entry *e, bool unpacking);
void names_remove(struct names *n, struct tmpfs_entry *e);

/* --- tmpfs_dir.c, for vnodes of any kind ----------------------------------------------------- */

/* Sets up a vnode of fs: one hold, no link, all times now. */
void tmpfs_init_vnode(struct vnode *vn, struct tmpfs *fs, const struct vnode_ops *ops,
		      uint32_t mode);
/* chmod and utimens, for any vnode of a tmpfs. */
int tmpfs_setattr(struct vnode *vn, const struct vattr *a);

/* tmpfs_file.c: make a regular file, a symbolic link; held, without a name.  NULL: no memory. */
struct vnode *tmpfs_file(struct tmpfs *fs, uint32_t mode);
struct vnode *tmpfs_symlink(struct tmpfs *fs, const char *target);
