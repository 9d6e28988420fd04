/*
 * err_proc.c - every error of the system calls on processes and on the system.  That there is no
 * memory: err_memory.c.  With the argument `reboot`, ends the machine with REBOOT_STATUS; with
 * `few`, without what a tracer makes too slow.
 */
#include <weft/lwp.h>
#include <weft/msacct.h>
#include <weft/proc.h>
#include <weft/time.h>
#include "errtest.h"
#include "rawlwp.h"

#define REBOOT_STATUS 7
#define LONG_STRING 70000 /* more than WEFT_ARG_MAX */

static char *no_args[] = {"true", NULL};
static char *lies[] = {"true", (char *)0x10, NULL};
static char *too_long[] = {NULL, NULL};
static int few;

static struct spawn_args program(const char *path)
{
	return (struct spawn_args){
		.path = (uint64_t)path,
		.argv = (uint64_t)no_args,
		.envp = (uint64_t)&no_args[1],
	};
}

/* With one action. */
static struct spawn_args acting(const struct spawn_action *act)
{
	struct spawn_args a = program("/bin/true");
	a.actions = (uint64_t)act;
	a.nactions = 1;
	return a;
}

static struct spawn_args in_directory(const char *cwd)
{
	static struct spawn_action act = {.what = SPAWN_CHDIR};
	act.path = (uint64_t)cwd;
	return acting(&act);
}

static struct spawn_args opening(const char *path, uint32_t flags)
{
	static struct spawn_action act = {.what = SPAWN_OPEN, .fd = 9, .mode = 0600};
	act.path = (uint64_t)path;
	act.flags = flags;
	return acting(&act);
}

static struct spawn_args on_descriptor(uint32_t what, int fd)
{
	static struct spawn_action act;
	act = (struct spawn_action){.what = what, .fd = fd, .from = fd};
	return acting(&act);
}

static long spawn(struct spawn_args a)
{
	return __sys_spawn(&a);
}

static int status_of(long pid)
{
	int status = -1;
	__sys_waitpid(pid, &status, 0, NULL);
	return status;
}

#define spawn_gives(error, why, args) err_result(spawn(args), -(error), "spawn " #error ": " why)

static void spawning(void)
{
	struct spawn_args a;

	gives(spawn, EFAULT, "the structure", NOWHERE);
	spawn_gives(EFAULT, "the path", program(NOWHERE));
	spawn_gives(ENOENT, "the path", program("none"));
	spawn_gives(ENOTDIR, "the path", program("file/x"));
	spawn_gives(ELOOP, "the path", program("loop"));
	spawn_gives(ENAMETOOLONG, "the path", program(err_long(256)));
	spawn_gives(ENOEXEC, "an empty file", program("file"));
	spawn_gives(EACCES, "a directory", program("dir"));
	spawn_gives(EACCES, "a file that nobody may execute", program("plain"));
	spawn_gives(EFAULT, "the directory", in_directory(NOWHERE));
	spawn_gives(ENOENT, "the directory", in_directory("none"));
	spawn_gives(ENOTDIR, "the directory is a file", in_directory("file"));
	spawn_gives(ELOOP, "the directory", in_directory("loop"));
	spawn_gives(ENAMETOOLONG, "the directory", in_directory(err_long(256)));
	a = program("/bin/true");
	a.flags = 1u << 31;
	gives(spawn, EINVAL, "unknown flags", &a);
	a = program("/bin/true");
	a.argv = (uint64_t)lies;
	gives(spawn, EFAULT, "an argument", &a);
	a.argv = (uint64_t)too_long;
	gives(spawn, E2BIG, "an argument", &a);
	spawn_gives(EFAULT, "an action", acting(NOWHERE));
	spawn_gives(EINVAL, "an unknown action", on_descriptor(99, 1));
	spawn_gives(EBADF, "dup2 of no descriptor", on_descriptor(SPAWN_DUP2, 500));
	spawn_gives(EBADF, "close out of range", on_descriptor(SPAWN_CLOSE, WEFT_OPEN_MAX));
	spawn_gives(EBADF, "no terminal", on_descriptor(SPAWN_TCSETPGRP, 500));
	int fd = __sys_open("file", WEFT_O_RDONLY, 0);
	spawn_gives(ENOTTY, "a file for a terminal", on_descriptor(SPAWN_TCSETPGRP, fd));
	__sys_close(fd);
	spawn_gives(EINVAL, "open: flags", opening("file", 1u << 31));
	spawn_gives(EEXIST, "open: O_EXCL", opening("file", WEFT_O_CREAT | WEFT_O_EXCL));
	spawn_gives(EISDIR, "open: a directory", opening("dir", WEFT_O_WRONLY));
	spawn_gives(EROFS, "open: creates in /proc", opening("/proc/x", WEFT_O_CREAT));
	a = program("/bin/true");
	a.flags = SPAWN_SETPGROUP;
	a.pgroup = -1;
	gives(spawn, EINVAL, "a group below 0", &a);
	a.pgroup = INT32_MAX;
	gives(spawn, EPERM, "no such group", &a);
	a = program("/bin/true");
	a.flags = SPAWN_SETSCHED;
	a.sched.pc_cid = 99;
	gives(spawn, EINVAL, "no such class", &a);
	a = program("/bin/true");
	status_of(works(spawn, &a));
}

