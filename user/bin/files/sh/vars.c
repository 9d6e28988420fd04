/*
 * vars.c - variables, in a hash table.
 *
 * Exported variables form the environment of programs.  This array is built on demand, after a
 * change.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

#define BUCKETS 256

struct var {
	struct var *next;
	char *text; /* NAME=VALUE */
	size_t name_len;
	bool set, exported;
};
static struct var *table[BUCKETS];
static char **env; /* NULL: to be built */

struct saved_var { /* in sh.tmp */
	struct saved_var *before;
	const char *name, *value; /* NULL: the variable was not set */
	bool exported;
};

size_t name_length(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*s) && *s != '_')
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

static struct var **place_of(const char *name, size_t len)
{
	unsigned hash = 0;
	struct var **v;
	size_t i;

	for (i = 0; i < len; i++)
		hash = hash * 31 + (unsigned char)name[i];
	for (v = &table[hash % BUCKETS]; *v; v = &(*v)->next)
		if ((*v)->name_len == len && !memcmp((*v)->text, name, len))
			break;
	return v;
}

static struct var *find(const char *name)
{
	return *place_of(name, strlen(name));
}

static struct var *find_or_make(const char *name, size_t len)
{
	struct var **place = place_of(name, len), *v = *place;

	if (v)
		return v;
	v = xrealloc(NULL, sizeof(*v));
	*v = (struct var){.text = xrealloc(NULL, len + 2), .name_len = len};
	memcpy(v->text, name, len);
	strcpy(v->text + len, "=");
	return *place = v;
}

static void changed(void)
{
	static char *none[] = {NULL};

	free(env);
	env = NULL;
	environ = none;
}

const char *var_get(const char *name)
{
	struct var *v = find(name);

	return v && v->set ? v->text + v->name_len + 1 : NULL;
}

static void set(struct var *v, const char *value)
{
	char *text = xrealloc(NULL, v->name_len + strlen(value) + 2);

	memcpy(text, v->text, v->name_len + 1);
	strcpy(text + v->name_len + 1, value); /* value may be a part of the old text */
	free(v->text);
	v->text = text;
	v->set = true;
	if (v->exported)
		changed();
}

void var_set(const char *name, const char *value)
{
	set(find_or_make(name, strlen(name)), value);
}

void var_export(const char *name)
{
	find_or_make(name, strlen(name))->exported = true;
	changed();
}

void var_unset(const char *name)
{
	struct var **place = place_of(name, strlen(name)), *v = *place;

	if (!v)
		return;
	if (v->exported)
		changed();
	*place = v->next;
	free(v->text);
	free(v);
}

void vars_init(void)
{
	char **e, *eq;
	struct var *v;

	for (e = environ; e && *e; e++) {
		eq = strchr(*e, '=');
		if (!eq || name_length(*e) != (size_t)(eq - *e))
			continue;
		v = find_or_make(*e, eq - *e);
		v->exported = true;
		set(v, eq + 1);
	}
	var_set("IFS", " \t\n"); /* never inherited from the environment (POSIX) */
	v = find("IFS");
	v->exported = false;
}

char **vars_environ(void)
{
	struct var *v;
	int i, n = 0;

	if (env)
		return env;
	for (i = 0; i < BUCKETS; i++)
		for (v = table[i]; v; v = v->next)
			n += v->exported && v->set;
	env = xrealloc(NULL, (n + 1) * sizeof(*env));
	n = 0;
	for (i = 0; i < BUCKETS; i++)
		for (v = table[i]; v; v = v->next)
			if (v->exported && v->set)
				env[n++] = v->text;
	env[n] = NULL;
	environ = env; /* posix_spawnp searches the PATH of environ */
	return env;
}

static int by_text(const void *a, const void *b)
{
	return strcmp((*(struct var *const *)a)->text, (*(struct var *const *)b)->text);
}

/* Prints the variable in a form that the shell can read again. */
static void print(const struct var *v, const char *before)
{
	const char *s = v->text + v->name_len + 1;

	printf("%s%.*s", before, (int)v->name_len, v->text);
	if (v->set) {
		fputs("='", stdout);
		for (; *s; s++)
			if (*s == '\'')
				fputs("'\\''", stdout);
			else
				putchar(*s);
		putchar('\'');
	}
	putchar('\n');
}

void vars_print(bool exported)
{
	struct fields all = {0};
	struct var *v;
	int i;

	for (i = 0; i < BUCKETS; i++)
		for (v = table[i]; v; v = v->next)
			if (exported ? v->exported : v->set)
				add_field(&all, (char *)v);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_text);
	for (i = 0; i < all.n; i++)
		print((struct var *)all.v[i], exported ? "export " : "");
}

void vars_assign(const char *text)
{
	size_t n = name_length(text);

	set(find_or_make(text, n), text + n + 1);
}

static void restore(void *arg)
{
	struct saved_var *s;
	struct var *v;

	for (s = arg; s; s = s->before) {
		if (!s->value) {
			var_unset(s->name);
			continue;
		}
		v = find_or_make(s->name, strlen(s->name));
		v->exported = s->exported;
		set(v, s->value);
		changed();
	}
}

void vars_push(const struct fields *assigns)
{
	struct saved_var *saved = NULL, *s;
	struct var *v;
	int i;

	for (i = 0; i < assigns->n; i++) {
		s = arena_alloc(sh.tmp, sizeof(*s));
		v = find_or_make(assigns->v[i], name_length(assigns->v[i]));
		*s = (struct saved_var){
			.before = saved,
			.name = arena_string(sh.tmp, v->text, v->name_len),
			.exported = v->exported,
		};
		if (v->set)
			s->value = arena_string(sh.tmp, v->text + v->name_len + 1,
						strlen(v->text) - v->name_len - 1);
		saved = s;
		v->exported = true;
		vars_assign(assigns->v[i]);
	}
	undo_later(restore, saved);
}
