/*
 * file_fds.c - descriptors: dup and dup2, the lowest free one, the limit, what a
 * child inherits, and a table that several LWPs use at once.
 */
#include "filetest.h"
#include "rawlwp.h"

#define SELF "/bin/file_fds"

static int open_self(void)
{
	int fd = __sys_open(SELF, WEFT_O_RDONLY, 0);
	if (fd < 0)
		bail("%s: error %d", SELF, -fd);
	return fd;
}

static void dups(void)
{
	char a[8], b[8];
	int fd = open_self(), other = __sys_dup(fd), own = open_self();

	ok("dup", other > fd && own > other);
	__sys_read(fd, a, 8);
	is("dup: shares the offset", __sys_lseek(other, 0, WEFT_SEEK_CUR), 8);
	is("open: an offset of its own", __sys_lseek(own, 0, WEFT_SEEK_CUR), 0);
	__sys_close(fd);
	is("dup: outlives the other", __sys_read(other, b, 8), 8);
	is("dup: closed", __sys_dup(fd), -EBADF);
	is("dup: -1", __sys_dup(-1), -EBADF);
	is("open: the lowest free", open_self(), fd);

	is("dup2", __sys_dup2(own, 700), 700);
	is("dup2: beyond what was there", __sys_lseek(700, 5, WEFT_SEEK_SET), 5);
	is("dup2: shares the offset", __sys_lseek(own, 0, WEFT_SEEK_CUR), 5);
	is("dup2: onto an open one", __sys_dup2(fd, own), own);
	is("dup2: replaced", __sys_lseek(own, 0, WEFT_SEEK_CUR), 0);
	is("dup2: the other stays", __sys_lseek(700, 0, WEFT_SEEK_CUR), 5);
	is("dup2: onto itself", __sys_dup2(fd, fd), fd);
	is("dup2: closed", __sys_dup2(99, 5), -EBADF);
	is("dup2: closed onto itself", __sys_dup2(99, 99), -EBADF);
	is("dup2: to -1", __sys_dup2(fd, -1), -EBADF);
	is("dup2: to the limit", __sys_dup2(fd, WEFT_OPEN_MAX), -EBADF);
	is("dup2: last one", __sys_dup2(fd, WEFT_OPEN_MAX - 1), WEFT_OPEN_MAX - 1);
	is("close", __sys_close(WEFT_OPEN_MAX - 1), 0);
	is("close: -1", __sys_close(-1), -EBADF);
	is("close: the limit", __sys_close(WEFT_OPEN_MAX), -EBADF);
	__sys_close(700);
	__sys_close(fd);
	__sys_close(other);
	__sys_close(own);
}

static void limit(void)
{
	int fd = 0, want = 3, in_order = 1;

	for (; want < WEFT_OPEN_MAX; want++) {
		fd = open_self();
		in_order &= fd == want;
	}
	ok("limit: all, in order", in_order);
	is("limit: open", __sys_open(SELF, WEFT_O_RDONLY, 0), -EMFILE);
	is("limit: dup", __sys_dup(3), -EMFILE);
	is("limit: dup2 needs none", __sys_dup2(3, 4), 4);
	for (int i = 3; i < WEFT_OPEN_MAX; i += 97)
		__sys_close(i);
	in_order = 1;
	for (int i = 3; i < WEFT_OPEN_MAX; i += 97)
		in_order &= open_self() == i;
	ok("limit: holes are filled from below", in_order);
	in_order = 1;
	for (int i = WEFT_OPEN_MAX - 1; i >= 3; i--)
		in_order &= __sys_close(i) == 0;
	ok("limit: close all", in_order);
	fd = open_self();
	is("limit: the first again", fd, 3);
	__sys_close(fd);
}

/* --- what a child gets --------------------------------------------------------- */