static void park_for_ever(struct raw *r)
{
	for (;;)
		__sys_lwp_park(NULL, 0);
}

static void executing(void)
{
	char **env = no_args + 1;
	long pid;

	gives_path_errors(execve, no_args, env);
	gives(execve, ENOENT, "the last name", "none", no_args, env);
	gives(execve, EFAULT, "an argument", "/bin/true", lies, env);
	gives(execve, EFAULT, "the environment", "/bin/true", no_args, NOWHERE);
	gives(execve, ENOEXEC, "an empty file", "file", no_args, env);
	gives(execve, EACCES, "a directory", "dir", no_args, env);
	gives(execve, EACCES, "a file that nobody may execute", "plain", no_args, env);
	gives(execve, E2BIG, "an argument", "/bin/true", too_long, env);
	if ((pid = __sys_fork()) == 0) {
		__sys_execve("/bin/true", no_args, env);
		__sys_exit(1);
	}
	worked(execve, status_of(pid) == 0);
}

static void limits(void)
{
	struct weft_rlimit l = {2, 1}, old;

	gives(rlimit, EINVAL, "which", WEFT_RLIM_NLIMITS, NULL, &old);
	gives(rlimit, EINVAL, "cur above max", WEFT_RLIMIT_DATA, &l, NULL);
	l = (struct weft_rlimit){WEFT_OPEN_MAX, WEFT_OPEN_MAX + 1};
	gives(rlimit, EPERM, "more than there can be", WEFT_RLIMIT_NOFILE, &l, NULL);
	gives(rlimit, EFAULT, "the new one", WEFT_RLIMIT_DATA, NOWHERE, NULL);
	gives(rlimit, EFAULT, "the old one", WEFT_RLIMIT_DATA, NULL, NOWHERE);
	works(rlimit, WEFT_RLIMIT_NPROC, NULL, &old);
	l = (struct weft_rlimit){0, old.max};
	__sys_rlimit(WEFT_RLIMIT_NPROC, &l, NULL);
	spawn_gives(EAGAIN, "the limit of processes", program("/bin/true"));
	gives(fork, EAGAIN, "the limit of processes");
	__sys_rlimit(WEFT_RLIMIT_NPROC, &old, NULL);
}

static void waiting(void)
{
	struct weft_rusage ru;
	int status;
	long pid;

	gives(waitpid, ECHILD, "there is none at all", -1, &status, 0, NULL);
	pid = __sys_fork();
	if (pid == 0)
		park_for_ever(NULL);
	worked(fork, pid > 0);
	gives(waitpid, ECHILD, "another is none", __sys_getpid(), &status, 0, NULL);
	gives(waitpid, ECHILD, "nor at once", __sys_getpid(), &status, WEFT_WNOHANG, NULL);
	gives(waitpid, EINVAL, "unknown options", pid, &status, 1 << 20, NULL);
	gives_eintr(waitpid, "a signal", pid, &status, 0, NULL);
	works(kill, pid, WEFT_SIGKILL);
	works(waitpid, pid, &status, 0, &ru);
	for (int i = 0; i < 2; i++) {
		if ((pid = __sys_fork()) == 0)
			__sys_exit(5);
		if (i == 0)
			gives(waitpid, EFAULT, "the status", pid, NOWHERE, 0, NULL);
		else
			gives(waitpid, EFAULT, "the usage", pid, NULL, 0, NOWHERE);
	}
	if ((pid = __sys_fork()) == 0)
		__sys_exit(5);
	worked(exit, status_of(pid) == 5 << 8);
}

/* A session leader: its status is 0 if it gets EPERM twice. */
static int leading(void)
{
	long pid = __sys_fork();

	if (pid == 0)
		__sys_exit(__sys_setsid() != __sys_getpid() || __sys_setsid() != -EPERM ||
			   __sys_setpgrp(0, 0) != -EPERM);
	return status_of(pid);
}

