/*
 * main.c - sh [-efux] [-c TEXT [NAME ARG...] | FILE [ARG...]]: runs commands from the text,
 * from the file, or from standard input.
 *
 * A terminal that echoes its input has a person at it.  Then the shell shows prompts, lines can be
 * edited, and there is job control.
 *
 * Exits with the status of the last command; 2: a syntax error; 127: no such FILE.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "../../usage.h"
#include "sh.h"

struct shell sh;

static bool person_there(void)
{
	struct termios t;

	return tcgetattr(STDIN_FILENO, &t) == 0 && (t.c_lflag & ECHO) && isatty(STDOUT_FILENO);
}

/* Errors jump back to here, and to the next prompt. */
static void interact(void)
{
	jmp_buf unwind;

	sh.interactive = sh.job_control = true;
	sh.unwind = &unwind;
	signals_init();
	setpgid(0, 0);
	job_take_terminal(getpgrp());
	edit_init();
	input_terminal();
	setjmp(unwind);
	undo_all();
	arena_release(sh.tmp, (struct mark){0});
	input_reset();
	sh.tree = NULL;
	sh.skip = SKIP_NONE;
	sh.loops = sh.functions = sh.tested = 0;
	run_input();
}

static const char usage[] = "usage: sh [-efux] [-c TEXT [NAME ARG...] | FILE [ARG...]]\n";

/* If sh is called by such a name, it is that program: a builtin that POSIX also requires as a
 * program. */
static const struct builtin *program_of(const char *name)
{
	static const char *const programs[] = {"[", "echo", "printf", "stty", "test"};
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(name, programs[i]))
			return builtin_find(name);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *text = NULL, *slash = strrchr(argv[0], '/');
	const struct builtin *program;
	int i;

	sh.tmp = arena_new();
	program = program_of(slash ? slash + 1 : argv[0]);
	if (program) {
		sh.one_builtin = true;
		argv[0] = (char *)program->name;
		return program->run(argc, argv);
	}
	usage_asked(argv, usage);
	sh.pid = getpid();
	sh.name = argv[0];
	vars_init();
	for (i = 1; i < argc && argv[i][0] == '-' && !text; i++) {
		if (!strcmp(argv[i], "-c")) {
			if (++i == argc)
				return usage_wrong(usage);
			text = argv[i];
		} else if (!argv[i][1] || !set_options(argv[i])) {
			return usage_wrong(usage);
		}
	}
	if (text) {
		input_string(text, 1);
	} else if (i < argc && !input_file(argv[i])) {
		complain("%s: %s", argv[i], strerror(errno));
		return STATUS_NOT_FOUND;
	}
	if (i < argc)
		sh.name = argv[i];
	if (i < argc)
		params_set(argv + i + 1, argc - i - 1);
	if (text || i < argc) {
		run_input();
	} else if (person_there()) {
		interact();
	} else {
		input_stdin();
		run_input();
	}
	leave(sh.status);
}
