/*
 * tap.h - how a guest test reports: a line `ok NAME` or `not ok NAME: why` for each
 * check, and `1..N` at the end (the Test Anything Protocol's shape, which
 * tests/test_guest.py reads).  A test program ends with `return tap_done();`: its
 * status is 0 only if every check passed.
 *
 * Checks may come from several threads: a line is one write(2).
 */
#pragma once
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned tap_count, tap_failed;

/* A check has failed: a place for breakpoints, at an address of its own (user/user.mk). */
__attribute__((noinline, unused, section(".tap"))) static void tap_not_ok(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((format(printf, 3, 4), unused)) static int tap_report(int passed, const char *name,
								    const char *fmt, ...)
{
	char line[400];
	int n = snprintf(line, sizeof(line), passed ? "ok %s" : "not ok %s: ", name);
	if (!passed) {
		va_list ap;
		va_start(ap, fmt);
		n += vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
		va_end(ap);
	}
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	write(1, line, n);
	__atomic_fetch_add(&tap_count, 1, __ATOMIC_RELAXED);
	if (!passed) {
		__atomic_fetch_add(&tap_failed, 1, __ATOMIC_RELAXED);
		tap_not_ok();
	}
	return passed;
}

/* A condition; its own text says what failed. */
#define ok(name, cond) tap_report(!!(cond), name, "%s:%d: %s", __FILE__, __LINE__, #cond)

/* A number that must have a value; both are printed when it has not. */
#define is(name, got, want)                                                                        \
	({                                                                                         \
		long tap_got = (long)(got), tap_want = (long)(want);                               \
		tap_report(tap_got == tap_want, name, "%s:%d: %s is %ld, not %ld", __FILE__,       \
			   __LINE__, #got, tap_got, tap_want);                                     \
	})

/* An expression that must be -1 and leave this errno. */
#define fails(name, expression, error)                                                             \
	do {                                                                                       \
		errno = 0;                                                                         \
		long tap_r = (long)(expression);                                                   \
		tap_report(tap_r == -1 && errno == (error), name, "result %ld, %s", tap_r,         \
			   strerror(errno));                                                       \
	} while (0)

/* Ends the program at once: nothing after this could mean anything. */
#define bail(...)                                                                                  \
	do {                                                                                       \
		tap_report(0, "bail out", __VA_ARGS__);                                            \
		_exit(1);                                                                          \
	} while (0)

__attribute__((unused)) static int tap_done(void)
{
	printf("1..%u\n", tap_count);
	fflush(stdout);
	return tap_failed != 0;
}
