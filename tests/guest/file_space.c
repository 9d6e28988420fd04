/*
 * file_space.c - the memory of files: what they take and give back, holes, sizes, and what
 * happens when there is none left.  Pages are counted before and after: none may be lost.
 */
#include <weft/processor.h>
#include <weft/procset.h>
#include "filetest.h"

#define FILE_NAME "/tmp/file_space"
#define MB (1 << 20)

static char buf[64 * 1024], got[64 * 1024];

/* Pages, in what is compared with pages_free().  The parent may still be on its way out of spawn, where it frees the strings of the call. */
#define NOISE 64

static long pages_free(void)
{
	struct weft_sysinfo info;
	if (__sys_sysinfo(&info) != 0)
		bail("no sysinfo");
	return info.mem_free / PAGE;
}

static struct weft_stat st(int fd)
{
	struct weft_stat s = {0};
	__sys_fstat(fd, &s);
	return s;
}

static int create(void)
{
	int fd = __sys_open(FILE_NAME, WEFT_O_RDWR | WEFT_O_CREAT | WEFT_O_TRUNC, 0600);
	if (fd < 0)
		bail("no file: %d", fd);
	return fd;
}

/* Are n bytes at off all c? */
static int all(int fd, long off, long n, char c)
{
	memset(got, ~c, n);
	if (__sys_pread(fd, got, n, off) != n)
		return 0;
	for (long i = 0; i < n; i++)
		if (got[i] != c)
			return 0;
	return 1;
}

static void holes(void)
{
	int fd = create();

	memset(buf, 'x', sizeof(buf));
	is("hole: write far beyond the end", __sys_pwrite(fd, buf, 10, 10 * MB + 4090), 10);
	is("hole: size", st(fd).size, 10 * MB + 4100);
	is("hole: takes two pages", st(fd).allocated, 2 * PAGE);
	ok("hole: zeros before it", all(fd, 10 * MB, 4090, 0));
	ok("hole: what was written", all(fd, 10 * MB + 4090, 10, 'x'));
	ok("hole: zeros where there is no page", all(fd, 5 * MB + 1, 60000, 0));
	is("hole: reading makes no pages", st(fd).allocated, 2 * PAGE);
	is("hole: read at the end", __sys_pread(fd, got, 100, 10 * MB + 4095), 5);
	is("hole: read beyond the end", __sys_pread(fd, got, 100, 20 * MB), 0);
	is("hole: fill a part", __sys_pwrite(fd, buf, 9000, 5 * MB - 500), 9000);
	ok("hole: filled", all(fd, 5 * MB - 500, 9000, 'x') && all(fd, 5 * MB + 8500, 1000, 0) &&
				   all(fd, 5 * MB - 1500, 1000, 0));

	is("size: a large one", __sys_ftruncate(fd, 1l << 47), 0);
	is("size: write at its end", __sys_pwrite(fd, buf, 3, (1l << 47) - 2), 3);
	ok("size: read there", all(fd, (1l << 47) - 2, 3, 'x'));
	is("size: the largest", __sys_ftruncate(fd, 1l << 48), 0);
	is("size: beyond", __sys_ftruncate(fd, (1l << 48) + 1), -EFBIG);
	is("size: write beyond", __sys_pwrite(fd, buf, 1, 1l << 48), -EFBIG);
	is("size: write up to it", __sys_pwrite(fd, buf, 100, (1l << 48) - 40), 40);
	is("lseek: beyond the end", __sys_lseek(fd, 5, WEFT_SEEK_END), (1l << 48) + 5);

	is("truncate: shorter", __sys_ftruncate(fd, 100), 0);
	is("truncate: gives all pages back", st(fd).allocated, 0);
	__sys_pwrite(fd, buf, 8192, 0);
	is("truncate: within a page", __sys_ftruncate(fd, 1000), 0);
	is("truncate: one is left", st(fd).allocated, PAGE);
	is("truncate: longer again", __sys_ftruncate(fd, 8192), 0);
	ok("truncate: zeros behind", all(fd, 0, 1000, 'x') && all(fd, 1000, 7192, 0));
	is("write: leaves a gap", __sys_ftruncate(fd, 50), 0);
	__sys_pwrite(fd, buf, 1, 200);
	ok("write: zeros in it", all(fd, 50, 150, 0));
	__sys_close(fd);
	__sys_unlink(FILE_NAME);
}

static void contents(void)
{
	int fd = create(), n = 0, bad = 0;

	/* Pieces of odd lengths, read back in others. */
	for (unsigned i = 0; i < 200; i++) {
		unsigned len = (i * 977) % 5000 + 1;
		for (unsigned j = 0; j < len; j++)
			buf[j] = (n + j) * 31 >> 3;
		bad += __sys_write(fd, buf, len) != (long)len;
		n += len;
	}
	is("write: pieces", bad, 0);
	is("write: size", st(fd).size, n);
	__sys_lseek(fd, 0, WEFT_SEEK_SET);
	for (int at = 0; at < n;) {
		long len = __sys_read(fd, got, at % 9001 + 1);
		if (len <= 0)
			break;
		for (long j = 0; j < len; j++)
			bad += got[j] != (char)((at + j) * 31 >> 3);
		at += len;
	}
	is("read: pieces", bad, 0);
	__sys_close(fd);
	__sys_unlink(FILE_NAME);
}

/* Writes up to n bytes; how many, or the error if none. */
static long fill(int fd, long n)
{
	long done = 0, r = 0;
	while (done < n && (r = __sys_write(fd, buf, sizeof(buf))) > 0)
		done += r;
	return done > 0 ? done : r;
}

