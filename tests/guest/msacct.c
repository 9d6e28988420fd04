/*
 * msacct.c - microstates: each kind of time goes to its state, and the states add up to the
 * time that has passed, also when read while the LWP runs on another CPU.  In exact
 * timing the figures are to the nanosecond.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <weft/msacct.h>
#include <weft/proc.h>
#include <weft/start.h>
#include "rawlwp.h"
#include "tap.h"

#define MS 1000000ull
#define KERNEL_ADDR 0xffffffff80100000ull

extern char **environ;
static struct raw worker;
static volatile uint32_t stop, progress;

static struct weft_msacct read_acct(uint32_t id)
{
	struct weft_msacct a;

	long r = __sys_msacct(0, id, &a);
	if (r != 0)
		bail("msacct of LWP %u: %ld", id, r);
	return a;
}

static uint64_t sum(const struct weft_msacct *a)
{
	uint64_t t = 0;
	for (unsigned i = 0; i < NMSTATE; i++)
		t += a->ms[i];
	return t;
}

static void spin(uint64_t ns)
{
	for (hrtime_t end = gethrtime() + ns; gethrtime() < end;)
		;
}

/* A bit of every state that it can have by itself, again and again. */
static void mixture(struct raw *r)
{
	while (!stop) {
		for (volatile int i = 0; i < 500; i++)
			;
		__sys_null();
		__sys_lwp_yield();
		struct weft_timespec ts = {.nsec = 20000};
		__sys_lwp_sleep(4, 0, &ts);
		char *page = (char *)__sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*page = 1;
		__sys_munmap(page, 4096);
		progress++;
	}
}

static void parks(struct raw *r)
{
	__sys_lwp_park(NULL, 0);
}

static void test_self(void)
{
	uint32_t me = __sys_lwp_self();
	struct weft_timespec ts = {.nsec = 30 * MS};
	struct weft_msacct a = read_acct(me), b;

	spin(20 * MS);
	b = read_acct(me);
	uint64_t user = b.ms[MS_USER] - a.ms[MS_USER];
	tap_report(user >= 20 * MS && user < 40 * MS, "user time", "%llu ns of 20 ms",
		   (unsigned long long)user);

	a = read_acct(me);
	for (int i = 0; i < 1000; i++)
		__sys_null();
	b = read_acct(me);
	ok("system time", b.ms[MS_SYSTEM] > a.ms[MS_SYSTEM]);
	is("system calls are counted", b.nsyscall - a.nsyscall, 1001);

	a = read_acct(me);
	__sys_lwp_sleep(4, 0, &ts);
	b = read_acct(me);
	uint64_t slept = b.ms[MS_SLEEP] - a.ms[MS_SLEEP];
	/* It wakes to the timer's moment; what it then waits for a CPU is another state. */
	tap_report(slept >= 29 * MS, "sleep", "%llu ns of 30 ms", (unsigned long long)slept);
	is("sleep is not a lock", b.ms[MS_LOCK] - a.ms[MS_LOCK], 0);
	ok("a sleep is a voluntary switch", b.nvcsw > a.nvcsw);

	uint64_t deadline = gethrtime() + 30 * MS;
	ts = (struct weft_timespec){deadline / 1000000000, deadline % 1000000000};
	a = read_acct(me);
	is("park until a deadline", __sys_lwp_park(&ts, 0), -ETIMEDOUT);
	b = read_acct(me);
	uint64_t locked = b.ms[MS_LOCK] - a.ms[MS_LOCK];
	tap_report(locked >= 29 * MS, "a park is time for a lock", "%llu ns of 30 ms",
		   (unsigned long long)locked);
	is("a park is no sleep", b.ms[MS_SLEEP] - a.ms[MS_SLEEP], 0);

	a = read_acct(me);
	volatile char *p =
		mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 64; i++)
		p[i * 4096] = 1;
	b = read_acct(me);
	ok("faults of data", b.ms[MS_DFAULT] > a.ms[MS_DFAULT] && b.minflt - a.minflt >= 64);
	munmap((void *)p, 64 * 4096);

	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	a = read_acct(me);
	is("a call that writes to a fresh page", __sys_msacct(0, me, (void *)p), 0);
	b = read_acct(me);
	ok("faults of the kernel", b.ms[MS_KFAULT] > a.ms[MS_KFAULT]);

	a = read_acct(me);
	is("the states add up to the life of an LWP", sum(&a), a.elapsed);
	is("which began when it was made", a.elapsed, a.now - a.created);
}

