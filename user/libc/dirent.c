/*
 * dirent.c - reading directories.  A DIR is not locked: as POSIX allows, threads
 * that share one take turns by themselves.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/file.h>
#include "libc.h"

struct __dir {
	int fd;
	unsigned pos, end; /* bytes of buf that were handed out, that are filled */
	struct dirent entry;
	char buf[4096] __attribute__((aligned(8)));
};

DIR *fdopendir(int fd)
{
	DIR *d = malloc(sizeof(*d));

	if (!d)
		return NULL;
	d->fd = fd;
	d->pos = d->end = 0;
	return d;
}

DIR *opendir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d;

	if (fd < 0)
		return NULL;
	d = fdopendir(fd);
	if (!d)
		close(fd);
	return d;
}

struct dirent *readdir(DIR *d)
{
	const struct weft_dirent *k;
	long n;

	if (d->pos >= d->end) {
		n = result(__sys_getdents(d->fd, d->buf, sizeof(d->buf)));
		if (n <= 0)
			return NULL;
		d->pos = 0;
		d->end = n;
	}
	k = (const struct weft_dirent *)(d->buf + d->pos);
	d->pos += k->reclen;
	d->entry.d_ino = k->ino;
	d->entry.d_reclen = sizeof(d->entry);
	d->entry.d_type = k->type;
	strlcpy(d->entry.d_name, k->name, sizeof(d->entry.d_name));
	return &d->entry;
}

void rewinddir(DIR *d)
{
	lseek(d->fd, 0, SEEK_SET);
	d->pos = d->end = 0;
}

int dirfd(DIR *d)
{
	return d->fd;
}

int closedir(DIR *d)
{
	int fd = d->fd;

	free(d);
	return close(fd);
}
