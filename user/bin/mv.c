/*
 * mv.c - mv [-fi] SOURCE TARGET, mv [-fi] SOURCE... DIRECTORY: renames; from one file system to
 * another, copies (cp -Rp) and removes.  -i: asks before it overwrites; -f: does not.
 */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int iflag;

static int run(char *const argv[])
{
	int status, error;
	pid_t pid;

	error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (error) {
		errno = error;
		warn("%s", argv[0]);
		return 1;
	}
	return waitpid(pid, &status, 0) < 0 || status != 0;
}

static int overwrite(const char *to)
{
	struct stat st;
	int c, first;

	if (!iflag || lstat(to, &st) < 0)
		return 1;
	fprintf(stderr, "mv: overwrite %s? ", to);
	first = c = getchar();
	while (c != '\n' && c != EOF)
		c = getchar();
	return first == 'y' || first == 'Y';
}

static int move(char *from, char *to)
{
	char *const copy[] = {"cp", "-Rp", from, to, NULL};
	char *const clear[] = {"rm", "-rf", to, NULL};
	char *const drop[] = {"rm", "-rf", from, NULL};

	if (!overwrite(to) || rename(from, to) == 0)
		return 0;
	if (errno == EXDEV)
		return run(clear) || run(copy) || run(drop);
	warn("%s to %s", from, to);
	return 1;
}

int main(int argc, char **argv)
{
	char to[PATH_MAX], *name, *target;
	int c, into, failed = 0;
	struct stat st;
	size_t len;

	while ((c = getopt(argc, argv, "fi")) != -1) {
		if (c == '?')
			optind = argc;
		iflag = c == 'i';
	}
	if (argc - optind < 2) {
		fputs("usage: mv [-fi] SOURCE... TARGET\n", stderr);
		return 2;
	}
	target = argv[argc - 1];
	into = stat(target, &st) == 0 && S_ISDIR(st.st_mode);
	if (argc - optind > 2 && !into)
		errx(1, "%s: not a directory", target);
	for (; optind < argc - 1; optind++) {
		if (!into) {
			failed |= move(argv[optind], target);
			continue;
		}
		for (len = strlen(argv[optind]); len > 1 && argv[optind][len - 1] == '/'; len--)
			argv[optind][len - 1] = '\0';
		name = strrchr(argv[optind], '/');
		name = name && name[1] ? name + 1 : argv[optind];
		if (snprintf(to, sizeof(to), "%s/%s", target, name) >= (int)sizeof(to))
			errx(1, "%s: name too long", name);
		failed |= move(argv[optind], to);
	}
	return failed;
}
