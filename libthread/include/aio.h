/*
 * aio.h - asynchronous input and output (POSIX).  LWPs of the library make the calls, so that no
 * thread of the program waits for them.  Functions return -1 and set errno.
 */
#ifndef _AIO_H
#define _AIO_H

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#ifndef O_DSYNC
#define O_DSYNC O_SYNC
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct aiocb {
	int aio_fildes;
	off_t aio_offset; /* ignored for pipes, terminals, and O_APPEND */
	volatile void *aio_buf;
	size_t aio_nbytes;
	int aio_reqprio; /* 0 */
	struct sigevent aio_sigevent;
	int aio_lio_opcode; /* LIO_*, for lio_listio */
	int __error;        /* atomic: EINPROGRESS, then the error, or 0 */
	ssize_t __result;
};

#define AIO_CANCELED 0
#define AIO_NOTCANCELED 1
#define AIO_ALLDONE 2

#define LIO_NOP 0
#define LIO_READ 1
#define LIO_WRITE 2

#define LIO_WAIT 0
#define LIO_NOWAIT 1

int aio_read(struct aiocb *__request);
int aio_write(struct aiocb *__request);
int aio_fsync(int __flag, struct aiocb *__request);
int aio_error(const struct aiocb *__request);
ssize_t aio_return(struct aiocb *__request);
int aio_cancel(int __fd, struct aiocb *__request);
int aio_suspend(const struct aiocb *const __list[], int __n, const struct timespec *__timeout);
int lio_listio(int __mode, struct aiocb *__restrict const __list[__restrict], int __n,
	       struct sigevent *__restrict __event);

#ifdef __cplusplus
}
#endif
#endif
