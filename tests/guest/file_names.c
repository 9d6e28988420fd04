/*
 * file_names.c - what changes directories: create, unlink, mkdir, rmdir, link, symlink, rename;
 * and what files say of themselves.  With good and bad arguments.
 */
#include "filetest.h"

#define DIR "/tmp/file_names"

/* Makes an empty file; 0 or an error. */
static long touch(const char *path)
{
	long fd = __sys_open(path, WEFT_O_WRONLY | WEFT_O_CREAT | WEFT_O_EXCL, 0644);
	return fd < 0 ? fd : __sys_close(fd);
}

static struct weft_stat st(const char *path)
{
	struct weft_stat s = {0};
	if (__sys_lstat(path, &s) != 0)
		memset(&s, 0xff, sizeof(s));
	return s;
}

static int there(const char *path)
{
	struct weft_stat s;
	return __sys_lstat(path, &s) == 0;
}

static void create(void)
{
	char buf[8];
	int fd = __sys_open("new", WEFT_O_RDWR | WEFT_O_CREAT, 0666);

	ok("create", fd >= 0);
	is("create: mode without the umask", st("new").mode, WEFT_S_IFREG | 0644);
	is("create: one link", st("new").nlink, 1);
	is("create: write", __sys_write(fd, "12345", 5), 5);
	is("create: size", st("new").size, 5);
	is("create: write on", __sys_pwrite(fd, "x", 1, 4), 1);
	is("create: read", __sys_pread(fd, buf, 8, 2), 3);
	ok("create: what was written", memcmp(buf, "34x", 3) == 0);
	__sys_close(fd);
	is("create: is there", touch("new"), -EEXIST);
	fd = __sys_open("new", WEFT_O_WRONLY | WEFT_O_CREAT, 0600);
	is("create: keeps what is there", st("new").size, 5);
	is("create: keeps its mode", st("new").mode, WEFT_S_IFREG | 0644);
	is("create: read what is for writing", __sys_read(fd, buf, 1), -EBADF);
	__sys_close(fd);
	fd = __sys_open("new", WEFT_O_WRONLY | WEFT_O_TRUNC, 0);
	is("O_TRUNC", st("new").size, 0);
	__sys_close(fd);
	fd = __sys_open("new", WEFT_O_WRONLY | WEFT_O_APPEND, 0);
	int other = __sys_open("new", WEFT_O_WRONLY, 0);
	__sys_write(other, "abcdef", 6);
	is("O_APPEND", __sys_write(fd, "gh", 2), 2);
	is("O_APPEND: where it wrote", __sys_lseek(fd, 0, WEFT_SEEK_CUR), 8);
	is("O_APPEND: pwrite writes where it is told", __sys_pwrite(fd, "A", 1, 0), 1);
	is("O_APPEND: pwrite leaves the offset", __sys_lseek(fd, 0, WEFT_SEEK_CUR), 8);
	is("O_APPEND: size", st("new").size, 8);
	__sys_close(fd);
	__sys_close(other);
	is("create: no directory", touch("none/new"), -ENOENT);
	is("create: below a file", touch("new/x"), -ENOTDIR);
	is("create: name with a slash", __sys_open("dir/", WEFT_O_CREAT, 0600), -EISDIR);
	is("create: in a directory that is no file system's", touch("/dev/null/x"), -ENOTDIR);
	is("create: O_DIRECTORY", __sys_open("d", WEFT_O_CREAT | WEFT_O_DIRECTORY, 0600), -EINVAL);
	is("umask", __sys_umask(077), 022);
	is("umask: other bits", __sys_umask(01077), 077);
	touch("private");
	is("umask: works", st("private").mode, WEFT_S_IFREG | 0600);
	__sys_umask(022);
	is("unlink", __sys_unlink("private") + __sys_unlink("new"), 0);
	ok("unlink: gone", !there("new"));
}

