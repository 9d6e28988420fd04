/*
 * dirent.c - reading directories.  A DIR is not locked: threads that share one must
 * synchronize, as POSIX allows.
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
	unsigned pos, end; /* bytes of buf: already returned; filled */
	long where;        /* the position of the next entry, for telldir */
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
	d->where = lseek(fd, 0, SEEK_CUR);
	return d;
}

DIR *opendir(const char *path)
{
	int fd = result(__sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
	DIR *d;

	if (fd < 0)
		return NULL;
	d = fdopendir(fd);
	if (!d)
		__sys_close(fd);
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
	d->where = k->next;
	d->entry.d_ino = k->ino;
	d->entry.d_reclen = sizeof(d->entry);
	d->entry.d_type = k->type;
	strlcpy(d->entry.d_name, k->name, sizeof(d->entry.d_name));
	return &d->entry;
}

/* The position is valid as long as the directory is open, even if entries are added or removed. */
long telldir(DIR *d)
{
	return d->where;
}

void seekdir(DIR *d, long where)
{
	d->where = lseek(d->fd, where, SEEK_SET);
	d->pos = d->end = 0;
}

void rewinddir(DIR *d)
{
	seekdir(d, 0);
}

int alphasort(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void dirents_free(struct dirent **list, int n)
{
	while (n > 0)
		free(list[--n]);
	free(list);
}

int scandir(const char *path, struct dirent ***out, int (*select)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	struct dirent **list = NULL, **grown, *e;
	DIR *d = opendir(path);
	int n = 0, room = 0, error;

	if (!d)
		return -1;
	while (errno = 0, (e = readdir(d)) != NULL) {
		if (select && !select(e))
			continue;
		if (n == room) {
			room = room ? 2 * room : 16;
			grown = realloc(list, room * sizeof(*list));
			if (!grown)
				break;
			list = grown;
		}
		list[n] = malloc(sizeof(*e));
		if (!list[n])
			break;
		*list[n++] = *e;
	}
	error = errno;
	closedir(d);
	if (error) {
		dirents_free(list, n);
		return fails(error);
	}
	if (compare && n > 1)
		qsort(list, n, sizeof(*list), (int (*)(const void *, const void *))compare);
	*out = list;
	return n;
}

int dirfd(DIR *d)
{
	return d->fd;
}

int closedir(DIR *d)
{
	int fd = d->fd;

	free(d);
	return result(__sys_close(fd));
}
