/*
 * file_pipe.c - pipes and poll: ends, full and empty pipes, pieces, errors, and races of
 * writers, readers and pollers.  The argument: rounds of the races (40).
 */
#include "filetest.h"
#include "rawlwp.h"
#include <weft/poll.h>
#include <weft/signal.h>

static char big[100000], got[sizeof(big)];

static struct weft_timespec ms(int n)
{
	return (struct weft_timespec){n / 1000, n % 1000 * 1000000};
}

/* poll of one descriptor that does not wait: its revents, or an error. */
static int now(int fd, int events)
{
	struct weft_pollfd p = {.fd = fd, .events = events, .revents = 0x5555};
	struct weft_timespec zero = {0, 0};
	long n = __sys_poll(&p, 1, &zero, NULL);
	return n < 0 ? n : n == (p.revents != 0) ? p.revents : -1000;
}

static void make(int fd[2], int flags)
{
	if (__sys_pipe(fd, flags) != 0)
		bail("no pipe");
}

static void ends(void)
{
	struct weft_stat a, b;
	int fd[2], other;

	is("pipe", __sys_pipe(fd, 0), 0);
	ok("pipe: two descriptors", fd[0] > 2 && fd[1] > fd[0]);
	is("pipe: write", __sys_write(fd[1], "hello", 5), 5);
	is("pipe: poll, input", now(fd[0], WEFT_POLLIN | WEFT_POLLOUT), WEFT_POLLIN);
	is("pipe: read less", __sys_read(fd[0], got, 2), 2);
	is("pipe: read more than there is", __sys_read(fd[0], got + 2, 100), 3);
	ok("pipe: what was written", memcmp(got, "hello", 5) == 0);
	is("pipe: poll, none", now(fd[0], WEFT_POLLIN), 0);
	is("pipe: poll, room", now(fd[1], WEFT_POLLIN | WEFT_POLLOUT), WEFT_POLLOUT);
	is("pipe: read from the wrong end", __sys_read(fd[1], got, 1), -EBADF);
	is("pipe: write to the wrong end", __sys_write(fd[0], got, 1), -EBADF);
	is("pipe: lseek", __sys_lseek(fd[0], 0, WEFT_SEEK_SET), -ESPIPE);
	is("pipe: pread", __sys_pread(fd[0], got, 1, 0), -ESPIPE);
	is("pipe: pwrite", __sys_pwrite(fd[1], got, 1, 0), -ESPIPE);
	is("pipe: getdents", __sys_getdents(fd[0], got, 100), -ENOTDIR);
	is("pipe: ioctl", __sys_ioctl(fd[0], WEFT_TCGETS, got), -ENOTTY);
	is("pipe: fstat", __sys_fstat(fd[0], &a) + __sys_fstat(fd[1], &b), 0);
	ok("pipe: a FIFO", (a.mode & WEFT_S_IFMT) == WEFT_S_IFIFO && a.ino == b.ino);

	other = __sys_dup(fd[1]);
	__sys_write(fd[1], "x", 1);
	__sys_close(fd[1]);
	is("pipe: poll, a writer is left", now(fd[0], 0), 0);
	__sys_close(other);
	is("pipe: poll, rest and end", now(fd[0], WEFT_POLLIN), WEFT_POLLIN | WEFT_POLLHUP);
	is("pipe: the rest", __sys_read(fd[0], got, 10), 1);
	is("pipe: the end", __sys_read(fd[0], got, 10), 0);
	is("pipe: the end again", __sys_read(fd[0], got, 10), 0);
	is("pipe: poll, the end", now(fd[0], WEFT_POLLIN), WEFT_POLLHUP);
	__sys_close(fd[0]);

	make(fd, 0);
	__sys_close(fd[0]);
	is("pipe: poll, no reader", now(fd[1], 0), WEFT_POLLERR);
	is("pipe: nothing to nobody", __sys_write(fd[1], "", 0), 0);
	__sys_close(fd[1]);
}

