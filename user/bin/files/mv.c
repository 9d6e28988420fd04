/*
 * mv.c - mv [-fi] SOURCE TARGET, mv [-fi] SOURCE... DIRECTORY: renames files.  From one file system
 * to another it copies (cp -Rp) and removes.  -i: asks before it overwrites; -f: does not.
 */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "target.h"
#include "../usage.h"

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

static const char usage[] = "usage: mv [-fi] SOURCE... TARGET\n";

int main(int argc, char **argv)
{
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "fi")) != -1) {
		if (c == '?')
			optind = argc;
		iflag = c == 'i';
	}
	if (argc - optind < 2)
		return usage_wrong(usage);
	return each_target(argv + optind, argc - optind, move);
}
