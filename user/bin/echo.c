/* echo.c - echo [-n] [WORD...]: prints its arguments; -n: without a newline. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int newline = 1, i = 1;

	if (argc > 1 && !strcmp(argv[1], "-n")) {
		newline = 0;
		i++;
	}
	for (; i < argc; i++) {
		fputs(argv[i], stdout);
		if (i + 1 < argc)
			putchar(' ');
	}
	if (newline)
		putchar('\n');
	return fflush(stdout) != 0;
}
