/*
 * mqueue.h - POSIX message queues: messages of up to mq_msgsize bytes.  A receiver gets the
 * messages of the highest priority first, and messages of one priority in the order of their
 * sending.  Functions return -1 and set errno.
 */
#ifndef _MQUEUE_H
#define _MQUEUE_H

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int mqd_t; /* a file descriptor, closed by exec */

struct mq_attr {
	long mq_flags;   /* 0 or O_NONBLOCK */
	long mq_maxmsg;  /* messages that the queue holds */
	long mq_msgsize; /* bytes of the longest message */
	long mq_curmsgs; /* messages in the queue now */
};

/*
 * mq_open(name, flags, mode, attr): flags are O_RDONLY, O_WRONLY or O_RDWR, and any of O_CREAT,
 * O_EXCL, O_NONBLOCK.  The last two arguments are only used with O_CREAT.  attr NULL: 10 messages
 * of 8192 bytes.
 */
mqd_t mq_open(const char *__name, int __flags, ...);
int mq_close(mqd_t __queue);
int mq_unlink(const char *__name);
int mq_getattr(mqd_t __queue, struct mq_attr *__attr);
int mq_setattr(mqd_t __queue, const struct mq_attr *__restrict __attr,
	       struct mq_attr *__restrict __old);
int mq_send(mqd_t __queue, const char *__text, size_t __size, unsigned __priority);
int mq_timedsend(mqd_t __queue, const char *__text, size_t __size, unsigned __priority,
		 const struct timespec *__abstime);
ssize_t mq_receive(mqd_t __queue, char *__text, size_t __size, unsigned *__priority);
ssize_t mq_timedreceive(mqd_t __queue, char *__restrict __text, size_t __size,
			unsigned *__restrict __priority,
			const struct timespec *__restrict __abstime);
int mq_notify(mqd_t __queue, const struct sigevent *__event);

#ifdef __cplusplus
}
#endif
#endif
