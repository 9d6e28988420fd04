/*
 * races_space.c RACE [ROUNDS] - the races that processes, their memory and files claim to close
 * (race.h): LWPs that are created while all are told to exit, pages that two LWPs touch first at
 * the same time, names that are moved and removed while a process works there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include "race.h"
#include "rawlwp.h"

#define PAGE 4096

/* --- processes -------------------------------------------------------------------------------- */

static pid_t child;

/* A process that forks again and again, and its group is killed. */
static volatile pid_t *ready;

static void fork_begin(void)
{
	ready = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
}

static void fork_kill(unsigned round)
{
	*ready = 0;
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		*ready = getpid();
		fork();
		for (;;)
			pause();
	}
	UNTIL(*ready == child);
	turns(draw(2000));
	kill(-child, SIGKILL);
	waitpid(child, NULL, 0);
	/* Its children are on their way out, if it has any. */
	UNTIL(kill(-child, 0) != 0);
}

/* A process that ends, or becomes another program, while an LWP of it creates one more. */
static struct raw maker, last;
static volatile bool up, go;
static unsigned how, late;
static bool again;

static void stay(struct raw *r)
{
	for (;;)
		__sys_lwp_park(NULL, 0);
}

static void make_one(struct raw *r)
{
	up = true;
	while (!go)
		;
	for (volatile unsigned i = 0; i < late; i++)
		;
	do
		raw_start(&last, stay, 0, how);
	while (again);
	stay(r);
}

enum { BY_EXIT, BY_EXEC };

static void lwps_of_child(unsigned round, unsigned flags, int end)
{
	char *const argv[] = {"true", NULL};

	how = flags;
	again = end == BY_EXEC; /* which takes its time */
	late = draw(100);
	unsigned tarry = draw(200);
	last.stack = malloc(RAW_STACK);
	child = fork();
	if (child == 0) {
		if (raw_start(&maker, make_one, 0, 0) != 0)
			_exit(1);
		while (!up)
			;
		go = true;
		turns(tarry);
		if (end == BY_EXEC)
			execv("/bin/true", argv);
		_exit(0);
	}
	int status = 1;
	waitpid(child, &status, 0);
	MUST(status == 0);
	free(last.stack);
}

static void born_at_exit(unsigned round)
{
	lwps_of_child(round, 0, BY_EXIT);
}

static void born_at_exec(unsigned round)
{
	lwps_of_child(round, LWP_SUSPENDED, BY_EXEC);
}

static void suspended_at_exit(unsigned round)
{
	lwps_of_child(round, LWP_SUSPENDED, BY_EXIT);
}

/* A process of many LWPs, one of which ends it while another one makes it another program. */
static void end_process(struct raw *r)
{
	up = true;
	while (!go)
		;
	for (volatile unsigned i = 0; i < late; i++)
		;
	__sys_exit(0);
}

static void exit_in_exec(unsigned round)
{
	char *const argv[] = {"sleep", "1000", NULL};

	late = draw(30000); /* as long as execve may take to load */
	unsigned tarry = draw(100);
	child = fork();
	if (child == 0) {
		for (unsigned i = 0; i < 150; i++) {
			struct lwp_create c = {.entry = (uint64_t)stay, .flags = LWP_SUSPENDED};
			if (__sys_lwp_create(&c) < 0)
				_exit(1);
		}
		if (raw_start(&maker, end_process, 0, 0) != 0)
			_exit(1);
		while (!up)
			;
		go = true;
		turns(tarry);
		execv("/bin/sleep", argv);
		_exit(1);
	}
	usleep(100000);
	hrtime_t killed = gethrtime();
	kill(child, SIGKILL); /* if the exec was faster */
	waitpid(child, NULL, 0);
	MUST(gethrtime() - killed < 1000000000);
}

/* A process that is stopped and continued. */
static volatile unsigned *alive;

static void stop_begin(void)
{
	alive = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	child = fork();
	if (child == 0)
		for (;;)
			++*alive;
}

static void stop_child(unsigned round)
{
	kill(child, SIGSTOP);
}

static void continue_child(unsigned round)
{
	kill(child, SIGCONT);
}

static void stop_check(unsigned round)
{
	unsigned was = *alive;

	continue_child(round); /* which does nothing if it has gone on */
	UNTIL(*alive != was);
}

/* --- memory ----------------------------------------------------------------------------------- */

static volatile uint64_t *area, *alias;
static int fd;

static void touch_prepare(unsigned round)
{
	area = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
}

