/* libgen.c - the parts of a path (POSIX: basename, dirname).  Both may change the path in place. */
#include <libgen.h>
#include <stddef.h>
#include <string.h>

/* The length without slashes at the end; a path of slashes alone keeps the first. */
static size_t length_unslashed(const char *path, size_t n)
{
	while (n > 1 && path[n - 1] == '/')
		n--;
	return n;
}

/* Returns the last name; for slashes alone "/"; for an empty path ".", which is read-only. */
char *basename(char *path)
{
	size_t n = path ? strlen(path) : 0;

	if (n == 0)
		return (char *)".";
	n = length_unslashed(path, n);
	path[n] = '\0';
	while (n > 1 && path[n - 1] != '/')
		n--;
	return path[n] != '\0' && path[n - 1] == '/' ? path + n : path;
}

/* Returns the path without the last name; for a path without a slash ".", which is read-only. */
char *dirname(char *path)
{
	size_t n = path ? length_unslashed(path, strlen(path)) : 0;

	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n == 0)
		return (char *)".";
	path[length_unslashed(path, n)] = '\0';
	return path;
}
