/*
 * libc_spawn.c - posix_spawn with its file actions and attributes, waiting, statuses,
 * signals that end a process, and what is not there.  Started with an argument it
 * is its own child, whose status tells.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "tap.h"

#define SELF "/bin/libc_spawn"

/* It becomes a pipe that has no room, and that nobody reads. */
static void fill_standard_error(void)
{
	int p[2];

	pipe(p);
	dup2(p[1], STDERR_FILENO);
	fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
	while (write(STDERR_FILENO, "x", 1) == 1)
		;
	fcntl(STDERR_FILENO, F_SETFL, 0);
}

static int child(int argc, char **argv)
{
	char path[100];
	char c;

	if (!strcmp(argv[1], "environment"))
		return getenv(argv[2]) == NULL;
	if (!strcmp(argv[1], "status"))
		return atoi(argv[2]);
	if (!strcmp(argv[1], "abort")) {
		if (!strcmp(argv[2], "full"))
			fill_standard_error();
		abort();
	}
	if (!strcmp(argv[1], "raise"))
		return raise(atoi(argv[2]));
	if (!strcmp(argv[1], "fault"))
		*(volatile int *)(uintptr_t)(argc * 8) = 1;
	if (!strcmp(argv[1], "sleep"))
		for (;;)
			sleep(1000);
	if (!strcmp(argv[1], "burn")) {
		hrtime_t end = gethrtime() + 30000000;
		while (gethrtime() < end)
			;
		return 0;
	}
	if (!strcmp(argv[1], "cwd"))
		return getcwd(path, sizeof(path)) && !strcmp(path, argv[2]) ? 0 : 1;
	if (!strcmp(argv[1], "group"))
		return getpgrp() == getpid() ? 1 : 0;
	if (!strcmp(argv[1],
		    "fds")) /* which of the three are: terminal t, null n, file f, none - */
		for (int i = 0; i < 3; i++) {
			c = isatty(i) ? 't' : '-';
			if (c != 't' && (fcntl(i, F_GETFL) & O_ACCMODE) == O_RDWR)
				c = 'n';
			if (c == '-' && lseek(i, 0, SEEK_CUR) >= 0)
				c = 'f';
			if (c != argv[2][i])
				return 1 + i;
		}
	if (!strcmp(argv[1], "open")) /* which of 3 to 9 are, as digits */
		for (int i = 3; i < 10; i++)
			if ((fcntl(i, F_GETFD) >= 0) != (strchr(argv[2], '0' + i) != NULL))
				return i;
	if (!strcmp(argv[1], "signals")) {
		sigset_t set;
		struct sigaction act;

		sigprocmask(SIG_SETMASK, NULL, &set);
		sigaction(SIGUSR1, NULL, &act);
		return (sigismember(&set, SIGUSR1) ? 1 : 0) | (sigismember(&set, SIGUSR2) ? 2 : 0) |
		       (act.sa_handler == SIG_IGN ? 4 : 0);
	}
	if (!strcmp(argv[1], "policy")) {
		struct sched_param param;

		sched_getparam(0, &param);
		return sched_getscheduler(0) * 100 + param.sched_priority;
	}
	if (argc > 3 && !strcmp(argv[3], "alone"))
		return fcntl(3, F_GETFL) < 0 && errno == EBADF ? 0 : 9; /* nothing inherited */
	return 0;
}

/* What became of a child: its status, or the negative of posix_spawn's error. */
static int finish(int error, const pid_t *pid)
{
	int status;

	if (error)
		return -error;
	return waitpid(*pid, &status, 0) == *pid ? status : -1000;
}

static int start_with(char **argv, const posix_spawn_file_actions_t *fa,
		      const posix_spawnattr_t *attr)
{
	pid_t pid = 0;

	errno = 0;
	return finish(posix_spawn(&pid, SELF, fa, attr, argv, environ), &pid);
}

static int start_status(const char *what, const char *arg, const posix_spawn_file_actions_t *fa,
			const posix_spawnattr_t *attr)
{
	char *argv[] = {"libc_spawn", (char *)what, (char *)arg, NULL};

	return start_with(argv, fa, attr);
}

/* And the child checks that it has no descriptor beside 0 to 2. */
static int run(const char *what, const char *arg, const posix_spawn_file_actions_t *fa,
	       const posix_spawnattr_t *attr)
{
	char *argv[] = {"libc_spawn", (char *)what, (char *)arg, "alone", NULL};

	return start_with(argv, fa, attr);
}

