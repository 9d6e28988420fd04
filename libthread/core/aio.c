/*
 * aio.c - asynchronous input and output: workers (worker.c) make the calls.
 *
 * `requests` has all requests that are not done, in the order of their calls.  A request begins
 * when fewer than WORKERS_MAX requests are at work, and no earlier request on the same file must
 * come first.  An earlier request of the same direction must come first on a file that has no
 * offsets (a pipe, a terminal, O_APPEND).  For aio_fsync every earlier request must come first.
 * Only a request that has not begun can be cancelled.
 *
 * The program may close the descriptor, or open another file by its number, before the call.  So a
 * request has a private descriptor of its own.  A child of fork does not get it, and its close
 * leaves record locks alone.
 *
 * aio_lock guards the list.  A control block belongs to the program again when __error is no longer
 * EINPROGRESS, so the store to __error is the last store to the block.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/file.h>
#include <weft/proc.h>
#include "event.h"
#include "core.h"
#include "model.h"
#include "worker.h"

#define WORKERS_MAX 16
#define SYNC 3 /* an operation beside LIO_READ and LIO_WRITE */

/* The requests of one lio_listio; aio_lock. */
struct group {
	unsigned left; /* requests that are not done, and 1 until all have been made */
	struct sigevent event;
};

struct request {
	struct work work;
	struct request *next;
	struct aiocb *cb;
	int fd, own;       /* the program's descriptor, which may be closed; this request's */
	uint64_t dev, ino; /* of the file */
	int operation;
	bool in_order, begun;
	struct group *group; /* or NULL */
};

static pthread_mutex_t aio_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t aio_done = PTHREAD_COND_INITIALIZER;
static struct request *requests, **requests_end = &requests;
static unsigned working;

static int aio_fails(int error)
{
	errno = error;
	return -1;
}

/* In a child of fork: it has none of the requests. */
void __aio_forked(void)
{
	aio_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	aio_done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	requests = NULL;
	requests_end = &requests;
	working = 0;
}

/* --- beginning and end ----------------------------------------------------------------------- */

static void request_remove(struct request *r)
{
	struct request **p = &requests;

	while (*p != r)
		p = &(*p)->next;
	*p = r->next;
	if (*p == NULL)
		requests_end = p;
}

/* Counts one request of the group as done.  True: it was the last.  aio_lock held. */
static bool group_left(struct group *g)
{
	return g != NULL && --g->left == 0;
}

static void group_end(struct group *g)
{
	__event_happens(&g->event);
	free(g);
}

/*
 * Ends r, which is done and not in the list.  aio_lock is held; it is released for a moment while
 * others are told.  Release: what the worker has read is visible when __error says that r is done.
 */
static void request_end(struct request *r, ssize_t result, int error)
{
	struct sigevent event = r->cb->aio_sigevent;
	bool last = group_left(r->group);

	__sys_close(r->own);
	r->cb->__result = result;
	__atomic_store_n(&r->cb->__error, error, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&aio_done);
	pthread_mutex_unlock(&aio_lock);
	__event_happens(&event);
	if (last)
		group_end(r->group);
	free(r);
	pthread_mutex_lock(&aio_lock);
}

/* May r begin?  aio_lock held. */
static bool request_may_begin(const struct request *r)
{
	for (const struct request *e = requests; e != r; e = e->next)
		if (e->ino == r->ino && e->dev == r->dev &&
		    (r->operation == SYNC || e->operation == SYNC ||
		     (r->in_order && e->operation == r->operation)))
			return false;
	return true;
}

static void request_run(struct work *w);

/*
 * Begins the requests that may begin.  aio_lock held.  A request for which there is no LWP at all
 * ends with EAGAIN.
 */
