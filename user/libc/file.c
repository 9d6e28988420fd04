/*
 * file.c - descriptors, and attributes of files.  Plain calls: each sets errno to the kernel's
 * error.
 */
#define _GNU_SOURCE /* pipe2 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/file.h>
#include <weft/proc.h>
#include "libc.h"

_Static_assert(O_RDONLY == WEFT_O_RDONLY && O_WRONLY == WEFT_O_WRONLY && O_RDWR == WEFT_O_RDWR &&
		       O_APPEND == WEFT_O_APPEND && O_CREAT == WEFT_O_CREAT &&
		       O_TRUNC == WEFT_O_TRUNC && O_EXCL == WEFT_O_EXCL &&
		       O_NONBLOCK == WEFT_O_NONBLOCK && O_CLOEXEC == WEFT_O_CLOEXEC &&
		       O_DIRECTORY == WEFT_O_DIRECTORY && O_NOFOLLOW == WEFT_O_NOFOLLOW &&
		       O_NOCTTY == WEFT_O_NOCTTY && O_SYNC == WEFT_O_SYNC,
	       "open flags");
_Static_assert(AT_FDCWD == WEFT_AT_FDCWD, "openat");
_Static_assert(F_DUPFD == WEFT_F_DUPFD && F_GETFD == WEFT_F_GETFD && F_SETFD == WEFT_F_SETFD &&
		       F_GETFL == WEFT_F_GETFL && F_SETFL == WEFT_F_SETFL &&
		       F_DUPFD_CLOEXEC == WEFT_F_DUPFD_CLOEXEC && FD_CLOEXEC == WEFT_FD_CLOEXEC,
	       "fcntl");
_Static_assert(F_GETLK == WEFT_F_GETLK && F_SETLK == WEFT_F_SETLK && F_SETLKW == WEFT_F_SETLKW &&
		       F_RDLCK == WEFT_F_RDLCK && F_WRLCK == WEFT_F_WRLCK &&
		       F_UNLCK == WEFT_F_UNLCK &&
		       sizeof(struct flock) == sizeof(struct weft_flock) &&
		       offsetof(struct flock, l_start) == offsetof(struct weft_flock, start) &&
		       offsetof(struct flock, l_pid) == offsetof(struct weft_flock, pid),
	       "record locks");
_Static_assert(S_IFMT == WEFT_S_IFMT && S_IFDIR == WEFT_S_IFDIR && S_IFCHR == WEFT_S_IFCHR &&
		       S_IFREG == WEFT_S_IFREG && S_IFIFO == WEFT_S_IFIFO &&
		       S_IFLNK == WEFT_S_IFLNK,
	       "file types");
_Static_assert(SEEK_SET == WEFT_SEEK_SET && SEEK_CUR == WEFT_SEEK_CUR && SEEK_END == WEFT_SEEK_END,
	       "seek origins");
_Static_assert(sizeof(struct winsize) == sizeof(struct weft_winsize), "struct winsize");

int open(const char *path, int flags, ...)
{
	return point_result(__point_open(path, flags, OPEN_MODE(flags)));
}

/*
 * As open, but a relative path begins at the directory that fd is open for (AT_FDCWD: the current
 * directory).  A cancellation point.  Errors of open; EBADF, ENOTDIR: fd is not open for a
 * directory.  (POSIX, openat.)
 */
int openat(int fd, const char *path, int flags, ...)
{
	return point_result(__point_openat(fd, path, flags, OPEN_MODE(flags)));
}

int creat(const char *path, mode_t mode)
{
	return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

int close(int fd)
{
	return point_result(__point_close(fd));
}

ssize_t read(int fd, void *buf, size_t n)
{
	return point_result(__point_read(fd, buf, n));
}

ssize_t write(int fd, const void *buf, size_t n)
{
	return point_result(__point_write(fd, buf, n));
}

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long); /* for commands without an argument the kernel ignores it */
	va_end(ap);
	if (cmd == F_SETLKW)
		return point_result(__point_fcntl(fd, cmd, arg));
	return result(__sys_fcntl(fd, cmd, arg));
}

/*
 * Sets, removes or tests a lock for writing on len bytes from the file's offset on.  len 0: to the
 * end; len below 0: the bytes before the offset.  F_SETLK and F_SETLKW describe the locks.
 *
 * F_LOCK waits for other locks; it blocks and is a cancellation point.  F_TLOCK does not wait.
 * F_ULOCK removes the lock.  F_TEST looks for another process's lock.  Errors of fcntl; EINVAL:
 * cmd; EACCES: F_TEST, and another process has a lock.  (POSIX, lockf.)
 */
int lockf(int fd, int cmd, off_t len)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = len};

	switch (cmd) {
	case F_LOCK:
		return fcntl(fd, F_SETLKW, &lock);
	case F_TLOCK:
		return fcntl(fd, F_SETLK, &lock);
	case F_ULOCK:
		lock.l_type = F_UNLCK;
		return fcntl(fd, F_SETLK, &lock);
	case F_TEST:
		if (fcntl(fd, F_GETLK, &lock) < 0)
			return -1;
		return lock.l_type == F_UNLCK ? 0 : fails(EACCES);
	default:
		return fails(EINVAL);
	}
}

int pipe(int fd[2])
{
	return pipe2(fd, 0);
}

static struct timespec timespec_from_ns(uint64_t ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static void stat_convert(struct stat *st, const struct weft_stat *k)
{
	memset(st, 0, sizeof(*st));
	st->st_dev = k->dev;
	st->st_ino = k->ino;
	st->st_mode = k->mode;
	st->st_nlink = k->nlink;
	st->st_rdev = k->rdev;
	st->st_size = k->size;
	st->st_atim = timespec_from_ns(k->atime);
	st->st_mtim = timespec_from_ns(k->mtime);
	st->st_ctim = timespec_from_ns(k->ctime);
	st->st_blksize = WEFT_PAGE_SIZE;
	st->st_blocks = (k->allocated + S_BLKSIZE - 1) / S_BLKSIZE;
}

int fstat(int fd, struct stat *st)
{
	struct weft_stat k;

	if (result(__sys_fstat(fd, &k)) < 0)
		return -1;
	stat_convert(st, &k);
	return 0;
}

int stat(const char *path, struct stat *st)
{
	struct weft_stat k;

	if (result(__sys_stat(path, &k)) < 0)
		return -1;
	stat_convert(st, &k);
	return 0;
}

int lstat(const char *path, struct stat *st)
{
	struct weft_stat k;

	if (result(__sys_lstat(path, &k)) < 0)
		return -1;
	stat_convert(st, &k);
	return 0;
}

int isatty(int fd)
{
	struct weft_termios t;

	return result(__sys_ioctl(fd, WEFT_TCGETS, &t)) < 0 ? 0 : 1;
}

/*
 * Does nothing: files are in memory, and every read sees what was written.
 * A cancellation point.  -1: EBADF: no such descriptor; EINVAL: a pipe.
 */
int fsync(int fd)
{
	struct weft_stat k;

	pthread_testcancel();
	if (result(__sys_fstat(fd, &k)) < 0)
		return -1;
	return S_ISFIFO(k.mode) ? fails(EINVAL) : 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

void sync(void)
{
}