static void bad_arguments(void)
{
	int fd[2], before = __sys_dup(0), full[WEFT_OPEN_MAX], n = 0;
	char *p = page_before_hole();

	__sys_close(before);
	is("pipe: NULL", __sys_pipe(NULL, 0), -EFAULT);
	is("pipe: kernel address", __sys_pipe(KERNEL_ADDR, 0), -EFAULT);
	is("pipe: half in a hole", __sys_pipe((int *)(p + PAGE - 4), 0), -EFAULT);
	is("pipe: unknown flag", __sys_pipe(fd, 1), -EINVAL);
	is("pipe: errors leave nothing open", __sys_dup(0), before);
	while ((full[n] = __sys_dup(0)) >= 0)
		n++;
	is("pipe: no descriptor", __sys_pipe(fd, 0), -EMFILE);
	__sys_close(full[--n]);
	is("pipe: one descriptor", __sys_pipe(fd, 0), -EMFILE);
	is("pipe: and that is free again", __sys_dup(0), full[n]);
	for (n++; n > 0; n--)
		__sys_close(full[n - 1]);
	__sys_close(before);

	make(fd, 0);
	__sys_write(fd[1], "abcdef", 6);
	is("read: NULL", __sys_read(fd[0], NULL, 3), -EFAULT);
	is("read: into a hole", __sys_read(fd[0], p + PAGE - 2, 3), -EFAULT);
	is("read: up to a hole", __sys_read(fd[0], p + PAGE - 3, 3), 3);
	ok("read: errors lose nothing", memcmp(p + PAGE - 3, "abc", 3) == 0);
	is("write: NULL", __sys_write(fd[1], NULL, 3), -EFAULT);
	is("write: from a hole", __sys_write(fd[1], p + PAGE - 2, 3), -EFAULT);
	is("read: what was there", __sys_read(fd[0], got, 100), 3);
	is("write: a chunk, then a hole", __sys_write(fd[1], p, 2 * PAGE), PAGE);
	is("read: the chunk", __sys_read(fd[0], got, 2 * PAGE), PAGE);
	__sys_close(fd[0]);
	__sys_close(fd[1]);
}

/* The pipe's room, in bytes, found by filling it. */
static long fill(int fd)
{
	long n, all = 0;
	while ((n = __sys_write(fd, big, 1)) == 1)
		all++;
	return n == -EAGAIN ? all : n;
}

static void nonblocking(void)
{
	int fd[2];

	make(fd, WEFT_O_NONBLOCK | WEFT_O_CLOEXEC);
	is("pipe: flags", __sys_fcntl(fd[0], WEFT_F_GETFL, 0), WEFT_O_NONBLOCK | WEFT_O_RDONLY);
	is("pipe: flags", __sys_fcntl(fd[1], WEFT_F_GETFL, 0), WEFT_O_NONBLOCK | WEFT_O_WRONLY);
	is("pipe: close on exec", __sys_fcntl(fd[1], WEFT_F_GETFD, 0), WEFT_FD_CLOEXEC);
	is("O_NONBLOCK: empty", __sys_read(fd[0], got, 10), -EAGAIN);
	long room = fill(fd[1]);
	ok("O_NONBLOCK: room for a piece and more", room >= 2 * WEFT_PIPE_BUF);
	is("O_NONBLOCK: poll, full", now(fd[1], WEFT_POLLOUT), 0);
	is("O_NONBLOCK: read", __sys_read(fd[0], got, 100), 100);
	is("O_NONBLOCK: no room for all of a piece", __sys_write(fd[1], big, 101), -EAGAIN);
	is("O_NONBLOCK: a part of something large", __sys_write(fd[1], big, WEFT_PIPE_BUF + 1),
	   100);
	is("O_NONBLOCK: full", __sys_write(fd[1], big, WEFT_PIPE_BUF + 1), -EAGAIN);
	__sys_read(fd[0], got, WEFT_PIPE_BUF - 1);
	is("O_NONBLOCK: poll, not room for a piece", now(fd[1], WEFT_POLLOUT), 0);
	__sys_read(fd[0], got, 1);
	is("O_NONBLOCK: poll, room for a piece", now(fd[1], WEFT_POLLOUT), WEFT_POLLOUT);
	is("O_NONBLOCK: a piece", __sys_write(fd[1], big, WEFT_PIPE_BUF), WEFT_PIPE_BUF);
	is("O_NONBLOCK: all of it", __sys_read(fd[0], got, sizeof(got)), WEFT_PIPE_BUF);
	__sys_close(fd[0]);
	__sys_close(fd[1]);
}

