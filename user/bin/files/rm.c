/*
 * rm.c - rm [-rRfi] PATH...: removes files.
 *
 * -r, -R: removes directories with all their contents (symbolic links are removed, not
 * followed); -f: missing files are no error, and asks no question; -i: asks for each.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../usage.h"

static int rflag, fflag, iflag, failed;

static void complain(const char *path)
{
	warn("%s", path);
	failed = 1;
}

static int yes(const char *path)
{
	int c, first;

	if (!iflag)
		return 1;
	fprintf(stderr, "rm: remove %s? ", path);
	first = c = getchar();
	while (c != '\n' && c != EOF)
		c = getchar();
	return first == 'y' || first == 'Y';
}

static void remove_path(char *path);

/* Removes the contents of the directory `path`, a buffer of PATH_MAX bytes that grows and
 * shrinks. */
static void empty(char *path)
{
	size_t len = strlen(path);
	struct dirent *d;
	DIR *dir = opendir(path);

	if (!dir) {
		complain(path);
		return;
	}
	/* A position in a directory stays valid when entries are removed. */
	while ((d = readdir(dir)) != NULL) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (len + 1 + strlen(d->d_name) >= PATH_MAX) {
			errno = ENAMETOOLONG;
			complain(d->d_name);
			continue;
		}
		path[len] = '/';
		strcpy(path + len + 1, d->d_name);
		remove_path(path);
		path[len] = '\0';
	}
	closedir(dir);
}

static void remove_path(char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0) {
		if (!fflag || errno != ENOENT)
			complain(path);
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		if (yes(path) && unlink(path) < 0)
			complain(path);
		return;
	}
	if (!rflag) {
		errno = EISDIR;
		complain(path);
		return;
	}
	empty(path);
	if (yes(path) && rmdir(path) < 0)
		complain(path);
}

/* Is the last name of path . or .., or does path have none? */
static int refused(const char *path)
{
	size_t len = strlen(path);
	const char *last;

	while (len > 0 && path[len - 1] == '/')
		len--;
	if (len == 0)
		return *path == '/';
	for (last = path + len; last > path && last[-1] != '/'; last--)
		;
	len -= last - path;
	return (len == 1 && *last == '.') || (len == 2 && !strncmp(last, "..", 2));
}

static const char usage[] = "usage: rm [-rRfi] PATH...\n";

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "rRfi")) != -1) {
		switch (c) {
		case 'r':
		case 'R':
			rflag = 1;
			break;
		case 'f':
			fflag = 1;
			iflag = 0;
			break;
		case 'i':
			iflag = 1;
			fflag = 0;
			break;
		default:
			return usage_wrong(usage);
		}
	}
	if (optind == argc && !fflag)
		return usage_wrong(usage);
	for (argv += optind; *argv; argv++) {
		if (refused(*argv)) {
			warnx("%s: not to be removed", *argv);
			failed = 1;
		} else if (strlcpy(path, *argv, sizeof(path)) >= sizeof(path)) {
			errno = ENAMETOOLONG;
			complain(*argv);
		} else {
			remove_path(path);
		}
	}
	return failed;
}
