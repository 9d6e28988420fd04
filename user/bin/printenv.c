/* printenv.c - printenv [NAME...]: the environment, or values from it. */
#include <unistd.h>
#include "lines.h"

int main(int argc, char **argv)
{
	const char *value;
	int i, missing = 0;
	char **e;

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
