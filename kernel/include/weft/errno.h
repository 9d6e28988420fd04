/*
 * errno.h - error numbers.  A system call returns a result of 0 or more, or the
 * negative of an error number.  The values are newlib's (sys/errno.h), so the
 * C library returns them unchanged; libc asserts at build time that they agree.
 */
#pragma once

#ifndef EPERM /* newlib's own header may have been included first */
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define ENOEXEC 8
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENODEV 19
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOTTY 25
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EPIPE 32
#define ERANGE 34
#define EDEADLK 45
#define ENOLCK 46
#define ENOSYS 88
#define ENOTEMPTY 90
#define ENAMETOOLONG 91
#define ELOOP 92
#define ETIMEDOUT 116
#define ENOTSUP 134
#define EOVERFLOW 139
#define ENOTRECOVERABLE 141
#define EOWNERDEAD 142
#endif
