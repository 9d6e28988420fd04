/*
 * thr_mq.c [ROUNDS] - message queues in every model: order, limits, waiting for messages and for room
 * within a process and between processes, time-outs, notification, cancellation, processes that die.
 */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread.h>
#include <time.h>
#include "child.h"
#include "notified.h"

static int rounds = 20;
static char text[64];
static unsigned priority;

static mqd_t make(const char *name, int flags, long maxmsg, long msgsize)
{
	const struct mq_attr attr = {.mq_maxmsg = maxmsg, .mq_msgsize = msgsize};
	mqd_t q = mq_open(name, O_RDWR | O_CREAT | O_EXCL | flags, 0600, &attr);

	if (q < 0)
		bail("mq_open: %d", errno);
	return q;
}

static void destroy(mqd_t q, const char *name)
{
	if (mq_close(q) != 0 || mq_unlink(name) != 0)
		bail("mq_close or mq_unlink: %d", errno);
}

static bool receives(mqd_t q, const char *want, unsigned with)
{
	memset(text, 0, sizeof(text));
	return mq_receive(q, text, sizeof(text), &priority) == (ssize_t)strlen(want) &&
	       strcmp(text, want) == 0 && priority == with;
}

static long curmsgs(mqd_t q)
{
	struct mq_attr attr;

	return mq_getattr(q, &attr) == 0 ? attr.mq_curmsgs : -1;
}

static struct timespec in_ms(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += (t.tv_nsec + ms * 1000000l) / 1000000000;
	t.tv_nsec = (t.tv_nsec + ms * 1000000l) % 1000000000;
	return t;
}

/* Gives others time: a thread with its own LWP, or an unbound one, runs meanwhile in every model. */
static void pause_ms(int ms)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec until = in_ms(ms);

	pthread_mutex_lock(&m);
	while (pthread_cond_timedwait(&c, &m, &until) == 0)
		;
	pthread_mutex_unlock(&m);
}

static pthread_t thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

/* --- names, limits, order ------------------------------------------------------------------------ */

static void test_names(void)
{
	struct mq_attr attr = {.mq_maxmsg = 3, .mq_msgsize = 10}, now;
	char name[400] = "/";
	struct stat st;
	mqd_t q, again;
	int fd;

	memset(name + 1, 'x', sizeof(name) - 2);
	fails("open, too long", mq_open(name, O_RDONLY), ENAMETOOLONG);
	fails("open, no name", mq_open("/", O_RDONLY), EINVAL);
	fails("open, none there", mq_open("/none", O_RDONLY), ENOENT);
	fails("unlink, none there", mq_unlink("/none"), ENOENT);
	fd = open("/tmp/.mq.other", O_RDWR | O_CREAT, 0600);
	write(fd, "not a queue", 11);
	fails("open, another file", mq_open("/other", O_RDONLY), EINVAL);
	fails("receive, no queue", mq_receive(fd, text, sizeof(text), NULL), EBADF);
	close(fd);
	unlink("/tmp/.mq.other");

	umask(027);
	q = mq_open("/names", O_RDWR | O_CREAT, 0666, &attr);
	ok("open", q >= 0);
	is("its mode, less the umask", stat("/tmp/.mq.names", &st) == 0 ? st.st_mode & 0777 : 0,
	   0640);
	fails("O_EXCL, there", mq_open("/names", O_RDWR | O_CREAT | O_EXCL, 0600, NULL), EEXIST);
	is("getattr", mq_getattr(q, &now), 0);
	ok("its attributes",
	   now.mq_flags == 0 && now.mq_maxmsg == 3 && now.mq_msgsize == 10 && now.mq_curmsgs == 0);
	is("send", mq_send(q, "one", 3, 0), 0);
	again = mq_open("names", O_RDONLY | O_NONBLOCK);
	ok("open again, without the slash", again >= 0 && again != q);
	fails("send, open for reading", mq_send(again, "x", 1, 0), EBADF);
	ok("the same queue", receives(again, "one", 0));
	fails("O_NONBLOCK is the descriptor's", mq_receive(again, text, sizeof(text), NULL),
	      EAGAIN);
	is("close", mq_close(again), 0);
	fails("close once more", mq_close(again), EBADF);
	is("unlink", mq_unlink("/names"), 0);
	fails("open, unlinked", mq_open("/names", O_RDONLY), ENOENT);
	is("the queue lives on", mq_send(q, "two", 3, 0), 0);
	ok("... with its messages", receives(q, "two", 0));
	is("close the last", mq_close(q), 0);
	q = mq_open("/names", O_WRONLY | O_CREAT, 0600, NULL);
	is("the preset", mq_getattr(q, &now) == 0 ? now.mq_maxmsg * 100000 + now.mq_msgsize : 0,
	   1008192);
	fails("receive, open for writing", mq_receive(q, text, sizeof(text), NULL), EBADF);
	destroy(q, "/names");
}

