/*
 * thr_aio.c - asynchronous input and output in every model: offsets, order, waiting, cancellation,
 * notification, lists, fork.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include "notified.h"
#include "tap.h"

#define FILE_NAME "/tmp/thr_aio"
#define PIPES 20 /* more than there are workers */

static char in[256], out[256];
static const struct timespec moment = {0, 2000000};

static struct aiocb block(int fd, void *buf, size_t size, off_t offset)
{
	return (struct aiocb){
		.aio_fildes = fd, .aio_buf = buf, .aio_nbytes = size, .aio_offset = offset};
}

/* Its error, when it is done. */
static int finished(const struct aiocb *cb)
{
	while (aio_error(cb) == EINPROGRESS)
		if (aio_suspend(&cb, 1, NULL) != 0)
			return -1;
	return aio_error(cb);
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_file(void)
{
	int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct aiocb w1 = block(fd, "world", 5, 6), w2 = block(fd, "hello ", 6, 0), s = {0},
		     r = block(fd, in, sizeof(in), 3);

	is("write", aio_write(&w1) | aio_write(&w2), 0);
	s.aio_fildes = fd;
	is("fsync", aio_fsync(O_SYNC, &s), 0);
	is("... is done after what was before", finished(&s), 0);
	ok("... that is", aio_error(&w1) == 0 && aio_error(&w2) == 0);
	is("what write returned", aio_return(&w1) * 10 + aio_return(&w2), 56);
	is("read", aio_read(&r), 0);
	is("... is done", finished(&r), 0);
	is("... to the end of the file", aio_return(&r), 8);
	ok("... from its offset", memcmp(in, "lo world", 8) == 0);
	is("the descriptor has its offset still", lseek(fd, 0, SEEK_CUR), 0);
	is("cancel, all done", aio_cancel(fd, &r) * 10 + aio_cancel(fd, NULL), 22);
	close(fd);

	fd = open(FILE_NAME, O_WRONLY | O_APPEND | O_TRUNC);
	struct aiocb a[8];
	bool right = true;
	for (int i = 0; i < 8; i++) {
		a[i] = block(fd, &"abcdefgh"[i], 1, 0);
		right = right && aio_write(&a[i]) == 0;
	}
	for (int i = 0; i < 8; i++)
		right = right && finished(&a[i]) == 0;
	close(fd);
	fd = open(FILE_NAME, O_RDONLY);
	ok("O_APPEND: in the order of the calls",
	   right && read(fd, in, 20) == 8 && memcmp(in, "abcdefgh", 8) == 0);
	fails("write, open for reading", aio_write(&r), EBADF);
	r.aio_fildes = fd;
	fails("write, of this descriptor", aio_write(&r), EBADF);
	r.aio_offset = -1;
	fails("read, a negative offset", aio_read(&r), EINVAL);
	r.aio_fildes = 77;
	fails("read, no descriptor", aio_read(&r), EBADF);
	fails("cancel, no descriptor", aio_cancel(77, NULL), EBADF);
	fails("fsync, no such flag", aio_fsync(1234567, &s), EINVAL);
	close(fd);
	unlink(FILE_NAME);
}

/* --- pipes -------------------------------------------------------------------------------------- */

static void test_pipe(void)
{
	const struct aiocb *list[2];
	int p[2];

	pipe(p);
	struct aiocb first = block(p[0], in, 3, 0), second = block(p[0], in + 10, 3, 0),
		     third = block(p[0], in + 20, 3, 0);
	is("read of an empty pipe", aio_read(&first) | aio_read(&second) | aio_read(&third), 0);
	list[0] = &first;
	list[1] = NULL;
	fails("suspend, in vain", aio_suspend(list, 2, &moment), EAGAIN);
	is("... it is in progress", aio_error(&first), EINPROGRESS);
	fails("return, in progress", aio_return(&first), EINVAL);
	is("cancel, has begun", aio_cancel(p[0], &first), AIO_NOTCANCELED);
	is("cancel, has not begun", aio_cancel(p[0], &third), AIO_CANCELED);
	is("... its error", aio_error(&third), ECANCELED);
	is("... its result", aio_return(&third), -1);
	write(p[1], "onetwo", 6);
	is("both are done", finished(&first) | finished(&second), 0);
	ok("in the order of the calls",
	   memcmp(in, "one", 3) == 0 && memcmp(in + 10, "two", 3) == 0);
	list[0] = NULL;
	list[1] = &second;
	is("suspend, one is done", aio_suspend(list, 2, NULL), 0);
	close(p[0]);
	close(p[1]);
}

static void test_many(void)
{
	struct aiocb r[PIPES];
	bool right = true;
	int p[PIPES][2];

	for (int i = 0; i < PIPES; i++) {
		pipe(p[i]);
		r[i] = block(p[i][0], &in[i], 1, 0);
		right = right && aio_read(&r[i]) == 0;
	}
	for (int i = 0; i < PIPES; i++)
		write(p[i][1], &"abcdefghijklmnopqrst"[i], 1);
	for (int i = 0; i < PIPES; i++)
		right = right && finished(&r[i]) == 0 && in[i] == "abcdefghijklmnopqrst"[i];
	ok("more requests than workers", right);
	for (int i = 0; i < PIPES; i++) {
		close(p[i][0]);
		close(p[i][1]);
	}
}

/* --- close ---------------------------------------------------------------------------------------- */

/* Requests are for the file that the descriptor stood for when they were made. */
static void test_close(void)
{
	int p[2], file, other;

	pipe(p);
	struct aiocb first = block(p[0], in, 4, 0), second = block(p[0], in + 10, 4, 0);
	is("reads, and close", aio_read(&first) | aio_read(&second) | close(p[0]), 0);
	file = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);
	is("the lowest descriptor is free", file, p[0]);
	struct aiocb w = block(file, "file", 4, 0), r = block(file, in + 20, 4, 0);
	is("requests for another file by that number", aio_write(&w) | finished(&w) | aio_read(&r),
	   0);
	is("... do not wait for the others", finished(&r), 0);
	write(p[1], "pipeline", 8);
	is("the others are done", finished(&first) | finished(&second), 0);
	ok("... from the pipe", memcmp(in, "pipe", 4) == 0 && memcmp(in + 10, "line", 4) == 0);
	close(p[1]);

	w = block(file, "late", 4, 4);
	is("write, and close", aio_write(&w) | close(file), 0);
	other = open(FILE_NAME ".other", O_RDWR | O_CREAT | O_TRUNC, 0600);
	is("... it is done", finished(&w), 0);
	is("another file by that number has none of it", lseek(other, 0, SEEK_END), 0);
	file = open(FILE_NAME, O_RDWR);
	ok("the file has it", read(file, in, 20) == 8 && memcmp(in, "filelate", 8) == 0);
	close(other);
	unlink(FILE_NAME ".other");

	struct flock lock = {.l_type = F_WRLCK};
	fcntl(file, F_SETLK, &lock);
	r = block(file, in, 4, 0);
	aio_read(&r);
	finished(&r);
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 0 : 1);
	waitpid(pid, &status, 0);
	is("record locks stay", status, 0);
	close(file);
	unlink(FILE_NAME);
}

