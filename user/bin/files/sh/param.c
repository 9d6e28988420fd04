/*
 * param.c - ${ }: the value of a parameter, and its operators (POSIX,
 * 2.6.2 Parameter Expansion).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "sh.h"

/* Returns the letters of the options that are set, as for $-. */
static const char *option_letters(char *buf)
{
	char *p = buf;

	if (sh.errexit)
		*p++ = 'e';
	if (sh.noglob)
		*p++ = 'f';
	if (sh.interactive)
		*p++ = 'i';
	if (sh.job_control)
		*p++ = 'm';
	if (sh.nounset)
		*p++ = 'u';
	if (sh.xtrace)
		*p++ = 'x';
	*p = '\0';
	return buf;
}

/* Returns the value, formatted in `number' if it is computed; NULL: not set. */
static const char *value_of(const char *name, char *number, size_t size)
{
	long n;

	switch (*name) {
	case '?':
		n = sh.status;
		break;
	case '$':
		n = sh.pid;
		break;
	case '#':
		n = sh.params.n;
		break;
	case '!':
		if (!sh.last_job)
			return NULL;
		n = sh.last_job;
		break;
	case '-':
		return option_letters(number);
	default:
		if (!isdigit((unsigned char)*name))
			return var_get(name);
		n = strtol(name, NULL, 10);
		if (n == 0)
			return sh.name;
		return n <= sh.params.n ? sh.params.v[n - 1] : NULL;
	}
	snprintf(number, size, "%ld", n);
	return number;
}

/*
 * Expands $@ and $*: the parameters one by one, or joined to one string by the first
 * character of IFS.
 */
static void all_params(char which, bool quoted, struct sink *s)
{
	const char *ifs = var_get("IFS");
	int i;

	if (which == '*' && quoted && sh.params.n == 0)
		s->empty(s);
	for (i = 0; i < sh.params.n; i++) {
		if (i && which == '*' && quoted)
			s->text(s, ifs ? ifs : " ", ifs ? *ifs != '\0' : 1, true);
		else if (i)
			s->field(s);
		sink_value(s, sh.params.v[i], quoted);
	}
}

static char *joined_params(void)
{
	struct part p = {.kind = PART_PARAM, .quoted = true, .text = "*"};
	struct word w = {.parts = &p};

	return expand_string(&w);
}

/* Returns the value without the shortest or longest matching piece at its end or start. */
static const char *trim(const char *value, const char *pattern, char op)
{
	size_t len = strlen(value), i, n;
	struct mark mark = arena_mark(sh.tmp);
	bool fits;

	for (i = 0; i <= len; i++) {
		/* The length at which the piece begins (at the end) or ends (at the start). */
		n = op == '%' || op == 'H' ? len - i : i;
		if (op == '%' || op == 'P') {
			if (match(pattern, value + n))
				return arena_string(sh.tmp, value, n);
			continue;
		}
		fits = match(pattern, arena_string(sh.tmp, value, n));
		arena_release(sh.tmp, mark);
		if (fits)
			return value + n;
	}
	return value;
}

static void assign(const struct part *p, struct sink *s)
{
	char *value = expand_string(p->word);

	if (!name_length(p->text))
		error(STATUS_ERROR, "%s cannot be assigned to", p->text);
	var_set(p->text, value);
	sink_value(s, value, p->quoted);
}

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80; /* UTF-8 */
	return n;
}

static void unset_error(const struct part *p)
{
	char *why = p->op == '?' && p->word->parts ? expand_string(p->word) : NULL;

	error(STATUS_ERROR, "%s: %s", p->text,
	      why        ? why
	      : p->colon ? "not set, or empty"
			 : "not set");
}

void expand_param(const struct part *p, struct sink *s)
{
	bool all = *p->text == '@' || *p->text == '*', missing;
	const char *value;
	char number[24];

	if (all && !p->op) {
		all_params(*p->text, p->quoted, s);
		return;
	}
	value = all ? (sh.params.n ? joined_params() : NULL)
		    : value_of(p->text, number, sizeof(number));
	missing = !value || (p->colon && !*value);
	if (missing && p->op == '?')
		unset_error(p);
	if (!value && sh.nounset && !all && (!p->op || !strchr("-=+", p->op)))
		unset_error(p);
	switch (p->op) {
	case '-':
		if (missing) {
			expand_word(p->word, s);
			return;
		}
		break;
	case '+':
		if (!missing)
			expand_word(p->word, s);
		else if (p->quoted)
			s->empty(s);
		return;
	case '=':
		if (missing) {
			assign(p, s);
			return;
		}
		break;
	case 'L':
		snprintf(number, sizeof(number), "%zu",
			 all ? (size_t)sh.params.n : characters(value ? value : ""));
		sink_value(s, number, p->quoted);
		return;
	case '%':
	case 'P':
	case '#':
	case 'H':
		value = value ? trim(value, expand_pattern(p->word), p->op) : "";
		sink_value(s, value, p->quoted);
		return;
	}
	if (all)
		all_params(*p->text, p->quoted, s);
	else
		sink_value(s, value ? value : "", p->quoted);
}
