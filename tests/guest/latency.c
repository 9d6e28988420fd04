/*
 * latency.c - how long a call keeps the CPU from an LWP of real-time priority, whatever the
 * lengths in its arguments: a millisecond, at 1000 million instructions a second, is promised.
 *
 * One CPU, exact timing.  The main LWP, in real-time, sleeps PERIOD over and over and takes
 * down how much later than it wanted it has the CPU.  Meanwhile a child in time-share makes a
 * call with large arguments, once for each row of the table: set-up, call and the child's end
 * all count, because they are calls as well.  What the child is at stands in memory that both
 * have, so that a row that fails names the call.
 *
 * Arguments: the names of rows; none: all of them.
 */
#include <stdbool.h>
#include <sys/priocntl.h>
#include <sys/time.h>
#include <weft/file.h>
#include <weft/kobj.h>
#include <weft/ksync.h>
#include <weft/poll.h>
#include "mmtest.h"

#define PERIOD 100000
#define BOUND 250000 /* a quarter of what is promised: so lengths need not be so large */
#define MAPPINGS 16000
#define BIG (48ul << 20)

static struct shared {
	const char *doing; /* the child writes */
	int failed;        /* the child writes: the result of the call that it names */
} * shared;

/* The child: what comes next.  A call that fails makes the row fail. */
static void doing(const char *what)
{
	__atomic_store_n(&shared->doing, what, __ATOMIC_RELAXED);
}

static long must(long r)
{
	if (r < 0) {
		shared->failed = r;
		__sys_exit(1);
	}
	return r;
}

#define DO(name, ...) (doing(#name), must(__sys_##name(__VA_ARGS__)))

/* --- memory ------------------------------------------------------------------------------ */

static char *big(int flags)
{
	char *p = (char *)DO(mmap, NULL, BIG, RW, flags, -1, 0);
	doing("page faults");
	for (size_t i = 0; i < BIG; i += PAGE)
		p[i] = 1;
	return p;
}

/* MAPPINGS mappings of a page each, of two kinds. */
static char *many_of(int one, int other)
{
	char *p = (char *)DO(mmap, NULL, MAPPINGS * PAGE, one, ANON, -1, 0);

	for (unsigned i = 0; i < MAPPINGS; i += 2)
		DO(mprotect, p + i * PAGE, PAGE, other);
	return p;
}

static char *many(void)
{
	return many_of(RW, R);
}

static char buffer[256 << 10];

static void read_to_end(const char *path)
{
	long fd = DO(open, path, WEFT_O_RDONLY, 0);

	while (DO(read, fd, buffer, sizeof(buffer)) > 0)
		;
	DO(close, fd);
}

static void maps(void)
{
	many();
	read_to_end("/proc/self/maps");
}

static void fork_and_wait(void)
{
	long pid = DO(fork);
	if (pid == 0)
		__sys_exit(0);
	DO(waitpid, pid, NULL, 0, NULL);
}

static void fork_mappings(void)
{
	many();
	fork_and_wait();
}

static void fork_pages(void)
{
	big(ANON);
	fork_and_wait();
}

static void munmap_mappings(void)
{
	char *p = many();
	DO(munmap, p, MAPPINGS * PAGE);
}

static void munmap_pages(void)
{
	char *p = big(ANON);
	DO(munmap, p, BIG);
}

static void munmap_shared(void)
{
	char *p = big(WEFT_MAP_SHARED | WEFT_MAP_ANON);
	DO(munmap, p, BIG);
}

static void mmap_over(void)
{
	char *p = many();
	DO(mmap, p, MAPPINGS * PAGE, RW, AT, -1, 0);
	p = big(ANON);
	DO(mmap, p, BIG, RW, AT, -1, 0);
}

static void mprotect_mappings(void)
{
	char *p = many();
	DO(mprotect, p, MAPPINGS * PAGE, NONE);
	p = many_of(R, NONE); /* to be reserved */
	DO(mprotect, p, MAPPINGS * PAGE, RW);
}

static void mprotect_pages(void)
{
	char *p = big(ANON);
	DO(mprotect, p, BIG, R);
	DO(mprotect, p, BIG, RW);
}

static void madvise_pages(void)
{
	char *p = big(ANON);
	DO(madvise, p, BIG, WEFT_MADV_DONTNEED);
}

