/*
 * plockstat.c - plockstat [-s SIG] [-n ROWS] CMD ARG...: runs a command with lock statistics, and
 * prints the reports on standard error, with the names of locks and callers in place of addresses.
 *
 * It adds lockstat=... to the value of LIBTHREAD_OPTIONS.  The command reports at its exit, or
 * each time that it receives SIG.
 *
 * -n: at most so many rows of a report, those with the highest cost.
 *
 * Names come from the symbol table of the program that a report names.  Programs that the
 * command starts report too.  Exits as the command does; 128 + signal if one killed it.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include "symbols.h"
#include "../usage.h"

static struct program program; /* of the current report */

/* Finds the file that execvp would execute. */
static void find_program(const char *name)
{
	char path[PATH_MAX];
	const char *dirs = getenv("PATH");

	free(program.file);
	program = (struct program){0};
	if (strchr(name, '/') != NULL)
		dirs = "";
	do {
		size_t n = strcspn(dirs, ":");

		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)n, dirs, n > 0 ? "/" : "", name) <
			    (int)sizeof(path) &&
		    read_whole(path, &program) && find_symbols(&program))
			return;
		free(program.file);
		program = (struct program){0};
		dirs += n + (dirs[n] == ':');
	} while (*dirs != '\0');
	warnx("%s: no symbols: its file is not to be found", name);
}

/* Prints the address, a separator, and the symbol's name if there is one. */
static void print_name(const char *address, int type, const char *end)
{
	uint64_t at = strtoull(address, NULL, 16);
	const struct elf_symbol *y = symbol_at(&program, type, at);

	if (y == NULL)
		fprintf(stderr, "%s%s", address, end);
	else if (at == y->value)
		fprintf(stderr, "%s%s", program.names + y->name, end);
	else
		fprintf(stderr, "%s+%#" PRIx64 "%s", program.names + y->name, at - y->value, end);
}

static void copy_reports(FILE *from, long rows)
{
	char line[512], name[PATH_MAX], lock[24], caller[24];
	long left = rows;
	int at;

	while (fgets(line, sizeof(line), from) != NULL) {
		if (sscanf(line, "lockstat: process %*d, %[^\n]", name) == 1) {
			find_program(name);
			left = rows;
		}
		/* A row ends in two addresses, after its name and nine numbers. */
		if (sscanf(line, "%*s%*u%*u%*u%*u%*u%*u%*u%*u%*u%n %23s %23s", &at, lock, caller) !=
			    2 ||
		    strncmp(lock, "0x", 2) != 0) {
			fputs(line, stderr);
		} else if (left-- > 0) {
			fprintf(stderr, "%.*s  ", at, line);
			print_name(lock, SYMBOL_OBJECT, " ");
			print_name(caller, SYMBOL_FUNC, "\n");
		}
	}
}

static void set_option(int sig, int fd)
{
	const char *before = getenv("LIBTHREAD_OPTIONS");
	char when[16] = "exit", all[4096];

	int n;

	if (sig != 0)
		snprintf(when, sizeof(when), "%d", sig);
	if (before == NULL)
		before = "";
	n = snprintf(all, sizeof(all), "%s%slockstat=%s,lockstat-fd=%d", before,
		     *before != '\0' ? "," : "", when, fd);
	if (n >= (int)sizeof(all) || setenv("LIBTHREAD_OPTIONS", all, 1) != 0)
		errx(1, "LIBTHREAD_OPTIONS is too long");
}

static const char usage[] = "usage: plockstat [-s SIG] [-n ROWS] CMD ARG...\n";

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	long rows = LONG_MAX;
	int c, ends[2], status, error, sig = 0;
	FILE *reports;
	pid_t pid;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "+s:n:")) != -1) {
		if (c == 's') {
			if (str2sig(strncmp(optarg, "SIG", 3) == 0 ? optarg + 3 : optarg, &sig) !=
			    0)
				errx(2, "%s: no such signal", optarg);
		} else if (c != 'n' || (rows = atol(optarg)) < 1) {
			return usage_wrong(usage);
		}
	}
	if (optind == argc)
		return usage_wrong(usage);
	if (pipe(ends) != 0)
		err(1, "pipe");
	reports = fdopen(ends[0], "r");
	if (reports == NULL)
		err(1, "pipe");
	set_option(sig, ends[1]);
	error = posix_spawn_file_actions_init(&actions);
	if (error == 0)
		error = posix_spawn_file_actions_addclose(&actions, ends[0]);
	if (error == 0)
		error = posix_spawnp(&pid, argv[optind], &actions, NULL, argv + optind, environ);
	if (error) {
		errno = error;
		err(error == ENOENT ? 127 : 126, "%s", argv[optind]);
	}
	close(ends[1]);
	copy_reports(reports, rows);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			err(1, "waitpid");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
