/*
 * tmpfs.h - what the files of tmpfs share: the file system, and how its vnodes are made.
 */
#pragma once
#include "fs.h"

struct tmpfs {
	uint32_t dev;
	uint64_t next_ino;   /* atomic */
	struct kmutex moves; /* held while something goes from one directory to another */
};

/* Sets up a vnode of fs: one hold, no link, all times now. */
void tmpfs_init_vnode(struct vnode *vn, struct tmpfs *fs, const struct vnode_ops *ops,
		      uint32_t mode);
/* chmod and utimens, for any vnode of a tmpfs. */
int tmpfs_setattr(struct vnode *vn, const struct vattr *a);

/* tmpfs_file.c: a regular file and a symbolic link, held, without a name; NULL: no memory. */
struct vnode *tmpfs_file(struct tmpfs *fs, uint32_t mode);
struct vnode *tmpfs_symlink(struct tmpfs *fs, const char *target);
