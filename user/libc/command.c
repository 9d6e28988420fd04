/*
 * command.c - system (POSIX).
 *
 * While commands run, the process ignores SIGINT and SIGQUIT, because the terminal sends them to
 * the command, too.  Calls may overlap: the first one saves and sets the actions, the last one
 * restores them.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "libc.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* no lock is acquired under it */
static unsigned commands;                                /* number of running commands */
static struct sigaction interrupt, quit;                 /* the actions before the first command */

struct command {
	sigset_t mask; /* the caller's */
	pid_t pid;     /* 0: there is no process to wait for */
};

static void command_begin(struct command *c)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t chld;

	*c = (struct command){.pid = 0};
	pthread_mutex_lock(&lock);
	if (commands++ == 0) {
		sigaction(SIGINT, &ignore, &interrupt);
		sigaction(SIGQUIT, &ignore, &quit);
	}
	pthread_mutex_unlock(&lock);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &c->mask);
}

/* Also runs if the caller is cancelled: then it kills the command and reaps it. */
static void command_end(void *arg)
{
	struct command *c = arg;

	if (c->pid != 0) {
		kill(c->pid, SIGKILL);
		while (__sys_waitpid(c->pid, NULL, 0, NULL) == -EINTR)
			;
	}
	pthread_mutex_lock(&lock);
	if (--commands == 0) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
	}
	pthread_mutex_unlock(&lock);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
}

/* Starts the command with the caller's mask and actions of signals.  Returns an error number, or
 * 0. */
static int command_start(struct command *c, const char *command)
{
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	posix_spawnattr_t attr;
	sigset_t as_ever;
	int error;

	sigemptyset(&as_ever);
	if (interrupt.sa_handler != SIG_IGN)
		sigaddset(&as_ever, SIGINT);
	if (quit.sa_handler != SIG_IGN)
		sigaddset(&as_ever, SIGQUIT);
	error = posix_spawnattr_init(&attr);
	if (error)
		return error;
	posix_spawnattr_setsigdefault(&attr, &as_ever);
	posix_spawnattr_setsigmask(&attr, &c->mask);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(&c->pid, "/bin/sh", NULL, &attr, argv, environ);
	if (error)
		c->pid = 0;
	posix_spawnattr_destroy(&attr);
	return error;
}

/*
 * Runs sh -c command, and waits for it.  Returns its status as waitpid gives it; if the shell
 * cannot be run, that of exit(127).  NULL: returns 1, because there is a shell.  Blocks.  A
 * cancellation point: a cancelled caller kills the command.
 *
 * -1: EAGAIN, ENOMEM: the process cannot be created; ECHILD: the caller's children leave no status.
 */
int system(const char *command)
{
	int status = -1, error;
	struct command c;
	pid_t pid;

	if (!command)
		return 1;
	command_begin(&c);
	pthread_cleanup_push(command_end, &c);
	error = command_start(&c, command);
	if (error == 0) {
		do
			pid = waitpid(c.pid, &status, 0);
		while (pid < 0 && errno == EINTR);
		c.pid = 0;
	}
	pthread_cleanup_pop(1);
	if (error == 0)
		return status;
	if (error != EAGAIN && error != ENOMEM)
		return 127 << 8;
	return fails(error);
}
