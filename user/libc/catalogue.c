/*
 * catalogue.c - message catalogues (POSIX: nl_types.h).
 *
 * There is one locale and no gencat.  So no catalogue can be opened, and a program prints its own
 * default texts.
 */
#include <nl_types.h>
#include "libc.h"

/* Never succeeds: (nl_catd)-1.  ENOENT: there is no such catalogue. */
nl_catd catopen(const char *name, int flag)
{
	(void)name, (void)flag;
	fails(ENOENT);
	return (nl_catd)-1;
}

/* Returns text, with errno.  EBADF: catalogue is not open. */
char *catgets(nl_catd catalogue, int set, int message, const char *text)
{
	(void)catalogue, (void)set, (void)message;
	fails(EBADF);
	return (char *)text;
}

/* EBADF: catalogue is not open. */
int catclose(nl_catd catalogue)
{
	(void)catalogue;
	return fails(EBADF);
}
