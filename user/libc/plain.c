/*
 * plain.c - open as newlib's stdio calls it (user.mk): no cancellation point.  A thread that ended
 * in one of stdio's functions would leave a stream half made.  close, read, write: syscalls.c.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>
#include "libc.h"

/* Nobody declares it but newlib, by another name. */
int __plain_open(const char *path, int flags, ...);

int __plain_open(const char *path, int flags, ...)
{
	return result(__sys_open(path, flags, OPEN_MODE(flags)));
}
