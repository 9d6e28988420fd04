/*
 * sys/mman.h - memory mappings.  Only anonymous memory can be mapped; mmap of a
 * file fails with ENODEV.
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
#define MAP_STACK 0 /* any mapping will do */
#define MAP_FAILED ((void *)-1)

#ifdef __cplusplus
extern "C" {
#endif

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int munmap(void *addr, size_t len);
int mprotect(void *addr, size_t len, int prot);

#ifdef __cplusplus
}
#endif
