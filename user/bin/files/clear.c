/* clear.c - clears the terminal's screen, and what has scrolled off it. */
#include "../usage.h"

static const char usage[] = "usage: clear\n";

int main(int argc, char **argv)
{
	usage_asked(argv, usage);
	if (argc > 1)
		return usage_wrong(usage);
	fputs("\033[H\033[2J\033[3J", stdout);
	return 0;
}
