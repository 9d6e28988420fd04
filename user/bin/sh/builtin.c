/*
 * builtin.c - commands that change the shell itself, or need its list of jobs.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "sh.h"

static int colon(int argc, char **argv)
{
	return 0;
}

/* cd [DIR | -]: DIR is $HOME if missing; -: where we were before. */
static int cd(int argc, char **argv)
{
	const char *to = argc > 1 ? argv[1] : var_get("HOME");
	char *old, *now;

	if (to && !strcmp(to, "-"))
		to = var_get("OLDPWD");
	if (argc > 2 || !to) {
		fputs("usage: cd [DIR | -]\n", stderr);
		return 2;
	}
	old = getcwd(NULL, 0);
	if (chdir(to) < 0) {
		fprintf(stderr, "cd: %s: %s\n", to, strerror(errno));
		free(old);
		return 1;
	}
	now = getcwd(NULL, 0);
	if (old)
		var_export("OLDPWD", old);
	if (now)
		var_export("PWD", now);
	free(old);
	free(now);
	return 0;
}

/* exit [STATUS]: $? if missing. */
static int exit_shell(int argc, char **argv)
{
	exit(argc > 1 ? atoi(argv[1]) & 0xff : sh.status);
}

/* export [NAME[=VALUE]...]: commands get the variable; without arguments, lists them. */
static int export(int argc, char **argv)
{
	int i, status = 0;
	size_t n;
	char **e;

	for (e = environ; argc == 1 && *e; e++)
		printf("export %s\n", *e);
	for (i = 1; i < argc; i++) {
		n = name_length(argv[i]);
		if (n == 0 || (argv[i][n] && argv[i][n] != '=')) {
			fprintf(stderr, "export: not a name: %s\n", argv[i]);
			status = 1;
			continue;
		}
		if (!argv[i][n]) {
			var_export(argv[i], NULL);
			continue;
		}
		argv[i][n] = '\0';
		var_export(argv[i], argv[i] + n + 1);
	}
	return status;
}

static int unset(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		var_unset(argv[i]);
	return 0;
}

static int jobs(int argc, char **argv)
{
	jobs_list();
	return 0;
}

/* wait [PID | %JOB]...: until they (none given: all jobs) have ended; status of the last. */
static int wait_jobs(int argc, char **argv)
{
	int i, status = 0;
	pid_t pid;

	if (argc == 1)
		return jobs_wait_all();
	for (i = 1; i < argc; i++) {
		pid = job_find(argv[i]);
		if (!pid)
			fprintf(stderr, "wait: no such job: %s\n", argv[i]);
		status = pid ? job_wait(pid) : STATUS_NOT_FOUND;
	}
	return status;
}

/* The number of a signal given by number or name, with or without SIG; -1: none. */
static int signal_number(const char *s)
{
	static const struct {
		const char *name;
		int number;
	} names[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},
		     {"ABRT", SIGABRT}, {"KILL", SIGKILL}, {"SEGV", SIGSEGV},
		     {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}};
	char *end;
	long n = strtol(s, &end, 10);
	size_t i;

	if (end != s && !*end)
		return n;
	if (!strncasecmp(s, "SIG", 3))
		s += 3;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(s, names[i].name))
			return names[i].number;
	return -1;
}

/* kill [-SIGNAL] PID | %JOB ... */
static int kill_jobs(int argc, char **argv)
{
	int i = 1, sig = SIGTERM, status = 0;
	pid_t pid;

	if (argc > 1 && argv[1][0] == '-')
		sig = signal_number(argv[i++] + 1);
	if (i == argc || sig < 0) {
		fputs("usage: kill [-SIGNAL] PID | %JOB ...\n", stderr);
		return 2;
	}
	for (; i < argc; i++) {
		pid = *argv[i] == '%' ? job_find(argv[i]) : atoi(argv[i]);
		if (pid <= 0) {
			fprintf(stderr, "kill: %s: no such job or process\n", argv[i]);
			status = 1;
		} else if (kill(pid, sig) < 0) {
			fprintf(stderr, "kill: %s: %s\n", argv[i], strerror(errno));
			status = 1;
		}
	}
	return status;
}

builtin_fn *builtin_find(const char *name)
{
	static const struct {
		const char *name;
		builtin_fn *fn;
	} table[] = {{":", colon},     {"cd", cd},     {"exit", exit_shell}, {"export", export},
		     {"unset", unset}, {"jobs", jobs}, {"wait", wait_jobs},  {"kill", kill_jobs}};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(name, table[i].name))
			return table[i].fn;
	return NULL;
}
