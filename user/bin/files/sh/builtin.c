/*
 * builtin.c - the table of built-in commands, and the commands that change the shell itself.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

static int usage(const char *how)
{
	fprintf(stderr, "usage: %s\n", how);
	return STATUS_ERROR;
}

static int yes(int argc, char **argv)
{
	return 0;
}

static int no(int argc, char **argv)
{
	return 1;
}

/* Parses a count or status; false: not a number. */
static bool number(const char *name, const char *s, int *n)
{
	char *end;
	long l = strtol(s, &end, 10);

	if (!isdigit((unsigned char)*s) || *end || l > 0x7fffffff) {
		complain("%s: not a number: %s", name, s);
		return false;
	}
	*n = l;
	return true;
}

/* cd [DIR | -]: DIR is $HOME if missing; -: the previous directory. */
static int cd(int argc, char **argv)
{
	const char *to = argc > 1 ? argv[1] : var_get("HOME");
	bool back = to && !strcmp(to, "-");
	char *old, *now;

	if (back)
		to = var_get("OLDPWD");
	if (argc > 2 || !to)
		return usage("cd [DIR | -]");
	old = getcwd(NULL, 0);
	if (chdir(to) < 0) {
		complain("cd: %s: %s", to, strerror(errno));
		free(old);
		return 1;
	}
	now = getcwd(NULL, 0);
	if (old)
		var_set("OLDPWD", old);
	if (now)
		var_set("PWD", now);
	if (back && now)
		puts(now);
	free(old);
	free(now);
	return 0;
}

static int pwd(int argc, char **argv)
{
	char *now = getcwd(NULL, 0);

	if (!now) {
		complain("pwd: %s", strerror(errno));
		return 1;
	}
	puts(now);
	free(now);
	return 0;
}

/* exit [STATUS]: $? if missing. */
static int exit_shell(int argc, char **argv)
{
	static bool warned;
	int status = sh.status;

	if (argc > 1 && !number("exit", argv[1], &status))
		status = STATUS_ERROR;
	if (sh.interactive && jobs_stopped() && !warned) {
		warned = true;
		fputs("There are stopped jobs.\n", stderr);
		return 1;
	}
	leave(status & 0xff);
}

/* return [STATUS]: from a function or a dot script. */
static int return_from(int argc, char **argv)
{
	int status = sh.status;

	if (!sh.functions) {
		complain("return: not in a function or dot script");
		return 1;
	}
	if (argc > 1 && !number("return", argv[1], &status))
		status = STATUS_ERROR;
	sh.skip = SKIP_RETURN;
	return status & 0xff;
}

/* break [N], continue [N]: out of N loops. */
static int leave_loop(int argc, char **argv)
{
	int n = 1;

	if (argc > 1 && (!number(argv[0], argv[1], &n) || n == 0))
		return STATUS_ERROR;
	if (!sh.loops) {
		complain("%s: not in a loop", argv[0]);
		return 1;
	}
	sh.skip = *argv[0] == 'b' ? SKIP_BREAK : SKIP_CONTINUE;
	sh.skip_levels = n < sh.loops ? n : sh.loops;
	return 0;
}

/* export [-p] [NAME[=VALUE]...]: exports variables to commands; without names, lists them. */
static int export(int argc, char **argv)
{
	int i = 1, status = 0;
	size_t n;

	if (i < argc && !strcmp(argv[i], "-p"))
		i++;
	if (i == argc)
		vars_print(true);
	for (; i < argc; i++) {
		n = name_length(argv[i]);
		if (n == 0 || (argv[i][n] && argv[i][n] != '=')) {
			complain("export: not a name: %s", argv[i]);
			status = 1;
			continue;
		}
		if (argv[i][n])
			vars_assign(argv[i]);
		argv[i][n] = '\0';
		var_export(argv[i]);
	}
	return status;
}

/* unset [-f | -v] NAME... */
static int unset(int argc, char **argv)
{
	bool functions = argc > 1 && !strcmp(argv[1], "-f");
	int i = 1 + (functions || (argc > 1 && !strcmp(argv[1], "-v")));

	for (; i < argc; i++)
		if (functions)
			function_unset(argv[i]);
		else
			var_unset(argv[i]);
	return 0;
}

/* --- parameters and options ------------------------------------------------------- */

void params_free(struct params *p)
{
	char **s;

	for (s = p->owned; s && *s; s++)
		free(*s);
	free(p->owned);
}

void params_set(char **v, int n)
{
	char **copy = xrealloc(NULL, (n + 1) * sizeof(*copy));
	int i;

	for (i = 0; i < n; i++)
		copy[i] = xstrdup(v[i]);
	copy[n] = NULL;
	params_free(&sh.params);
	sh.params = (struct params){.n = n, .v = copy, .owned = copy};
}

static int shift(int argc, char **argv)
{
	int n = 1;

	if (argc > 1 && !number("shift", argv[1], &n))
		return STATUS_ERROR;
	if (n > sh.params.n) {
		complain("shift: there are only %d parameters", sh.params.n);
		return 1;
	}
	sh.params.n -= n;
	sh.params.v += n;
	return 0;
}

