/*
 * mm_file.c - mapped files: private and shared, their ends, what may be mapped; madvise,
 * msync.
 */
#include "mmtest.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define FILE_NAME "/tmp/mm_file"
#define SIZE (3 * PAGE + 100) /* the file's */

static long map_fd(size_t len, int prot, int flags, int fd, off_t off)
{
	return __sys_mmap(NULL, len, prot, flags, fd, off);
}

static int make_file(void)
{
	char buf[PAGE];
	int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		bail("%s cannot be made", FILE_NAME);
	for (size_t at = 0; at < SIZE; at += PAGE) {
		memset(buf, 'a' + at / PAGE, PAGE);
		write(fd, buf, SIZE - at < PAGE ? SIZE - at : PAGE);
	}
	return fd;
}

/* How a child ends that reads one byte. */
static int status_of_reading(volatile char *p)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		(void)*p;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static char byte_of(int fd, off_t at)
{
	char c = 0;

	pread(fd, &c, 1, at);
	return c;
}

static void private_mapping(int fd)
{
	volatile char *p = (char *)map_fd(4 * PAGE, RW, WEFT_MAP_PRIVATE, fd, 0);

	ok("private", p[0] == 'a' && p[PAGE] == 'b' && p[3 * PAGE + 99] == 'd');
	is("the rest of the last page", p[3 * PAGE + 100], 0);
	pwrite(fd, "X", 1, 5);
	is("what is written to the file shows", p[5], 'X');
	p[6] = 'Y';
	is("what is written to the mapping stays here", byte_of(fd, 6), 'a');
	pwrite(fd, "Z", 1, 7);
	is("a page of its own does not follow the file", p[7], 'a');
	is("the parent's page in the child", status_of_reading(p + 6), 0);
	is("beyond the end of the file", status_of_reading(p + 4 * PAGE - 1), 0);
	__sys_munmap((void *)p, 4 * PAGE);

	p = (char *)map_fd(PAGE, R, WEFT_MAP_PRIVATE, fd, 2 * PAGE);
	is("an offset", p[0], 'c');
	is("to be written by mprotect", __sys_mprotect((void *)p, PAGE, RW), 0);
	p[0] = 'q';
	is("is private still", byte_of(fd, 2 * PAGE), 'c');
	is("madvise(DONTNEED)", __sys_madvise((void *)p, PAGE, WEFT_MADV_DONTNEED), 0);
	is("brings the file's bytes back", p[0], 'c');
	__sys_munmap((void *)p, PAGE);

	p = (char *)map_fd(6 * PAGE, R, WEFT_MAP_PRIVATE, fd, 0);
	is("a whole page beyond the end", status_of_reading(p + 4 * PAGE), KILLED(WEFT_SIGBUS));
	__sys_munmap((void *)p, 6 * PAGE);
}

static void shared_mapping(int fd)
{
	volatile char *p = (char *)map_fd(4 * PAGE, RW, WEFT_MAP_SHARED, fd, 0);
	volatile char *q = (char *)map_fd(PAGE, R, WEFT_MAP_SHARED, fd, PAGE);

	p[PAGE] = 'S';
	is("shared: written to the file", byte_of(fd, PAGE), 'S');
	is("and seen in another mapping", q[0], 'S');
	pwrite(fd, "T", 1, PAGE);
	ok("what is written to the file is seen", p[PAGE] == 'T' && q[0] == 'T');
	is("msync", __sys_msync((void *)p, 4 * PAGE, WEFT_MS_SYNC), 0);

	pid_t pid = fork();
	if (pid == 0) {
		p[2 * PAGE] = 'C';
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	is("what a child writes is seen", p[2 * PAGE], 'C');
	is("madvise(DONTNEED)", __sys_madvise((void *)p, 4 * PAGE, WEFT_MADV_DONTNEED), 0);
	is("loses nothing", p[2 * PAGE], 'C');

	/* The file grows under the mapping; the mapping outlives the descriptor and the name. */
	char big[PAGE] = {'G'};
	pwrite(fd, big, PAGE, 3 * PAGE);
	is("the file has grown", p[3 * PAGE], 'G');
	int other = open(FILE_NAME, O_RDONLY);
	close(fd);
	unlink(FILE_NAME);
	p[0] = 'U';
	is("closed and unlinked", byte_of(other, 0), 'U');
	close(other);
	is("no descriptor left", p[0], 'U');
	__sys_munmap((void *)p, 4 * PAGE);
	is("the other mapping", q[0], 'T');
	__sys_munmap((void *)q, PAGE);
}

/* A hole is zeros, and becomes a page when it is written to. */
static void sparse(void)
{
	int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);
	const off_t far = 1ll << 32;

	ftruncate(fd, far + PAGE);
	volatile char *p = (char *)map_fd(PAGE, RW, WEFT_MAP_SHARED, fd, far);
	is("a hole", p[10], 0);
	p[10] = 1;
	is("becomes a page", byte_of(fd, far + 10), 1);
	ftruncate(fd, 0);
	is("truncated", byte_of(fd, far + 10), 0);
	__sys_munmap((void *)p, PAGE);
	close(fd);
	unlink(FILE_NAME);
}