static int child(void)
{
	char path[100] = "";

	if (__sys_getcwd(path, sizeof(path)) < 0 || strcmp(path, "/dev") != 0)
		return 1;
	if (__sys_lseek(0, 0, WEFT_SEEK_CUR) != 123)
		return 2;
	if (__sys_write(1, "", 0) != 0)
		return 3;
	if (__sys_close(2) != -EBADF || __sys_close(3) != -EBADF || __sys_close(4) != -EBADF)
		return 4;
	__sys_lseek(0, 77, WEFT_SEEK_SET); /* the parent sees it: one open file */
	return 42;
}

static void inherit(void)
{
	char *argv[] = {"file_fds", "child", NULL}, *envp[] = {NULL};
	int fd = open_self(), hidden = open_self(), status = -1;
	struct spawn_action act[] = {
		{.what = SPAWN_CHDIR, .path = (uint64_t) "bin"},
		{.what = SPAWN_CHDIR, .path = (uint64_t) "../dev"},
		{.what = SPAWN_DUP2, .fd = 0, .from = fd},
		{.what = SPAWN_CLOSE, .fd = fd},
		{.what = SPAWN_CLOSE, .fd = 2},
	};
	struct spawn_args a = {
		.path = (uint64_t)SELF,
		.argv = (uint64_t)argv,
		.envp = (uint64_t)envp,
		.actions = (uint64_t)act,
		.nactions = 5,
	};

	__sys_fcntl(hidden, WEFT_F_SETFD, WEFT_FD_CLOEXEC);
	__sys_lseek(fd, 123, WEFT_SEEK_SET);
	long pid = __sys_spawn(&a);
	ok("inherit: spawn", pid > 0);
	is("inherit: wait", __sys_waitpid(pid, &status, 0, NULL), pid);
	is("inherit: what the child found", status, WEFT_W_EXITCODE(42, 0));
	is("inherit: the offset is shared", __sys_lseek(fd, 0, WEFT_SEEK_CUR), 77);
	__sys_close(hidden);
	__sys_close(fd);
}

/* Each error of one action; no child comes of it, and the caller's table stays. */
static void bad_actions(void)
{
	static const struct {
		const char *what;
		struct spawn_action act;
		long error;
	} t[] = {
		{"dup2 of what is not open", {.what = SPAWN_DUP2, .from = 99}, -EBADF},
		{"dup2 of -2", {.what = SPAWN_DUP2, .from = -2}, -EBADF},
		{"dup2 to 1024", {.what = SPAWN_DUP2, .fd = WEFT_OPEN_MAX}, -EBADF},
		{"close of -1", {.what = SPAWN_CLOSE, .fd = -1}, -EBADF},
		{"close of 1024", {.what = SPAWN_CLOSE, .fd = WEFT_OPEN_MAX}, -EBADF},
		{"no such directory",
		 {.what = SPAWN_CHDIR, .path = (uint64_t) "/nothing"},
		 -ENOENT},
		{"no directory", {.what = SPAWN_CHDIR, .path = (uint64_t)SELF}, -ENOTDIR},
		{"bad directory's address", {.what = SPAWN_CHDIR, .path = 0x10}, -EFAULT},
		{"open of nothing", {.what = SPAWN_OPEN, .path = (uint64_t) "/nothing"}, -ENOENT},
		{"open to -1", {.what = SPAWN_OPEN, .path = (uint64_t)SELF, .fd = -1}, -EBADF},
		{"open with unknown flags",
		 {.what = SPAWN_OPEN, .path = (uint64_t)SELF, .flags = 1u << 30},
		 -EINVAL},
		{"terminal that is not open", {.what = SPAWN_TCSETPGRP, .fd = 99}, -EBADF},
		{"unknown action", {.what = 99}, -EINVAL},
	};
	char *argv[] = {"file_fds", "child", NULL}, *envp[] = {NULL};
	struct spawn_args a = {
		.path = (uint64_t)SELF, .argv = (uint64_t)argv, .envp = (uint64_t)envp};
	int fd = open_self();

	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		a.actions = (uint64_t)&t[i].act;
		a.nactions = 1;
		is(t[i].what, __sys_spawn(&a), t[i].error);
	}
	struct spawn_action file = {.what = SPAWN_TCSETPGRP, .fd = fd};
	a.actions = (uint64_t)&file;
	is("terminal that is none", __sys_spawn(&a), -ENOTTY);
	a.actions = 0x10;
	is("actions' address", __sys_spawn(&a), -EFAULT);
	is("no child of all that", __sys_waitpid(-1, NULL, 0, NULL), -ECHILD);
	is("the table is as it was", __sys_close(fd), 0);
}

