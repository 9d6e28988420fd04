/* mman.h - protections and flags of mmap, mprotect, madvise, msync (the values of Linux). */
#pragma once

/*
 * The most mappings of a process.  A call that may need one more fails with ENOMEM, and changes
 * nothing.  Neighbours with the same protection and flags are one mapping, if they are anonymous or
 * of the same file.  A thread's stack and its guard are two mappings.
 */
#define WEFT_MAPPINGS_MAX 262144

#define WEFT_PROT_NONE 0
#define WEFT_PROT_READ 1
#define WEFT_PROT_WRITE 2
#define WEFT_PROT_EXEC 4

#define WEFT_MAP_SHARED 0x01
#define WEFT_MAP_PRIVATE 0x02
#define WEFT_MAP_FIXED 0x10
#define WEFT_MAP_ANON 0x20
#define WEFT_MAP_NORESERVE 0x4000

#define WEFT_MADV_NORMAL 0
#define WEFT_MADV_RANDOM 1
#define WEFT_MADV_SEQUENTIAL 2
#define WEFT_MADV_WILLNEED 3
#define WEFT_MADV_DONTNEED 4

#define WEFT_MS_ASYNC 1
#define WEFT_MS_INVALIDATE 2
#define WEFT_MS_SYNC 4
