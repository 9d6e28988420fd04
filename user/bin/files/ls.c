/*
 * ls.c - ls [-1aAdFilRrSt] [PATH...]: lists files and directories, one a line, sorted by name.
 *
 * -l: type, permissions, links, size (of a device: its numbers), time of the last change;
 * -a: includes names that begin with a dot, -A: except . and ..; -i: inode numbers;
 * -R: includes the contents of directories below; -d: directories themselves; -F: a letter
 * for the type; -t: by time, the newest first; -S: by size, the largest first; -r: reversed.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "../usage.h"

static int flags['z']; /* by letter */
static int failed, printed;

struct entry {
	char *name;
	struct stat st; /* only if it is needed */
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int c = 0;

	if (flags['t'])
		c = x->st.st_mtim.tv_sec != y->st.st_mtim.tv_sec
			    ? (x->st.st_mtim.tv_sec < y->st.st_mtim.tv_sec) * 2 - 1
			    : (x->st.st_mtim.tv_nsec < y->st.st_mtim.tv_nsec) -
				      (x->st.st_mtim.tv_nsec > y->st.st_mtim.tv_nsec);
	else if (flags['S'])
		c = (x->st.st_size < y->st.st_size) - (x->st.st_size > y->st.st_size);
	if (c == 0)
		c = strcmp(x->name, y->name);
	return flags['r'] ? -c : c;
}

static char type_letter(mode_t mode)
{
	return S_ISDIR(mode)    ? 'd'
	       : S_ISCHR(mode)  ? 'c'
	       : S_ISLNK(mode)  ? 'l'
	       : S_ISFIFO(mode) ? 'p'
				: '-';
}

static void print_details(const struct stat *st)
{
	static const char letters[] = "rwxrwxrwx";
	char mode[11] = "", when[20], size[24];
	struct tm tm;
	int i;

	mode[0] = type_letter(st->st_mode);
	for (i = 0; i < 9; i++)
		mode[1 + i] = st->st_mode & (0400 >> i) ? letters[i] : '-';
	if (S_ISCHR(st->st_mode))
		snprintf(size, sizeof(size), "%d, %d", (int)st->st_rdev >> 8,
			 (int)st->st_rdev & 0xff);
	else
		snprintf(size, sizeof(size), "%ld", (long)st->st_size);
	gmtime_r(&st->st_mtim.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	printf("%s %2d %10s %s ", mode, (int)st->st_nlink, size, when);
}

static void print(const struct entry *e, const char *path)
{
	char target[PATH_MAX];
	ssize_t n;

	if (flags['i'])
		printf("%8" PRIu64 " ", (uint64_t)e->st.st_ino);
	if (flags['l'])
		print_details(&e->st);
	fputs(e->name, stdout);
	if (flags['F'] &&
	    (S_ISDIR(e->st.st_mode) || S_ISLNK(e->st.st_mode) || S_ISFIFO(e->st.st_mode) ||
	     (S_ISREG(e->st.st_mode) && (e->st.st_mode & 0111))))
		putchar(S_ISDIR(e->st.st_mode)    ? '/'
			: S_ISLNK(e->st.st_mode)  ? '@'
			: S_ISFIFO(e->st.st_mode) ? '|'
						  : '*');
	if (flags['l'] && S_ISLNK(e->st.st_mode) &&
	    (n = readlink(path, target, sizeof(target))) >= 0)
		printf(" -> %.*s", (int)n, target);
	putchar('\n');
	printed = 1;
}

/* Is more than the name of an entry needed? */
static int need_stat(void)
{
	return flags['l'] || flags['i'] || flags['t'] || flags['S'] || flags['F'] || flags['R'];
}

static void complain(const char *path)
{
	warn("%s", path);
	failed = 1;
}

static int wanted(const char *name)
{
	if (name[0] != '.' || flags['a'])
		return 1;
	return flags['A'] && strcmp(name, ".") && strcmp(name, "..");
}

static int join(char *full, const char *path, const char *name)
{
	int slash = *path && path[strlen(path) - 1] == '/';

	if (snprintf(full, PATH_MAX, "%s%s%s", path, slash ? "" : "/", name) < PATH_MAX)
		return 1;
	errno = ENAMETOOLONG;
	complain(name);
	return 0;
}

/* Returns the entries of a directory to be listed.  NULL: none, or (after a message) the directory
 * cannot be read. */
static struct entry *read_dir(const char *path, size_t *n)
{
	struct entry *list = NULL;
	size_t room = 0;
	char full[PATH_MAX];
	struct dirent *d;
	DIR *dir = opendir(path);

	*n = 0;
	if (!dir) {
		complain(path);
		return NULL;
	}
	while (errno = 0, (d = readdir(dir)) != NULL) {
		if (!wanted(d->d_name))
			continue;
		if (*n == room) {
			room = room ? 2 * room : 64;
			list = realloc(list, room * sizeof(*list));
		}
		if (!list || !(list[*n].name = strdup(d->d_name)))
			err(1, "%s", path);
		if (need_stat() &&
		    (!join(full, path, d->d_name) || lstat(full, &list[*n].st) < 0)) {
			complain(d->d_name);
			free(list[*n].name);
			continue;
		}
		++*n;
	}
	if (errno)
		complain(path);
	closedir(dir);
	return list;
}

static void list_dir(const char *path, int titled)
{
	char full[PATH_MAX];
	size_t n, i;
	struct entry *list = read_dir(path, &n);

	if (titled)
		printf("%s%s:\n", printed ? "\n" : "", path);
	printed |= titled;
	if (n > 0)
		qsort(list, n, sizeof(*list), compare);
	for (i = 0; i < n; i++)
		if (join(full, path, list[i].name))
			print(&list[i], full);
	for (i = 0; i < n; i++) {
		if (flags['R'] && S_ISDIR(list[i].st.st_mode) && strcmp(list[i].name, ".") &&
		    strcmp(list[i].name, "..") && join(full, path, list[i].name))
			list_dir(full, 1);
		free(list[i].name);
	}
	free(list);
}

static const char usage[] = "usage: ls [-1aAdFilRrSt] [PATH...]\n";

int main(int argc, char **argv)
{
	static char *here[] = {".", NULL};
	struct entry *list;
	int c, n = 0, dirs = 0, i;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "1aAdFilRrSt")) != -1) {
		if (c == '?')
			return usage_wrong(usage);
		flags[c] = 1;
	}
	argv = optind < argc ? argv + optind : here;
	list = calloc(argc + 1, sizeof(*list));
	if (!list)
		err(1, "ls");
	for (; *argv; argv++) {
		struct stat *st = &list[n].st;
		/* Links in the arguments are followed, unless the links themselves are shown. */
		if (flags['l'] || flags['d'] || stat(*argv, st) < 0 ? lstat(*argv, st) : 0) {
			complain(*argv);
			continue;
		}
		dirs += S_ISDIR(st->st_mode) && !flags['d'];
		list[n++].name = *argv;
	}
	qsort(list, n, sizeof(*list), compare);
	for (i = 0; i < n; i++)
		if (!S_ISDIR(list[i].st.st_mode) || flags['d'])
			print(&list[i], list[i].name);
	for (i = 0; i < n; i++)
		if (S_ISDIR(list[i].st.st_mode) && !flags['d'])
			list_dir(list[i].name, n > 1 || flags['R']);
	free(list);
	return failed;
}
