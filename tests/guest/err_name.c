/*
 * err_name.c - every error of the system calls on names: directories, links, what a file says of
 * itself.  That there is no memory: err_memory.c.
 */
#include "errtest.h"

#define DIR_NAME "/tmp/err_name"
#define PROC "/proc/self/status" /* a file of a system that cannot be changed */

static struct weft_stat st;
static struct weft_timespec now[2] = {{0, WEFT_UTIME_NOW}, {0, WEFT_UTIME_NOW}};
static struct weft_timespec bad[2] = {{0, 1000000000}, {0, 0}};
static char buf[WEFT_PATH_MAX];

static void looking(void)
{
	gives_path_errors(stat, &st);
	gives(stat, ENOENT, "the last name", "none", &st);
	gives(stat, EFAULT, "the structure", "file", NOWHERE);
	works(stat, "file", &st);

	gives_path_errors(lstat, &st);
	gives(lstat, EFAULT, "the structure", "file", NOWHERE);
	works(lstat, "loop", &st);

	gives_path_errors(readlink, buf, sizeof(buf));
	gives(readlink, EFAULT, "the buffer", "loop", NOWHERE, 10);
	gives(readlink, EINVAL, "no symbolic link", "file", buf, sizeof(buf));
	gives(readlink, EINVAL, "no room", "loop", buf, 0);
	works(readlink, "loop", buf, sizeof(buf));

	struct weft_mount m;
	gives(mountinfo, ENOENT, "there are not so many", 1000, &m);
	gives(mountinfo, EFAULT, "the structure", 0, NOWHERE);
	works(mountinfo, 0, &m);
}

static void making(void)
{
	gives_path_errors(mkdir, 0755);
	gives(mkdir, EEXIST, "a file", "file", 0755);
	gives(mkdir, EEXIST, "the root", "/", 0755);
	gives(mkdir, EROFS, "in /proc", "/proc/x", 0755);
	works(mkdir, "made", 0755);

	gives_path_errors(link, "new");
	gives(link, EFAULT, "new is nowhere", "file", NOWHERE);
	gives(link, ENOENT, "new's directory", "file", "none/x");
	gives(link, ENOTDIR, "new's directory is a file", "file", "file/x");
	gives(link, ELOOP, "new's directory is a link to itself", "file", "loop/x");
	gives(link, ENAMETOOLONG, "new", "file", err_long(256));
	gives(link, EEXIST, "new is there", "file", "dir");
	gives(link, EPERM, "a directory", "dir", "new");
	gives(link, EXDEV, "another file system", "/dev/null", "new");
	gives(link, EROFS, "in /proc", PROC, "/proc/x");
	works(link, "file", "new");

	gives(symlink, EFAULT, "the target is nowhere", NOWHERE, "new");
	gives(symlink, EFAULT, "the path is nowhere", "target", NOWHERE);
	gives(symlink, ENOENT, "an empty target", "", "new");
	gives(symlink, ENOENT, "a directory is not there", "target", "none/x");
	gives(symlink, ENOTDIR, "a file in its middle", "target", "file/x");
	gives(symlink, ELOOP, "a link to itself", "target", "loop/x");
	gives(symlink, ENAMETOOLONG, "the target", err_long(1024), "new");
	gives(symlink, ENAMETOOLONG, "a name of 256 bytes", "target", err_long(256));
	gives(symlink, EEXIST, "a file", "target", "file");
	gives(symlink, EROFS, "in /proc", "target", "/proc/x");
	works(symlink, "target", "soft");
}

static void removing(void)
{
	gives_path_errors(rmdir);
	gives(rmdir, ENOENT, "the last name", "none");
	gives(rmdir, ENOTDIR, "a file", "file");
	gives(rmdir, ENOTEMPTY, "there is something in it", DIR_NAME);
	gives(rmdir, EINVAL, "the directory itself", "dir/.");
	gives(rmdir, EINVAL, "its parent", "dir/..");
	gives(rmdir, EBUSY, "the root", "/");
	gives(rmdir, EBUSY, "a mount", "/dev");
	gives(rmdir, EROFS, "in /proc", "/proc/1/lwp");
	works(rmdir, "made");

	gives_path_errors(unlink);
	gives(unlink, ENOENT, "the last name", "none");
	gives(unlink, EPERM, "a directory", "dir");
	gives(unlink, EROFS, "in /proc", PROC);
	works(unlink, "new");
}