/* --- waiting and cancellation --------------------------------------------------------------------- */

static void *suspends(void *cb)
{
	const struct aiocb *list[] = {cb};

	aio_suspend(list, 1, NULL);
	return NULL;
}

static void *suspends_with_pending(void *cb)
{
	pthread_cancel(pthread_self());
	return suspends(cb);
}

static void *lists(void *cb)
{
	struct aiocb *list[] = {cb};

	lio_listio(LIO_WAIT, list, 1, NULL);
	return NULL;
}

static void *no_points(void *arg)
{
	int fd = open(FILE_NAME, O_RDWR | O_CREAT, 0600);
	struct aiocb cb = block(fd, out, 1, 0), s = block(fd, NULL, 0, 0), *list[] = {&cb};

	pthread_cancel(pthread_self());
	cb.aio_lio_opcode = LIO_WRITE;
	aio_write(&cb);
	while (aio_error(&cb) == EINPROGRESS)
		;
	aio_return(&cb);
	aio_read(&cb);
	aio_fsync(O_SYNC, &s);
	aio_cancel(fd, NULL);
	while (aio_error(&cb) == EINPROGRESS || aio_error(&s) == EINPROGRESS)
		;
	lio_listio(LIO_NOWAIT, list, 1, NULL);
	while (aio_error(&cb) == EINPROGRESS)
		;
	*(bool *)arg = true;
	return NULL;
}

static void *writes(void *fd)
{
	nanosleep(&moment, NULL);
	write((long)fd, "z", 1);
	return NULL;
}

static void test_long_time(void)
{
	const struct timespec ever = {INT64_MAX, 999999999};
	pthread_t t;
	int p[2];

	pipe(p);
	struct aiocb r = block(p[0], in, 1, 0);
	const struct aiocb *list[] = {&r};
	aio_read(&r);
	pthread_create(&t, NULL, writes, (void *)(long)p[1]);
	is("suspend, for longer than there is time", aio_suspend(list, 1, &ever), 0);
	is("... it is done", aio_error(&r), 0);
	pthread_join(t, NULL);
	close(p[0]);
	close(p[1]);
}

