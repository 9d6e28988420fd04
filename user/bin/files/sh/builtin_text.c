/*
 * builtin_text.c - built-in commands that write and read text: echo printf read.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

static int written(const char *name)
{
	if (!ferror(stdout) && fflush(stdout) == 0)
		return 0;
	complain("%s: %s", name, strerror(errno));
	clearerr(stdout);
	return 1;
}

/* echo [-n] [WORD...]; -n: without a newline. */
int builtin_echo(int argc, char **argv)
{
	bool newline = argc < 2 || strcmp(argv[1], "-n");
	int i = newline ? 1 : 2;

	for (; i < argc; i++) {
		fputs(argv[i], stdout);
		if (i + 1 < argc)
			putchar(' ');
	}
	if (newline)
		putchar('\n');
	return written("echo");
}

/* --- printf ------------------------------------------------------------------------- */

static struct {
	char **args; /* those not used yet */
	int status;
	bool stop; /* \c in a %b */
} pf;

static const char *next_arg(void)
{
	return *pf.args ? *pf.args++ : "";
}

/* Prints the escape at s, behind the \.  Returns the text after it. */
static const char *escape(const char *s, bool b)
{
	static const char letters[] = "abfnrtv\\\"'", values[] = "\a\b\f\n\r\t\v\\\"'";
	const char *l;
	int n = 0, digits = 0;

	if (b && *s == 'c') {
		pf.stop = true;
		return s + 1;
	}
	if (*s >= '0' && *s <= '7') {
		if (b && *s == '0') /* %b: \0 and up to three digits */
			s++;
		for (; digits < 3 && *s >= '0' && *s <= '7'; digits++)
			n = n * 8 + *s++ - '0';
		putchar(n);
		return s;
	}
	l = *s ? strchr(letters, *s) : NULL;
	if (!l) {
		putchar('\\');
		return s;
	}
	putchar(values[l - letters]);
	return s + 1;
}

static intmax_t integer(const char *s)
{
	intmax_t n;
	char *end;

	if (*s == '\'' || *s == '"') /* the code of a character */
		return (unsigned char)s[1];
	errno = 0;
	n = *s == '-' ? strtoimax(s, &end, 0) : (intmax_t)strtoumax(s, &end, 0);
	if (errno || *end) {
		complain("printf: not a number: %s", s);
		pf.status = 1;
	}
	return n;
}

static double real(const char *s)
{
	char *end;
	double d = strtod(s, &end);

	if (*end) {
		complain("printf: not a number: %s", s);
		pf.status = 1;
	}
	return d;
}

/*
 * Prints one conversion.  spec is the text before its letter c.  Width and precision are already
 * numbers.
 */
static bool convert(struct str *spec, char c)
{
	const char *s;

	if (strchr("diouxX", c)) {
		str_append(spec, "jd", 2);
		spec->s[spec->len - 1] = c;
		s = next_arg();
		printf(spec->s, *s ? integer(s) : 0);
	} else if (strchr("eEfFgG", c)) {
		str_add(spec, c);
		s = next_arg();
		printf(spec->s, *s ? real(s) : 0.0);
	} else if (c == 'c') {
		s = next_arg();
		str_append(spec, ".1s", 3);
		printf(spec->s, s);
	} else if (c == 's') {
		str_add(spec, 's');
		printf(spec->s, next_arg());
	} else if (c == 'b') {
		for (s = next_arg(); *s && !pf.stop;)
			if (*s == '\\')
				s = escape(s + 1, true);
			else
				putchar(*s++);
	} else {
		complain("printf: no such conversion: %%%c", c);
		pf.status = 1;
		return false;
	}
	return true;
}

/* Handles the conversion at s, behind the %.  NULL: it is wrong. */
static const char *conversion(const char *s)
{
	struct str spec = {.arena = sh.tmp};
	char number[24];
	size_t n;

	str_add(&spec, '%');
	for (;;) {
		n = strspn(s, "-+ #0123456789.");
		str_append(&spec, s, n);
		s += n;
		if (*s != '*')
			break;
		s++;
		n = snprintf(number, sizeof(number), "%d", (int)integer(next_arg()));
		str_append(&spec, number, n);
	}
	if (!*s) {
		complain("printf: the format ends in a conversion");
		pf.status = 1;
		return NULL;
	}
	return convert(&spec, *s) ? s + 1 : NULL;
}

