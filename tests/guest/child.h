/*
 * child.h - children of fork that are a function.
 */
#pragma once
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

/* Ends with what the function returns. */
__attribute__((unused)) static pid_t child(int (*fn)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		bail("fork: %d", errno);
	if (pid == 0)
		_exit(fn());
	return pid;
}

/* Waits for it.  Of one that a signal has ended, 128 and that. */
__attribute__((unused)) static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		bail("waitpid: %d", errno);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