static void groups(void)
{
	struct spawn_args a = program("/bin/err_proc");
	char *argv[] = {"err_proc", "park", NULL};

	gives(setpgrp, EINVAL, "a group below 0", 0, -1);
	gives(setpgrp, ESRCH, "no such process", INT32_MAX, 0);
	gives(setpgrp, ESRCH, "no child", __sys_getppid(), 0);
	gives(setpgrp, EPERM, "no such group", 0, INT32_MAX);
	a.argv = (uint64_t)argv;
	long pid = __sys_spawn(&a);
	gives(setpgrp, EACCES, "a child that is another program", pid, 0);
	__sys_kill(pid, WEFT_SIGKILL);
	status_of(pid);
	works(setpgrp, 0, 0);
	gives(setsid, EPERM, "it leads a group");
	worked(setsid, leading() == 0);
	gives(getsid, ESRCH, "no such process", INT32_MAX);
	works(getsid, 0);
	gives(getpgrp, ESRCH, "no such process", INT32_MAX);
	works(getpgrp, 0);
}

static void asking(void)
{
	struct weft_rusage ru;
	struct weft_timespec ts;
	struct weft_procinfo info;
	struct lwp_info lwp;
	struct weft_msacct acct;
	struct weft_cpuinfo cpu;
	struct weft_sysinfo sys;

	works(null);
	works(getpid);
	works(getppid);
	gives(getrusage, EINVAL, "who", 1, &ru);
	gives(getrusage, EFAULT, "the structure", 0, NOWHERE);
	works(getrusage, -1, &ru);
	gives(clock_gettime, EINVAL, "the clock", 99, &ts);
	gives(clock_gettime, EFAULT, "the structure", WEFT_CLOCK_MONOTONIC, NOWHERE);
	works(clock_gettime, WEFT_CLOCK_PROCESS_CPUTIME, &ts);
	gives(clock_settime, EINVAL, "another clock", WEFT_CLOCK_MONOTONIC, &ts);
	gives(clock_settime, EINVAL, "too early", WEFT_CLOCK_REALTIME, &(struct weft_timespec){0});
	gives(clock_settime, EFAULT, "the time", WEFT_CLOCK_REALTIME, NOWHERE);
	__sys_clock_gettime(WEFT_CLOCK_REALTIME, &ts);
	works(clock_settime, WEFT_CLOCK_REALTIME, &ts);
	gives(procinfo, ESRCH, "there is none above", INT32_MAX, &info);
	gives(procinfo, EFAULT, "the structure", 1, NOWHERE);
	works(procinfo, 1, &info);
	gives(lwp_info, ESRCH, "no such process", INT32_MAX, 1, &lwp);
	gives(lwp_info, ESRCH, "no such LWP", 0, 1000, &lwp);
	gives(lwp_info, EFAULT, "the structure", 0, 1, NOWHERE);
	works(lwp_info, 0, 1, &lwp);
	gives(msacct, ESRCH, "no such process", INT32_MAX, 0, &acct);
	gives(msacct, ESRCH, "no such LWP", 0, 1000, &acct);
	gives(msacct, EFAULT, "the structure", 0, 0, NOWHERE);
	works(msacct, 0, 1, &acct);
	gives(cpuinfo, EINVAL, "no such CPU", 1000, &cpu);
	gives(cpuinfo, EFAULT, "the structure", 0, NOWHERE);
	works(cpuinfo, 0, &cpu);
	gives(sysinfo, EFAULT, "the structure", NOWHERE);
	works(sysinfo, &sys);
	gives(reboot, EINVAL, "how", 99, 0);
	gives(reboot, ENOTSUP, "nobody wants the memory", WEFT_REBOOT_FAIL, 1);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "reboot") == 0)
		return __sys_reboot(WEFT_REBOOT_HALT, REBOOT_STATUS);
	if (argc > 1 && strcmp(argv[1], "park") == 0)
		park_for_ever(NULL);
	few = argc > 1 && strcmp(argv[1], "few") == 0;
	err_paths("/tmp/err_proc");
	__sys_link("file", "plain");
	__sys_unlink("file");
	__sys_close(__sys_open("file", WEFT_O_CREAT, 0755));
	too_long[0] = malloc(LONG_STRING);
	memset(too_long[0], 'x', LONG_STRING - 1);
	too_long[0][LONG_STRING - 1] = '\0';
	spawning();
	executing();
	limits();
	waiting();
	asking();
	groups();
	return tap_done();
}
