/*
 * repeat.c - runs a program many times and stops at the first failure.
 *
 *	repeat N PROGRAM [ARGUMENT...]
 *
 * The way to run a racing test hundreds of times without booting each time.  Output
 * of the program is kept in a file and shown only for the run that fails; a line a hundred
 * runs tells how far it is.  Exit status: 0, or that of the failed run (128 + signal).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/errno.h>
#include <weft/proc.h>
#include <weft/sys.h>

extern char **environ;

static int run(char **argv, int out)
{
	char path[WEFT_PATH_MAX];
	int status;

	snprintf(path, sizeof(path), strchr(argv[0], '/') ? "%s" : "/bin/%s", argv[0]);
	struct spawn_action act = {.what = SPAWN_DUP2, .fd = 1, .from = out};
	struct spawn_args a = {.path = (uint64_t)path,
			       .argv = (uint64_t)argv,
			       .envp = (uint64_t)environ,
			       .actions = (uint64_t)&act,
			       .nactions = 1};
	long pid = __sys_spawn(&a);
	if (pid < 0) {
		fprintf(stderr, "repeat: %s: %s\n", argv[0], strerror(-pid));
		exit(127);
	}
	__sys_waitpid(pid, &status, 0, NULL);
	return (status & 0x7f) ? 128 + (status & 0x7f) : status >> 8;
}

static void show(int fd)
{
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		write(STDOUT_FILENO, buf, n);
}

int main(int argc, char **argv)
{
	char output[] = "/tmp/repeat.XXXXXX";

	if (argc < 3) {
		fprintf(stderr, "usage: repeat N PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	int n = atoi(argv[1]);
	int out = mkstemp(output);
	if (out < 0) {
		perror("repeat: /tmp");
		return 2;
	}
	unlink(output);
	for (int i = 1; i <= n; i++) {
		ftruncate(out, 0);
		lseek(out, 0, SEEK_SET);
		int status = run(argv + 2, out);
		if (status != 0) {
			printf("repeat: run %d of %s failed with status %d:\n", i, argv[2], status);
			fflush(stdout);
			show(out);
			return status;
		}
		if (i % 100 == 0) {
			printf("repeat: %d runs of %s\n", i, argv[2]);
			fflush(stdout);
		}
	}
	return 0;
}