static void fcntls(void)
{
	int fd[2], d;

	make(fd, 0);
	is("F_GETFL", __sys_fcntl(fd[0], WEFT_F_GETFL, 0), WEFT_O_RDONLY);
	is("F_SETFL", __sys_fcntl(fd[0], WEFT_F_SETFL, WEFT_O_NONBLOCK | WEFT_O_WRONLY | 0x1000),
	   0);
	is("F_SETFL: what it sets", __sys_fcntl(fd[0], WEFT_F_GETFL, 0), WEFT_O_NONBLOCK);
	d = __sys_dup(fd[0]);
	is("F_SETFL: dup shares", __sys_fcntl(d, WEFT_F_GETFL, 0), WEFT_O_NONBLOCK);
	is("F_SETFL: works", __sys_read(d, got, 1), -EAGAIN);
	is("F_SETFL: back", __sys_fcntl(d, WEFT_F_SETFL, 0), 0);
	is("F_SETFL: both", __sys_fcntl(fd[0], WEFT_F_GETFL, 0), 0);
	__sys_close(d);

	is("F_GETFD", __sys_fcntl(fd[0], WEFT_F_GETFD, 0), 0);
	is("F_SETFD", __sys_fcntl(fd[0], WEFT_F_SETFD, WEFT_FD_CLOEXEC), 0);
	is("F_GETFD: set", __sys_fcntl(fd[0], WEFT_F_GETFD, 0), WEFT_FD_CLOEXEC);
	d = __sys_dup(fd[0]);
	is("dup: not close on exec", __sys_fcntl(d, WEFT_F_GETFD, 0), 0);
	__sys_close(d);
	is("F_DUPFD", d = __sys_fcntl(fd[0], WEFT_F_DUPFD, 100), 100);
	is("F_DUPFD: not close on exec", __sys_fcntl(d, WEFT_F_GETFD, 0), 0);
	is("F_DUPFD: the next", __sys_fcntl(fd[0], WEFT_F_DUPFD, 100), 101);
	is("F_DUPFD_CLOEXEC", __sys_fcntl(fd[0], WEFT_F_DUPFD_CLOEXEC, 128), 128);
	is("F_DUPFD_CLOEXEC: flag", __sys_fcntl(128, WEFT_F_GETFD, 0), WEFT_FD_CLOEXEC);
	__sys_close(100);
	__sys_close(101);
	__sys_close(128);
	is("F_DUPFD_PRIVATE", __sys_fcntl(fd[0], WEFT_F_DUPFD_PRIVATE, 100), 100);
	is("F_DUPFD_PRIVATE: close on exec", __sys_fcntl(100, WEFT_F_GETFD, 0), WEFT_FD_CLOEXEC);
	is("F_DUPFD_PRIVATE: too high", __sys_fcntl(fd[0], WEFT_F_DUPFD_PRIVATE, WEFT_OPEN_MAX),
	   -EINVAL);
	int status = -1;
	long pid = __sys_fork();
	if (pid == 0)
		__sys_exit(__sys_fcntl(100, WEFT_F_GETFD, 0) == -EBADF &&
					   __sys_fcntl(fd[0], WEFT_F_DUPFD, 100) == 100
				   ? 0
				   : 1);
	__sys_waitpid(pid, &status, 0, NULL);
	is("... a child of fork does not have it", status, 0);
	is("... a dup2 on it is the program's", __sys_dup2(fd[0], 100), 100);
	pid = __sys_fork();
	if (pid == 0)
		__sys_exit(__sys_fcntl(100, WEFT_F_GETFD, 0) == 0 ? 0 : 1);
	__sys_waitpid(pid, &status, 0, NULL);
	is("... which a child has", status, 0);
	__sys_close(100);
	is("F_DUPFD: the last", __sys_fcntl(fd[0], WEFT_F_DUPFD, WEFT_OPEN_MAX - 1),
	   WEFT_OPEN_MAX - 1);
	is("F_DUPFD: none left", __sys_fcntl(fd[0], WEFT_F_DUPFD, WEFT_OPEN_MAX - 1), -EMFILE);
	__sys_close(WEFT_OPEN_MAX - 1);
	is("F_DUPFD: below 0", __sys_fcntl(fd[0], WEFT_F_DUPFD, -1), -EINVAL);
	is("F_DUPFD: too high", __sys_fcntl(fd[0], WEFT_F_DUPFD, WEFT_OPEN_MAX), -EINVAL);
	is("fcntl: unknown", __sys_fcntl(fd[0], 99, 0), -EINVAL);
	is("fcntl: no descriptor", __sys_fcntl(99, WEFT_F_GETFL, 0), -EBADF);
	is("fcntl: below 0", __sys_fcntl(-1, WEFT_F_DUPFD, 0), -EBADF);
	is("open: O_CLOEXEC", d = __sys_open("/dev/null", WEFT_O_CLOEXEC, 0), fd[1] + 1);
	is("open: close on exec", __sys_fcntl(d, WEFT_F_GETFD, 0), WEFT_FD_CLOEXEC);
	__sys_close(d);
	__sys_close(fd[0]);
	__sys_close(fd[1]);
}

