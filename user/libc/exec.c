/*
 * exec.c - the exec family over execve.  libthread has fork, because it knows what a child's only
 * thread needs.
 */
#define _GNU_SOURCE /* execvpe */
#include <alloca.h>
#include <stdarg.h>
#include <unistd.h>
#include <weft/proc.h>
#include "libc.h"

int execve(const char *path, char *const argv[], char *const envp[])
{
	return result(__sys_execve(path, argv, envp));
}

int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

/* A file that is not executable code is a shell script (POSIX, exec). */
static int exec_or_script(const char *path, char *const argv[], char *const envp[])
{
	int n = 0;

	execve(path, argv, envp);
	if (errno != ENOEXEC)
		return -1;
	while (argv[n])
		n++;
	char **args = alloca((n + 2) * sizeof(*args));
	args[0] = "sh";
	args[1] = (char *)path;
	for (int i = 1; i <= n; i++) /* includes the NULL at the end */
		args[i + 1] = argv[i];
	if (n == 0)
		args[2] = NULL;
	execve("/bin/sh", args, envp);
	return -1;
}

/* Looks for `file` in the directories of PATH, if it has no slash. */
int execvpe(const char *file, char *const argv[], char *const envp[])
{
	char found[WEFT_PATH_MAX];
	const char *path = __program_path(file, found);

	return path ? exec_or_script(path, argv, envp) : -1;
}

int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* The arguments of an execl call, up to its NULL, on the caller's stack. */
#define GATHER(argv, first, ap)                                                                    \
	do {                                                                                       \
		va_list again;                                                                     \
		int n = 1;                                                                         \
		va_copy(again, ap);                                                                \
		while (va_arg(again, char *))                                                      \
			n++;                                                                       \
		va_end(again);                                                                     \
		argv = alloca((n + 1) * sizeof(*argv));                                            \
		argv[0] = (char *)(first);                                                         \
		for (int i = 1; i <= n; i++)                                                       \
			argv[i] = va_arg(ap, char *);                                              \
	} while (0)

int execl(const char *path, const char *arg, ...)
{
	va_list ap;
	char **argv;

	va_start(ap, arg);
	GATHER(argv, arg, ap);
	va_end(ap);
	return execv(path, argv);
}

int execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	char **argv;

	va_start(ap, arg);
	GATHER(argv, arg, ap);
	va_end(ap);
	return execvp(file, argv);
}

int execle(const char *path, const char *arg, ...)
{
	va_list ap;
	char **argv;

	va_start(ap, arg);
	GATHER(argv, arg, ap);
	char **envp = va_arg(ap, char **);
	va_end(ap);
	return execve(path, argv, envp);
}
