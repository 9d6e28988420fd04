/*
 * test.c - test and [: conditions on files, strings and numbers (POSIX, test), with the
 * operators ( ) ! -a -o.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sh.h"

static struct {
	char **v;
	int n, at;
	const char *wrong; /* the error in the expression, or NULL */
} t;

static bool either(void);

static long number(const char *s)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (end == s || end[strspn(end, " \t")]) {
		complain("test: not a number: %s", s);
		t.wrong = "";
	}
	return n;
}

static bool is_binary(const char *s)
{
	static const char *const ops[] = {"=",   "!=",  "-eq", "-ne", "-lt", "-le",
					  "-gt", "-ge", "-nt", "-ot", "-ef"};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(s, ops[i]))
			return true;
	return false;
}

static bool compare_files(const char *a, char op, const char *b)
{
	struct stat sa, sb;
	bool have_a = stat(a, &sa) == 0, have_b = stat(b, &sb) == 0;

	if (op == 'e')
		return have_a && have_b && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
	if (!have_a || !have_b)
		return op == 'n' ? have_a : have_b;
	if (sa.st_mtim.tv_sec != sb.st_mtim.tv_sec)
		return (sa.st_mtim.tv_sec > sb.st_mtim.tv_sec) == (op == 'n');
	return op == 'n' ? sa.st_mtim.tv_nsec > sb.st_mtim.tv_nsec
			 : sa.st_mtim.tv_nsec < sb.st_mtim.tv_nsec;
}

static bool binary(const char *a, const char *op, const char *b)
{
	long na, nb;

	if (*op == '=')
		return !strcmp(a, b);
	if (*op == '!')
		return strcmp(a, b);
	if (!strcmp(op, "-nt") || !strcmp(op, "-ot") || !strcmp(op, "-ef"))
		return compare_files(a, op[1], b);
	na = number(a);
	nb = number(b);
	switch (op[1] << 8 | op[2]) {
	case 'e' << 8 | 'q':
		return na == nb;
	case 'n' << 8 | 'e':
		return na != nb;
	case 'l' << 8 | 't':
		return na < nb;
	case 'l' << 8 | 'e':
		return na <= nb;
	case 'g' << 8 | 't':
		return na > nb;
	default:
		return na >= nb;
	}
}

static bool is_unary(const char *s)
{
	return s[0] == '-' && s[1] && !s[2] && strchr("bcdefghLnprSstuwxz", s[1]);
}

static bool unary(char op, const char *s)
{
	struct stat st;

	switch (op) {
	case 'n':
		return *s;
	case 'z':
		return !*s;
	case 't':
		return isatty(number(s));
	case 'r':
		return access(s, R_OK) == 0;
	case 'w':
		return access(s, W_OK) == 0;
	case 'x':
		return access(s, X_OK) == 0;
	case 'h':
	case 'L':
		return lstat(s, &st) == 0 && S_ISLNK(st.st_mode);
	}
	if (stat(s, &st) < 0)
		return false;
	switch (op) {
	case 'b':
		return S_ISBLK(st.st_mode);
	case 'c':
		return S_ISCHR(st.st_mode);
	case 'd':
		return S_ISDIR(st.st_mode);
	case 'f':
		return S_ISREG(st.st_mode);
	case 'p':
		return S_ISFIFO(st.st_mode);
	case 'S':
		return S_ISSOCK(st.st_mode);
	case 's':
		return st.st_size > 0;
	case 'g':
		return st.st_mode & S_ISGID;
	case 'u':
		return st.st_mode & S_ISUID;
	default: /* e */
		return true;
	}
}

static const char *left(int i)
{
	return t.at + i < t.n ? t.v[t.at + i] : NULL;
}

static bool primary(void)
{
	const char *a = left(0), *b = left(1), *c = left(2);
	bool r;

	if (!a) {
		t.wrong = "an operand is missing";
		return false;
	}
	if (b && c && is_binary(b)) {
		t.at += 3;
		return binary(a, b, c);
	}
	if (!strcmp(a, "!") && b) {
		t.at++;
		return !primary();
	}
	if (!strcmp(a, "(") && b) {
		t.at++;
		r = either();
		if (!left(0) || strcmp(left(0), ")"))
			t.wrong = ") is missing";
		t.at++;
		return r;
	}
	if (is_unary(a) && b) {
		t.at += 2;
		return unary(a[1], b);
	}
	t.at++;
	return *a;
}

static bool both(void)
{
	bool r = primary();

	while (left(0) && !strcmp(left(0), "-a")) {
		t.at++;
		r &= primary();
	}
	return r;
}

static bool either(void)
{
	bool r = both();

	while (left(0) && !strcmp(left(0), "-o")) {
		t.at++;
		r |= both();
	}
	return r;
}

/* 0: true, 1: false, 2: no such expression. */
int builtin_test(int argc, char **argv)
{
	bool r;

	t.v = argv + 1;
	t.n = argc - 1;
	t.at = 0;
	t.wrong = NULL;
	if (!strcmp(argv[0], "[")) {
		if (!t.n || strcmp(argv[argc - 1], "]")) {
			complain("[: ] is missing");
			return STATUS_ERROR;
		}
		t.n--;
	}
	if (t.n == 0)
		return 1;
	if (t.n == 2 && !strcmp(t.v[0], "!")) /* an operator here counts as a string (POSIX) */
		return *t.v[1] ? 1 : 0;
	r = either();
	if (!t.wrong && t.at < t.n) {
		complain("test: unexpected: %s", t.v[t.at]);
		return STATUS_ERROR;
	}
	if (t.wrong && *t.wrong)
		complain("test: %s", t.wrong);
	return t.wrong ? STATUS_ERROR : !r;
}
