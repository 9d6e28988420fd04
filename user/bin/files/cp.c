/*
 * cp.c - cp [-Rrpfi] SOURCE TARGET, cp [-Rrpfi] SOURCE... DIRECTORY: copies files.
 *
 * -R, -r: copies directories with all their contents; symbolic links inside stay links.
 * -p: keeps mode and times.  -f: removes a target that cannot be opened.  -i: asks
 * before it overwrites.
 */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include "target.h"
#include "../usage.h"

static int rflag, pflag, fflag, iflag, failed;

static char from[PATH_MAX], to[PATH_MAX];

static void complain(const char *path)
{
	warn("%s", path);
	failed = 1;
}

/* Adds a name to a path of PATH_MAX bytes.  False: too long. */
static int append(char *path, const char *name)
{
	size_t len = strlen(path);
	int slash = len > 0 && path[len - 1] != '/';

	if (len + slash + strlen(name) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		complain(name);
		return 0;
	}
	if (slash)
		path[len++] = '/';
	strcpy(path + len, name);
	return 1;
}

static void keep(const struct stat *st)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	if (pflag && (utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) < 0 ||
		      (!S_ISLNK(st->st_mode) && chmod(to, st->st_mode & 07777) < 0)))
		complain(to);
}

static int overwrite(void)
{
	int c, first;

	if (!iflag)
		return 1;
	fprintf(stderr, "cp: overwrite %s? ", to);
	first = c = getchar();
	while (c != '\n' && c != EOF)
		c = getchar();
	return first == 'y' || first == 'Y';
}

static void copy_bytes(int in, int out)
{
	static char buf[65536];
	ssize_t n, done, put;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		for (done = 0; done < n; done += put) {
			put = write(out, buf + done, n - done);
			if (put < 0) {
				complain(to);
				return;
			}
		}
	if (n < 0)
		complain(from);
}

static void copy_file(const struct stat *st)
{
	struct stat there;
	int in, out;

	if (stat(to, &there) == 0) {
		if (there.st_dev == st->st_dev && there.st_ino == st->st_ino) {
			warnx("%s and %s are the same file", from, to);
			failed = 1;
			return;
		}
		if (!overwrite())
			return;
	}
	in = open(from, O_RDONLY);
	if (in < 0) {
		complain(from);
		return;
	}
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC, st->st_mode & 0777);
	if (out < 0 && fflag && unlink(to) == 0)
		out = open(to, O_WRONLY | O_CREAT | O_TRUNC, st->st_mode & 0777);
	if (out < 0) {
		complain(to);
	} else {
		copy_bytes(in, out);
		if (close(out) < 0)
			complain(to);
		keep(st);
	}
	close(in);
}

static void copy_symlink(const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n < 0) {
		complain(from);
		return;
	}
	target[n] = '\0';
	if (symlink(target, to) < 0 &&
	    (errno != EEXIST || unlink(to) < 0 || symlink(target, to) < 0))
		complain(to);
	else
		keep(st);
}

static void copy(void);

static void copy_dir(const struct stat *st)
{
	size_t from_len = strlen(from), to_len = strlen(to);
	struct stat there;
	struct dirent *d;
	DIR *dir;

	if (mkdir(to, 0700) < 0 &&
	    (errno != EEXIST || stat(to, &there) < 0 || !S_ISDIR(there.st_mode))) {
		complain(to);
		return;
	}
	dir = opendir(from);
	if (!dir) {
		complain(from);
		return;
	}
	while ((d = readdir(dir)) != NULL) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (append(from, d->d_name) && append(to, d->d_name))
			copy();
		from[from_len] = '\0';
		to[to_len] = '\0';
	}
	closedir(dir);
	if (chmod(to, st->st_mode & 0777) < 0)
		complain(to);
	keep(st);
}

/* Copies `from`, a file of any type, to `to`.  Follows links in the arguments, except with -R. */
static void copy(void)
{
	struct stat st;

	if ((rflag ? lstat(from, &st) : stat(from, &st)) < 0) {
		complain(from);
	} else if (S_ISLNK(st.st_mode)) {
		copy_symlink(&st);
	} else if (!S_ISDIR(st.st_mode)) {
		copy_file(&st);
	} else if (rflag) {
		copy_dir(&st);
	} else {
		warnx("%s: a directory (-R copies it)", from);
		failed = 1;
	}
}

/* Would the directory `from` be copied into itself? */
static int into_itself(void)
{
	char source[PATH_MAX], parent[PATH_MAX], into[PATH_MAX];
	struct stat st;
	size_t len;
	char *slash;

	if (!rflag || lstat(from, &st) < 0 || !S_ISDIR(st.st_mode) || !realpath(from, source))
		return 0;
	strcpy(parent, to);
	slash = strrchr(parent, '/');
	if (!slash)
		strcpy(parent, ".");
	else
		slash[slash == parent] = '\0';
	if (!realpath(parent, into))
		return 0;
	len = strlen(source);
	return !strncmp(into, source, len) && (into[len] == '/' || !into[len] || len == 1);
}

static int copy_to(char *source, char *path)
{
	*from = *to = '\0';
	if (!append(from, source) || !append(to, path))
		return 1;
	if (into_itself()) {
		warnx("%s: not into itself (%s)", from, to);
		return 1;
	}
	copy();
	return 0;
}

static const char usage[] = "usage: cp [-Rrpfi] SOURCE... TARGET\n";

int main(int argc, char **argv)
{
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "Rrpfi")) != -1) {
		switch (c) {
		case 'R':
		case 'r':
			rflag = 1;
			break;
		case 'p':
			pflag = 1;
			break;
		case 'f':
			fflag = 1;
			break;
		case 'i':
			iflag = 1;
			break;
		default:
			optind = argc;
		}
	}
	if (argc - optind < 2)
		return usage_wrong(usage);
	return each_target(argv + optind, argc - optind, copy_to) | failed;
}
