/*
 * file_locks.c - record locks (fcntl's F_GETLK, F_SETLK, F_SETLKW; lockf): how ranges change, which
 * process waits for which, deadlock, and when a process loses its locks.
 *
 * A child on the other end of two pipes makes calls on demand, so the order of all calls is fixed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include "tap.h"

#define PATH "/tmp/file_locks"

static int fd;

/* --- calls in another process ---------------------------------------------------------- */

struct other {
	int pid, to, from;
};
struct answer {
	int result, error;
	struct flock lock;
};

static void serve(int in, int out)
{
	struct {
		int cmd;
		struct flock lock;
	} call;
	struct answer a;

	while (read(in, &call, sizeof(call)) == sizeof(call)) {
		errno = 0;
		a.result = fcntl(fd, call.cmd, &call.lock);
		a.error = errno;
		a.lock = call.lock;
		write(out, &a, sizeof(a));
	}
	_exit(0);
}

static struct other other_start(void)
{
	int to[2], from[2];

	pipe(to);
	pipe(from);
	struct other o = {fork(), to[1], from[0]};
	if (o.pid == 0) {
		close(to[1]);
		serve(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	return o;
}

/* Later children have the ends of its pipes, too, so that it would see no end of file. */
static void other_end(struct other *o)
{
	kill(o->pid, SIGKILL);
	close(o->to);
	close(o->from);
	waitpid(o->pid, NULL, 0);
}

static struct flock range(int type, off_t start, off_t len)
{
	return (struct flock){.l_type = type, .l_start = start, .l_len = len};
}

static void other_asks(struct other *o, int cmd, struct flock lock)
{
	struct {
		int cmd;
		struct flock lock;
	} call = {cmd, lock};

	write(o->to, &call, sizeof(call));
}

static struct answer other_says(struct other *o)
{
	struct answer a = {.result = -2};

	read(o->from, &a, sizeof(a));
	return a;
}

static int other_sets(struct other *o, int type, off_t start, off_t len)
{
	other_asks(o, F_SETLK, range(type, start, len));
	struct answer a = other_says(o);
	return a.result == 0 ? 0 : a.error;
}

/* What stands in the way of the other process for these bytes; l_type F_UNLCK: nothing. */
static struct flock other_sees(struct other *o, int type, off_t start, off_t len)
{
	other_asks(o, F_GETLK, range(type, start, len));
	return other_says(o).lock;
}

/* Until the first LWP of pid sleeps for a record lock. */
static void until_waits(int pid, uint32_t lwp)
{
	struct lwp_info info;

	while (__sys_lwp_info(pid, lwp, &info) != lwp || strcmp(info.wchan, "fcntl") != 0)
		__sys_lwp_yield();
}

static int sets(int cmd, int type, off_t start, off_t len)
{
	struct flock lock = range(type, start, len);

	errno = 0;
	return fcntl(fd, cmd, &lock) == 0 ? 0 : errno;
}

static int sees(struct flock l, int type, off_t start, off_t len)
{
	return l.l_type == type && l.l_whence == SEEK_SET && l.l_start == start && l.l_len == len &&
	       l.l_pid == getpid();
}

/* --- ranges --------------------------------------------------------------------------------- */

static void ranges(void)
{
	struct other o = other_start();
	struct flock l;

	is("a lock", sets(F_SETLK, F_WRLCK, 10, 10), 0);
	ok("another process sees it", sees(other_sees(&o, F_RDLCK, 0, 0), F_WRLCK, 10, 10));
	is("and does not get its last byte", other_sets(&o, F_RDLCK, 19, 1), EAGAIN);
	is("but what is behind it", other_sets(&o, F_WRLCK, 20, 1), 0);
	is("and before it", other_sets(&o, F_WRLCK, 0, 10), 0);
	is("which is in my way", sets(F_SETLK, F_RDLCK, 0, 1), EAGAIN);
	is("until it is given back", other_sets(&o, F_UNLCK, 0, 0), 0);
	is("a hole in the middle", sets(F_SETLK, F_UNLCK, 13, 3), 0);
	ok("before the hole", sees(other_sees(&o, F_RDLCK, 12, 1), F_WRLCK, 10, 3));
	is("the hole", other_sees(&o, F_WRLCK, 13, 3).l_type, F_UNLCK);
	ok("behind the hole", sees(other_sees(&o, F_RDLCK, 13, 4), F_WRLCK, 16, 4));
	is("to reading", sets(F_SETLK, F_RDLCK, 8, 4), 0);
	ok("it is to read", sees(other_sees(&o, F_WRLCK, 8, 1), F_RDLCK, 8, 4));
	is("two may read", other_sets(&o, F_RDLCK, 8, 4), 0);
	is("but not write", sets(F_SETLK, F_WRLCK, 8, 1), EAGAIN);
	ok("the rest is as it was", sees(other_sees(&o, F_RDLCK, 8, 0), F_WRLCK, 12, 1));
	other_sets(&o, F_UNLCK, 0, 0);
	is("over all of them", sets(F_SETLK, F_WRLCK, 9, 0), 0);
	ok("they are one, to the end", sees(other_sees(&o, F_RDLCK, 1l << 40, 1), F_WRLCK, 9, 0));
	is("its beginning", sets(F_SETLK, F_UNLCK, 0, 100), 0);
	ok("goes", sees(other_sees(&o, F_RDLCK, 0, 0), F_WRLCK, 100, 0));
	is("a neighbour", sets(F_SETLK, F_WRLCK, 90, 10), 0);
	ok("is one with it", sees(other_sees(&o, F_RDLCK, 0, 0), F_WRLCK, 90, 0));
	sets(F_SETLK, F_UNLCK, 0, 0);

	is("bytes before the start", sets(F_SETLK, F_WRLCK, 20, -5), 0);
	ok("are these", sees(other_sees(&o, F_RDLCK, 0, 0), F_WRLCK, 15, 5));
	sets(F_SETLK, F_UNLCK, 0, 0);
	lseek(fd, 30, SEEK_SET);
	l = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_start = -2, .l_len = 4};
	is("from the offset on", fcntl(fd, F_SETLK, &l), 0);
	ok("it counts from there", sees(other_sees(&o, F_WRLCK, 0, 0), F_RDLCK, 28, 4));
	sets(F_SETLK, F_UNLCK, 0, 0);
	l = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_END, .l_start = -1};
	is("from the end on", fcntl(fd, F_SETLK, &l), 0);
	ok("it counts from the end", sees(other_sees(&o, F_WRLCK, 0, 0), F_RDLCK, 99, 0));
	l = range(F_WRLCK, 0, 0);
	ok("my own is in nobody's way", fcntl(fd, F_GETLK, &l) == 0 && l.l_type == F_UNLCK);
	sets(F_SETLK, F_UNLCK, 0, 0);
	is("the last byte that there can be", sets(F_SETLK, F_WRLCK, INT64_MAX, 1), 0);
	is("and beyond", sets(F_SETLK, F_WRLCK, INT64_MAX, 2), EOVERFLOW);
	is("before the first", sets(F_SETLK, F_WRLCK, 0, -1), EINVAL);
	is("F_GETLK of F_UNLCK", sets(F_GETLK, F_UNLCK, 0, 0), EINVAL);
	sets(F_SETLK, F_UNLCK, 0, 0);
	other_end(&o);
}

