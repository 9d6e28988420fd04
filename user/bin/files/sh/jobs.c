/*
 * jobs.c - jobs: the processes of one pipeline, or of one command in the background.
 *
 * A job is in the list from job_new on.  A foreground job leaves the list when it ends.  A stopped
 * or background job gets a number.  It leaves the list when its end has been reported: by a notice
 * before the next prompt, or by `wait'.
 *
 * With job control each job is a process group.  The terminal belongs to the group of the
 * foreground job, or to the shell's own group.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sh.h"

struct process {
	pid_t pid; /* 0: it could not be started */
	bool ended, stopped;
	int status; /* as waitpid's */
};

struct job {
	struct job *next;
	int id;      /* 0: in the foreground */
	int touched; /* the job touched last is the current job */
	pid_t group;
	int nprocs;
	struct process *procs; /* of a pipeline, in order: the status of the last counts */
	char *text;
	bool told_stopped;
};
static struct job *jobs;
static int touches;

struct job *job_new(const char *text)
{
	struct job *j = xrealloc(NULL, sizeof(*j));

	*j = (struct job){.next = jobs, .text = xstrdup(text)};
	return jobs = j;
}

static struct process *add_process(struct job *j)
{
	j->procs = xrealloc(j->procs, (j->nprocs + 1) * sizeof(*j->procs));
	return &j->procs[j->nprocs++];
}

void job_add(struct job *j, pid_t pid)
{
	if (!j->group)
		j->group = pid;
	if (sh.job_control)
		setpgid(pid, j->group); /* after fork both parent and child do it */
	*add_process(j) = (struct process){.pid = pid};
}

void job_add_failed(struct job *j, int status)
{
	*add_process(j) = (struct process){.ended = true, .status = status << 8};
}

const char *job_text(const struct job *j)
{
	return j->text;
}

pid_t job_group(const struct job *j)
{
	return j->group;
}

static void forget(struct job *j)
{
	struct job **p = &jobs;

	while (*p != j)
		p = &(*p)->next;
	*p = j->next;
	free(j->procs);
	free(j->text);
	free(j);
}

void jobs_forget_all(void)
{
	while (jobs)
		forget(jobs);
}

static bool has_ended(const struct job *j)
{
	int i;

	for (i = 0; i < j->nprocs; i++)
		if (!j->procs[i].ended)
			return false;
	return true;
}

static bool has_stopped(const struct job *j)
{
	bool stopped = false;
	int i;

	for (i = 0; i < j->nprocs; i++) {
		if (!j->procs[i].ended && !j->procs[i].stopped)
			return false;
		stopped |= !j->procs[i].ended;
	}
	return stopped;
}

static int last_status(const struct job *j)
{
	return j->procs[j->nprocs - 1].status;
}

bool jobs_stopped(void)
{
	struct job *j;

	for (j = jobs; j; j = j->next)
		if (has_stopped(j))
			return true;
	return false;
}

/* --- waiting ------------------------------------------------------------------------ */

/* Notes a child's status from waitpid.  Children of no job are ignored. */
static void note(pid_t pid, int status)
{
	struct job *j;
	int i;

	for (j = jobs; j; j = j->next)
		for (i = 0; i < j->nprocs; i++) {
			struct process *p = &j->procs[i];

			if (p->pid != pid || p->ended)
				continue;
			p->stopped = WIFSTOPPED(status);
			if (!WIFCONTINUED(status) && !p->stopped)
				p->ended = true;
			if (!WIFCONTINUED(status))
				p->status = status;
			if (p->stopped)
				j->touched = ++touches;
			j->told_stopped &= p->stopped;
			return;
		}
}

static void poll_children(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0)
		note(pid, status);
}

/* Blocks until the state of a child changes. */
static void wait_change(void)
{
	int status;
	pid_t pid = waitpid(-1, &status, WUNTRACED);

	if (pid > 0)
		note(pid, status);
}

/* The same; returns false when a signal came that signals_check would handle. */
static bool wait_change_or_signal(void)
{
	int status, came;
	pid_t pid;

	signals_hold();
	while (!(came = signal_came()) && (pid = waitpid(-1, &status, WUNTRACED | WNOHANG)) == 0)
		signals_sleep();
	signals_release();
	if (!came && pid > 0)
		note(pid, status);
	return !came;
}

/* Converts a status from waitpid to $?.  If a signal ended the process, prints that on standard
 * error. */
static int report(int status)
{
	int sig;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	sig = WIFSTOPPED(status) ? WSTOPSIG(status) : WTERMSIG(status);
	if (WIFSIGNALED(status) && sig != SIGINT && sig != SIGPIPE)
		fprintf(stderr, "%s\n", strsignal(sig));
	return STATUS_SIGNAL + sig;
}

