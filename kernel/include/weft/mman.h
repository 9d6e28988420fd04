/* mman.h - protections and flags of mmap, mprotect.  The values of Linux. */
#pragma once

#define WEFT_PROT_NONE 0
#define WEFT_PROT_READ 1
#define WEFT_PROT_WRITE 2
#define WEFT_PROT_EXEC 4

#define WEFT_MAP_SHARED 0x01
#define WEFT_MAP_PRIVATE 0x02
#define WEFT_MAP_FIXED 0x10
#define WEFT_MAP_ANON 0x20
#define WEFT_MAP_NORESERVE 0x4000