static void test_order(void)
{
	mqd_t q = make("/order", O_NONBLOCK, 6, 16);
	struct mq_attr attr = {.mq_flags = 0}, old;

	fails("empty", mq_receive(q, text, sizeof(text), NULL), EAGAIN);
	fails("send, a priority too high", mq_send(q, "x", 1, MQ_PRIO_MAX), EINVAL);
	fails("send, too long", mq_send(q, text, 17, 0), EMSGSIZE);
	fails("receive, too little room", mq_receive(q, text, 15, NULL), EMSGSIZE);
	mq_send(q, "low", 3, 1);
	mq_send(q, "high", 4, MQ_PRIO_MAX - 1);
	mq_send(q, "low too", 7, 1);
	mq_send(q, "", 0, 0);
	mq_send(q, "middle", 6, 7);
	mq_send(q, "high too", 8, MQ_PRIO_MAX - 1);
	is("as many as were sent", curmsgs(q), 6);
	fails("full", mq_send(q, "x", 1, 31), EAGAIN);
	ok("the highest first", receives(q, "high", 31) && receives(q, "high too", 31));
	ok("... then the others", receives(q, "middle", 7) && receives(q, "low", 1));
	is("a slot is used again", mq_send(q, "again", 5, 1), 0);
	ok("of one priority as they came", receives(q, "low too", 1) && receives(q, "again", 1));
	ok("a message of no bytes", receives(q, "", 0));
	is("none is left", curmsgs(q), 0);
	is("setattr", mq_setattr(q, &attr, &old), 0);
	is("... as it was", old.mq_flags, O_NONBLOCK);
	is("... as it is", mq_getattr(q, &attr) == 0 ? attr.mq_flags : -1, 0);
	destroy(q, "/order");
}

/* --- threads ---------------------------------------------------------------------------------- */

static mqd_t to, from;

static void *echo(void *arg)
{
	char buffer[16];
	unsigned p;
	ssize_t n;

	while ((n = mq_receive(to, buffer, sizeof(buffer), &p)) > 0)
		if (mq_send(from, buffer, n, p) < 0)
			break;
	return NULL;
}

static void test_threads(void)
{
	bool right = true;
	pthread_t t;

	to = make("/to", 0, 2, 16);
	from = make("/from", 0, 2, 16);
	t = thread(echo, NULL);
	for (int i = 0; i < rounds; i++) {
		char line[16];

		snprintf(line, sizeof(line), "%d", i);
		right = right && mq_send(to, line, strlen(line), i % 8) == 0 &&
			receives(from, line, i % 8);
	}
	ok("two threads play", right);
	for (int i = 0; i < 4; i++)
		right = right && mq_send(to, "wait", 4, 0) == 0;
	pause_ms(2);
	is("a sender waits for room", curmsgs(from), 2);
	for (int i = 0; i < 4; i++)
		right = right && receives(from, "wait", 0);
	ok("... and goes on", right);
	mq_send(to, "", 0, 0);
	pthread_join(t, NULL);
	destroy(to, "/to");
	destroy(from, "/from");
}

/* --- processes ---------------------------------------------------------------------------------- */

static int echo_process(void)
{
	to = mq_open("/to", O_RDONLY);
	from = mq_open("/from", O_WRONLY);
	echo(NULL);
	return to < 0 || from < 0;
}