static void test_another(void)
{
	int wrong = 0, late = 0;
	uint64_t rounds;

	stop = progress = 0;
	if (raw_start(&worker, mixture, 0, LWP_SUSPENDED) != 0)
		bail("lwp_create failed");
	struct weft_timespec ts = {.nsec = 10 * MS};
	__sys_lwp_sleep(4, 0, &ts);
	struct weft_msacct a = read_acct(worker.id);
	ok("suspended: stopped, and nothing else",
	   a.ms[MS_STOPPED] >= 10 * MS && a.ms[MS_STOPPED] == a.elapsed);

	__sys_lwp_continue(worker.id);
	for (rounds = 0; progress < 200; rounds++) {
		uint64_t before = gethrtime();
		a = read_acct(worker.id);
		wrong += sum(&a) != a.elapsed || a.elapsed != a.now - a.created;
		/* Clocks of two CPUs may differ by a round of exact timing. */
		late += a.now + 10000 < before;
		if (rounds % 8 == 7)
			__sys_lwp_yield();
	}
	is("read while it runs: adds up", wrong, 0);
	is("read while it runs: up to now", late, 0);
	for (unsigned i = 0; i <= MS_WAITCPU; i++)
		if (i != MS_TRAP && i != MS_TFAULT && i != MS_KFAULT && i != MS_LOCK)
			tap_report(a.ms[i] > 0 || (i == MS_WAITCPU && __ncpu > 1),
				   "each state has its part", "state %u has none", i);
	stop = 1;
	__sys_lwp_wait(worker.id, NULL);

	struct weft_msacct whole = read_acct(0);
	is("a process: adds up", sum(&whole), whole.elapsed);
	uint64_t mine = whole.now - read_acct(__sys_lwp_self()).created;
	ok("a process: with the dead", whole.elapsed - mine >= a.elapsed &&
					       whole.ms[MS_STOPPED] >= a.ms[MS_STOPPED] &&
					       whole.nsyscall >= a.nsyscall);
	is("a process: one LWP is left", whole.nlwp, 1);
}

/* A child that nobody has waited for still has its times. */
static void test_zombie_process(void)
{
	char *argv[] = {"true", NULL};
	struct spawn_args s = {
		.path = (uint64_t) "/bin/true", .argv = (uint64_t)argv, .envp = (uint64_t)environ};
	struct weft_procinfo info;
	struct weft_msacct a, b;

	long pid = __sys_spawn(&s);
	if (pid < 0)
		bail("spawn: %ld", pid);
	while (__sys_procinfo(pid, &info) == pid && info.state != LWP_ST_ZOMB)
		__sys_lwp_yield();
	is("an exited process", __sys_msacct(pid, 0, &a), 0);
	is("an exited process: has no LWPs", a.nlwp, 0);
	is("an exited process: adds up", sum(&a), a.elapsed);
	spin(MS);
	__sys_msacct(pid, 0, &b);
	is("an exited process: its time stands still", b.elapsed, a.elapsed);
	is("an exited process: no LWP to ask for", __sys_msacct(pid, 1, &a), -ESRCH);
	is("an exited process: waited for", waitpid(pid, NULL, 0), pid);
	is("a process that is gone", __sys_msacct(pid, 0, &a), -ESRCH);
}

static void test_errors(void)
{
	struct weft_msacct a;

	is("no such process", __sys_msacct(99999, 0, &a), -ESRCH);
	is("no such LWP", __sys_msacct(0, 77777, &a), -ESRCH);
	is("a bad pointer", __sys_msacct(0, 0, (void *)KERNEL_ADDR), -EFAULT);
	is("no pointer", __sys_msacct(0, 1, NULL), -EFAULT);
	if (raw_start(&worker, parks, 0, 0) != 0)
		bail("lwp_create failed");
	__sys_lwp_unpark(worker.id);
	struct lwp_info info;
	while (__sys_lwp_info(0, worker.id, &info) == (long)worker.id && info.state != LWP_ST_ZOMB)
		__sys_lwp_yield();
	is("an LWP that has exited", __sys_msacct(0, worker.id, &a), -ESRCH);
	__sys_lwp_wait(worker.id, NULL);
}

int main(void)
{
	test_self();
	test_another();
	test_zombie_process();
	test_errors();
	return tap_done();
}