static void unlinks(void)
{
	char buf[4];
	int fd = __sys_open("f", WEFT_O_RDWR | WEFT_O_CREAT, 0600);
	struct weft_stat s;

	__sys_write(fd, "abc", 3);
	is("unlink: while open", __sys_unlink("f"), 0);
	is("unlink: its name is free", touch("f"), 0);
	is("unlink: read on", __sys_pread(fd, buf, 4, 0), 3);
	is("unlink: write on", __sys_write(fd, "d", 1), 1);
	__sys_fstat(fd, &s);
	is("unlink: no link", s.nlink, 0);
	__sys_close(fd);
	is("unlink: the other", __sys_unlink("f"), 0);
	is("unlink: nothing there", __sys_unlink("f"), -ENOENT);
	__sys_mkdir("d", 0755);
	is("unlink: directory", __sys_unlink("d"), -EPERM);
	is("unlink: /", __sys_unlink("/"), -EPERM);
	is("unlink: .", __sys_unlink("."), -EPERM);
	touch("f");
	is("unlink: file with a slash", __sys_unlink("f/"), -ENOTDIR);
	is("unlink: NULL", __sys_unlink(NULL), -EFAULT);
	is("unlink: empty", __sys_unlink(""), -ENOENT);
	__sys_unlink("f");
	__sys_rmdir("d");
}

static void directories(void)
{
	char buf[100];

	is("mkdir", __sys_mkdir("d", 0777), 0);
	is("mkdir: mode without the umask", st("d").mode, WEFT_S_IFDIR | 0755);
	is("mkdir: two links", st("d").nlink, 2);
	is("mkdir: with a slash", __sys_mkdir("d/e/", 0700), 0);
	is("mkdir: one more link of the parent", st("d").nlink, 3);
	is("mkdir: is there", __sys_mkdir("d", 0777), -EEXIST);
	is("mkdir: .", __sys_mkdir("d/.", 0777), -EEXIST);
	is("mkdir: /", __sys_mkdir("/", 0777), -EEXIST);
	touch("d/f");
	is("mkdir: a file is there", __sys_mkdir("d/f", 0777), -EEXIST);
	is("mkdir: below a file", __sys_mkdir("d/f/x", 0777), -ENOTDIR);
	is("mkdir: no parent", __sys_mkdir("none/x", 0777), -ENOENT);
	is("mkdir: kernel address", __sys_mkdir(KERNEL_ADDR, 0777), -EFAULT);
	is("rmdir: not empty", __sys_rmdir("d"), -ENOTEMPTY);
	is("rmdir: file", __sys_rmdir("d/f"), -ENOTDIR);
	is("rmdir: .", __sys_rmdir("d/e/."), -EINVAL);
	is("rmdir: ..", __sys_rmdir("d/e/.."), -EINVAL);
	is("rmdir: /", __sys_rmdir("/"), -EBUSY);
	is("rmdir: mount", __sys_rmdir("/dev"), -EBUSY);
	is("rmdir: nothing there", __sys_rmdir("none"), -ENOENT);
	is("rmdir: NULL", __sys_rmdir(NULL), -EFAULT);
	is("rmdir: while we are in it", __sys_chdir("d/e") + __sys_rmdir("../e"), 0);
	is("rmdir: nothing can be made there", touch("x"), -ENOENT);
	is("rmdir: nor a directory", __sys_mkdir("x", 0700), -ENOENT);
	is("rmdir: no path leads there", __sys_getcwd(buf, sizeof(buf)), -ENOENT);
	is("rmdir: .. still leads out", __sys_chdir(".."), 0);
	is("rmdir: there", __sys_getcwd(buf, sizeof(buf)), sizeof(DIR "/d"));
	ok("rmdir: that is it", strcmp(buf, DIR "/d") == 0);
	__sys_unlink("f");
	__sys_chdir("..");
	is("rmdir", __sys_rmdir("d/"), 0);
	int fd = __sys_open("/tmp", 0, 0);
	is("fchdir", __sys_fchdir(fd), 0);
	is("fchdir: there", __sys_getcwd(buf, sizeof(buf)), 5);
	__sys_close(fd);
	fd = __sys_open("/bin/file_names", 0, 0);
	is("fchdir: file", __sys_fchdir(fd), -ENOTDIR);
	__sys_close(fd);
	is("fchdir: no descriptor", __sys_fchdir(99), -EBADF);
	__sys_chdir(DIR);
}

static void links(void)
{
	touch("a");
	is("link", __sys_link("a", "b"), 0);
	ok("link: the same file", st("a").ino == st("b").ino && st("a").nlink == 2);
	is("link: is there", __sys_link("a", "b"), -EEXIST);
	is("link: directory", __sys_link("/tmp", "c"), -EPERM);
	is("link: nothing", __sys_link("none", "c"), -ENOENT);
	is("link: to nowhere", __sys_link("a", "none/c"), -ENOENT);
	is("link: with a slash", __sys_link("a", "c/"), -ENOENT);
	is("link: another file system", __sys_link("a", "/dev/a"), -EXDEV);
	is("link: NULL", __sys_link("a", NULL), -EFAULT);
	is("link: from NULL", __sys_link(NULL, "c"), -EFAULT);
	is("unlink: one of two", __sys_unlink("a"), 0);
	is("unlink: one is left", st("b").nlink, 1);
	__sys_unlink("b");
}

