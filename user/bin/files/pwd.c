/* pwd.c - prints the current directory. */
#include <err.h>
#include <stdio.h>
#include <unistd.h>
#include "../usage.h"

static const char usage[] = "usage: pwd\n";

int main(int argc, char **argv)
{
	char *path = getcwd(NULL, 0);

	usage_asked(argv, usage);
	if (!path)
		err(1, "getcwd");
	puts(path);
	return 0;
}
