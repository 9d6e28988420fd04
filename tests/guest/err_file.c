/*
 * err_file.c - every error of the system calls on descriptors: open, read, write and the like.
 * That there is no memory: err_memory.c.
 */
#include <weft/lwp.h>
#include <weft/poll.h>
#include <weft/signal.h>
#include "errtest.h"

#define TOO_MANY ((size_t)1 << 63)
#define BIGGEST (1l << 48)

static char buf[WEFT_PIPE_BUF + 1];
static struct weft_iovec piece = {.len = 8}, two_long[2] = {{0, INT64_MAX}, {0, 1}};
static int fd, dir, in, out; /* a file; a directory; the ends of a pipe */

/* Runs with no free descriptor beyond those that are open. */
static void without_descriptors(void)
{
	struct weft_rlimit old, none;
	int two[2];

	__sys_rlimit(WEFT_RLIMIT_NOFILE, NULL, &old);
	none = (struct weft_rlimit){0, old.max};
	__sys_rlimit(WEFT_RLIMIT_NOFILE, &none, NULL);
	gives(open, EMFILE, "no descriptor is free", "file", 0, 0);
	gives(openat, EMFILE, "no descriptor is free", WEFT_AT_FDCWD, "file", 0, 0);
	gives(dup, EMFILE, "no descriptor is free", fd);
	gives(fcntl, EMFILE, "no descriptor is free", fd, WEFT_F_DUPFD, 0);
	gives(pipe, EMFILE, "no descriptor is free", two, 0);
	gives(dup2, EBADF, "the new one is at the limit", fd, 0);
	__sys_rlimit(WEFT_RLIMIT_NOFILE, &old, NULL);
}

/* Of open, and of openat with the directory that `at` names (and a comma). */
#define GIVES_OPEN_ERRORS(call, at)                                                                \
	do {                                                                                       \
		gives(call, ENOENT, "the last name", at "none", 0, 0);                             \
		gives(call, EINVAL, "an unknown flag", at "file", 1 << 30, 0);                     \
		gives(call, EINVAL, "no access mode", at "file", WEFT_O_ACCMODE, 0);               \
		gives(call, EINVAL, "a new directory", at "new", WEFT_O_CREAT | WEFT_O_DIRECTORY,  \
		      0);                                                                          \
		gives(call, ELOOP, "a symbolic link with O_NOFOLLOW", at "loop", WEFT_O_NOFOLLOW,  \
		      0);                                                                          \
		gives(call, EEXIST, "O_EXCL", at "file", WEFT_O_CREAT | WEFT_O_EXCL, 0);           \
		gives(call, EISDIR, "to write to a directory", at "dir", WEFT_O_WRONLY, 0);        \
		gives(call, EISDIR, "to make a directory", at "new/", WEFT_O_CREAT, 0);            \
		gives(call, ENOTDIR, "O_DIRECTORY", at "file", WEFT_O_DIRECTORY, 0);               \
		gives(call, EROFS, "to write to /proc", at "/proc/self/status", WEFT_O_WRONLY, 0); \
		gives(call, EROFS, "to create in /proc", at "/proc/x", WEFT_O_CREAT, 0);           \
		gives(call, EROFS, "to truncate in /proc", at "/proc/self/status", WEFT_O_TRUNC,   \
		      0);                                                                          \
	} while (0)

/* A child with bytes 0 and 10 of the file, which waits for byte 1; it is there when this returns. */
static int child_with_locks(void)
{
	struct weft_flock first = {.type = WEFT_F_WRLCK, .len = 1}, second = first, third = first;
	struct lwp_info info;
	int pid = __sys_fork();

	second.start = 10;
	third.start = 1;
	if (pid == 0) {
		__sys_fcntl(fd, WEFT_F_SETLK, (long)&first);
		__sys_fcntl(fd, WEFT_F_SETLK, (long)&second);
		__sys_exit(__sys_fcntl(fd, WEFT_F_SETLKW, (long)&third) != 0);
	}
	while (__sys_lwp_info(pid, 1, &info) != 1 || strcmp(info.wchan, "fcntl") != 0)
		__sys_lwp_yield();
	return pid;
}

