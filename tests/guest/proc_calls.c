/*
 * proc_calls.c - system calls on processes and on the system, with good and bad
 * arguments.  Started with an argument it is its own child.
 */
#include "rawlwp.h"
#include "tap.h"
#include <weft/file.h>
#include <weft/proc.h>
#include <weft/signal.h>
#include <weft/start.h>

#define KERNEL_ADDR 0xffff800000000000ull

extern char **environ;
static const char *self;
static int console; /* standard input need not be it */

static struct spawn_args child_args(char **argv)
{
	return (struct spawn_args){
		.path = (uint64_t)self, .argv = (uint64_t)argv, .envp = (uint64_t)environ};
}

static long spawn(char *what)
{
	char *argv[] = {"proc_calls", what, NULL};
	struct spawn_args a = child_args(argv);
	return __sys_spawn(&a);
}

static void forever(struct raw *r)
{
	for (;;)
		__sys_lwp_park(NULL, 0);
}

static void spin_forever(struct raw *r)
{
	for (;;)
		;
}

/* What the child does; its status tells. */
static int child(const char *what)
{
	static struct raw r[4];

	if (strcmp(what, "exit7") == 0)
		return 7;
	if (strcmp(what, "sleep") == 0) {
		__sys_lwp_park(NULL, 0);
		return 1;
	}
	if (strcmp(what, "spin") == 0)
		for (;;)
			;
	if (strcmp(what, "lwps") == 0) { /* ends with others asleep, on a CPU and stopped */
		raw_start(&r[0], forever, 0, 0);
		raw_start(&r[1], spin_forever, 0, 0);
		raw_start(&r[2], spin_forever, 0, LWP_SUSPENDED);
		raw_start(&r[3], forever, 0, LWP_DETACHED);
		__sys_lwp_yield();
		return 9;
	}
	if (strcmp(what, "lastlwp") == 0) { /* the first LWP goes, another ends the process */
		raw_start(&r[0], forever, 0, LWP_DETACHED);
		__sys_lwp_unpark(r[0].id);
		__sys_lwp_kill(r[0].id, 0);
		__sys_lwp_exit();
	}
	if (strcmp(what, "orphans") == 0) {
		spawn("exit7");
		return 0;
	}
	if (strcmp(what, "burn") == 0) {
		int64_t end = gethrtime() + 20000000;
		while (gethrtime() < end)
			;
		return 0;
	}
	return 99;
}

static void spawn_and_wait(void)
{
	int status = -1;
	struct weft_rusage ru;

	long pid = spawn("exit7");
	ok("spawn", pid > 1);
	is("waitpid", __sys_waitpid(pid, &status, 0, &ru), pid);
	is("waitpid: status", status, WEFT_W_EXITCODE(7, 0));
	ok("waitpid: rusage", ru.utime + ru.stime > 0 && ru.minflt > 0);
	is("waitpid: gone", __sys_waitpid(pid, &status, 0, NULL), -ECHILD);
	is("waitpid: no child", __sys_waitpid(-1, NULL, 0, NULL), -ECHILD);
	is("waitpid: options", __sys_waitpid(-1, NULL, 128, NULL), -EINVAL);

	pid = spawn("lwps");
	is("exit with LWPs", __sys_waitpid(-1, &status, 0, NULL), pid);
	is("exit with LWPs: status", status, WEFT_W_EXITCODE(9, 0));

	pid = spawn("sleep");
	is("waitpid: WNOHANG", __sys_waitpid(pid, &status, WEFT_WNOHANG, NULL), 0);
	is("kill: exists", __sys_kill(pid, 0), 0);
	is("kill: SIGCHLD is ignored", __sys_kill(pid, WEFT_SIGCHLD), 0);
	is("kill", __sys_kill(pid, WEFT_SIGTERM), 0);
	is("waitpid: killed", __sys_waitpid(0, &status, 0, NULL), pid);
	is("waitpid: signal", status, WEFT_W_EXITCODE(0, WEFT_SIGTERM));

	pid = spawn("spin");
	is("kill: one that never sleeps", __sys_kill(pid, WEFT_SIGKILL), 0);
	is("kill: one that never sleeps: ends", __sys_waitpid(pid, &status, 0, NULL), pid);
	is("kill: one that never sleeps: signal", status, WEFT_W_EXITCODE(0, WEFT_SIGKILL));

	pid = spawn("lastlwp");
	__sys_kill(pid, WEFT_SIGINT);
	is("first LWP gone", __sys_waitpid(pid, &status, 0, NULL), pid);

	pid = spawn("orphans");
	is("orphans", __sys_waitpid(pid, &status, 0, NULL), pid);
	is("orphans: not mine", __sys_waitpid(-1, NULL, 0, NULL), -ECHILD);

	pid = spawn("exit7");
	is("waitpid: bad pointer", __sys_waitpid(pid, (int *)KERNEL_ADDR, 0, NULL), -EFAULT);

	is("kill: no such", __sys_kill(99999, WEFT_SIGTERM), -ESRCH);
	is("kill: no such group", __sys_kill(-99999, WEFT_SIGTERM), -ESRCH);
	is("kill: signal number", __sys_kill(1, 1000), -EINVAL);
	is("kill: 0: my group", __sys_kill(0, 0), 0);
}

