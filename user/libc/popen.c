/*
 * popen.c - streams: from and to a command, and lines of any length.
 *
 * Each command that popen started is in a list, guarded by a mutex, until pclose waits for it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "libc.h"

static struct command {
	struct command *next;
	FILE *f;
	pid_t pid;
} * commands;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Starts sh -c command, with `end` as its descriptor `fd`.  Returns an error number, or 0. */
static int popen_start(const char *command, int end, int fd, pid_t *pid)
{
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	posix_spawn_file_actions_t fa;
	int error = posix_spawn_file_actions_init(&fa);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&fa, end, fd);
	if (!error)
		error = posix_spawn(pid, "/bin/sh", &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return error;
}

/* "r": the stream reads the command's output; "w": the stream writes the command's input.  An "e"
 * at the end is accepted: other programs never inherit the descriptor.  EINVAL, EMFILE, ENOMEM,
 * errors of posix_spawn. */
FILE *popen(const char *command, const char *mode)
{
	int reads = *mode == 'r', error = 0, end[2];
	struct command *c;

	if ((*mode != 'r' && *mode != 'w') || (mode[1] && strcmp(mode + 1, "e"))) {
		errno = EINVAL;
		return NULL;
	}
	c = malloc(sizeof(*c));
	if (!c)
		return NULL;
	if (result(__sys_pipe(end, O_CLOEXEC)) < 0) {
		free(c);
		return NULL;
	}
	c->f = fdopen(end[!reads], mode);
	if (!c->f)
		error = errno;
	else
		error = popen_start(command, end[reads], reads, &c->pid);
	__sys_close(end[reads]);
	if (error) {
		if (c->f)
			fclose(c->f);
		else
			__sys_close(end[!reads]);
		free(c);
		errno = error;
		return NULL;
	}
	pthread_mutex_lock(&lock);
	c->next = commands;
	commands = c;
	pthread_mutex_unlock(&lock);
	return c->f;
}

/* Waits for the command.  Returns its status as waitpid gives it, or -1: not a stream of
 * popen's. */
int pclose(FILE *f)
{
	struct command **at, *c;
	int status;
	long r;

	pthread_mutex_lock(&lock);
	for (at = &commands; *at && (*at)->f != f; at = &(*at)->next)
		;
	c = *at;
	if (c)
		*at = c->next;
	pthread_mutex_unlock(&lock);
	if (!c)
		return fails(EINVAL);
	fclose(f);
	do
		r = __sys_waitpid(c->pid, &status, 0, NULL);
	while (r == -EINTR);
	free(c);
	return result(r) < 0 ? -1 : status;
}

extern ssize_t __getdelim(char **line, size_t *size, int delimiter, FILE *f);

ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *f)
{
	return __getdelim(line, size, delimiter, f);
}

ssize_t getline(char **line, size_t *size, FILE *f)
{
	return __getdelim(line, size, '\n', f);
}
