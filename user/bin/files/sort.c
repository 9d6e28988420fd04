/*
 * sort.c - sort [-bcnru] [-t CHAR] [-k KEY]... [-o OUTPUT] [FILE...]: sorts lines.
 *
 * A key is FIELD[.CHAR][bnr][,FIELD[.CHAR][bnr]]: the first and the last place, counted from 1.
 * Without a last place the key ends with the line.  CHAR separates fields; by default a field is
 * blanks and the text after them.
 *
 * Lines with equal keys are ordered by all their bytes.  With -u only the first of them in the
 * input is printed.  -c: only checks whether the lines are in order.
 */
#include <ctype.h>
#include <stdbool.h>
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

struct order {
	bool blanks, numeric, reverse;
};

struct key {
	int field, first; /* from 0 */
	int end_field;    /* -1: to the end of the line */
	int end_char;     /* number of its characters; 0: all */
	struct order order;
	bool own_order;
};

struct line {
	char *text;
	size_t index; /* in the input */
};

static struct key *keys;
static int nkeys;
static struct order all; /* of -b -n -r */
static int separator = -1;
static bool unique;

/* --- keys ------------------------------------------------------------------------- */

/* Returns where the field begins, or the end of the line. */
static const char *field_start(const char *s, int field)
{
	while (field-- > 0 && *s) {
		if (separator >= 0) {
			while (*s && *s != separator)
				s++;
			s += *s != '\0';
		} else {
			s += strspn(s, " \t");
			s += strcspn(s, " \t");
		}
	}
	return s;
}

