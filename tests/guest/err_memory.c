/*
 * err_memory.c - the errors of system calls when there is no memory at all, not even what the
 * kernel keeps for itself.
 *
 * First all pages that programs can have are taken, by touching a mapping.  What is left is taken
 * by LWPs that wait: one that sleeps in readv on an empty pipe holds the kernel's copy of its list
 * of pieces, and by the length of the list we choose which of the kernel's caches of objects it
 * comes from.  When a readv fails there is nothing left of that size.
 *
 * For one CPU, since each has a cache of its own.  From exhaust() on nothing may be touched for
 * the first time: prepare() has done so, after the fork that shares all pages.
 */
#include <weft/kobj.h>
#include <weft/ksync.h>
#include <weft/poll.h>
#include <weft/priocntl.h>
#include <weft/signal.h>
#include <weft/trace.h>
#include "errtest.h"
#include "rawlwp.h"

#define RW (WEFT_PROT_READ | WEFT_PROT_WRITE)
#define LAZY (WEFT_MAP_PRIVATE | WEFT_MAP_ANON | WEFT_MAP_NORESERVE)
#define HOLDERS 1000
#define STACK 1024

/* --- holders of the kernel's memory -------------------------------------------------------- */

struct holder {
	uint32_t id;
	uint32_t pieces; /* of its list, 16 bytes each; 0: idle */
	int fd;
	long result;
	char stack[STACK];
};
static struct holder holders[HOLDERS];
static struct weft_iovec list[WEFT_IOV_MAX];
static char buf[WEFT_PIPE_BUF];

static void hold(struct holder *h)
{
	for (;;) {
		while (__atomic_load_n(&h->pieces, __ATOMIC_ACQUIRE) == 0)
			__sys_lwp_park(NULL, 0);
		h->result = __sys_readv(h->fd, list, h->pieces);
		__atomic_store_n(&h->pieces, 0, __ATOMIC_RELEASE);
	}
}

static void start_holders(void)
{
	for (unsigned i = 0; i < HOLDERS; i++) {
		struct holder *h = &holders[i];
		struct lwp_create c = {
			.entry = (uint64_t)hold,
			.stack = ((uint64_t)(h->stack + STACK) & ~15ull) - 8,
			.arg = (uint64_t)h,
		};
		long id = __sys_lwp_create(&c);
		if (id < 0)
			bail("LWP %u: %ld", i, id);
		h->id = id;
	}
}

/* An LWP more holds 16 * pieces bytes, until there is input; 0: there are not so many. */
static int take(unsigned pieces, int fd)
{
	struct holder *h = holders;
	struct lwp_info info;

	while (h < holders + HOLDERS && h->pieces != 0)
		h++;
	if (h == holders + HOLDERS)
		bail("%u LWPs are too few", HOLDERS);
	h->fd = fd;
	__atomic_store_n(&h->pieces, pieces, __ATOMIC_RELEASE);
	__sys_lwp_unpark(h->id);
	do
		__sys_lwp_yield();
	while (__atomic_load_n(&h->pieces, __ATOMIC_ACQUIRE) != 0 &&
	       (__sys_lwp_info(0, h->id, &info) != (long)h->id || info.state != LWP_ST_SLEEP ||
		info.syscall != SYS_readv));
	return h->pieces != 0;
}

static void take_all(unsigned pieces, int fd)
{
	while (take(pieces, fd))
		;
}

/* --- before and while ----------------------------------------------------------------------- */

static const char long_name[] = "a-name-that-needs-an-object-of-another-size-than-most-others-do";
static int file, dir, text, text2, child, full_pipe[2], empty[2], spare[2];
static char *lazy, *region;
static uint32_t handles[KOBJ_WAIT_MAX];
static struct {
	struct lwp_mutex free, mine, robust[4096];
	struct lwp_cond cond;
	struct lwp_sema sema;
	struct lwp_rwlock rwlock, held;
	struct lwp_barrier barrier;
} * shared, locks;

