/*
 * file_io.c - open, close, read, write, lseek, stat and fstat, with good and bad
 * arguments.  The file to read is this program's own.
 */
#include "filetest.h"

#define SELF "/bin/file_io"

static char *whole; /* the file, as one read gave it */
static long size;

static const struct { /* of an ELF-64 header and segment, what is needed here */
	unsigned phoff, phnum, p_type, p_offset, p_vaddr, p_filesz, segment;
} at = {32, 56, 0, 8, 16, 32, 56};

static uint64_t word(long off)
{
	uint64_t v;
	memcpy(&v, whole + off, sizeof(v));
	return v;
}

static int open_self(void)
{
	int fd = __sys_open(SELF, WEFT_O_RDONLY, 0);
	if (fd < 0)
		bail("%s: error %d", SELF, -fd);
	return fd;
}

static void read_whole(void)
{
	struct weft_stat st;

	is("stat", __sys_stat(SELF, &st), 0);
	is("stat: type", st.mode & WEFT_S_IFMT, WEFT_S_IFREG);
	ok("stat: executable", st.mode & 0111);
	ok("stat: inode", st.ino > 0);
	is("stat: links", st.nlink, 1);
	size = st.size;
	ok("stat: size", size > 1000);
	whole = malloc(size + 100);
	if (whole == NULL)
		bail("no memory for %ld bytes", size);

	int fd = open_self();
	memset(whole + size, 0x55, 100);
	is("read: all at once", __sys_read(fd, whole, size + 100), size);
	ok("read: not beyond the end", whole[size] == 0x55 && whole[size + 99] == 0x55);
	is("read: at the end", __sys_read(fd, whole, 1), 0);
	ok("read: ELF", memcmp(whole, "\177ELF", 4) == 0);
	is("close", __sys_close(fd), 0);
	is("close: again", __sys_close(fd), -EBADF);
}

/* The text in memory came from the same file by way of page faults. */
static void file_is_what_runs(void)
{
	uint64_t here = (uint64_t)(uintptr_t)file_is_what_runs;
	uint16_t n;

	memcpy(&n, whole + at.phnum, sizeof(n));
	for (unsigned i = 0; i < n; i++) {
		long seg = word(at.phoff) + i * at.segment;
		uint64_t vaddr = word(seg + at.p_vaddr), bytes = word(seg + at.p_filesz);
		if ((uint32_t)word(seg + at.p_type) != 1 || here < vaddr || here >= vaddr + bytes)
			continue;
		ok("text: the same in the file",
		   memcmp(whole + word(seg + at.p_offset), (void *)vaddr, bytes) == 0);
		return;
	}
	ok("text: segment found", 0);
}

static void read_pieces(void)
{
	static const long sizes[] = {1, 7, 255, 256, 257, 4095, 4096, 4097, 10000, 65536};
	char *buf = malloc(65536 + 3);
	char name[40];

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		long limit = sizes[i] < 100 ? 5000 : size, off = 0, got = 0;
		int fd = open_self(), same = 1;
		while (off < limit && (got = __sys_read(fd, buf + i % 4, sizes[i])) > 0) {
			same &= memcmp(buf + i % 4, whole + off, got) == 0;
			same &= got == sizes[i] || off + got == size;
			off += got;
		}
		snprintf(name, sizeof(name), "read: pieces of %ld", sizes[i]);
		ok(name, same && off >= limit && got >= 0);
		__sys_close(fd);
	}
	free(buf);
}

