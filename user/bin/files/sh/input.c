/*
 * input.c - the sources of the shell's text: a string, a file, standard input, a
 * terminal.  Inputs nest: a string inside a command is read while the command is.
 *
 * An input that comes in lines reads its next line only when a character of it is
 * needed.  So a command runs as soon as its last line is there.  The input keeps the lines of the
 * command that is being read.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

struct input {
	struct input *up;
	const char *text; /* `own', or a string of the caller's */
	size_t at, len;
	int line;
	struct str own;
	bool (*more)(struct input *in); /* adds a line to `own'; false: no line left */
	bool ended;
	bool inside; /* of a command: its first line was read */
};

static struct input *current;

static struct input *push(int line)
{
	struct input *in = xrealloc(NULL, sizeof(*in));

	*in = (struct input){.up = current, .line = line};
	return current = in;
}

void input_pop(void)
{
	struct input *in = current;

	current = in->up;
	str_free(&in->own);
	free(in);
}

void input_reset(void)
{
	while (current->up)
		input_pop();
}

void input_string(const char *text, int line)
{
	struct input *in = push(line);

	in->text = text;
	in->len = strlen(text);
}

bool input_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct str text = {0};
	char buf[4096];
	struct input *in;
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		str_append(&text, buf, n);
	close(fd);
	if (n < 0) {
		str_free(&text);
		return false;
	}
	in = push(1);
	in->own = text;
	in->text = text.s;
	in->len = text.len;
	return true;
}

bool stdin_byte(char *c)
{
	ssize_t n;

	for (;;) {
		n = signals_let_read() ? read(STDIN_FILENO, c, 1) : -1;
		if (n >= 0 || errno != EINTR)
			return n == 1;
		signals_check();
	}
}

static bool stdin_line(struct input *in)
{
	size_t before = in->own.len;
	char c = '\0';

	while (c != '\n' && stdin_byte(&c))
		str_add(&in->own, c);
	return in->own.len > before;
}

void input_stdin(void)
{
	push(1)->more = stdin_line;
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

static bool terminal_line(struct input *in)
{
	char prompt[300] = "> ";
	const char *line;
	bool interrupted;

	if (!in->inside) {
		jobs_notify();
		make_prompt(prompt, sizeof(prompt));
	}
	line = edit_line(prompt, &interrupted);
	if (interrupted)
		fail(STATUS_SIGNAL + SIGINT);
	if (!line)
		return false;
	history_add(line);
	str_append(&in->own, line, strlen(line));
	str_add(&in->own, '\n');
	return true;
}

void input_terminal(void)
{
	push(1)->more = terminal_line;
}

void input_begin_command(void)
{
	current->inside = current->ended = false;
	if (!current->more)
		return;
	/* discards the rest of the line: after a syntax error it is not run */
	current->own.len = current->at = current->len = 0;
}

int peek_char(void)
{
	struct input *in = current;

	if (in->at == in->len && in->more && !in->ended) {
		in->ended = !in->more(in);
		in->inside = true;
		in->text = in->own.s;
		in->len = in->own.len;
	}
	return in->at < in->len ? (unsigned char)in->text[in->at] : END_OF_INPUT;
}

int next_char(void)
{
	int c = peek_char();

	if (c == END_OF_INPUT)
		return c;
	current->at++;
	current->line += c == '\n';
	return c;
}

int input_line(void)
{
	return current->line;
}

size_t input_at(void)
{
	return current->at;
}

const char *input_text(size_t at)
{
	return current->text + at;
}
