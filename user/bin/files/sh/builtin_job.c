/*
 * builtin_job.c - built-in commands that deal with jobs: jobs fg bg wait kill.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "sh.h"

int builtin_jobs(int argc, char **argv)
{
	if (argc > 2 || (argc == 2 && strcmp(argv[1], "-p") && strcmp(argv[1], "-l"))) {
		fputs("usage: jobs [-l | -p]\n", stderr);
		return STATUS_ERROR;
	}
	jobs_list(argc > 1 ? argv[1][1] : 0);
	return 0;
}

/* Returns the job that fg or bg names.  NULL: there is none; a message has been printed. */
static struct job *named(int argc, char **argv)
{
	struct job *j = job_find(argc > 1 ? argv[1] : "%+");

	if (!j)
		complain("%s: %s: no such job", argv[0], argc > 1 ? argv[1] : "%+");
	else if (!sh.job_control)
		complain("%s: no job control", argv[0]);
	return sh.job_control ? j : NULL;
}

int builtin_fg(int argc, char **argv)
{
	struct job *j = named(argc, argv);

	if (!j)
		return 1;
	puts(job_text(j));
	fflush(stdout);
	return job_foreground(j, true);
}

int builtin_bg(int argc, char **argv)
{
	struct job *j = named(argc, argv);

	if (!j)
		return 1;
	printf("%s &\n", job_text(j));
	job_continue(j);
	return 0;
}

/* wait [PID | %JOB]...: waits until they (default: all jobs) have ended; status of the last. */
int builtin_wait(int argc, char **argv)
{
	int i, status = 0;
	struct job *j;

	if (argc == 1)
		return jobs_wait_all();
	for (i = 1; i < argc; i++) {
		j = job_find(argv[i]);
		if (!j && *argv[i] == '%')
			complain("wait: no such job: %s", argv[i]);
		status = j ? job_wait(j) : STATUS_NOT_FOUND;
	}
	return status;
}

/* kill -l [STATUS]: names of signals, or of the signal that ended a command with this status. */
static int list_signals(int argc, char **argv)
{
	int sig;

	if (argc == 2) {
		for (sig = 1; sig < NSIG; sig++)
			if (signal_name(sig))
				printf("%s\n", signal_name(sig));
		return 0;
	}
	sig = atoi(argv[2]);
	if (sig > STATUS_SIGNAL)
		sig -= STATUS_SIGNAL;
	if (!signal_name(sig)) {
		complain("kill: %s: no such signal", argv[2]);
		return 1;
	}
	puts(signal_name(sig));
	return 0;
}

static int kill_one(const char *what, int sig)
{
	struct job *j;
	char *end;
	long pid;

	if (*what == '%') {
		j = job_find(what);
		if (!j) {
			complain("kill: %s: no such job", what);
			return 1;
		}
		if (job_kill(j, sig) == 0) {
			/* A stopped job can only end when it is continued. */
			if (sig == SIGTERM || sig == SIGHUP)
				job_kill(j, SIGCONT);
			return 0;
		}
	} else {
		pid = strtol(what, &end, 10);
		if (end == what || *end || pid != (pid_t)pid) {
			complain("kill: not a process: %s", what);
			return 1;
		}
		if (kill(pid, sig) == 0)
			return 0;
	}
	complain("kill: %s: %s", what, strerror(errno));
	return 1;
}

/* kill [-s SIGNAL | -SIGNAL] PID | %JOB ...; kill -l [STATUS] */
int builtin_kill(int argc, char **argv)
{
	int i = 1, sig = SIGTERM, status = 0;

	if (argc > 1 && !strcmp(argv[1], "-l"))
		return list_signals(argc, argv);
	if (argc > 2 && !strcmp(argv[1], "-s")) {
		sig = signal_number(argv[2]);
		i = 3;
	} else if (argc > 1 && argv[1][0] == '-' && strcmp(argv[1], "--")) {
		sig = signal_number(argv[1] + 1);
		i = 2;
	}
	if (i < argc && !strcmp(argv[i], "--"))
		i++;
	if (i == argc || sig < 0) {
		fputs("usage: kill [-s SIGNAL | -SIGNAL] PID | %JOB ...\n"
		      "       kill -l [STATUS]\n",
		      stderr);
		return STATUS_ERROR;
	}
	for (; i < argc; i++)
		status |= kill_one(argv[i], sig);
	return status;
}
