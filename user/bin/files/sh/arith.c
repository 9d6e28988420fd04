/*
 * arith.c - $(( )): integer expressions as in C (POSIX, 2.6.4 Arithmetic Expansion).
 *
 * The numbers are signed 64-bit and wrap around.  Variables and assignments are supported.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "sh.h"

static struct {
	const char *text, *p;
	int skip; /* > 0: the result is unused: no assignments, no division by 0 */
	int depth;
} in;

static long comma(void);
static long assignment(void);

static void bad(const char *why)
{
	error(STATUS_ERROR, "arithmetic: %s: %s", why, in.text);
}

static void blanks(void)
{
	while (isspace((unsigned char)*in.p))
		in.p++;
}

/* Consumes the operator if it is next.  The caller tries longer operators first. */
static bool take(const char *op)
{
	size_t n = strlen(op);

	blanks();
	if (strncmp(in.p, op, n))
		return false;
	in.p += n;
	return true;
}

static long number(const char *s, char **end)
{
	unsigned long n;

	errno = 0;
	n = strtoul(s, end, 0);
	if (errno || isalnum((unsigned char)**end) || **end == '_')
		bad("not a number");
	return n;
}

/* Returns the value of a variable: a number; empty or not set: 0. */
static long variable(const char *name)
{
	const char *s = var_get(name);
	bool minus;
	char *end;
	long n;

	if (!s && sh.nounset)
		error(STATUS_ERROR, "%s: not set", name);
	if (!s || !*s)
		return 0;
	s += strspn(s, " \t\n");
	minus = *s == '-';
	s += *s == '-' || *s == '+';
	if (!isdigit((unsigned char)*s))
		error(STATUS_ERROR, "arithmetic: the value of %s is not a number", name);
	n = number(s, &end);
	if (end[strspn(end, " \t\n")])
		error(STATUS_ERROR, "arithmetic: the value of %s is not a number", name);
	return minus ? (long)-(unsigned long)n : n;
}

static long primary(void)
{
	size_t len;
	char *end;
	long n;

	blanks();
	len = name_length(in.p);
	if (len) {
		in.p += len;
		return variable(arena_string(sh.tmp, in.p - len, len));
	}
	if (isdigit((unsigned char)*in.p)) {
		n = number(in.p, &end);
		in.p = end;
		return n;
	}
	if (!take("("))
		bad(*in.p ? "an operand is missing" : "unexpected end");
	n = comma();
	if (!take(")"))
		bad(") is missing");
	return n;
}

static long unary(void)
{
	long n;

	if (++in.depth > 200)
		bad("nests too deep");
	if (take("+"))
		n = unary();
	else if (take("-"))
		n = -(unsigned long)unary();
	else if (take("~"))
		n = ~unary();
	else if (take("!"))
		n = !unary();
	else
		n = primary();
	in.depth--;
	return n;
}

/* Binary operators except && and ||; those that bind closest come last. */
static const struct {
	const char *name;
	int level;
} operators[] = {{"|", 1},  {"^", 2},  {"&", 3},  {"==", 4}, {"!=", 4}, {"<<", 6},
		 {">>", 6}, {"<=", 5}, {">=", 5}, {"<", 5},  {">", 5},  {"+", 7},
		 {"-", 7},  {"*", 8},  {"/", 8},  {"%", 8}};
#define TIGHTEST 8

static long apply(const char *op, long a, long b)
{
	unsigned long ua = a, ub = b;

	switch (*op) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '=':
		return a == b;
	case '!':
		return a != b;
	case '<':
		return op[1] == '<' ? (long)(ua << (ub & 63)) : op[1] == '=' ? a <= b : a < b;
	case '>':
		return op[1] == '>' ? a >> (ub & 63) : op[1] == '=' ? a >= b : a > b;
	case '+':
		return ua + ub;
	case '-':
		return ua - ub;
	case '*':
		return ua * ub;
	}
	if (in.skip)
		return 0;
	if (b == 0)
		bad("division by zero");
	if (b == -1) /* LONG_MIN / -1 does not fit */
		return *op == '/' ? (long)-ua : 0;
	return *op == '/' ? a / b : a % b;
}

/* Returns the operator of this level at in.p, or NULL.  Does not match & of &&, | of || or
 * assignments. */
static const char *operator_at(int level)
{
	size_t i, n;

	blanks();
	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		n = strlen(operators[i].name);
		if (strncmp(in.p, operators[i].name, n))
			continue;
		if (operators[i].level != level)
			continue;
		if (n == 1 && (in.p[1] == *in.p || in.p[1] == '='))
			return NULL;
		if (n == 2 && in.p[1] == *in.p && in.p[2] == '=')
			return NULL;
		return operators[i].name;
	}
	return NULL;
}

static long binary(int level)
{
	const char *op;
	long n;

	if (level > TIGHTEST)
		return unary();
	n = binary(level + 1);
	while ((op = operator_at(level)) != NULL) {
		in.p += strlen(op);
		n = apply(op, n, binary(level + 1));
	}
	return n;
}

/* Evaluates the right side; its result is used only if `counts'. */
static long side(long (*parse)(void), bool counts)
{
	long n;

	in.skip += !counts;
	n = parse();
	in.skip -= !counts;
	return n;
}

static long bits(void)
{
	return binary(1);
}

static long logic_and(void)
{
	long n = bits();

	while (take("&&"))
		n = side(bits, n != 0) && n;
	return n;
}

static long logic_or(void)
{
	long n = logic_and();

	while (take("||"))
		n = side(logic_and, n == 0) || n;
	return n;
}

static long conditional(void)
{
	long n = logic_or(), yes, no;

	if (!take("?"))
		return n;
	yes = side(comma, n != 0);
	if (!take(":"))
		bad(": is missing");
	no = side(conditional, n == 0);
	return n ? yes : no;
}

/* Parses NAME = or NAME op=; without an assignment the position does not change. */
static long assignment(void)
{
	static const char *const ops[] = {
		"=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="};
	const char *start, *name;
	char value[24];
	size_t i, len;
	long n;

	blanks();
	start = in.p;
	len = name_length(start);
	if (!len)
		return conditional();
	name = arena_string(sh.tmp, start, len);
	in.p += len;
	blanks();
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strncmp(in.p, ops[i], strlen(ops[i])) && (i || in.p[1] != '='))
			break;
	if (i == sizeof(ops) / sizeof(ops[0])) {
		in.p = start;
		return conditional();
	}
	in.p += strlen(ops[i]);
	n = assignment();
	if (in.skip)
		return 0;
	if (i)
		n = apply(ops[i], variable(name), n);
	snprintf(value, sizeof(value), "%ld", n);
	var_set(name, value);
	return n;
}

static long comma(void)
{
	long n = assignment();

	while (take(","))
		n = assignment();
	return n;
}

long arithmetic(const char *expr)
{
	long n;

	in.text = in.p = expr;
	in.skip = in.depth = 0;
	blanks();
	if (!*in.p)
		return 0;
	n = comma();
	if (*in.p)
		bad("an operator is missing");
	return n;
}
