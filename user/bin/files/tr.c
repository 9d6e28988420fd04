/*
 * tr.c - tr [-c] [-d] [-s] SET1 [SET2]: replaces each byte of SET1 by the byte at the same place in
 * SET2.  If SET2 is shorter, its last byte is repeated.
 *
 * -d: removes the bytes instead.  -s: keeps only one of a run of equal bytes of the last given set.
 * -c: SET1 is every byte that is not in it.
 *
 * A set is bytes, ranges a-z, classes [:alpha:], and escapes \n \t \\ \012.
 */
#include <ctype.h>
#include <stdbool.h>
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

struct set {
	unsigned char *v;
	size_t n;
};

static const struct {
	const char *name;
	int (*test)(int);
} classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
	       {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
	       {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};

static void add(struct set *set, int c)
{
	set->v = need(realloc(set->v, set->n + 1));
	set->v[set->n++] = c;
}

/* If s begins with a class, adds the class and returns the text behind it; else returns NULL. */
static const char *add_class(struct set *set, const char *s)
{
	const char *end = strncmp(s, "[:", 2) ? NULL : strstr(s, ":]");
	size_t i;
	int c;

	if (!end)
		return NULL;
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == (size_t)(end - s - 2) &&
		    !strncmp(classes[i].name, s + 2, end - s - 2))
			break;
	if (i == sizeof(classes) / sizeof(classes[0]))
		errx(2, "no such class: %.*s", (int)(end + 2 - s), s);
	for (c = 0; c < 256; c++)
		if (classes[i].test(c))
			add(set, c);
	return end + 2;
}

static const char *one_byte(const char *s, int *c)
{
	static const char letters[] = "abfnrtv\\", values[] = "\a\b\f\n\r\t\v\\";
	const char *l;
	int n = 0;

	*c = (unsigned char)*s++;
	if (*c != '\\' || !*s)
		return s;
	if (*s >= '0' && *s <= '7') {
		for (*c = 0; n < 3 && *s >= '0' && *s <= '7'; n++)
			*c = (*c * 8 + *s++ - '0') & 0xff;
		return s;
	}
	l = strchr(letters, *s);
	*c = l ? values[l - letters] : (unsigned char)*s;
	return s + 1;
}

static struct set parse_set(const char *s)
{
	struct set set = {0};
	const char *rest;
	int from, to;

	while (*s) {
		rest = add_class(&set, s);
		if (rest) {
			s = rest;
			continue;
		}
		s = one_byte(s, &from);
		to = from;
		if (s[0] == '-' && s[1])
			s = one_byte(s + 1, &to);
		if (to < from)
			errx(2, "a range that goes down: %c-%c", from, to);
		for (; from <= to; from++)
			add(&set, from);
	}
	return set;
}

static bool has(const struct set *set, int c)
{
	return set->n && memchr(set->v, c, set->n);
}

static struct set complement(const struct set *set)
{
	struct set other = {0};
	int c;

	for (c = 0; c < 256; c++)
		if (!has(set, c))
			add(&other, c);
	return other;
}

static const char usage[] = "usage: tr [-c] [-d] [-s] SET1 [SET2]\n";

int main(int argc, char **argv)
{
	bool complemented = false, removes = false, squeeze = false;
	bool deleted[256] = {0}, squeezed[256] = {0};
	unsigned char map[256];
	struct set one, two = {0}, *last;
	int c, before = -1, nsets;
	size_t i;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "cCds")) != -1) {
		complemented |= c == 'c' || c == 'C';
		removes |= c == 'd';
		squeeze |= c == 's';
		if (c == '?')
			optind = argc;
	}
	nsets = argc - optind;
	if (nsets < 1 || nsets > 2 || (removes && nsets != 1 + squeeze) ||
	    (!removes && !squeeze && nsets != 2)) {
		return usage_wrong(usage);
	}
	one = parse_set(argv[optind]);
	if (complemented)
		one = complement(&one);
	if (nsets == 2)
		two = parse_set(argv[optind + 1]);
	if (nsets == 2 && !two.n)
		errx(2, "the second set is empty");
	for (c = 0; c < 256; c++)
		map[c] = c;
	for (i = 0; i < one.n; i++) {
		deleted[one.v[i]] = removes;
		if (nsets == 2 && !removes)
			map[one.v[i]] = two.v[i < two.n ? i : two.n - 1];
	}
	last = nsets == 2 ? &two : &one;
	for (i = 0; squeeze && i < last->n; i++)
		squeezed[last->v[i]] = true;
	while ((c = getchar()) != EOF) {
		if (deleted[c])
			continue;
		c = map[c];
		if (squeezed[c] && c == before)
			continue;
		putchar(c);
		before = c;
	}
	return end_output(close_input(stdin, "standard input") ? 0 : 2);
}