static void test_cancel(void)
{
	bool through = false;
	void *status;
	pthread_t t;
	int p[2];

	pipe(p);
	struct aiocb r = block(p[0], in, 1, 0), lr = block(p[0], in, 1, 0);
	aio_read(&r);
	pthread_create(&t, NULL, suspends, &r);
	const struct aiocb *list[] = {&r};
	aio_suspend(list, 1, &moment);
	pthread_cancel(t);
	pthread_join(t, &status);
	ok("suspend is cancelled in its wait", status == PTHREAD_CANCELED);
	lr.aio_lio_opcode = LIO_READ;
	pthread_create(&t, NULL, lists, &lr);
	aio_suspend(list, 1, &moment);
	pthread_cancel(t);
	pthread_join(t, &status);
	ok("listio is cancelled in its wait", status == PTHREAD_CANCELED);
	write(p[1], "xy", 2);
	is("... the requests go on", finished(&r) | finished(&lr), 0);
	pthread_create(&t, NULL, suspends_with_pending, &r);
	pthread_join(t, &status);
	ok("suspend is cancelled by a pending one", status == PTHREAD_CANCELED);
	pthread_create(&t, NULL, no_points, &through);
	pthread_join(t, &status);
	ok("the other functions are no cancellation points", through);
	close(p[0]);
	close(p[1]);
}

/* --- notification, lists ------------------------------------------------------------------------ */

static int signal_value(int sig)
{
	return signal_comes(sig, 1000) ? value : -1;
}

static void test_notification(void)
{
	int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct aiocb a = block(fd, "ab", 2, 0), b = block(fd, in, 2, 0), c = block(fd, in, 2, 0),
		     *list[] = {&a, NULL, &b};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 7};
	sigset_t set = WEFT_SIGBIT(SIGRTMIN);

	sem_init(&called, 0, 0);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	a.aio_sigevent = event;
	is("write with a signal", aio_write(&a), 0);
	is("... which has its value", signal_value(SIGRTMIN), 7);
	is("... and comes when it is done", aio_error(&a), 0);
	b.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_THREAD,
					   .sigev_notify_function = function,
					   .sigev_value.sival_int = 8};
	is("read with a thread", aio_read(&b), 0);
	sem_wait(&called);
	is("... which has its value", value, 8);
	is("... and comes when it is done", aio_error(&b), 0);
	a.aio_sigevent.sigev_notify = 99;
	fails("write, no such event", aio_write(&a), EINVAL);

	a.aio_sigevent.sigev_notify = b.aio_sigevent.sigev_notify = SIGEV_NONE;
	a.aio_lio_opcode = LIO_WRITE;
	b.aio_lio_opcode = LIO_READ;
	is("listio", lio_listio(LIO_WAIT, list, 3, NULL), 0);
	ok("... waits for all", aio_error(&a) == 0 && aio_error(&b) == 0);
	event.sigev_value.sival_int = 9;
	is("listio, without waiting", lio_listio(LIO_NOWAIT, list, 3, &event), 0);
	is("... the signal comes", signal_value(SIGRTMIN), 9);
	ok("... when all are done", aio_error(&a) == 0 && aio_error(&b) == 0);
	c.aio_lio_opcode = LIO_READ;
	c.aio_fildes = 77;
	list[1] = &c;
	fails("listio, one fails", lio_listio(LIO_WAIT, list, 3, NULL), EIO);
	is("... its error", aio_error(&c), EBADF);
	ok("... the others are done", aio_error(&a) == 0 && aio_error(&b) == 0);
	fails("listio, no such mode", lio_listio(5, list, 3, NULL), EINVAL);
	close(fd);
	unlink(FILE_NAME);
}

/* --- fork ----------------------------------------------------------------------------------------- */

static int in_child(int fd)
{
	struct aiocb w = block(fd, "y", 1, 0);

	if (aio_cancel(fd, NULL) != AIO_ALLDONE)
		return 1;
	return aio_write(&w) != 0 || finished(&w) != 0;
}

static void test_fork(void)
{
	int p[2], status;
	pid_t pid;

	pipe(p);
	struct aiocb r = block(p[0], in, 1, 0);
	aio_read(&r);
	pid = fork();
	if (pid == 0)
		_exit(in_child(p[1]));
	waitpid(pid, &status, 0);
	is("a child has no requests, and makes its own", status, 0);
	is("... the parent's go on", finished(&r), 0);
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	test_file();
	test_pipe();
	test_many();
	test_close();
	test_long_time();
	test_cancel();
	test_notification();
	test_fork();
	return tap_done();
}
