/*
 * libc_file.c - descriptors, directories, the console's settings, and what the
 * system says about itself; good and bad arguments.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <termios.h>
#include "tap.h"

#define SELF "/bin/libc_file"

static void files(void)
{
	char a[16] = "", b[16];
	struct stat st, st2;
	int fd, fd2, p[2];

	fd = open(SELF, O_RDONLY);
	ok("open", fd > 2);
	is("read", read(fd, a, 4), 4);
	ok("what it read", !memcmp(a, "\177ELF", 4));
	fd2 = dup(fd);
	ok("dup", fd2 > 2 && fd2 != fd);
	is("lseek", lseek(fd, 1, SEEK_SET), 1);
	is("dup shares the offset", read(fd2, b, 3) == 3 && !memcmp(b, "ELF", 3), 1);
	is("dup2", dup2(fd, 50), 50);
	is("its offset", lseek(50, 0, SEEK_CUR), 4);
	is("close", close(50) + close(fd2), 0);
	is("fstat", fstat(fd, &st), 0);
	ok("a regular file", S_ISREG(st.st_mode) && (st.st_mode & 0111) && st.st_size > 4096);
	ok("stat says the same",
	   stat(SELF, &st2) == 0 && st2.st_ino == st.st_ino && st2.st_size == st.st_size);
	is("lseek to the end", lseek(fd, 0, SEEK_END), st.st_size);
	is("read there", read(fd, a, 4), 0);
	is("fcntl F_GETFL", fcntl(fd, F_GETFL), O_RDONLY);
	is("fcntl F_GETFL of the console", fcntl(1, F_GETFL) & O_ACCMODE, O_RDWR);
	fails("write to it", write(fd, "x", 1), EBADF);
	fails("read to a bad address", (lseek(fd, 0, SEEK_SET), read(fd, (void *)8, 4)), EFAULT);
	fails("lseek before the start", lseek(fd, -1, SEEK_SET), EINVAL);
	close(fd);
	fails("read of a closed descriptor", read(fd, a, 4), EBADF);
	fails("close of a closed descriptor", close(fd), EBADF);
	fails("fcntl of a closed descriptor", fcntl(fd, F_GETFL), EBADF);
	fails("open of nothing", open("/nonexistent", O_RDONLY), ENOENT);
	fails("open below a file", open(SELF "/x", O_RDONLY), ENOTDIR);
	fails("open of a bad address", open((char *)8, O_RDONLY), EFAULT);
	fails("open a file as a directory", open(SELF, O_RDONLY | O_DIRECTORY), ENOTDIR);
	fd = open("/bin", O_RDONLY);
	fd2 = openat(fd, "libc_file", O_RDONLY);
	ok("openat: from a directory", fstat(fd2, &st2) == 0 && st2.st_ino == st.st_ino);
	close(fd2);
	fd2 = openat(fd2, SELF, O_RDONLY);
	ok("openat: an absolute path needs none", fstat(fd2, &st2) == 0 && st2.st_ino == st.st_ino);
	fails("openat: not a directory", openat(fd2, "x", O_RDONLY), ENOTDIR);
	close(fd2);
	fails("openat: of nobody's", openat(fd2, "x", O_RDONLY), EBADF);
	is("openat: is not where the process is", chdir("/tmp"), 0);
	fails("openat: AT_FDCWD", openat(AT_FDCWD, "libc_file", O_RDONLY), ENOENT);
	fd2 = openat(fd, "../tmp/libc_file", O_WRONLY | O_CREAT | O_EXCL, 0640);
	ok("openat: makes a file", fstat(fd2, &st2) == 0 && (st2.st_mode & 07777) == 0640);
	is("openat: there", unlink("libc_file"), 0);
	chdir("/");
	close(fd2);
	close(fd);
	is("pipe", pipe(p), 0);
	is("pipe: from one end to the other", write(p[1], "ab", 2) + read(p[0], a, 4), 4);
	close(p[0]);
	close(p[1]);
	is("access", access(SELF, R_OK | X_OK), 0);
	fails("access of nothing", access("/nonexistent", F_OK), ENOENT);
}

static void directories(void)
{
	char path[100], *p;
	struct dirent *d;
	int found = 0, again = 0, n = 0;
	DIR *dir;

	dir = opendir("/bin");
	if (!dir)
		bail("opendir: %s", strerror(errno));
	while ((d = readdir(dir)) != NULL) {
		found += !strcmp(d->d_name, "libc_file") && d->d_type == DT_REG;
		n++;
	}
	is("readdir finds this program", found, 1);
	ok("and others", n > 20);
	rewinddir(dir);
	while ((d = readdir(dir)) != NULL)
		again++;
	is("rewinddir", again, n);
	is("closedir", closedir(dir), 0);
	errno = 0;
	ok("opendir of a file", !opendir(SELF) && errno == ENOTDIR);
	ok("opendir of nothing", !opendir("/nonexistent") && errno == ENOENT);

	is("chdir", chdir("/bin"), 0);
	ok("getcwd", getcwd(path, sizeof(path)) && !strcmp(path, "/bin"));
	ok("a relative path", access("libc_file", F_OK) == 0 && access("../bin/./sh", F_OK) == 0);
	p = getcwd(NULL, 0);
	ok("getcwd allocates", p && !strcmp(p, "/bin"));
	free(p);
	errno = 0;
	ok("getcwd without room", !getcwd(path, 3) && errno == ERANGE);
	fails("chdir to a file", chdir("/bin/sh"), ENOTDIR);
	fails("chdir to nothing", chdir("/nonexistent"), ENOENT);
	is("chdir back", chdir("/"), 0);
}

static void console(void)
{
	struct termios old, t, back;
	struct winsize w;
	int null = open("/dev/null", O_RDWR);

	is("tcgetattr", tcgetattr(0, &old), 0);
	t = old;
	cfmakeraw(&t);
	is("tcsetattr", tcsetattr(0, TCSANOW, &t), 0);
	is("tcgetattr again", tcgetattr(0, &back), 0);
	is("raw mode", back.c_lflag & (ICANON | ECHO | ISIG), 0);
	is("set back", tcsetattr(0, TCSADRAIN, &old), 0);
	ok("as it was", tcgetattr(0, &back) == 0 && !memcmp(&back, &old, sizeof(old)));
	fails("tcsetattr: when", tcsetattr(0, 9, &old), EINVAL);
	fails("tcgetattr of /dev/null", tcgetattr(null, &t), ENOTTY);
	is("tcdrain", tcdrain(1), 0);
	fails("tcdrain of /dev/null", tcdrain(null), ENOTTY);
	fails("tcdrain of nothing", tcdrain(-1), EBADF);
	fails("ioctl: unknown", ioctl(0, 0x1234, NULL), ENOTTY);
	is("TIOCGWINSZ", ioctl(0, TIOCGWINSZ, &w), 0);
	is("tcgetpgrp", tcgetpgrp(0), getpgrp());
	is("/dev/null: read", read(null, &t, 1), 0);
	is("/dev/null: write", write(null, "x", 1), 1);
	close(null);
}

/* What unistd.h and sysconf say of POSIX's options must be the same. */
#define OPTION(name)                                                                               \
	{                                                                                          \
#name, _SC_##name, _POSIX_##name                                                   \
	}
