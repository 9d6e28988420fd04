/*
 * races_aio.c RACE [ROUNDS] - the races that message queues, asynchronous input and output, and the
 * workers of both claim to close (race.h).
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include "race.h"

/* --- a queue is made, and opened ------------------------------------------------------------------ */

#define NAME "/race"

static struct mq_attr small = {.mq_maxmsg = 4, .mq_msgsize = 8};
static volatile mqd_t opened[2];

static void queue_open(int i)
{
	opened[i] = mq_open(NAME, O_CREAT | O_RDWR, 0600, &small);
	MUST(opened[i] >= 0);
}

static void queue_open_0(unsigned round)
{
	queue_open(0);
}

static void queue_open_1(unsigned round)
{
	queue_open(1);
}

/* It is one queue, whichever thread has made it. */
static void queue_check(unsigned round)
{
	char text[8];

	MUST(mq_send(opened[0], "a", 1, 0) == 0);
	MUST(mq_receive(opened[1], text, sizeof(text), NULL) == 1);
	MUST(mq_close(opened[0]) == 0 && mq_close(opened[1]) == 0);
	MUST(mq_unlink(NAME) == 0);
}

/* --- one thread closes a queue, another opens one, which gets the number ----------------------------- */

static void number_prepare(unsigned round)
{
	if (round == 1)
		queue_open(0);
}

static void number_close(unsigned round)
{
	MUST(mq_close(opened[0]) == 0);
}

static void number_open(unsigned round)
{
	struct mq_attr attr;

	queue_open(1);
	turns(draw(100));
	MUST(mq_getattr(opened[1], &attr) == 0);
}

static void number_check(unsigned round)
{
	struct mq_attr attr;

	MUST(mq_getattr(opened[1], &attr) == 0);
	opened[0] = opened[1];
}

/* --- a thread is suspended that uses a queue, and the other queues go on ------------------------------ */

static void queues_begin(void)
{
	opened[0] = mq_open(NAME, O_CREAT | O_RDWR, 0600, &small);
	opened[1] = mq_open(NAME "2", O_CREAT | O_RDWR, 0600, &small);
	MUST(opened[0] >= 0 && opened[1] >= 0);
}

static volatile unsigned in_use;

static void queue_use(unsigned round)
{
	struct mq_attr attr;

	in_use = round;
	for (int i = 0; i < 10; i++)
		MUST(mq_getattr(opened[0], &attr) == 0);
}

static void queue_user_suspend(unsigned round)
{
	struct mq_attr attr;

	UNTIL(in_use == round);
	turns(draw(200));
	MUST(thr_suspend(party[1]) == 0);
	MUST(mq_getattr(opened[1], &attr) == 0);
	MUST(thr_continue(party[1]) == 0);
}

/* With the bug the first party waits for ever. */
static void queue_watch(unsigned round)
{
	UNTIL(finished[0] == round);
}

/* --- a message comes as an unbound thread goes to sleep for it --------------------------------------- */

/* Of the first descriptor's waiters the sender by the second one knows nothing, as another process. */
static volatile unsigned received;

static void message_begin(void)
{
	queue_open(0);
	queue_open(1);
}

static void message_receive(unsigned round)
{
	char text[8];

	MUST(mq_receive(opened[0], text, sizeof(text), NULL) == 1);
	received = round;
}

static void message_send(unsigned round)
{
	MUST(mq_send(opened[0], "a", 1, 0) == 0);
	UNTIL(received == round);
}

static void message_send_elsewhere(unsigned round)
{
	MUST(mq_send(opened[1], "a", 1, 0) == 0);
	UNTIL(received == round);
}

/* --- requests, and a thread that waits for them ------------------------------------------------------- */

#define REQUESTS 6

static int file, ends[2];
static char texts[REQUESTS][64];
static struct aiocb cb[REQUESTS];

static void aio_begin(void)
{
	file = open("/tmp/races_aio", O_RDWR | O_CREAT, 0600);
	if (file < 0 || pipe(ends) < 0)
		bail("open, pipe");
}

static void block_fill(int i, int fd, int operation, size_t size)
{
	cb[i] = (struct aiocb){.aio_fildes = fd,
			       .aio_lio_opcode = operation,
			       .aio_buf = texts[i],
			       .aio_nbytes = size,
			       .aio_offset = 64 * i,
			       .aio_sigevent.sigev_notify = SIGEV_NONE};
}

static void suspend(unsigned round)
{
	const struct aiocb *list[] = {&cb[0]};

	block_fill(0, file, LIO_WRITE, 1 + round % 60);
	MUST(aio_write(&cb[0]) == 0);
	come_late();
	MUST(aio_suspend(list, 1, NULL) == 0);
	MUST(aio_return(&cb[0]) == 1 + round % 60);
}

/* --- a request comes as the worker of the last one goes to sleep --------------------------------------- */

static void again(unsigned round)
{
	for (int i = 0; i < 20; i++) {
		block_fill(0, file, LIO_WRITE, 8);
		turns(draw(200));
		MUST(aio_write(&cb[0]) == 0);
		UNTIL(aio_error(&cb[0]) != EINPROGRESS);
		MUST(aio_return(&cb[0]) == 8);
	}
}

/* --- a thread is suspended that gives a request to a worker -------------------------------------------- */

/*
 * The first party needs a worker too, because the sender uses another descriptor.  The suspended thread owns the lock of
 * all requests.  So the worker that takes its request waits, and does no other work.
 */