static void touch_first(unsigned round)
{
	area[1] = round;
}

static void touch_second(unsigned round)
{
	area[2] = round;
}

static void touch_check(unsigned round)
{
	MUST(area[1] == round && area[2] == round);
	munmap((void *)area, PAGE);
}

/* The same page of a file, through two mappings. */
static void file_begin(void)
{
	fd = open("/tmp/races", O_RDWR | O_CREAT, 0600);
}

static void file_prepare(unsigned round)
{
	ftruncate(fd, 0);
	ftruncate(fd, PAGE);
	area = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	alias = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void touch_alias(unsigned round)
{
	alias[2] = round;
}

static void file_check(unsigned round)
{
	MUST(area[2] == round && alias[1] == round);
	munmap((void *)area, PAGE);
	munmap((void *)alias, PAGE);
}

/* A page that is copied when it is first written. */
static void copy_begin(void)
{
	file_begin();
	ftruncate(fd, PAGE);
}

static void copy_prepare(unsigned round)
{
	area = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	MUST(area[1] == 0);
}

/* An LWP with the old page in its TLB reads the page, while two write to the new one. */
static volatile unsigned written;

static void see_prepare(unsigned round)
{
	written = 0;
	copy_prepare(round);
}

static void see_read(unsigned round)
{
	uint64_t before = area[2];

	while (written != round)
		before = area[0];
	MUST(area[2] == round);
	(void)before;
}

static void see_write(unsigned round)
{
	area[2] = round;
	written = round;
}

/* What a child has does not change by what its parent goes on to write. */
static volatile bool enough;

static void snapshot_prepare(unsigned round)
{
	enough = false;
	touch_prepare(round);
}

static void snapshot_write(unsigned round)
{
	while (!enough)
		area[1]++;
}

static void snapshot_fork(unsigned round)
{
	int status = 1;

	child = fork();
	if (child == 0) {
		uint64_t seen = area[1];
		turns(3000);
		_exit(area[1] != seen);
	}
	turns(5000);
	enough = true;
	waitpid(child, &status, 0);
	MUST(status == 0);
}

static void unmap_area(unsigned round)
{
	munmap((void *)area, PAGE);
}

/* A page that is replaced while an LWP writes: a later write goes to the new page. */
static volatile bool replaced;

static void replace_page_prepare(unsigned round)
{
	replaced = false;
	touch_prepare(round);
}

static void replace_page(unsigned round)
{
	MUST(mmap((void *)area, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED,
		  -1, 0) == (void *)area);
	replaced = true;
}

static void write_meanwhile(unsigned round)
{
	while (!replaced)
		area[1] = 0;
	area[2] = round;
}

static void replace_page_check(unsigned round)
{
	MUST(area[2] == round);
	munmap((void *)area, PAGE);
}

/* --- names and descriptors -------------------------------------------------------------------- */

#define TOP "/tmp/t"

static bool there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

static void dirs_begin(void)
{
	mkdir(TOP, 0700);
	mkdir(TOP "/x", 0700);
	mkdir(TOP "/y", 0700);
}

/* A directory that is removed, and an LWP that creates a file in it. */
static void dead_prepare(unsigned round)
{
	mkdir(TOP "/d", 0700);
}

static void dead_remove(unsigned round)
{
	rmdir(TOP "/d");
}

static void dead_create(unsigned round)
{
	int f = open(TOP "/d/f", O_WRONLY | O_CREAT, 0600);

	if (f >= 0)
		close(f);
}

static void dead_check(unsigned round)
{
	unlink(TOP "/d/f");
	rmdir(TOP "/d");
	MUST(!there(TOP "/d"));
}

/* Two directories, each of which goes into the other. */
static void circle_prepare(unsigned round)
{
	mkdir(TOP "/x/a", 0700);
	mkdir(TOP "/y/b", 0700);
}

static void circle_first(unsigned round)
{
	rename(TOP "/x/a", TOP "/y/b/a");
}

static void circle_second(unsigned round)
{
	rename(TOP "/y/b", TOP "/x/a/b");
}

static void circle_check(unsigned round)
{
	MUST(there(TOP "/x/a") || there(TOP "/y/b"));
	rmdir(TOP "/x/a/b");
	rmdir(TOP "/y/b/a");
	rmdir(TOP "/x/a");
	rmdir(TOP "/y/b");
}

/* A file that takes the name of another, which is there all the time. */
static void replace_begin(void)
{
	dirs_begin();
	close(open(TOP "/f", O_WRONLY | O_CREAT, 0600));
}

static void replace_prepare(unsigned round)
{
	close(open(TOP "/g", O_WRONLY | O_CREAT, 0600));
}

static void replace_rename(unsigned round)
{
	MUST(rename(TOP "/g", TOP "/f") == 0);
}

static void replace_look(unsigned round)
{
	for (unsigned i = 0; i < 4; i++)
		MUST(there(TOP "/f"));
}

/* Two LWPs create the same file, without O_EXCL. */
static void create_either(unsigned round)
{
	int f = open(TOP "/c", O_WRONLY | O_CREAT, 0600);

	MUST(f >= 0);
	close(f);
}

static void create_check(unsigned round)
{
	unlink(TOP "/c");
}

/* A file that gets two more names at once. */
static void link_prepare(unsigned round)
{
	close(open(TOP "/f", O_WRONLY | O_CREAT, 0600));
}

static void link_first(unsigned round)
{
	link(TOP "/f", TOP "/x/f");
}

static void link_second(unsigned round)
{
	link(TOP "/f", TOP "/y/f");
}

static void link_check(unsigned round)
{
	struct stat st;

	MUST(stat(TOP "/f", &st) == 0 && st.st_nlink == 3);
	unlink(TOP "/x/f");
	unlink(TOP "/y/f");
	unlink(TOP "/f");
}

/* A descriptor that is closed, and its file freed and used again, while somebody writes there. */
static int other;

static void close_prepare(unsigned round)
{
	fd = open(TOP "/f", O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

/* Not by the same number. */
static void close_it(unsigned round)
{
	int place = open("/dev/null", O_RDONLY);

	close(fd);
	dup2(place, fd);
	other = open(TOP "/g", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	close(place);
}

static void close_write(unsigned round)
{
	write(fd, "x", 1);
}

static void close_check(unsigned round)
{
	struct stat st;

	MUST(fstat(other, &st) == 0 && st.st_size == 0);
	close(other);
	close(fd);
}

/* Two LWPs write to the console, more than it takes at a time: lines of their own, as ok()
 * writes. */
static void write_line(unsigned round)
{
	char line[301];

	memset(line, '-', sizeof(line));
	memcpy(line, "ok ", 3);
	line[sizeof(line) - 1] = '\n';
	MUST(write(1, line, sizeof(line)) == sizeof(line));
	__atomic_fetch_add(&tap_count, 1, __ATOMIC_RELAXED);
}

/* --------------------------------------------------------------------------------------------------- */

static const struct race races[] = {
	{"fork", 0, fork_begin, NULL, {fork_kill}, NULL, 0},
	{"born-at-exit", 0, NULL, NULL, {born_at_exit}, NULL, 0},
	{"born-at-exec", 0, NULL, NULL, {born_at_exec}, NULL, 0},
	{"suspended-at-exit", 0, NULL, NULL, {suspended_at_exit}, NULL, 0},
	{"exit-in-exec", 0, NULL, NULL, {exit_in_exec}, NULL, 0},
	{"stop", 30, stop_begin, NULL, {stop_child, continue_child}, stop_check, 0},
	{"touch", 50, NULL, touch_prepare, {touch_first, touch_second}, touch_check, 0},
	{"file", 50, file_begin, file_prepare, {touch_first, touch_alias}, file_check, 0},
	{"copy", 50, copy_begin, copy_prepare, {touch_first, touch_second}, touch_check, 0},
	{"see", 300, copy_begin, see_prepare, {touch_first, see_write, see_read}, unmap_area, 0},
	{"snapshot", 0, NULL, snapshot_prepare, {snapshot_fork, snapshot_write}, unmap_area, 0},
	{"replace-page",
	 300,
	 NULL,
	 replace_page_prepare,
	 {replace_page, write_meanwhile},
	 replace_page_check,
	 0},
	{"dead", 100, dirs_begin, dead_prepare, {dead_remove, dead_create}, dead_check, 0},
	{"circle", 100, dirs_begin, circle_prepare, {circle_first, circle_second}, circle_check, 0},
	{"replace", 300, replace_begin, replace_prepare, {replace_rename, replace_look}, NULL, 0},
	{"link", 50, dirs_begin, link_prepare, {link_first, link_second}, link_check, 0},
	{"create", 100, dirs_begin, NULL, {create_either, create_either}, create_check, 0},
	{"write", 100, NULL, NULL, {write_line, write_line}, NULL, 0},
	{"close", 50, dirs_begin, close_prepare, {close_it, close_write}, close_check, 0},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