static void bad_spawns(void)
{
	char *argv[] = {"x", NULL};
	struct spawn_args a;

	is("spawn: NULL", __sys_spawn(NULL), -EFAULT);
	a = child_args(argv);
	a.path = KERNEL_ADDR;
	is("spawn: path pointer", __sys_spawn(&a), -EFAULT);
	a = child_args(argv);
	a.argv = KERNEL_ADDR;
	is("spawn: argv pointer", __sys_spawn(&a), -EFAULT);
	a = child_args(argv);
	char *bad[] = {"x", (char *)KERNEL_ADDR, NULL};
	a.argv = (uint64_t)bad;
	is("spawn: argv[1] pointer", __sys_spawn(&a), -EFAULT);
	a = child_args(argv);
	a.flags = 0x100;
	is("spawn: flags", __sys_spawn(&a), -EINVAL);
	a = child_args(argv);
	a.path = (uint64_t) "/no/such/file";
	is("spawn: no such file", __sys_spawn(&a), -ENOENT);
	a = child_args(argv);
	a.path = (uint64_t) "/bin";
	ok("spawn: a directory", __sys_spawn(&a) < 0);
	a = child_args(argv);
	a.flags = SPAWN_SETPGROUP;
	a.pgroup = -1;
	is("spawn: group -1", __sys_spawn(&a), -EINVAL);
	a.pgroup = 99998;
	is("spawn: no such group", __sys_spawn(&a), -EPERM);
	a = child_args(argv);
	a.flags = SPAWN_SETSCHED;
	a.sched.pc_cid = 99;
	is("spawn: no such class", __sys_spawn(&a), -EINVAL);
	a.sched = (struct pcparms){.pc_cid = WEFT_CLASS_RT, .rt = {.rt_pri = 999}};
	is("spawn: no such priority", __sys_spawn(&a), -EINVAL);
	static char big[70000];
	memset(big, 'x', sizeof(big) - 1);
	char *huge[] = {"x", big, NULL};
	a = child_args(huge);
	is("spawn: too many arguments", __sys_spawn(&a), -E2BIG);
	is("waitpid: no half-made child", __sys_waitpid(-1, NULL, 0, NULL), -ECHILD);
}

static void groups_and_times(void)
{
	struct weft_rusage before, ru;
	char *argv[] = {"proc_calls", "sleep", NULL};
	struct spawn_args a = child_args(argv);
	int status;

	a.flags = SPAWN_SETPGROUP;
	long pid = __sys_spawn(&a);
	is("spawn: new group", __sys_getpgrp(pid), pid);
	is("spawn: session", __sys_getsid(pid), __sys_getsid(0));
	is("getpgrp: mine", __sys_getpgrp(0), __sys_getpgrp(__sys_getpid()));
	is("getpgrp: no such", __sys_getpgrp(99999), -ESRCH);
	is("getsid: no such", __sys_getsid(99999), -ESRCH);
	a.pgroup = pid;
	long other = __sys_spawn(&a);
	is("spawn: into a group", __sys_getpgrp(other), pid);
	is("kill: group", __sys_kill(-pid, WEFT_SIGINT), 0);
	__sys_waitpid(-pid, &status, 0, NULL);
	is("kill: group: first", status, WEFT_W_EXITCODE(0, WEFT_SIGINT));
	__sys_waitpid(-pid, &status, 0, NULL);
	is("kill: group: second", status, WEFT_W_EXITCODE(0, WEFT_SIGINT));
	is("kill: group: no more", __sys_waitpid(-pid, &status, 0, NULL), -ECHILD);

	is("getppid", __sys_getppid() > 0, 1);
	is("getrusage: who", __sys_getrusage(5, &ru), -EINVAL);
	is("getrusage: pointer", __sys_getrusage(0, (void *)KERNEL_ADDR), -EFAULT);
	is("getrusage: children", __sys_getrusage(-1, &before), 0);
	pid = spawn("burn");
	__sys_waitpid(pid, &status, 0, &ru);
	/* Spun for 20 ms of time; others may have had the CPU for part of it. */
	ok("rusage: user time", ru.utime > 100000 && ru.utime < 10000000000ull);
	uint64_t own = ru.utime;
	__sys_getrusage(-1, &ru);
	ok("getrusage: children add up", ru.utime >= before.utime + own);
	is("getrusage: self", __sys_getrusage(0, &ru), 0);
	ok("getrusage: self: both times", ru.utime > 0 && ru.stime > 0);
}