static const char *field_end(const char *s)
{
	if (separator < 0) {
		s += strspn(s, " \t");
		return s + strcspn(s, " \t");
	}
	while (*s && *s != separator)
		s++;
	return s;
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

static const char *at_char(const char *s, int n)
{
	while (n-- > 0 && *s)
		s++;
	return s;
}

/* Returns where the key's text in the line begins; *end: where it ends. */
static const char *find_key(const struct key *k, const char *line, const char **end)
{
	const char *s = field_start(line, k->field), *e;

	if (k->order.blanks)
		s = skip_blanks(s);
	s = at_char(s, k->first);
	if (k->end_field < 0) {
		e = s + strlen(s);
	} else {
		e = field_start(line, k->end_field);
		if (k->end_char == 0) {
			e = field_end(e);
		} else {
			if (k->order.blanks)
				e = skip_blanks(e);
			e = at_char(e, k->end_char);
		}
	}
	*end = e < s ? s : e;
	return s;
}

static int compare_bytes(const char *a, const char *a_end, const char *b, const char *b_end)
{
	size_t la = a_end - a, lb = b_end - b;
	int r = memcmp(a, b, la < lb ? la : lb);

	return r ? r : (la > lb) - (la < lb);
}

/* A number: blanks, a sign, digits, a point and digits.  Its length is unlimited, so it stays
 * text. */
struct number {
	bool negative;
	const char *digits, *point; /* without leading zeros; the end of these digits */
	const char *end;            /* of the digits behind the point, without trailing zeros */
};

static const char *skip_digits(const char *s, const char *end)
{
	while (s < end && isdigit((unsigned char)*s))
		s++;
	return s;
}

static struct number parse_number(const char *s, const char *end)
{
	struct number n = {0};

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	n.negative = s < end && *s == '-';
	s += n.negative;
	while (s < end && *s == '0')
		s++;
	n.digits = s;
	n.point = n.end = skip_digits(s, end);
	if (n.point < end && *n.point == '.') {
		n.end = skip_digits(n.point + 1, end);
		while (n.end[-1] == '0')
			n.end--;
		if (n.end == n.point + 1)
			n.end = n.point;
	}
	if (n.end == n.digits) /* 0, or not a number, which counts as 0 */
		n.negative = false;
	return n;
}

static int compare_numbers(const char *a, const char *a_end, const char *b, const char *b_end)
{
	struct number x = parse_number(a, a_end), y = parse_number(b, b_end);
	size_t nx = x.point - x.digits, ny = y.point - y.digits;
	int r;

	if (x.negative != y.negative)
		return x.negative ? -1 : 1;
	r = (nx > ny) - (nx < ny);
	if (!r)
		r = memcmp(x.digits, y.digits, nx);
	if (!r)
		r = compare_bytes(x.point, x.end, y.point, y.end);
	return x.negative ? -r : r;
}

static int compare_keys(const char *a, const char *b)
{
	const char *sa, *sb, *ea, *eb;
	int i, r;

	for (i = 0; i < nkeys; i++) {
		sa = find_key(&keys[i], a, &ea);
		sb = find_key(&keys[i], b, &eb);
		r = keys[i].order.numeric ? compare_numbers(sa, ea, sb, eb)
					  : compare_bytes(sa, ea, sb, eb);
		if (r)
			return keys[i].order.reverse ? -r : r;
	}
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;
	int r = compare_keys(a->text, b->text);

	if (!r && !unique) {
		r = strcmp(a->text, b->text);
		r = all.reverse ? -r : r;
	}
	return r ? r : (a->index > b->index) - (a->index < b->index);
}

/* --- options ------------------------------------------------------------------------ */

static void bad_key(const char *s)
{
	errx(2, "not a key: %s", s);
}

/* Parses FIELD[.CHAR][bnr]; returns the text behind it. */
static const char *parse_place(const char *s, const char *key, struct key *k, int *field, int *ch)
{
	char *end;

	*field = strtol(s, &end, 10);
	if (end == s || *field < 1)
		bad_key(key);
	if (*end == '.') {
		s = end + 1;
		*ch = strtol(s, &end, 10);
		if (end == s || *ch < 0)
			bad_key(key);
	}
	for (; *end && strchr("bnr", *end); end++) {
		k->own_order = true;
		k->order.blanks |= *end == 'b';
		k->order.numeric |= *end == 'n';
		k->order.reverse |= *end == 'r';
	}
	return end;
}

static void add_key(const char *text)
{
	struct key k = {.first = 1, .end_field = -1};
	const char *s = parse_place(text, text, &k, &k.field, &k.first);

	if (k.first < 1)
		bad_key(text);
	k.field--;
	k.first--;
	if (*s == ',') {
		s = parse_place(s + 1, text, &k, &k.end_field, &k.end_char);
		k.end_field--;
	}
	if (*s)
		bad_key(text);
	keys = need(realloc(keys, (nkeys + 1) * sizeof(*keys)));
	keys[nkeys++] = k;
}

/* --- lines ---------------------------------------------------------------------------- */

static struct line *lines;
static size_t nlines, room;

static void read_lines(const char *name)
{
	FILE *f = open_input(name);
	char *text = NULL;
	size_t size = 0;

	if (!f)
		exit(2);
	while (next_line(&text, &size, f) >= 0) {
		if (nlines == room) {
			room = room ? 2 * room : 256;
			lines = need(realloc(lines, room * sizeof(*lines)));
		}
		lines[nlines].text = need(strdup(text));
		lines[nlines].index = nlines;
		nlines++;
	}
	free(text);
	if (!close_input(f, name))
		exit(2);
}

static int check(void)
{
	size_t i;
	int r;

	for (i = 1; i < nlines; i++) {
		r = compare(&lines[i - 1], &lines[i]);
		if (r > 0 || (unique && compare_keys(lines[i - 1].text, lines[i].text) == 0)) {
			warnx("line %zu is out of order: %s", i + 1, lines[i].text);
			return 1;
		}
	}
	return 0;
}

static const char usage[] = "usage: sort [-bcnru] [-t CHAR] [-k KEY]... [-o OUTPUT] [FILE...]\n";

int main(int argc, char **argv)
{
	const char *output = NULL;
	bool check_only = false;
	size_t i;
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "bcnrut:k:o:")) != -1) {
		switch (c) {
		case 'b':
			all.blanks = true;
			break;
		case 'c':
			check_only = true;
			break;
		case 'n':
			all.numeric = true;
			break;
		case 'r':
			all.reverse = true;
			break;
		case 'u':
			unique = true;
			break;
		case 't':
			if (strlen(optarg) != 1)
				errx(2, "not one character: %s", optarg);
			separator = *optarg;
			break;
		case 'k':
			add_key(optarg);
			break;
		case 'o':
			output = optarg;
			break;
		default:
			return usage_wrong(usage);
		}
	}
	if (!nkeys)
		add_key("1");
	for (c = 0; c < nkeys; c++)
		if (!keys[c].own_order)
			keys[c].order = all;
	argv += optind;
	if (!*argv)
		read_lines("-");
	for (; *argv; argv++)
		read_lines(*argv);
	if (check_only)
		return check();
	if (nlines)
		qsort(lines, nlines, sizeof(*lines), compare);
	if (output && !freopen(output, "w", stdout)) /* the output may be one of the inputs */
		err(2, "%s", output);
	for (i = 0; i < nlines; i++)
		if (!unique || i == 0 || compare_keys(lines[i - 1].text, lines[i].text))
			puts(lines[i].text);
	return end_output(0);
}