static void errors(int fd)
{
	int ro = open(FILE_NAME, O_RDONLY), wo = open(FILE_NAME, O_WRONLY);
	int dir = open("/", O_RDONLY), null = open("/dev/null", O_RDWR);

	is("no descriptor", map_fd(PAGE, R, WEFT_MAP_PRIVATE, 99, 0), -EBADF);
	is("not for reading", map_fd(PAGE, R, WEFT_MAP_PRIVATE, wo, 0), -EACCES);
	is("shared, to be written, not for writing", map_fd(PAGE, RW, WEFT_MAP_SHARED, ro, 0),
	   -EACCES);
	is("a directory", map_fd(PAGE, R, WEFT_MAP_PRIVATE, dir, 0), -ENODEV);
	is("a device", map_fd(PAGE, R, WEFT_MAP_SHARED, null, 0), -ENODEV);
	is("an odd offset", map_fd(PAGE, R, WEFT_MAP_PRIVATE, fd, 100), -EINVAL);
	is("a negative offset", map_fd(PAGE, R, WEFT_MAP_PRIVATE, fd, -PAGE), -EOVERFLOW);
	is("no length", map_fd(0, R, WEFT_MAP_PRIVATE, fd, 0), -EINVAL);
	long p = map_fd(PAGE, R, WEFT_MAP_SHARED, ro, 0);
	ok("shared, to be read", p > 0 && *(char *)p == 'a');
	is("may not be written", __sys_mprotect((void *)p, PAGE, RW), -EACCES);
	__sys_munmap((void *)p, PAGE);
	p = map_fd(PAGE, RW, WEFT_MAP_PRIVATE, ro, 0);
	ok("private, to be written", p > 0);

	is("msync of odd flags", __sys_msync((void *)p, PAGE, WEFT_MS_SYNC | WEFT_MS_ASYNC),
	   -EINVAL);
	is("msync, unaligned", __sys_msync((char *)p + 1, PAGE, WEFT_MS_SYNC), -EINVAL);
	is("madvise, unaligned", __sys_madvise((char *)p + 1, PAGE, WEFT_MADV_DONTNEED), -EINVAL);
	is("unknown advice", __sys_madvise((void *)p, PAGE, 77), -EINVAL);
	is("a hint", __sys_madvise((void *)p, PAGE, WEFT_MADV_WILLNEED), 0);
	is("the kernel's pages", __sys_madvise((void *)__timepage, PAGE, WEFT_MADV_DONTNEED),
	   -EINVAL);
	__sys_munmap((void *)p, PAGE);
	is("msync of nothing", __sys_msync((void *)p, PAGE, WEFT_MS_SYNC), -ENOMEM);
	is("madvise of nothing", __sys_madvise((void *)p, PAGE, WEFT_MADV_DONTNEED), -ENOMEM);
	close(ro);
	close(wo);
	close(dir);
	close(null);
}

/* What is discarded is given back, and zero when it is touched again. */
static void discard(void)
{
	const size_t n = 512;
	char *p = must_map(n * PAGE, RW);

	memset(p, 1, n * PAGE);
	uint64_t had = resident();
	is("discard half", __sys_madvise(p, n / 2 * PAGE, WEFT_MADV_DONTNEED), 0);
	is("its pages are gone", had - resident(), n / 2);
	ok("zero again", p[0] == 0 && p[(n / 2 - 1) * PAGE] == 0);
	is("the other half is there", p[n / 2 * PAGE], 1);
	__sys_munmap(p, n * PAGE);
}

