/*
 * ls.c - ls [-la] [PATH...]: lists files and directories, sorted by name.  -l: type,
 * permissions, size, time; -a: names that begin with a dot as well.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weft/abi.h>

static int aflag, lflag;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_long(const char *name, const struct stat *st)
{
	static const char letters[] = "rwxrwxrwx";
	char mode[11] = "-", when[20];
	struct tm tm;
	int i;

	mode[0] = S_ISDIR(st->st_mode) ? 'd' : S_ISCHR(st->st_mode) ? 'c' : '-';
	for (i = 0; i < 9; i++)
		mode[1 + i] = st->st_mode & (0400 >> i) ? letters[i] : '-';
	gmtime_r(&st->st_mtim.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	printf("%s %2d %10ld %s %s\n", mode, (int)st->st_nlink, (long)st->st_size, when, name);
}

/* 0, or 1 if something went wrong, which it has then said. */
static int list_dir(const char *path)
{
	char **names = NULL, **grown, full[1024];
	size_t n = 0, i;
	struct dirent *d;
	struct stat st;
	int failed = 0;
	DIR *dir = opendir(path);

	if (!dir) {
		warn("%s", path);
		return 1;
	}
	while (errno = 0, (d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.' && !aflag)
			continue;
		grown = realloc(names, (n + 1) * sizeof(*names));
		if (!grown || !(grown[n] = strdup(d->d_name)))
			err(1, "%s", path);
		names = grown;
		n++;
	}
	if (errno) {
		warn("%s", path);
		failed = 1;
	}
	closedir(dir);
	qsort(names, n, sizeof(*names), by_name);
	for (i = 0; i < n; i++) {
		snprintf(full, sizeof(full), "%s/%s", path, names[i]);
		if (!lflag) {
			puts(names[i]);
		} else if (stat(full, &st) < 0) {
			warn("%s", full);
			failed = 1;
		} else {
			print_long(names[i], &st);
		}
		free(names[i]);
	}
	free(names);
	return failed;
}

int main(int argc, char **argv)
{
	static char *here[] = {".", NULL};
	struct stat st;
	int c, failed = 0, many;

	while ((c = getopt(argc, argv, "la")) != -1) {
		if (c == '?') {
			fputs("usage: ls [-la] [PATH...]\n", stderr);
			return 2;
		}
		*(c == 'l' ? &lflag : &aflag) = 1;
	}
	many = argc - optind > 1;
	argv = optind < argc ? argv + optind : here;
	for (; *argv; argv++) {
		if (stat(*argv, &st) < 0) {
			warn("%s", *argv);
			failed = 1;
		} else if (S_ISDIR(st.st_mode)) {
			if (many)
				printf("%s:\n", *argv);
			failed |= list_dir(*argv);
		} else if (lflag) {
			print_long(*argv, &st);
		} else {
			puts(*argv);
		}
	}
	return failed;
}
