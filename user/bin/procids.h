/*
 * procids.h - for the commands on processes and scheduling: numbers and ids from the command
 * line, and the execution of a command.
 */
#pragma once
#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procset.h>
#include <unistd.h>
#include <weft/proc.h>

/* Parses a number of the command line, from min to max.  Otherwise ends with a message and status
 * 2. */
static inline long number(const char *what, const char *text, long min, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || n < min || n > max)
		errx(2, "%s: %s is no number from %ld to %ld", what, text, min, max);
	return n;
}

static inline int process_id(const char *text)
{
	return number("process", text, 1, WEFT_PID_MAX);
}

/*
 * Is pid in a list of process ids, with commas or blanks between them?  NULL: always.  An invalid
 * list ends the program with status 2.
 */
__attribute__((unused)) static bool pid_listed(const char *list, int pid)
{
	char id[16];
	size_t n;

	for (const char *at = list; at != NULL && *(at += strspn(at, ", ")); at += n) {
		n = strcspn(at, ", ");
		snprintf(id, sizeof(id), "%.*s", (int)n, at);
		if (process_id(id) == pid)
			return true;
	}
	return list == NULL;
}

/* Returns the type of id that `name` means (priocntl's -i); -1: none. */
__attribute__((unused)) static int idtype_of(const char *name)
{
	static const struct {
		const char *name;
		idtype_t type;
	} types[] = {
		{"pid", P_PID},   {"ppid", P_PPID}, {"pgid", P_PGID}, {"sid", P_SID},
		{"class", P_CID}, {"uid", P_UID},   {"gid", P_GID},   {"all", P_ALL},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(name, types[i].name) == 0)
			return types[i].type;
	return -1;
}

/* Executes the command argv.  Exits with 127: there is no such program, 126: it cannot be run. */
__attribute__((noreturn, unused)) static void become(char **argv)
{
	execvp(argv[0], argv);
	err(errno == ENOENT ? 127 : 126, "%s", argv[0]);
}