static void bad_open(void)
{
	is("open: no such file", __sys_open("/bin/nothing", 0, 0), -ENOENT);
	is("open: empty path", __sys_open("", 0, 0), -ENOENT);
	is("open: through a file", __sys_open(SELF "/x", 0, 0), -ENOTDIR);
	is("open: file with a slash", __sys_open(SELF "/", 0, 0), -ENOTDIR);
	is("open: NULL", __sys_open(NULL, 0, 0), -EFAULT);
	is("open: kernel address", __sys_open(KERNEL_ADDR, 0, 0), -EFAULT);
	is("open: non-canonical address", __sys_open(NON_CANONICAL, 0, 0), -EFAULT);
	char *p = page_before_hole();
	memset(p, 'a', PAGE);
	is("open: path without an end", __sys_open(p, 0, 0), -ENAMETOOLONG);
	is("open: path into a hole", __sys_open(p + PAGE - 10, 0, 0), -EFAULT);
	memcpy(p + PAGE - sizeof(SELF), SELF, sizeof(SELF));
	int fd = __sys_open(p + PAGE - sizeof(SELF), 0, 0);
	ok("open: path that ends with its page", fd >= 0);
	__sys_close(fd);
	is("open: unknown flag", __sys_open(SELF, 0x100, 0), -EINVAL);
	is("open: access mode 3", __sys_open(SELF, WEFT_O_ACCMODE, 0), -EINVAL);
	is("open: create, no directory", __sys_open(SELF "/new", WEFT_O_CREAT, 0644), -ENOTDIR);
	is("open: exclusive", __sys_open(SELF, WEFT_O_CREAT | WEFT_O_EXCL, 0644), -EEXIST);
	fd = __sys_open(SELF, WEFT_O_CREAT, 0644);
	ok("open: create what is there", fd >= 0);
	__sys_close(fd);
	is("open: O_DIRECTORY", __sys_open(SELF, WEFT_O_DIRECTORY, 0), -ENOTDIR);
	is("open: directory for writing", __sys_open("/bin", WEFT_O_WRONLY, 0), -EISDIR);
	is("open: directory, create", __sys_open("/bin", WEFT_O_CREAT, 0), -EISDIR);
}

static void bad_read(void)
{
	int fd = open_self();
	char *p = page_before_hole(), c;

	is("read: no descriptor", __sys_read(99, &c, 1), -EBADF);
	is("read: descriptor -1", __sys_read(-1, &c, 1), -EBADF);
	is("read: huge descriptor", __sys_read(0x7fffffff, &c, 1), -EBADF);
	is("read: NULL", __sys_read(fd, NULL, 1), -EFAULT);
	is("read: kernel address", __sys_read(fd, KERNEL_ADDR, 1), -EFAULT);
	is("read: non-canonical address", __sys_read(fd, NON_CANONICAL, 1), -EFAULT);
	is("read: wraps round", __sys_read(fd, LAST_BYTES, 100), -EFAULT);
	is("read: into the text", __sys_read(fd, (void *)bad_read, 16), -EFAULT);
	is("read: size -1", __sys_read(fd, &c, -1), -EINVAL);
	is("read: nothing, to nowhere", __sys_read(fd, NULL, 0), 0);
	is("read: errors move no offset", __sys_lseek(fd, 0, WEFT_SEEK_CUR), 0);

	is("read: partly into a hole", __sys_read(fd, p, 2 * PAGE), PAGE);
	is("read: offset of the part", __sys_lseek(fd, 0, WEFT_SEEK_CUR), PAGE);
	ok("read: the part", memcmp(p, whole, PAGE) == 0);
	is("read: first piece into a hole", __sys_read(fd, p + PAGE - 10, 20), -EFAULT);
	is("read: offset unmoved", __sys_lseek(fd, 0, WEFT_SEEK_CUR), PAGE);
	is("read: goes on there", __sys_read(fd, p, 100), 100);
	ok("read: right bytes", memcmp(p, whole + PAGE, 100) == 0);
	is("read: up to the hole", __sys_read(fd, p + PAGE - 10, 10), 10);

	is("write: read-only descriptor", __sys_write(fd, "x", 1), -EBADF);
	__sys_close(fd);
	is("read: closed", __sys_read(fd, &c, 1), -EBADF);

	fd = __sys_open("/bin", WEFT_O_RDONLY | WEFT_O_DIRECTORY, 0);
	ok("open: directory", fd >= 0);
	is("read: directory", __sys_read(fd, &c, 1), -EISDIR);
	__sys_close(fd);
}

