/*
 * uio.c - reading and writing at an offset, and from and to several pieces of memory.
 */
#include <sys/uio.h>
#include <unistd.h>
#include <weft/file.h>
#include "libc.h"

_Static_assert(sizeof(struct iovec) == sizeof(struct weft_iovec), "struct iovec");

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
	return point_result(__point_pread(fd, buf, n, off));
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
	return point_result(__point_pwrite(fd, buf, n, off));
}

ssize_t readv(int fd, const struct iovec *iov, int n)
{
	return point_result(__point_readv(fd, (const struct weft_iovec *)iov, n));
}

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	return point_result(__point_writev(fd, (const struct weft_iovec *)iov, n));
}
