/*
 * mm_storms.c - as many objects of one kind as the memory holds: files and names of every kind
 * until ENOSPC; pipes, open files, signals and kernel objects until the calls say no, in process
 * after process.  Each time the pages that a neighbour has reserved, and has not touched, are there
 * when it touches them; and then a shell can start `rm`, which removes everything.
 */
#include "mmtest.h"
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <weft/kobj.h>

#define DIR "/tmp/storm"
#define LEFT 2400    /* pages that are free when a storm begins */
#define PROMISED 900 /* of them those that the neighbour has reserved */
#define SLACK 400    /* that caches may keep */

static struct {
	volatile uint32_t reserved, touch, full;
} * shared;

static void nap(void)
{
	const struct weft_timespec tick = {.nsec = WEFT_TICK_NS};
	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &tick);
}

/* --- what stays when a process ends: object number i, or -1 and errno ----------------------- */

static char name[300];

/* DIR, and i in `len` digits. */
static const char *numbered(unsigned i, int len)
{
	snprintf(name, sizeof(name), DIR "/%0*u", len, i);
	return name;
}

static int file_named(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
	return fd < 0 ? -1 : close(fd);
}

static int file(unsigned i)
{
	return file_named(numbered(i, 1));
}

static int long_name(unsigned i)
{
	return file_named(numbered(i, 255));
}

static int hard_link(unsigned i)
{
	return i == 0 ? file_named(DIR "/first") : link(DIR "/first", numbered(i, 200));
}

static int symbolic_link(unsigned i)
{
	static char target[900];

	memset(target, 'x', sizeof(target) - 1);
	return symlink(target, numbered(i, 1));
}

static int directory(unsigned i)
{
	return mkdir(numbered(i, 1), 0755);
}

static int contents(unsigned i)
{
	static char page[PAGE];
	static int fd;

	if (i == 0)
		fd = open(DIR "/contents", O_CREAT | O_EXCL | O_WRONLY, 0644);
	return write(fd, page, sizeof(page)) == sizeof(page) ? 0 : -1;
}

/* Short names, which take half of what is left and become long ones. */
static int longer_name(unsigned i)
{
	enum { SHORT = 1200 };
	char old[sizeof(name)];

	if (i < SHORT)
		return file(i);
	if (i < 2 * SHORT) {
		strcpy(old, numbered(i - SHORT, 1));
		return rename(old, numbered(i - SHORT, 255));
	}
	return hard_link(i - 2 * SHORT);
}

/* --- what goes with its process ------------------------------------------------------------- */

static int pipes(unsigned i)
{
	int fd[2];
	return pipe(fd);
}

static int open_file(unsigned i)
{
	return open("/dev/null", O_RDONLY) < 0 ? -1 : 0;
}

static int generated(unsigned i)
{
	char text[16];
	int fd = open("/proc/kmem", O_RDONLY);
	return fd < 0 || read(fd, text, sizeof(text)) < 0 ? -1 : 0;
}

static int signals(unsigned i)
{
	return sigqueue(getpid(), SIGRTMIN, (union sigval){0});
}

static int named_object(unsigned i)
{
	char text[300];
	struct kobj_create c = {.kind = KOBJ_EVENT, .name = (uint64_t)text};

	snprintf(text, sizeof(text), "%d.%0250u", getpid(), i);
	return __sys_kobj_create(&c) < 0 ? -1 : 0;
}

static const struct {
	const char *what;
	int (*make)(unsigned);
	bool stays;
} storms[] = {
	{"empty files", file, true},         {"long names", long_name, true},
	{"hard links", hard_link, true},     {"symbolic links", symbolic_link, true},
	{"directories", directory, true},    {"contents", contents, true},
	{"longer names", longer_name, true}, {"pipes", pipes, false},
	{"open files", open_file, false},    {"open files of /proc", generated, false},
	{"queued signals", signals, false},  {"named objects", named_object, false},
};
#define STORMS (sizeof(storms) / sizeof(storms[0]))

