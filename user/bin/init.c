/*
 * init.c - the first process.  It runs one command, adopts and reaps the orphans of all
 * others, and halts the machine with the command's status when it ends.
 *
 * The host tool says what to run in /etc/weft-run: strings, each with its NUL:
 * NAME=VALUE for the environment, an empty one, then the command and its arguments.
 * Without that file it is an interactive shell.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "usage.h"

#define RUN_FILE "/etc/weft-run"
#define STDIN_FILE "/etc/weft-stdin" /* if it is there: the command's input, not the console */

/* Tells the host tool that the console is set up: input may come. */
#define READY "\033]weft;ready\a"

static void halt(int status) __attribute__((noreturn));
static void halt(int status)
{
	fflush(NULL);
	__sys_reboot(WEFT_REBOOT_HALT, status);
	_exit(status); /* never: halting does not fail */
}

/* The whole file with a NUL behind it, or NULL if there is none; *size gets its bytes. */
static char *read_file(const char *path, size_t *size)
{
	char *buf = NULL, *grown;
	size_t have = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return NULL;
	for (;;) {
		grown = realloc(buf, have + 4096 + 1);
		if (!grown)
			goto fail;
		buf = grown;
		n = read(fd, buf + have, 4096);
		if (n < 0)
			goto fail;
		if (n == 0)
			break;
		have += n;
	}
	close(fd);
	buf[have] = '\0';
	*size = have;
	return buf;
fail:
	warn("%s", path);
	halt(1);
}

/* Sets the environment as the run file says; returns the command, NULL at its end. */
static char **parse_run_file(char *p, size_t size)
{
	char *end = p + size, **argv;
	size_t argc = 0;

	for (; p < end && *p; p += strlen(p) + 1)
		putenv(p);
	argv = calloc(end - p + 1, sizeof(*argv)); /* no more words than bytes */
	if (!argv) {
		warn(RUN_FILE);
		halt(1);
	}
	for (p++; p < end; p += strlen(p) + 1)
		argv[argc++] = p;
	return argv;
}

/*
 * With a person at the console it echoes what is typed; a pipe wants the output alone, and
 * is made to wait when nobody reads.  The size of its window stands in the environment; when
 * that changes, the host tells the console (kernel/dev/telnet.h).
 */
static void set_up_console(void)
{
	const char *kind = getenv("WEFT_CONSOLE"), *rows = getenv("LINES"),
		   *columns = getenv("COLUMNS");
	struct termios t;

	if (kind && !strcmp(kind, "pipe") && tcgetattr(STDIN_FILENO, &t) == 0) {
		t.c_lflag &= ~ECHO;
		t.c_cflag |= CRTSCTS;
		tcsetattr(STDIN_FILENO, TCSANOW, &t);
	}
	unsetenv("WEFT_CONSOLE");
	if (rows && columns)
		ioctl(STDIN_FILENO, TIOCSWINSZ,
		      &(struct winsize){.ws_row = atoi(rows), .ws_col = atoi(columns)});
	write(STDOUT_FILENO, READY, sizeof(READY) - 1);
}

/* In a group of its own, which has the console.  An error number, or 0. */
static int start(pid_t *pid, char **argv)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	int error = posix_spawn_file_actions_init(&fa);

	if (error)
		return error;
	error = posix_spawnattr_init(&attr);
	if (!error) {
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
		error = posix_spawn_file_actions_addtcsetpgrp_np(&fa, STDIN_FILENO);
		if (!error && access(STDIN_FILE, R_OK) == 0)
			error = posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, STDIN_FILE,
								 O_RDONLY, 0);
		if (!error)
			error = posix_spawnp(pid, argv[0], &fa, &attr, argv, environ);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&fa);
	return error;
}

static const char usage[] = "usage: init is the first process, which the kernel starts\n";

int main(int argc, char **argv)
{
	static char *shell[] = {"sh", NULL};
	char **run = shell, *file;
	pid_t command, pid;
	int status, error;
	size_t size;

	usage_asked(argv, usage);
	if (getpid() != 1)
		return usage_wrong(usage);
	setenv("PATH", "/host:/bin", 1);
	setenv("HOME", "/", 1);
	file = read_file(RUN_FILE, &size);
	if (file)
		run = parse_run_file(file, size);
	set_up_console();
	if (!run[0]) {
		warnx(RUN_FILE ": names no command");
		halt(1);
	}
	error = start(&command, run);
	if (error) {
		errno = error;
		warn("%s", run[0]);
		halt(error == ENOENT ? 127 : 126);
	}
	do {
		pid = wait(&status);
		if (pid < 0 && errno != EINTR) {
			warn("wait");
			halt(1);
		}
	} while (pid != command);
	halt(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}
