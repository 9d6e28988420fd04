/* basename.c - basename PATH [SUFFIX]: the last name in a path, without SUFFIX. */
#include "../lines.h"
#include "../usage.h"

static const char usage[] = "usage: basename PATH [SUFFIX]\n";

int main(int argc, char **argv)
{
	size_t n, suffix;
	char *s, *slash;

	usage_asked(argv, usage);
	if (argc < 2 || argc > 3)
		return usage_wrong(usage);
	s = argv[1];
	n = strlen(s);
	while (n > 1 && s[n - 1] == '/')
		s[--n] = '\0';
	slash = strrchr(s, '/');
	if (slash && slash[1])
		s = slash + 1;
	n = strlen(s);
	suffix = argc == 3 ? strlen(argv[2]) : 0;
	if (suffix && suffix < n && !strcmp(s + n - suffix, argv[2]))
		s[n - suffix] = '\0';
	puts(s);
	return end_output(0);
}