static int inherits(void)
{
	struct mq_attr attr = {.mq_flags = O_NONBLOCK};

	return !receives(to, "inherited", 3) || mq_setattr(to, &attr, NULL) != 0;
}

static void test_processes(void)
{
	struct mq_attr attr = {0};
	bool right = true;
	pid_t pid;

	to = make("/to", 0, 2, 16);
	from = make("/from", 0, 2, 16);
	pid = child(echo_process);
	for (int i = 0; i < rounds; i++)
		right = right && mq_send(to, "ball", 4, 5) == 0 && receives(from, "ball", 5);
	ok("two processes play", right);
	mq_send(to, "", 0, 0);
	is("... to the end", status_of(pid), 0);

	mq_send(to, "inherited", 9, 3);
	is("a child of fork has it open", status_of(child(inherits)), 0);
	is("... and shares O_NONBLOCK", mq_getattr(to, &attr) == 0 ? attr.mq_flags : 0, O_NONBLOCK);
	destroy(to, "/to");
	destroy(from, "/from");
}

/* Sends and receives until it is killed. */
static int __attribute__((noreturn)) storms(void)
{
	const struct timespec past = {0, 0};
	char buffer[64];

	for (unsigned i = 0;; i++) {
		mq_timedsend(to, buffer, i % 64, i % 4, &past);
		mq_timedreceive(to, buffer, 64, NULL, &past);
	}
}

static void test_death(void)
{
	int wrong = 0;

	to = make("/death", O_NONBLOCK, 4, 64);
	for (int i = 0; i < rounds; i++) {
		pid_t pid = child(storms);

		pause_ms(1 + i % 3);
		kill(pid, SIGKILL);
		status_of(pid);
		while (mq_receive(to, text, 64, NULL) >= 0)
			;
		for (int k = 0; k < 4; k++)
			wrong += mq_send(to, "abc", 3, k) != 0;
		for (int k = 3; k >= 0; k--)
			wrong += !receives(to, "abc", k);
		wrong += curmsgs(to) != 0;
	}
	is("a process that dies at it leaves it whole", wrong, 0);
	destroy(to, "/death");
}

/* --- time-outs, handlers, closing --------------------------------------------------------------- */

static void test_times(void)
{
	const struct timespec past = {0, 0}, wrong = {0, 1000000000};
	mqd_t q = make("/times", 0, 1, 64);
	struct timespec until, now;

	fails("receive, past", mq_timedreceive(q, text, 64, NULL, &past), ETIMEDOUT);
	fails("receive, a bad time", mq_timedreceive(q, text, 64, NULL, &wrong), EINVAL);
	until = in_ms(5);
	fails("receive, soon", mq_timedreceive(q, text, 64, NULL, &until), ETIMEDOUT);
	clock_gettime(CLOCK_REALTIME, &now);
	ok("receive, and not before", now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec &&
								    now.tv_nsec >= until.tv_nsec));
	is("send, room and a bad time", mq_timedsend(q, "x", 1, 0, &wrong), 0);
	fails("send, past", mq_timedsend(q, "x", 1, 0, &past), ETIMEDOUT);
	fails("send, a bad time", mq_timedsend(q, "x", 1, 0, &wrong), EINVAL);
	until = in_ms(5);
	fails("send, soon", mq_timedsend(q, "x", 1, 0, &until), ETIMEDOUT);
	clock_gettime(CLOCK_REALTIME, &now);
	ok("send, and not before", now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec &&
								 now.tv_nsec >= until.tv_nsec));
	is("receive, a message and a bad time", mq_timedreceive(q, text, 64, NULL, &wrong), 1);
	destroy(q, "/times");
}

static void *waits(void *queue)
{
	char buffer[64];

	errno = 0;
	return (void *)(long)(mq_receive(*(mqd_t *)queue, buffer, 64, NULL) < 0 ? errno : 0);
}

static void *waits_to_send(void *queue)
{
	errno = 0;
	return (void *)(long)(mq_send(*(mqd_t *)queue, "late", 4, 0) < 0 ? errno : 0);
}