static void writing(void)
{
	char *p = page_before_hole();
	int fd = __sys_open("/dev/null", WEFT_O_WRONLY | WEFT_O_TRUNC, 0);

	ok("null: open", fd >= 0);
	is("null: write", __sys_write(fd, "hello", 5), 5);
	is("null: write much", __sys_write(fd, whole, size), size);
	is("null: write nothing", __sys_write(fd, NULL, 0), 0);
	is("null: read of a write-only descriptor", __sys_read(fd, p, 1), -EBADF);
	is("write: NULL", __sys_write(fd, NULL, 1), -EFAULT);
	is("write: kernel address", __sys_write(fd, KERNEL_ADDR, 100), -EFAULT);
	is("write: wraps round", __sys_write(fd, LAST_BYTES, 100), -EFAULT);
	is("write: size -1", __sys_write(fd, p, -1), -EINVAL);
	is("write: partly from a hole", __sys_write(fd, p, 2 * PAGE), PAGE);
	is("write: from a hole", __sys_write(fd, p + PAGE, 1), -EFAULT);
	is("write: no descriptor", __sys_write(99, p, 1), -EBADF);
	is("null: no offset", __sys_lseek(fd, 0, WEFT_SEEK_SET), -ESPIPE);
	is("null: no ioctl", __sys_ioctl(fd, WEFT_TCGETS, p), -ENOTTY);
	__sys_close(fd);

	fd = __sys_open("/dev/null", WEFT_O_RDWR, 0);
	is("null: read", __sys_read(fd, p, PAGE), 0);
	is("null: read to nowhere", __sys_read(fd, UNMAPPED, 10), -EFAULT);
	__sys_close(fd);
}

static void seeking(void)
{
	int fd = open_self();
	char c[4];

	is("lseek: set", __sys_lseek(fd, 100, WEFT_SEEK_SET), 100);
	is("lseek: cur", __sys_lseek(fd, -40, WEFT_SEEK_CUR), 60);
	__sys_read(fd, c, 4);
	ok("lseek: bytes", memcmp(c, whole + 60, 4) == 0);
	is("lseek: where", __sys_lseek(fd, 0, WEFT_SEEK_CUR), 64);
	is("lseek: end", __sys_lseek(fd, -4, WEFT_SEEK_END), size - 4);
	is("lseek: read up to the end", __sys_read(fd, c, 4), 4);
	ok("lseek: last bytes", memcmp(c, whole + size - 4, 4) == 0);
	is("lseek: beyond the end", __sys_lseek(fd, 10, WEFT_SEEK_END), size + 10);
	is("lseek: nothing there", __sys_read(fd, c, 4), 0);
	is("lseek: far beyond", __sys_lseek(fd, INT64_MAX, WEFT_SEEK_SET), INT64_MAX);
	is("lseek: nothing there either", __sys_read(fd, c, 4), 0);
	is("lseek: overflow", __sys_lseek(fd, 1, WEFT_SEEK_CUR), -EOVERFLOW);
	is("lseek: below 0", __sys_lseek(fd, -1, WEFT_SEEK_SET), -EINVAL);
	is("lseek: end below 0", __sys_lseek(fd, -size - 1, WEFT_SEEK_END), -EINVAL);
	is("lseek: whence", __sys_lseek(fd, 0, 3), -EINVAL);
	is("lseek: errors move nothing", __sys_lseek(fd, 0, WEFT_SEEK_CUR), INT64_MAX);
	is("lseek: no descriptor", __sys_lseek(99, 0, WEFT_SEEK_SET), -EBADF);
	__sys_close(fd);
}

static void stats(void)
{
	struct weft_stat a, b;
	int fd = open_self();

	is("fstat", __sys_fstat(fd, &a), 0);
	is("stat: relative", __sys_stat("bin/../bin/./file_io", &b), 0);
	ok("fstat: the same as stat", memcmp(&a, &b, sizeof(a)) == 0);
	is("fstat: NULL", __sys_fstat(fd, NULL), -EFAULT);
	is("fstat: kernel address", __sys_fstat(fd, KERNEL_ADDR), -EFAULT);
	is("fstat: no descriptor", __sys_fstat(99, &a), -EBADF);
	__sys_close(fd);
	is("stat: nothing there", __sys_stat("/nothing", &a), -ENOENT);
	is("stat: NULL path", __sys_stat(NULL, &a), -EFAULT);
	is("stat: NULL buffer", __sys_stat("/", NULL), -EFAULT);
	is("stat: directory", __sys_stat("/", &a), 0);
	is("stat: directory's type", a.mode & WEFT_S_IFMT, WEFT_S_IFDIR);
	ok("stat: directory's links", a.nlink >= 4);
	is("stat: console", __sys_stat("/dev/console", &a), 0);
	is("stat: console's type", a.mode & WEFT_S_IFMT, WEFT_S_IFCHR);
	is("fstat: stdout", __sys_fstat(1, &b), 0);
	ok("fstat: stdout is the console", a.ino == b.ino && a.dev == b.dev && a.rdev == b.rdev);
}

int main(void)
{
	read_whole();
	file_is_what_runs();
	read_pieces();
	bad_open();
	bad_read();
	writing();
	seeking();
	stats();
	return tap_done();
}