static void locking(void)
{
	struct weft_flock lk = {.type = WEFT_F_WRLCK, .start = 1, .len = 1};
	struct weft_flock bad = {.type = 9}, before = {.type = WEFT_F_RDLCK, .start = -1};
	struct weft_flock large = {.type = WEFT_F_RDLCK, .start = 2, .len = INT64_MAX};
	int read_only = __sys_open("file", 0, 0), status = -1;

	gives(fcntl, EFAULT, "no lock there", fd, WEFT_F_SETLK, (long)NOWHERE);
	gives(fcntl, EFAULT, "no lock to be read there", fd, WEFT_F_GETLK, (long)NOWHERE);
	gives(fcntl, EINVAL, "no such lock", fd, WEFT_F_SETLK, (long)&bad);
	gives(fcntl, EINVAL, "bytes before the file", fd, WEFT_F_SETLK, (long)&before);
	gives(fcntl, EINVAL, "a lock on a pipe", in, WEFT_F_GETLK, (long)&lk);
	gives(fcntl, EOVERFLOW, "a range that is too large", fd, WEFT_F_SETLK, (long)&large);
	gives(fcntl, EBADF, "to write, not open for it", read_only, WEFT_F_SETLK, (long)&lk);
	works(fcntl, fd, WEFT_F_SETLK, (long)&lk);
	int pid = child_with_locks();
	lk.start = 0;
	gives(fcntl, EAGAIN, "another has it", fd, WEFT_F_SETLK, (long)&lk);
	gives(fcntl, EDEADLK, "it waits for me", fd, WEFT_F_SETLKW, (long)&lk);
	lk.type = WEFT_F_UNLCK;
	lk.start = 1;
	works(fcntl, fd, WEFT_F_SETLK, (long)&lk);
	__sys_waitpid(pid, &status, 0, NULL);
	worked(fcntl, status == 0);
	lk.type = WEFT_F_WRLCK;
	works(fcntl, fd, WEFT_F_SETLKW, (long)&lk);
	if ((pid = __sys_fork()) == 0) {
		struct sigaction act = {.sa_handler = err_on_alarm};
		struct itimerval every = {{0, 1000}, {0, 1000}};
		sigaction(SIGALRM, &act, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		__sys_exit(-__sys_fcntl(fd, WEFT_F_SETLKW, (long)&lk));
	}
	__sys_waitpid(pid, &status, 0, NULL);
	err_result(-(status >> 8), -EINTR, "fcntl EINTR: a signal while it waits");
	__sys_close(read_only); /* and the lock goes */
}

static void opening(void)
{
	int here = __sys_open(".", 0, 0);

	gives_path_errors(open, 0, 0);
	GIVES_OPEN_ERRORS(open, );
	gives_path_errors_at(openat, here, 0, 0);
	GIVES_OPEN_ERRORS(openat, ERR_FIRST(here));
	__sys_close(here);
	gives(openat, EBADF, "no such descriptor", here, "file", 0, 0);
	gives(openat, ENOTDIR, "not a directory's", fd, "file", 0, 0);
	works(close, works(openat, WEFT_AT_FDCWD, "file", 0, 0));
	works(close, works(open, "file", 0, 0));
	gives(close, EBADF, "no such descriptor", -1);
	gives(close, EBADF, "not open", 1000);

	gives(dup, EBADF, "no such descriptor", -1);
	int d = works(dup, fd);
	gives(dup2, EBADF, "no such descriptor", -1, d);
	gives(dup2, EBADF, "the new one below 0", fd, -1);
	gives(dup2, EBADF, "the new one too large", fd, WEFT_OPEN_MAX);
	works(dup2, fd, d);
	gives(fcntl, EBADF, "no such descriptor", -1, WEFT_F_GETFD, 0);
	gives(fcntl, EINVAL, "an unknown command", fd, 9999, 0);
	gives(fcntl, EINVAL, "F_DUPFD below 0", fd, WEFT_F_DUPFD, -1);
	gives(fcntl, EINVAL, "F_DUPFD too large", fd, WEFT_F_DUPFD, WEFT_OPEN_MAX);
	works(fcntl, fd, WEFT_F_GETFL, 0);
	locking();
	__sys_close(d);

	int two[2];
	gives(pipe, EINVAL, "unknown flags", two, WEFT_O_APPEND);
	gives(pipe, EFAULT, "the array", NOWHERE, 0);
	works(pipe, two, 0);
	__sys_close(two[0]);
	__sys_close(two[1]);
}

/* The status of a child in the background that wants the terminal for its group. */
static int taking_the_terminal(void)
{
	struct sigaction act = {.sa_handler = err_on_alarm}; /* without SA_RESTART */
	int status = -1, pid = __sys_fork();

	if (pid == 0) {
		__sys_setpgrp(0, 0);
		pid = __sys_getpid();
		sigaction(SIGTTOU, &act, NULL);
		__sys_exit(-__sys_ioctl(1, WEFT_TIOCSPGRP, &pid));
	}
	__sys_waitpid(pid, &status, 0, NULL);
	return status;
}

/* Descriptors that some call refuses. */
static void asking(void)
{
	static struct weft_stat st;

	gives(fstat, EBADF, "no such descriptor", -1, &st);
	gives(fstat, EFAULT, "the structure", fd, NOWHERE);
	works(fstat, fd, &st);

	gives(lseek, EBADF, "no such descriptor", -1, 0, WEFT_SEEK_SET);
	gives(lseek, ESPIPE, "a pipe", in, 0, WEFT_SEEK_SET);
	gives(lseek, ESPIPE, "a device", 1, 0, WEFT_SEEK_SET);
	gives(lseek, EINVAL, "whence", fd, 0, 3);
	gives(lseek, EINVAL, "below 0", fd, -1, WEFT_SEEK_SET);
	gives(lseek, EINVAL, "the end of a directory", dir, 0, WEFT_SEEK_END);
	works(lseek, fd, 1, WEFT_SEEK_SET);
	gives(lseek, EOVERFLOW, "beyond all numbers", fd, INT64_MAX, WEFT_SEEK_CUR);

	gives(getdents, EBADF, "no such descriptor", -1, buf, sizeof(buf));
	gives(getdents, ENOTDIR, "a file", fd, buf, sizeof(buf));
	gives(getdents, EINVAL, "no room for an entry", dir, buf, 8);
	gives(getdents, EFAULT, "the buffer", dir, NOWHERE, sizeof(buf));
	works(getdents, dir, buf, sizeof(buf));

	struct weft_termios t;
	int none = 0;
	gives(ioctl, EBADF, "no such descriptor", -1, WEFT_TCGETS, &t);
	gives(ioctl, ENOTTY, "a file", fd, WEFT_TCGETS, &t);
	gives(ioctl, ENOTTY, "an unknown request", 1, 1, &t);
	gives(ioctl, EFAULT, "the structure", 1, WEFT_TCGETS, NOWHERE);
	gives(ioctl, EFAULT, "the structure to set", 1, WEFT_TCSETS, NOWHERE);
	gives(ioctl, EINVAL, "no process group", 1, WEFT_TIOCSPGRP, &none);
	none = INT32_MAX;
	gives(ioctl, EPERM, "no group of the session", 1, WEFT_TIOCSPGRP, &none);
	is("ioctl EINTR: caught SIGTTOU", taking_the_terminal(), EINTR << 8);
	works(ioctl, 1, WEFT_TCGETS, &t);

	struct weft_pollfd p = {.fd = in, .events = WEFT_POLLIN};
	struct weft_timespec bad = {0, -1}, zero = {0, 0};
	gives(poll, EINVAL, "too many", &p, WEFT_OPEN_MAX + 1, NULL, NULL);
	gives(poll, EINVAL, "no time", &p, 1, &bad, NULL);
	gives(poll, EFAULT, "the array", NOWHERE, 1, &zero, NULL);
	gives(poll, EFAULT, "the time", &p, 1, NOWHERE, NULL);
	gives(poll, EFAULT, "the mask", &p, 1, &zero, NOWHERE);
	gives_eintr(poll, "a signal", &p, 1, NULL, NULL);
	works(poll, &p, 1, &zero, &(uint64_t){WEFT_SIGBIT(WEFT_SIGUSR1)});
}

/* A file of /proc whose process has gone. */
static int of_nobody(void)
{
	char name[40];
	int status, pid = __sys_fork();

	if (pid == 0)
		__sys_lwp_park(NULL, 0);
	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	int gone = __sys_open(name, 0, 0);
	__sys_kill(pid, WEFT_SIGKILL);
	__sys_waitpid(pid, &status, 0, NULL);
	return gone;
}

/* What a process in the background gets from the console: its status is 0 if it is EIO. */
static int in_background(int vector)
{
	int status = -1, pid = __sys_fork(), pgrp = __sys_getpgrp(0), had = 0;

	if (pid == 0) {
		__sys_setpgrp(0, 0);
		signal(SIGTTIN, SIG_IGN);
		signal(SIGTTOU, SIG_IGN);
		__sys_ioctl(1, WEFT_TIOCGPGRP, &had);
		__sys_ioctl(1, WEFT_TIOCSPGRP, &pgrp);
		int console = __sys_open("/dev/console", 0, 0);
		long r = vector ? __sys_readv(console, &piece, 1) : __sys_read(console, buf, 1);
		if (had > 0)
			__sys_ioctl(1, WEFT_TIOCSPGRP, &had);
		__sys_exit(-r);
	}
	__sys_waitpid(pid, &status, 0, NULL);
	return -(status >> 8 & 0xff);
}

static void reading(int gone)
{
	gives(read, EBADF, "no such descriptor", -1, buf, 1);
	gives(read, EBADF, "not open for reading", out, buf, 1);
	gives(read, EISDIR, "a directory", dir, buf, 1);
	gives(read, EINVAL, "too much", fd, buf, TOO_MANY);
	gives(read, EFAULT, "the buffer", fd, NOWHERE, 1);
	gives(read, ESRCH, "a process that has gone", gone, buf, 1);
	gives_eintr(read, "a signal", in, buf, 1);
	err_result(in_background(0), -EIO, "read EIO: the console, in the background");

	gives(pread, EBADF, "no such descriptor", -1, buf, 1, 0);
	gives(pread, EBADF, "not open for reading", out, buf, 1, 0);
	gives(pread, EISDIR, "a directory", dir, buf, 1, 0);
	gives(pread, EINVAL, "too much", fd, buf, TOO_MANY, 0);
	gives(pread, EINVAL, "an offset below 0", fd, buf, 1, -1);
	gives(pread, ESPIPE, "a pipe", in, buf, 1, 0);
	gives(pread, EFAULT, "the buffer", fd, NOWHERE, 1, 0);
	gives(pread, ESRCH, "a process that has gone", gone, buf, 1, 0);
	works(pread, fd, buf, 1, 0);

	gives(readv, EBADF, "no such descriptor", -1, &piece, 1);
	gives(readv, EISDIR, "a directory", dir, &piece, 1);
	gives(readv, EINVAL, "too many pieces", fd, &piece, WEFT_IOV_MAX + 1);
	gives(readv, EINVAL, "too much in all", fd, two_long, 2);
	gives(readv, EFAULT, "the pieces", fd, NOWHERE, 1);
	struct weft_iovec nowhere = {.base = (uint64_t)NOWHERE, .len = 1};
	gives(readv, EFAULT, "a piece", fd, &nowhere, 1);
	gives(readv, ESRCH, "a process that has gone", gone, &piece, 1);
	gives_eintr(readv, "a signal", in, &piece, 1);
	err_result(in_background(1), -EIO, "readv EIO: the console, in the background");

	__sys_fcntl(in, WEFT_F_SETFL, WEFT_O_NONBLOCK);
	gives(read, EAGAIN, "nothing yet", in, buf, 1);
	gives(readv, EAGAIN, "nothing yet", in, &piece, 1);
	__sys_write(out, buf, 9);
	works(read, in, buf, 1);
	works(readv, in, &piece, 1);
}

static void writing(void)
{
	int full = __sys_open("/dev/full", WEFT_O_WRONLY, 0);
	int reader = __sys_open("file", WEFT_O_RDONLY, 0), broken[2];

	gives(write, EBADF, "no such descriptor", -1, buf, 1);
	gives(write, EBADF, "not open for writing", reader, buf, 1);
	gives(write, EINVAL, "too much", fd, buf, TOO_MANY);
	gives(write, EFAULT, "the buffer", fd, NOWHERE, 1);
	gives(write, ENOSPC, "a full device", full, buf, 1);
	gives(pwrite, EBADF, "no such descriptor", -1, buf, 1, 0);
	gives(pwrite, EBADF, "not open for writing", reader, buf, 1, 0);
	gives(pwrite, EINVAL, "too much", fd, buf, TOO_MANY, 0);
	gives(pwrite, EINVAL, "an offset below 0", fd, buf, 1, -1);
	gives(pwrite, ESPIPE, "a pipe", out, buf, 1, 0);
	gives(pwrite, EFAULT, "the buffer", fd, NOWHERE, 1, 0);
	gives(pwrite, EFBIG, "beyond what a file can be", fd, buf, 1, BIGGEST);
	works(pwrite, fd, buf, 1, 0);
	gives(writev, EBADF, "no such descriptor", -1, &piece, 1);
	gives(writev, EINVAL, "too many pieces", fd, &piece, WEFT_IOV_MAX + 1);
	gives(writev, EINVAL, "too much in all", fd, two_long, 2);
	gives(writev, EFAULT, "the pieces", fd, NOWHERE, 1);
	gives(writev, ENOSPC, "a full device", full, &piece, 1);

	/* The pipe is filled: from then on a write waits. */
	__sys_fcntl(out, WEFT_F_SETFL, WEFT_O_NONBLOCK);
	while (__sys_write(out, buf, WEFT_PIPE_BUF) > 0)
		;
	gives(write, EAGAIN, "no room", out, buf, 1);
	gives(writev, EAGAIN, "no room", out, &piece, 1);
	__sys_fcntl(out, WEFT_F_SETFL, 0);
	gives_eintr(write, "a signal", out, buf, 1);
	gives_eintr(writev, "a signal", out, &piece, 1);

	signal(SIGPIPE, SIG_IGN);
	__sys_pipe(broken, 0);
	__sys_close(broken[0]);
	gives(write, EPIPE, "nobody will read it", broken[1], buf, 1);
	gives(writev, EPIPE, "nobody will read it", broken[1], &piece, 1);

	__sys_lseek(fd, BIGGEST, WEFT_SEEK_SET);
	gives(write, EFBIG, "beyond what a file can be", fd, buf, 1);
	gives(writev, EFBIG, "beyond what a file can be", fd, &piece, 1);
	__sys_lseek(fd, 0, WEFT_SEEK_SET);
	works(write, fd, buf, 1);
	works(writev, fd, &piece, 1);
}

int main(void)
{
	int ends[2];

	err_paths("/tmp/err_file");
	piece.base = two_long[0].base = two_long[1].base = (uint64_t)buf;
	fd = __sys_open("file", WEFT_O_RDWR, 0);
	dir = __sys_open(".", WEFT_O_RDONLY, 0);
	__sys_write(fd, "text", 4);
	if (__sys_pipe(ends, 0) < 0)
		bail("no pipe");
	in = ends[0];
	out = ends[1];
	int gone = of_nobody();
	opening();
	without_descriptors();
	asking();
	__sys_lseek(fd, 0, WEFT_SEEK_SET);
	reading(gone);
	writing();
	return tap_done();
}
