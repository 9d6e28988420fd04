/* printenv.c - printenv [NAME...]: the environment, or values from it. */
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

static const char usage[] = "usage: printenv [NAME...]\n";

int main(int argc, char **argv)
{
	const char *value;
	int i, missing = 0;
	char **e;

	usage_asked(argv, usage);
	for (e = environ; argc == 1 && *e; e++)
		puts(*e);
	for (i = 1; i < argc; i++) {
		value = getenv(argv[i]);
		if (value)
			puts(value);
		else
			missing = 1;
	}
	return end_output(missing);
}
