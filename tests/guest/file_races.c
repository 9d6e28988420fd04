/*
 * file_races.c - several LWPs make, rename, link and remove names in a few directories, which
 * they move about as well, and read and write one file.  Nothing may get lost: at the end each
 * directory is a tree that can be walked and removed.  The argument: rounds (150).
 */
#include "filetest.h"
#include "rawlwp.h"

#define TOP "/tmp/file_races"
#define WORKERS 4
#define DIRS 4

static unsigned rounds = 150;
static uint64_t unexpected;
static long last_error;

static unsigned next(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 33;
}

/* TOP/d or TOP/d/d or TOP/d/n: raw LWPs have no printf. */
static const char *path(char *buf, uint64_t *state, int leaf)
{
	char *p = stpcpy(buf, TOP);
	int depth = 1 + next(state) % 2;
	for (int i = 0; i < depth; i++) {
		*p++ = '/';
		*p++ = 'A' + next(state) % DIRS;
	}
	if (leaf) {
		*p++ = '/';
		*p++ = 'a' + next(state) % 6;
	}
	*p = '\0';
	return buf;
}

/* Errors that others may be the cause of. */
static void check(long r)
{
	if (r >= 0 || r == -ENOENT || r == -EEXIST || r == -ENOTEMPTY || r == -EINVAL ||
	    r == -ENOTDIR || r == -EISDIR || r == -EPERM)
		return;
	__atomic_fetch_add(&unexpected, 1, __ATOMIC_RELAXED);
	last_error = r;
}

static void work(struct raw *r)
{
	char a[64], b[64];
	uint64_t state = r->arg * 977 + 5;
	struct weft_stat st;

	for (unsigned i = 0; i < rounds; i++) {
		int leaf = next(&state) % 2;
		path(a, &state, leaf);
		path(b, &state, leaf);
		switch (next(&state) % 8) {
		case 0: {
			long fd = __sys_open(a, WEFT_O_WRONLY | WEFT_O_CREAT, 0644);
			check(fd);
			if (fd >= 0) {
				check(__sys_write(fd, a, 10));
				check(__sys_close(fd));
			}
			break;
		}
		case 1:
			check(__sys_mkdir(a, 0755));
			break;
		case 2:
			check(__sys_unlink(a));
			break;
		case 3:
			check(__sys_rmdir(a));
			break;
		case 4:
			check(__sys_link(a, b));
			break;
		case 5:
			check(__sys_stat(a, &st));
			break;
		default:
			check(__sys_rename(a, b));
		}
	}
}

/* Walks what is below the current directory and removes it; how many names, or -1. */
static int clear(int depth)
{
	char buf[2048];
	int n = 0;
	long used, fd = __sys_open(".", WEFT_O_RDONLY, 0);

	if (fd < 0 || depth > 100)
		return -1;
	while ((used = __sys_getdents(fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < used;) {
			struct weft_dirent *e = (struct weft_dirent *)(buf + at);
			at += e->reclen;
			if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
				continue;
			n++;
			if (e->type != WEFT_S_IFDIR >> 12) {
				if (__sys_unlink(e->name) != 0)
					return -1;
				continue;
			}
			int below = __sys_chdir(e->name) == 0 ? clear(depth + 1) : -1;
			if (below < 0 || __sys_chdir("..") != 0 || __sys_rmdir(e->name) != 0)
				return -1;
			n += below;
		}
	__sys_close(fd);
	return n;
}

static void names(void)
{
	static struct raw w[WORKERS];
	struct weft_stat st;

	if (__sys_mkdir(TOP, 0755) != 0)
		bail("no directory");
	for (unsigned i = 0; i < WORKERS; i++)
		if (raw_start(&w[i], work, i, 0) != 0)
			bail("no LWP");
	for (unsigned i = 0; i < WORKERS; i++)
		__sys_lwp_wait(w[i].id, NULL);
	if (unexpected != 0)
		printf("# the last one: %ld\n", last_error);
	is("names: unexpected errors", unexpected, 0);
	__sys_chdir(TOP);
	ok("names: all can be walked and removed", clear(0) >= 0);
	is("names: links of the top", __sys_stat(TOP, &st) == 0 ? st.nlink : 0, 2);
	__sys_chdir("/");
	is("names: nothing is left", __sys_rmdir(TOP), 0);
}

/* --- one file ---------------------------------------------------------------------------- */

#define RECORD 64
static int shared;

static void append(struct raw *r)
{
	char record[RECORD];
	long fd = __sys_open("/tmp/appended", WEFT_O_WRONLY | WEFT_O_APPEND, 0);

	memset(record, 'a' + r->arg, RECORD);
	for (unsigned i = 0; i < rounds; i++)
		check(__sys_write(fd, record, RECORD) == RECORD ? 0 : -EIO);
	__sys_close(fd);
}

/* Appends of several open files: none is written over another, none is torn. */
static void appends(void)
{
	static struct raw w[WORKERS];
	char record[RECORD];
	unsigned bad = 0, count[WORKERS] = {0};

	shared = __sys_open("/tmp/appended", WEFT_O_RDWR | WEFT_O_CREAT, 0600);
	for (unsigned i = 0; i < WORKERS; i++)
		if (raw_start(&w[i], append, i, 0) != 0)
			bail("no LWP");
	for (unsigned i = 0; i < WORKERS; i++)
		__sys_lwp_wait(w[i].id, NULL);
	while (__sys_read(shared, record, RECORD) == RECORD) {
		for (int i = 1; i < RECORD; i++)
			bad += record[i] != record[0];
		if (record[0] >= 'a' && record[0] < 'a' + WORKERS)
			count[record[0] - 'a']++;
	}
	is("append: torn", bad, 0);
	for (unsigned i = 0; i < WORKERS; i++)
		is("append: records of one", count[i], rounds);
	__sys_close(shared);
	__sys_unlink("/tmp/appended");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	names();
	appends();
	return tap_done();
}