static void vectors(void)
{
	static struct weft_iovec many[WEFT_IOV_MAX + 1];
	int fd[2];
	struct weft_iovec v[4] = {
		{(uint64_t) "one", 3}, {0, 0}, {(uint64_t) " two", 4}, {(uint64_t) ".", 1}};
	struct weft_iovec to[3] = {
		{(uint64_t)got, 2}, {(uint64_t)(got + 10), 0}, {(uint64_t)(got + 2), 50}};

	make(fd, WEFT_O_NONBLOCK);
	is("writev", __sys_writev(fd[1], v, 4), 8);
	is("readv", __sys_readv(fd[0], to, 3), 8);
	ok("readv: what was written", memcmp(got, "one two.", 8) == 0);
	is("writev: nothing", __sys_writev(fd[1], v, 0), 0);
	is("readv: nothing", __sys_readv(fd[0], NULL, 0), 0);
	is("readv: empty", __sys_readv(fd[0], to, 3), -EAGAIN);
	for (int i = 0; i < WEFT_IOV_MAX; i++)
		many[i] = (struct weft_iovec){(uint64_t)(big + i), 1};
	is("writev: all that may be", __sys_writev(fd[1], many, WEFT_IOV_MAX), WEFT_IOV_MAX);
	is("writev: one too many", __sys_writev(fd[1], many, WEFT_IOV_MAX + 1), -EINVAL);
	is("readv: all", __sys_readv(fd[0], many, WEFT_IOV_MAX), WEFT_IOV_MAX);
	is("writev: NULL", __sys_writev(fd[1], NULL, 1), -EFAULT);
	is("readv: kernel address", __sys_readv(fd[0], KERNEL_ADDR, 2), -EFAULT);
	v[1] = (struct weft_iovec){0x10, 1};
	is("writev: a bad piece", __sys_writev(fd[1], v, 4), -EFAULT);
	is("writev: wrote none of it", __sys_read(fd[0], got, 10), -EAGAIN);
	v[1].len = INT64_MAX;
	is("writev: too long in all", __sys_writev(fd[1], v, 4), -EINVAL);
	v[1].len = UINT64_MAX;
	is("writev: too long", __sys_writev(fd[1], v, 4), -EINVAL);
	is("writev: no descriptor", __sys_writev(99, many, 2), -EBADF);
	is("readv: no descriptor", __sys_readv(99, many, 2), -EBADF);
	__sys_close(fd[0]);
	__sys_close(fd[1]);
}