/* A page in each of many page tables. */
static void page_tables(void)
{
	const size_t size = 2ul << 30, table = 2ul << 20;

	char *p = (char *)DO(mmap, NULL, size, RW, ANON | WEFT_MAP_NORESERVE, -1, 0);
	doing("page faults");
	for (size_t i = 0; i < size; i += table)
		p[i] = 1;
	read_to_end("/proc/self/maps");
	fork_and_wait();
	DO(mprotect, p, size, R);
	DO(madvise, p, size, WEFT_MADV_DONTNEED);
	doing("exit");
}

static void check_mappings(void)
{
	char *p = many();
	DO(madvise, p, MAPPINGS * PAGE, WEFT_MADV_WILLNEED);
	DO(msync, p, MAPPINGS * PAGE, WEFT_MS_SYNC);
	DO(madvise, p, MAPPINGS * PAGE, WEFT_MADV_DONTNEED);
}

static void brk_pages(void)
{
	char *p = (char *)DO(brk, NULL);

	if (DO(brk, p + BIG) != (long)(p + BIG))
		must(-1);
	doing("page faults");
	for (size_t i = 0; i < BIG; i += PAGE)
		p[i] = 1;
	DO(brk, p);
}

static void exit_mappings(void)
{
	many();
	doing("exit");
}

static void exit_pages(void)
{
	big(ANON);
	big(WEFT_MAP_SHARED | WEFT_MAP_ANON);
	doing("exit");
}

static void proc_read_pages(void)
{
	char *p = big(ANON);
	DO(proc_read, 0, (uint64_t)p, p + BIG / 2, BIG / 2);
}

/* What does not fit: all that the kernel keeps for later use is given back first. */
static void mmap_too_large(void)
{
	struct weft_sysinfo i;
	char *p = many();

	DO(munmap, p, MAPPINGS * PAGE);
	DO(sysinfo, &i);
	doing("mmap of more than there is");
	if (map(NULL, i.mem_total, RW, ANON) != -ENOMEM)
		must(-1);
}

/* --- programs ------------------------------------------------------------------------------ */

#define STRINGS 21800 /* of 2 bytes and a NUL */

static char *vector[STRINGS + 3];
static char *const nothing[] = {NULL};

static void many_actions(void)
{
	static struct spawn_action act[20000];
	struct spawn_args a = {.path = (uint64_t) "/bin/true",
			       .argv = (uint64_t)nothing,
			       .envp = (uint64_t)nothing,
			       .actions = (uint64_t)act,
			       .nactions = 20000};

	for (unsigned i = 0; i < 20000; i++)
		act[i] = (struct spawn_action){.what = SPAWN_CLOSE, .fd = 5};
	long pid = DO(spawn, &a);
	DO(waitpid, pid, NULL, 0, NULL);
}

static void many_strings(void)
{
	vector[0] = "/bin/true";
	for (unsigned i = 1; i < STRINGS; i++)
		vector[i] = "ab";
	vector[STRINGS] = NULL;
}

static void long_string(void)
{
	memset(buffer, 'x', WEFT_ARG_MAX - 100);
	vector[0] = "/bin/true";
	vector[1] = buffer;
	vector[2] = NULL;
}

static void execve_strings(void)
{
	many_strings();
	DO(execve, "/bin/true", vector, nothing);
}

static void execve_string(void)
{
	long_string();
	DO(execve, "/bin/true", vector, nothing);
}

static void execve_mappings(void)
{
	many();
	DO(execve, "/bin/true", nothing, nothing);
}

static void spawn_all(void)
{
	struct spawn_args a = {.path = (uint64_t) "/bin/true",
			       .argv = (uint64_t)nothing,
			       .envp = (uint64_t)vector};
	many_strings();
	long pid = DO(spawn, &a);
	DO(waitpid, pid, NULL, 0, NULL);
	long_string();
	pid = DO(spawn, &a);
	DO(waitpid, pid, NULL, 0, NULL);
}

/* --- files ----------------------------------------------------------------------------------- */

#define FILE_SIZE (16ul << 20)

static long new_file(void)
{
	long fd = DO(open, "/tmp/latency", WEFT_O_RDWR | WEFT_O_CREAT | WEFT_O_TRUNC, 0600);
	DO(unlink, "/tmp/latency");
	return fd;
}