static volatile unsigned begins, stopped;

static void starter_begin(void)
{
	aio_begin();
	queue_open(0);
	queue_open(1);
}

/* New descriptors, and idle workers. */
static void starter_prepare(unsigned round)
{
	for (int i = 0; i < 2; i++) {
		MUST(mq_close(opened[i]) == 0);
		queue_open(i);
	}
	until(gethrtime() + 50000);
}

static void starter_start(unsigned round)
{
	block_fill(0, file, LIO_WRITE, 8);
	begins = round;
	MUST(aio_write(&cb[0]) == 0);
	UNTIL(aio_error(&cb[0]) != EINPROGRESS);
	MUST(aio_return(&cb[0]) == 8);
}

static void starter_suspend(unsigned round)
{
	char text[8];

	UNTIL(begins == round);
	turns(draw(1500));
	MUST(thr_suspend(party[1]) == 0);
	stopped = round;
	MUST(mq_receive(opened[0], text, sizeof(text), NULL) == 1);
	received = round;
	MUST(thr_continue(party[1]) == 0);
}

static void starter_send(unsigned round)
{
	UNTIL(stopped == round);
	turns(3000);
	message_send_elsewhere(round);
}

/* --- a request that is done is the program's ----------------------------------------------------------- */

static volatile unsigned wrong_events;

static void wrong_event(union sigval v)
{
	wrong_events++;
}

static void reuse(unsigned round)
{
	block_fill(0, file, LIO_WRITE, 1 + round % 60);
	cb[0].__result = -7;
	MUST(aio_write(&cb[0]) == 0);
	UNTIL(aio_error(&cb[0]) != EINPROGRESS);
	MUST(aio_return(&cb[0]) == 1 + round % 60);
	cb[0].aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_THREAD,
					       .sigev_notify_function = wrong_event};
	until(gethrtime() + 30000);
	MUST(wrong_events == 0);
}

/* --- the event of a list: when all of it is done -------------------------------------------------------- */

static volatile unsigned told, told_early;

static void list_done(union sigval v)
{
	for (int i = 0; i < REQUESTS; i++)
		if (aio_error(&cb[i]) != 0)
			told_early++;
	__atomic_add_fetch(&told, 1, __ATOMIC_RELEASE);
}

static void list_make(unsigned round)
{
	struct aiocb *list[REQUESTS];
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = list_done};

	for (int i = 0; i < REQUESTS; i++) {
		block_fill(i, file, LIO_WRITE, 8);
		cb[i].__error = EINPROGRESS; /* until it is made */
		list[i] = &cb[i];
	}
	MUST(lio_listio(LIO_NOWAIT, list, REQUESTS, &event) == 0);
	UNTIL(told >= round);
	until(gethrtime() + 10000);
	MUST(told == round && told_early == 0);
}

/* --- two threads cancel requests, while others end ------------------------------------------------------- */

/* Reads of an empty pipe: the first has begun, the others wait for it. */
static void cancel_prepare(unsigned round)
{
	for (int i = 0; i < REQUESTS; i++) {
		block_fill(i, ends[0], LIO_READ, 1);
		MUST(aio_read(&cb[i]) == 0);
	}
}

static void cancel_all(unsigned round)
{
	MUST(aio_cancel(ends[0], NULL) >= 0);
}

static void cancel_feed(unsigned round)
{
	for (int i = 0; i < REQUESTS; i++) {
		MUST(write(ends[1], "x", 1) == 1);
		turns(draw(200));
	}
}

static void cancel_check(unsigned round)
{
	int done = 0;
	char rest[REQUESTS];

	for (int i = 0; i < REQUESTS; i++) {
		UNTIL(aio_error(&cb[i]) != EINPROGRESS);
		MUST(aio_error(&cb[i]) == 0 || aio_error(&cb[i]) == ECANCELED);
		done += aio_error(&cb[i]) == 0;
	}
	if (done < REQUESTS)
		MUST(read(ends[0], rest, sizeof(rest)) == REQUESTS - done);
}

static const struct race races[] = {
	{.name = "queue", .spread = 300, .act = {queue_open_0, queue_open_1}, .check = queue_check},
	{.name = "number",
	 .spread = 300,
	 .prepare = number_prepare,
	 .act = {number_close, number_open},
	 .check = number_check},
	{.name = "suspended",
	 .begin = queues_begin,
	 .act = {queue_user_suspend, queue_use, queue_watch}},
	{.name = "message",
	 .spread = 2000,
	 .begin = message_begin,
	 .act = {message_send, message_receive}},
	{.name = "message-elsewhere",
	 .spread = 3000,
	 .begin = message_begin,
	 .act = {message_send_elsewhere, message_receive}},
	{.name = "suspend", .spread = 1500, .begin = aio_begin, .act = {suspend}},
	{.name = "again", .begin = aio_begin, .act = {again}},
	{.name = "starter",
	 .begin = starter_begin,
	 .prepare = starter_prepare,
	 .act = {starter_suspend, starter_start, starter_send}},
	{.name = "reuse", .spread = 300, .begin = aio_begin, .act = {reuse}},
	{.name = "list", .spread = 300, .begin = aio_begin, .act = {list_make}},
	{.name = "cancel",
	 .spread = 1000,
	 .begin = aio_begin,
	 .prepare = cancel_prepare,
	 .act = {cancel_all, cancel_all, cancel_feed},
	 .check = cancel_check},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