/* Prints the format once.  False: it is wrong. */
static bool print_once(const char *s)
{
	while (*s && !pf.stop) {
		if (*s == '\\') {
			s = escape(s + 1, false);
		} else if (s[0] == '%' && s[1] == '%') {
			putchar('%');
			s += 2;
		} else if (*s == '%') {
			s = conversion(s + 1);
			if (!s)
				return false;
		} else {
			putchar(*s++);
		}
	}
	return true;
}

/* printf FORMAT [ARG...]: prints the format until all arguments are used. */
int builtin_printf(int argc, char **argv)
{
	char **before;

	if (argc > 1 && !strcmp(argv[1], "--")) {
		argv++;
		argc--;
	}
	if (argc < 2) {
		fputs("usage: printf FORMAT [ARG...]\n", stderr);
		return STATUS_ERROR;
	}
	pf.args = argv + 2;
	pf.status = 0;
	pf.stop = false;
	do {
		before = pf.args;
		if (!print_once(argv[1]))
			break;
	} while (*pf.args && pf.args != before && !pf.stop);
	return written("printf") || pf.status;
}

/* --- read ----------------------------------------------------------------------------- */

/*
 * Reads a line.  Without -r, a backslash joins lines and quotes a character, for which `quoted' has
 * a 1.  False: no newline came.
 */
static bool read_line(struct str *text, struct str *quoted, bool raw)
{
	bool escaped = false;
	char c;

	while (stdin_byte(&c)) {
		if (escaped) {
			escaped = false;
			if (c == '\n')
				continue;
			str_add(text, c);
			str_add(quoted, 1);
		} else if (c == '\\' && !raw) {
			escaped = true;
		} else if (c == '\n') {
			return true;
		} else if (c) {
			str_add(text, c);
			str_add(quoted, 0);
		}
	}
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

struct line {
	const char *s, *quoted;
	const char *ifs;
	size_t at, len;
};

static bool separates(const struct line *l, size_t at)
{
	return !l->quoted[at] && strchr(l->ifs, l->s[at]);
}

static void skip_blanks(struct line *l)
{
	while (l->at < l->len && separates(l, l->at) && is_blank(l->s[l->at]))
		l->at++;
}

/* Returns the next field; for the last variable all the rest, without blanks at its end. */
static char *take_field(struct line *l, bool last)
{
	size_t start = l->at, end;

	if (last) {
		end = l->len;
		while (end > start && separates(l, end - 1) && is_blank(l->s[end - 1]))
			end--;
		/* If the rest is a single field, the delimiter that ends it is removed (POSIX). */
		if (end > start && separates(l, end - 1)) {
			size_t i = start;

			while (i < end - 1 && !separates(l, i))
				i++;
			end -= i == end - 1;
		}
		l->at = l->len;
		return arena_string(sh.tmp, l->s + start, end - start);
	}
	while (l->at < l->len && !separates(l, l->at))
		l->at++;
	end = l->at;
	skip_blanks(l);
	if (l->at < l->len && separates(l, l->at) && !is_blank(l->s[l->at])) {
		l->at++;
		skip_blanks(l);
	}
	return arena_string(sh.tmp, l->s + start, end - start);
}

/* read [-r] NAME...: a line of standard input, its fields in variables.  1: end of file. */
int builtin_read(int argc, char **argv)
{
	struct str text = {.arena = sh.tmp}, quoted = {.arena = sh.tmp};
	bool raw = argc > 1 && !strcmp(argv[1], "-r"), complete;
	struct line l = {0};
	int i;

	if (argc < 2 + raw) {
		fputs("usage: read [-r] NAME...\n", stderr);
		return STATUS_ERROR;
	}
	for (i = 1 + raw; i < argc; i++)
		if (!*argv[i] || argv[i][name_length(argv[i])]) {
			complain("read: not a name: %s", argv[i]);
			return STATUS_ERROR;
		}
	complete = read_line(&text, &quoted, raw);
	l.len = text.len;
	l.s = str_done(&text);
	l.quoted = str_done(&quoted);
	l.ifs = var_get("IFS");
	if (!l.ifs)
		l.ifs = " \t\n";
	skip_blanks(&l);
	for (i = 1 + raw; i < argc; i++)
		var_set(argv[i], take_field(&l, i == argc - 1));
	return complete ? 0 : 1;
}