static void poll_arguments(void)
{
	struct weft_pollfd p[3] = {{.fd = -1, .events = 1, .revents = 77}, {.fd = 99}, {.fd = 1}};
	struct weft_timespec t = ms(5), bad = {0, 1000000000}, before, after;
	int null = __sys_open("/dev/null", 2, 0), self = __sys_open("/bin/file_pipe", 0, 0), fd[2];

	is("poll: one is no descriptor", __sys_poll(p, 3, NULL, NULL), 1);
	ok("poll: below 0 is passed over", p[0].revents == 0);
	is("poll: POLLNVAL", p[1].revents, WEFT_POLLNVAL);
	is("poll: a device", now(null, WEFT_POLLIN | WEFT_POLLOUT), WEFT_POLLIN | WEFT_POLLOUT);
	is("poll: a file", now(self, WEFT_POLLIN), WEFT_POLLIN);
	is("poll: console, output", now(1, WEFT_POLLOUT), WEFT_POLLOUT);
	make(fd, 0);
	p[0].fd = p[1].fd = fd[0];
	__sys_clock_gettime(0, &before);
	is("poll: time-out", __sys_poll(p, 1, &t, NULL), 0);
	__sys_clock_gettime(0, &after);
	ok("poll: it took that long",
	   (after.sec - before.sec) * 1000000000 + after.nsec - before.nsec >= 5000000);
	is("poll: nobody, for a time", __sys_poll(NULL, 0, &t, NULL), 0);
	__sys_write(fd[1], "x", 1);
	p[1].events = WEFT_POLLIN;
	is("poll: one descriptor twice", __sys_poll(p, 2, NULL, NULL), 2);
	is("poll: NULL", __sys_poll(NULL, 1, NULL, NULL), -EFAULT);
	is("poll: kernel address", __sys_poll(KERNEL_ADDR, 1, NULL, NULL), -EFAULT);
	is("poll: time at a bad address", __sys_poll(p, 1, UNMAPPED, NULL), -EFAULT);
	is("poll: bad time", __sys_poll(p, 1, &bad, NULL), -EINVAL);
	is("poll: mask at a bad address", __sys_poll(p, 1, NULL, KERNEL_ADDR), -EFAULT);
	bad = (struct weft_timespec){-1, 0};
	is("poll: time below 0", __sys_poll(p, 1, &bad, NULL), -EINVAL);
	bad = (struct weft_timespec){INT64_MAX, 0};
	is("poll: a very long time", __sys_poll(p, 1, &bad, NULL), 1);
	is("poll: too many", __sys_poll(p, WEFT_OPEN_MAX + 1, NULL, NULL), -EINVAL);
	__sys_close(fd[0]);
	__sys_close(fd[1]);
	__sys_close(null);
	__sys_close(self);
}

/* Without a handler a write to nobody ends the process. */
static void sigpipe(void)
{
	char *argv[] = {"file_pipe", "write", NULL}, *envp[] = {NULL};
	int fd[2], status = -1;
	make(fd, 0);
	struct spawn_action out = {.what = SPAWN_DUP2, .fd = 1, .from = fd[1]};
	struct spawn_args a = {.path = (uint64_t) "/bin/file_pipe",
			       .argv = (uint64_t)argv,
			       .envp = (uint64_t)envp,
			       .actions = (uint64_t)&out,
			       .nactions = 1};
	__sys_close(fd[0]);
	long pid = __sys_spawn(&a);
	is("SIGPIPE: wait", __sys_waitpid(pid, &status, 0, NULL), pid);
	is("SIGPIPE: ends the writer", status, WEFT_W_EXITCODE(0, WEFT_SIGPIPE));
	__sys_close(fd[1]);
}

