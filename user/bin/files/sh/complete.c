/*
 * complete.c - completes a command's name or a file's name when Tab is typed.
 *
 * The line is split into words roughly.  The parser understands quotes, backslashes, and where a
 * command may stand.  It does not understand expansions.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "edit.h"
#include "sh.h"

/* The word that the cursor is in or behind. */
struct typed {
	char *text;   /* without its quotes */
	bool command; /* a command may stand there */
	char quote;   /* not closed at the word's end, or 0 */
};

static bool before_command(const char *word)
{
	static const char *const reserved[] = {"!",  "{",    "if",    "elif", "else",
					       "do", "then", "until", "while"};
	size_t i;

	for (i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (!strcmp(word, reserved[i]))
			return true;
	return word[name_length(word)] == '=' && name_length(word) > 0;
}

static struct typed last_word(const char *line, size_t len)
{
	struct str word = {.arena = sh.tmp};
	bool command = true, redirection = false, any = false;
	char quote = 0, c;
	size_t i;

	for (i = 0; i < len; i++) {
		c = line[i];
		if (quote) {
			if (c == quote)
				quote = 0;
			else
				str_add(&word,
					quote == '"' && c == '\\' && i + 1 < len ? line[++i] : c);
		} else if (c == '\'' || c == '"') {
			quote = c;
			any = true;
		} else if (c == '\\' && i + 1 < len) {
			str_add(&word, line[++i]);
			any = true;
		} else if (!strchr(" \t;&|()<>`", c)) {
			str_add(&word, c);
			any = true;
		} else {
			const char *text = str_done(&word);

			if (any && !redirection)
				command = command && before_command(text);
			redirection = c == '<' || c == '>' || (redirection && !any);
			if (strchr(";&|(`", c) && !redirection) /* >& and >| are one */
				command = true;
			any = false;
		}
	}
	return (struct typed){str_done(&word), command && !redirection, quote};
}

static int compare_completions(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_names(struct fields *f)
{
	int i, n = 0;

	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), compare_completions);
	for (i = 0; i < f->n; i++)
		if (n == 0 || strcmp(f->v[n - 1], f->v[i]))
			f->v[n++] = f->v[i];
	f->n = n;
}

/* Adds the directory's names that begin with name; directories get a slash.  dir: "", or ends in
 * one. */
static void add_files(struct fields *f, const char *dir, const char *name, bool programs)
{
	DIR *stream = opendir(*dir ? dir : ".");
	struct dirent *d;
	struct stat st;

	while (stream && (d = readdir(stream)) != NULL) {
		struct str path = {.arena = sh.tmp}, shown = {.arena = sh.tmp};
		char *file;

		if (strncmp(d->d_name, name, strlen(name)) || !strcmp(d->d_name, ".") ||
		    !strcmp(d->d_name, "..") || (*d->d_name == '.' && *name != '.'))
			continue;
		str_append(&path, dir, strlen(dir));
		str_append(&path, d->d_name, strlen(d->d_name));
		file = str_done(&path);
		str_append(&shown, d->d_name, strlen(d->d_name));
		if (stat(file, &st) == 0 && S_ISDIR(st.st_mode)) {
			if (programs)
				continue;
			str_add(&shown, '/');
		}
		if (!programs || access(file, X_OK) == 0)
			add_field(f, str_done(&shown));
	}
	if (stream)
		closedir(stream);
}

static void add_commands(struct fields *f, const char *name)
{
	const char *dir = var_get("PATH"), *end;
	struct fields built_in = {0};
	int i;

	builtin_names(&built_in);
	function_names(&built_in);
	for (i = 0; i < built_in.n; i++)
		if (!strncmp(built_in.v[i], name, strlen(name)))
			add_field(f, built_in.v[i]);
	for (; dir && *dir; dir = *end ? end + 1 : end) {
		struct str path = {.arena = sh.tmp};

		end = dir + strcspn(dir, ":");
		str_append(&path, dir, end - dir);
		if (end > dir)
			str_add(&path, '/');
		add_files(f, str_done(&path), name, true);
	}
}

/* Adds the text as it must be typed. */
static void complete_quoted(struct str *to, const char *s, size_t n, char quote)
{
	const char *special = quote == '"' ? "\"\\$`"
			      : quote == 0 ? " \t\\'\"$`&|;()<>*?[]#~{}!"
					   : "";

	for (; n > 0; n--, s++) {
		if (quote == '\'' && *s == '\'') { /* closes the quotes, and opens them again */
			str_append(to, "'\\''", 4);
		} else if (quote == 0 && *s == '\n') { /* after a backslash it would be removed */
			str_append(to, "'\n'", 3);
		} else {
			if (strchr(special, *s))
				str_add(to, '\\');
			str_add(to, *s);
		}
	}
}

const char *complete(const char *line, size_t cursor, struct fields *names)
{
	struct typed word = last_word(line, cursor);
	const char *slash = strrchr(word.text, '/'), *name = slash ? slash + 1 : word.text;
	size_t have = strlen(name), same;
	struct str more = {.arena = sh.tmp};
	int i;

	if (word.command && !slash)
		add_commands(names, name);
	else
		add_files(names, arena_string(sh.tmp, word.text, name - word.text), name, false);
	sort_names(names);
	if (names->n == 0)
		return "";
	same = strlen(names->v[0]);
	for (i = 1; i < names->n; i++)
		while (strncmp(names->v[0], names->v[i], same))
			same--;
	/* A character of several bytes is added as a whole. */
	while (same > have && same < strlen(names->v[0]) && (names->v[0][same] & 0xc0) == 0x80)
		same--;
	if (same > have)
		complete_quoted(&more, names->v[0] + have, same - have, word.quote);
	if (names->n == 1 && names->v[0][same - 1] != '/') {
		if (word.quote)
			str_add(&more, word.quote);
		str_add(&more, ' ');
	}
	return str_done(&more);
}
