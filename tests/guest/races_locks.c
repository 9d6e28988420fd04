/*
 * races_locks.c RACE [ROUNDS] - the races that record locks claim to close (race.h).  Their owners are
 * processes: a party's opponent is a child of this round.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "race.h"

static volatile struct {
	unsigned ready, go; /* rounds */
} * shared;
static int file;
static pid_t child;

static int file_open(void)
{
	int fd = open("/tmp/races_locks", O_RDWR | O_CREAT, 0600);

	if (fd < 0)
		bail("open");
	return fd;
}

static void locks_begin(void)
{
	file = file_open();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
}

/* One byte: 0 or an error number. */
static int byte_lock(int command, int type, int at)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

	return fcntl(file, command, &l) == 0 ? 0 : errno;
}

/* A child that is there, and waits for the word; its status says whether `act` found all as it must be. */
static void child_start(unsigned round, bool (*prepare)(void), bool (*act)(void))
{
	unsigned late = draw(race->spread + 1);

	child = fork();
	if (child == 0) {
		if (prepare != NULL && !prepare())
			_exit(1);
		shared->ready = round;
		while (shared->go != round)
			;
		turns(late);
		_exit(!act());
	}
	MUST(child > 0);
	UNTIL(shared->ready == round);
}

static void child_end(void)
{
	int status = 1;
	pid_t ended;

	UNTIL((ended = waitpid(child, &status, WNOHANG)) != 0);
	MUST(ended == child && status == 0);
}

/* --- a lock is given back as another process goes to sleep for it --------------------------------------- */

static bool wait_for_first(void)
{
	return byte_lock(F_SETLKW, F_WRLCK, 0) == 0;
}

static void give_prepare(unsigned round)
{
	MUST(byte_lock(F_SETLK, F_WRLCK, 0) == 0);
	child_start(round, NULL, wait_for_first);
}

static void give_back(unsigned round)
{
	shared->go = round;
	come_late();
	MUST(byte_lock(F_SETLK, F_UNLCK, 0) == 0);
	child_end();
}

/* --- two processes wait for each other: one at least is told --------------------------------------------- */

static bool has_second(void)
{
	return byte_lock(F_SETLK, F_WRLCK, 1) == 0;
}

static bool crosses(int wants, int has)
{
	int error = byte_lock(F_SETLKW, F_WRLCK, wants);

	return (error == 0 || error == EDEADLK) && byte_lock(F_SETLK, F_UNLCK, has) == 0;
}

static bool child_crosses(void)
{
	return crosses(0, 1);
}

static void cross_prepare(unsigned round)
{
	MUST(byte_lock(F_SETLK, F_WRLCK, 0) == 0);
	child_start(round, has_second, child_crosses);
}

static void cross(unsigned round)
{
	shared->go = round;
	come_late();
	MUST(crosses(1, 0));
	child_end();
	MUST(byte_lock(F_SETLK, F_UNLCK, 1) == 0);
}

/* --- one thread locks by a descriptor that another thread closes ------------------------------------------ */

static volatile int locking;

static void close_prepare(unsigned round)
{
	file = locking = file_open();
}

static void close_lock(unsigned round)
{
	int error = byte_lock(F_SETLK, F_WRLCK, 0);

	MUST(error == 0 || error == EBADF);
}

static void close_close(unsigned round)
{
	MUST(close(locking) == 0);
}

static bool finds_none(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};

	return fcntl(file_open(), F_GETLK, &l) == 0 && l.l_type == F_UNLCK;
}

static void close_check(unsigned round)
{
	child_start(round, NULL, finds_none);
	shared->go = round;
	child_end();
}

static const struct race races[] = {
	{.name = "give-back",
	 .spread = 300,
	 .begin = locks_begin,
	 .prepare = give_prepare,
	 .act = {give_back}},
	{.name = "cross",
	 .spread = 100,
	 .begin = locks_begin,
	 .prepare = cross_prepare,
	 .act = {cross}},
	{.name = "close",
	 .spread = 100,
	 .begin = locks_begin,
	 .prepare = close_prepare,
	 .act = {close_lock, close_close},
	 .check = close_check},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