static void file_bytes(void)
{
	char *p = big(ANON);
	long fd = new_file();

	DO(write, fd, p, FILE_SIZE);
	DO(pread, fd, p, FILE_SIZE, 0);
	DO(pwrite, fd, p, FILE_SIZE, 0);
	doing("page faults of a file");
	volatile char *m = (char *)must(__sys_mmap(NULL, FILE_SIZE, R, WEFT_MAP_SHARED, fd, 0));
	for (size_t i = 0; i < FILE_SIZE; i += PAGE)
		(void)m[i];
	DO(ftruncate, fd, 0);
	DO(ftruncate, fd, BIG);
	DO(read, fd, p, BIG);
	DO(close, fd);
}

/* A page in every fourth of the lowest nodes, and one in a far branch of each level. */
static void file_holes(void)
{
	long fd = new_file();

	for (uint64_t i = 0; i < 512; i++) {
		DO(pwrite, fd, "x", 1, i << 23);
		DO(pwrite, fd, "x", 1, i << 38);
	}
	DO(ftruncate, fd, 0);
	DO(close, fd);
}

static void pieces(void)
{
	static struct weft_iovec iov[WEFT_IOV_MAX];
	long fd = new_file();

	for (unsigned i = 0; i < WEFT_IOV_MAX; i++)
		iov[i] = (struct weft_iovec){(uint64_t)buffer, 4000};
	DO(writev, fd, iov, WEFT_IOV_MAX);
	DO(lseek, fd, 0, WEFT_SEEK_SET);
	for (unsigned i = 0; i < WEFT_IOV_MAX; i++)
		iov[i].len = i < WEFT_IOV_MAX - 64 ? 1 : 50000;
	DO(readv, fd, iov, WEFT_IOV_MAX);
	DO(close, fd);
}

static void devices(void)
{
	char *p = big(ANON);
	long fd = DO(open, "/dev/zero", WEFT_O_RDWR, 0);

	DO(read, fd, p, FILE_SIZE);
	DO(write, fd, p, FILE_SIZE);
	DO(close, fd);
}

static void pipe_bytes(void)
{
	char *p = big(ANON);
	int fd[2];

	DO(pipe, fd, 0);
	long pid = DO(fork);
	if (pid == 0) {
		DO(close, fd[1]);
		while (DO(read, fd[0], p, BIG) > 0)
			;
		__sys_exit(0);
	}
	DO(close, fd[0]);
	DO(write, fd[1], p, FILE_SIZE);
	DO(close, fd[1]);
	DO(waitpid, pid, NULL, 0, NULL);
}

/* All descriptors; fd[1] is where they can be written. */
static unsigned all_descriptors(int fd[2], int flags)
{
	unsigned n = 0;

	DO(pipe, fd, 0);
	doing("fcntl");
	while (__sys_fcntl(fd[0], flags ? WEFT_F_DUPFD_CLOEXEC : WEFT_F_DUPFD, 0) >= 0)
		n++;
	return n;
}

static void poll_all(void)
{
	static struct weft_pollfd pfd[WEFT_OPEN_MAX];
	struct weft_timespec soon = {0, 5000000};
	int fd[2];

	all_descriptors(fd, 0);
	for (unsigned i = 0; i < WEFT_OPEN_MAX; i++)
		pfd[i] = (struct weft_pollfd){.fd = fd[0], .events = WEFT_POLLIN};
	DO(poll, pfd, WEFT_OPEN_MAX, &soon, NULL);
	long pid = DO(fork);
	if (pid == 0) {
		DO(poll, pfd, WEFT_OPEN_MAX, NULL, NULL);
		__sys_exit(0);
	}
	struct weft_timespec ms = {0, 3000000};
	DO(lwp_sleep, WEFT_CLOCK_MONOTONIC, 0, &ms);
	DO(write, fd[1], "x", 1);
	DO(waitpid, pid, NULL, 0, NULL);
}

/* A pipe for each two descriptors: each is freed when it is closed. */
static void all_pipes(int flags)
{
	int fd[2];

	doing("pipe");
	while (__sys_pipe(fd, flags) == 0)
		;
}

static void close_at_exit(void)
{
	all_pipes(0);
	fork_and_wait();
	doing("exit");
}

static void close_on_exec(void)
{
	all_pipes(WEFT_O_CLOEXEC);
	DO(execve, "/bin/true", nothing, nothing);
}

static void name_of(char *name, unsigned i)
{
	for (int k = 5; k-- > 0; i /= 10)
		name[k] = '0' + i % 10;
	name[5] = '\0';
}

#define NAMES 1500

