/*
 * path.c - finds a program's file, for execvp and posix_spawnp.
 */
#define _GNU_SOURCE /* strchrnul */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/proc.h>
#include "libc.h"

/* 0: the file may be run; else an error number. */
static int path_runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

/*
 * Returns the file that `file` names as a program (POSIX, exec).  This is `file` itself if it has a
 * slash or there is no PATH, else the first file of that name in a directory of PATH that may be
 * run.  The result is `file`, or lies in path, which has WEFT_PATH_MAX bytes.  NULL, with errno:
 * ENOENT: no such file; EACCES: a file exists, but may not be run.
 */
const char *__program_path(const char *file, char *path)
{
	const char *dir = getenv("PATH"), *end;
	int found = ENOENT;
	size_t len;

	if (strchr(file, '/') || !*file || !dir)
		return file;
	for (;; dir = end + 1) {
		end = strchrnul(dir, ':');
		len = end - dir;
		if (len + 1 + strlen(file) < WEFT_PATH_MAX) {
			memcpy(path, dir, len);
			if (len)
				path[len++] = '/';
			strcpy(path + len, file);
			switch (path_runnable(path)) {
			case 0:
				return path;
			case EACCES:
				found = EACCES;
			}
		}
		if (!*end) {
			errno = found;
			return NULL;
		}
	}
}
