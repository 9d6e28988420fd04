/*
 * unwind.c - errors: their messages, and the jump from an error back to the
 * prompt, or out of the shell.
 */
#include <stdarg.h>
#include <stdlib.h>
#include "sh.h"

struct undo {
	struct undo *before;
	void (*fn)(void *);
	void *arg;
};
static struct undo *last;

void undo_later(void (*fn)(void *), void *arg)
{
	struct undo *u = arena_alloc(sh.tmp, sizeof(*u));

	*u = (struct undo){last, fn, arg};
	last = u;
}

void undo(void)
{
	struct undo *u = last;

	last = u->before;
	u->fn(u->arg);
}

void undo_all(void)
{
	while (last)
		undo();
}

static void say(const char *format, va_list ap)
{
	fflush(stdout);
	if (sh.one_builtin)
		; /* the builtin prints its own name */
	else if (sh.interactive || !sh.line)
		fputs("sh: ", stderr);
	else
		fprintf(stderr, "%s: line %d: ", sh.name, sh.line);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}

void error(int status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
	fail(status);
}

void fail(int status)
{
	sh.status = status;
	if (sh.unwind)
		longjmp(*sh.unwind, 1);
	leave(status);
}

void leave(int status)
{
	sh.unwind = NULL; /* an error in the trap ends the trap */
	sh.status = status;
	trap_exit();
	fflush(stdout);
	exit(sh.status);
}
