/*
 * jobs.c - commands that run beside the shell.
 *
 * A job is in the list from its start until its end has been told: by a notice
 * before the next prompt, or by `wait`.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sh.h"

struct job {
	struct job *next; /* by id */
	int id;
	pid_t pid; /* and its process group, if the shell is interactive */
	bool ended;
	int status; /* of waitpid */
	char *text;
};
static struct job *jobs;

void job_started(pid_t pid, const char *text, size_t len)
{
	struct job **p = &jobs, *j = xrealloc(NULL, sizeof(*j));
	int id = 1;

	for (; *p && (*p)->id == id; p = &(*p)->next) /* the lowest free id */
		id++;
	*j = (struct job){.next = *p, .id = id, .pid = pid};
	j->text = xrealloc(NULL, len + 1);
	memcpy(j->text, text, len);
	j->text[len] = '\0';
	*p = j;
	sh.last_job = pid;
	if (sh.interactive)
		printf("[%d] %d\n", id, pid);
}

static void forget(struct job **p)
{
	struct job *j = *p;

	*p = j->next;
	free(j->text);
	free(j);
}

void job_ended(pid_t pid, int status)
{
	struct job *j;

	for (j = jobs; j; j = j->next)
		if (j->pid == pid && !j->ended) {
			j->ended = true;
			j->status = status;
		}
}

void jobs_poll(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		job_ended(pid, status);
}

static void print(const struct job *j)
{
	char what[32];

	if (!j->ended)
		strcpy(what, "Running");
	else if (WIFSIGNALED(j->status))
		strlcpy(what, strsignal(WTERMSIG(j->status)), sizeof(what));
	else if (WEXITSTATUS(j->status))
		snprintf(what, sizeof(what), "Exit %d", WEXITSTATUS(j->status));
	else
		strcpy(what, "Done");
	printf("[%d] %d %-12s %s\n", j->id, j->pid, what, j->text);
}

void jobs_notify(void)
{
	struct job **p = &jobs;

	jobs_poll();
	while (*p) {
		if (!(*p)->ended) {
			p = &(*p)->next;
			continue;
		}
		print(*p);
		forget(p);
	}
	fflush(stdout);
}

void jobs_list(void)
{
	struct job *j;

	jobs_poll();
	for (j = jobs; j; j = j->next)
		print(j);
}

/* The job that is waited for has the terminal, so that Ctrl-C can end it. */
int job_wait(pid_t pid)
{
	struct job **p = &jobs;
	int status;

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	if (!*p)
		return STATUS_NOT_FOUND;
	if (!(*p)->ended) {
		if (sh.interactive)
			tcsetpgrp(STDIN_FILENO, pid);
		job_ended(pid, wait_foreground(pid));
	}
	status = (*p)->status;
	forget(p);
	return report_status(status);
}

int jobs_wait_all(void)
{
	int status = 0;

	while (jobs)
		status = job_wait(jobs->pid);
	return status;
}

pid_t job_find(const char *name)
{
	bool by_id = *name == '%';
	char *end;
	long n = strtol(name + by_id, &end, 10);
	struct job *j;

	if (end == name + by_id || *end)
		return 0;
	for (j = jobs; j; j = j->next)
		if (n == (by_id ? j->id : j->pid))
			return j->pid;
	return 0;
}