static void caught(int sig)
{
}

static void test_handler(void)
{
	struct sigaction act = {.sa_handler = caught};
	mqd_t q = make("/handler", 0, 1, 64);
	thread_t t;
	void *status;

	sigaction(SIGUSR1, &act, NULL);
	thr_create(NULL, 0, waits, &q, THR_BOUND, &t);
	pause_ms(2);
	pthread_kill(t, SIGUSR1);
	pause_ms(2);
	mq_send(q, "x", 1, 0);
	thr_join(t, NULL, &status);
	/* In n1 no thread is bound. */
	is("a handler", (long)status, strcmp(getenv("LIBTHREAD"), "n1") == 0 ? 0 : EINTR);
	destroy(q, "/handler");
}

static void test_closed(void)
{
	mqd_t q = make("/closed", 0, 1, 64), closed = q;
	pthread_t t = thread(waits, &q);
	void *status;

	pause_ms(2);
	is("close, another waits", mq_close(closed), 0);
	pthread_join(t, &status);
	is("... its call ends", (long)status, EBADF);
	mq_unlink("/closed");
}

/* --- cancellation ------------------------------------------------------------------------------- */

struct point {
	void *(*call)(void *);
	mqd_t queue;
};

static void *with_pending(void *arg)
{
	struct point *p = arg;

	pthread_cancel(pthread_self());
	p->call(&p->queue);
	return NULL;
}

static void test_cancel(void)
{
	struct point p = {waits, make("/cancel", 0, 1, 64)};
	mqd_t q = p.queue;
	void *status;
	pthread_t t;

	t = thread(waits, &q);
	pause_ms(2);
	pthread_cancel(t);
	pthread_join(t, &status);
	ok("receive is cancelled in its wait", status == PTHREAD_CANCELED);
	mq_send(q, "stays", 5, 0);
	pthread_join(thread(with_pending, &p), &status);
	ok("receive is cancelled by a pending one", status == PTHREAD_CANCELED);
	is("... and takes nothing", curmsgs(q), 1);
	t = thread(waits_to_send, &q);
	pause_ms(2);
	pthread_cancel(t);
	pthread_join(t, &status);
	ok("send is cancelled in its wait", status == PTHREAD_CANCELED);
	ok("the message is the first's", receives(q, "stays", 0));
	p.call = waits_to_send;
	pthread_join(thread(with_pending, &p), &status);
	ok("send is cancelled by a pending one", status == PTHREAD_CANCELED);
	is("... and sends nothing", curmsgs(q), 0);
	destroy(q, "/cancel");
}

/* With a cancellation pending, to whose end the calls come that are no points. */
static void *no_points(void *arg)
{
	struct sigevent event = {.sigev_notify = SIGEV_NONE};
	struct mq_attr attr = {0};
	mqd_t q;

	pthread_cancel(pthread_self());
	q = mq_open("/nopoints", O_RDWR | O_CREAT, 0600, NULL);
	mq_getattr(q, &attr);
	mq_setattr(q, &attr, NULL);
	mq_notify(q, &event);
	mq_close(q);
	mq_unlink("/nopoints");
	*(bool *)arg = true;
	return NULL;
}

static void test_no_points(void)
{
	bool through = false;

	pthread_join(thread(no_points, &through), NULL);
	ok("the other functions are no cancellation points", through);
}

/* --- notification ------------------------------------------------------------------------------- */

static int registers_and_dies(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};

	return mq_notify(to, &event) != 0;
}

static int done[2]; /* a pipe that exec closes */

static int registers_and_execs(void)
{
	const sigset_t set = WEFT_SIGBIT(SIGRTMIN);

	if (registers_and_dies() != 0)
		return 1;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	execl("/bin/sleep", "sleep", "0.05", NULL);
	return 2;
}

static pid_t another_program(void)
{
	char byte;

	if (pipe2(done, O_CLOEXEC) != 0)
		bail("pipe2");
	pid_t pid = child(registers_and_execs);
	close(done[1]);
	read(done[0], &byte, 1);
	close(done[0]);
	return pid;
}