static const struct {
	const char *text;
	int name;
	long here;
} options[] = {
	OPTION(BARRIERS),
	OPTION(CLOCK_SELECTION),
	OPTION(CPUTIME),
	OPTION(FSYNC),
	OPTION(JOB_CONTROL),
	OPTION(MAPPED_FILES),
	OPTION(MEMORY_PROTECTION),
	OPTION(MONOTONIC_CLOCK),
	OPTION(PRIORITY_SCHEDULING),
	OPTION(READER_WRITER_LOCKS),
	OPTION(REALTIME_SIGNALS),
	OPTION(SEMAPHORES),
	OPTION(SHARED_MEMORY_OBJECTS),
	OPTION(SPAWN),
	OPTION(SPIN_LOCKS),
	OPTION(THREADS),
	OPTION(THREAD_ATTR_STACKADDR),
	OPTION(THREAD_ATTR_STACKSIZE),
	OPTION(THREAD_CPUTIME),
	OPTION(THREAD_PRIORITY_SCHEDULING),
	OPTION(THREAD_PRIO_INHERIT),
	OPTION(THREAD_PRIO_PROTECT),
	OPTION(THREAD_PROCESS_SHARED),
	OPTION(THREAD_ROBUST_PRIO_INHERIT),
	OPTION(THREAD_ROBUST_PRIO_PROTECT),
	OPTION(THREAD_SAFE_FUNCTIONS),
	OPTION(TIMEOUTS),
};

/* The least that POSIX wants. */
static const struct {
	const char *text;
	int name;
	long least;
} limits[] = {
	{"RTSIG_MAX", _SC_RTSIG_MAX, 8},
	{"SIGQUEUE_MAX", _SC_SIGQUEUE_MAX, 32},
	{"TIMER_MAX", _SC_TIMER_MAX, 32},
	{"SEM_VALUE_MAX", _SC_SEM_VALUE_MAX, 32767},
	{"PTHREAD_KEYS_MAX", _SC_THREAD_KEYS_MAX, 128},
	{"PTHREAD_DESTRUCTOR_ITERATIONS", _SC_THREAD_DESTRUCTOR_ITERATIONS, 4},
};

static void system_says(void)
{
	struct utsname u;

	ok("uname", uname(&u) == 0 && !strcmp(u.sysname, "weft") && !strcmp(u.machine, "x86_64"));
	is("page size", sysconf(_SC_PAGESIZE), 4096);
	ok("CPUs", sysconf(_SC_NPROCESSORS_ONLN) >= 1);
	ok("memory",
	   sysconf(_SC_PHYS_PAGES) > sysconf(_SC_AVPHYS_PAGES) && sysconf(_SC_AVPHYS_PAGES) > 0);
	fails("sysconf of nothing", sysconf(9999), EINVAL);
	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		is(options[i].text, sysconf(options[i].name), options[i].here);
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		ok(limits[i].text, sysconf(limits[i].name) >= limits[i].least);
}

int main(void)
{
	files();
	directories();
	console();
	system_says();
	return tap_done();
}