int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Also called in the background: SIGTTOU must not stop a shell that takes its terminal back. */
void job_take_terminal(pid_t group)
{
	sigset_t ttou, before;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	tcsetpgrp(STDIN_FILENO, group);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void give_number(struct job *j)
{
	struct job *i;

	j->touched = ++touches;
	if (j->id)
		return;
	j->id = 1; /* the lowest free one */
	for (i = jobs; i;) {
		if (i != j && i->id == j->id) {
			j->id++;
			i = jobs;
		} else {
			i = i->next;
		}
	}
}

/* The current job is the job that was touched last; the previous current job is %-. */
static struct job *recent(const struct job *but)
{
	struct job *j, *best = NULL;

	for (j = jobs; j; j = j->next)
		if (j != but && j->id && (!best || j->touched > best->touched))
			best = j;
	return best;
}

static void print(const struct job *j, char option)
{
	const struct job *current = recent(NULL), *previous = recent(current);
	char what[32], mark = j == current ? '+' : j == previous ? '-' : ' ';
	int status = j->nprocs ? last_status(j) : 0;

	if (option == 'p') {
		printf("%d\n", j->group);
		return;
	}
	if (has_stopped(j))
		strcpy(what, "Stopped");
	else if (!has_ended(j))
		strcpy(what, "Running");
	else if (WIFSIGNALED(status))
		snprintf(what, sizeof(what), "%s", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(what, sizeof(what), "Exit %d", WEXITSTATUS(status));
	else
		strcpy(what, "Done");
	printf("[%d]%c %d %-12s %s\n", j->id, mark, j->group, what, j->text);
}

/* Handles a job stopped by Ctrl-Z or a similar signal: the job stays, and the shell continues. */
static int stopped(struct job *j)
{
	int i, sig = SIGSTOP;

	for (i = 0; i < j->nprocs; i++)
		if (j->procs[i].stopped)
			sig = WSTOPSIG(j->procs[i].status);
	give_number(j);
	j->told_stopped = true;
	if (sh.interactive) {
		print(j, 0);
		fflush(stdout);
	}
	return STATUS_SIGNAL + sig;
}

int job_foreground(struct job *j, bool continued)
{
	int status;

	if (sh.job_control && j->group) {
		job_take_terminal(j->group);
		signals_pass_on(j);
	}
	if (continued)
		job_continue(j);
	while (!has_ended(j) && !has_stopped(j))
		wait_change();
	if (sh.job_control)
		job_take_terminal(getpgrp());
	if (has_stopped(j))
		return stopped(j);
	status = last_status(j);
	forget(j);
	if (sh.job_control && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		interrupt();
	return report(status);
}

void job_background(struct job *j)
{
	give_number(j);
	sh.last_job = j->procs[j->nprocs - 1].pid;
	if (sh.interactive) {
		printf("[%d] %d\n", j->id, sh.last_job);
		fflush(stdout);
	}
}

void job_continue(struct job *j)
{
	int i;

	for (i = 0; i < j->nprocs; i++)
		j->procs[i].stopped = false;
	j->told_stopped = false;
	job_kill(j, SIGCONT);
}

int job_kill(const struct job *j, int sig)
{
	int i, r = 0;

	if (sh.job_control && j->group)
		return kill(-j->group, sig);
	for (i = 0; i < j->nprocs; i++)
		if (!j->procs[i].ended && kill(j->procs[i].pid, sig) < 0)
			r = -1;
	return r;
}

int job_wait(struct job *j)
{
	int status;

	while (!has_ended(j) && !has_stopped(j)) {
		signals_check();
		if (!wait_change_or_signal())
			return STATUS_SIGNAL + signal_came();
	}
	if (has_stopped(j))
		return stopped(j);
	status = last_status(j);
	forget(j);
	return report(status);
}

int jobs_wait_all(void)
{
	struct job *j = jobs;
	int status;

	while (j) {
		if (has_stopped(j)) { /* waiting would never end */
			j = j->next;
			continue;
		}
		status = job_wait(j);
		if (status > STATUS_SIGNAL && signal_came())
			return status;
		j = jobs;
	}
	return 0;
}

/* --- telling -------------------------------------------------------------------------- */

/* Returns the job with the lowest number from `from' on. */
static struct job *by_number(int from)
{
	struct job *j, *best = NULL;

	for (j = jobs; j; j = j->next)
		if (j->id >= from && (!best || j->id < best->id))
			best = j;
	return best;
}

void jobs_notify(void)
{
	struct job *j;
	int from = 1;

	poll_children();
	while ((j = by_number(from)) != NULL) {
		from = j->id + 1;
		if (has_ended(j)) {
			print(j, 0);
			forget(j);
		} else if (has_stopped(j) && !j->told_stopped) {
			print(j, 0);
			j->told_stopped = true;
		}
	}
	fflush(stdout);
}

void jobs_list(char option)
{
	struct job *j;
	int from = 1;

	poll_children();
	while ((j = by_number(from)) != NULL) {
		from = j->id + 1;
		print(j, option);
		if (has_ended(j) && option != 'p')
			forget(j);
	}
}

struct job *job_find(const char *name)
{
	struct job *current = recent(NULL), *j;
	char *end;
	long n;
	int i;

	if (*name != '%') {
		n = strtol(name, &end, 10);
		for (j = jobs; j && n > 0 && !*end; j = j->next)
			for (i = 0; i < j->nprocs; i++)
				if (j->procs[i].pid == n)
					return j;
		return NULL;
	}
	name++;
	if (!*name || !strcmp(name, "%") || !strcmp(name, "+"))
		return current;
	if (!strcmp(name, "-"))
		return recent(current);
	n = strtol(name, &end, 10);
	for (j = jobs; j; j = j->next)
		if (j->id && (*end ? !strncmp(j->text, name, strlen(name)) : j->id == n))
			return j;
	return NULL;
}
