/*
 * libc_spawn.c - posix_spawn with its file actions and attributes, waiting, statuses,
 * signals that end a process, and what is not there.  Started with an argument it
 * is its own child, whose status tells.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "tap.h"

#define SELF "/bin/libc_spawn"

static int child(int argc, char **argv)
{
	char path[100];
	char c;

	if (!strcmp(argv[1], "status"))
		return atoi(argv[2]);
	if (!strcmp(argv[1], "abort"))
		abort();
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

static int run(const char *what, const char *arg, const posix_spawn_file_actions_t *fa,
	       const posix_spawnattr_t *attr)
{
	char *argv[] = {"libc_spawn", (char *)what, (char *)arg, "alone", NULL};
	pid_t pid = 0;

	errno = 0;
	return finish(posix_spawn(&pid, SELF, fa, attr, argv, environ), &pid);
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
	s = plain("raise", "15");
	ok("raise(SIGTERM)", WIFSIGNALED(s) && WTERMSIG(s) == SIGTERM);
	s = plain("fault", "");
	ok("a fault", WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV);
}

static void file_actions(void)
{
	posix_spawn_file_actions_t fa;
	int fd = open(SELF, O_RDONLY), null = open("/dev/null", O_RDWR);

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
	posix_spawn_file_actions_adddup2(&fa, null, 7);
	is("dup2 to a high descriptor", run("fds", "", &fa, NULL), -ENOTSUP);
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

static void attributes(void)
{
	posix_spawnattr_t attr;

	posix_spawnattr_init(&attr);
	is("the caller's group", run("group", "", NULL, &attr), 0);
	is("setflags", posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP), 0);
	is("a group of its own", WEXITSTATUS(run("group", "", NULL, &attr)), 1);
	is("another group", posix_spawnattr_setpgroup(&attr, 1), ENOTSUP);
	is("a flag that is not there", posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK),
	   ENOTSUP);
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
	is("posix_spawn of nothing", posix_spawn(&pid, "/no", NULL, NULL, argv, environ), ENOENT);
	is("posix_spawn of a directory", posix_spawn(&pid, "/bin", NULL, NULL, argv, environ),
	   EACCES);
	is("system", system("exit 6"), 6 << 8);
	is("system(NULL)", system(NULL), 1);
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
	ok("their user time", ru.ru_utime.tv_sec * 1000000 + ru.ru_utime.tv_usec > 1000);

	pid = start("sleep");
	other = start("sleep");
	kill(other, SIGTERM);
	is("waitpid for one of two", waitpid(other, &status, 0), other);
	kill(pid, SIGTERM);
	is("and for the other", waitpid(pid, &status, 0), pid);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return child(argc, argv);
	statuses();
	file_actions();
	attributes();
	search();
	waiting();
	return tap_done();
}