/* --- many LWPs, one table -------------------------------------------------------- */

#define NLWP 4
#define ROUNDS 3000

static uint32_t bad;
static int shared_fd;

/* Opens and closes; nobody else may close what open gave. */
static void churn(struct raw *r)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		char c[4];
		long fd = __sys_open(SELF, WEFT_O_RDONLY, 0);
		if (fd < 3 || __sys_read(fd, c, 4) != 4 || c[0] != 0x7f || c[3] != 'F')
			__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
		long other = __sys_dup(fd);
		if (other < 3 || __sys_close(fd) != 0 ||
		    __sys_lseek(other, 0, WEFT_SEEK_CUR) != 4 || __sys_close(other) != 0)
			__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
	}
}

/* Reads a descriptor that others replace all the time: always one file or the other. */
static void reader(struct raw *r)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		char c[300];
		long got = __sys_read(shared_fd, c, sizeof(c));
		if (got != 0 && got != (long)sizeof(c))
			__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
		__sys_lseek(shared_fd, 0, WEFT_SEEK_SET);
	}
}

static void replacer(struct raw *r)
{
	long null = __sys_open("/dev/null", WEFT_O_RDONLY, 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		long fd = __sys_open(SELF, WEFT_O_RDONLY, 0);
		if (__sys_dup2(i % 2 ? fd : null, shared_fd) != shared_fd || __sys_close(fd) != 0)
			__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
	}
	__sys_close(null);
}

/* One open file, read by several: every byte goes to one of them, once. */
static uint64_t claimed, bytes_read;

static void share_offset(struct raw *r)
{
	char c[500];
	long got;
	while ((got = __sys_read(shared_fd, c, sizeof(c))) > 0) {
		uint64_t sum = 0;
		for (long i = 0; i < got; i++)
			sum += (unsigned char)c[i];
		__atomic_fetch_add(&claimed, sum, __ATOMIC_RELAXED);
		__atomic_fetch_add(&bytes_read, got, __ATOMIC_RELAXED);
	}
	if (got < 0)
		__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
}

static void run_all(void (*fn)(struct raw *), void (*first)(struct raw *))
{
	static struct raw r[NLWP];

	bad = 0;
	for (int i = 0; i < NLWP; i++)
		if (raw_start(&r[i], i == 0 ? first : fn, 0, 0) != 0)
			bail("no LWP");
	for (int i = 0; i < NLWP; i++)
		__sys_lwp_wait(r[i].id, NULL);
}

static void many_lwps(void)
{
	run_all(churn, churn);
	is("LWPs: open and close", bad, 0);
	int fd = open_self();
	is("LWPs: nothing left open", fd, 3);

	shared_fd = fd;
	run_all(reader, replacer);
	is("LWPs: read while others replace", bad, 0);
	__sys_close(fd);

	uint64_t sum = 0, size = 0;
	unsigned char buf[4096];
	long got;
	fd = open_self();
	while ((got = __sys_read(fd, buf, sizeof(buf))) > 0) {
		size += got;
		for (long i = 0; i < got; i++)
			sum += buf[i];
	}
	__sys_lseek(fd, 0, WEFT_SEEK_SET);
	run_all(share_offset, share_offset);
	is("LWPs: a shared offset", bad, 0);
	is("LWPs: every byte once", bytes_read, size);
	is("LWPs: the right bytes", claimed, sum);
	__sys_close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return child();
	dups();
	limit();
	inherit();
	bad_actions();
	many_lwps();
	return tap_done();
}
