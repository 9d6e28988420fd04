/*
 * native_io.c - native methods of java.io: files and descriptors.
 *
 * A call that may block does so in a safe region, so that a collector need not wait for it. The bytes lie in the Java
 * array itself: objects do not move, and the array is an argument, which keeps it alive.
 */

#include "vm.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NATIVE(name) static void name(struct jthread *t, union slot *args, union slot *result)

#define NUL_IN_UTF8 "\xc0\x80" /* string_utf8 */

/* The path in a string, which the caller frees. NULL: t->exception, or no path, because it has a character 0. */
static char *path_of(struct jthread *t, struct object *string)
{
	char *path = NULL;

	if (string == NULL) {
		throw_new(t, "java/lang/NullPointerException", NULL);
	} else if ((path = string_utf8(string)) == NULL) {
		throw_no_memory(t);
	} else if (strstr(path, NUL_IN_UTF8) != NULL) {
		free(path);
		path = NULL;
	}
	return path;
}

/* int open0(String path, int how): 0 to read, 1 to write, 2 to append */
NATIVE(io_open)
{
	static const int flags[] = {O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC,
				    O_WRONLY | O_CREAT | O_APPEND};
	char *path = path_of(t, args[0].a);
	int error;

	if (path == NULL && t->exception == NULL)
		throw_new(t, "java/io/FileNotFoundException", "Invalid file path");
	if (path == NULL)
		return;
	world_leave(t);
	result->i = open(path, flags[args[1].i == 1 || args[1].i == 2 ? args[1].i : 0], 0666);
	error = errno;
	world_enter(t);
	if (result->i < 0)
		throw_new(t, "java/io/FileNotFoundException", "\"%s\" (%s)", path, strerror(error));
	free(path);
}

/* False: t->exception. */
static bool range_check(struct jthread *t, struct object *bytes, int32_t at, int32_t length)
{
	if (bytes == NULL)
		throw_new(t, "java/lang/NullPointerException", NULL);
	else if (at < 0 || length < 0 || (int64_t)at + length > ARRAY(bytes)->length)
		throw_new(t, "java/lang/IndexOutOfBoundsException", NULL);
	return t->exception == NULL;
}

/* int read0(int fd, byte[] bytes, int at, int length): -1 at the end */
NATIVE(io_read)
{
	ssize_t n;
	int error;

	if (!range_check(t, args[1].a, args[2].i, args[3].i))
		return;
	world_leave(t);
	n = read(args[0].i, ARRAY(args[1].a)->b + args[2].i, (size_t)args[3].i);
	error = errno;
	world_enter(t);
	if (n < 0)
		throw_new(t, "java/io/IOException", "%s", strerror(error));
	result->i = n == 0 && args[3].i != 0 ? -1 : (int32_t)n;
}

/* void write0(int fd, byte[] bytes, int at, int length) */
NATIVE(io_write)
{
	int32_t done = 0;
	ssize_t n = 0;
	int error;

	if (!range_check(t, args[1].a, args[2].i, args[3].i))
		return;
	world_leave(t);
	while (done < args[3].i && n >= 0) {
		n = write(args[0].i, ARRAY(args[1].a)->b + args[2].i + done,
			  (size_t)(args[3].i - done));
		done += (int32_t)n;
	}
	error = errno;
	world_enter(t);
	if (n < 0)
		throw_new(t, "java/io/IOException", "%s", strerror(error));
}

/* void close0(int fd) */
NATIVE(io_close)
{
	world_leave(t);
	close(args[0].i);
	world_enter(t);
}

/* long stat0(String path, int what): 0 kind (0 none, 1 a file, 2 a directory, 3 another), 1 length, 2 time in ms */
NATIVE(io_stat)
{
	char *path = path_of(t, args[0].a);
	struct stat st;
	bool there;

	if (path == NULL)
		return;
	world_leave(t);
	there = stat(path, &st) == 0;
	world_enter(t);
	if (there)
		result->j = args[1].i == 1        ? (int64_t)st.st_size
			    : args[1].i == 2      ? (int64_t)st.st_mtime * 1000
			    : S_ISREG(st.st_mode) ? 1
			    : S_ISDIR(st.st_mode) ? 2
						  : 3;
	free(path);
}

/* boolean change0(String path, int what, String to): 0 mkdir, 1 delete, 2 rename */
NATIVE(io_change)
{
	char *path = path_of(t, args[0].a), *to = NULL;
	struct stat st;

	if (path == NULL)
		return;
	if (args[1].i == 2 && (to = path_of(t, args[2].a)) == NULL) {
		free(path);
		return;
	}
	world_leave(t);
	if (args[1].i == 0)
		result->i = mkdir(path, 0777) == 0;
	else if (args[1].i == 2)
		result->i = rename(path, to) == 0;
	else
		result->i = stat(path, &st) == 0 &&
			    (S_ISDIR(st.st_mode) ? rmdir(path) : unlink(path)) == 0;
	world_enter(t);
	free(path);
	free(to);
}

static void names_free(char **names, int n)
{
	while (n > 0)
		free(names[--n]);
	free(names);
}

#define NO_DIRECTORY (-1)
#define NO_MEMORY (-2)

/* The names in a directory, of malloc.  How many, or NO_DIRECTORY, NO_MEMORY.  In a safe region. */
static int names_read(const char *path, char ***names)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	if (dir == NULL)
		return NO_DIRECTORY;
	while ((e = readdir(dir)) != NULL) {
		char **more;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		more = realloc(*names, (size_t)(n + 1) * sizeof(char *));
		if (more != NULL)
			*names = more;
		if (more == NULL || (more[n] = strdup(e->d_name)) == NULL) {
			names_free(*names, n);
			*names = NULL;
			n = NO_MEMORY;
			break;
		}
		n++;
	}
	closedir(dir);
	return n;
}

/* String[] list0(String path): null if it is no directory */
NATIVE(io_list)
{
	char *path = path_of(t, args[0].a), **names = NULL;
	struct array *list;
	int n = NO_DIRECTORY;

	if (path != NULL) {
		world_leave(t);
		n = names_read(path, &names);
		world_enter(t);
	}
	if (n == NO_MEMORY)
		throw_no_memory(t);
	list = n < 0 ? NULL : heap_array(t, known.array_string, n);
	if (list != NULL)
		root_push(t, &list->object);
	for (int i = 0; i < n && t->exception == NULL; i++)
		list->a[i] = string_new(t, names[i], strlen(names[i]));
	names_free(names, n);
	free(path);
	result->a = (struct object *)list;
}

const struct native native_io[] = {
	{"java/io/File.open0(Ljava/lang/String;I)I", io_open},
	{"java/io/File.read0(I[BII)I", io_read},
	{"java/io/File.write0(I[BII)V", io_write},
	{"java/io/File.close0(I)V", io_close},
	{"java/io/File.stat0(Ljava/lang/String;I)J", io_stat},
	{"java/io/File.change0(Ljava/lang/String;ILjava/lang/String;)Z", io_change},
	{"java/io/File.list0(Ljava/lang/String;)[Ljava/lang/String;", io_list},
	{NULL, NULL},
};