/* A child of fork's that sleeps. */
static long forked(void)
{
	long pid = fork();

	if (pid == 0)
		for (;;)
			__sys_lwp_park(NULL, 0);
	return pid;
}

static void end(long pid)
{
	__sys_kill(pid, WEFT_SIGKILL);
	__sys_waitpid(pid, NULL, 0, NULL);
}

/* What a session leader finds; its status is the number of what is wrong. */
static int leader(long sibling)
{
	int32_t pgrp = __sys_getpid();

	if (__sys_setsid() != __sys_getpid() || __sys_getsid(0) != __sys_getpid())
		return 1;
	if (__sys_getpgrp(0) != __sys_getpid())
		return 2;
	if (__sys_setsid() != -EPERM || __sys_setpgrp(0, 0) != -EPERM)
		return 3;
	if (__sys_setpgrp(sibling, 0) != -ESRCH)
		return 4;
	if (__sys_ioctl(console, WEFT_TIOCGPGRP, &pgrp) != -ENOTTY ||
	    __sys_ioctl(console, WEFT_TIOCSPGRP, &pgrp) != -ENOTTY)
		return 5;
	long child = forked();
	if (__sys_getsid(child) != __sys_getpid() || __sys_setpgrp(child, 0) != 0)
		return 6;
	if (__sys_setpgrp(child, __sys_getpgrp(__sys_getppid())) != -EPERM)
		return 7; /* a group of another session */
	end(child);
	return 42;
}

static void groups_and_sessions(void)
{
	int status = -1;
	long a = forked(), b = forked(), c;

	is("setpgrp: child", __sys_setpgrp(a, 0), 0);
	is("setpgrp: child: group", __sys_getpgrp(a), a);
	is("setpgrp: into its group", __sys_setpgrp(b, a), 0);
	is("setpgrp: into its group: group", __sys_getpgrp(b), a);
	is("setpgrp: no such", __sys_setpgrp(99999, 1), -ESRCH);
	is("setpgrp: not a child", __sys_setpgrp(1, 1), -ESRCH);
	is("setpgrp: negative", __sys_setpgrp(0, -1), -EINVAL);
	is("setpgrp: no such group", __sys_setpgrp(b, 99998), -EPERM);
	end(a);
	is("a group outlives its leader", __sys_getpgrp(b), a);
	c = forked();
	is("and takes new members", __sys_setpgrp(c, a), 0);
	end(b);
	end(c);
	is("and goes with its last", __sys_setpgrp(0, a), -EPERM);

	c = spawn("sleep");
	is("setpgrp: after exec", __sys_setpgrp(c, 0), -EACCES);
	b = fork();
	if (b == 0)
		__sys_exit(leader(c));
	is("a session leader", __sys_waitpid(b, &status, 0, NULL), b);
	is("what it found", status, WEFT_W_EXITCODE(42, 0));
	b = fork();
	if (b == 0) {
		__sys_setsid();
		__sys_lwp_park(NULL, 0);
	}
	while (__sys_getsid(b) != b)
		__sys_lwp_yield();
	is("setpgrp: of another session", __sys_setpgrp(b, 0), -EPERM);
	end(b);
	end(c);
}

