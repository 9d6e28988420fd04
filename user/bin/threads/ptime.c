/*
 * ptime.c - ptime [-m] CMD ARG...: runs a command, then prints on standard error its elapsed
 * time (real) and the CPU time of its LWPs in user mode and in the kernel, all CPUs together.
 *
 * The format is that of Solaris: [[h:]mm:]ss.mmm.  -m: all microstates, of all its LWPs together.
 *
 * Exits as the command does; 128 + signal if one killed it.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/msacct.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../usage.h"

static void print(const char *what, uint64_t ns)
{
	uint64_t ms = ns / 1000000, s = ms / 1000, m = s / 60;

	fprintf(stderr, "%-14s", what);
	if (m >= 60)
		fprintf(stderr, "%" PRIu64 ":%02u:%02u", m / 60, (unsigned)(m % 60),
			(unsigned)(s % 60));
	else if (m > 0)
		fprintf(stderr, "%" PRIu64 ":%02u", m, (unsigned)(s % 60));
	else
		fprintf(stderr, "%" PRIu64, s);
	fprintf(stderr, ".%03u\n", (unsigned)(ms % 1000));
}

static void nothing(int sig)
{
}

/* Waits until the child has exited, and does not reap it: a zombie still has its times. */
static void wait_for_end(pid_t pid)
{
	struct weft_procinfo info;
	sigset_t chld;
	int sig;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	/* Blocked only here, so that the command does not inherit the blocked signal. */
	sigprocmask(SIG_BLOCK, &chld, NULL);
	while (__sys_procinfo(pid, &info) == pid && info.state != LWP_ST_ZOMB)
		sigwait(&chld, &sig);
}

static void print_microstates(const struct weft_msacct *a)
{
	static const char *const name[NMSTATE] = {
		[MS_USER] = "user",    [MS_SYSTEM] = "sys",  [MS_TRAP] = "trap",
		[MS_TFAULT] = "tflt",  [MS_DFAULT] = "dflt", [MS_KFAULT] = "kflt",
		[MS_LOCK] = "lock",    [MS_SLEEP] = "slp",   [MS_WAITCPU] = "lat",
		[MS_STOPPED] = "stop",
	};

	for (int i = 0; i < NMSTATE; i++)
		print(name[i], a->ms[i]);
}

static const char usage[] = "usage: ptime [-m] CMD ARG...\n";

int main(int argc, char **argv)
{
	struct sigaction chld = {.sa_handler = nothing};
	struct weft_rusage ru;
	struct weft_msacct acct;
	bool microstates = argc > 1 && strcmp(argv[1], "-m") == 0;
	char **command = argv + 1 + microstates;
	hrtime_t start;
	int status, error;
	long r;
	pid_t pid;

	usage_asked(argv, usage);
	if (*command == NULL || **command == '-')
		return usage_wrong(usage);
	if (microstates)
		sigaction(SIGCHLD, &chld, NULL);
	start = gethrtime();
	error = posix_spawnp(&pid, *command, NULL, NULL, command, environ);
	if (error) {
		errno = error;
		err(error == ENOENT ? 127 : 126, "%s", *command);
	}
	if (microstates) {
		wait_for_end(pid);
		microstates = __sys_msacct(pid, 0, &acct) == 0;
	}
	r = __sys_waitpid(pid, &status, 0, &ru);
	if (r < 0) {
		errno = -r;
		err(1, "waitpid");
	}
	start = gethrtime() - start;
	fputc('\n', stderr);
	print("real", start);
	if (microstates) {
		print_microstates(&acct);
	} else {
		print("user", ru.utime);
		print("sys", ru.stime);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
