/*
 * ptime.c - ptime CMD ARG...: runs a command, then prints on standard error how long
 * it took (real) and the CPU time that its LWPs had in user mode and in the
 * kernel, all CPUs together, in the format of Solaris: [[h:]mm:]ss.mmm.
 *
 * Exits as the command does; 128 + signal if one killed it.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>

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

int main(int argc, char **argv)
{
	struct weft_rusage ru;
	hrtime_t start;
	int status, error;
	long r;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: ptime CMD ARG...\n", stderr);
		return 2;
	}
	start = gethrtime();
	error = posix_spawnp(&pid, argv[1], NULL, NULL, argv + 1, environ);
	if (error) {
		errno = error;
		err(error == ENOENT ? 127 : 126, "%s", argv[1]);
	}
	r = __sys_waitpid(pid, &status, 0, &ru);
	if (r < 0) {
		errno = -r;
		err(1, "waitpid");
	}
	start = gethrtime() - start;
	fputc('\n', stderr);
	print("real", start);
	print("user", ru.utime);
	print("sys", ru.stime);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
