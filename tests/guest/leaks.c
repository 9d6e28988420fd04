/*
 * leaks.c - what processes leave behind when they end: nothing.  Storms of processes that make
 * kernel objects of every kind, block on them, have them in several hands, and end in the middle:
 * by exit, by exec, or killed.  After each storm the kernel has the pages and objects that it had
 * before, to the last one.  Argument: processes of a storm.
 */
#include "kmem.h"
#include "rawlwp.h"
#include "tap.h"
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <weft/kobj.h>
#include <weft/ksync.h>
#include <weft/processor.h>
#include <weft/procset.h>
#include <weft/signal.h>
#include <weft/trace.h>

extern char **environ;

#define BLOCKED 3 /* LWPs of a process that sleep in something */
#define DIR "/tmp/leaks"

/* Shared by all processes of a storm. */
static struct common {
	struct lwp_mutex mutex, robust[4];
	struct lwp_cond cond;
	struct lwp_sema sema;
	volatile unsigned ready; /* the process has done all that it does before its end */
} * common;

static char stacks[BLOCKED][4096] __attribute__((aligned(16)));
static volatile unsigned started;

/* An LWP of the current process that runs fn(arg). */
static void lwp(unsigned n, void (*fn)(uint64_t), uint64_t arg, unsigned flags)
{
	struct lwp_create c = {
		.entry = (uint64_t)fn,
		.stack = (uint64_t)(stacks[n] + sizeof(stacks[n])) - 8,
		.arg = arg,
		.flags = flags,
	};
	if (__sys_lwp_create(&c) < 0)
		_exit(9);
}

/* All LWPs have come to where they are about to block. */
static void await(unsigned n)
{
	while (started < n)
		__sys_lwp_yield();
	started = 0;
}

/* --- kernel objects ----------------------------------------------------------------------- */

static uint32_t object(unsigned kind, unsigned flags, int initial, const char *name)
{
	struct kobj_create c = {
		.kind = kind, .flags = flags, .initial = initial, .max = 5, .name = (uint64_t)name};
	long handle = __sys_kobj_create(&c);

	if (handle < 0)
		_exit(9);
	return handle;
}

static uint32_t handles[3];

static void waits_for_all(uint64_t n)
{
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	__sys_kobj_wait(handles, n, n > 1 ? KOBJ_WAIT_ALL : 0, NULL);
	__sys_lwp_exit();
}

/* Named and unnamed; some handles for children; owned, waited for, dropped, or left. */
static void kobjs(unsigned round)
{
	handles[0] = object(KOBJ_EVENT, KOBJ_INHERIT, 0, NULL);
	handles[1] = object(KOBJ_MUTEX, 0, 1, round % 2 ? "mine" : NULL);
	handles[2] = object(KOBJ_SEMAPHORE, KOBJ_INHERIT, 0, "ours");
	for (unsigned i = 0; i < 20; i++)
		__sys_kobj_close(object(KOBJ_EVENT, KOBJ_MANUAL_RESET, 1, NULL));
	object(KOBJ_MUTEX, 0, 1, NULL);
	for (unsigned i = 0; i < BLOCKED; i++)
		lwp(i, waits_for_all, 1 + i % 3, 0);
	await(BLOCKED);
	if (round % 4 == 0)
		__sys_kobj_close(handles[0]); /* while LWPs wait for it */
	if (round % 5 == 0 && fork() == 0) {
		__sys_kobj_wait(&handles[2], 1, 0, &(struct weft_timespec){0, 1});
		_exit(0);
	}
}

/* --- locks in user memory ----------------------------------------------------------------- */

static void takes(uint64_t what)
{
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	if (what == 0)
		__sys_lwp_mutex_lock(&common->mutex, 0);
	else if (what == 1)
		__sys_lwp_sema_wait(&common->sema);
	else
		__sys_lwp_cond_wait(&common->cond, &common->robust[3], 0);
	__sys_lwp_exit();
}