static void renaming(void)
{
	__sys_mkdir("full", 0755);
	__sys_mkdir("full/x", 0755);
	gives_path_errors(rename, "new");
	gives(rename, EFAULT, "new is nowhere", "file", NOWHERE);
	gives(rename, ENOENT, "the last name", "none", "new");
	gives(rename, EISDIR, "a file in the place of a directory", "file", "dir");
	gives(rename, ENOTDIR, "a directory in the place of a file", "dir", "file");
	gives(rename, ENOTDIR, "a file to a name with a slash", "file", "new/");
	gives(rename, ENOTEMPTY, "there is something in the new one", "dir", "full");
	gives(rename, EINVAL, "a directory into itself", "full", "full/x/y");
	gives(rename, EINVAL, "the directory itself", "dir/.", "new");
	gives(rename, EBUSY, "the root", "/", "new");
	gives(rename, EBUSY, "a mount", "/dev", "/new");
	gives(rename, EXDEV, "another file system", "file", "/dev/x");
	gives(rename, EROFS, "in /proc", PROC, "/proc/self/x");
	works(rename, "full", "fuller");
	__sys_rmdir("fuller/x");
	__sys_rmdir("fuller");
}

static void attributes(int fd, int proc)
{
	gives_path_errors(chmod, 0644);
	gives(chmod, EROFS, "in /proc", PROC, 0644);
	works(chmod, "file", 0644);
	gives(fchmod, EBADF, "no such descriptor", -1, 0644);
	gives(fchmod, EROFS, "in /proc", proc, 0644);
	works(fchmod, fd, 0644);

	gives_path_errors(utimens, now, 1);
	gives(utimens, EFAULT, "the times", "file", NOWHERE, 1);
	gives(utimens, EINVAL, "nanoseconds", "file", bad, 1);
	gives(utimens, EROFS, "in /proc", PROC, now, 1);
	works(utimens, "file", now, 1);
	gives(futimens, EBADF, "no such descriptor", -1, now);
	gives(futimens, EFAULT, "the times", fd, NOWHERE);
	gives(futimens, EINVAL, "nanoseconds", fd, bad);
	gives(futimens, EROFS, "in /proc", proc, now);
	works(futimens, fd, now);

	gives_path_errors(truncate, 0);
	gives(truncate, EISDIR, "a directory", "dir", 0);
	gives(truncate, EINVAL, "a size below 0", "file", -1);
	gives(truncate, EINVAL, "a device", "/dev/null", 0);
	gives(truncate, EFBIG, "larger than a file can be", "file", (1l << 48) + 1);
	gives(truncate, EROFS, "in /proc", PROC, 0);
	works(truncate, "file", 100);
	gives(ftruncate, EBADF, "no such descriptor", -1, 0);
	gives(ftruncate, EINVAL, "a size below 0", fd, -1);
	gives(ftruncate, EINVAL, "not open for writing", proc, 0);
	gives(ftruncate, EFBIG, "larger than a file can be", fd, (1l << 48) + 1);
	works(ftruncate, fd, 0);
	works(umask, 022);
}

/* A directory whose path is longer than any path may be. */
static void going(int fd)
{
	char name[WEFT_NAME_MAX + 1];

	memset(name, 'd', WEFT_NAME_MAX);
	name[WEFT_NAME_MAX] = '\0';
	gives_path_errors(chdir);
	gives(chdir, ENOTDIR, "a file", "file");
	gives(fchdir, EBADF, "no such descriptor", -1);
	gives(fchdir, ENOTDIR, "a file", fd);
	for (int i = 0; i < 5; i++) {
		__sys_mkdir(name, 0755);
		__sys_chdir(name);
	}
	gives(getcwd, ENAMETOOLONG, "longer than any path", buf, sizeof(buf));
	for (int i = 0; i < 5; i++) {
		__sys_chdir("..");
		__sys_rmdir(name);
	}
	gives(getcwd, ERANGE, "too small", buf, 3);
	gives(getcwd, EFAULT, "the buffer", NOWHERE, sizeof(buf));
	works(getcwd, buf, sizeof(buf));

	__sys_mkdir("gone", 0755);
	int home = __sys_open(".", WEFT_O_RDONLY, 0);
	works(chdir, "gone");
	__sys_rmdir("../gone");
	gives(getcwd, ENOENT, "the directory was removed", buf, sizeof(buf));
	works(fchdir, home);
	__sys_close(home);
}

int main(void)
{
	err_paths(DIR_NAME);
	int fd = __sys_open("file", WEFT_O_RDWR, 0), proc = __sys_open(PROC, WEFT_O_RDONLY, 0);

	looking();
	making();
	removing();
	renaming();
	attributes(fd, proc);
	going(fd);
	return tap_done();
}