static void directory(void)
{
	char name[6];

	DO(mkdir, "/tmp/latency", 0700);
	DO(chdir, "/tmp/latency");
	for (unsigned i = 0; i < NAMES; i++) {
		name_of(name, i);
		DO(symlink, "x", name);
	}
	long fd = DO(open, ".", WEFT_O_RDONLY, 0);
	while (DO(getdents, fd, buffer, sizeof(buffer)) > 0)
		;
	DO(close, fd);
	for (unsigned i = 0; i < NAMES; i++) {
		name_of(name, i);
		DO(unlink, name);
	}
	DO(rmdir, "/tmp/latency");
}

/* The longest way: as many symbolic links as a path may meet, each as long as a path may be. */
static void long_path(void)
{
	static char path[WEFT_PATH_MAX];
	char name[6];

	DO(mkdir, "/tmp/latency", 0700);
	DO(chdir, "/tmp/latency");
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned k = 0; k < WEFT_PATH_MAX - 8; k += 2)
			memcpy(path + k, "./", 2);
		name_of(path + WEFT_PATH_MAX - 8, i + 1);
		name_of(name, i);
		DO(symlink, path, name);
	}
	DO(mkdir, "00040", 0700);
	DO(chdir, "00000");
	DO(chdir, "/tmp/latency");
	DO(rmdir, "00040");
	for (unsigned i = 0; i < 40; i++) {
		name_of(name, i);
		DO(unlink, name);
	}
	DO(rmdir, "/tmp/latency");
}

#define DEPTH 20000

/* A deep tree, and then its directories without names, each held by the next one alone. */
static void deep(void)
{
	DO(chdir, "/tmp");
	for (unsigned i = 0; i < DEPTH; i++) {
		DO(mkdir, "latency", 0700);
		DO(chdir, "latency");
	}
	DO(mkdir, "from", 0700);
	DO(mkdir, "from/this", 0700);
	DO(mkdir, "to", 0700);
	DO(mkdir, "to/that", 0700);
	DO(rename, "from/this", "to/that");
	DO(rmdir, "from");
	DO(rmdir, "to/that");
	DO(rmdir, "to");
	long fd = DO(open, ".", WEFT_O_RDONLY, 0);
	for (unsigned i = 0; i < DEPTH; i++) {
		DO(chdir, "..");
		DO(rmdir, "latency");
	}
	DO(close, fd);
}

/* --- LWPs, handles, locks ---------------------------------------------------------------------- */

static char stack[1024] __attribute__((aligned(16)));

static void end_at_once(void)
{
	__sys_lwp_exit();
}

/* All have one stack: they do nothing with it that the others would not. */
static long new_lwp(unsigned flags)
{
	struct lwp_create c = {
		.entry = (uint64_t)end_at_once, .stack = (uint64_t)(stack + 1016), .flags = flags};
	return must(__sys_lwp_create(&c));
}

#define LWPS 2000

/* LWPs that have not begun. */
static void lwps(void)
{
	static uint32_t ids[20000];

	doing("lwp_create");
	for (unsigned i = 0; i < LWPS; i++)
		ids[i] = new_lwp(LWP_SUSPENDED);
	for (unsigned i = LWPS; i < 20000; i++)
		ids[i] = ids[i % LWPS];
	DO(lwp_unpark_all, ids, 20000);
	doing("exit");
}

static void lwps_exec(void)
{
	doing("lwp_create");
	for (unsigned i = 0; i < LWPS; i++)
		new_lwp(LWP_SUSPENDED);
	DO(execve, "/bin/true", nothing, nothing);
}

/* LWPs that have ended, and that nobody has waited for. */
static void zombies(void)
{
	struct weft_timespec ms = {0, 5000000};

	doing("lwp_create");
	for (unsigned i = 0; i < 3000; i++) {
		new_lwp(0);
		__sys_lwp_yield();
	}
	DO(lwp_sleep, WEFT_CLOCK_MONOTONIC, 0, &ms);
	doing("exit");
}

static void handles(void)
{
	struct kobj_create c = {.kind = KOBJ_EVENT, .flags = KOBJ_INHERIT};

	long h = DO(kobj_create, &c);
	doing("kobj_dup");
	while (__sys_kobj_dup(h, KOBJ_INHERIT) >= 0)
		;
	fork_and_wait();
	doing("exit");
}

static void handles_exec(void)
{
	struct kobj_create c = {.kind = KOBJ_EVENT};

	doing("kobj_create");
	for (unsigned i = 0; i < 10000; i++)
		must(__sys_kobj_create(&c));
	DO(execve, "/bin/true", nothing, nothing);
}

