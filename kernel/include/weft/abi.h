/*
 * abi.h - limits and constants of the system that user space may rely on.
 *
 * The headers in this folder are everything that user space shares with the
 * kernel.  Each constant and structure that crosses the boundary is defined
 * here once, with a comment that names its writer.  They are plain C.  They
 * include only each other and <stdint.h>, so the kernel, libc and libthread
 * compile the same text.
 */
#pragma once
#include <stdint.h>

#define WEFT_MAXCPU 64      /* CPUs that the kernel can drive */
#define WEFT_PAGE_SIZE 4096 /* bytes; the only page size user space sees */
#define WEFT_HZ 100         /* ticks a second; a time slice is a number of ticks */
#define WEFT_TICK_NS (1000000000ll / WEFT_HZ)

/*
 * User addresses.  Nothing can be mapped at or above WEFT_USER_END, which is a
 * page short of the canonical limit: a SYSCALL in the last page would otherwise
 * return to a non-canonical address.
 */
#define WEFT_USER_START 0x0000000000400000ull
#define WEFT_USER_END 0x00007ffffffff000ull

/*
 * The first stack of a process holds argc, argv, envp and this vector, in the
 * order and layout of the System V ABI for x86-64 (3.4.1).  Tags below 32 have
 * the values of that ABI; tags from 0x1000 on are weft's.
 */
#define AT_NULL 0 /* macros, because <elf.h> defines macros */
#define AT_PAGESZ 6
#define AT_ENTRY 9
#define AT_WEFT_TIMEPAGE 0x1000  /* address of struct timepage (time.h) */
#define AT_WEFT_NCPU 0x1001      /* CPUs online when the process started */
#define AT_WEFT_SCHEDCTL 0x1002  /* the first LWP's struct schedctl */
#define AT_WEFT_TLS 0x1003       /* the program header of type PT_TLS, if it has one */
#define AT_WEFT_STACK 0x1004     /* the first stack: its lowest address, ... */
#define AT_WEFT_STACK_END 0x1005 /* ... and the first address above it */

struct auxv {
	uint64_t tag, value;
};
