/* dirname.c - dirname PATH: the path without its last name. */
#include "../lines.h"
#include "../usage.h"

static const char usage[] = "usage: dirname PATH\n";

int main(int argc, char **argv)
{
	size_t n;
	char *s;

	usage_asked(argv, usage);
	if (argc != 2)
		return usage_wrong(usage);
	s = argv[1];
	n = strlen(s);
	while (n > 1 && s[n - 1] == '/')
		n--;
	while (n > 0 && s[n - 1] != '/')
		n--;
	while (n > 1 && s[n - 1] == '/')
		n--;
	s[n] = '\0';
	puts(n ? s : ".");
	return end_output(0);
}