static void robust(void)
{
	struct lwp_mutex *m = (struct lwp_mutex *)big(ANON);

	doing("lwp_mutex_register");
	for (unsigned i = 0; i < 5000; i++) {
		m[i] = (struct lwp_mutex){LWP_MUTEX_ROBUST};
		must(__sys_lwp_mutex_register(&m[i]));
	}
	DO(lwp_mutex_abandon, 1);
	doing("exit");
}

static void signals(void)
{
	uint64_t all = ~0ull;

	DO(sigprocmask, WEFT_SIG_SETMASK, &all, NULL);
	doing("sigqueue");
	for (unsigned i = 0; i < WEFT_SIGQUEUE_MAX; i++)
		must(__sys_sigqueue(__sys_getpid(), WEFT_SIGRTMIN + i % 30, i));
	DO(execve, "/bin/true", nothing, nothing);
}

/* --- the table ----------------------------------------------------------------------------------- */

static const struct row {
	const char *name;
	void (*fn)(void);
} rows[] = {
	{"maps", maps},
	{"fork of mappings", fork_mappings},
	{"fork of pages", fork_pages},
	{"munmap of mappings", munmap_mappings},
	{"munmap of pages", munmap_pages},
	{"munmap of shared pages", munmap_shared},
	{"mmap over what is there", mmap_over},
	{"mprotect of mappings", mprotect_mappings},
	{"mprotect of pages", mprotect_pages},
	{"madvise of pages", madvise_pages},
	{"madvise and msync of mappings", check_mappings},
	{"brk", brk_pages},
	{"page tables", page_tables},
	{"exit with mappings", exit_mappings},
	{"exit with pages", exit_pages},
	{"proc_read", proc_read_pages},
	{"mmap of more than there is", mmap_too_large},
	{"execve with strings", execve_strings},
	{"execve with a long string", execve_string},
	{"execve from mappings", execve_mappings},
	{"spawn with strings", spawn_all},
	{"spawn with actions", many_actions},
	{"read and write of a file", file_bytes},
	{"a file with holes", file_holes},
	{"readv and writev", pieces},
	{"devices", devices},
	{"pipes", pipe_bytes},
	{"poll", poll_all},
	{"fork and exit with descriptors", close_at_exit},
	{"close on exec", close_on_exec},
	{"a directory", directory},
	{"a long path", long_path},
	{"deep directories", deep},
	{"LWPs", lwps},
	{"execve with LWPs", lwps_exec},
	{"LWPs that have ended", zombies},
	{"handles", handles},
	{"execve with handles", handles_exec},
	{"robust mutexes", robust},
	{"queued signals", signals},
};

static void set_class(struct pcparms p)
{
	if (__sys_priocntl(P_LWPID, P_MYID, PC_SETPARMS, &p) != 0)
		bail("priocntl");
}

static void test_row(const struct row *row)
{
	const struct weft_timespec period = {0, PERIOD};
	const char *worst_at = "nothing";
	int64_t worst = 0;
	int status;

	*shared = (struct shared){.doing = "nothing"};
	long pid = __sys_fork();
	if (pid == 0) {
		set_class((struct pcparms){.pc_cid = WEFT_CLASS_TS, .ts = {60, 0}});
		row->fn();
		__sys_exit(0);
	}
	if (pid < 0)
		bail("fork: %ld", pid);
	do {
		hrtime_t before = gethrtime();
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &period);
		int64_t late = gethrtime() - before - PERIOD;
		if (late > worst) {
			worst = late;
			worst_at = __atomic_load_n(&shared->doing, __ATOMIC_RELAXED);
		}
	} while (__sys_waitpid(pid, &status, WEFT_WNOHANG, NULL) == 0);
	fprintf(stderr, "# %s: %ld us in %s\n", row->name, (long)worst / 1000, worst_at);
	tap_report(status == 0 && worst <= BOUND, row->name,
		   "status %x (%d), %ld us without the CPU at worst, in %s", status, shared->failed,
		   (long)worst / 1000, worst_at);
}

int main(int argc, char **argv)
{
	shared = (struct shared *)map(NULL, PAGE, RW, WEFT_MAP_SHARED | WEFT_MAP_ANON);
	set_class((struct pcparms){.pc_cid = WEFT_CLASS_RT, .rt = {50, 0, RT_TQINF}});
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool wanted = argc == 1;
		for (int k = 1; k < argc; k++)
			wanted |= strcmp(argv[k], rows[i].name) == 0;
		if (wanted)
			test_row(&rows[i]);
	}
	return tap_done();
}
