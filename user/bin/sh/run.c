/*
 * run.c - runs commands.
 *
 * There is no fork: whatever is to go on beside the shell and is more than one
 * program, a list such as `a && b &`, is given to another shell as text.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sh.h"

static void syntax_error(const char *what)
{
	fprintf(stderr, "sh: syntax error: %s\n", what);
	sh.status = STATUS_SYNTAX;
}

int report_status(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	if (WTERMSIG(status) != SIGINT && WTERMSIG(status) != SIGPIPE)
		fprintf(stderr, "%s\n", strsignal(WTERMSIG(status)));
	return STATUS_SIGNAL + WTERMSIG(status);
}

/* The environment with assignments on top, to be freed; the strings are borrowed. */
static char **environment(char **assign, int nassign)
{
	char **env;
	int n = 0, i, j;

	while (environ[n])
		n++;
	env = xrealloc(NULL, (n + nassign + 1) * sizeof(*env));
	memcpy(env, environ, n * sizeof(*env));
	for (i = 0; i < nassign; i++) {
		size_t len = name_length(assign[i]) + 1; /* with the = */

		for (j = 0; j < n && strncmp(env[j], assign[i], len); j++)
			;
		env[j] = assign[i];
		n += j == n;
	}
	env[n] = NULL;
	return env;
}

/*
 * Starts a program.  An interactive shell gives each a process group of its own,
 * and one in the foreground the terminal.  In the background there is nothing to
 * read.  An error number, or 0.
 */
static int start(pid_t *pid, char **argv, char **env, bool background)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	int error = posix_spawn_file_actions_init(&fa);

	if (error)
		return error;
	error = posix_spawnattr_init(&attr);
	if (error)
		goto out;
	if (sh.interactive)
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	if (background)
		error = posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null", 0, 0);
	else if (sh.interactive)
		error = posix_spawn_file_actions_addtcsetpgrp_np(&fa, STDIN_FILENO);
	if (!error)
		error = posix_spawnp(pid, argv[0], &fa, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
out:
	posix_spawn_file_actions_destroy(&fa);
	return error;
}

int wait_foreground(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (sh.interactive)
		edit_take_back();
	return status;
}

/* Runs a program, and waits for it unless it is to be a job. */
static int run_program(char **argv, char **env, bool background, const char *text, size_t len)
{
	pid_t pid;
	int error;

	fflush(stdout);
	error = start(&pid, argv, env, background);
	if (error) {
		fprintf(stderr, "sh: %s: %s\n", argv[0],
			error == ENOENT ? "not found" : strerror(error));
		return error == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
	}
	if (background) {
		job_started(pid, text, len);
		return 0;
	}
	return report_status(wait_foreground(pid));
}

/* As a special built-in of POSIX: assignments before a built-in stay. */
static int run_simple(struct command *c, bool background)
{
	builtin_fn *builtin = c->argc ? builtin_find(c->argv[0]) : NULL;
	char **env;
	int i, status;

	if (c->argc && !builtin) {
		env = environment(c->assign, c->nassign);
		status = run_program(c->argv, env, background, c->text, c->len);
		free(env);
		return status;
	}
	for (i = 0; i < c->nassign; i++) {
		char *eq = strchr(c->assign[i], '=');

		*eq = '\0';
		var_set(c->assign[i], eq + 1);
		*eq = '=';
	}
	if (!builtin)
		return 0;
	status = builtin(c->argc, c->argv);
	fflush(stdout);
	return status;
}

/* What a list is: commands joined by && and ||, up to ; & or the end. */
struct list {
	int ncommands;
	bool background;
	bool simple; /* its first command is a program */
	const char *text;
	size_t len;
};

/*
 * Looks at the list at *p and moves *p behind it.  SCAN_END: there is none.
 */
static enum scan scan_list(const char **p, struct list *l, const char **error)
{
	struct command c;
	enum scan r;
	enum op op;

	*l = (struct list){0};
	do {
		r = next_command(p, &c, error);
		if (r == SCAN_END && l->ncommands)
			r = SCAN_UNFINISHED; /* after && or || */
		if (r != SCAN_OK)
			return r;
		if (l->ncommands++ == 0) {
			l->text = c.text;
			l->simple = c.argc && !builtin_find(c.argv[0]);
		}
		l->len = c.text + c.len - l->text;
		op = c.op;
		command_free(&c);
	} while (op == OP_AND || op == OP_OR);
	l->background = op == OP_BG;
	return SCAN_OK;
}

static void run_list(const char *p, const struct list *l)
{
	const char *error;
	struct command c;
	enum op op = OP_SEQ;
	int i;

	if (l->background && (l->ncommands > 1 || !l->simple)) {
		struct str text = {0};
		char *argv[] = {"/bin/sh", "-c", NULL, NULL};
		size_t n;

		for (n = 0; n < l->len; n++)
			str_add(&text, l->text[n]);
		argv[2] = text.s;
		sh.status = run_program(argv, environ, true, l->text, l->len);
		str_free(&text);
		return;
	}
	for (i = 0; i < l->ncommands; i++) {
		if (next_command(&p, &c, &error) != SCAN_OK) /* checked before, but for $ */
			return;
		if (op == OP_SEQ || (op == OP_AND) == (sh.status == 0))
			sh.status = run_simple(&c, l->background);
		op = c.op;
		command_free(&c);
	}
}

bool run_text(const char *text)
{
	const char *p = text, *start, *error;
	struct list l;
	enum scan r;

	do
		r = scan_list(&p, &l, &error);
	while (r == SCAN_OK);
	if (r == SCAN_UNFINISHED)
		return false;
	if (r == SCAN_ERROR) {
		syntax_error(error);
		return true;
	}
	for (p = start = text; scan_list(&p, &l, &error) == SCAN_OK; start = p)
		run_list(start, &l);
	return true;
}
