/*
 * vars.c - variables.  Those that are exported live in the environment itself;
 * the others in a list here.  No name is in both.
 */
#include <ctype.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "sh.h"

struct var {
	struct var *next;
	char *name, *value;
};
static struct var *locals;

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		errx(STATUS_CANNOT_RUN, "out of memory");
	return p;
}

char *xstrdup(const char *s)
{
	return strcpy(xrealloc(NULL, strlen(s) + 1), s);
}

void str_add(struct str *str, char c)
{
	if (str->len + 2 > str->size) {
		str->size = str->size ? 2 * str->size : 32;
		str->s = xrealloc(str->s, str->size);
	}
	str->s[str->len++] = c;
	str->s[str->len] = '\0';
}

void str_free(struct str *str)
{
	free(str->s);
	*str = (struct str){0};
}

size_t name_length(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*s) && *s != '_')
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

static struct var **find(const char *name)
{
	struct var **v = &locals;

	while (*v && strcmp((*v)->name, name))
		v = &(*v)->next;
	return v;
}

const char *var_get(const char *name)
{
	struct var *v = *find(name);

	return v ? v->value : getenv(name);
}

static void export(const char *name, const char *value)
{
	if (setenv(name, value, 1) != 0)
		errx(STATUS_CANNOT_RUN, "out of memory");
}

void var_set(const char *name, const char *value)
{
	struct var *v = *find(name);

	if (!v && getenv(name)) {
		export(name, value);
		return;
	}
	if (!v) {
		v = xrealloc(NULL, sizeof(*v));
		*v = (struct var){.next = locals, .name = xstrdup(name)};
		locals = v;
	}
	free(v->value);
	v->value = xstrdup(value);
}

static void forget_local(const char *name)
{
	struct var **p = find(name), *v = *p;

	if (!v)
		return;
	*p = v->next;
	free(v->name);
	free(v->value);
	free(v);
}

void var_export(const char *name, const char *value)
{
	struct var *v = *find(name);

	if (!value && v)
		value = v->value;
	if (value)
		export(name, value);
	else if (!getenv(name))
		export(name, "");
	forget_local(name);
}

void var_unset(const char *name)
{
	forget_local(name);
	unsetenv(name);
}
