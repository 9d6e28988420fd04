/* uname.c - uname [-asnrvm]: the name of the system; -a: all its fields. */
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "../usage.h"

static const char usage[] = "usage: uname [-asnrvm]\n";

int main(int argc, char **argv)
{
	static const char letters[] = "snrvm"; /* in the order of struct utsname */
	unsigned want = 0, i;
	struct utsname u;
	const char *field[] = {u.sysname, u.nodename, u.release, u.version, u.machine};
	int c, first = 1;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "asnrvm")) != -1) {
		if (c == '?')
			return usage_wrong(usage);
		for (i = 0; i < 5; i++)
			if (c == 'a' || c == letters[i])
				want |= 1u << i;
	}
	if (!want)
		want = 1;
	uname(&u);
	for (i = 0; i < 5; i++)
		if (want & 1u << i) {
			printf("%s%s", first ? "" : " ", field[i]);
			first = 0;
		}
	putchar('\n');
	return 0;
}
