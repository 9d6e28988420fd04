/* df.c - df [PATH...]: mounted file systems (or those of the paths), their size and free space, in
 * KiB.  A file system in memory reports the machine's free memory. */
#include <err.h>
#include <stdio.h>
#include <sys/stat.h>
#include <weft/file.h>
#include <weft/sys.h>
#include "../usage.h"

static void print(const struct weft_mount *m)
{
	unsigned long size = m->size / 1024, avail = m->free / 1024;

	printf("%-10s %10lu %10lu %10lu %3lu%% %s\n", m->type, size, size - avail, avail,
	       size ? (size - avail) * 100 / size : 0, m->path);
}

static const char usage[] = "usage: df [PATH...]\n";

int main(int argc, char **argv)
{
	struct weft_mount m;
	struct stat st;
	int failed = 0;
	unsigned i;

	usage_asked(argv, usage);
	puts("Filesystem  1K-blocks       Used      Avail Use% Mounted on");
	for (i = 0; argc == 1 && __sys_mountinfo(i, &m) == 0; i++)
		print(&m);
	for (argv++; *argv; argv++) {
		if (stat(*argv, &st) < 0) {
			warn("%s", *argv);
			failed = 1;
			continue;
		}
		for (i = 0; __sys_mountinfo(i, &m) == 0; i++)
			if (m.dev == (uint64_t)st.st_dev)
				print(&m);
	}
	return failed;
}
