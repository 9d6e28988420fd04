/*
 * plain.c - open as newlib's stdio calls it (user.mk): no cancellation point.  A thread cancelled
 * inside one of stdio's functions would leave a stream inconsistent.  close, read, write:
 * syscalls.c.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>
#include "libc.h"

/* Only newlib declares it, by another name. */
int __plain_open(const char *path, int flags, ...);

int __plain_open(const char *path, int flags, ...)
{
	return result(__sys_open(path, flags, OPEN_MODE(flags)));
}
