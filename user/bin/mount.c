/* mount.c - mount: the mounted file systems.  They come at boot; nothing else can be mounted. */
#include <stdio.h>
#include <weft/file.h>
#include <weft/sys.h>

int main(int argc, char **argv)
{
	struct weft_mount m;
	unsigned i;

	if (argc > 1) {
		fputs("usage: mount\n", stderr);
		return 2;
	}
	for (i = 0; __sys_mountinfo(i, &m) == 0; i++)
		printf("%s on %s type %s\n", m.type, m.path, m.type);
	return 0;
}
