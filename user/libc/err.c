/*
 * err.c - messages about errors (err.h).  A whole message is formatted first, so that it
 * is written in one piece when several threads print messages.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/start.h>

/* The program's name: what comes after the last slash of argv[0]. */
static const char *progname(void)
{
	const char *name = __argv0 ? __argv0 : "?", *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static void err_message(int error, const char *fmt, va_list ap)
{
	char buf[1024];

	vsnprintf(buf, sizeof(buf), fmt, ap);
	fflush(stdout);
	if (error)
		fprintf(stderr, "%s: %s: %s\n", progname(), buf, strerror(error));
	else
		fprintf(stderr, "%s: %s\n", progname(), buf);
}

void vwarn(const char *fmt, va_list ap)
{
	err_message(errno, fmt, ap);
}

void vwarnx(const char *fmt, va_list ap)
{
	err_message(0, fmt, ap);
}

void verr(int status, const char *fmt, va_list ap)
{
	err_message(errno, fmt, ap);
	exit(status);
}

void verrx(int status, const char *fmt, va_list ap)
{
	err_message(0, fmt, ap);
	exit(status);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn(fmt, ap);
	va_end(ap);
}

void warnx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarnx(fmt, ap);
	va_end(ap);
}

void err(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verr(status, fmt, ap);
}

void errx(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verrx(status, fmt, ap);
}