static int touch(void *p)
{
	return __sys_clock_gettime(4, p) == 0;
}

#define REGION_PAGES 64

static void prepare(void)
{
	struct kobj_create c = {.kind = KOBJ_EVENT};

	err_paths("/tmp/err_memory");
	for (unsigned i = 0; i < WEFT_IOV_MAX; i++)
		list[i] = (struct weft_iovec){.base = (uint64_t)buf, .len = 1};
	file = __sys_open("file", WEFT_O_RDWR, 0);
	dir = __sys_open("/proc", 0, 0);
	text = __sys_open("/proc/self/status", 0, 0);
	text2 = __sys_open("/proc/self/maps", 0, 0);
	if (__sys_pipe(full_pipe, 0) < 0 || __sys_pipe(empty, 0) < 0 || __sys_pipe(spare, 0) < 0)
		bail("no pipes");
	for (unsigned i = 0; i < KOBJ_WAIT_MAX; i++)
		handles[i] = i == 0 ? __sys_kobj_create(&c) : handles[0];
	start_holders();

	/* A page with locks that the child has too: to write to it takes a copy. */
	shared = (void *)__sys_mmap(NULL, sizeof(*shared), RW, LAZY, -1, 0);
	shared->sema.word = 1;
	shared->held.word = 1;
	shared->barrier.count = 2;
	__sys_lwp_mutex_lock(&shared->mine, 0);
	region = (char *)__sys_mmap(NULL, REGION_PAGES * PAGE, RW, LAZY, -1, 0);
	lazy = (char *)__sys_mmap(NULL, 1ul << 36, RW, LAZY, -1, 0);
	child = __sys_fork();
	while (child == 0)
		__sys_lwp_park(NULL, 0);
	if ((long)shared < 0 || (long)region < 0 || (long)lazy < 0 || child < 0)
		bail("no memory to begin with");
	for (unsigned i = 0; i < 4096; i++)
		locks.robust[i].word = LWP_MUTEX_ROBUST;
}

/*
 * Makes all pages that the program writes to its own, by copying a byte of each to where it is;
 * but not those of this file's tests.
 */
static void touch_all(void)
{
	volatile char stack[8 * PAGE];
	char line[200], mode[5];
	unsigned long from, to;
	FILE *maps = fopen("/proc/self/maps", "r");

	for (unsigned i = 0; i < sizeof(stack); i += PAGE)
		stack[i] = 0;
	while (fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) == 3 &&
		    strcmp(mode, "rw-p") == 0 && from != (unsigned long)shared &&
		    from != (unsigned long)region && from != (unsigned long)lazy &&
		    strstr(line, "[stack]") == NULL)
			for (; from < to; from += PAGE)
				__sys_proc_read(0, from, (void *)from, 1);
	fclose(maps);
}

static void exhaust(void)
{
	unsigned i = 0;

	touch_all();
	for (i = 0; i < 4; i++) {
		take(48, spare[0]);
		take(64, spare[0]);
	}
	for (char *p = lazy; touch(p); p += PAGE)
		;
	/* The kernel's own pages: in fours, in twos and single. */
	for (unsigned pieces = 1024; pieces >= 256; pieces /= 2)
		take_all(pieces, empty[0]);
}

/* --- what fails ------------------------------------------------------------------------------ */

