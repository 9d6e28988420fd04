/*
 * if_mqueue.c - each function of mqueue.h, and each of its errors (interface.h).
 */
#include <fcntl.h>
#include <mqueue.h>
#include "interface.h"

static char longest[300], text[16];

static void names(void)
{
	const struct mq_attr none = {0};

	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '/';
	SETS(ENOENT, mq_open("/if_mqueue", O_RDWR), "no such name");
	WORKS(mq_close(mq_open("/if_mqueue", O_RDWR | O_CREAT, 0600, NULL)));
	DOES(mq_open, mq_close(mq_open("/if_mqueue", O_RDWR)) == 0);
	SETS(EEXIST, mq_open("/if_mqueue", O_RDWR | O_CREAT | O_EXCL, 0600, NULL), "O_EXCL");
	SETS(EINVAL, mq_open("/if_other", O_RDWR | O_CREAT, 0600, &none), "no messages");
	SETS(ENAMETOOLONG, mq_open(longest, O_RDWR), "298 characters");
	SETS(ENAMETOOLONG, mq_unlink(longest), "298 characters");
	SETS(EINVAL, mq_unlink("/a/b"), "a slash in its middle");
	WORKS(mq_unlink("/if_mqueue"));
	SETS(ENOENT, mq_unlink("/if_mqueue"), "no such name");
	SETS(EBADF, mq_close(0), "no message queue");
}

/* The first message of the queue by hand: priority and text. */
static void messages(void)
{
	const struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = 8};
	mqd_t q = mq_open("/if_mqueue", O_RDWR | O_CREAT | O_NONBLOCK, 0600, &small);
	struct mq_attr attr;

	SETS(EBADF, mq_send(-1, text, 1, 0), "no descriptor");
	SETS(EBADF, mq_timedsend(1000, text, 1, 0, PAST), "no descriptor");
	SETS(EBADF, mq_receive(0, text, 8, NULL), "no message queue");
	SETS(EBADF, mq_timedreceive(0, text, 8, NULL, PAST), "no message queue");
	SETS(EMSGSIZE, mq_send(q, text, 9, 0), "longer than mq_msgsize");
	SETS(EMSGSIZE, mq_timedsend(q, text, 9, 0, PAST), "longer than mq_msgsize");
	SETS(EMSGSIZE, mq_receive(q, text, 7, NULL), "less than mq_msgsize");
	SETS(EMSGSIZE, mq_timedreceive(q, text, 7, NULL, PAST), "less than mq_msgsize");
	SETS(EINVAL, mq_send(q, text, 1, MQ_PRIO_MAX), "the priority");
	SETS(EAGAIN, mq_receive(q, text, 8, NULL), "empty");
	SETS(EAGAIN, mq_timedreceive(q, text, 8, NULL, PAST), "empty");
	WORKS(mq_send(q, text, 0, 0));
	SETS(EAGAIN, mq_send(q, text, 1, 0), "full");
	SETS(EAGAIN, mq_timedsend(q, text, 1, 0, PAST), "full");
	WORKS(mq_receive(q, text, 8, NULL));
	WORKS(mq_timedsend(q, text, 0, 0, PAST));
	WORKS(mq_timedreceive(q, text, 8, NULL, PAST));

	WORKS(mq_getattr(q, &attr));
	SETS(EBADF, mq_getattr(0, &attr), "no message queue");
	attr.mq_flags = 0;
	SETS(EBADF, mq_setattr(0, &attr, NULL), "no message queue");
	WORKS(mq_setattr(q, &attr, NULL));
	SETS(ETIMEDOUT, mq_timedreceive(q, text, 8, NULL, PAST), "past");
	SETS(EINVAL, mq_timedreceive(q, text, 8, NULL, WRONG), "nanoseconds");
	mq_send(q, text, 1, 0);
	SETS(ETIMEDOUT, mq_timedsend(q, text, 1, 0, PAST), "past");
	SETS(EINVAL, mq_timedsend(q, text, 1, 0, WRONG), "nanoseconds");
	mq_close(q);
	mq_unlink("/if_mqueue");
}

struct call {
	mqd_t queue;
	int sends, timed, error;
};

static void *interrupted(void *arg)
{
	const struct timespec late = {4000000000, 0};
	struct call *c = arg;
	long r;

	if_interrupts(1);
	r = c->sends   ? c->timed ? mq_timedsend(c->queue, text, 1, 0, &late)
				  : mq_send(c->queue, text, 1, 0)
	      : c->timed ? mq_timedreceive(c->queue, text, 8, NULL, &late)
		       : mq_receive(c->queue, text, 8, NULL);
	c->error = r < 0 ? errno : 0;
	if_interrupts(0);
	return NULL;
}

/* By a bound thread; in n1 there is none. */
static void interruptions(void)
{
	const struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = 8};
	static const char *const name[] = {"mq_receive", "mq_timedreceive", "mq_send",
					   "mq_timedsend"};
	mqd_t q = mq_open("/if_mqueue", O_RDWR | O_CREAT, 0600, &small);

	if (strcmp(getenv("LIBTHREAD"), "n1") == 0)
		return;
	for (int i = 0; i < 4; i++) {
		struct call c = {q, i / 2, i % 2, 0};
		char line[60];
		thread_t t;

		if (i == 2)
			mq_send(q, text, 1, 0);
		if (thr_create(NULL, 0, interrupted, &c, THR_BOUND, &t) != 0)
			bail("thr_create");
		thr_join(t, NULL, NULL);
		snprintf(line, sizeof(line), "%s EINTR: a handler", name[i]);
		is(line, c.error, EINTR);
	}
	mq_close(q);
	mq_unlink("/if_mqueue");
}

static void notifications(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_NONE}, wrong = {.sigev_notify = 77};
	mqd_t q = mq_open("/if_mqueue", O_RDWR | O_CREAT, 0600, NULL);

	SETS(EBADF, mq_notify(0, &event), "no message queue");
	SETS(EINVAL, mq_notify(q, &wrong), "unknown notification");
	WORKS(mq_notify(q, &event));
	SETS(EBUSY, mq_notify(q, &event), "registered");
	mq_close(q);
	mq_unlink("/if_mqueue");
}

int main(void)
{
	names();
	messages();
	interruptions();
	notifications();
	return tap_done();
}