static void test_notify_descriptors(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	const sigset_t set = WEFT_SIGBIT(SIGRTMIN);
	sigset_t before;
	mqd_t again;
	pid_t pid;

	to = make("/notify2", 0, 4, 64);
	again = mq_open("/notify2", O_RDONLY);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	is("notify", mq_notify(to, &event), 0);
	is("notify, NULL, by another descriptor", mq_notify(again, NULL), 0);
	is("... ends the registration", mq_notify(again, &event), 0);
	is("close of the other descriptor", mq_close(to), 0);
	to = mq_open("/notify2", O_RDWR);
	fails("... does not", mq_notify(to, &event), EBUSY);
	mq_close(again);
	is("close of that which it was made by", mq_notify(to, &event), 0);
	mq_notify(to, NULL);

	pid = another_program();
	is("a message for a process that has called exec", mq_send(to, "x", 1, 0), 0);
	is("... does not signal its new program", status_of(pid), 0);
	mq_receive(to, text, 64, NULL);
	pid = another_program();
	is("exec ends the registration", mq_notify(to, &event), 0);
	status_of(pid);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	destroy(to, "/notify2");
}

static int sends(void)
{
	return mq_send(to, "told", 4, 0) != 0;
}

static void test_notify(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42};
	const sigset_t set = WEFT_SIGBIT(SIGRTMIN);
	sigset_t before;
	pthread_t t;
	void *status;
	struct timespec until;

	to = make("/notify", 0, 4, 64);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	is("notify", mq_notify(to, &event), 0);
	fails("notify, registered", mq_notify(to, &event), EBUSY);
	is("a message from another process", status_of(child(sends)), 0);
	ok("the signal comes", signal_comes(SIGRTMIN, 2));
	is("... with its value", value, 42);
	mq_send(to, "not told", 8, 0);
	ok("... once", !signal_comes(SIGRTMIN, 2));
	is("notify, not empty", mq_notify(to, &event), 0);
	mq_send(to, "third", 5, 0);
	ok("none comes while there are messages", !signal_comes(SIGRTMIN, 2));
	while (curmsgs(to) > 0)
		mq_receive(to, text, 64, NULL);
	t = thread(waits, &to);
	pause_ms(2);
	mq_send(to, "for a waiter", 12, 0);
	pthread_join(t, &status);
	ok("none comes if a thread waits", status == NULL && !signal_comes(SIGRTMIN, 2));
	mq_send(to, "x", 1, 0);
	ok("... and the process stays registered", signal_comes(SIGRTMIN, 2));
	mq_receive(to, text, 64, NULL);
	is("notify, by another process", status_of(child(registers_and_dies)), 0);
	is("... which has ended", mq_notify(to, &event), 0);
	is("notify, NULL", mq_notify(to, NULL), 0);
	mq_send(to, "x", 1, 0);
	ok("... ends the registration", !signal_comes(SIGRTMIN, 2));
	mq_receive(to, text, 64, NULL);

	sem_init(&called, 0, 0);
	event = (struct sigevent){.sigev_notify = SIGEV_THREAD,
				  .sigev_notify_function = function,
				  .sigev_value.sival_int = 43};
	is("notify by a thread", mq_notify(to, &event), 0);
	is("... a message from another process", status_of(child(sends)), 0);
	until = in_ms(1000);
	is("... the function is called", sem_timedwait(&called, &until), 0);
	is("... with its value", value, 43);
	mq_receive(to, text, 64, NULL);
	is("notify by a thread again", mq_notify(to, &event), 0);
	is("... and take it back", mq_notify(to, NULL), 0);
	mq_send(to, "x", 1, 0);
	until = in_ms(5);
	fails("... the function is not called", sem_timedwait(&called, &until), ETIMEDOUT);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	destroy(to, "/notify");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	test_names();
	test_order();
	test_threads();
	test_processes();
	test_times();
	test_handler();
	test_closed();
	test_cancel();
	test_no_points();
	test_notify();
	test_notify_descriptors();
	test_death();
	return tap_done();
}