static void no_pages(void)
{
	static struct weft_pollfd polled[WEFT_OPEN_MAX];
	const struct weft_timespec now = {0, 0};
	const struct weft_flock lock = {.type = WEFT_F_RDLCK};
	int two[2];

	gives(fork, ENOMEM, "no memory");
	gives(pipe, ENOMEM, "no memory", two, 0);
	gives(fcntl, ENOMEM, "no memory for the table", file, WEFT_F_DUPFD, 600);
	gives(dup2, ENOMEM, "no memory for the table", file, 600);
	gives(fcntl, ENOLCK, "no memory for a lock", file, WEFT_F_SETLK, (long)&lock);
	gives(poll, ENOMEM, "no memory", polled, WEFT_OPEN_MAX, &now, NULL);
	gives(readv, ENOMEM, "no memory for the list", file, list, WEFT_IOV_MAX);
	gives(writev, ENOMEM, "no memory for the list", file, list, WEFT_IOV_MAX);
	gives(write, ENOMEM, "a piece that cannot be cut", full_pipe[1], buf, WEFT_PIPE_BUF);
	gives(write, ENOSPC, "no page for the file", file, buf, 1);
	gives(pwrite, ENOSPC, "no page for the file", file, buf, 1, 0);
	gives(writev, ENOSPC, "no page for the file", file, list, 1);
	gives(proc_read, ENOMEM, "no memory", 0, (uint64_t)buf, list, 8);
	gives(trace_attach, ENOMEM, "no memory", 0, 0);
	gives(kobj_wait, ENOMEM, "no memory", handles, KOBJ_WAIT_MAX, 0, &now);
	gives(mmap, ENOMEM, "no memory to reserve", NULL, PAGE, RW,
	      WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1, 0);

	gives(lwp_mutex_lock, ENOMEM, "no copy of its page", &shared->free, 0);
	gives(lwp_mutex_trylock, ENOMEM, "no copy of its page", &shared->free, 0);
	gives(lwp_mutex_timedlock, ENOMEM, "no copy of its page", &shared->free, 0, NULL);
	gives(lwp_mutex_unlock, ENOMEM, "no copy of its page", &shared->mine, 0);
	gives(lwp_cond_wait, ENOMEM, "no copy of its page", &shared->cond, &shared->mine, 0);
	gives(lwp_cond_timedwait, ENOMEM, "no copy of its page", &shared->cond, &shared->mine, 0,
	      &now);
	gives(lwp_sema_wait, ENOMEM, "no copy of its page", &shared->sema);
	gives(lwp_sema_trywait, ENOMEM, "no copy of its page", &shared->sema);
	gives(lwp_sema_timedwait, ENOMEM, "no copy of its page", &shared->sema, &now);
	gives(lwp_sema_post, ENOMEM, "no copy of its page", &shared->sema);
	gives(lwp_rwlock_rdlock, ENOMEM, "no copy of its page", &shared->rwlock, 0, NULL);
	gives(lwp_rwlock_wrlock, ENOMEM, "no copy of its page", &shared->rwlock, NULL);
	gives(lwp_rwlock_unlock, ENOMEM, "no copy of its page", &shared->held);
	gives(lwp_barrier_wait, ENOMEM, "no copy of its page", &shared->barrier, 0, 0);
}

static void take_small(void)
{
	static const uint8_t pieces[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};

	for (unsigned i = 0; i < sizeof(pieces); i++)
		take_all(pieces[i], empty[0]);
}

/* Paths can be read, but nothing can be made. */
static void no_small_objects(void)
{
	take_small();
	__sys_close(spare[1]); /* the end: those that wait there give back what they hold */
	__sys_lwp_yield();
	take_small();
	gives(open, ENOSPC, "no memory for the file", long_name, WEFT_O_CREAT, 0644);
	gives(openat, ENOSPC, "no memory for the file", WEFT_AT_FDCWD, long_name, WEFT_O_CREAT,
	      0644);
	gives(mkdir, ENOSPC, "no memory for the directory", long_name, 0755);
	gives(symlink, ENOSPC, "no memory for the link", long_name, "new");
	gives(link, ENOSPC, "no memory for the name", "file", long_name);
	gives(rename, ENOSPC, "no memory for the name", "file", long_name);
}

