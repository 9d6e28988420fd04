/*
 * glob.c - patterns: whether a pattern matches a string, and which files match it (POSIX, 2.13
 * Pattern Matching Notation).  A backslash quotes the next character.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "sh.h"

bool match(const char *pattern, const char *s)
{
	return fnmatch(pattern, s, 0) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_wild(const char *s, size_t len)
{
	for (; len; len--, s++) {
		if (*s == '\\' && len > 1) {
			s++;
			len--;
		} else if (strchr("*?[", *s)) {
			return true;
		}
	}
	return false;
}

static void unquote(struct str *out, const char *s, size_t len)
{
	for (; len; len--, s++) {
		if (*s == '\\' && len > 1) {
			s++;
			len--;
		}
		str_add(out, *s);
	}
}

static char *join(const char *dir, const char *name, bool slash)
{
	struct str s = {.arena = sh.tmp};

	str_append(&s, dir, strlen(dir));
	str_append(&s, name, strlen(name));
	if (slash)
		str_add(&s, '/');
	return str_done(&s);
}

/*
 * Adds the matches of `pattern' below `dir', a path that ends with a slash or is empty.  Processes
 * the pattern name by name.
 */
static void walk(const char *dir, const char *pattern, struct fields *f)
{
	size_t len = strcspn(pattern, "/"), slashes = strspn(pattern + len, "/");
	const char *rest = pattern + len + slashes;
	struct str name = {.arena = sh.tmp};
	struct fields names = {0};
	struct dirent *d;
	struct stat st;
	char *wild, *path;
	DIR *stream;
	int i;

	if (!is_wild(pattern, len)) {
		unquote(&name, pattern, len);
		str_append(&name, pattern + len, slashes);
		path = join(dir, str_done(&name), false);
		if (*rest)
			walk(path, rest, f);
		else if (stat(path, &st) == 0)
			add_field(f, path);
		return;
	}
	wild = arena_string(sh.tmp, pattern, len);
	stream = opendir(*dir ? dir : ".");
	if (!stream)
		return;
	while ((d = readdir(stream)) != NULL)
		if (fnmatch(wild, d->d_name, FNM_PERIOD) == 0)
			add_field(&names, arena_string(sh.tmp, d->d_name, strlen(d->d_name)));
	closedir(stream);
	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), by_name);
	for (i = 0; i < names.n; i++) {
		if (slashes)
			walk(join(dir, names.v[i], true), rest, f);
		else
			add_field(f, join(dir, names.v[i], false));
	}
}

bool glob_files(const char *pattern, struct fields *f)
{
	int before = f->n;

	walk("", pattern, f);
	return f->n > before;
}
