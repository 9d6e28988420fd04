/* pwd.c - prints the current directory. */
#include <err.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	char *path = getcwd(NULL, 0);

	if (!path)
		err(1, "getcwd");
	puts(path);
	return 0;
}
