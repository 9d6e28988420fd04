/*
 * spawn.c - posix_spawn over the kernel's spawn.  The kernel carries out the file actions
 * and sets the attributes; this file builds its arguments.
 */
#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/proc.h>
#include "libc.h"

struct __posix_spawn_file_actions {
	unsigned n;
	struct spawn_action *action; /* the paths in them belong to this file */
};

struct __posix_spawnattr {
	short flags;
	pid_t pgroup;
	sigset_t sigmask, sigdefault;
	int policy;
	struct sched_param param;
};

/* --- building the arguments: all return 0 or an error number ----------------- */

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *fa)
{
	*fa = calloc(1, sizeof(**fa));
	return *fa ? 0 : ENOMEM;
}

static void *spawn_action_path(const struct spawn_action *a)
{
	return (void *)(uintptr_t)a->path;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *fa)
{
	unsigned i;

	for (i = 0; i < (*fa)->n; i++)
		free(spawn_action_path(&(*fa)->action[i]));
	free((*fa)->action);
	free(*fa);
	return 0;
}

/* EBADF: no valid descriptor number. */
static int spawn_action_add(posix_spawn_file_actions_t *fa, struct spawn_action a, const char *path)
{
	struct spawn_action *grown;

	if (a.fd < 0 || a.fd >= WEFT_OPEN_MAX || a.from < 0 || a.from >= WEFT_OPEN_MAX)
		return EBADF;
	if (path && !(a.path = (uintptr_t)strdup(path)))
		return ENOMEM;
	grown = realloc((*fa)->action, ((*fa)->n + 1) * sizeof(a));
	if (!grown) {
		free(spawn_action_path(&a));
		return ENOMEM;
	}
	(*fa)->action = grown;
	grown[(*fa)->n++] = a;
	return 0;
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *fa, int fd, const char *path,
				     int flags, mode_t mode)
{
	return spawn_action_add(
		fa,
		(struct spawn_action){.what = SPAWN_OPEN, .fd = fd, .flags = flags, .mode = mode},
		path);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *fa, int from, int fd)
{
	return spawn_action_add(
		fa, (struct spawn_action){.what = SPAWN_DUP2, .fd = fd, .from = from}, NULL);
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *fa, int fd)
{
	return spawn_action_add(fa, (struct spawn_action){.what = SPAWN_CLOSE, .fd = fd}, NULL);
}

int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *fa, int fd)
{
	return spawn_action_add(fa, (struct spawn_action){.what = SPAWN_TCSETPGRP, .fd = fd}, NULL);
}

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *fa, const char *path)
{
	return spawn_action_add(fa, (struct spawn_action){.what = SPAWN_CHDIR}, path);
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

#define KNOWN_FLAGS                                                                                \
	(POSIX_SPAWN_RESETIDS | POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSCHEDPARAM |                \
	 POSIX_SPAWN_SETSCHEDULER | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)

/* POSIX_SPAWN_RESETIDS has no effect, because there is one user.  EINVAL: an unknown flag. */
int posix_spawnattr_setflags(posix_spawnattr_t *attr, short flags)
{
	if (flags & ~KNOWN_FLAGS)
		return EINVAL;
	(*attr)->flags = flags;
	return 0;
}

int posix_spawnattr_getflags(const posix_spawnattr_t *attr, short *flags)
{
	*flags = (*attr)->flags;
	return 0;
}

/* EINVAL: no valid group id.  posix_spawn checks whether the group exists. */
int posix_spawnattr_setpgroup(posix_spawnattr_t *attr, pid_t pgroup)
{
	if (pgroup < 0)
		return EINVAL;
	(*attr)->pgroup = pgroup;
	return 0;
}

int posix_spawnattr_getpgroup(const posix_spawnattr_t *attr, pid_t *pgroup)
{
	*pgroup = (*attr)->pgroup;
	return 0;
}

int posix_spawnattr_setsigmask(posix_spawnattr_t *attr, const sigset_t *set)
{
	(*attr)->sigmask = *set;
	return 0;
}

int posix_spawnattr_getsigmask(const posix_spawnattr_t *attr, sigset_t *set)
{
	*set = (*attr)->sigmask;
	return 0;
}

int posix_spawnattr_setsigdefault(posix_spawnattr_t *attr, const sigset_t *set)
{
	(*attr)->sigdefault = *set;
	return 0;
}

int posix_spawnattr_getsigdefault(const posix_spawnattr_t *attr, sigset_t *set)
{
	*set = (*attr)->sigdefault;
	return 0;
}

int posix_spawnattr_setschedpolicy(posix_spawnattr_t *attr, int policy)
{
	(*attr)->policy = policy;
	return 0;
}

int posix_spawnattr_getschedpolicy(const posix_spawnattr_t *attr, int *policy)
{
	*policy = (*attr)->policy;
	return 0;
}

int posix_spawnattr_setschedparam(posix_spawnattr_t *attr, const struct sched_param *param)
{
	(*attr)->param = *param;
	return 0;
}

int posix_spawnattr_getschedparam(const posix_spawnattr_t *attr, struct sched_param *param)
{
	*param = (*attr)->param;
	return 0;
}

/* --- spawning ------------------------------------------------------------------ */

/* Returns an error number, or 0. */
static int set_attributes(struct spawn_args *args, const struct __posix_spawnattr *attr)
{
	int policy = attr->policy, error;

	if (attr->flags & POSIX_SPAWN_SETPGROUP)
		args->flags |= SPAWN_SETPGROUP;
	if (attr->flags & POSIX_SPAWN_SETSIGMASK)
		args->flags |= SPAWN_SETSIGMASK;
	if (attr->flags & POSIX_SPAWN_SETSIGDEF)
		args->flags |= SPAWN_SETSIGDEF;
	args->pgroup = attr->pgroup;
	args->sigmask = attr->sigmask;
	args->sigdefault = attr->sigdefault;
	if (!(attr->flags & (POSIX_SPAWN_SETSCHEDULER | POSIX_SPAWN_SETSCHEDPARAM)))
		return 0;
	if (!(attr->flags & POSIX_SPAWN_SETSCHEDULER))
		policy = sched_getscheduler(0);
	args->flags |= SPAWN_SETSCHED;
	error = __sched_parms(policy, &attr->param, &args->sched);
	if (args->sched.pc_cid == WEFT_CLASS_NT)
		args->sched.nt.nt_relative = 0; /* the value above was the caller's */
	return error;
}

/*
 * envp NULL: the child gets the caller's environment, and so its thread model.
 * Errors: EINVAL: an unknown policy or priority; ENOMEM; those of the spawn system call
 * with those of open, dup2 and chdir in file actions.
 */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *fa,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	struct spawn_args args = {.path = (uintptr_t)path,
				  .argv = (uintptr_t)argv,
				  .envp = (uintptr_t)(envp ? envp : environ)};
	int error = attr ? set_attributes(&args, *attr) : 0;
	long r;

	if (error)
		return error;
	if (fa) {
		args.actions = (uintptr_t)(*fa)->action;
		args.nactions = (*fa)->n;
	}
	r = __sys_spawn(&args);
	if (r < 0)
		return -r;
	if (pid)
		*pid = r;
	return 0;
}

/* As posix_spawn.  PATH is searched before the file actions, from the caller's directory. */
int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *fa,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	char found[WEFT_PATH_MAX];
	int saved = errno, error;
	const char *path = __program_path(file, found);

	error = path ? posix_spawn(pid, path, fa, attr, argv, envp) : errno;
	errno = saved;
	return error;
}
