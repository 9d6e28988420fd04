/*
 * machine.c - what belongs to the whole machine: what victims may change there is put back.
 */
#include "fuzz.h"
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/file.h>
#include <weft/priocntl.h>
#include <weft/processor.h>
#include <weft/sys.h>

/* --- CPUs and scheduling ------------------------------------------------------------------ */

static struct tsdpent ts_table[TS_LEVELS];
static struct rtdpent rt_table[RT_LEVELS];
static struct ntadmin nt_table;
static struct pcadmin tables[] = {
	{WEFT_CLASS_TS, PC_GETTABLE, (uint64_t)ts_table, sizeof(ts_table)},
	{WEFT_CLASS_RT, PC_GETTABLE, (uint64_t)rt_table, sizeof(rt_table)},
	{WEFT_CLASS_NT, PC_GETTABLE, (uint64_t)&nt_table, sizeof(nt_table)},
};

static void admin(int command)
{
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		tables[i].pc_cmd = command;
		if (__sys_priocntl(WEFT_P_PID, 0, PC_ADMIN, &tables[i]) < 0)
			errx(1, "dispatch tables");
	}
}

void machine_restore(void)
{
	int sets[WEFT_MAXPSET];
	unsigned n = WEFT_MAXPSET;

	if (__sys_pset_list(sets, &n) == 0)
		while (n > 0)
			__sys_pset_destroy(sets[--n]);
	for (unsigned cpu = 0; __sys_p_online(cpu, P_ONLINE) >= 0; cpu++)
		;
	admin(PC_SETTABLE);
}

/* --- files -------------------------------------------------------------------------------- */

struct file {
	uint64_t dev, ino, size;
};

static struct file files[4096]; /* that were there; sorted */
static unsigned nfiles, nfound;

static int by_identity(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Calls fn with everything below dir but /proc; a directory comes after what is in it. */
static void walk(const char *dir, void (*fn)(const char *path, const struct weft_stat *))
{
	char path[1024];
	struct weft_stat st; /* the kernel's own: its inode numbers have 64 bits */
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, e->d_name);
		if (strcmp(path, "/proc") == 0 || __sys_lstat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.mode))
			walk(path, fn);
		fn(path, &st);
	}
	if (d != NULL)
		closedir(d);
}

static void note(const char *path, const struct weft_stat *st)
{
	if (nfiles == sizeof(files) / sizeof(files[0]))
		errx(1, "more files than expected: %s", path);
	files[nfiles++] = (struct file){st->dev, st->ino, S_ISREG(st->mode) ? st->size : 0};
}

static void keep_or_remove(const char *path, const struct weft_stat *st)
{
	const struct file key = {st->dev, st->ino, 0};
	const struct file *was = bsearch(&key, files, nfiles, sizeof(files[0]), by_identity);

	if (was == NULL) {
		if ((S_ISDIR(st->mode) ? rmdir(path) : unlink(path)) != 0)
			err(1, "%s: cannot be removed", path);
		return;
	}
	nfound++;
	if (S_ISREG(st->mode) && was->size != st->size)
		errx(1, "%s has another size", path);
}

void machine_save(void)
{
	admin(PC_GETTABLE);
	walk("/", note);
	qsort(files, nfiles, sizeof(files[0]), by_identity);
}

void clean_files(void)
{
	nfound = 0;
	walk("/", keep_or_remove);
	if (nfound != nfiles)
		errx(1, "%u of %u files are gone", nfiles - nfound, nfiles);
}

static void copy(const char *from, const char *to)
{
	char buf[4096];
	ssize_t n;
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0755);

	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			err(1, "%s", to);
	close(in);
	close(out);
}

/* Victims may have removed any of it: what is there stays. */
void make_home(void)
{
	mkdir(HOME, 0777);
	copy("/bin/true", HOME "/true");
	copy("/bin/false", HOME "/false");
	symlink("/dev/null", HOME "/null");
	symlink("/dev/zero", HOME "/zero");
	symlink("/dev/full", HOME "/full");
	symlink("/dev/random", HOME "/random");
	/* A page that all victims write to. */
	int fd = open(HOME "/shared", O_RDWR | O_CREAT, 0666);
	if (fd < 0 || ftruncate(fd, 4096) != 0)
		err(1, HOME "/shared");
	close(fd);
}
