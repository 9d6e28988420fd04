/*
 * copy_files.c - what a file costs: copies one of 35,000 bytes into a new directory, as the
 * comparison of Linux, OpenSolaris and Windows does, and prints the nanoseconds of guest time a
 * copy, among few files and among many, and of a name made and removed.  Called by
 * tests/test_files.py in exact timing, where a nanosecond is an instruction.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define SIZE 35000
#define COPIES 100
#define SOURCE "/tmp/source"

static void must(int ok, const char *what)
{
	if (!ok)
		err(1, "%s", what);
}

static void copy(const char *to)
{
	static char buf[8192];
	int in = open(SOURCE, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0644);
	ssize_t n;

	must(in >= 0 && out >= 0, to);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		must(write(out, buf, n) == n, to);
	must(close(in) == 0 && close(out) == 0, to);
}

static const char *name(const char *dir, const char *what, int i)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s%d", dir, what, i);
	return path;
}

/* Nanoseconds a copy, of COPIES into dir; then they are removed. */
static long copies(const char *dir)
{
	hrtime_t start = gethrtime();

	for (int i = 0; i < COPIES; i++)
		copy(name(dir, "copy", i));
	long ns = (gethrtime() - start) / COPIES;
	for (int i = 0; i < COPIES; i++)
		must(unlink(name(dir, "copy", i)) == 0, dir);
	return ns;
}

/* Nanoseconds to make a name and to remove one, of the n next to `from`. */
static void names(const char *dir, int from, int n, long *make, long *drop)
{
	hrtime_t start = gethrtime(), made;

	for (int i = from; i < from + n; i++)
		must(close(open(name(dir, "name", i), O_WRONLY | O_CREAT, 0644)) == 0, dir);
	made = gethrtime();
	for (int i = from; i < from + n; i++)
		must(unlink(name(dir, "name", i)) == 0, dir);
	*make = (made - start) / n;
	*drop = (gethrtime() - made) / n;
}

int main(int argc, char **argv)
{
	int others = argc > 1 ? atoi(argv[1]) : 20000, rounds = argc > 2 ? atoi(argv[2]) : 1;
	long make, drop, make_many, drop_many, few = 0, many;
	int fd = open(SOURCE, O_WRONLY | O_CREAT, 0644);
	static char bytes[SIZE];

	must(write(fd, bytes, SIZE) == SIZE && close(fd) == 0, SOURCE);
	for (int i = 0; i < rounds; i++) {
		must(mkdir("/tmp/dir", 0755) == 0, "mkdir");
		few = copies("/tmp/dir");
		must(rmdir("/tmp/dir") == 0, "rmdir");
	}
	must(mkdir("/tmp/dir", 0755) == 0, "mkdir");
	names("/tmp/dir", 0, 200, &make, &drop);
	for (int i = 0; i < others; i++)
		must(close(open(name("/tmp/dir", "other", i), O_WRONLY | O_CREAT, 0644)) == 0,
		     "other files");
	many = copies("/tmp/dir");
	names("/tmp/dir", 0, 200, &make_many, &drop_many);
	printf("copy %ld %ld\nmake %ld %ld\nremove %ld %ld\n", few, many, make, make_many, drop,
	       drop_many);
	return 0;
}
