/* sleep.c - sleep TIME...: waits for the sum of the times.  A TIME is a number, which may have a
 * fraction, of seconds or, with a letter, of s, m(inutes), h(ours), d(ays). */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../usage.h"

static const char usage[] = "usage: sleep TIME...\n";

int main(int argc, char **argv)
{
	static const char letters[] = "smhd";
	static const double unit[] = {1, 60, 3600, 86400};
	double sum = 0, n;
	struct timespec ts;
	const char *letter;
	char *end;
	int i;

	usage_asked(argv, usage);
	if (argc < 2)
		return usage_wrong(usage);
	for (i = 1; i < argc; i++) {
		n = strtod(argv[i], &end);
		letter = end != argv[i] && *end && !end[1] ? strchr(letters, *end) : NULL;
		if (end == argv[i] || (*end && !letter) || !(n >= 0))
			errx(2, "not a time: %s", argv[i]);
		sum += n * (letter ? unit[letter - letters] : 1);
	}
	if (!(sum < 1e9))
		errx(2, "too long");
	ts.tv_sec = sum;
	ts.tv_nsec = (sum - ts.tv_sec) * 1e9;
	if (nanosleep(&ts, NULL) < 0)
		err(1, "nanosleep");
	return 0;
}
