/*
 * names.c - directories and names: the calls with a path.
 */
#include <fcntl.h>
#include <reent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>
#include <weft/file.h>
#include "libc.h"

_Static_assert(UTIME_NOW == WEFT_UTIME_NOW && UTIME_OMIT == WEFT_UTIME_OMIT, "utimens");
_Static_assert(sizeof(struct timespec) == sizeof(struct weft_timespec), "struct timespec");

/* newlib's version does not remove directories. */
int remove(const char *path)
{
	long r = __sys_unlink(path);

	return result(r == -EPERM ? __sys_rmdir(path) : r);
}

/* newlib's own tmpfile calls this name. */
int _remove_r(struct _reent *reent, const char *path)
{
	return remove(path);
}

mode_t umask(mode_t mask)
{
	return __sys_umask(mask);
}

/* There is one user, which has all permissions, except to execute a file without any x bit. */
int access(const char *path, int mode)
{
	struct weft_stat k;

	if (mode & ~(R_OK | W_OK | X_OK))
		return fails(EINVAL);
	if (result(__sys_stat(path, &k)) < 0)
		return -1;
	if ((mode & X_OK) && S_ISREG(k.mode) && !(k.mode & 0111))
		return fails(EACCES);
	return 0;
}

/* fd must be AT_FDCWD: other values give ENOTSUP. */
int utimensat(int fd, const char *path, const struct timespec *times, int flags)
{
	if (flags & ~AT_SYMLINK_NOFOLLOW)
		return fails(EINVAL);
	if (fd != AT_FDCWD && *path != '/')
		return fails(ENOTSUP);
	return result(__sys_utimens(path, (const struct weft_timespec *)times,
				    !(flags & AT_SYMLINK_NOFOLLOW)));
}

int utimes(const char *path, const struct timeval *times)
{
	struct timespec ts[2];

	for (int i = 0; times && i < 2; i++)
		ts[i] = (struct timespec){times[i].tv_sec, times[i].tv_usec * 1000};
	return utimensat(AT_FDCWD, path, times ? ts : NULL, 0);
}

/* --- the current directory, absolute paths ------------------------------------------- */

/* buf NULL: allocates as many bytes as needed, as other systems do. */
char *getcwd(char *buf, size_t size)
{
	char path[WEFT_PATH_MAX];
	long n;

	if (buf)
		return result(__sys_getcwd(buf, size)) < 0 ? NULL : buf;
	n = result(__sys_getcwd(path, sizeof(path)));
	if (n < 0)
		return NULL;
	buf = malloc(size > (size_t)n ? size : (size_t)n);
	return buf ? memcpy(buf, path, n) : NULL;
}

#define LINKS_MAX 40 /* as the kernel's VFS_SYMLINKS_MAX */

/*
 * Moves the names of the path one by one to `done`, which becomes an absolute path without
 * symbolic links, . and .. in it.  Returns an error number, or 0.
 */
static int path_resolve(const char *path, char *done)
{
	char left[WEFT_PATH_MAX], target[2 * WEFT_PATH_MAX];
	size_t len = strlen(done), n;
	int links = 0;
	struct weft_stat st;
	long r;

	if (strlcpy(left, path, sizeof(left)) >= sizeof(left))
		return ENAMETOOLONG;
	for (;;) {
		const char *name = left + strspn(left, "/");

		if (!*name)
			break;
		n = strcspn(name, "/");
		if ((n == 1 && *name == '.') || (n == 2 && !strncmp(name, "..", 2))) {
			if (n == 2)
				while (len > 0 && done[--len] != '/')
					;
			done[len] = '\0';
			memmove(left, name + n, strlen(name + n) + 1);
			continue;
		}
		if (len + 1 + n >= WEFT_PATH_MAX)
			return ENAMETOOLONG;
		done[len] = '/';
		memcpy(done + len + 1, name, n);
		done[len + 1 + n] = '\0';
		memmove(left, name + n, strlen(name + n) + 1);
		r = __sys_lstat(done, &st);
		if (r < 0)
			return -r;
		if (S_ISLNK(st.mode)) {
			if (++links > LINKS_MAX)
				return ELOOP;
			r = __sys_readlink(done, target, WEFT_PATH_MAX - 1);
			if (r < 0)
				return -r;
			strcpy(target + r, left);
			if (strlcpy(left, target, sizeof(left)) >= sizeof(left))
				return ENAMETOOLONG;
			if (*target == '/')
				len = 0;
			done[len] = '\0';
		} else if (*left && !S_ISDIR(st.mode)) {
			return ENOTDIR;
		} else {
			len += 1 + n;
		}
	}
	if (len == 0)
		strcpy(done, "/");
	return 0;
}

/* All names of the path must exist.  `out` has WEFT_PATH_MAX bytes; NULL: allocates. */
char *realpath(const char *path, char *out)
{
	char done[WEFT_PATH_MAX] = "";
	int error;

	if (!path || !*path) {
		errno = path ? ENOENT : EINVAL;
		return NULL;
	}
	if (*path != '/' && !getcwd(done, sizeof(done)))
		return NULL;
	if (!strcmp(done, "/"))
		*done = '\0';
	error = path_resolve(path, done);
	if (error) {
		errno = error;
		return NULL;
	}
	return out ? strcpy(out, done) : strdup(done);
}

/* --- file systems ---------------------------------------------------------------------- */

static int statvfs_dev(uint64_t dev, struct statvfs *sv)
{
	struct weft_mount m;
	unsigned i;

	for (i = 0; __sys_mountinfo(i, &m) == 0; i++)
		if (m.dev == dev) {
			*sv = (struct statvfs){
				.f_bsize = WEFT_PAGE_SIZE,
				.f_frsize = WEFT_PAGE_SIZE,
				.f_blocks = m.size / WEFT_PAGE_SIZE,
				.f_bfree = m.free / WEFT_PAGE_SIZE,
				.f_bavail = m.free / WEFT_PAGE_SIZE,
				.f_fsid = dev,
				.f_namemax = WEFT_NAME_MAX,
			};
			return 0;
		}
	return fails(ENOSYS); /* a pipe: it is in no file system */
}

int statvfs(const char *path, struct statvfs *sv)
{
	struct weft_stat st;

	return result(__sys_stat(path, &st)) < 0 ? -1 : statvfs_dev(st.dev, sv);
}

int fstatvfs(int fd, struct statvfs *sv)
{
	struct weft_stat st;

	return result(__sys_fstat(fd, &st)) < 0 ? -1 : statvfs_dev(st.dev, sv);
}
