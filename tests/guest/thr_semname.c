/*
 * thr_semname.c [ROUNDS] - semaphores with names: every error, one address for one semaphore,
 * what unlinking does, and processes that meet by a name and that race to make one.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "child.h"

static int rounds = 50;

static int fails_with(sem_t *s)
{
	return s == SEM_FAILED ? errno : 0;
}

static void test_errors(void)
{
	char name[400] = "/";
	sem_t local;
	int fd;

	memset(name + 1, 'x', sizeof(name) - 2);
	is("open, too long", fails_with(sem_open(name, O_CREAT, 0600, 0)), ENAMETOOLONG);
	is("unlink, too long", sem_unlink(name) < 0 ? errno : 0, ENAMETOOLONG);
	is("open, no name", fails_with(sem_open("/", O_CREAT, 0600, 0)), EINVAL);
	is("open, a path", fails_with(sem_open("/a/b", O_CREAT, 0600, 0)), EINVAL);
	is("open, none there", fails_with(sem_open("/none", 0)), ENOENT);
	is("open, O_EXCL alone", fails_with(sem_open("/none", O_EXCL)), ENOENT);
	is("unlink, none there", sem_unlink("/none") < 0 ? errno : 0, ENOENT);
	is("open, value", fails_with(sem_open("/none", O_CREAT, 0600, (unsigned)SEM_VALUE_MAX + 1)),
	   EINVAL);
	sem_init(&local, 0, 0);
	is("close, no named one", sem_close(&local) < 0 ? errno : 0, EINVAL);
	fd = open("/tmp/.sem.other", O_RDWR | O_CREAT, 0600);
	write(fd, "not a semaphore at all", 22);
	close(fd);
	is("open, another file", fails_with(sem_open("/other", 0)), EINVAL);
	unlink("/tmp/.sem.other");
}

static void test_one_process(void)
{
	sem_t *s = sem_open("/one", O_CREAT | O_EXCL, 0600, 3), *again, *other;
	int value;

	ok("open", s != SEM_FAILED);
	is("its value", (sem_getvalue(s, &value), value), 3);
	is("O_EXCL, there", fails_with(sem_open("/one", O_CREAT | O_EXCL, 0600, 1)), EEXIST);
	again = sem_open("/one", O_CREAT, 0600, 7);
	ok("the same address", again == s);
	is("... and value", (sem_getvalue(s, &value), value), 3);
	ok("without the slash", sem_open("one", 0) == s);
	is("wait", sem_wait(s) | sem_trywait(again) | sem_wait(s), 0);
	is("trywait", sem_trywait(s) < 0 ? errno : 0, EAGAIN);
	is("post", sem_post(s), 0);
	is("unlink", sem_unlink("/one"), 0);
	is("open, unlinked", fails_with(sem_open("/one", 0)), ENOENT);
	other = sem_open("/one", O_CREAT, 0600, 5);
	ok("a new semaphore of the name is another", other != SEM_FAILED && other != s);
	is("the old one lives on", sem_trywait(s), 0);
	is("... with its own value", sem_trywait(s) < 0 ? errno : 0, EAGAIN);
	is("close", sem_close(s) | sem_close(s) | sem_close(s), 0);
	is("close once too often", sem_close(s) < 0 ? errno : 0, EINVAL);
	is("close and unlink", sem_close(other) | sem_unlink("/one"), 0);
}

/* --- what closing, unlinking and the end of a process do ----------------------------------- */

static sem_t *inherited, *signals_back;

static int uses_inherited(void)
{
	return sem_wait(inherited) | sem_post(inherited) | sem_post(inherited) |
	       sem_close(inherited);
}

static int posts(void)
{
	sem_t *s = sem_open("/life", 0);

	return s == SEM_FAILED || sem_post(s) < 0; /* and exits, with it open */
}

static int exec_posts(void)
{
	execl("/bin/thr_semname", "thr_semname", "post", NULL);
	return 1;
}

static int waits_on(void)
{
	sem_post(signals_back);
	return sem_wait(inherited) | sem_post(signals_back);
}