static void nothing(void)
{
	static struct weft_stat st;
	static struct weft_mount mount;
	static struct tsdpent table[TS_LEVELS];
	static char *args[] = {"true", NULL};
	struct spawn_args spawn = {.path = (uint64_t) "/bin/true",
				   .argv = (uint64_t)args,
				   .envp = (uint64_t)(args + 1)};
	struct pcadmin set = {.pc_cid = WEFT_CLASS_TS,
			      .pc_cmd = PC_SETTABLE,
			      .pc_table = (uint64_t)table,
			      .pc_size = sizeof(table)};

	gives(chdir, ENOMEM, "the path", "dir");
	gives(chmod, ENOMEM, "the path", "file", 0644);
	gives(execve, ENOMEM, "the path", "/bin/true", args, args + 1);
	gives(getcwd, ENOMEM, "the path", buf, sizeof(buf));
	gives(link, ENOMEM, "the path", "file", "new");
	gives(lstat, ENOMEM, "the path", "file", &st);
	gives(mkdir, ENOMEM, "the path", "new", 0755);
	gives(open, ENOMEM, "the path", "file", 0, 0);
	gives(openat, ENOMEM, "the path", WEFT_AT_FDCWD, "file", 0, 0);
	gives(readlink, ENOMEM, "the path", "loop", buf, sizeof(buf));
	gives(rename, ENOMEM, "the paths", "file", "new");
	gives(rmdir, ENOMEM, "the path", "dir");
	gives(spawn, ENOMEM, "the paths", &spawn);
	gives(stat, ENOMEM, "the path", "file", &st);
	gives(symlink, ENOMEM, "the path", "target", "new");
	gives(truncate, ENOMEM, "the path", "file", 0);
	gives(unlink, ENOMEM, "the path", "file");
	gives(utimens, ENOMEM, "the path", "file", NULL, 1);
	gives(mountinfo, ENOMEM, "no memory", 0, &mount);
	gives(getdents, ENOMEM, "no memory", dir, buf, sizeof(buf));
	gives(read, ENOMEM, "the text", text, buf, 1);
	gives(pread, ENOMEM, "the text", text2, buf, 1, 0);
	gives(priocntl, ENOMEM, "the table", WEFT_P_PID, WEFT_P_MYID, PC_ADMIN, &set);
}

/* What has caches of its own is made until it fails. */
static void no_more_of_a_kind(void)
{
	struct kobj_create c = {.kind = KOBJ_EVENT};
	struct lwp_create l = {.entry = (uint64_t)hold, .flags = LWP_SUSPENDED | LWP_DETACHED};
	unsigned i = 0;

	while (__sys_kobj_create(&c) > 0)
		;
	gives(kobj_create, ENOMEM, "no memory", &c);
	while (__sys_kobj_dup(handles[0], 0) > 0)
		;
	gives(kobj_dup, ENOMEM, "no memory for the table", handles[0], 0);
	while (__sys_lwp_create(&l) > 0)
		;
	gives(lwp_create, EAGAIN, "no memory", &l);
	while (i < 4095 && __sys_lwp_mutex_register(&locks.robust[i]) == 0)
		i++;
	gives(lwp_mutex_register, ENOMEM, "no memory", &locks.robust[4095]);
	for (i = 1; i < REGION_PAGES && __sys_munmap(region + i * PAGE, PAGE) == 0; i += 2)
		;
	gives(munmap, ENOMEM, "no memory to split a mapping", region + i * PAGE, PAGE);
	/* All descriptors that the table has room for. */
	while (__sys_dup(file) >= 0)
		;
	gives(dup, ENOMEM, "no memory for the table", file);
}

int main(void)
{
	prepare();
	exhaust();
	no_pages();
	no_small_objects();
	for (unsigned pieces = 48; pieces <= 128; pieces += pieces < 64 ? 16 : 32)
		take_all(pieces, empty[0]);
	nothing();
	no_more_of_a_kind();
	__sys_kill(child, WEFT_SIGKILL);
	return tap_done();
}
