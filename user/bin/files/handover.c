/*
 * handover.c - handover STATUS PATH...: hands files over to the host tool, and halts the machine
 * with STATUS.  init calls it after the command of `weft run --out`.
 *
 * The files are not sent.  handover maps them, makes a list of them, and the machine stops.  Then
 * the host tool reads the list and the files from this process's memory, through QEMU.  So the size
 * of the files costs no time of the guest.
 *
 * The list consists of strings, each with its NUL, six for each file:
 *
 *  - the number of the PATH, from 0 on
 *  - the reason why the file cannot be handed over, or empty
 *  - the mode
 *  - the address
 *  - the size
 *  - the path below PATH, empty for PATH itself
 *
 * The list contains a directory and all its contents.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../usage.h"

#define BLOCK 65536

static const char usage[] = "usage: handover STATUS PATH...\n";

static FILE *list;

static void list_entry(int number, const char *error, const struct stat *st, const void *data,
		       size_t size, const char *below)
{
	fprintf(list, "%d%c%s%c%o%c%lu%c%lu%c%s%c", number, 0, error, 0, (unsigned)st->st_mode, 0,
		(unsigned long)data, 0, (unsigned long)size, 0, below, 0);
}

/* Returns all bytes of fd in memory, for files that do not report their size (/proc).  NULL and
 * errno: an error. */
static char *read_all(int fd, size_t *size)
{
	char *data = NULL, *grown;
	ssize_t n;

	for (*size = 0;; *size += n) {
		grown = realloc(data, *size + BLOCK);
		if (!grown)
			break;
		data = grown;
		n = read(fd, data + *size, BLOCK);
		if (n == 0)
			return data;
		if (n < 0)
			break;
	}
	free(data);
	return NULL;
}

/* Maps a file.  Every page must be present, because no fault happens when the host reads.  If
 * memory has no room for a page, this process is killed, and the host learns that it got
 * nothing. */
static char *map_all(int fd, size_t size)
{
	const volatile char *data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (data == MAP_FAILED)
		return NULL;
	for (size_t i = 0; i < size; i += 4096)
		(void)data[i];
	return (char *)data;
}

static void hand_file(int number, const char *path, const struct stat *st, const char *below)
{
	size_t size = st->st_size;
	char *data = NULL;
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		data = size > 0 ? map_all(fd, size) : read_all(fd, &size);
	list_entry(number, data ? "" : strerror(errno), st, data, size, below);
	if (fd >= 0)
		close(fd);
}

/* PATH/NAME, to be freed, or NULL. */
static char *joined(const char *path, const char *name)
{
	size_t size = strlen(path) + 1 + strlen(name) + 1;
	char *both = malloc(size);

	if (both)
		snprintf(both, size, "%s/%s", path, name);
	return both;
}

/* Puts the attributes of the file at path into *st.  Returns NULL, or why the file cannot be handed
 * over.  A link below the PATH may lead to a file, but not back to a directory above. */
static const char *look_at(const char *path, bool below, struct stat *st)
{
	if (lstat(path, st) != 0)
		return strerror(errno);
	bool link = S_ISLNK(st->st_mode);
	if (link && stat(path, st) != 0)
		return strerror(errno);
	if (link && below && S_ISDIR(st->st_mode))
		return "a symbolic link to a directory";
	return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) ? NULL
							    : "neither a file nor a directory";
}

/* Lists the file at path and its contents.  The first `top` characters of path are the PATH. */
static void hand(int number, const char *path, size_t top)
{
	const char *below = path[top] ? path + top + 1 : "", *why;
	struct dirent *d;
	struct stat st = {0};
	char *name;
	DIR *dir;

	why = look_at(path, *below, &st);
	if (why) {
		list_entry(number, why, &st, NULL, 0, below);
	} else if (S_ISREG(st.st_mode)) {
		hand_file(number, path, &st, below);
	} else if (!(dir = opendir(path))) {
		list_entry(number, strerror(errno), &st, NULL, 0, below);
	} else {
		list_entry(number, "", &st, NULL, 0, below);
		while ((d = readdir(dir))) {
			if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
				continue;
			name = joined(path, d->d_name);
			if (!name) {
				list_entry(number, strerror(ENOMEM), &st, NULL, 0, below);
				break;
			}
			hand(number, name, top);
			free(name);
		}
		closedir(dir);
	}
}

int main(int argc, char **argv)
{
	char *text;
	size_t size;

	usage_asked(argv, usage);
	if (argc < 3)
		return usage_wrong(usage);
	list = open_memstream(&text, &size);
	if (!list) {
		perror("handover");
		return 1;
	}
	for (int i = 2; i < argc; i++)
		hand(i - 2, argv[i], strlen(argv[i]));
	if (fclose(list) != 0) {
		perror("handover");
		return 1;
	}
	printf("\033]weft;out;%lu;%zu\a", (unsigned long)text, size);
	fflush(stdout);
	errno = -__sys_reboot(WEFT_REBOOT_HOLD, atoi(argv[1]));
	perror("handover");
	return 1;
}
