/*
 * assert.c - what a failed assertion prints (C, 7.2).
 *
 * Newlib's version prints with fiprintf, a second printf without floating point.  It would add
 * 18 KB to each program, for assertions alone.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints on standard error which assertion failed and where, then aborts.  func: NULL, if
 * unknown. */
void __assert_func(const char *file, int line, const char *func, const char *expression)
{
	fprintf(stderr, "assertion \"%s\" failed: file \"%s\", line %d%s%s\n", expression, file,
		line, func ? ", function: " : "", func ? func : "");
	abort();
}

void __assert(const char *file, int line, const char *expression)
{
	__assert_func(file, line, NULL, expression);
}