static void lockf_calls(void)
{
	struct other o = other_start();

	lseek(fd, 10, SEEK_SET);
	is("lockf", lockf(fd, F_LOCK, 5), 0);
	ok("is a lock for writing", sees(other_sees(&o, F_RDLCK, 0, 0), F_WRLCK, 10, 5));
	is("F_TEST of my own", lockf(fd, F_TEST, 5), 0);
	is("F_ULOCK", lockf(fd, F_ULOCK, 2), 0);
	ok("takes away", sees(other_sees(&o, F_RDLCK, 0, 0), F_WRLCK, 12, 3));
	other_sets(&o, F_RDLCK, 10, 1);
	fails("F_TEST", lockf(fd, F_TEST, 5), EACCES);
	fails("F_TLOCK", lockf(fd, F_TLOCK, 5), EAGAIN);
	fails("another command", lockf(fd, 9, 5), EINVAL);
	lockf(fd, F_ULOCK, 0);
	other_end(&o);
}

/* --- the end of locks --------------------------------------------------------------------- */

static void ends(void)
{
	struct other o = other_start();
	int again;

	is("to be lost", sets(F_SETLK, F_WRLCK, 0, 0), 0);
	again = open(PATH, O_RDONLY);
	ok("another descriptor", other_sees(&o, F_RDLCK, 0, 0).l_type == F_WRLCK);
	close(again);
	is("its close loses the locks", other_sees(&o, F_RDLCK, 0, 0).l_type, F_UNLCK);
	sets(F_SETLK, F_WRLCK, 0, 0);
	again = dup(fd);
	dup2(1, again);
	is("so does dup2", other_sees(&o, F_RDLCK, 0, 0).l_type, F_UNLCK);
	close(again);
	sets(F_SETLK, F_WRLCK, 0, 0);
	close(open("/dev/null", O_RDONLY));
	is("not that of another file", other_sees(&o, F_RDLCK, 0, 0).l_type, F_WRLCK);
	struct other child = other_start();
	is("fork: the child has none", other_sets(&child, F_RDLCK, 0, 1), EAGAIN);
	other_end(&child);
	is("and takes none along", other_sees(&o, F_RDLCK, 0, 0).l_type, F_WRLCK);
	sets(F_SETLK, F_UNLCK, 0, 0);

	other_sets(&o, F_WRLCK, 5, 1);
	is("the other's", sets(F_SETLK, F_RDLCK, 0, 0), EAGAIN);
	other_end(&o);
	is("exit loses the locks", sets(F_SETLK, F_RDLCK, 0, 0), 0);
	sets(F_SETLK, F_UNLCK, 0, 0);
}

