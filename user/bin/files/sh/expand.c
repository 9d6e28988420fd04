/*
 * expand.c - from words to fields (POSIX, 2.6 Word Expansions).
 *
 * Parameters, command substitution and arithmetic are replaced by their values.  Unquoted values
 * are split at IFS.  Fields with unquoted * ? [ become the names of matching files.
 *
 * A field is built twice: as it is, and as a pattern in which backslashes mark quoted
 * text.  The pattern is only made where file names or patterns matter.
 */
#include <string.h>
#include "sh.h"

void add_field(struct fields *f, char *s)
{
	char **v;

	if (f->n + 2 > f->size) {
		f->size = f->size ? 2 * f->size : 8;
		v = arena_alloc(sh.tmp, f->size * sizeof(*v));
		if (f->n)
			memcpy(v, f->v, f->n * sizeof(*v));
		f->v = v;
	}
	f->v[f->n++] = s;
	f->v[f->n] = NULL;
}

/* --- sinks --------------------------------------------------------------------- */

/* Collects one string; with `pattern', backslashes mark quoted text. */
struct string_sink {
	struct sink sink;
	struct str text;
	bool pattern;
};

static bool special_in_patterns(char c)
{
	return c && strchr("*?[]!-^\\", c);
}

static void add_quoted(struct str *s, const char *text, size_t len)
{
	for (; len; len--, text++) {
		if (special_in_patterns(*text))
			str_add(s, '\\');
		str_add(s, *text);
	}
}

static void string_text(struct sink *s, const char *text, size_t len, bool quoted)
{
	struct string_sink *k = (struct string_sink *)s;

	if (k->pattern && quoted)
		add_quoted(&k->text, text, len);
	else
		str_append(&k->text, text, len);
}

/* Joins several fields into one string: as "$*", but always with a blank. */
static void string_field(struct sink *s)
{
	str_add(&((struct string_sink *)s)->text, ' ');
}

static void string_empty(struct sink *s)
{
}

/* Splits text into fields. */
struct field_sink {
	struct sink sink;
	struct fields *fields;
	struct str text, pattern;
	bool started; /* there is a field, perhaps an empty one */
	bool wild;    /* part of it is an unquoted * ? or [ */
	bool space;   /* blanks ended a field: the next delimiter may still belong to them */
	const char *ifs;
};

static void end_field(struct field_sink *k)
{
	char *pattern, *text;

	if (!k->started)
		return;
	pattern = str_done(&k->pattern);
	text = str_done(&k->text);
	if (!k->wild || sh.noglob || !glob_files(pattern, k->fields))
		add_field(k->fields, text);
	k->started = k->wild = false;
}

static bool ifs_blank(const struct field_sink *k, char c)
{
	return (c == ' ' || c == '\t' || c == '\n') && strchr(k->ifs, c);
}

static void field_text(struct sink *s, const char *text, size_t len, bool quoted)
{
	struct field_sink *k = (struct field_sink *)s;

	if (!len)
		return;
	k->started = true;
	k->space = false;
	str_append(&k->text, text, len);
	if (quoted) {
		add_quoted(&k->pattern, text, len);
		return;
	}
	str_append(&k->pattern, text, len);
	k->wild = k->wild || memchr(text, '*', len) || memchr(text, '?', len) ||
		  memchr(text, '[', len);
}

/*
 * Splits an unquoted value.  Blanks of IFS around and between fields count once.  Any
 * other character of IFS ends one field, together with the blanks beside it.
 */
static void split(struct field_sink *k, const char *s)
{
	size_t n;

	while (*s) {
		n = strcspn(s, k->ifs);
		if (n) {
			field_text(&k->sink, s, n, false);
			s += n;
		} else if (ifs_blank(k, *s)) {
			if (k->started) {
				end_field(k);
				k->space = true;
			}
			s++;
		} else {
			if (!k->space)
				k->started = true; /* an empty field */
			end_field(k);
			k->space = false;
			s++;
		}
	}
}

static void field_field(struct sink *s)
{
	end_field((struct field_sink *)s);
}

static void field_empty(struct sink *s)
{
	((struct field_sink *)s)->started = true;
}

/* --- words --------------------------------------------------------------------------- */

/* Literal text is never split, but may be a pattern; values are split. */
void sink_value(struct sink *s, const char *value, bool quoted)
{
	if (s->text == field_text && !quoted)
		split((struct field_sink *)s, value);
	else
		s->text(s, value, strlen(value), quoted);
	if (quoted)
		s->empty(s);
}

/* Expands a ~ at the start to $HOME, quoted.  Returns the rest of the text. */
static const char *tilde(const char *text, bool whole, struct sink *s)
{
	const char *home = var_get("HOME");

	if (*text != '~' || !home || (text[1] != '/' && (text[1] || !whole)))
		return text;
	s->text(s, home, strlen(home), true);
	return text + 1;
}

static void expand_part(const struct part *p, struct sink *s)
{
	char number[24];

	switch (p->kind) {
	case PART_TEXT:
		s->text(s, p->text, strlen(p->text), p->quoted);
		if (p->quoted)
			s->empty(s);
		break;
	case PART_PARAM:
		expand_param(p, s);
		break;
	case PART_COMMAND:
		sink_value(s, command_output(p->body), p->quoted);
		break;
	case PART_ARITH:
		snprintf(number, sizeof(number), "%ld", arithmetic(expand_string(p->word)));
		sink_value(s, number, p->quoted);
		break;
	}
}

void expand_word(const struct word *w, struct sink *s)
{
	const struct part *p = w->parts;
	const char *rest;

	if (p && p->kind == PART_TEXT && !p->quoted) {
		rest = tilde(p->text, !p->next, s);
		s->text(s, rest, strlen(rest), false);
		p = p->next;
	}
	for (; p; p = p->next)
		expand_part(p, s);
}

static char *expand_one(const struct word *w, bool pattern)
{
	struct string_sink k = {
		.sink = {string_text, string_field, string_empty},
		.text.arena = sh.tmp,
		.pattern = pattern,
	};

	expand_word(w, &k.sink);
	return str_done(&k.text);
}

char *expand_string(const struct word *w)
{
	return expand_one(w, false);
}

char *expand_pattern(const struct word *w)
{
	return expand_one(w, true);
}

/* Expands NAME=VALUE; a ~ may stand behind the = and each :. */
char *expand_assignment(const struct word *w)
{
	struct string_sink k = {
		.sink = {string_text, string_field, string_empty},
		.text.arena = sh.tmp,
	};
	const struct part *p = w->parts;
	const char *s = p->text, *end;
	size_t n;

	for (n = name_length(s) + 1;; n = 1) {
		str_append(&k.text, s, n);
		s = tilde(s + n, !p->next, &k.sink);
		end = strchr(s, ':');
		n = end ? (size_t)(end - s) : strlen(s);
		str_append(&k.text, s, n);
		s += n;
		if (!*s)
			break;
	}
	for (p = p->next; p; p = p->next)
		expand_part(p, &k.sink);
	return str_done(&k.text);
}

void expand_words(const struct word *w, struct fields *f)
{
	struct field_sink k = {
		.sink = {field_text, field_field, field_empty},
		.fields = f,
		.text.arena = sh.tmp,
		.pattern.arena = sh.tmp,
		.ifs = var_get("IFS"),
	};

	if (!k.ifs)
		k.ifs = " \t\n";
	for (; w; w = w->next) {
		k.started = k.space = false;
		expand_word(w, &k.sink);
		end_field(&k);
	}
}
