/*
 * if_aio.c - each function of aio.h, and each of its errors (interface.h).
 */
#include <aio.h>
#include <fcntl.h>
#include "interface.h"

static char text[8];

static void wait_for(const struct aiocb *cb)
{
	while (aio_error(cb) == EINPROGRESS)
		aio_suspend(&cb, 1, NULL);
}

int main(void)
{
	const struct timespec at_once = {0, 0};
	struct sigevent wrong = {.sigev_notify = 77};
	int fd = open("/tmp/if_aio", O_RDWR | O_CREAT, 0600), only_read, only_write, p[2];
	struct aiocb cb = {.aio_fildes = fd, .aio_buf = text, .aio_nbytes = 4}, bad = cb,
		     in_pipe = cb, *list[] = {&cb};
	const struct aiocb *waits[] = {&in_pipe};

	only_read = open("/tmp/if_aio", O_RDONLY);
	only_write = open("/tmp/if_aio", O_WRONLY);
	pipe(p);
	WORKS(aio_write(&cb));
	wait_for(&cb);
	WORKS(aio_read(&cb));
	wait_for(&cb);
	WORKS(aio_error(&cb));
	DOES(aio_return, aio_return(&cb) == 4);
	WORKS(aio_fsync(O_SYNC, &cb));
	wait_for(&cb);
	SETS(EINVAL, aio_fsync(12345, &cb), "the flag");
	bad.aio_fildes = only_read;
	SETS(EBADF, aio_fsync(O_SYNC, &bad), "not open for writing");
	SETS(EBADF, aio_write(&bad), "not open for writing");
	bad.aio_fildes = only_write;
	SETS(EBADF, aio_read(&bad), "not open for reading");
	bad.aio_fildes = fd;
	bad.aio_offset = -1;
	SETS(EINVAL, aio_read(&bad), "the offset");
	SETS(EINVAL, aio_write(&bad), "the offset");

	in_pipe.aio_fildes = p[0];
	aio_read(&in_pipe);
	GIVES(EINPROGRESS, aio_error(&in_pipe), "a pipe");
	SETS(EINVAL, aio_return(&in_pipe), "not done");
	SETS(EAGAIN, aio_suspend(waits, 1, &at_once), "the time");
	SETS(EINVAL, aio_suspend(waits, -1, NULL), "n is negative");
	bad = in_pipe;
	bad.aio_offset = 0;
	aio_read(&bad);
	DOES(aio_cancel, aio_cancel(p[0], &bad) == AIO_CANCELED);
	GIVES(ECANCELED, aio_error(&bad), "cancelled");
	SETS(EBADF, aio_cancel(-1, NULL), "no descriptor");
	write(p[1], text, 4);
	wait_for(&in_pipe);
	WORKS(aio_suspend(waits, 1, NULL));

	cb.aio_lio_opcode = LIO_WRITE;
	WORKS(lio_listio(LIO_WAIT, list, 1, NULL));
	SETS(EINVAL, lio_listio(7, list, 1, NULL), "the mode");
	SETS(EINVAL, lio_listio(LIO_NOWAIT, list, 1, &wrong), "the event");
	cb.aio_fildes = -1;
	SETS(EIO, lio_listio(LIO_WAIT, list, 1, NULL), "no descriptor");
	return tap_done();
}