/* --- races ------------------------------------------------------------------------------ */

#define WRITERS 4
#define RECORD_MAX WEFT_PIPE_BUF

static int race[2];
static unsigned rounds = 40;
static uint64_t received, wrong;

/* A record: its length, its writer, its number, and bytes that follow from these. */
struct record {
	uint16_t len;
	uint16_t writer;
	uint32_t number;
	uint8_t body[RECORD_MAX - 8];
};
static struct record records[WRITERS];

static uint8_t body_byte(unsigned writer, unsigned number, unsigned i)
{
	return writer * 31 + number * 7 + i;
}

static unsigned length(unsigned writer, unsigned number)
{
	static const unsigned lengths[] = {8, 9, 4096, 17, 1000, 4095, 2048, 100, 3000};
	return lengths[(writer * 5 + number * 3) % 9];
}

static void write_records(struct raw *r)
{
	struct record *rec = &records[r->arg];
	for (unsigned n = 0; n < rounds; n++) {
		rec->len = length(r->arg, n);
		rec->writer = r->arg;
		rec->number = n;
		for (unsigned i = 0; i < rec->len - 8u; i++)
			rec->body[i] = body_byte(r->arg, n, i);
		if (__sys_write(race[1], rec, rec->len) != rec->len)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
}

static void read_exactly(void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		long r = __sys_read(race[0], (char *)to + done, n - done);
		if (r <= 0)
			bail("the stream ends with %ld", r);
		done += r;
	}
}