/* Makes as many as it can: the errno of the first that it cannot. */
static int make_all(int (*make)(unsigned))
{
	errno = 0;
	for (unsigned i = 0; i < 1u << 20; i++)
		if (make(i) != 0)
			return errno;
	return 0;
}

/* Process after process, each with all that it can have, until there can be no more. */
static int make_in_processes(int (*make)(unsigned))
{
	enum { MOST = 100 };
	pid_t pid[MOST];
	uint32_t n = 0;

	shared->full = 0;
	while (n < MOST && (pid[n] = fork()) >= 0) {
		if (pid[n] == 0) {
			make_all(make);
			__atomic_fetch_add(&shared->full, 1, __ATOMIC_RELEASE);
			for (;;)
				__sys_lwp_park(NULL, 0);
		}
		n++;
		int status;
		while (shared->full < n &&
		       __sys_waitpid(pid[n - 1], &status, WEFT_WNOHANG, NULL) == 0)
			nap();
		if (shared->full < n)
			break; /* killed, since there was no memory left to begin with */
	}
	shared->touch = 1;
	while (shared->touch == 1)
		nap();
	while (n-- > 0) {
		kill(pid[n], SIGKILL);
		waitpid(pid[n], NULL, 0);
	}
	return 0;
}

/* --- the others --------------------------------------------------------------------------- */

/* Reserves pages, touches them when it is told to, and keeps them until it is told to go. */
static int neighbour(void)
{
	char *p = must_map(PROMISED * PAGE, RW);

	shared->reserved = 1;
	while (shared->touch == 0)
		nap();
	for (unsigned i = 0; i < PROMISED; i++)
		p[i * PAGE] = 1;
	shared->touch = 2;
	while (shared->touch != 3)
		nap();
	return 0;
}

static pid_t child(int (*fn)(int (*)(unsigned)), int (*make)(unsigned))
{
	pid_t pid = fork();

	if (pid < 0)
		bail("fork: %s", strerror(errno));
	if (pid == 0)
		_exit(fn != NULL ? fn(make) : neighbour());
	return pid;
}

static void run_storm(const char *what, int (*make)(unsigned), bool stays)
{
	char text[100];
	int status = -1, other = -1;

	mkdir(DIR, 0755);
	shared->reserved = shared->touch = 0;
	pid_t beside = child(NULL, NULL);
	while (!shared->reserved)
		nap();
	waitpid(child(stays ? make_all : make_in_processes, make), &status, 0);
	is(what, status, stays ? EXITED(ENOSPC) : EXITED(0));
	shared->touch |= 1;
	while (shared->touch != 2 && waitpid(beside, &other, WNOHANG) == 0)
		nap();
	snprintf(text, sizeof(text), "%s: a shell can start rm", what);
	is(text, system("rm -r " DIR), 0);
	shared->touch = 3;
	snprintf(text, sizeof(text), "%s: what a neighbour has reserved is there", what);
	is(text, (waitpid(beside, &other, 0), other), 0);
	snprintf(text, sizeof(text), "%s: all is removed", what);
	ok(text, access(DIR, F_OK) != 0);
}

int main(int argc, char **argv)
{
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	/* Less memory makes shorter storms. */
	while (free_pages() > LEFT) {
		long p = map(NULL, PAGE, RW, ANON | WEFT_MAP_NORESERVE);
		if (p < 0)
			bail("mmap: %ld", p);
		*(char *)p = 1;
	}
	uint64_t before = free_pages();
	for (unsigned i = 0; i < STORMS; i++)
		if (argc == 1 || strcmp(argv[1], storms[i].what) == 0)
			run_storm(storms[i].what, storms[i].make, storms[i].stays);
	long lost = before - free_pages();
	tap_report(lost < SLACK, "the memory comes back", "%ld pages are missing", lost);
	return tap_done();
}
