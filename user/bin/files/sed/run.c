/*
 * run.c - runs the script on each line: the pattern space, the hold space, and what is
 * printed at the end of a cycle.
 */
#include <ctype.h>
#include "sed.h"

static char **names; /* files that have not been opened yet */
static FILE *in;
static const char *in_name;
static int status;

static struct buffer pattern, hold, line, later;
static long line_number;
static bool have_line;       /* `line' holds the line after the current one */
static bool line_complete;   /* the line had a newline */
static bool complete = true; /* the current line had a newline */
static regex_t *last_regex;

void buffer_add(struct buffer *b, const char *s, size_t len)
{
	if (b->len + len + 1 > b->size) {
		b->size = 2 * (b->len + len + 1);
		b->s = need(realloc(b->s, b->size));
	}
	memcpy(b->s + b->len, s, len);
	b->len += len;
	b->s[b->len] = '\0';
}

static void buffer_set(struct buffer *b, const char *s, size_t len)
{
	b->len = 0;
	buffer_add(b, s, len);
}

/* --- input -------------------------------------------------------------------------- */

/* Reads one line ahead, so that $ is known.  False: there is no line. */
static bool look_ahead(void)
{
	ssize_t n;

	while (!have_line) {
		if (!in) {
			if (!*names)
				return false;
			in_name = *names++;
			in = open_input(in_name);
			if (!in) {
				status = 1;
				continue;
			}
		}
		n = __getdelim(&line.s, &line.size, '\n', in);
		if (n < 0) {
			if (!close_input(in, in_name))
				status = 1;
			in = NULL;
			continue;
		}
		line_complete = line.s[n - 1] == '\n';
		line.len = n - line_complete;
		have_line = true;
	}
	return true;
}

static bool is_last(void)
{
	return !look_ahead();
}

/* Adds the next line to the pattern space.  False: there is no line. */
static bool next_input(void)
{
	if (!look_ahead())
		return false;
	buffer_add(&pattern, line.s, line.len);
	complete = line_complete;
	have_line = false;
	line_number++;
	return true;
}

/* --- output --------------------------------------------------------------------------- */

/* A last line without a newline is printed without. */
static void put(FILE *f, const char *s, size_t len)
{
	fwrite(s, 1, len, f);
	if (complete || !is_last())
		putc('\n', f);
	if (f != stdout)
		fflush(f);
}

/* Prints what a and r have queued: texts, and names of files after a NUL byte. */
static void put_later(void)
{
	const char *s = later.s, *end = s + later.len;
	char part[1024];
	size_t n;
	FILE *f;

	while (s < end) {
		if (*s) {
			fputs(s, stdout);
		} else {
			f = fopen(++s, "r");
			while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
				fwrite(part, 1, n, stdout);
			if (f) /* a missing file counts as empty (POSIX) */
				fclose(f);
		}
		s += strlen(s) + 1;
	}
	later.len = 0;
}

/* l: prints the line unambiguously. */
static void list(void)
{
	static const char letters[] = "\\abfrtv", values[] = "\\\a\b\f\r\t\v";
	char out[8];
	size_t i, n, column = 0;

	for (i = 0; i < pattern.len; i++) {
		unsigned char c = pattern.s[i];
		const char *v = c ? strchr(values, c) : NULL;

		if (v)
			n = sprintf(out, "\\%c", letters[v - values]);
		else
			n = sprintf(out, isprint(c) ? "%c" : "\\%03o", c);
		if (column + n > 69) {
			fputs("\\\n", stdout);
			column = 0;
		}
		fputs(out, stdout);
		column += n;
	}
	puts("$");
}

/* --- addresses ---------------------------------------------------------------------------- */

/* Searches s, which ends with a NUL.  inside: s does not begin the line. */
static bool find(regex_t *r, const char *s, bool inside, regmatch_t *m, size_t n)
{
	if (!r)
		r = last_regex;
	if (!r)
		errx(2, "there is no previous regular expression");
	last_regex = r;
	return regexec(r, s, n, m, inside ? REG_NOTBOL : 0) == 0;
}

static bool fits(const struct address *a)
{
	switch (a->kind) {
	case LINE:
		return line_number == a->line;
	case LAST:
		return is_last();
	case REGEX:
		return find(a->regex, pattern.s, false, NULL, 0);
	default:
		return true;
	}
}

static bool meant(struct command *c)
{
	if (c->to.kind == NO_ADDRESS)
		return fits(&c->from);
	if (!c->active) {
		if (!fits(&c->from))
			return false;
		c->active = c->to.kind != LINE || c->to.line > line_number;
		return true;
	}
	if (c->to.kind == LINE) {
		c->active = line_number < c->to.line;
		return line_number <= c->to.line; /* n may have read beyond it */
	}
	c->active = !fits(&c->to);
	return true;
}

/* --- s ------------------------------------------------------------------------------------- */

static void add_replacement(struct buffer *out, const char *r, const char *s, const regmatch_t *m)
{
	for (; *r; r++) {
		int part = *r == '&' ? 0 : -1;

		if (*r == '\\' && r[1]) {
			r++;
			if (isdigit((unsigned char)*r))
				part = *r - '0';
		}
		if (part < 0)
			buffer_add(out, r[-1] == '\\' && *r == 'n' ? "\n" : r, 1);
		else if (m[part].rm_so >= 0)
			buffer_add(out, s + m[part].rm_so, m[part].rm_eo - m[part].rm_so);
	}
}

