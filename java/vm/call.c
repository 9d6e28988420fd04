/*
 * call.c - frames, calls from C to Java and back, and native methods.
 *
 * A thread's Java stack holds the frames one behind the other: local variables, struct frame, operand stack. The
 * arguments of a call are the first local variables of the callee, where the caller has pushed them. Some places at the
 * end are kept for what runs after StackOverflowError.
 */

#include "vm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 24 /* of calls from C, each of which takes C stack */

/* A frame for the method, on top. NULL: StackOverflowError. */
struct frame *frame_push(struct jthread *t, struct method *m, union slot *args)
{
	size_t need = m->max_locals + FRAME_SLOTS + m->max_stack + STACK_RESERVE;
	struct frame *f;

	if ((size_t)(t->stack_end - args) < need) {
		throw_new(t, "java/lang/StackOverflowError", NULL);
		return NULL;
	}
	f = (struct frame *)(args + m->max_locals);
	f->caller = t->frame;
	f->method = m;
	f->pc = m->code;
	f->locals = args;
	f->sp = args;
	f->lock = NULL;
	f->entry = false;
	t->frame = f;
	return f;
}

static bool table_has(const struct native *table, const char *name, native_fn **fn)
{
	for (; table->name != NULL; table++)
		if (strcmp(table->name, name) == 0) {
			*fn = table->fn;
			return true;
		}
	return false;
}

/* What a native method does, or NULL. Only the machine's own classes have any. */
native_fn *native_find(struct method *m)
{
	char name[256];
	native_fn *fn = NULL;

	if (!m->cls->trusted)
		return NULL;
	snprintf(name, sizeof(name), "%s.%s%s", m->cls->name->text, m->name->text, m->desc->text);
	if (table_has(native_lang, name, &fn) || table_has(native_thread, name, &fn) ||
	    table_has(native_io, name, &fn))
		return fn;
	return NULL;
}

/* Calls a native method. Its arguments are on top of the Java stack. It may throw. No native method is synchronized. */
void native_call(struct jthread *t, struct method *m, union slot *args, union slot *result)
{
	int n_roots = t->n_roots;
	union slot value = {.j = 0};
	native_fn *fn = __atomic_load_n(&m->native, __ATOMIC_ACQUIRE);
	struct frame *f;

	if (fn == NULL) {
		fn = native_find(m);
		if (fn == NULL) {
			throw_new(t, "java/lang/UnsatisfiedLinkError",
				  "%s.%s%s: this machine runs no native code of "
				  "programs",
				  m->cls->name->text, m->name->text, m->desc->text);
			return;
		}
		__atomic_store_n(&m->native, fn, __ATOMIC_RELEASE);
	}
	f = frame_push(t, m, args);
	if (f == NULL)
		return;
	fn(t, args, &value);
	t->frame = f->caller;
	t->n_roots = n_roots;
	*result = value;
}

/* Calls a method from C, with its arguments; *result is set unless there is t->exception. Blocks as the method does. */
void java_call(struct jthread *t, struct method *m, const union slot *args, union slot *result)
{
	struct frame *top = t->frame, *f;
	union slot *base = top == NULL ? t->stack : FRAME_STACK(top) + top->method->max_stack;

	if (t->depth == MAX_DEPTH || t->stack_end - base < m->n_args + STACK_RESERVE) {
		throw_new(t, "java/lang/StackOverflowError", NULL);
		return;
	}
	for (int i = 0; i < m->n_args; i++)
		base[i] = args[i];
	t->depth++;
	if (m->access & ACC_NATIVE) {
		native_call(t, m, base, result);
	} else if ((f = frame_push(t, m, base)) != NULL) {
		f->entry = true;
		interpret(t, result);
	}
	t->depth--;
}

/* The array of multianewarray: n dimensions have a count. NULL: t->exception. */
struct object *multi_array(struct jthread *t, struct class *cls, const union slot *counts, int n)
{
	struct object *array;

	for (int i = 0; i < n; i++)
		if (counts[i].i < 0) {
			throw_new(t, "java/lang/NegativeArraySizeException", "%d",
				  (int)counts[i].i);
			return NULL;
		}
	if (t->n_roots >= MAX_ROOTS - 2) {
		throw_no_memory(t);
		return NULL;
	}
	array = (struct object *)heap_array(t, cls, counts[0].i);
	if (array == NULL || n == 1)
		return array;
	root_push(t, array);
	for (int32_t i = 0; i < counts[0].i; i++) {
		struct object *part = multi_array(t, cls->element, counts + 1, n - 1);

		if (part == NULL)
			break;
		ARRAY(array)->a[i] = part;
	}
	root_pop(t, 1);
	return t->exception == NULL ? array : NULL;
}
