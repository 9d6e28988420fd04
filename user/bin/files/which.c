/* which.c - which [-a] NAME...: the files of commands; -a: all matches on the PATH. */
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

/* Does a directory of PATH have it? */
static int find(const char *name, int all)
{
	const char *dir = getenv("PATH"), *end;
	char path[1024];
	int found = 0;

	if (strchr(name, '/')) {
		if (access(name, X_OK) == 0)
			puts(name);
		return access(name, X_OK) == 0;
	}
	for (; dir && (all || !found); dir = *end ? end + 1 : NULL) {
		end = dir + strcspn(dir, ":");
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dir), dir,
			 end > dir ? "/" : "", name);
		if (access(path, X_OK) == 0) {
			puts(path);
			found = 1;
		}
	}
	return found;
}

static const char usage[] = "usage: which [-a] NAME...\n";

int main(int argc, char **argv)
{
	int i = 1, all = argc > 1 && !strcmp(argv[1], "-a"), missing = 0;

	usage_asked(argv, usage);
	i += all;
	if (i == argc)
		return usage_wrong(usage);
	for (; i < argc; i++)
		missing |= !find(argv[i], all);
	return end_output(missing);
}