/* LWPs asleep on locks that other processes share; robust mutexes registered, owned and left. */
static void locks(unsigned round)
{
	static struct lwp_mutex own[8];

	for (unsigned i = 0; i < 8; i++) {
		own[i].word = LWP_MUTEX_ROBUST;
		if (__sys_lwp_mutex_register(&own[i]) != 0)
			_exit(9);
		if (i % 2)
			__sys_lwp_mutex_trylock(&own[i], 0);
		else if (i % 4)
			__sys_lwp_mutex_unregister(&own[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		if (__sys_lwp_mutex_register(&common->robust[i]) != 0)
			_exit(9);
	__sys_lwp_mutex_trylock(&common->mutex, 0);
	__sys_lwp_mutex_trylock(&common->robust[round % 4], 0);
	__sys_lwp_mutex_trylock(&common->robust[3], 0);
	for (unsigned i = 0; i < BLOCKED; i++)
		lwp(i, takes, i, 0);
	await(BLOCKED);
}

/* --- pipes and files ---------------------------------------------------------------------- */

static int ends[2];

static void reads(uint64_t how)
{
	struct weft_pollfd p = {.fd = ends[0], .events = POLLIN};
	char c;

	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	if (how == 0)
		__sys_read(ends[0], &c, 1);
	else
		__sys_poll(&p, 1, NULL, NULL);
	__sys_lwp_exit();
}

/* Empty, full, with one end only; asleep in read and poll. */
static void pipes(unsigned round)
{
	static char data[8192];
	int more[2];

	if (pipe(ends) != 0 || pipe(more) != 0)
		_exit(9);
	write(more[1], data, sizeof(data) / (1 + round % 3));
	if (round % 2)
		close(more[1]);
	for (unsigned i = 0; i < 10; i++) {
		int p[2];
		pipe(p);
		dup2(p[1], 200 + i);
		close(p[i % 2]);
	}
	for (unsigned i = 0; i < BLOCKED; i++)
		lwp(i, reads, i, 0);
	await(BLOCKED);
	if (round % 4 == 0 && fork() == 0)
		_exit(0);
}

/* Removed while they are open, mapped or the current directory. */
static void files(unsigned round)
{
	char name[64];

	sprintf(name, DIR "/%d", (int)getpid());
	int fd = open(name, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 8 * 4096) != 0)
		_exit(9);
	char *shared = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *copy = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	for (unsigned i = 0; i < 8; i++)
		shared[i * 4096] = copy[i * 4096] = 1;
	unlink(name);
	if (round % 2)
		ftruncate(fd, 4096);
	if (round % 3)
		munmap(shared, 8 * 4096);
	mkdir(name, 0700);
	chdir(name);
	rmdir(name);
	mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
}

/* Files of /proc that are open and half read, of processes that are gone. */
static void generated(unsigned round)
{
	char name[64], c[16];
	int status;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			__sys_lwp_park(NULL, 0);
	sprintf(name, "/proc/%d", (int)pid);
	chdir(name);
	int fd = open("maps", O_RDONLY), dir = open("lwp", O_RDONLY), late = open("status", 0);
	if (fd < 0 || dir < 0 || late < 0 || read(fd, c, sizeof(c)) <= 0)
		_exit(9);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	read(fd, c, sizeof(c));
	read(late, c, sizeof(c));
	__sys_getdents(dir, c, sizeof(c));
}

/* --- timers and signals ------------------------------------------------------------------- */

static void sleeps(uint64_t how)
{
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	if (how == 0)
		__sys_upcall_wait(UPCALL_BLOCKED);
	for (;;)
		__sys_lwp_park(NULL, 0);
}

static void timers(unsigned round)
{
	struct weft_itimerspec often = {.value = {0, 1}, .interval = {0, 100000}},
			       late = {.value = {1000, 0}};
	sigset_t all;
	int id;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (unsigned i = 0; i < BLOCKED; i++)
		lwp(i, sleeps, i, i == 2 ? LWP_DETACHED : 0);
	await(BLOCKED);
	for (unsigned i = 0; i < 12; i++) {
		struct weft_sigevent e = {.notify = i % 2 ? WEFT_SIGEV_SIGNAL : WEFT_SIGEV_LWP,
					  .signo = SIGRTMIN + i,
					  .lwpid = 2};
		if (__sys_timer_create(WEFT_CLOCK_MONOTONIC, &e, &id) != 0)
			_exit(9);
		__sys_timer_settime(id, 0, i % 3 ? &often : &late, NULL);
		if (i % 4 == 0)
			__sys_timer_delete(id);
	}
	__sys_setitimer(WEFT_ITIMER_REAL, &often, NULL);
	__sys_setitimer(WEFT_ITIMER_PROF | WEFT_ITIMER_LWP, &late, NULL);
	for (unsigned i = 0; i < 40; i++) {
		__sys_sigqueue(getpid(), SIGRTMIN + i % 8, i);
		__sys_lwp_sigqueue(2 + i % 2, SIGRTMIN, i);
	}
}

/* --- tracing ------------------------------------------------------------------------------ */

/* A tracer that goes with events untaken, or whose process goes first; or a chain of them. */
static void tracers(unsigned round)
{
	static const unsigned flags[] = {0, TRACE_STREAM, TRACE_FOLLOW, TRACE_HOLD};
	struct trace_event e[2];
	int status;
	pid_t pid = fork();

	while (pid == 0) {
		if (fork() == 0)
			_exit(0);
		waitpid(-1, &status, 0);
	}
	if (__sys_trace_attach(pid, flags[round % 4]) != 0)
		_exit(9);
	if (round % 4 != 3)
		for (unsigned i = 0; i < 5; i++)
			__sys_trace_wait(e, 2);
	if (round % 3 == 0)
		__sys_trace_detach(pid);
	kill(pid, SIGKILL);
	if (round % 2 && round % 3 == 0)
		waitpid(pid, &status, 0);
}

/* --- processor sets and LWPs -------------------------------------------------------------- */

static void sets(unsigned round)
{
	int set, old;

	if (__sys_pset_create(&set) != 0)
		_exit(9);
	/* The last CPU of the machine stays outside. */
	if (__sys_pset_assign(set, 1, &old) == 0)
		__sys_pset_bind(set, WEFT_P_PID, getpid(), &old);
	__sys_processor_bind(WEFT_P_PID, getpid(), round % 2, &old);
	for (unsigned i = 0; i < BLOCKED; i++)
		lwp(i, sleeps, 1, 0);
	await(BLOCKED);
	__sys_pset_destroy(set);
}

static void leaves(uint64_t arg)
{
	__sys_lwp_exit();
}

/* Zombies, detached ones, ones that never ran. */
static void lwps(unsigned round)
{
	for (unsigned i = 0; i < 30; i++)
		lwp(0, leaves, 0, i % 3 == 0 ? LWP_DETACHED : i % 3 == 1 ? LWP_SUSPENDED : 0);
}

/* --- storms ------------------------------------------------------------------------------- */

static void process(void (*fn)(unsigned), unsigned round)
{
	char *argv[] = {"true", NULL};

	common->ready = 0;
	pid_t pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		fn(round);
		common->ready = 1;
		if (round % 3 == 0)
			execve("/bin/true", argv, environ);
		while (round % 3 == 1)
			__sys_lwp_park(NULL, 0);
		_exit(0);
	}
	int status = 0;
	while (round % 3 == 1 && !common->ready && waitpid(pid, &status, WNOHANG) == 0)
		sched_yield();
	if (round % 3 == 1 && status == 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == pid)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 9)
		errx(1, "a call failed");
}

