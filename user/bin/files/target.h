/* target.h - what cp and mv share: SOURCE TARGET, or SOURCE... DIRECTORY. */
#pragma once
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Calls one(source, path) for each source, the n - 1 first of args.  path is the target, or
 * the source's last name in the target if the target is a directory.
 *
 * Returns not 0: a call failed, or a path was too long; a message has been printed.  Ends with 1 if
 * there are several sources and the target is no directory.
 */
static inline int each_target(char **args, int n, int (*one)(char *source, char *path))
{
	char *target = args[n - 1], path[PATH_MAX], *name;
	int into, len, failed = 0;
	struct stat st;

	into = stat(target, &st) == 0 && S_ISDIR(st.st_mode);
	if (n > 2 && !into)
		errx(1, "%s: not a directory", target);
	for (; n > 1; n--, args++) {
		/* Finds the last name, without the slashes behind it. */
		for (len = strlen(*args); len > 1 && (*args)[len - 1] == '/'; len--)
			;
		for (name = *args + len; name > *args && name[-1] != '/'; name--)
			;
		len -= name - *args;
		if (into)
			len = snprintf(path, sizeof(path), "%s%s%.*s", target,
				       target[strlen(target) - 1] == '/' ? "" : "/", len, name);
		else
			len = snprintf(path, sizeof(path), "%s", target);
		if (len < (int)sizeof(path)) {
			failed |= one(*args, path);
		} else {
			errno = ENAMETOOLONG;
			warn("%s", *args);
			failed = 1;
		}
	}
	return failed;
}