static void symlinks(void)
{
	char buf[WEFT_PATH_MAX], longest[WEFT_PATH_MAX + 1];
	char from[8], to[8];
	int fd;

	touch("file");
	__sys_mkdir("dir", 0755);
	touch("dir/inner");
	is("symlink", __sys_symlink("file", "s"), 0);
	is("symlink: its type", st("s").mode & WEFT_S_IFMT, WEFT_S_IFLNK);
	is("symlink: its size", st("s").size, 4);
	memset(buf, 0x55, sizeof(buf));
	is("readlink", __sys_readlink("s", buf, sizeof(buf)), 4);
	ok("readlink: no NUL", memcmp(buf, "file\x55", 5) == 0);
	is("readlink: cut off", __sys_readlink("s", buf, 2), 2);
	is("readlink: no room", __sys_readlink("s", buf, 0), -EINVAL);
	is("readlink: no link", __sys_readlink("file", buf, 9), -EINVAL);
	is("readlink: nothing", __sys_readlink("none", buf, 9), -ENOENT);
	is("readlink: NULL", __sys_readlink("s", NULL, 9), -EFAULT);
	struct weft_stat s;
	is("stat: follows", __sys_stat("s", &s), 0);
	ok("stat: the file", s.ino == st("file").ino && s.ino != st("s").ino);
	is("symlink: is there", __sys_symlink("x", "file"), -EEXIST);
	is("symlink: empty", __sys_symlink("", "e"), -ENOENT);
	is("symlink: NULL", __sys_symlink(NULL, "e"), -EFAULT);
	is("symlink: to NULL", __sys_symlink("e", NULL), -EFAULT);

	is("symlink: to a directory", __sys_symlink("dir", "sd"), 0);
	ok("symlink: on the way", there("sd/inner") && there("sd//../sd/inner"));
	is("symlink: absolute", __sys_symlink(DIR "/dir/", "sa"), 0);
	ok("symlink: absolute, on the way", there("sa/inner"));
	is("symlink: .. of where it leads", __sys_chdir("sa") + __sys_chdir(".."), 0);
	__sys_getcwd(buf, sizeof(buf));
	ok("symlink: getcwd has none in it", strcmp(buf, DIR) == 0);
	is("open: O_NOFOLLOW", __sys_open("s", WEFT_O_NOFOLLOW, 0), -ELOOP);
	is("open: exclusive, a link is there", touch("s"), -EEXIST);
	is("symlink: dangling", __sys_symlink("dir/made", "sm"), 0);
	is("open: dangling", __sys_open("sm", 0, 0), -ENOENT);
	fd = __sys_open("sm", WEFT_O_CREAT | WEFT_O_WRONLY, 0600);
	ok("open: creates where it leads", fd >= 0 && there("dir/made"));
	__sys_close(fd);
	is("unlink: the link", __sys_unlink("sm"), 0);
	ok("unlink: not the file", there("dir/made"));
	is("rmdir: a link to a directory", __sys_rmdir("sd"), -ENOTDIR);
	is("link: of the link itself", __sys_link("s", "s2"), 0);
	ok("link: it is one", st("s2").ino == st("s").ino);
	is("symlink: through a file", __sys_open("s/x", 0, 0), -ENOTDIR);
	is("symlink: file with a slash", __sys_open("s/", 0, 0), -ENOTDIR);

	is("symlink: to itself", __sys_symlink("loop", "loop"), 0);
	is("symlink: endless", __sys_open("loop", 0, 0), -ELOOP);
	is("symlink: endless, on the way", __sys_open("loop/x", 0, 0), -ELOOP);
	__sys_unlink("loop");
	__sys_symlink("file", "l0");
	for (int i = 1; i <= 40; i++) {
		snprintf(from, sizeof(from), "l%d", i - 1);
		snprintf(to, sizeof(to), "l%d", i);
		__sys_symlink(from, to);
	}
	is("symlink: 40 in a row", __sys_stat("l39", &s), 0);
	is("symlink: 41 in a row", __sys_stat("l40", &s), -ELOOP);
	for (int i = 0; i <= 40; i++) {
		snprintf(to, sizeof(to), "l%d", i);
		__sys_unlink(to);
	}
	memset(longest, 'x', sizeof(longest));
	longest[WEFT_PATH_MAX] = '\0';
	is("symlink: too long", __sys_symlink(longest, "e"), -ENAMETOOLONG);
	memset(longest, '/', WEFT_PATH_MAX - 1);
	longest[WEFT_PATH_MAX - 1] = '\0';
	is("symlink: as long as may be", __sys_symlink(longest, "e"), 0);
	is("symlink: leads to the root", __sys_stat("e", &s), 0);
	is("symlink: with the rest too long", __sys_stat("e/tmp", &s), -ENAMETOOLONG);
	__sys_unlink("e");
	__sys_unlink("s");
	__sys_unlink("s2");
	__sys_unlink("sd");
	__sys_unlink("sa");
	__sys_unlink("dir/made");
	__sys_unlink("dir/inner");
	__sys_unlink("file");
	is("symlinks: all gone", __sys_rmdir("dir"), 0);
}