static void storm(const char *name, void (*fn)(unsigned), unsigned processes)
{
	static struct kmem before;

	for (unsigned pass = 0; pass < 2; pass++) {
		mkdir(DIR, 0755);
		for (unsigned i = 0; i < processes; i++) {
			memset(common, 0, sizeof(*common));
			for (unsigned k = 0; k < 4; k++)
				common->robust[k].word = LWP_MUTEX_ROBUST | LWP_MUTEX_SHARED;
			common->mutex.word = LWP_MUTEX_SHARED;
			common->cond.word = LWP_COND_SHARED;
			common->sema.flags = LWP_SEMA_SHARED;
			process(fn, i);
		}
		rmdir(DIR);
		/* What is made once and for all is there after the first pass. */
		if (pass == 0)
			kmem_settle(&before);
	}
	ok(name, kmem_returns(&before));
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? atoi(argv[1]) : 18;

	common = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	if (common == MAP_FAILED)
		err(1, "mmap");
	kmem_init();
	storm("kernel objects", kobjs, n);
	storm("locks", locks, n);
	storm("pipes", pipes, n);
	storm("files", files, n);
	storm("files of /proc", generated, n);
	storm("timers and signals", timers, n);
	storm("tracers", tracers, n);
	storm("processor sets", sets, n);
	storm("LWPs", lwps, n);
	return tap_done();
}