static void requests_begin(void)
{
	struct request *r = requests;
	int error;

	while (r != NULL && working < WORKERS_MAX) {
		if (r->begun || !request_may_begin(r)) {
			r = r->next;
			continue;
		}
		r->begun = true;
		r->work.run = request_run;
		error = __work_start(&r->work);
		if (error == 0) {
			working++;
			r = r->next;
		} else if (working > 0) { /* it begins when one of these ends */
			r->begun = false;
			return;
		} else {
			request_remove(r);
			request_end(r, -1, EAGAIN);
			r = requests;
		}
	}
}

static ssize_t request_call(const struct request *r)
{
	const struct aiocb *cb = r->cb;
	char *buf = (char *)cb->aio_buf;

	switch (r->operation) {
	case LIO_READ:
		return r->in_order ? __sys_read(r->own, buf, cb->aio_nbytes)
				   : __sys_pread(r->own, buf, cb->aio_nbytes, cb->aio_offset);
	case LIO_WRITE:
		return r->in_order ? __sys_write(r->own, buf, cb->aio_nbytes)
				   : __sys_pwrite(r->own, buf, cb->aio_nbytes, cb->aio_offset);
	default:
		return fsync(r->own) < 0 ? -errno : 0;
	}
}

/* Runs on a worker. */
static void request_run(struct work *w)
{
	struct request *r = (struct request *)w;
	ssize_t result;

	while ((result = request_call(r)) == -EINTR)
		;
	pthread_mutex_lock(&aio_lock);
	working--;
	request_remove(r);
	requests_begin();
	request_end(r, result < 0 ? -1 : result, result < 0 ? -result : 0);
	pthread_mutex_unlock(&aio_lock);
}

/* --- requests -------------------------------------------------------------------------------- */

/*
 * A private descriptor of the same open file, or -1.  Programs rely on the lowest free numbers, so
 * this takes a high number if possible.
 */
static int descriptor_own(int fd)
{
	int own = __sys_fcntl(fd, WEFT_F_DUPFD_PRIVATE, WEFT_OPEN_MAX / 2);

	return own >= 0 ? own : __sys_fcntl(fd, WEFT_F_DUPFD_PRIVATE, 0);
}

static void request_free(struct request *r)
{
	__sys_close(r->own);
	free(r);
}

/* NULL: no memory, or no descriptor. */
static struct request *request_new(struct aiocb *cb, int operation, bool appends)
{
	int own = descriptor_own(cb->aio_fildes);
	struct request *r = malloc(sizeof(*r));
	struct weft_stat file;

	if (r == NULL || own < 0 || __sys_fstat(own, &file) < 0) {
		if (own >= 0)
			__sys_close(own);
		free(r);
		return NULL;
	}
	*r = (struct request){
		.cb = cb,
		.fd = cb->aio_fildes,
		.own = own,
		.dev = file.dev,
		.ino = file.ino,
		.operation = operation,
		.in_order = __sys_lseek(own, 0, SEEK_CUR) < 0 || appends,
	};
	return r;
}

/* 0; EINVAL: the event, the size, the offset; EBADF; EAGAIN: no memory, or no descriptor. */
static int request_make(struct aiocb *cb, int operation, struct group *group)
{
	int flags = fcntl(cb->aio_fildes, F_GETFL);
	struct request *r;

	if (cb->aio_sigevent.sigev_notify != 0 && !__event_valid(&cb->aio_sigevent))
		return EINVAL;
	if (flags < 0 || (operation == LIO_READ && (flags & O_ACCMODE) == O_WRONLY) ||
	    (operation != LIO_READ && (flags & O_ACCMODE) == O_RDONLY))
		return EBADF;
	if (operation != SYNC && (ssize_t)cb->aio_nbytes < 0)
		return EINVAL;
	r = request_new(cb, operation, operation == LIO_WRITE && (flags & O_APPEND));
	if (r == NULL)
		return EAGAIN;
	if (!r->in_order && operation != SYNC && cb->aio_offset < 0) {
		request_free(r);
		return EINVAL;
	}
	r->group = group;
	__atomic_store_n(&cb->__error, EINPROGRESS, __ATOMIC_RELAXED);
	pthread_mutex_lock(&aio_lock);
	if (group != NULL)
		group->left++;
	*requests_end = r;
	requests_end = &r->next;
	requests_begin();
	pthread_mutex_unlock(&aio_lock);
	return 0;
}

