/*
 * main.c - sh [-c TEXT [NAME ARG...] | FILE [ARG...]]: runs commands from the text, from
 * the file, or from standard input.  A terminal that shows what is typed has a person
 * at it: then there are prompts, and lines can be edited.
 *
 * Exits with the status of the last command; 2: a syntax error; 127: no such FILE.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "sh.h"

struct shell sh;

static void add_text(struct str *text, const char *s)
{
	while (*s)
		str_add(text, *s++);
}

/* Text that is complete: a quote that is open at its end stays so. */
static void run_complete(const char *text)
{
	if (run_text(text))
		return;
	fputs("sh: syntax error: unexpected end\n", stderr);
	sh.status = STATUS_SYNTAX;
}

static void run_file(const char *path)
{
	struct str text = {0};
	char buf[4096];
	ssize_t n, i;
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		fprintf(stderr, "sh: %s: %s\n", path, strerror(errno));
		exit(STATUS_NOT_FOUND);
	}
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (i = 0; i < n; i++)
			str_add(&text, buf[i]);
	if (n < 0) {
		fprintf(stderr, "sh: %s: %s\n", path, strerror(errno));
		exit(STATUS_CANNOT_RUN);
	}
	close(fd);
	if (text.s)
		run_complete(text.s);
	str_free(&text);
}

/*
 * A line of standard input with its newline; false: there is none.  Byte by byte, so
 * that the commands find what comes after it.
 */
static bool read_line(struct str *text)
{
	bool any = false;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		str_add(text, c);
		any = true;
		if (c == '\n')
			break;
	}
	return any;
}

static void run_input(void)
{
	struct str text = {0};

	while (read_line(&text)) {
		if (!run_text(text.s))
			continue; /* a quote is open: the next line belongs to it */
		text.len = 0;
	}
	if (text.len)
		run_complete(text.s);
	str_free(&text);
}

/* For example "weft:/bin$ ", and "weft:/bin [1]$ " after a command that failed. */
static void make_prompt(char *prompt, size_t size)
{
	char *cwd = getcwd(NULL, 0);

	if (sh.status)
		snprintf(prompt, size, "weft:%s [%d]$ ", cwd ? cwd : "?", sh.status);
	else
		snprintf(prompt, size, "weft:%s$ ", cwd ? cwd : "?");
	free(cwd);
}

static void interact(void)
{
	struct str text = {0};
	char prompt[300];
	const char *line;
	bool interrupted;

	edit_init();
	for (;;) {
		jobs_notify();
		if (text.len)
			strcpy(prompt, "> ");
		else
			make_prompt(prompt, sizeof(prompt));
		line = edit_line(prompt, &interrupted);
		if (!line && !text.len)
			break;
		if (!line || interrupted) {
			if (!line)
				run_complete(text.s);
			else
				sh.status = STATUS_SIGNAL + 2; /* as if SIGINT had ended it */
			text.len = 0;
			continue;
		}
		history_add(line);
		add_text(&text, line);
		str_add(&text, '\n');
		if (run_text(text.s))
			text.len = 0;
	}
	str_free(&text);
}

static bool person_there(void)
{
	struct termios t;

	return tcgetattr(STDIN_FILENO, &t) == 0 && (t.c_lflag & ECHO) && isatty(STDOUT_FILENO);
}

int main(int argc, char **argv)
{
	bool text = argc > 1 && !strcmp(argv[1], "-c");

	if (argc > 1 && argv[1][0] == '-' && (!text || argc < 3)) {
		fputs("usage: sh [-c TEXT [NAME ARG...] | FILE [ARG...]]\n", stderr);
		return STATUS_SYNTAX;
	}
	sh.argc = text ? argc - 3 : argc > 1 ? argc - 1 : argc;
	sh.argv = text ? argv + 3 : argc > 1 ? argv + 1 : argv;
	if (sh.argc == 0) {
		sh.argc = 1;
		sh.argv = argv;
	}
	if (text) {
		run_complete(argv[2]);
	} else if (argc > 1) {
		run_file(argv[1]);
	} else if (person_there()) {
		sh.interactive = true;
		interact();
	} else {
		run_input();
	}
	return sh.status;
}
