/*
 * spawn.c - posix_spawn and system over the kernel's spawn.
 *
 * The kernel starts a program with three descriptors of the caller as its 0, 1 and
 * 2.  So the file actions are not carried out in the child: this file works out,
 * action by action, which descriptor of the caller each of the three would end up
 * as, and opens files in the caller for as long as the spawn takes.  An action that
 * cannot be expressed so (a descriptor above 2 in the child) fails with ENOTSUP.
 */
#define _GNU_SOURCE /* strchrnul */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/proc.h>
#include "libc.h"

struct action {
	enum { ACT_OPEN, ACT_DUP2, ACT_CLOSE, ACT_FOREGROUND, ACT_CHDIR } what;
	int fd;      /* in the child */
	int from;    /* ACT_DUP2 */
	int flags;   /* ACT_OPEN */
	mode_t mode; /* ACT_OPEN */
	char *path;  /* ACT_OPEN, ACT_CHDIR: ours */
};

struct __posix_spawn_file_actions {
	unsigned n;
	struct action *action;
};

struct __posix_spawnattr {
	short flags;
	pid_t pgroup;
};

/* --- building the arguments: all return 0 or an error number ----------------- */

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *fa)
{
	*fa = calloc(1, sizeof(**fa));
	return *fa ? 0 : ENOMEM;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *fa)
{
	unsigned i;

	for (i = 0; i < (*fa)->n; i++)
		free((*fa)->action[i].path);
	free((*fa)->action);
	free(*fa);
	return 0;
}

static int add(posix_spawn_file_actions_t *fa, struct action a, const char *path)
{
	struct action *grown;

	if (a.fd < 0 || a.from < 0)
		return EBADF;
	if (path && !(a.path = strdup(path)))
		return ENOMEM;
	grown = realloc((*fa)->action, ((*fa)->n + 1) * sizeof(a));
	if (!grown) {
		free(a.path);
		return ENOMEM;
	}
	(*fa)->action = grown;
	grown[(*fa)->n++] = a;
	return 0;
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *fa, int fd, const char *path,
				     int flags, mode_t mode)
{
	return add(fa, (struct action){.what = ACT_OPEN, .fd = fd, .flags = flags, .mode = mode},
		   path);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *fa, int from, int fd)
{
	return add(fa, (struct action){.what = ACT_DUP2, .fd = fd, .from = from}, NULL);
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *fa, int fd)
{
	return add(fa, (struct action){.what = ACT_CLOSE, .fd = fd}, NULL);
}

int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *fa, int fd)
{
	return add(fa, (struct action){.what = ACT_FOREGROUND, .fd = fd}, NULL);
}

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *fa, const char *path)
{
	return add(fa, (struct action){.what = ACT_CHDIR}, path);
}

int posix_spawnattr_init(posix_spawnattr_t *attr)
{
	*attr = calloc(1, sizeof(**attr));
	return *attr ? 0 : ENOMEM;
}

int posix_spawnattr_destroy(posix_spawnattr_t *attr)
{
	free(*attr);
	return 0;
}

int posix_spawnattr_setflags(posix_spawnattr_t *attr, short flags)
{
	if (flags & ~POSIX_SPAWN_SETPGROUP)
		return ENOTSUP;
	(*attr)->flags = flags;
	return 0;
}

int posix_spawnattr_getflags(const posix_spawnattr_t *attr, short *flags)
{
	*flags = (*attr)->flags;
	return 0;
}

/* Only 0, a group of the child's own. */
int posix_spawnattr_setpgroup(posix_spawnattr_t *attr, pid_t pgroup)
{
	if (pgroup)
		return ENOTSUP;
	(*attr)->pgroup = pgroup;
	return 0;
}

int posix_spawnattr_getpgroup(const posix_spawnattr_t *attr, pid_t *pgroup)
{
	*pgroup = (*attr)->pgroup;
	return 0;
}

/* --- spawning ------------------------------------------------------------------ */

/* What the caller opened for the child, to be closed again. */
struct opened {
	unsigned n;
	int *fd;
};

/*
 * Replays the actions upon the child's descriptors: args->fd[i] is the caller's
 * descriptor that the child would have as i, or -1.  An error number, or 0.
 */
static int replay(const posix_spawn_file_actions_t *fa, struct spawn_args *args,
		  struct opened *opened)
{
	const struct action *a;
	unsigned i;
	int from = -1;

	for (i = 0; fa && i < (*fa)->n; i++) {
		a = &(*fa)->action[i];
		switch (a->what) {
		case ACT_FOREGROUND:
			args->flags |= SPAWN_FOREGROUND;
			continue;
		case ACT_CHDIR:
			args->cwd = (uintptr_t)a->path;
			continue;
		case ACT_CLOSE:
			if (a->fd > 2)
				continue; /* a child never has it */
			from = -1;
			break;
		case ACT_DUP2:
			from = a->from > 2 ? a->from : args->fd[a->from];
			if (from < 0)
				return EBADF;
			break;
		case ACT_OPEN:
			from = result(__sys_open(a->path, a->flags, a->mode));
			if (from < 0)
				return errno;
			opened->fd[opened->n++] = from;
			break;
		}
		if (a->fd > 2)
			return ENOTSUP;
		args->fd[a->fd] = from;
	}
	return 0;
}

/* Runs `file`, in each directory of PATH if it has no slash and search is set. */
static long spawn_file(const char *file, struct spawn_args *args, int search)
{
	const char *dir = getenv("PATH"), *end;
	char path[WEFT_PATH_MAX];
	long r, found = -ENOENT;
	size_t len;

	args->path = (uintptr_t)file;
	if (!search || strchr(file, '/') || !*file || !dir)
		return __sys_spawn(args);
	args->path = (uintptr_t)path;
	for (;; dir = end + 1) {
		end = strchrnul(dir, ':');
		len = end - dir;
		if (len + 1 + strlen(file) < sizeof(path)) {
			memcpy(path, dir, len);
			if (len)
				path[len++] = '/';
			strcpy(path + len, file);
			r = __sys_spawn(args);
			if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
				return r;
			if (r == -EACCES)
				found = r; /* there is one, but not to be run */
		}
		if (!*end)
			return found;
	}
}

static int spawn(pid_t *pid, const char *file, const posix_spawn_file_actions_t *fa,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[], int search)
{
	struct spawn_args args = {
		.argv = (uintptr_t)argv, .envp = (uintptr_t)envp, .fd = {0, 1, 2}};
	struct opened opened = {0};
	long r;

	if (fa && (*fa)->n && !(opened.fd = malloc((*fa)->n * sizeof(int))))
		return ENOMEM;
	if (attr && ((*attr)->flags & POSIX_SPAWN_SETPGROUP))
		args.flags |= SPAWN_NEWGROUP;
	r = -replay(fa, &args, &opened);
	if (!r)
		r = spawn_file(file, &args, search);
	while (opened.n)
		__sys_close(opened.fd[--opened.n]);
	free(opened.fd);
	if (r < 0)
		return -r;
	if (pid)
		*pid = r;
	return 0;
}

/* Errors: those of the spawn system call, of open, EBADF, ENOTSUP, ENOMEM. */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *fa,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return spawn(pid, path, fa, attr, argv, envp, 0);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *fa,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return spawn(pid, file, fa, attr, argv, envp, 1);
}

int system(const char *command)
{
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	int status, error;
	pid_t pid;

	if (!command)
		return 1;
	error = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	if (error)
		return fails(error);
	return result(__sys_waitpid(pid, &status, 0, NULL)) < 0 ? -1 : status;
}