static void renames(void)
{
	int fd;
	char buf[4] = "";

	touch("a");
	uint64_t a = st("a").ino;
	is("rename", __sys_rename("a", "b"), 0);
	ok("rename: it has the new name alone", st("b").ino == a && !there("a"));
	is("rename: to itself", __sys_rename("b", "b"), 0);
	ok("rename: still there", st("b").ino == a && st("b").nlink == 1);
	fd = __sys_open("old", WEFT_O_RDWR | WEFT_O_CREAT, 0600);
	__sys_write(fd, "old", 3);
	is("rename: onto a file", __sys_rename("b", "old"), 0);
	ok("rename: in its place", st("old").ino == a && !there("b"));
	is("rename: who has the other open keeps it", __sys_pread(fd, buf, 3, 0), 3);
	__sys_close(fd);
	__sys_link("old", "l");
	is("rename: two names of one file", __sys_rename("old", "l"), 0);
	ok("rename: both stay", there("old") && there("l"));
	__sys_unlink("l");

	__sys_mkdir("d", 0755);
	__sys_mkdir("d/e", 0755);
	__sys_mkdir("d/e/f", 0755);
	__sys_mkdir("g", 0755);
	is("rename: into a directory", __sys_rename("old", "d/e/new"), 0);
	ok("rename: is there", st("d/e/new").ino == a);
	is("rename: a directory", __sys_rename("d/e", "g/h"), 0);
	ok("rename: with all in it", st("g/h/new").ino == a && there("g/h/f"));
	ok("rename: its links", st("d").nlink == 2 && st("g").nlink == 3);
	ok("rename: its ..", st("g/h/..").ino == st("g").ino);
	is("rename: into itself", __sys_rename("g", "g/h/g"), -EINVAL);
	is("rename: into itself, at once", __sys_rename("g", "g/x"), -EINVAL);
	is("rename: onto its parent", __sys_rename("g/h", "g"), -ENOTEMPTY);
	is("rename: a file onto what is above it", __sys_rename("g/h/new", "g"), -EISDIR);
	is("rename: a directory onto what is above it", __sys_rename("g/h/f", "g"), -ENOTEMPTY);
	is("rename: onto a full directory", __sys_rename("d", "g"), -ENOTEMPTY);
	is("rename: onto an empty directory", __sys_rename("g", "d"), 0);
	ok("rename: in its place", there("d/h/new") && !there("g"));
	is("rename: an empty one below, upwards", __sys_rename("d/h/f", "f"), 0);
	is("rename: onto an empty directory elsewhere", __sys_rename("d/h", "f"), 0);
	ok("rename: links", st("d").nlink == 2 && there("f/new"));
	is("rename: directory onto file", __sys_rename("d", "f/new"), -ENOTDIR);
	is("rename: file onto directory", __sys_rename("f/new", "d"), -EISDIR);
	is("rename: file, with a slash", __sys_rename("f/new", "x/"), -ENOTDIR);
	is("rename: directory, with slashes", __sys_rename("d/", "dd/"), 0);
	is("rename: nothing", __sys_rename("none", "x"), -ENOENT);
	is("rename: to nowhere", __sys_rename("f", "none/x"), -ENOENT);
	is("rename: .", __sys_rename("dd/.", "x"), -EINVAL);
	is("rename: to ..", __sys_rename("dd", "f/.."), -EINVAL);
	is("rename: /", __sys_rename("/", "x"), -EBUSY);
	is("rename: mount", __sys_rename("/dev", "x"), -EBUSY);
	is("rename: another file system", __sys_rename("f/new", "/dev/x"), -EXDEV);
	is("rename: NULL", __sys_rename(NULL, "x"), -EFAULT);
	is("rename: to NULL", __sys_rename("f", NULL), -EFAULT);
	__sys_symlink("f", "s");
	is("rename: the link itself", __sys_rename("s", "t"), 0);
	ok("rename: it is one", (st("t").mode & WEFT_S_IFMT) == WEFT_S_IFLNK);
	__sys_unlink("t");
	__sys_unlink("f/new");
	__sys_rmdir("dd");
	is("renames: all gone", __sys_rmdir("f"), 0);
}

