/*
 * init.c - the first process.  It runs one command, and adopts and reaps the orphans of all
 * other processes.  When the command ends, it halts the machine with the command's status.
 *
 * The host tool describes the command in /etc/weft-run.  The file consists of strings, each with
 * its NUL: NAME=VALUE for the environment, then an empty string; the number of words of the
 * command, then these; the files that the host wants when the command has ended, then an empty
 * string.
 *
 * NULs fill the file up to a whole number of blocks, so that the list of files does not change what
 * init does before.  Without /etc/weft-run the command is an interactive shell.
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
#include "../usage.h"

#define RUN_FILE "/etc/weft-run"
#define HAND "/bin/handover"
#define STDIN_FILE "/etc/weft-stdin" /* if it exists: the command's input, not the console */

/* Tells the host tool that the console is set up, so input may be sent. */
#define READY "\033]weft;ready\a"

static void halt(int status) __attribute__((noreturn));
static void halt(int status)
{
	fflush(NULL);
	__sys_reboot(WEFT_REBOOT_HALT, status);
	_exit(status); /* not reached: halting does not fail */
}

/* Returns the whole file with a NUL behind it, or NULL: no such file.  *size: its bytes. */
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

/* Returns the strings from p on, n at most, with NULL at their end; *next: the byte behind them. */
static char **words(char *p, char *end, size_t n, char **next)
{
	char **word = calloc(n + 1, sizeof(*word));

	if (!word) {
		warn(RUN_FILE);
		halt(1);
	}
	for (size_t i = 0; i < n && p < end; i++, p += strlen(p) + 1)
		word[i] = p;
	*next = p;
	return word;
}

/* Sets the environment from the run file.  Returns the command, with NULL at its end.  *wanted: the
 * list of files that the host wants. */
static char **parse_run_file(char *p, size_t size, char **wanted)
{
	char *end = p + size;
	size_t argc;

	for (; p < end && *p; p += strlen(p) + 1)
		putenv(p);
	p += p < end;
	argc = strtoul(p, NULL, 10);
	p += strlen(p) + 1;
	return words(p, end, argc, wanted);
}

/* After the command has ended, hands the files over, if the host wants any.  Returns only if that
 * fails; HAND has then printed why. */
static void hand_over(char *wanted, char *end, int status)
{
	char code[12], **argv, *p = wanted;
	size_t n = 0;
	pid_t pid;

	for (; p < end && *p; p += strlen(p) + 1)
		n++;
	if (n == 0)
		return;
	argv = words(wanted, end, n, &p);
	argv = realloc(argv, (n + 3) * sizeof(*argv));
	if (!argv)
		return;
	memmove(argv + 2, argv, (n + 1) * sizeof(*argv));
	snprintf(code, sizeof(code), "%d", status);
	argv[0] = HAND;
	argv[1] = code;
	if (posix_spawn(&pid, HAND, NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
}

/*
 * If a person is at the console, it echoes what is typed.  The environment has the size of the
 * window; the host reports changes to the console (kernel/dev/telnet.h).  If the console is a pipe,
 * it carries only the output, and writers wait while the host does not read; there is no TERM.
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
	if (!kind || strcmp(kind, "pipe"))
		setenv("TERM", "vt100", 0);
	unsetenv("WEFT_CONSOLE");
	if (rows && columns)
		ioctl(STDIN_FILENO, TIOCSWINSZ,
		      &(struct winsize){.ws_row = atoi(rows), .ws_col = atoi(columns)});
	write(STDOUT_FILENO, READY, sizeof(READY) - 1);
}

/* Starts argv in a group of its own, which has the console.  Returns an error number, or 0. */
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
	char **run = shell, *file, *wanted = NULL;
	pid_t command, pid;
	int status, error;
	size_t size = 0;

	usage_asked(argv, usage);
	if (getpid() != 1)
		return usage_wrong(usage);
	setenv("PATH", "/host:/bin", 1);
	setenv("HOME", "/", 1);
	file = read_file(RUN_FILE, &size);
	if (file)
		run = parse_run_file(file, size, &wanted);
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
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (wanted)
		hand_over(wanted, file + size, status);
	halt(status);
}