static void test_life(void)
{
	struct stat st;
	pid_t pid;
	int value;

	umask(027);
	inherited = sem_open("/life", O_CREAT, 0666, 1);
	is("its mode, less the umask", stat("/tmp/.sem.life", &st) == 0 ? st.st_mode & 0777 : 0,
	   0640);
	is("a child has it open", status_of(child(uses_inherited)), 0);
	is("... and what it does, it does to it", (sem_getvalue(inherited, &value), value), 2);
	is("the end of a process changes nothing", status_of(child(posts)), 0);
	is("... of the value", (sem_getvalue(inherited, &value), value), 3);
	is("another program does not either", status_of(child(exec_posts)), 0);
	is("closed by all", sem_close(inherited), 0);
	inherited = sem_open("/life", 0);
	is("... it has the value still", (sem_getvalue(inherited, &value), value), 4);
	while (sem_trywait(inherited) == 0)
		;
	signals_back = sem_open("/back", O_CREAT, 0600, 0);
	pid = child(waits_on);
	sem_wait(signals_back);
	while (inherited->__word == 0) /* until it waits */
		sched_yield();
	is("unlink waits for no process that has it", sem_unlink("/life"), 0);
	is("... and its waiter waits on", sem_trywait(signals_back) < 0 ? errno : 0, EAGAIN);
	is("... until a post", sem_post(inherited) | sem_wait(signals_back), 0);
	is("... and goes on", status_of(pid), 0);
	is("unlinked, and closed by all", sem_close(inherited), 0);
	inherited = sem_open("/life", O_CREAT, 0600, 9);
	is("the name is another's", (sem_getvalue(inherited, &value), value), 9);
	sem_close(inherited);
	sem_close(signals_back);
	is("unlink at the end", sem_unlink("/life") | sem_unlink("/back"), 0);
}

/* --- processes ------------------------------------------------------------------------------ */

/* Answers each ping with a pong. */
static int answers(void)
{
	sem_t *ping = sem_open("/ping", 0), *pong = sem_open("/pong", 0);

	if (ping == SEM_FAILED || pong == SEM_FAILED)
		return 1;
	for (int i = 0; i < rounds; i++)
		if (sem_wait(ping) < 0 || sem_post(pong) < 0)
			return 2;
	return 0;
}

static void test_two_processes(void)
{
	sem_t *ping = sem_open("/ping", O_CREAT, 0600, 0),
	      *pong = sem_open("/pong", O_CREAT, 0600, 0);
	pid_t pid = child(answers);

	for (int i = 0; i < rounds; i++) {
		sem_post(ping);
		sem_wait(pong);
	}
	is("two processes play", status_of(pid), 0);
	sem_close(ping);
	sem_close(pong);
	is("unlink both", sem_unlink("/ping") | sem_unlink("/pong"), 0);
}

/* Any thread may create it; all get the same semaphore, which is complete when its name appears. */
static int races(void)
{
	sem_t *s = sem_open("/race", O_CREAT, 0600, 100), *all = sem_open("/all", 0);
	int value;

	if (s == SEM_FAILED || all == SEM_FAILED)
		return 1;
	if (sem_getvalue(s, &value) < 0 || value > 100 || value < 96)
		return 2;
	return sem_wait(s) < 0 || sem_post(all) < 0 ? 3 : 0;
}

static void test_race(void)
{
	sem_t *all = sem_open("/all", O_CREAT, 0600, 0);
	int wrong = 0, value;

	for (int i = 0; i < rounds / 4; i++) {
		pid_t pid[4];
		sem_t *s;

		for (int k = 0; k < 4; k++)
			pid[k] = child(races);
		for (int k = 0; k < 4; k++) {
			wrong |= status_of(pid[k]);
			sem_wait(all);
		}
		s = sem_open("/race", 0);
		sem_getvalue(s, &value);
		wrong |= value != 96 ? 8 : 0;
		sem_close(s);
		sem_unlink("/race");
	}
	is("four make one semaphore", wrong, 0);
	sem_close(all);
	sem_unlink("/all");
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "post") == 0)
		return posts();
	if (argc > 1)
		rounds = atoi(argv[1]);
	test_errors();
	test_one_process();
	test_life();
	test_two_processes();
	test_race();
	return tap_done();
}
