/*
 * sys/statvfs.h - room in a file system.  A file system in memory reports the machine's free
 * memory.
 */
#pragma once
#include <sys/types.h>

struct statvfs {
	unsigned long f_bsize, f_frsize; /* bytes of a block */
	unsigned long f_blocks, f_bfree, f_bavail;
	unsigned long f_files, f_ffree, f_favail; /* 0: no limit of their own */
	unsigned long f_fsid, f_flag, f_namemax;
};

#ifdef __cplusplus
extern "C" {
#endif

int statvfs(const char *path, struct statvfs *sv);
int fstatvfs(int fd, struct statvfs *sv);

#ifdef __cplusplus
}
#endif
