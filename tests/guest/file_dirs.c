/*
 * file_dirs.c - getdents, chdir and getcwd, and how paths are resolved, with good
 * and bad arguments.
 */
#include "filetest.h"

/* Reads a directory with buffers of n bytes; returns its entries, -1: an error. */
static int list(const char *path, size_t n, uint64_t *hash)
{
	static char buf[65536];
	int fd = __sys_open(path, WEFT_O_RDONLY | WEFT_O_DIRECTORY, 0), entries = 0;
	long got;

	*hash = 0;
	while ((got = __sys_getdents(fd, buf, n)) > 0) {
		for (long off = 0; off < got; entries++) {
			struct weft_dirent *e = (void *)(buf + off);
			if (e->reclen % 8 != 0 || e->reclen < 24 || off + e->reclen > got ||
			    strnlen(e->name, e->reclen) == e->reclen)
				return -1;
			off += e->reclen;
			uint64_t h = e->ino * 31 + e->type;
			for (char *p = e->name; *p; p++)
				h = h * 31 + *p;
			*hash += h; /* whatever the order */
		}
	}
	__sys_close(fd);
	return got == 0 ? entries : -1;
}

/* Is there such an entry, of this type, and the same that stat finds? */
static int has(const char *dir, const char *name, unsigned type)
{
	static char buf[65536];
	char path[300];
	struct weft_stat st;
	int fd = __sys_open(dir, WEFT_O_RDONLY, 0), found = 0;
	long got;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (__sys_stat(path, &st) != 0)
		return 0;
	while ((got = __sys_getdents(fd, buf, sizeof(buf))) > 0)
		for (long off = 0; off < got;) {
			struct weft_dirent *e = (void *)(buf + off);
			if (strcmp(e->name, name) == 0)
				found += e->type == type >> 12 && e->ino == st.ino;
			off += e->reclen;
		}
	__sys_close(fd);
	return found == 1;
}

static void getdents(void)
{
	uint64_t hash, other;
	char buf[400];
	int n = list("/bin", 65536, &hash);

	ok("getdents: /bin", n > 10);
	is("getdents: one by one", list("/bin", 280, &other), n);
	ok("getdents: the same entries", hash == other);
	is("getdents: a few at a time", list("/bin", 1000, &other), n);
	ok("getdents: the same entries again", hash == other);
	ok("getdents: this program", has("/bin", "file_dirs", WEFT_S_IFREG));
	ok("getdents: .", has("/bin", ".", WEFT_S_IFDIR));
	ok("getdents: ..", has("/bin", "..", WEFT_S_IFDIR));
	ok("getdents: directory", has("/", "bin", WEFT_S_IFDIR));
	ok("getdents: device", has("/dev", "console", WEFT_S_IFCHR));
	is("getdents: /dev", list("/dev", 65536, &hash), 8);
	is("getdents: empty directory", list("/tmp", 65536, &hash), 2);

	int fd = __sys_open("/bin", WEFT_O_RDONLY, 0);
	is("getdents: no room for one", __sys_getdents(fd, buf, 23), -EINVAL);
	is("getdents: no room at all", __sys_getdents(fd, buf, 0), -EINVAL);
	is("getdents: NULL", __sys_getdents(fd, NULL, 400), -EFAULT);
	is("getdents: kernel address", __sys_getdents(fd, KERNEL_ADDR, 400), -EFAULT);
	ok("getdents: errors lose nothing",
	   __sys_getdents(fd, buf, 24) == 24 &&
		   strcmp(((struct weft_dirent *)buf)->name, ".") == 0);
	char *p = page_before_hole();
	is("getdents: partly into a hole", __sys_getdents(fd, p + PAGE - 24, 400), 24);
	ok("getdents: the part", strcmp(((struct weft_dirent *)(p + PAGE - 24))->name, "..") == 0);
	long mark = __sys_lseek(fd, 0, WEFT_SEEK_CUR);
	long got = __sys_getdents(fd, buf, sizeof(buf));
	char first[300];
	strcpy(first, ((struct weft_dirent *)buf)->name);
	ok("getdents: third entry", got > 0 && mark > 0 && strcmp(first, "..") != 0);
	is("getdents: back", __sys_lseek(fd, mark, WEFT_SEEK_SET), mark);
	__sys_getdents(fd, buf, sizeof(buf));
	ok("getdents: the same again", strcmp(first, ((struct weft_dirent *)buf)->name) == 0);
	is("getdents: rewind", __sys_lseek(fd, 0, WEFT_SEEK_SET), 0);
	__sys_getdents(fd, buf, sizeof(buf));
	ok("getdents: first entry", strcmp(".", ((struct weft_dirent *)buf)->name) == 0);
	is("getdents: far beyond", __sys_lseek(fd, INT64_MAX, WEFT_SEEK_SET), INT64_MAX);
	is("getdents: nothing there", __sys_getdents(fd, buf, sizeof(buf)), 0);
	is("getdents: end of a directory", __sys_lseek(fd, 0, WEFT_SEEK_END), -EINVAL);
	__sys_close(fd);

	is("getdents: no descriptor", __sys_getdents(99, buf, sizeof(buf)), -EBADF);
	is("getdents: console", __sys_getdents(1, buf, sizeof(buf)), -ENOTDIR);
	fd = __sys_open("/bin/file_dirs", WEFT_O_RDONLY, 0);
	is("getdents: file", __sys_getdents(fd, buf, sizeof(buf)), -ENOTDIR);
	__sys_close(fd);
}