bool set_options(const char *s)
{
	bool on = *s == '-';

	for (s++; *s; s++) {
		switch (*s) {
		case 'e':
			sh.errexit = on;
			break;
		case 'f':
			sh.noglob = on;
			break;
		case 'u':
			sh.nounset = on;
			break;
		case 'x':
			sh.xtrace = on;
			break;
		default:
			complain("no such option: %c", *s);
			return false;
		}
	}
	return true;
}

/* set [-efux | +efux]... [[--] PARAMETER...]; without arguments, lists the variables. */
static int set(int argc, char **argv)
{
	int i;

	if (argc == 1)
		vars_print(false);
	for (i = 1; i < argc && (*argv[i] == '-' || *argv[i] == '+') && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--")) {
			params_set(argv + i + 1, argc - i - 1);
			return 0;
		}
		if (!set_options(argv[i]))
			return STATUS_ERROR;
	}
	if (i < argc)
		params_set(argv + i, argc - i);
	return 0;
}

/* --- commands that run commands ------------------------------------------------------ */

static int eval(int argc, char **argv)
{
	struct str text = {.arena = sh.tmp};
	int i;

	for (i = 1; i < argc; i++) {
		if (i > 1)
			str_add(&text, ' ');
		str_append(&text, argv[i], strlen(argv[i]));
	}
	sh.status = 0;
	run_string(str_done(&text), sh.line);
	return sh.status;
}

static void end_dot(void *unused)
{
	sh.functions--;
}

/* . FILE: runs the commands of FILE in this shell. */
static int dot(int argc, char **argv)
{
	struct lexer outside = lexer;
	const char *path;

	if (argc != 2)
		return usage(". FILE");
	path = strchr(argv[1], '/') ? argv[1] : find_program(argv[1]);
	if (!input_file(path ? path : argv[1])) {
		complain(".: %s: %s", argv[1], strerror(errno));
		return 1;
	}
	sh.functions++;
	undo_later(end_dot, NULL);
	sh.status = 0;
	run_input();
	undo();
	input_pop();
	lexer = outside;
	if (sh.skip == SKIP_RETURN)
		sh.skip = SKIP_NONE;
	return sh.status;
}

/* exec [CMD ARG...]: replaces the shell by CMD; the redirections stay in any case. */
int builtin_exec(int argc, char **argv)
{
	if (argc > 1)
		become_program(argv + 1, vars_environ());
	return 0;
}

/* Describes a name, as command -v; with words, as command -V and type. */
static int describe(const char *name, bool words)
{
	const char *path;

	if (function_find(name)) {
		printf(words ? "%s is a function\n" : "%s\n", name);
	} else if (builtin_find(name)) {
		printf(words ? "%s is built into the shell\n" : "%s\n", name);
	} else if ((path = find_program(name)) != NULL) {
		if (words)
			printf("%s is %s\n", name, path);
		else
			puts(path);
	} else {
		if (words)
			complain("%s: not found", name);
		return STATUS_NOT_FOUND;
	}
	return 0;
}

int builtin_type(int argc, char **argv)
{
	int i, status = 0;

	for (i = 1; i < argc; i++)
		status |= describe(argv[i], true);
	return status ? 1 : 0;
}

/* command -v NAME, -V NAME; run_simple handles command NAME. */
int builtin_command(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "-v"))
		return describe(argv[2], false);
	if (argc == 3 && !strcmp(argv[1], "-V"))
		return describe(argv[2], true);
	return argc == 1 ? 0 : usage("command [-v | -V] NAME [ARG...]");
}

static const struct builtin table[] = {
	{".", dot, true},
	{":", yes, true},
	{"[", builtin_test, false},
	{"bg", builtin_bg, false},
	{"break", leave_loop, true},
	{"cd", cd, false},
	{"command", builtin_command, false},
	{"continue", leave_loop, true},
	{"echo", builtin_echo, false},
	{"eval", eval, true},
	{"exec", builtin_exec, true},
	{"exit", exit_shell, true},
	{"export", export, true},
	{"false", no, false},
	{"fg", builtin_fg, false},
	{"history", builtin_history, false},
	{"jobs", builtin_jobs, false},
	{"kill", builtin_kill, false},
	{"printf", builtin_printf, false},
	{"pwd", pwd, false},
	{"read", builtin_read, false},
	{"return", return_from, true},
	{"set", set, true},
	{"shift", shift, true},
	{"stty", builtin_stty, false},
	{"test", builtin_test, false},
	{"trap", builtin_trap, true},
	{"true", yes, false},
	{"type", builtin_type, false},
	{"ulimit", builtin_ulimit, false},
	{"umask", builtin_umask, false},
	{"unset", unset, true},
	{"wait", builtin_wait, false},
};

static int compare(const void *name, const void *b)
{
	return strcmp(name, ((const struct builtin *)b)->name);
}

const struct builtin *builtin_find(const char *name)
{
	return bsearch(name, table, sizeof(table) / sizeof(table[0]), sizeof(table[0]), compare);
}

void builtin_names(struct fields *f)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		add_field(f, (char *)table[i].name);
}
