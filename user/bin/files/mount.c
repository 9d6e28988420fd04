/* mount.c - mount: lists the mounted file systems.  All are mounted at boot. */
#include <stdio.h>
#include <weft/file.h>
#include <weft/sys.h>
#include "../usage.h"

static const char usage[] = "usage: mount\n";

int main(int argc, char **argv)
{
	struct weft_mount m;
	unsigned i;

	usage_asked(argv, usage);
	if (argc > 1)
		return usage_wrong(usage);
	for (i = 0; __sys_mountinfo(i, &m) == 0; i++)
		printf("%s on %s type %s\n", m.type, m.path, m.type);
	return 0;
}