static int plain(const char *what, const char *arg)
{
	return run(what, arg, NULL, NULL);
}

static pid_t start(const char *what)
{
	char *argv[] = {"libc_spawn", (char *)what, "", NULL};
	pid_t pid = -1;

	return posix_spawn(&pid, SELF, NULL, NULL, argv, environ) == 0 ? pid : -1;
}

static void statuses(void)
{
	int s;

	is("exit 0", plain("status", "0"), 0);
	s = plain("status", "77");
	ok("exit 77", WIFEXITED(s) && !WIFSIGNALED(s) && WEXITSTATUS(s) == 77);
	s = plain("status", "-1");
	ok("exit -1", WIFEXITED(s) && WEXITSTATUS(s) == 255);
	s = plain("abort", "");
	ok("abort", WIFSIGNALED(s) && !WIFEXITED(s) && WTERMSIG(s) == SIGABRT);
	s = plain("abort", "full");
	ok("abort, standard error a full pipe", WIFSIGNALED(s) && WTERMSIG(s) == SIGABRT);
	s = plain("raise", "15");
	ok("raise(SIGTERM)", WIFSIGNALED(s) && WTERMSIG(s) == SIGTERM);
	s = plain("fault", "");
	ok("a fault", WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV);
}

static void file_actions(void)
{
	posix_spawn_file_actions_t fa;
	int fd = open(SELF, O_RDONLY | O_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	is("descriptors as they are", plain("fds", "ttt"), 0);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd, 0);
	posix_spawn_file_actions_addclose(&fa, fd);
	posix_spawn_file_actions_addclose(&fa, 2);
	is("dup2 and close", run("fds", "ft-", &fa, NULL), 0);
	posix_spawn_file_actions_adddup2(&fa, 0, 2);
	posix_spawn_file_actions_adddup2(&fa, 1, 0);
	is("dup2 of what an action made", run("fds", "ttf", &fa, NULL), 0);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_RDWR, 0);
	is("open", run("fds", "tnf", &fa, NULL), 0);
	ok("the caller's stay", isatty(0) && isatty(1) && isatty(2));
	posix_spawn_file_actions_addclose(&fa, 1);
	posix_spawn_file_actions_adddup2(&fa, 1, 0);
	is("dup2 of a closed one", run("fds", "", &fa, NULL), -EBADF);
	posix_spawn_file_actions_destroy(&fa);

	posix_spawn_file_actions_init(&fa);
	is("adddup2 of -1", posix_spawn_file_actions_adddup2(&fa, -1, 0), EBADF);
	is("adddup2 to 1024", posix_spawn_file_actions_adddup2(&fa, 0, 1024), EBADF);
	is("addclose of -1", posix_spawn_file_actions_addclose(&fa, -1), EBADF);
	is("addopen as -1", posix_spawn_file_actions_addopen(&fa, -1, "/", O_RDONLY, 0), EBADF);
	posix_spawn_file_actions_destroy(&fa);

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/nonexistent", O_RDONLY, 0);
	is("open of nothing", run("fds", "", &fa, NULL), -ENOENT);
	posix_spawn_file_actions_destroy(&fa);

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addchdir_np(&fa, "/bin");
	is("chdir", run("cwd", "/bin", &fa, NULL), 0);
	posix_spawn_file_actions_destroy(&fa);
	close(fd);
	close(null);
}

