/*
 * sys/mman.h - memory mappings, and shared memory objects.
 */
#pragma once
#include <sys/types.h>
#include <weft/mman.h>

#define PROT_NONE WEFT_PROT_NONE
#define PROT_READ WEFT_PROT_READ
#define PROT_WRITE WEFT_PROT_WRITE
#define PROT_EXEC WEFT_PROT_EXEC

#define MAP_SHARED WEFT_MAP_SHARED
#define MAP_PRIVATE WEFT_MAP_PRIVATE
#define MAP_FIXED WEFT_MAP_FIXED
#define MAP_ANON WEFT_MAP_ANON
#define MAP_ANONYMOUS MAP_ANON
#define MAP_NORESERVE WEFT_MAP_NORESERVE
#define MAP_STACK 0 /* any mapping is suitable */
#define MAP_FAILED ((void *)-1)

#define MADV_NORMAL WEFT_MADV_NORMAL
#define MADV_RANDOM WEFT_MADV_RANDOM
#define MADV_SEQUENTIAL WEFT_MADV_SEQUENTIAL
#define MADV_WILLNEED WEFT_MADV_WILLNEED
#define MADV_DONTNEED WEFT_MADV_DONTNEED
#define POSIX_MADV_NORMAL WEFT_MADV_NORMAL
#define POSIX_MADV_RANDOM WEFT_MADV_RANDOM
#define POSIX_MADV_SEQUENTIAL WEFT_MADV_SEQUENTIAL
#define POSIX_MADV_WILLNEED WEFT_MADV_WILLNEED
#define POSIX_MADV_DONTNEED WEFT_MADV_DONTNEED

#define MS_ASYNC WEFT_MS_ASYNC
#define MS_INVALIDATE WEFT_MS_INVALIDATE
#define MS_SYNC WEFT_MS_SYNC

#define MCL_CURRENT 1
#define MCL_FUTURE 2

#ifdef __cplusplus
extern "C" {
#endif

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int munmap(void *addr, size_t len);
int mprotect(void *addr, size_t len, int prot);
int madvise(void *addr, size_t len, int advice);
int posix_madvise(void *addr, size_t len, int advice);
int msync(void *addr, size_t len, int flags);
int mlock(const void *addr, size_t len);
int munlock(const void *addr, size_t len);
int mlockall(int flags);
int munlockall(void);
int shm_open(const char *name, int flags, mode_t mode);
int shm_unlink(const char *name);

#ifdef __cplusplus
}
#endif
