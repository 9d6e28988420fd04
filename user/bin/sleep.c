/* sleep.c - sleep SECONDS: waits; the number may have a fraction. */
#include <err.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec ts;
	char *end;
	double s;

	if (argc != 2)
		errx(2, "usage: sleep SECONDS");
	s = strtod(argv[1], &end);
	if (end == argv[1] || *end || !(s >= 0 && s < 1e9))
		errx(2, "not a number of seconds: %s", argv[1]);
	ts.tv_sec = s;
	ts.tv_nsec = (s - ts.tv_sec) * 1e9;
	if (nanosleep(&ts, NULL) < 0)
		err(1, "nanosleep");
	return 0;
}
