/*
 * filetest.h - what the tests of the file system calls share: pointers that the
 * kernel must refuse, and a page with nothing behind it.
 */
#pragma once
#include <stdint.h>
#include <weft/errno.h>
#include <weft/file.h>
#include <weft/mman.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "tap.h"

#define PAGE 4096
#define UNMAPPED ((void *)0x10)
#define KERNEL_ADDR ((void *)0xffff800000000000ull)
#define NON_CANONICAL ((void *)0x8000000000000000ull)
#define LAST_BYTES ((void *)-8ll) /* a buffer here wraps round */

/* Two pages; only the first can be used. */
__attribute__((unused)) static char *page_before_hole(void)
{
	char *p = (char *)__sys_mmap(NULL, 2 * PAGE, WEFT_PROT_READ | WEFT_PROT_WRITE,
				     WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1, 0);
	if ((long)p < 0 || __sys_munmap(p + PAGE, PAGE) != 0)
		bail("no memory for a page and a hole");
	return p;
}
