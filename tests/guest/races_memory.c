/*
 * races_memory.c RACE [ROUNDS] - the races of memory that is given back (race.h): somebody still
 * remembers where it was, and somebody else has it already.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/sys.h>
#include "race.h"
#include "rawlwp.h"

#define PAGE 4096

/* --- pages ------------------------------------------------------------------------------------------ */

/*
 * Many pages are replaced while one LWP writes to them, and another makes a file of some.
 * They are every second one in memory, so that they do not grow together to larger blocks, which
 * would be used last.
 */
#define PAGES 160

static volatile uint64_t (*area)[PAGE / sizeof(uint64_t)], (*between)[PAGE / sizeof(uint64_t)];
static volatile bool replaced;
static volatile unsigned passes, pages_of_file;
static int fd;

static void *new_pages(void)
{
	return mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
}

static void pages_begin(void)
{
	fd = open("/tmp/races", O_RDWR | O_CREAT, 0600);
	between = new_pages();
}

static void pages_prepare(unsigned round)
{
	replaced = false;
	passes = pages_of_file = 0;
	ftruncate(fd, 0);
	madvise((void *)between, PAGES * PAGE, MADV_DONTNEED);
	area = new_pages();
	for (unsigned i = 0; i < PAGES; i++)
		area[i][0] = between[i][0] = round;
}

static void write_to_all(unsigned round)
{
	for (; !replaced; passes++)
		for (unsigned i = 0; i < PAGES; i++)
			area[i][1] = round;
}

static void replace_all(unsigned round)
{
	UNTIL(passes > 0 && pages_of_file > 0);
	MUST(mmap((void *)area, PAGES * PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) == (void *)area);
	replaced = true;
}

/* A page has a word. */
static void make_file(unsigned round)
{
	uint64_t word = 1;

	for (; !replaced; pages_of_file++)
		MUST(pwrite(fd, &word, sizeof(word), pages_of_file * PAGE) == sizeof(word));
}

static void pages_check(unsigned round)
{
	uint64_t words[2];

	for (unsigned i = 0; i < pages_of_file; i++) {
		MUST(pread(fd, words, sizeof(words), i * PAGE) >= (ssize_t)sizeof(words[0]));
		MUST(words[0] == 1 && (i == pages_of_file - 1 || words[1] == 0));
	}
	munmap((void *)area, PAGES * PAGE);
}

/* --- kernel stacks ---------------------------------------------------------------------------------- */

/*
 * One CPU makes stacks for LWPs that run, and end, on others.  The stacks are given back when an
 * address space goes (of an exec that fails), and come back with other pages as that CPU goes on.
 */
#define MANY 40

static struct raw many[MANY];
static volatile bool all, used, gone;

static void stay(struct raw *r)
{
	while (!all)
		;
}

static void stacks_prepare(unsigned round)
{
	used = gone = false;
}

static void create(unsigned n)
{
	MUST(raw_start(&many[n], stay, 0, 0) == 0);
}

static void wait_for(unsigned n)
{
	struct lwp_info info;

	all = true;
	for (unsigned i = 0; i < n; i++) {
		do /* without giving the CPU to one of them */
			MUST(__sys_lwp_info(0, many[i].id, &info) == many[i].id);
		while (info.state != LWP_ST_ZOMB);
		__sys_lwp_wait(many[i].id, NULL);
	}
	all = false;
}

static void stacks_make(unsigned round)
{
	unsigned n;

	for (n = 0; n < MANY; n++)
		create(n);
	wait_for(n);
	used = true;
	for (n = 0; n < MANY && !gone; n++)
		create(n);
	wait_for(n);
}

static void stacks_trim(unsigned round)
{
	char *const argv[] = {"nothing", NULL};

	while (!used)
		;
	MUST(execv("/nothing", argv) != 0);
	gone = true;
}

/* --------------------------------------------------------------------------------------------------- */

static const struct race races[] = {
	{"pages",
	 0,
	 pages_begin,
	 pages_prepare,
	 {replace_all, write_to_all, make_file},
	 pages_check,
	 0},
	{"stacks", 0, NULL, stacks_prepare, {stacks_trim, stacks_make}, NULL, 0},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
