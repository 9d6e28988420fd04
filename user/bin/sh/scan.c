/*
 * scan.c - from text to commands: words, quotes, expansions, operators.
 *
 * Commands are taken from the text one at a time and expanded as they are, because
 * an earlier command of the same line may set a variable that a later one uses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

/* Characters that end a word unless quoted. */
#define OPERATORS ";&|<>()`"

struct word {
	struct str text;
	bool started; /* there is a word, perhaps an empty one ('') */
	bool quoted;  /* some of it was quoted */
};

static void put(struct word *w, char c)
{
	str_add(&w->text, c);
	w->started = true;
}

static void add_string(char ***list, int *n, char *s)
{
	*list = xrealloc(*list, (*n + 2) * sizeof(**list));
	(*list)[(*n)++] = s;
	(*list)[*n] = NULL;
}

/*
 * Is the word an assignment?  Only before the first word of the command proper.  The
 * name and the = must not come from an expansion or a quote: `plain` is what stood
 * in the text, and how much of it.
 */
static bool is_assignment(const struct command *c, const char *plain, size_t len)
{
	size_t n = name_length(plain);

	return c->argc == 0 && n > 0 && n < len && plain[n] == '=';
}

/* The word is complete: it joins the command. */
static void finish_word(struct word *w, struct command *c, const char *plain, size_t len)
{
	char *s;

	if (!w->started)
		return;
	s = w->text.s ? w->text.s : xstrdup("");
	if (is_assignment(c, plain, len))
		add_string(&c->assign, &c->nassign, s);
	else
		add_string(&c->argv, &c->argc, s);
	*w = (struct word){0};
}

/* Value of the parameter that *p (behind the $) names; moves *p on.  NULL: a plain $. */
static const char *parameter(const char **p, char *number, size_t size, const char **error)
{
	const char *s = *p, *value = "";
	bool braces = *s == '{';
	size_t n;
	char *name;

	s += braces;
	n = name_length(s);
	if (n > 0) {
		name = xrealloc(NULL, n + 1);
		memcpy(name, s, n);
		name[n] = '\0';
		value = var_get(name);
		free(name);
		s += n;
	} else if (*s && strchr("?$!#", *s)) {
		snprintf(number, size, "%d",
			 *s == '?'   ? sh.status
			 : *s == '$' ? getpid()
			 : *s == '#' ? sh.argc - 1
				     : sh.last_job);
		value = *s == '!' && !sh.last_job ? "" : number;
		s++;
	} else if (*s >= '0' && *s <= '9') {
		value = *s - '0' < sh.argc ? sh.argv[*s - '0'] : "";
		s++;
	} else if (!braces) {
		return NULL;
	} else {
		*error = "bad substitution";
		return NULL;
	}
	if (braces && *s++ != '}') {
		*error = "bad substitution";
		return NULL;
	}
	*p = s;
	return value ? value : "";
}

/*
 * A $ at *p.  Outside of quotes, blanks in the value separate words; not in an
 * assignment.
 */
static void expand(const char **p, struct word *w, struct command *c, bool quoted,
		   const char *plain, size_t plain_len, const char **error)
{
	char number[16];
	const char *value;
	bool split = !quoted && !is_assignment(c, plain, plain_len);

	++*p;
	value = parameter(p, number, sizeof(number), error);
	if (!value) {
		put(w, '$');
		return;
	}
	for (; *value; value++) {
		if (split && strchr(" \t\n", *value))
			finish_word(w, c, "", 0);
		else
			put(w, *value);
	}
}

/*
 * A quote at *p, up to its end.  False: there is none.
 */
static bool quoted_part(const char **p, struct word *w, struct command *c, const char **error)
{
	char quote = *(*p)++;

	w->started = true;
	while (**p != quote) {
		if (!**p)
			return false;
		if (quote == '"' && **p == '$') {
			expand(p, w, c, true, "", 0, error);
			continue;
		}
		if (quote == '"' && **p == '`')
			*error = "there is no command substitution";
		if (quote == '"' && **p == '\\' && (*p)[1] && strchr("\\\"$`", (*p)[1]))
			++*p;
		put(w, *(*p)++);
	}
	++*p;
	return true;
}

/* The operator at *p; moves *p on. */
static enum op take_operator(const char **p, const char **error)
{
	char c = **p;

	if (!c)
		return OP_END;
	++*p;
	if (c == '\n' || c == ';')
		return OP_SEQ;
	if (c == '&' && **p == '&') {
		++*p;
		return OP_AND;
	}
	if (c == '&')
		return OP_BG;
	if (c == '|' && **p == '|') {
		++*p;
		return OP_OR;
	}
	*error = c == '|'               ? "there are no pipes"
		 : c == '<' || c == '>' ? "there is no redirection"
		 : c == '`'             ? "there is no command substitution"
					: "unexpected parenthesis";
	return OP_END;
}

static enum scan fail(struct word *w, struct command *c, enum scan why)
{
	str_free(&w->text);
	command_free(c);
	return why;
}

enum scan next_command(const char **p, struct command *c, const char **error)
{
	const char *start;
	size_t plain; /* how much of the word up to here stands in the text as it is */
	struct word w = {0};

	*error = NULL;
	*c = (struct command){0};
	*p += strspn(*p, " \t\n");
	while (**p == '#') {
		*p += strcspn(*p, "\n");
		*p += strspn(*p, " \t\n");
	}
	c->text = start = *p;
	plain = 0;
	while (**p && **p != '\n' && !strchr(OPERATORS, **p)) {
		if (!w.started && !w.text.s)
			start = *p;
		if (!w.quoted)
			plain = *p - start;
		switch (**p) {
		case ' ':
		case '\t':
			finish_word(&w, c, start, plain);
			w.quoted = false;
			++*p;
			break;
		case '#':
			if (w.started)
				put(&w, *(*p)++);
			else
				*p += strcspn(*p, "\n");
			break;
		case '\'':
		case '"':
			w.quoted = true;
			if (!quoted_part(p, &w, c, error))
				return fail(&w, c, SCAN_UNFINISHED);
			break;
		case '\\':
			++*p;
			if (!**p)
				return fail(&w, c, SCAN_UNFINISHED);
			if (**p == '\n') { /* joins two lines */
				++*p;
				break;
			}
			w.quoted = true;
			put(&w, *(*p)++);
			break;
		case '$':
			w.quoted = true;
			expand(p, &w, c, false, start, plain, error);
			break;
		default:
			put(&w, *(*p)++);
		}
		if (*error)
			return fail(&w, c, SCAN_ERROR);
	}
	if (!w.quoted)
		plain = *p - start;
	finish_word(&w, c, start, plain);
	c->len = *p - c->text;
	while (c->len > 0 && strchr(" \t", c->text[c->len - 1]))
		c->len--;
	if (!**p && *p == c->text)
		return fail(&w, c, SCAN_END);
	if (*p == c->text) /* there may be words that expanded to nothing: they count */
		*error = "a command is missing";
	else
		c->op = take_operator(p, error);
	return *error ? fail(&w, c, SCAN_ERROR) : SCAN_OK;
}

void command_free(struct command *c)
{
	int i;

	for (i = 0; i < c->nassign; i++)
		free(c->assign[i]);
	for (i = 0; i < c->argc; i++)
		free(c->argv[i]);
	free(c->assign);
	free(c->argv);
	*c = (struct command){0};
}