/* All that are not FD_CLOEXEC are inherited. */
static void descriptors(void)
{
	posix_spawn_file_actions_t fa;
	int fd = open(SELF, O_RDONLY), kept = open("/dev/null", O_RDWR);

	fcntl(fd, F_SETFD, FD_CLOEXEC);
	is("inherited", start_status("open", "4", NULL, NULL), 0);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd, 7);
	is("dup2 of FD_CLOEXEC to a high descriptor", start_status("open", "47", &fa, NULL), 0);
	posix_spawn_file_actions_addopen(&fa, 9, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_addclose(&fa, kept);
	is("high open, close", start_status("open", "79", &fa, NULL), 0);
	posix_spawn_file_actions_adddup2(&fa, fd, fd);
	is("dup2 to itself", start_status("open", "379", &fa, NULL), 0);
	posix_spawn_file_actions_addopen(&fa, 9, "/dev/null", O_RDWR | O_CLOEXEC, 0);
	posix_spawn_file_actions_addclose(&fa, 20);
	is("open with O_CLOEXEC; close of what is not open", start_status("open", "37", &fa, NULL),
	   0);
	posix_spawn_file_actions_destroy(&fa);
	is("the caller's flag stays", fcntl(fd, F_GETFD), FD_CLOEXEC);

	/* An action is carried out once, however long PATH is. */
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 5, "/tmp/once", O_RDWR | O_CREAT | O_EXCL, 0600);
	char *argv[] = {"libc_spawn", "open", "45", NULL};
	char *path = strdup(getenv("PATH"));
	pid_t pid = 0;
	setenv("PATH", "/tmp:/nowhere:/dev/null:/bin", 1);
	is("O_EXCL under a search",
	   finish(posix_spawnp(&pid, "libc_spawn", &fa, NULL, argv, environ), &pid), 0);
	is("and not twice", posix_spawnp(&pid, "libc_spawn", &fa, NULL, argv, environ), EEXIST);
	setenv("PATH", path, 1);
	free(path);
	unlink("/tmp/once");
	posix_spawn_file_actions_destroy(&fa);
	close(fd);
	close(kept);
}

static void attributes(void)
{
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	is("the caller's group", run("group", "", NULL, &attr), 0);
	is("setflags", posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP), 0);
	is("a group of its own", WEXITSTATUS(run("group", "", NULL, &attr)), 1);
	is("no group", posix_spawnattr_setpgroup(&attr, -1), EINVAL);
	posix_spawnattr_setpgroup(&attr, 99998);
	is("a group that is not there", run("group", "", NULL, &attr), -EPERM);
	posix_spawnattr_setpgroup(&attr, getpgrp());
	is("the caller's by name", run("group", "", NULL, &attr), 0);
	is("a flag that is not there", posix_spawnattr_setflags(&attr, 0x4000), EINVAL);
	is("RESETIDS", posix_spawnattr_setflags(&attr, POSIX_SPAWN_RESETIDS), 0);
	is("RESETIDS: spawn", run("group", "", NULL, &attr), 0);
	posix_spawnattr_destroy(&attr);
}

static void signals(void)
{
	posix_spawnattr_t attr;
	sigset_t set, before;

	posix_spawnattr_init(&attr);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_SETMASK, &set, &before);
	signal(SIGUSR1, SIG_IGN);
	is("mask and ignored signals stay", WEXITSTATUS(run("signals", "", NULL, &attr)), 1 | 4);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	posix_spawnattr_setsigmask(&attr, &set);
	is("without the flag nothing is set", WEXITSTATUS(run("signals", "", NULL, &attr)), 1 | 4);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	is("SETSIGMASK", WEXITSTATUS(run("signals", "", NULL, &attr)), 2 | 4);
	sigaddset(&set, SIGUSR1);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	is("SETSIGDEF", WEXITSTATUS(run("signals", "", NULL, &attr)), 1);
	sigemptyset(&set);
	posix_spawnattr_getsigdefault(&attr, &set);
	ok("getsigdefault", sigismember(&set, SIGUSR1) && sigismember(&set, SIGUSR2));
	posix_spawnattr_getsigmask(&attr, &set);
	ok("getsigmask", !sigismember(&set, SIGUSR1) && sigismember(&set, SIGUSR2));
	signal(SIGUSR1, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	posix_spawnattr_destroy(&attr);
}

static void scheduling(void)
{
	struct sched_param param = {.sched_priority = 7};
	posix_spawnattr_t attr;
	int policy = -1;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setschedpolicy(&attr, SCHED_RR);
	posix_spawnattr_setschedparam(&attr, &param);
	is("without the flag", WEXITSTATUS(run("policy", "", NULL, &attr)), SCHED_OTHER * 100);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDPARAM);
	is("SETSCHEDPARAM", WEXITSTATUS(run("policy", "", NULL, &attr)), SCHED_OTHER * 100 + 7);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDULER);
	is("SETSCHEDULER", WEXITSTATUS(run("policy", "", NULL, &attr)),
	   (SCHED_RR * 100 + 7) & 0xff);
	param.sched_priority = 1000;
	posix_spawnattr_setschedparam(&attr, &param);
	is("no such priority", run("policy", "", NULL, &attr), -EINVAL);
	posix_spawnattr_setschedpolicy(&attr, 77);
	is("no such policy", run("policy", "", NULL, &attr), -EINVAL);
	posix_spawnattr_getschedpolicy(&attr, &policy);
	posix_spawnattr_getschedparam(&attr, &param);
	ok("what was set", policy == 77 && param.sched_priority == 1000);
	is("the caller's stays", sched_getscheduler(0), SCHED_OTHER);
	posix_spawnattr_destroy(&attr);
}

