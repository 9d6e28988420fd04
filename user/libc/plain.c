/*
 * plain.c - open, close, read and write as newlib's stdio calls them (user.mk): no cancellation
 * points.  A thread that ended in one of stdio's functions would leave a stream half made.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>
#include "libc.h"

/* Nobody declares them but newlib, by other names. */
int __plain_open(const char *path, int flags, ...);
int __plain_close(int fd);
ssize_t __plain_read(int fd, void *buf, size_t n);
ssize_t __plain_write(int fd, const void *buf, size_t n);

int __plain_open(const char *path, int flags, ...)
{
	return result(__sys_open(path, flags, OPEN_MODE(flags)));
}

int __plain_close(int fd)
{
	return result(__sys_close(fd));
}

ssize_t __plain_read(int fd, void *buf, size_t n)
{
	return result(__sys_read(fd, buf, n));
}

ssize_t __plain_write(int fd, const void *buf, size_t n)
{
	return result(__sys_write(fd, buf, n));
}
