/*
 * err_memmap.c - every error of the system calls for memory.  That there is no more of it, of
 * munmap: err_memory.c.
 */
#include <weft/start.h>
#include "errtest.h"

#define R WEFT_PROT_READ
#define RW (WEFT_PROT_READ | WEFT_PROT_WRITE)
#define ANON (WEFT_MAP_PRIVATE | WEFT_MAP_ANON)
#define FIXED (ANON | WEFT_MAP_FIXED)

static char *at(long r)
{
	if (r < 0)
		bail("mmap: %ld", r);
	return (char *)r;
}

static void mapping(void)
{
	int file = __sys_open("file", WEFT_O_RDWR, 0), reader = __sys_open("file", 0, 0);
	int writer = __sys_open("file", WEFT_O_WRONLY, 0);
	struct weft_rlimit none, old;

	gives(mmap, EINVAL, "no bytes", NULL, 0, RW, ANON, -1, 0);
	gives(mmap, EINVAL, "unknown protection", NULL, PAGE, 64, ANON, -1, 0);
	gives(mmap, EINVAL, "unknown flags", NULL, PAGE, RW, ANON | 1 << 29, -1, 0);
	gives(mmap, EINVAL, "neither private nor shared", NULL, PAGE, RW, WEFT_MAP_ANON, -1, 0);
	gives(mmap, EINVAL, "both", NULL, PAGE, RW, ANON | WEFT_MAP_SHARED, -1, 0);
	gives(mmap, EINVAL, "a fixed place within a page", (void *)0x10000010, PAGE, RW, FIXED, -1,
	      0);
	gives(mmap, EINVAL, "an offset within a page", NULL, PAGE, R, WEFT_MAP_PRIVATE, file, 100);
	gives(mmap, EBADF, "no such descriptor", NULL, PAGE, R, WEFT_MAP_PRIVATE, -1, 0);
	gives(mmap, EACCES, "not open for reading", NULL, PAGE, R, WEFT_MAP_PRIVATE, writer, 0);
	gives(mmap, EACCES, "not open for writing", NULL, PAGE, RW, WEFT_MAP_SHARED, reader, 0);
	gives(mmap, ENODEV, "a device", NULL, PAGE, R, WEFT_MAP_PRIVATE, 1, 0);
	gives(mmap, EOVERFLOW, "beyond all offsets", NULL, PAGE, R, WEFT_MAP_PRIVATE, file,
	      INT64_MAX);
	gives(mmap, ENOMEM, "a fixed place in the kernel", KERNEL_ADDR, PAGE, RW, FIXED, -1, 0);
	gives(mmap, ENOMEM, "more than there is", NULL, 1ul << 40, RW, ANON, -1, 0);
	gives(mmap, ENOMEM, "more than there is room", NULL, 1ul << 47, R, ANON, -1, 0);
	__sys_rlimit(WEFT_RLIMIT_AS, NULL, &old);
	none = (struct weft_rlimit){0, old.max};
	__sys_rlimit(WEFT_RLIMIT_AS, &none, NULL);
	gives(mmap, ENOMEM, "the limit", NULL, PAGE, RW, ANON, -1, 0);
	__sys_rlimit(WEFT_RLIMIT_AS, &old, NULL);
	char *shared = at(works(mmap, NULL, PAGE, R, WEFT_MAP_SHARED, reader, 0));
	gives(mprotect, EACCES, "a file that is not open for writing", shared, PAGE, RW);
	works(munmap, shared, PAGE);
}

static void changing(void)
{
	char *p = at(__sys_mmap(NULL, 3 * PAGE, RW, ANON, -1, 0));
	char *time_page = (char *)__timepage;

	__sys_munmap(p + 2 * PAGE, PAGE);
	gives(munmap, EINVAL, "within a page", p + 1, PAGE);
	gives(munmap, EINVAL, "no bytes", p, 0);
	gives(munmap, EINVAL, "in the kernel", KERNEL_ADDR, PAGE);

	gives(mprotect, EINVAL, "within a page", p + 1, PAGE, R);
	gives(mprotect, EINVAL, "unknown protection", p, PAGE, 64);
	gives(mprotect, ENOMEM, "a hole", p, 3 * PAGE, R);
	gives(mprotect, EACCES, "a page of the kernel's", time_page, PAGE, RW);
	works(mprotect, p, PAGE, R);

	gives(madvise, EINVAL, "unknown advice", p, PAGE, 99);
	gives(madvise, EINVAL, "within a page", p + 1, PAGE, WEFT_MADV_DONTNEED);
	gives(madvise, EINVAL, "a page of the kernel's", time_page, PAGE, WEFT_MADV_DONTNEED);
	gives(madvise, ENOMEM, "a hole", p, 3 * PAGE, WEFT_MADV_DONTNEED);
	gives(madvise, ENOMEM, "a hole, of other advice", p, 3 * PAGE, WEFT_MADV_NORMAL);
	works(madvise, p, PAGE, WEFT_MADV_DONTNEED);

	gives(msync, EINVAL, "unknown flags", p, PAGE, 64);
	gives(msync, EINVAL, "both flags", p, PAGE, WEFT_MS_ASYNC | WEFT_MS_SYNC);
	gives(msync, EINVAL, "within a page", p + 1, PAGE, WEFT_MS_SYNC);
	gives(msync, ENOMEM, "a hole", p, 3 * PAGE, WEFT_MS_SYNC);
	works(msync, p, PAGE, WEFT_MS_SYNC);
	works(brk, NULL);
}

/* Lengths that wrap, when they are rounded up to pages or added to the address. */
static void wrapping(void)
{
	char *p = at(__sys_mmap(NULL, PAGE, RW, ANON, -1, 0));
	const uint64_t lens[] = {-1ul,         -PAGE + 1,           -PAGE,
				 -(uint64_t)p, -(uint64_t)p + PAGE, 1ul << 63};

	*p = 1;
	for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		uint64_t len = lens[i];
		gives(madvise, ENOMEM, "a length that wraps", p, len, WEFT_MADV_NORMAL);
		gives(madvise, ENOMEM, "a length that wraps, to discard", p, len,
		      WEFT_MADV_DONTNEED);
		gives(msync, ENOMEM, "a length that wraps", p, len, WEFT_MS_SYNC);
		gives(mprotect, ENOMEM, "a length that wraps", p, len, R);
		gives(munmap, EINVAL, "a length that wraps", p, len);
	}
	gives(mmap, EINVAL, "a length that wraps", NULL, -1ul, R, ANON, -1, 0);
	ok("the page stays", *p == 1);
	works(munmap, p, PAGE);
}

int main(void)
{
	err_paths("/tmp/err_memmap");
	mapping();
	changing();
	wrapping();
	return tap_done();
}