static int cwd_is(const char *want)
{
	char buf[WEFT_PATH_MAX];
	memset(buf, 0x55, sizeof(buf));
	long n = __sys_getcwd(buf, sizeof(buf));
	return n == (long)strlen(want) + 1 && strcmp(buf, want) == 0;
}

/* chdir(path) leads to `want`, under which the very same directory is found. */
static int leads(const char *path, const char *want)
{
	struct weft_stat here, there;
	return __sys_chdir(path) == 0 && cwd_is(want) && __sys_stat(".", &here) == 0 &&
	       __sys_stat(want, &there) == 0 && here.ino == there.ino;
}

static void current_directory(void)
{
	char buf[100], *p = page_before_hole();

	ok("chdir: /", leads("/", "/"));
	ok("chdir: relative", leads("bin", "/bin"));
	ok("chdir: .", leads(".", "/bin"));
	ok("chdir: ..", leads("..", "/"));
	ok("chdir: above the root", leads("../../..", "/"));
	ok("chdir: slashes and dots", leads("//bin/.././dev//", "/dev"));
	ok("chdir: sideways", leads("../bin/../tmp/./", "/tmp"));
	ok("chdir: absolute", leads("/bin/", "/bin"));
	is("open: relative", __sys_close(__sys_open("file_dirs", WEFT_O_RDONLY, 0)), 0);
	is("open: relative, upwards", __sys_close(__sys_open("../dev/null", WEFT_O_RDONLY, 0)), 0);

	is("chdir: nothing there", __sys_chdir("nothing"), -ENOENT);
	is("chdir: empty", __sys_chdir(""), -ENOENT);
	is("chdir: file", __sys_chdir("file_dirs"), -ENOTDIR);
	is("chdir: device", __sys_chdir("/dev/null"), -ENOTDIR);
	is("chdir: NULL", __sys_chdir(NULL), -EFAULT);
	is("chdir: kernel address", __sys_chdir(KERNEL_ADDR), -EFAULT);
	ok("chdir: errors change nothing", cwd_is("/bin"));

	is("getcwd: exact room", __sys_getcwd(buf, 5), 5);
	is("getcwd: too small", __sys_getcwd(buf, 4), -ERANGE);
	is("getcwd: no room", __sys_getcwd(buf, 0), -ERANGE);
	is("getcwd: NULL", __sys_getcwd(NULL, 100), -EFAULT);
	is("getcwd: kernel address", __sys_getcwd(KERNEL_ADDR, 100), -EFAULT);
	is("getcwd: up to a hole", __sys_getcwd(p + PAGE - 5, 100), 5);
	is("getcwd: into a hole", __sys_getcwd(p + PAGE - 4, 100), -EFAULT);
	is("getcwd: huge size", __sys_getcwd(buf, -1), 5);
	__sys_chdir("/");
}

static void path_lengths(void)
{
	static char path[WEFT_PATH_MAX + 10];
	struct weft_stat st;

	memset(path, '/', sizeof(path));
	path[WEFT_PATH_MAX - 1] = '\0';
	is("path: as long as may be", __sys_stat(path, &st), 0);
	path[WEFT_PATH_MAX - 1] = '/';
	path[WEFT_PATH_MAX] = '\0';
	is("path: too long", __sys_stat(path, &st), -ENAMETOOLONG);
	is("path: too long for open", __sys_open(path, 0, 0), -ENAMETOOLONG);
	is("path: too long for chdir", __sys_chdir(path), -ENAMETOOLONG);
	memset(path, 'x', sizeof(path));
	path[WEFT_NAME_MAX] = '\0';
	is("name: as long as may be", __sys_stat(path, &st), -ENOENT);
	path[WEFT_NAME_MAX] = 'x';
	path[WEFT_NAME_MAX + 1] = '\0';
	is("name: too long", __sys_stat(path, &st), -ENAMETOOLONG);
}

int main(void)
{
	getdents();
	current_directory();
	path_lengths();
	return tap_done();
}