static void attributes(void)
{
	struct weft_timespec t[2] = {{100, 7}, {200, 999999999}};
	struct weft_stat s;
	int fd, ro;

	touch("f");
	s = st("f");
	ok("times: now", s.mtime == s.ctime && s.atime == s.mtime && s.mtime > 1000000000000000000);
	is("chmod", __sys_chmod("f", 04751), 0);
	is("chmod: all bits", st("f").mode, WEFT_S_IFREG | 04751);
	is("chmod: others are dropped", __sys_chmod("f", 0170600), 0);
	is("chmod: type stays", st("f").mode, WEFT_S_IFREG | 0600);
	is("chmod: nothing", __sys_chmod("none", 0), -ENOENT);
	is("chmod: NULL", __sys_chmod(NULL, 0), -EFAULT);
	is("utimens", __sys_utimens("f", t, 1), 0);
	s = st("f");
	ok("utimens: set", s.atime == 100000000007 && s.mtime == 200999999999);
	ok("utimens: ctime is now", s.ctime > 1000000000000000000);
	t[0].nsec = WEFT_UTIME_OMIT;
	t[1].nsec = WEFT_UTIME_NOW;
	is("utimens: one of them", __sys_utimens("f", t, 1), 0);
	s = st("f");
	ok("utimens: the other is now", s.atime == 100000000007 && s.mtime >= s.ctime - 1000000000);
	is("utimens: both now", __sys_utimens("f", NULL, 1), 0);
	ok("utimens: now", st("f").atime > 1000000000000000000);
	t[0].nsec = 1000000000;
	is("utimens: bad time", __sys_utimens("f", t, 1), -EINVAL);
	t[0] = (struct weft_timespec){INT64_MAX, 0};
	is("utimens: too late", __sys_utimens("f", t, 1), -EINVAL);
	is("utimens: bad address", __sys_utimens("f", KERNEL_ADDR, 1), -EFAULT);
	t[0] = t[1] = (struct weft_timespec){5, 0};
	__sys_symlink("f", "s");
	is("utimens: a link's own", __sys_utimens("s", t, 0), 0);
	ok("utimens: not the file's", st("s").mtime == 5000000000 && st("f").mtime != 5000000000);
	is("utimens: the file's", __sys_utimens("s", t, 1), 0);
	ok("utimens: follows", st("f").mtime == 5000000000);
	is("utimens: nothing", __sys_utimens("none", t, 1), -ENOENT);

	fd = __sys_open("f", WEFT_O_RDWR, 0);
	ro = __sys_open("f", WEFT_O_RDONLY, 0);
	is("fchmod", __sys_fchmod(fd, 0640), 0);
	is("fchmod: set", st("f").mode, WEFT_S_IFREG | 0640);
	is("fchmod: no descriptor", __sys_fchmod(99, 0640), -EBADF);
	is("futimens", __sys_futimens(fd, t), 0);
	is("futimens: no descriptor", __sys_futimens(99, t), -EBADF);
	__sys_write(fd, "x", 1);
	ok("write: changes the time", st("f").mtime > 1000000000000000000);
	is("ftruncate", __sys_ftruncate(fd, 10000), 0);
	is("ftruncate: longer", st("f").size, 10000);
	is("ftruncate: only for writing", __sys_ftruncate(ro, 0), -EINVAL);
	is("ftruncate: below 0", __sys_ftruncate(fd, -1), -EINVAL);
	is("ftruncate: too large", __sys_ftruncate(fd, INT64_MAX), -EFBIG);
	is("ftruncate: no descriptor", __sys_ftruncate(99, 0), -EBADF);
	is("ftruncate: pipe or device", __sys_ftruncate(1, 0), -EINVAL);
	is("truncate", __sys_truncate("s", 1), 0);
	is("truncate: shorter", st("f").size, 1);
	is("truncate: directory", __sys_truncate("/tmp", 0), -EISDIR);
	is("truncate: below 0", __sys_truncate("f", -1), -EINVAL);
	is("truncate: nothing", __sys_truncate("none", 0), -ENOENT);
	__sys_close(fd);
	__sys_close(ro);
	__sys_unlink("f");
	__sys_unlink("s");
	is("chmod: of a device", __sys_chmod("/dev/null", 0666), -EROFS);
}