static void search(void)
{
	char *argv[] = {"libc_spawn", "status", "5", NULL};
	pid_t pid = 0;

	is("posix_spawnp",
	   WEXITSTATUS(finish(posix_spawnp(&pid, "libc_spawn", NULL, NULL, argv, environ), &pid)),
	   5);
	is("posix_spawnp of nothing", posix_spawnp(&pid, "no-such", NULL, NULL, argv, environ),
	   ENOENT);
	is("posix_spawnp of the empty name", posix_spawnp(&pid, "", NULL, NULL, argv, environ),
	   ENOENT);
	setenv("WEFT_SPAWN", "1", 1);
	char *asks[] = {"libc_spawn", "environment", "WEFT_SPAWN", NULL};
	is("posix_spawn without an environment: the caller's",
	   finish(posix_spawn(&pid, SELF, NULL, NULL, asks, NULL), &pid), 0);
	is("posix_spawn of nothing", posix_spawn(&pid, "/no", NULL, NULL, argv, environ), ENOENT);
	is("posix_spawn of a directory", posix_spawn(&pid, "/bin", NULL, NULL, argv, environ),
	   EACCES);
}

static volatile int interrupts;

static void on_interrupt(int sig)
{
	interrupts++;
}

/* 4 MiB more than before, which the program gives back. */
static void usage(void)
{
	const size_t more = 4 << 20;
	struct rusage before, after, children;
	int status = -1;

	getrusage(RUSAGE_SELF, &before);
	ok("ru_maxrss: some memory", before.ru_maxrss > 10 && before.ru_maxrss < 1 << 20);
	char *p = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	memset(p, 1, more);
	munmap(p, more);
	getrusage(RUSAGE_SELF, &after);
	ok("ru_maxrss: it was more once", after.ru_maxrss >= before.ru_maxrss + 4000);
	pid_t pid = fork();
	if (pid == 0) {
		p = mmap(NULL, 2 * more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
		memset(p, 1, 2 * more);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	getrusage(RUSAGE_CHILDREN, &children);
	ok("ru_maxrss: of children, the largest's",
	   status == 0 && children.ru_maxrss >= before.ru_maxrss + 8000 &&
		   children.ru_maxrss < before.ru_maxrss + 12000);
	signal(SIGUSR1, on_interrupt);
	raise(SIGUSR1);
	raise(SIGUSR1);
	getrusage(RUSAGE_SELF, &after);
	is("ru_nsignals", after.ru_nsignals - before.ru_nsignals, 2);
	signal(SIGUSR1, SIG_DFL);
}

static void commands(void)
{
	struct sigaction act = {.sa_handler = on_interrupt};
	char interrupt[40];
	sigset_t mask;
	pid_t pid;
	int status;

	is("system", system("exit 6"), 6 << 8);
	is("system(NULL)", system(NULL), 1);
	pid = start("sleep");
	is("system beside another child", system("exit 3"), 3 << 8);
	is("... for whom it does not wait", waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	sigaction(SIGINT, &act, NULL);
	snprintf(interrupt, sizeof(interrupt), "kill -INT %d && exit 4", getpid());
	is("SIGINT meanwhile", system(interrupt), 4 << 8);
	is("is ignored", interrupts, 0);
	is("but not by the command", system("kill -INT $$"), SIGINT);
	sigaction(SIGINT, NULL, &act);
	ok("and is then as it was", act.sa_handler == on_interrupt);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	is("as is the mask", mask, 0);
}

static void waiting(void)
{
	struct rusage ru;
	int status = -1;
	pid_t pid, other;

	pid = start("sleep");
	ok("a child", pid > 0);
	is("WNOHANG while it runs", waitpid(pid, &status, WNOHANG), 0);
	is("kill 0", kill(pid, 0), 0);
	is("kill", kill(pid, SIGKILL), 0);
	is("wait", wait(&status), pid);
	ok("its status", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	errno = 0;
	ok("no more children", wait(&status) < 0 && errno == ECHILD);
	ok("kill of nobody", kill(pid, SIGKILL) < 0 && errno == ESRCH);
	ok("kill with a bad signal", kill(getpid(), 1000) < 0 && errno == EINVAL);
	ok("waitpid with bad options", waitpid(-1, &status, 1 << 20) < 0 && errno == EINVAL);

	pid = start("burn");
	is("wait4", wait4(pid, &status, 0, &ru), pid);
	ok("its user time", ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec > 1000);
	is("getrusage of children", getrusage(RUSAGE_CHILDREN, &ru), 0);
	is("they had no handlers called, and waited for no disk",
	   ru.ru_nsignals + ru.ru_majflt + ru.ru_nswap + ru.ru_inblock + ru.ru_oublock +
		   ru.ru_msgsnd + ru.ru_msgrcv + ru.ru_ixrss + ru.ru_idrss + ru.ru_isrss,
	   0);
	ok("their user time", ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec > 1000);

	pid = start("sleep");
	other = start("sleep");
	kill(other, SIGTERM);
	is("waitpid for one of two", waitpid(other, &status, 0), other);
	kill(pid, SIGTERM);
	is("and for the other", waitpid(pid, &status, 0), pid);
}

/* What waitid tells of a child. */
static int told(const siginfo_t *info, pid_t pid, int code, int status)
{
	return info->si_signo == SIGCHLD && info->si_code == code && info->si_pid == pid &&
	       info->si_status == status && info->si_uid == getuid();
}

static void waiting_by_id(void)
{
	posix_spawnattr_t attr;
	siginfo_t info;
	pid_t pid = start("sleep"), led;
	int status;

	info.si_signo = info.si_pid = 77;
	is("waitid: WNOHANG", waitid(P_PID, pid, &info, WEXITED | WNOHANG), 0);
	ok("waitid: nothing yet", info.si_signo == 0 && info.si_pid == 0);
	kill(pid, SIGSTOP);
	is("waitid: WSTOPPED, WNOWAIT", waitid(P_ALL, 0, &info, WSTOPPED | WNOWAIT), 0);
	ok("waitid: stopped", told(&info, pid, CLD_STOPPED, SIGSTOP));
	is("waitid: WSTOPPED", waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG), 0);
	ok("waitid: that was left", told(&info, pid, CLD_STOPPED, SIGSTOP));
	is("waitid: and is no more", waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG), 0);
	is("waitid: nothing", info.si_pid, 0);
	kill(pid, SIGCONT);
	is("waitid: WCONTINUED", waitid(P_PGID, getpgrp(), &info, WCONTINUED), 0);
	ok("waitid: continued", told(&info, pid, CLD_CONTINUED, SIGCONT));
	kill(pid, SIGTERM);
	is("waitid: WNOWAIT", waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	ok("waitid: killed", told(&info, pid, CLD_KILLED, SIGTERM));
	is("waitid: not asked for exits", waitid(P_PID, pid, &info, WSTOPPED | WNOHANG), 0);
	is("waitid: tells none", info.si_pid, 0);
	is("waitpid: it is still there", waitpid(pid, &status, WNOHANG), pid);
	fails("waitid: not for long", waitid(P_PID, pid, &info, WEXITED), ECHILD);

	pid = start("status");
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	posix_spawn(&led, SELF, NULL, &attr, (char *[]){"libc_spawn", "status", "7", NULL},
		    environ);
	is("waitid: P_PGID", waitid(P_PGID, led, &info, WEXITED), 0);
	ok("waitid: exited", told(&info, led, CLD_EXITED, 7));
	is("waitid: the other", waitid(P_ALL, 0, &info, WEXITED), 0);
	ok("waitid: exited, too", told(&info, pid, CLD_EXITED, 0));
	fails("waitid: no child", waitid(P_ALL, 0, &info, WEXITED), ECHILD);
	fails("waitid: for nothing", waitid(P_ALL, 0, &info, WNOHANG), EINVAL);
	fails("waitid: unknown options", waitid(P_ALL, 0, &info, WEXITED | 1 << 20), EINVAL);
	fails("waitid: an id of something else", waitid(P_CID, 1, &info, WEXITED), EINVAL);
	fails("waitid: no pid", waitid(P_PID, 0, &info, WEXITED), EINVAL);
	fails("waitid: nor that", waitid(P_PID, -1, &info, WEXITED), EINVAL);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return child(argc, argv);
	statuses();
	file_actions();
	descriptors();
	attributes();
	signals();
	scheduling();
	search();
	commands();
	waiting();
	usage();
	waiting_by_id();
	return tap_done();
}
