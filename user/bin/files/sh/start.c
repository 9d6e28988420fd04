/*
 * start.c - processes: by spawn where the child only becomes a program, by fork
 * where the child is a shell.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

/* --- finding programs ------------------------------------------------------------- */

char *find_program(const char *name)
{
	const char *dir = var_get("PATH"), *end;
	struct str path = {.arena = sh.tmp};
	char *s;

	if (strchr(name, '/') || !dir)
		return access(name, X_OK) == 0 ? (char *)name : NULL;
	for (;; dir = end + 1) {
		end = dir + strcspn(dir, ":");
		str_append(&path, dir, end - dir);
		if (end > dir)
			str_add(&path, '/');
		str_append(&path, name, strlen(name));
		s = str_done(&path);
		if (access(s, X_OK) == 0)
			return s;
		if (!*end)
			return NULL;
	}
}

/*
 * A file without executable code is a script: its first line names a program behind #!, or this
 * shell runs it.  Returns the arguments to run it with.
 */
static char **script_args(char *path, char **argv)
{
	struct fields f = {0};
	char line[256], *s, *arg;
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	s = line + 2 + strspn(line + 2, " \t");
	if (strncmp(line, "#!", 2) || !*s) {
		add_field(&f, "/bin/sh");
	} else {
		arg = s + strcspn(s, " \t");
		add_field(&f, arena_string(sh.tmp, s, arg - s));
		arg += strspn(arg, " \t");
		if (*arg)
			add_field(&f, arena_string(sh.tmp, arg, strlen(arg)));
	}
	add_field(&f, path);
	for (i = 1; argv[i]; i++)
		add_field(&f, argv[i]);
	return f.v;
}

static int cannot_run(const char *name, int error)
{
	complain("%s: %s", name, error == ENOENT ? "not found" : strerror(error));
	return error == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

void become_program(char **argv, char **env)
{
	char *path = find_program(argv[0]), **script;

	fflush(stdout);
	if (!path)
		path = argv[0]; /* for its error message */
	if (!strchr(path, '/'))
		leave(cannot_run(argv[0], ENOENT));
	signals_child();
	execve(path, argv, env);
	if (errno == ENOEXEC) {
		script = script_args(path, argv);
		execve(script[0], script, env);
	}
	leave(cannot_run(argv[0], errno));
}

/* --- fork -------------------------------------------------------------------------- */

static void put_at(int from, int fd)
{
	if (from >= 0) {
		dup2(from, fd);
		close(from);
	}
}

static void in_child(const struct place *place)
{
	struct job *job = place->job;
	int null;

	if (job && sh.job_control) {
		setpgid(0, job_group(job));
		if (!place->background && !place->pipeline)
			job_take_terminal(getpgrp());
	}
	if (place->background && !sh.job_control && place->in < 0) {
		null = open("/dev/null", O_RDONLY);
		if (null > 0)
			put_at(null, STDIN_FILENO);
	}
	put_at(place->in, STDIN_FILENO);
	put_at(place->out, STDOUT_FILENO);
	if (place->close_too >= 0)
		close(place->close_too);
	sh.interactive = sh.job_control = false;
	sh.unwind = NULL;
	sh.loops = 0;
	signals_child();
	jobs_forget_all();
}

pid_t start_fork(const struct place *place)
{
	sigset_t all, before;
	pid_t pid;

	fflush(stdout);
	/* A signal for the child must not run the shell's handlers, which the child still has. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid < 0) {
		complain("fork: %s", strerror(errno));
		sh.status = STATUS_CANNOT_RUN;
	} else if (pid == 0) {
		in_child(place);
	} else if (place->job) {
		job_add(place->job, pid);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* --- spawn -------------------------------------------------------------------------- */

/* Returns an error number, or 0. */
static int add_moves(posix_spawn_file_actions_t *fa, const struct moves *m,
		     const struct place *place)
{
	int i, error = 0;

	if (place->background && !sh.job_control && place->in < 0)
		error = posix_spawn_file_actions_addopen(fa, STDIN_FILENO, "/dev/null", O_RDONLY,
							 0);
	if (!error && place->in >= 0)
		error = posix_spawn_file_actions_adddup2(fa, place->in, STDIN_FILENO);
	if (!error && place->out >= 0)
		error = posix_spawn_file_actions_adddup2(fa, place->out, STDOUT_FILENO);
	for (i = 0; !error && i < m->n; i++)
		error = m->v[i].from < 0
				? posix_spawn_file_actions_addclose(fa, m->v[i].fd)
				: posix_spawn_file_actions_adddup2(fa, m->v[i].from, m->v[i].fd);
	return error;
}

static int spawn(pid_t *pid, char **argv, char **env, const struct moves *m,
		 const struct place *place)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	bool group = place->job && sh.job_control;
	char *path, **script;
	int error = posix_spawn_file_actions_init(&fa);

	if (error)
		return error;
	error = posix_spawnattr_init(&attr);
	if (error)
		goto out;
	if (group) {
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
		posix_spawnattr_setpgroup(&attr, job_group(place->job));
	}
	if (group && !place->background && !place->pipeline)
		error = posix_spawn_file_actions_addtcsetpgrp_np(&fa, STDIN_FILENO);
	if (!error)
		error = add_moves(&fa, m, place);
	vars_environ(); /* sets the PATH that is searched */
	if (!error)
		error = posix_spawnp(pid, argv[0], &fa, &attr, argv, env);
	if (error == ENOEXEC && (path = find_program(argv[0])) != NULL) {
		script = script_args(path, argv);
		error = posix_spawn(pid, script[0], &fa, &attr, script, env);
	}
	posix_spawnattr_destroy(&attr);
out:
	posix_spawn_file_actions_destroy(&fa);
	return error;
}

pid_t start_program(char **argv, char **env, struct moves *m, const struct place *place)
{
	pid_t pid;
	int error;

	fflush(stdout);
	error = spawn(&pid, argv, env, m, place);
	if (error == EBADF) {
		complain("%s: redirected from a descriptor that is not open", argv[0]);
		sh.status = 1;
		return 0;
	}
	if (error) {
		sh.status = cannot_run(argv[0], error);
		return 0;
	}
	if (place->job)
		job_add(place->job, pid);
	return pid;
}