static void mounts(void)
{
	struct weft_mount m;

	is("mountinfo", __sys_mountinfo(0, &m), 0);
	ok("mountinfo: the root", strcmp(m.path, "/") == 0 && strcmp(m.type, "tmpfs") == 0 &&
					  m.dev == st("/").dev && m.size > m.free && m.free > 0);
	is("mountinfo: the next", __sys_mountinfo(1, &m), 0);
	ok("mountinfo: /dev", strcmp(m.path, "/dev") == 0 && m.dev == st("/dev").dev);
	is("mountinfo: no more", __sys_mountinfo(99, &m), -ENOENT);
	is("mountinfo: far beyond", __sys_mountinfo(-1, &m), -ENOENT);
	is("mountinfo: NULL", __sys_mountinfo(0, NULL), -EFAULT);
	ok("mount: .. leads out", st("/dev/..").ino == st("/").ino && st("/dev/../tmp").nlink >= 2);
}

/* One read gives all, over pages and up to where the memory ends. */
static void endless(const char *path)
{
	static char buf[100003];
	char *hole = (char *)__sys_mmap(NULL, 3 * 4096, WEFT_PROT_READ | WEFT_PROT_WRITE,
					WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1, 0);
	int fd = __sys_open(path, WEFT_O_RDONLY, 0);

	memset(buf, 1, sizeof(buf));
	is("endless: all of 100,003 bytes", __sys_read(fd, buf, sizeof(buf)), sizeof(buf));
	ok("endless: the last ones too", memcmp(buf + sizeof(buf) - 8, "\1\1\1\1\1\1\1\1", 8) != 0);
	__sys_munmap(hole + 2 * 4096, 4096);
	is("endless: as far as the memory goes", __sys_read(fd, hole, 3 * 4096), 2 * 4096);
	is("endless: no memory at all", __sys_read(fd, hole + 2 * 4096, 1), -EFAULT);
	__sys_munmap(hole, 2 * 4096);
	__sys_close(fd);
}

static void devices(void)
{
	char buf[300], zeros[300] = "", other[300];
	int fd = __sys_open("/dev/zero", WEFT_O_RDWR, 0);

	memset(buf, 1, sizeof(buf));
	is("zero: read", __sys_read(fd, buf, 300), 300);
	ok("zero: zeros", memcmp(buf, zeros, 300) == 0);
	is("zero: write", __sys_write(fd, buf, 300), 300);
	__sys_close(fd);
	fd = __sys_open("/dev/full", WEFT_O_RDWR, 0);
	is("full: read", __sys_read(fd, buf, 300), 300);
	is("full: write", __sys_write(fd, buf, 1), -ENOSPC);
	__sys_close(fd);
	fd = __sys_open("/dev/random", WEFT_O_RDONLY, 0);
	is("random: read", __sys_read(fd, buf, 299), 299);
	is("random: again", __sys_read(fd, other, 299), 299);
	ok("random: differ", memcmp(buf, other, 299) != 0 && memcmp(buf, zeros, 299) != 0);
	__sys_close(fd);
	fd = __sys_open("/dev/null", WEFT_O_RDWR | WEFT_O_TRUNC | WEFT_O_CREAT, 0600);
	is("null: write", __sys_write(fd, buf, 300), 300);
	is("null: read", __sys_read(fd, buf, 300), 0);
	__sys_close(fd);
	endless("/dev/zero");
	endless("/dev/urandom");
}

int main(void)
{
	if (__sys_mkdir(DIR, 0755) != 0 || __sys_chdir(DIR) != 0)
		bail("no directory to work in");
	create();
	unlinks();
	directories();
	links();
	symlinks();
	renames();
	attributes();
	mounts();
	devices();
	__sys_chdir("/");
	is("nothing is left", __sys_rmdir(DIR), 0);
	return tap_done();
}
