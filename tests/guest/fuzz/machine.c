/*
 * machine.c - what belongs to the whole machine: what victims may change there is put back, and
 * at the end the kernel's memory is compared with what it was before.
 *
 * The comparison is exact.  Memory that the kernel keeps for the next time (free objects in the
 * CPUs' magazines, slabs, kernel stacks and the page tables that map them) counts as free, and
 * objects are counted where they are in use, cache by cache, so that a leak has a name.
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
#include <weft/abi.h>
#include <weft/priocntl.h>
#include <weft/processor.h>
#include <weft/sys.h>
#include <weft/time.h>

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
static void walk(const char *dir, void (*fn)(const char *path, const struct stat *))
{
	char path[1024];
	struct stat st;
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, e->d_name);
		if (strcmp(path, "/proc") == 0 || lstat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode))
			walk(path, fn);
		fn(path, &st);
	}
	if (d != NULL)
		closedir(d);
}

static void note(const char *path, const struct stat *st)
{
	if (nfiles == sizeof(files) / sizeof(files[0]))
		errx(1, "more files than expected: %s", path);
	files[nfiles++] =
		(struct file){st->st_dev, st->st_ino, S_ISREG(st->st_mode) ? st->st_size : 0};
}

static void keep_or_remove(const char *path, const struct stat *st)
{
	const struct file key = {st->st_dev, st->st_ino, 0};
	const struct file *was = bsearch(&key, files, nfiles, sizeof(files[0]), by_identity);

	if (was == NULL) {
		if ((S_ISDIR(st->st_mode) ? rmdir(path) : unlink(path)) != 0)
			err(1, "%s: cannot be removed", path);
		return;
	}
	nfound++;
	if (S_ISREG(st->st_mode) && was->size != (uint64_t)st->st_size)
		errx(1, "%s has another size", path);
}

/* Takes as much stack and heap as we shall ever need, so that we are not what is missing. */
static void grow(void)
{
	volatile char stack[64 << 10];
	char *heap = malloc(sizeof(stack));

	if (heap == NULL)
		err(1, "malloc");
	for (size_t i = 0; i < sizeof(stack); i += WEFT_PAGE_SIZE)
		stack[i] = ((volatile char *)heap)[i] = 1;
	free(heap);
}

void machine_save(void)
{
	grow();
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

/* --- the kernel's memory ------------------------------------------------------------------ */

#define SETTLE_MS 5
#define SETTLED 4         /* looks that say the same */
#define RETURN_LOOKS 2000 /* by then all is back, or is lost */

static void nap(void)
{
	const struct weft_timespec t = {0, SETTLE_MS * 1000000};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &t);
}

/* All memory that looking needs is there before the first number counts. */
static struct kmem seen, last;
static char text[16384];

static void look(struct kmem *k)
{
	size_t len = 0;
	ssize_t n;
	int fd = open("/proc/kmem", O_RDONLY);

	while (fd >= 0 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	close(fd);
	text[len] = '\0';
	memset(k, 0, sizeof(*k));
	char *end;
	for (char *line = strtok_r(text, "\n", &end); line != NULL;
	     line = strtok_r(NULL, "\n", &end)) {
		unsigned long size, used, pages;
		char word[16];
		/* A name may have spaces. */
		if (sscanf(line, "Cache:\t%23[^\t]\t%lu\t%lu\t%lu", k->cache[k->ncaches].name,
			   &size, &used, &pages) == 4) {
			k->cache[k->ncaches++].used = used;
			k->idle += pages;
		} else if (sscanf(line, "%15[^:]:\t%lu", word, &pages) == 2 &&
			   strcmp(word, "Total") != 0) {
			k->idle += pages;
		}
	}
	if (k->ncaches == 0)
		errx(1, "/proc/kmem cannot be read");
}

/* Magazines are what free objects wait in: their number says nothing. */
static bool counts(const struct kmem *k, unsigned i)
{
	return strcmp(k->cache[i].name, "magazine") != 0;
}

static bool agree(const struct kmem *a, const struct kmem *b)
{
	for (unsigned i = 0; i < a->ncaches; i++)
		if (counts(a, i) && a->cache[i].used != b->cache[i].used)
			return false;
	return a->idle == b->idle && a->ncaches == b->ncaches;
}

void kmem_settle(struct kmem *k)
{
	for (unsigned same = 0, looks = 0; same < SETTLED && looks < RETURN_LOOKS; looks++) {
		look(&seen);
		same = agree(&seen, &last) ? same + 1 : 0;
		last = seen;
		nap();
	}
	*k = seen;
}

bool kmem_returns(const struct kmem *before)
{
	for (unsigned looks = 0; looks < RETURN_LOOKS; looks++) {
		look(&seen);
		if (agree(before, &seen))
			return true;
		nap();
	}
	printf("fuzz: %lld pages are missing\n", (long long)(before->idle - seen.idle));
	for (unsigned i = 0; i < seen.ncaches; i++)
		if (counts(&seen, i) && seen.cache[i].used != before->cache[i].used)
			printf("fuzz: %s: %llu objects in use, %llu before\n", seen.cache[i].name,
			       (unsigned long long)seen.cache[i].used,
			       (unsigned long long)before->cache[i].used);
	return false;
}