static int request_result(int error)
{
	return error == 0 ? 0 : aio_fails(error);
}

/*
 * Reads as pread does, or as read does if the file has no offsets.  Returns at once.  No
 * cancellation point; of the other functions here only aio_suspend and lio_listio are.  EBADF: not
 * open for reading; EINVAL: offset, size or event; EAGAIN: no memory, or no descriptor.
 */
int aio_read(struct aiocb *cb)
{
	return request_result(request_make(cb, LIO_READ, NULL));
}

/*
 * aio_read for writing.  EBADF: not open for writing; EINVAL: offset, size or event; EAGAIN: as
 * aio_read.
 */
int aio_write(struct aiocb *cb)
{
	return request_result(request_make(cb, LIO_WRITE, NULL));
}

/*
 * Calls fsync when all earlier requests of the descriptor are done.  EINVAL: the flag is neither
 * O_SYNC nor O_DSYNC, or the event; EBADF: not open for writing; EAGAIN: as aio_read.
 */
int aio_fsync(int flag, struct aiocb *cb)
{
	if (flag != O_SYNC && flag != O_DSYNC)
		return aio_fails(EINVAL);
	return request_result(request_make(cb, SYNC, NULL));
}

/*
 * The state of the request: 0, or an error number of read, write and fsync.  EINPROGRESS: it is not
 * done; ECANCELED: aio_cancel came first.  Acquire: see request_end.
 */
int aio_error(const struct aiocb *cb)
{
	return __atomic_load_n(&cb->__error, __ATOMIC_ACQUIRE);
}

/* What the read, write or fsync returned.  EINVAL: the request is not done. */
ssize_t aio_return(struct aiocb *cb)
{
	return aio_error(cb) == EINPROGRESS ? aio_fails(EINVAL) : cb->__result;
}

/*
 * Cancels the request, or with NULL all requests of the descriptor, if it has not begun.  Returns
 * AIO_CANCELED; AIO_NOTCANCELED: a request has begun; or AIO_ALLDONE.  EBADF: no such descriptor.
 */
int aio_cancel(int fd, struct aiocb *cb)
{
	int found = AIO_ALLDONE;
	struct request *r, *next;

	if (fcntl(fd, F_GETFL) < 0)
		return aio_fails(EBADF);
	pthread_mutex_lock(&aio_lock);
	for (r = requests; r != NULL; r = next) {
		next = r->next;
		if (r->fd != fd || (cb != NULL && r->cb != cb))
			continue;
		if (r->begun) {
			found = AIO_NOTCANCELED;
			continue;
		}
		if (found == AIO_ALLDONE)
			found = AIO_CANCELED;
		request_remove(r);
		request_end(r, -1, ECANCELED);
		next = requests; /* the lock was free in between */
	}
	requests_begin();
	pthread_mutex_unlock(&aio_lock);
	return found;
}

/* --- several --------------------------------------------------------------------------------- */

static void lock_free(void *lock)
{
	pthread_mutex_unlock(lock);
}

static bool some_done(const struct aiocb *const list[], int n)
{
	for (int i = 0; i < n; i++)
		if (list[i] != NULL && aio_error(list[i]) != EINPROGRESS)
			return true;
	return false;
}

static bool all_done(const struct aiocb *const list[], int n)
{
	for (int i = 0; i < n; i++)
		if (list[i] != NULL && list[i]->aio_lio_opcode != LIO_NOP &&
		    aio_error(list[i]) == EINPROGRESS)
			return false;
	return true;
}

