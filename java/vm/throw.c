/*
 * throw.c - exceptions: how the machine throws them, finds their handlers, and notes where they came from.
 *
 * A trace is an array of long: the address of a method and the offset of an instruction, in turn, for each frame.
 * Classes are never freed, so that the addresses stay good.
 */

#include "opcodes.h"
#include "vm.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_TRACE 512 /* frames */

void throw_object(struct jthread *t, struct object *throwable)
{
	t->exception = throwable;
}

void throw_no_memory(struct jthread *t)
{
	t->exception = out_of_memory;
}

/*
 * Where each frame is, as an array of long; without the constructors of `skip`, and without the methods that the
 * machine has made for lambda expressions. NULL: no memory.
 */
struct object *throw_trace(struct jthread *t, struct object *skip)
{
	struct frame *f = t->frame, *begin;
	struct array *trace;
	int n = 0;

	while (f != NULL && skip != NULL && f->locals[0].a == skip &&
	       !(f->method->access & ACC_STATIC) &&
	       class_is_assignable(f->method->cls, known.throwable))
		f = f->caller;
	begin = f;
	for (; f != NULL && n < MAX_TRACE; f = f->caller)
		n += !f->method->cls->hidden;
	trace = heap_array(t, known.array['J'], n * 2);
	if (trace == NULL)
		return NULL;
	for (int i = 0; i < n; begin = begin->caller) {
		const struct method *m = begin->method;

		if (m->cls->hidden)
			continue;
		trace->j[2 * i] = (int64_t)(intptr_t)m;
		trace->j[2 * i++ + 1] = m->code == NULL ? -1 : begin->pc - m->code;
	}
	return (struct object *)trace;
}

/* Sets t->exception to a new object of this class, with a message if format is not NULL; or to what prevents it. */
void throw_new(struct jthread *t, const char *cls, const char *format, ...)
{
	struct class *c;
	struct object *o, *part;
	char text[512];
	va_list args;

	t->exception = NULL;
	c = class_find_text(t, cls);
	if (c == NULL || !class_initialize(t, c))
		return;
	o = heap_object(t, c);
	if (o == NULL)
		return;
	if (t->n_roots == MAX_ROOTS) {
		throw_no_memory(t);
		return;
	}
	root_push(t, o);
	if (format != NULL) {
		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
		for (char *p = text; *p != 0 && strncmp(format, "%s", 2) == 0; p++)
			if (*p == '/' && p[1] > ' ')
				*p = '.';
		part = string_new(t, text, strlen(text));
		if (part != NULL)
			o->fields[known.throwable_message->slot].a = part;
	}
	if (t->exception == NULL) {
		part = throw_trace(t, NULL);
		if (part != NULL)
			o->fields[known.throwable_trace->slot].a = part;
	}
	root_pop(t, 1);
	if (t->exception == NULL)
		t->exception = o;
}

/* Makes t->exception the cause of a new exception of this class; message: NULL, or a name of a class. */
void throw_wrap(struct jthread *t, const char *cls, const char *message)
{
	struct object *cause = root_push(t, t->exception);

	if (message == NULL)
		throw_new(t, cls, NULL);
	else
		throw_new(t, cls, "%s", message);
	if (t->exception != out_of_memory) /* which all threads share */
		t->exception->fields[known.throwable_cause->slot].a = cause;
	root_pop(t, 1);
}

/*
 * The handler of t->exception in a frame, or NULL. A handler whose class cannot be loaded handles nothing: the verifier
 * has seen that its class is a Throwable.
 */
const uint8_t *throw_find(struct jthread *t, struct frame *f)
{
	struct method *m = f->method;
	uint32_t at = (uint32_t)(f->pc - m->code);
	struct object *o = t->exception;

	for (int i = 0; i < m->n_handlers; i++) {
		struct handler *h = &m->handlers[i];
		struct class *c;

		if (at < h->start || at >= h->end)
			continue;
		if (h->type == 0)
			return m->code + h->target;
		root_push(t, o);
		t->exception = NULL;
		c = resolve_class(t, m->cls, h->type);
		t->exception = o;
		root_pop(t, 1);
		if (c != NULL && class_is_assignable(o->cls, c))
			return m->code + h->target;
	}
	return NULL;
}

/* The line of the source, or -1. */
int method_line(const struct method *m, uint32_t pc)
{
	int line = -1;
	uint32_t best = 0;

	for (int i = 0; i < m->n_lines; i++) {
		uint32_t start = u2_at(m->lines + 4 * i);

		if (start <= pc && (line < 0 || start >= best)) {
			best = start;
			line = u2_at(m->lines + 4 * i + 2);
		}
	}
	return line;
}

/* Prints t->exception, which nothing handles, and forgets it. */
void throw_uncaught(struct jthread *t)
{
	struct object *o = root_push(t, t->exception);
	struct method *m;
	union slot args[1] = {{.a = o}}, none;

	t->exception = NULL;
	m = class_method(o->cls, symbol_of_text("uncaught"), known.void_desc);
	if (m != NULL)
		java_call(t, m, args, &none);
	if (m == NULL || t->exception != NULL)
		fprintf(stderr, "Exception in a thread: %s\n", o->cls->name->text);
	t->exception = NULL;
	root_pop(t, 1);
}