static void shm(void)
{
	shm_unlink("/mm_file");
	int fd = shm_open("/mm_file", O_RDWR | O_CREAT | O_EXCL, 0600);
	ok("shm_open", fd >= 0);
	ok("it is there",
	   shm_open("/mm_file", O_RDWR | O_CREAT | O_EXCL, 0600) < 0 && errno == EEXIST);
	ok("a bad name", shm_open("/a/b", O_RDWR, 0) < 0 && errno == EINVAL);
	is("ftruncate", ftruncate(fd, PAGE), 0);
	volatile char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid_t pid = fork();
	if (pid == 0) {
		int mine = shm_open("/mm_file", O_RDWR, 0);
		volatile char *q = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, mine, 0);
		q[0] = 5;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	is("written through another opening", p[0], 5);
	is("shm_unlink", shm_unlink("/mm_file"), 0);
	ok("again", shm_unlink("/mm_file") < 0 && errno == ENOENT);
	close(fd);
}

/* Which of its times have moved since the last call: 1 atime, 2 mtime, 4 ctime. */
static int times_moved(int fd)
{
	static struct stat was;
	struct stat st;

	usleep(1000);
	fstat(fd, &st);
#define MOVED(t) (st.t.tv_sec != was.t.tv_sec || st.t.tv_nsec != was.t.tv_nsec)
	int moved = MOVED(st_atim) | MOVED(st_mtim) << 1 | MOVED(st_ctim) << 2;
	was = st;
	return moved;
}

static void times(void)
{
	int fd = open("/tmp/mm_times", O_RDWR | O_CREAT | O_TRUNC, 0600);

	ftruncate(fd, 2 * PAGE);
	times_moved(fd);
	volatile char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int sum = p[0] + p[PAGE];
	is("times: a mapping that is read: atime", sum == 0 ? times_moved(fd) : -1, 1);
	msync((void *)p, 2 * PAGE, MS_SYNC);
	is("times: msync of what was not written", times_moved(fd), 0);
	p[0] = 1;
	msync((void *)p, 2 * PAGE, MS_SYNC);
	is("times: written, msync: mtime and ctime", times_moved(fd), 6);
	msync((void *)p, 2 * PAGE, MS_SYNC);
	is("times: again, nothing written", times_moved(fd), 0);
	p[1] = 1;
	times_moved(fd);
	p[2] = 1;
	is("times: written again", times_moved(fd), 0);
	msync((void *)p, 2 * PAGE, MS_ASYNC);
	is("times: and msync with MS_ASYNC", times_moved(fd), 6);
	p[PAGE] = 1;
	munmap((void *)p, 2 * PAGE);
	is("times: written, without msync", times_moved(fd), 6);
	volatile char *q = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	times_moved(fd);
	q[0] = 9;
	msync((void *)q, PAGE, MS_SYNC);
	is("times: a private mapping changes nothing", times_moved(fd), 0);
	munmap((void *)q, PAGE);
	close(fd);
	unlink("/tmp/mm_times");
}

/* SVR4's way to memory without a file. */
static void dev_zero(void)
{
	int fd = open("/dev/zero", O_RDWR), reads = open("/dev/zero", O_RDONLY);
	volatile char *shared = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	volatile char *again = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	volatile char *mine = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, reads, PAGE);

	if (shared == MAP_FAILED || again == MAP_FAILED || mine == MAP_FAILED)
		bail("mmap of /dev/zero: %s", strerror(errno));
	ok("/dev/zero: mapped writable and shared, it must be open for that",
	   mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, reads, 0) == MAP_FAILED &&
		   errno == EACCES);
	const volatile char *read_only = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reads, 0);
	ok("/dev/zero: or stays read-only",
	   mprotect((void *)read_only, PAGE, PROT_READ | PROT_WRITE) < 0 && errno == EACCES);
	ok("/dev/zero: an offset within a page",
	   mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 1) == MAP_FAILED && errno == EINVAL);
	close(fd);
	close(reads);
	is("/dev/zero: zeros", shared[0] + shared[PAGE] + mine[0] + read_only[0], 0);
	pid_t pid = fork();
	if (pid == 0) {
		shared[PAGE] = mine[0] = 6;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	is("/dev/zero: shared with a child", shared[PAGE], 6);
	is("/dev/zero: private", mine[0], 0);
	is("/dev/zero: each mapping is memory of its own", again[0], 0);
}

int main(void)
{
	int fd = make_file();

	private_mapping(fd);
	errors(fd);
	shared_mapping(fd);
	sparse();
	discard();
	shm();
	dev_zero();
	times();
	return tap_done();
}
