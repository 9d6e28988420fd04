/* dirname.c - dirname PATH: all of a path but its last name. */
#include "lines.h"

int main(int argc, char **argv)
{
	size_t n;
	char *s;

	if (argc != 2) {
		fputs("usage: dirname PATH\n", stderr);
		return 2;
	}
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
