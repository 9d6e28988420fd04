/* yes.c - yes [WORD...]: prints its arguments (y) until it is killed. */
#include "../lines.h"
#include "../usage.h"

static const char usage[] = "usage: yes [WORD...]\n";

int main(int argc, char **argv)
{
	int i;

	usage_asked(argv, usage);
	do {
		if (argc < 2)
			fputs("y", stdout);
		for (i = 1; i < argc; i++)
			printf(i > 1 ? " %s" : "%s", argv[i]);
	} while (putchar('\n') != EOF);
	return end_output(0);
}