/* tcsetpgrp(3); the last group is left as it was. */
static void the_terminal(void)
{
	int32_t before, group = 99998;
	uint64_t ttou = WEFT_SIGBIT(WEFT_SIGTTOU), old;
	int status = -1;
	long pid;

	is("TIOCGPGRP", __sys_ioctl(console, WEFT_TIOCGPGRP, &before), 0);
	is("in the foreground", before, __sys_getpgrp(0));
	is("TIOCGPGRP: pointer", __sys_ioctl(console, WEFT_TIOCGPGRP, (void *)KERNEL_ADDR),
	   -EFAULT);
	is("TIOCSPGRP: pointer", __sys_ioctl(console, WEFT_TIOCSPGRP, (void *)KERNEL_ADDR),
	   -EFAULT);
	is("TIOCSPGRP: no such group", __sys_ioctl(console, WEFT_TIOCSPGRP, &group), -EPERM);
	group = 0;
	is("TIOCSPGRP: no group", __sys_ioctl(console, WEFT_TIOCSPGRP, &group), -EINVAL);

	pid = forked();
	__sys_setpgrp(pid, 0);
	group = pid;
	is("TIOCSPGRP: a child's", __sys_ioctl(console, WEFT_TIOCSPGRP, &group), 0);
	__sys_sigprocmask(WEFT_SIG_BLOCK, &ttou, &old);
	is("TIOCSPGRP: from the background", __sys_ioctl(console, WEFT_TIOCSPGRP, &before), 0);
	__sys_sigprocmask(WEFT_SIG_SETMASK, &old, NULL);
	end(pid);

	pid = fork();
	if (pid == 0) {
		__sys_setpgrp(0, 0);
		group = __sys_getpid();
		__sys_exit(__sys_ioctl(console, WEFT_TIOCSPGRP, &group) != 0); /* stops first */
	}
	__sys_waitpid(pid, &status, WEFT_WUNTRACED, NULL);
	is("TIOCSPGRP: stops the background", status, WEFT_W_STOPCODE(WEFT_SIGTTOU));
	__sys_ioctl(console, WEFT_TIOCGPGRP, &group);
	is("which changes nothing", group, before);
	group = pid;
	__sys_ioctl(console, WEFT_TIOCSPGRP, &group);
	__sys_kill(pid, WEFT_SIGCONT);
	__sys_waitpid(pid, &status, 0, NULL);
	is("and goes on in the foreground", status, 0);
	__sys_sigprocmask(WEFT_SIG_BLOCK, &ttou, &old);
	__sys_ioctl(console, WEFT_TIOCSPGRP, &before);
	__sys_sigprocmask(WEFT_SIG_SETMASK, &old, NULL);
}

static void the_system(void)
{
	struct weft_procinfo p;
	struct weft_cpuinfo c;
	struct weft_sysinfo s;

	is("procinfo: first", __sys_procinfo(0, &p), 1);
	ok("procinfo: first: name", strcmp(p.name, "init") == 0);
	is("procinfo: self", __sys_procinfo(__sys_getpid(), &p), __sys_getpid());
	is("procinfo: state", p.state, LWP_ST_ONPROC);
	ok("procinfo: size", p.size > p.rss && p.rss > 0);
	is("procinfo: past the last", __sys_procinfo(99998, &p), -ESRCH);
	is("procinfo: pointer", __sys_procinfo(1, (void *)KERNEL_ADDR), -EFAULT);
	is("sysinfo", __sys_sysinfo(&s), 0);
	is("sysinfo: CPUs", s.ncpu, __ncpu);
	ok("sysinfo: memory", s.mem_free > 0 && s.mem_free < s.mem_total);
	ok("sysinfo: counts", s.nproc >= 2 && s.nlwp >= 2);
	is("sysinfo: pointer", __sys_sysinfo((void *)KERNEL_ADDR), -EFAULT);
	for (unsigned i = 0; i < __ncpu; i++)
		if (__sys_cpuinfo(i, &c) != 0 || c.id != i || !c.online)
			bail("cpuinfo of CPU %u", i);
	is("cpuinfo: no such", __sys_cpuinfo(__ncpu, &c), -EINVAL);
	is("cpuinfo: pointer", __sys_cpuinfo(0, (void *)KERNEL_ADDR), -EFAULT);
	is("reboot: how", __sys_reboot(77, 0), -EINVAL);
}

/* The same number of free pages before and after, once the caches are warm. */
static void no_leak(void)
{
	struct weft_sysinfo before, after;
	int status;

	for (int round = 0; round < 2; round++) {
		__sys_sysinfo(&before);
		for (int i = 0; i < 20; i++)
			__sys_waitpid(spawn(i % 2 ? "lwps" : "exit7"), &status, 0, NULL);
	}
	__sys_sysinfo(&after);
	/* Slabs and cached stacks may grow a little; 20 processes are thousands of pages. */
	long lost = (long)(before.mem_free - after.mem_free) / 4096;
	tap_report(lost <= 64, "processes leave no pages behind", "%ld pages lost", lost);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return child(argv[1]);
	self = "/bin/proc_calls";
	console = __sys_open("/dev/console", WEFT_O_RDWR | WEFT_O_CLOEXEC, 0);
	spawn_and_wait();
	bad_spawns();
	groups_and_times();
	groups_and_sessions();
	the_terminal();
	the_system();
	no_leak();
	return tap_done();
}