static void unlinked(void)
{
	long before = pages_free(), taken = 4 * MB / PAGE - NOISE;
	int fd = create();

	memset(buf, 'u', sizeof(buf));
	is("unlink: fill", fill(fd, 4 * MB), 4 * MB);
	ok("unlink: pages are taken", before - pages_free() >= taken);
	is("unlink: while open", __sys_unlink(FILE_NAME), 0);
	ok("unlink: they stay", before - pages_free() >= taken);
	ok("unlink: and can be read", all(fd, 3 * MB, 4096, 'u'));
	__sys_close(fd);
	ok("unlink: they come back with the last close", before - pages_free() < NOISE);

	fd = create();
	fill(fd, MB);
	__sys_close(fd);
	fd = create(); /* truncates */
	ok("O_TRUNC: they come back", before - pages_free() < NOISE);
	__sys_close(fd);
	__sys_unlink(FILE_NAME);
}

/* All memory goes into a file; a write that finds none loses nothing. */
static void no_space(void)
{
	long before = pages_free();
	int fd = create();

	memset(buf, 's', sizeof(buf));
	long n = fill(fd, 1l << 40);
	ok("no space: most of the memory can be used", n > before * PAGE / 2);
	is("no space: size", st(fd).size, n);
	is("no space: write", __sys_write(fd, buf, 1 + PAGE), -ENOSPC);
	is("no space: size after an error", st(fd).size, n);
	is("no space: over what is there", __sys_pwrite(fd, buf, 100000 % sizeof(buf), 0),
	   100000 % sizeof(buf));
	ok("no space: the end is as written", all(fd, n - 4096, 4096, 's'));
	ok("no space: the kernel goes on", __sys_close(__sys_open("/dev/null", 0, 0)) == 0);
	is("no space: unlink", __sys_unlink(FILE_NAME), 0);
	__sys_close(fd);
	ok("no space: all comes back", before - pages_free() < NOISE);
	fd = create();
	is("no space: write again", __sys_write(fd, buf, 100), 100);
	__sys_close(fd);
	__sys_unlink(FILE_NAME);
}

/* Goes to a CPU; false: there is no such CPU. */
static int go_to(int cpu)
{
	int old;

	return __sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, cpu, &old) == 0;
}

static void many(void);

/*
 * "No space" is the same on every CPU: memory that a CPU keeps for its next allocations is found
 * from another CPU.
 */
static void no_space_elsewhere(void)
{
	int bad = 0;

	if (!go_to(1))
		return;
	many(); /* leaves free objects in the CPU's magazines */
	go_to(0);
	int fd = create();
	long n = fill(fd, 1l << 40), left = pages_free();
	for (int cpu = 0; go_to(cpu); cpu++)
		for (int i = 0; i < 5; i++)
			bad += __sys_write(fd, buf, 1 + PAGE) != -ENOSPC;
	is("no space elsewhere: writes that found some", bad, 0);
	is("no space elsewhere: size", st(fd).size, n);
	ok("no space elsewhere: no page more was free", pages_free() - left < 8);
	go_to(PBIND_NONE);
	__sys_unlink(FILE_NAME);
	__sys_close(fd);
}

/* Many names and directories, made and removed. */
static void many(void)
{
	char name[64];
	int bad = 0;

	for (int round = 0; round < 2; round++) {
		long before = pages_free();
		bad += __sys_mkdir("/tmp/many", 0755) != 0;
		for (int i = 0; i < 3000; i++) {
			snprintf(name, sizeof(name), "/tmp/many/%d", i * 7919 % 3000);
			long fd =
				__sys_open(name, WEFT_O_WRONLY | WEFT_O_CREAT | WEFT_O_EXCL, 0600);
			bad += fd < 0 || __sys_write(fd, name, 10) != 10 || __sys_close(fd) != 0;
		}
		is("many: not empty", __sys_rmdir("/tmp/many"), -ENOTEMPTY);
		for (int i = 0; i < 3000; i++) {
			snprintf(name, sizeof(name), "/tmp/many/%d", i);
			bad += __sys_unlink(name) != 0;
		}
		bad += __sys_rmdir("/tmp/many") != 0;
		if (round == 1) /* the first leaves the kernel's caches of objects filled */
			ok("many: all comes back", before - pages_free() < NOISE);
	}
	is("many: errors", bad, 0);
}

/* Directories deeper than any path is long: removed from below while the lowest is open, each is
 * all that holds the next, and all go with one close. */
static void deep(void)
{
	const int depth = 1000;
	char path[WEFT_PATH_MAX];
	int bad = 0;

	for (int round = 0; round < 2; round++) {
		long before = pages_free();

		__sys_chdir("/tmp");
		for (int i = 0; i < depth; i++)
			bad += __sys_mkdir("directory", 0755) != 0 || __sys_chdir("directory") != 0;
		is("deep: too long for a path", __sys_getcwd(path, sizeof(path)), -ENAMETOOLONG);
		int lowest = __sys_open(".", WEFT_O_RDONLY, 0);
		for (int i = 0; i < depth; i++)
			bad += __sys_rmdir("../directory") != 0 || __sys_chdir("..") != 0;
		if (round == 0)
			ok("deep: it stays while it is open", before - pages_free() > NOISE);
		__sys_chdir("/");
		is("deep: close", __sys_close(lowest), 0);
		if (round == 1) /* the first leaves the kernel's caches of objects filled */
			ok("deep: all comes back", before - pages_free() < NOISE);
	}
	is("deep: errors", bad, 0);
}

int main(void)
{
	holes();
	contents();
	unlinked();
	deep(); /* while the kernel's caches of objects are empty */
	many();
	no_space();
	no_space_elsewhere();
	return tap_done();
}