/* This program runs again, with the descriptor: do its locks live through exec? */
static void exec_keeps(void)
{
	int to[2], from[2];
	char in[8], out[8], c;
	pid_t pid;

	pipe(to);
	pipe(from);
	snprintf(in, sizeof(in), "%d", to[0]);
	snprintf(out, sizeof(out), "%d", from[1]);
	pid = fork();
	if (pid == 0) {
		sets(F_SETLK, F_WRLCK, 3, 4);
		close(to[1]);
		execl("/bin/file_locks", "file_locks", "hold", in, out, NULL);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	read(from[0], &c, 1);
	struct flock l = range(F_RDLCK, 0, 0);
	fcntl(fd, F_GETLK, &l);
	ok("exec keeps locks",
	   l.l_type == F_WRLCK && l.l_start == 3 && l.l_len == 4 && l.l_pid == pid);
	close(to[1]);
	waitpid(pid, NULL, 0);
	close(from[0]);
	is("until the program ends", sets(F_SETLK, F_WRLCK, 3, 4), 0);
	sets(F_SETLK, F_UNLCK, 0, 0);
}

static int hold(int in, int out)
{
	char c = 0;

	write(out, &c, 1);
	read(in, &c, 1);
	return 0;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught;

static void handler(int sig)
{
	caught++;
}

static void waiting(void)
{
	struct other a = other_start(), b = other_start(), c = other_start();

	sets(F_SETLK, F_WRLCK, 0, 10);
	other_asks(&a, F_SETLKW, range(F_RDLCK, 0, 1));
	other_asks(&b, F_SETLKW, range(F_RDLCK, 0, 5));
	until_waits(a.pid, 1);
	until_waits(b.pid, 1);
	is("what nobody waits for", sets(F_SETLK, F_UNLCK, 9, 1), 0);
	until_waits(a.pid, 1);
	is("what one of two waits for", sets(F_SETLK, F_RDLCK, 0, 1), 0);
	is("it has it", other_says(&a).result, 0);
	until_waits(b.pid, 1);
	is("what the second waits for", sets(F_SETLK, F_UNLCK, 0, 0), 0);
	is("it has it too", other_says(&b).result, 0);

	/* a has 0, b 0 to 4, both to read. */
	is("I have 20", sets(F_SETLK, F_WRLCK, 20, 1), 0);
	is("c has 30", other_sets(&c, F_WRLCK, 30, 1), 0);
	other_asks(&a, F_SETLKW, range(F_WRLCK, 20, 1));
	until_waits(a.pid, 1);
	is("two in a circle", sets(F_SETLKW, F_WRLCK, 0, 1), EDEADLK);
	is("a circle is none without waiting", sets(F_SETLK, F_WRLCK, 0, 1), EAGAIN);
	other_asks(&c, F_SETLKW, range(F_WRLCK, 0, 1));
	until_waits(c.pid, 1);
	is("three in a circle", sets(F_SETLKW, F_WRLCK, 30, 1), EDEADLK);
	is("what was there is still there", other_sets(&b, F_WRLCK, 20, 1), EAGAIN);
	is("the first goes on", sets(F_SETLK, F_UNLCK, 20, 1), 0);
	is("with it", other_says(&a).result, 0);
	other_end(&a);
	until_waits(c.pid, 1);
	kill(c.pid, SIGKILL);
	other_end(&c);
	is("who is killed while it waits leaves nothing", sets(F_SETLK, F_WRLCK, 5, 100), 0);
	sets(F_SETLK, F_UNLCK, 0, 0);

	/* b has 0 to 4 still. */
	struct sigaction act = {.sa_handler = handler};
	struct itimerval soon = {.it_value = {.tv_usec = 1000}};
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	is("a signal", sets(F_SETLKW, F_WRLCK, 0, 1), EINTR);
	is("its handler ran", caught, 1);
	pid_t parent = getpid(), child = fork();
	if (child == 0) {
		until_waits(parent, 1);
		kill(parent, SIGALRM);
		until_waits(parent, 1);
		kill(b.pid, SIGKILL);
		_exit(0);
	}
	act.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &act, NULL);
	is("SA_RESTART waits on", sets(F_SETLKW, F_WRLCK, 0, 1), 0);
	is("the handler ran again", caught, 2);
	waitpid(child, NULL, 0);
	other_end(&b);
	sets(F_SETLK, F_UNLCK, 0, 0);
}

static void *waits(void *arg)
{
	return (void *)(intptr_t)sets(F_SETLKW, F_WRLCK, 0, 1);
}

/* A thread waits for a lock, and another closes the descriptor. */
static void closed_meanwhile(void)
{
	struct other o = other_start();
	pthread_t t;
	void *r;

	other_sets(&o, F_WRLCK, 0, 1);
	pthread_create(&t, NULL, waits, NULL);
	for (struct lwp_info info = {0}; strcmp(info.wchan, "fcntl") != 0;) {
		__sys_lwp_yield();
		if (__sys_lwp_info(0, 2, &info) < 0)
			info.wchan[0] = '\0';
	}
	close(fd);
	other_sets(&o, F_UNLCK, 0, 1);
	pthread_join(t, &r);
	is("closed meanwhile", (intptr_t)r, EBADF);
	is("no lock stays behind", other_sets(&o, F_WRLCK, 0, 0), 0);
	other_end(&o);
	fd = open(PATH, O_RDWR);
}

#define ROUNDS 500

static volatile int turn; /* the round that the closing thread may do */
static volatile int closed;

static void *closes(void *arg)
{
	for (int i = 1; i <= ROUNDS; i++) {
		int other = open(PATH, O_RDWR);
		for (unsigned n = 1; turn != i; n++)
			if (n % 1000 == 0)
				__sys_lwp_yield();
		for (volatile int delay = i * 7 % 500; delay > 0; delay--)
			;
		close(other);
		closed = i;
	}
	return NULL;
}

/*
 * A thread makes its lock longer, another closes a descriptor of the file: either all is gone, or
 * what the first has asked for afterwards is there.
 */
static void closed_beside(void)
{
	struct other o = other_start();
	int wrong = 0;
	pthread_t t;

	pthread_create(&t, NULL, closes, NULL);
	for (int i = 1; i <= ROUNDS; i++) {
		sets(F_SETLK, F_WRLCK, 0, 10);
		turn = i;
		sets(F_SETLK, F_WRLCK, 10, 10);
		while (closed != i)
			__sys_lwp_yield();
		struct flock l = other_sees(&o, F_WRLCK, 0, 0);
		wrong += l.l_type != F_UNLCK && l.l_start != 10;
	}
	pthread_join(t, NULL);
	is("a close beside a lock takes away what was there before", wrong, 0);
	sets(F_SETLK, F_UNLCK, 0, 0);
	other_end(&o);
}

int main(int argc, char **argv)
{
	if (argc == 4)
		return hold(atoi(argv[2]), atoi(argv[3]));
	fd = open(PATH, O_RDWR | O_CREAT | O_TRUNC, 0600);
	ftruncate(fd, 100);
	ranges();
	lockf_calls();
	ends();
	exec_keeps();
	waiting();
	closed_meanwhile();
	closed_beside();
	return tap_done();
}