static bool substitute(const struct command *c)
{
	struct buffer out = {0};
	const char *s = pattern.s, *end = s + pattern.len, *after = NULL;
	bool done = false;
	regmatch_t m[10];
	int n = 0;

	buffer_add(&out, "", 0);
	while (s <= end && find(c->regex, s, s > pattern.s, m, 10)) {
		const char *from = s + m[0].rm_so, *to = s + m[0].rm_eo;

		buffer_add(&out, s, from - s);
		/* An empty match directly behind a match does not count. */
		if (to > from || from != after) {
			if (++n == c->nth || (n > c->nth && c->global)) {
				add_replacement(&out, c->text, s, m);
				done = true;
			} else {
				buffer_add(&out, from, to - from);
			}
		}
		after = to;
		s = to;
		if (to == from) { /* an empty match: go on by one byte */
			if (s < end)
				buffer_add(&out, s, 1);
			s++;
		}
		if (done && !c->global)
			break;
	}
	if (s < end)
		buffer_add(&out, s, end - s);
	if (done)
		buffer_set(&pattern, out.s, out.len);
	free(out.s);
	return done;
}

/* --- a cycle ---------------------------------------------------------------------------------- */

enum { NEXT_CYCLE, AGAIN, QUIT };

static void end_cycle(void)
{
	if (!no_print)
		put(stdout, pattern.s, pattern.len);
	put_later();
}

/* AGAIN: a new cycle without a new line. */
static int cycle(void)
{
	struct buffer other;
	struct command *c;
	bool substituted = false, all;
	char *end;
	size_t k;
	int i;

	for (i = 0; i < ncommands; i++) {
		c = &commands[i];
		if (c->name == ':' || c->name == '}')
			continue;
		if (meant(c) == c->others) {
			if (c->name == '{')
				i = c->target;
			continue;
		}
		switch (c->name) {
		case '=':
			printf("%ld\n", line_number);
			break;
		case 'a':
			buffer_add(&later, c->text, strlen(c->text) + 1);
			break;
		case 'b':
			i = c->target - 1;
			break;
		case 'c':
			if (c->to.kind == NO_ADDRESS || c->others || !c->active)
				fputs(c->text, stdout);
			put_later();
			return NEXT_CYCLE;
		case 'd':
			put_later();
			return NEXT_CYCLE;
		case 'D':
			end = memchr(pattern.s, '\n', pattern.len);
			put_later();
			if (!end)
				return NEXT_CYCLE;
			end++;
			pattern.len -= end - pattern.s;
			memmove(pattern.s, end, pattern.len + 1);
			return AGAIN;
		case 'g':
			buffer_set(&pattern, hold.s, hold.len);
			break;
		case 'G':
			buffer_add(&pattern, "\n", 1);
			buffer_add(&pattern, hold.s, hold.len);
			break;
		case 'h':
			buffer_set(&hold, pattern.s, pattern.len);
			break;
		case 'H':
			buffer_add(&hold, "\n", 1);
			buffer_add(&hold, pattern.s, pattern.len);
			break;
		case 'i':
			fputs(c->text, stdout);
			break;
		case 'l':
			list();
			break;
		case 'n':
			if (is_last()) /* prints it, as all seds do except POSIX's */
				goto quit;
			end_cycle();
			buffer_set(&pattern, "", 0);
			next_input();
			break;
		case 'N':
			if (is_last())
				goto quit;
			buffer_add(&pattern, "\n", 1);
			next_input();
			put_later();
			break;
		case 'p':
			put(stdout, pattern.s, pattern.len);
			break;
		case 'P':
			end = memchr(pattern.s, '\n', pattern.len);
			all = complete;
			complete |= end != NULL;
			put(stdout, pattern.s, end ? (size_t)(end - pattern.s) : pattern.len);
			complete = all;
			break;
		case 'q':
			goto quit;
		case 'r':
			buffer_add(&later, "", 1);
			buffer_add(&later, c->text, strlen(c->text) + 1);
			break;
		case 's':
			if (!substitute(c))
				break;
			substituted = true;
			if (c->print)
				put(stdout, pattern.s, pattern.len);
			if (c->file)
				put(c->file, pattern.s, pattern.len);
			break;
		case 't':
			if (substituted)
				i = c->target - 1;
			substituted = false;
			break;
		case 'w':
			put(c->file, pattern.s, pattern.len);
			break;
		case 'x':
			other = pattern;
			pattern = hold;
			hold = other;
			break;
		case 'y':
			for (k = 0; k < pattern.len; k++)
				pattern.s[k] = c->text[(unsigned char)pattern.s[k]];
			break;
		}
	}
	end_cycle();
	return NEXT_CYCLE;
quit:
	end_cycle();
	return QUIT;
}

int run_files(char **files)
{
	static char dash[] = "-", *standard_input[] = {dash, NULL};
	int next = NEXT_CYCLE;

	names = *files ? files : standard_input;
	buffer_set(&hold, "", 0);
	buffer_set(&pattern, "", 0);
	while (next != QUIT) {
		if (next == NEXT_CYCLE) {
			pattern.len = 0;
			if (!next_input())
				break;
		}
		next = cycle();
	}
	return end_output(status);
}