/* Each writer's records come whole and in order. */
static void pieces(void)
{
	struct raw w[WRITERS] = {0};
	unsigned next[WRITERS] = {0}, bad = 0;
	static struct record r;

	make(race, 0);
	for (unsigned i = 0; i < WRITERS; i++)
		if (raw_start(&w[i], write_records, i, 0) != 0)
			bail("no LWP");
	for (unsigned n = 0; n < WRITERS * rounds; n++) {
		read_exactly(&r, 8);
		if (r.writer >= WRITERS || r.number != next[r.writer] ||
		    r.len != length(r.writer, r.number))
			bail("record %u: writer %u, number %u, %u bytes", n, r.writer, r.number,
			     r.len);
		next[r.writer]++;
		read_exactly(r.body, r.len - 8);
		for (unsigned i = 0; i < r.len - 8u; i++)
			bad += r.body[i] != body_byte(r.writer, r.number, i);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		__sys_lwp_wait(w[i].id, NULL);
	is("pieces: bytes that are wrong", bad, 0);
	is("pieces: writes that are wrong", wrong, 0);
	__sys_close(race[0]);
	__sys_close(race[1]);
}

static void read_all(struct raw *r)
{
	char buf[777];
	long n;
	while ((n = __sys_read(race[0], buf, 1 + (r->arg * 389) % sizeof(buf))) > 0)
		for (long i = 0; i < n; i++)
			__atomic_fetch_add(&received, (uint8_t)buf[i], __ATOMIC_RELAXED);
}

/* Several readers share what one large write brings; all of them find the end. */
static void readers(void)
{
	struct raw r[3] = {0};
	uint64_t sent = 0;

	make(race, 0);
	for (unsigned i = 0; i < 3; i++)
		if (raw_start(&r[i], read_all, i + 1, 0) != 0)
			bail("no LWP");
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = i * 7;
	for (unsigned n = 0; n <= rounds / 20; n++) {
		is("readers: a large write", __sys_write(race[1], big, sizeof(big)), sizeof(big));
		for (size_t i = 0; i < sizeof(big); i++)
			sent += (uint8_t)big[i];
	}
	__sys_close(race[1]);
	for (unsigned i = 0; i < 3; i++)
		__sys_lwp_wait(r[i].id, NULL);
	ok("readers: all that was sent", sent == received);
	__sys_close(race[0]);
}

static int to[WRITERS][2], back[2];

static void ping(struct raw *r)
{
	char c;
	struct weft_pollfd p = {.fd = back[0], .events = WEFT_POLLIN};
	for (unsigned n = 0; n < rounds; n++) {
		__sys_write(to[r->arg][1], "x", 1);
		/* Any of the answers will do: as many come as are awaited. */
		do
			__sys_poll(&p, 1, NULL, NULL);
		while (__sys_read(back[0], &c, 1) != 1);
	}
	__sys_close(to[r->arg][1]);
}

/* One poller answers several others, which poll for the answer: none is forgotten. */
static void pollers(void)
{
	struct raw w[WRITERS] = {0};
	struct weft_pollfd p[WRITERS];
	unsigned open = WRITERS, answered = 0;
	char c;

	make(back, WEFT_O_NONBLOCK);
	for (unsigned i = 0; i < WRITERS; i++) {
		make(to[i], 0);
		p[i] = (struct weft_pollfd){.fd = to[i][0], .events = WEFT_POLLIN};
	}
	for (unsigned i = 0; i < WRITERS; i++)
		if (raw_start(&w[i], ping, i, 0) != 0)
			bail("no LWP");
	while (open > 0) {
		if (__sys_poll(p, WRITERS, NULL, NULL) < 1)
			bail("poll finds nothing");
		for (unsigned i = 0; i < WRITERS; i++) {
			if (p[i].revents & WEFT_POLLIN) {
				__sys_read(p[i].fd, &c, 1);
				__sys_write(back[1], "y", 1);
				answered++;
			} else if (p[i].revents & WEFT_POLLHUP) {
				__sys_close(p[i].fd);
				p[i].fd = -1;
				open--;
			}
		}
	}
	for (unsigned i = 0; i < WRITERS; i++)
		__sys_lwp_wait(w[i].id, NULL);
	is("pollers: answers", answered, WRITERS * rounds);
	__sys_close(back[0]);
	__sys_close(back[1]);
}

static void close_late(struct raw *r)
{
	struct weft_timespec t = ms(2);
	__sys_lwp_sleep(0, 0, &t);
	__sys_close(race[r->arg]);
}

/* A thread that waits at one end learns that the other end is closed. */
static void closing(void)
{
	struct raw r = {0};
	struct weft_pollfd p = {.events = WEFT_POLLIN};

	make(race, 0);
	raw_start(&r, close_late, 1, 0);
	is("closing: a reader finds the end", __sys_read(race[0], got, 1), 0);
	__sys_lwp_wait(r.id, NULL);
	__sys_close(race[0]);
	make(race, 0);
	p.fd = race[0];
	raw_start(&r, close_late, 1, 0);
	is("closing: a poller finds the end", __sys_poll(&p, 1, NULL, NULL), 1);
	is("closing: POLLHUP", p.revents, WEFT_POLLHUP);
	__sys_lwp_wait(r.id, NULL);
	__sys_close(race[0]);
	make(race, WEFT_O_NONBLOCK);
	fill(race[1]);
	p = (struct weft_pollfd){.fd = race[1], .events = WEFT_POLLOUT};
	raw_start(&r, close_late, 0, 0);
	is("closing: a poller finds no reader", __sys_poll(&p, 1, NULL, NULL), 1);
	is("closing: POLLERR", p.revents, WEFT_POLLERR);
	__sys_lwp_wait(r.id, NULL);
	__sys_close(race[1]);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "write") == 0) {
		__sys_write(1, "nobody reads this", 17);
		return 1;
	}
	if (argc > 1)
		rounds = atoi(argv[1]);
	ends();
	bad_arguments();
	nonblocking();
	fcntls();
	vectors();
	poll_arguments();
	sigpipe();
	pieces();
	readers();
	pollers();
	closing();
	return tap_done();
}