/* Waits until `done` returns true.  0, ETIMEDOUT.  A cancellation point if it waits. */
static int aio_await(bool (*done)(const struct aiocb *const[], int),
		     const struct aiocb *const list[], int n, const struct timespec *until)
{
	int error = 0;

	pthread_mutex_lock(&aio_lock);
	pthread_cleanup_push(lock_free, &aio_lock);
	while (!done(list, n) && error == 0)
		error = until == NULL ? pthread_cond_wait(&aio_done, &aio_lock)
				      : pthread_cond_clockwait(&aio_done, &aio_lock,
							       CLOCK_MONOTONIC, until);
	pthread_cleanup_pop(1);
	return error;
}

/*
 * Waits until one of the requests is done, for at most `timeout` (NULL: for ever).  An unbound
 * thread keeps no LWP meanwhile.  A cancellation point; a handler does not end it.  EAGAIN: the
 * time has passed, or no memory for deadlines; EINVAL: n is negative, or nanoseconds out of range.
 */
int aio_suspend(const struct aiocb *const list[], int n, const struct timespec *timeout)
{
	struct timespec until;
	int error;

	pthread_testcancel();
	if (n < 0)
		return aio_fails(EINVAL);
	if (timeout != NULL) {
		if (timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000)
			return aio_fails(EINVAL);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += timeout->tv_nsec;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		if (__builtin_add_overflow(until.tv_sec, timeout->tv_sec, &until.tv_sec))
			until.tv_sec = INT64_MAX;
	}
	error = aio_await(some_done, list, n, timeout != NULL ? &until : NULL);
	return error == 0 ? 0 : aio_fails(EAGAIN);
}

/*
 * The creator's part of a group is done.  The event happens here if all requests are done already.
 */
static void group_made(struct group *g)
{
	bool last;

	if (g == NULL)
		return;
	pthread_mutex_lock(&aio_lock);
	last = group_left(g);
	pthread_mutex_unlock(&aio_lock);
	if (last)
		group_end(g);
}

/*
 * Makes a request of each entry of the list (NULL and LIO_NOP: none).  LIO_WAIT: waits until all
 * are done, and is a cancellation point.  LIO_NOWAIT: `event` (NULL: none) happens then.  EINVAL:
 * the mode, n is negative, or the event.  EAGAIN: no memory.  EIO: a request could not be made, or
 * has failed; aio_error says why.
 */
int lio_listio(int mode, struct aiocb *restrict const list[restrict], int n,
	       struct sigevent *restrict event)
{
	struct group *g = NULL;
	bool failed = false;

	if (mode == LIO_WAIT)
		pthread_testcancel();
	if ((mode != LIO_WAIT && mode != LIO_NOWAIT) || n < 0 ||
	    (mode == LIO_NOWAIT && event != NULL && !__event_valid(event)))
		return aio_fails(EINVAL);
	if (mode == LIO_NOWAIT && event != NULL) {
		g = malloc(sizeof(*g));
		if (g == NULL)
			return aio_fails(EAGAIN);
		*g = (struct group){1, *event};
	}
	for (int i = 0; i < n; i++) {
		int error = 0;

		if (list[i] == NULL || list[i]->aio_lio_opcode == LIO_NOP)
			continue;
		if (list[i]->aio_lio_opcode != LIO_READ && list[i]->aio_lio_opcode != LIO_WRITE)
			error = EINVAL;
		else
			error = request_make(list[i], list[i]->aio_lio_opcode, g);
		if (error != 0) {
			failed = true;
			list[i]->__result = -1;
			__atomic_store_n(&list[i]->__error, error, __ATOMIC_RELEASE);
		}
	}
	group_made(g);
	if (mode == LIO_WAIT) {
		aio_await(all_done, (const struct aiocb *const *)list, n, NULL);
		for (int i = 0; i < n; i++)
			failed = failed || (list[i] != NULL && list[i]->aio_lio_opcode != LIO_NOP &&
					    aio_error(list[i]) != 0);
	}
	return failed ? aio_fails(EIO) : 0;
}
