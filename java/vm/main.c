/*
 * main.c - the program java: reads the options, starts the machine, and runs a class's main.
 */

#include "vm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *class_path, *jar, *main;
	char **args;
	size_t heap;
};

bool verify_all;

static void usage(const char *problem, const char *what)
{
	fprintf(stderr,
		"java: %s%s\n"
		"usage: java [-Xmx16m] [-Xss512k] [-Xverify:all] [-Xnt] [-cp PATH[:PATH...]] CLASS "
		"[ARG...]\n"
		"       java [-Xmx16m] [-Xss512k] [-Xverify:all] [-Xnt] -jar FILE.jar [ARG...]\n"
		"PATH is a directory with class files, or a jar file; without -cp, the current "
		"directory.\n",
		problem, what);
	exit(2);
}

static size_t option_size(const char *option, const char *text, size_t least)
{
	char *end;
	double n = strtod(text, &end);
	int shift = *end == 'k' || *end == 'K'   ? 10
		    : *end == 'm' || *end == 'M' ? 20
		    : *end == 'g' || *end == 'G' ? 30
						 : 0;

	n *= (double)(1ull << shift);
	if (end == text || end[shift != 0] != 0 || n < (double)least || n > 4e9)
		usage("a size that cannot be: ", option);
	return (size_t)n & ~(size_t)4095;
}

static void options_read(struct options *o, char **argv)
{
	for (argv++; *argv != NULL && **argv == '-'; argv++) {
		if ((strcmp(*argv, "-cp") == 0 || strcmp(*argv, "-classpath") == 0) &&
		    argv[1] != NULL)
			o->class_path = *++argv;
		else if (strcmp(*argv, "-jar") == 0 && argv[1] != NULL) {
			o->jar = *++argv;
			argv++;
			break;
		} else if (strncmp(*argv, "-Xmx", 4) == 0)
			o->heap = option_size(*argv, *argv + 4, 1u << 20);
		else if (strncmp(*argv, "-Xss", 4) == 0)
			java_stack_size = option_size(*argv, *argv + 4, 32u << 10);
		else if (strcmp(*argv, "-Xverify:all") == 0)
			verify_all = true;
		else if (strcmp(*argv, "-Xnt") == 0 && sync_use_nt())
			;
		else
			usage("unknown option ", *argv);
	}
	if (o->jar == NULL && *argv == NULL)
		usage("which class?", "");
	if (o->jar == NULL)
		o->main = *argv++;
	o->args = argv;
}

static void path_set(const char *text)
{
	char *path = strdup(text), *save = NULL;

	for (char *p = path == NULL ? NULL : strtok_r(path, ":", &save); p != NULL;
	     p = strtok_r(NULL, ":", &save))
		if (!class_path_add(p))
			fprintf(stderr, "java: %s is neither a directory nor a jar file\n", p);
}

/* The Main-Class of the jar's manifest. */
static const char *jar_main(const char *jar)
{
	struct member m;
	const char *text = class_path_file("META-INF/MANIFEST.MF", &m), *p, *end;
	char *name;

	p = text == NULL ? NULL : strstr(text, "Main-Class:");
	if (p == NULL) {
		fprintf(stderr, "java: no main class in the manifest of %s%s%s\n", jar,
			m.wrong[0] == 0 ? "" : ": ", m.wrong);
		exit(1);
	}
	p += strlen("Main-Class:");
	p += strspn(p, " ");
	end = p + strcspn(p, " \r\n");
	name = strndup(p, (size_t)(end - p));
	return name == NULL ? "" : name;
}

/* The String[] of main. NULL: t->exception. */
static struct object *main_args(struct jthread *t, char **args)
{
	int n = 0;
	struct array *array;

	while (args[n] != NULL)
		n++;
	array = heap_array(t, known.array_string, n);
	if (array == NULL)
		return NULL;
	root_push(t, &array->object);
	for (int i = 0; i < n && t->exception == NULL; i++)
		array->a[i] = string_new(t, args[i], strlen(args[i]));
	return t->exception == NULL ? &array->object : NULL;
}

static void main_run(struct jthread *t, struct options *o)
{
	char *name = strdup(o->main);
	struct class *c;
	struct method *m;
	union slot args[1], none;

	for (char *p = name; p != NULL && *p != 0; p++)
		if (*p == '.')
			*p = '/';
	c = name == NULL ? NULL : class_find_text(t, name);
	free(name);
	if (c == NULL || !class_initialize(t, c))
		return;
	m = class_method(c, symbol_of_text("main"), symbol_of_text("([Ljava/lang/String;)V"));
	if (m == NULL || !(m->access & ACC_STATIC) || !(m->access & ACC_PUBLIC)) {
		fprintf(stderr, "java: %s has no public static void main(String[])\n", o->main);
		exit(1);
	}
	args[0].a = main_args(t, o->args);
	if (args[0].a != NULL)
		java_call(t, m, args, &none);
}

int main(int argc, char **argv)
{
	struct options o = {.heap = 64u << 20};
	struct jthread *t;
	int status = 0;

	options_read(&o, argv);
	heap_init(o.heap);
	path_set(o.jar != NULL ? o.jar : o.class_path != NULL ? o.class_path : ".");
	if (o.jar != NULL)
		o.main = jar_main(o.jar);
	t = jthread_new(java_stack_size);
	if (t == NULL) {
		fprintf(stderr, "java: no memory for the main thread\n");
		return 1;
	}
	jthread_current = t;
	jthread_add(t, false);
	world_enter(t);
	if (!known_init(t) || !jthread_start_main(t)) {
		fprintf(stderr, "java: the machine cannot start: %s\n",
			t->exception == NULL ? "its library is damaged"
					     : t->exception->cls->name->text);
		return 1;
	}
	main_run(t, &o);
	if (t->exception != NULL) {
		throw_uncaught(t);
		status = 1;
	}
	jthread_finish(t);
	pthread_mutex_lock(&world.lock);
	while (world.users > 0)
		pthread_cond_wait(&world.last_user, &world.lock);
	pthread_mutex_unlock(&world.lock);
	exit(status);
}
