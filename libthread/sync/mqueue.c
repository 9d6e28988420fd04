/*
 * mqueue.c - message queues: their names, and the descriptors by which processes have them open.
 *
 * A queue is a file that processes map shared.  The file gets its name only when it is whole, as
 * the file of a named semaphore does (semname.c).  The whole file is written at first, so that a
 * later message never fails for lack of memory.
 *
 * An mqd_t is a descriptor of that file.  So the kernel keeps O_NONBLOCK, which a child of fork
 * shares with its parent, and closes the descriptor in exec.  `opened` finds the rest by
 * descriptor, under opened_lock, which is innermost.  A mapping lasts until the last call and the
 * last worker have finished with it (users).
 *
 * *Race:* a thread looks for its queue in `opened`, and another thread suspends it; *without this:*
 * the calls on all other queues stand still; *closed by:* opened_lock, which is a lock of the
 * library, so its holder cannot be suspended.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/file.h>
#include <weft/proc.h>
#include "mqueue.h"

#define DIR "/tmp/"
#define PREFIX ".mq."

#define PRESET_MAXMSG 10
#define PRESET_MSGSIZE 8192
#define QUEUE_SIZE_MAX (64ul << 20) /* bytes of a queue */

static struct mq *opened[WEFT_OPEN_MAX];
static struct ilock opened_lock;

int __mq_fails(int error)
{
	errno = error;
	return -1;
}

/* --- users ---------------------------------------------------------------------------------- */

/* Adds a user.  The caller is a user already.  Relaxed: the caller's use keeps m meanwhile. */
void __mq_keep(struct mq *m)
{
	__atomic_add_fetch(&m->users, 1, __ATOMIC_RELAXED);
}

/*
 * Returns the open queue of fd and adds a user.  NULL: fd is no open queue, or its access mode is
 * not_access.
 */
struct mq *__mq_get(mqd_t fd, int not_access)
{
	struct mq *m = NULL;

	ilock_lock(&opened_lock);
	if (fd >= 0 && fd < WEFT_OPEN_MAX && opened[fd] != NULL &&
	    opened[fd]->access != not_access) {
		m = opened[fd];
		__mq_keep(m);
	}
	ilock_unlock(&opened_lock);
	return m;
}

/*
 * Returns the first open queue from *fd on that is m's queue, and adds a user.  Sets *fd behind it.
 * NULL: none.
 */
struct mq *__mq_next(const struct mq *m, int *fd)
{
	struct mq *found = NULL;

	ilock_lock(&opened_lock);
	while (found == NULL && *fd < WEFT_OPEN_MAX) {
		struct mq *other = opened[(*fd)++];

		if (other != NULL && other->dev == m->dev && other->ino == m->ino) {
			found = other;
			__mq_keep(found);
		}
	}
	ilock_unlock(&opened_lock);
	return found;
}

/*
 * Removes a user; the last user unmaps the queue.  Acquire and release: the accesses of all other
 * users come before the unmapping.
 */
void __mq_put(struct mq *m)
{
	if (__atomic_sub_fetch(&m->users, 1, __ATOMIC_ACQ_REL) == 0) {
		munmap(m->queue, m->size);
		free(m);
	}
}

static void mq_locks_init(struct mq *m)
{
	m->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (int i = 0; i < 2; i++)
		m->side[i] = (struct side){.mq = m, .woken = PTHREAD_COND_INITIALIZER};
}

/*
 * Called in a child of fork.  The child's queues are open, no call and no worker uses them, and the
 * child is not registered.
 */
void __mq_forked(void)
{
	opened_lock.held = 0;
	for (int fd = 0; fd < WEFT_OPEN_MAX; fd++) {
		struct mq *m = opened[fd];

		if (m != NULL) {
			m->users = 1;
			m->serial = 0;
			mq_locks_init(m);
		}
	}
}

/* --- names ---------------------------------------------------------------------------------- */

/* "/name", with no other slash.  0, EINVAL, ENAMETOOLONG. */
static int mq_path(const char *name, char path[WEFT_PATH_MAX])
{
	while (*name == '/')
		name++;
	if (*name == '\0' || strchr(name, '/') != NULL)
		return EINVAL;
	if (strlen(name) > WEFT_NAME_MAX - strlen(PREFIX))
		return ENAMETOOLONG;
	snprintf(path, WEFT_PATH_MAX, DIR PREFIX "%s", name);
	return 0;
}

/* Sets up an empty queue.  False: attr is not valid. */
static bool queue_make(struct queue *q, const struct mq_attr *attr)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	if (attr->mq_maxmsg <= 0 || attr->mq_msgsize <= 0 ||
	    attr->mq_msgsize > (long)QUEUE_SIZE_MAX || attr->mq_maxmsg > (long)QUEUE_SIZE_MAX)
		return false;
	memset(q, 0, sizeof(*q));
	q->magic = QUEUE_MAGIC;
	q->maxmsg = attr->mq_maxmsg;
	q->msgsize = attr->mq_msgsize;
	q->slot_size = (sizeof(struct slot) + attr->mq_msgsize + 7) & -8u;
	if ((uint64_t)q->maxmsg * q->slot_size > QUEUE_SIZE_MAX)
		return false;
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&q->lock, &mutex);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < CONDITIONS; i++)
		pthread_cond_init(&q->changed[i], &cond);
	return true;
}

static size_t queue_size(const struct queue *q)
{
	return sizeof(*q) + (uint64_t)q->maxmsg * q->slot_size;
}

/* Writes the whole file.  0, or an error number of write. */
static int queue_write(int fd, const struct queue *q)
{
	static const char nothing[4096];
	size_t left = queue_size(q) - sizeof(*q);
	ssize_t n = write(fd, q, sizeof(*q)) == sizeof(*q) ? 0 : -1;

	for (; left > 0 && n >= 0; left -= n)
		n = write(fd, nothing, left < sizeof(nothing) ? left : sizeof(nothing));
	return n < 0 ? errno : 0;
}

/*
 * Makes the file of a new queue.  Returns its descriptor, or -1: EEXIST, errors of open and write.
 */
static int queue_create(const char *path, int flags, mode_t mode, const struct queue *q)
{
	static unsigned count;
	char whole[WEFT_PATH_MAX];
	int fd, error;

	snprintf(whole, sizeof(whole), DIR ".newmq.%d.%u", (int)getpid(),
		 __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
	fd = open(whole, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | (flags & O_NONBLOCK), mode);
	if (fd < 0)
		return -1;
	error = queue_write(fd, q);
	if (error == 0 && link(whole, path) < 0)
		error = errno;
	unlink(whole);
	if (error == 0)
		return fd;
	close(fd);
	return __mq_fails(error);
}

/* Maps the queue in the file.  0, EINVAL, ENOMEM. */
static int queue_map(int fd, int access)
{
	struct mq *m = malloc(sizeof(*m));
	struct stat st;
	void *at;

	if (m == NULL || fstat(fd, &st) < 0 || fd >= WEFT_OPEN_MAX) {
		free(m);
		return ENOMEM;
	}
	at = (size_t)st.st_size < sizeof(struct queue)
		     ? NULL
		     : mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == NULL || at == MAP_FAILED) {
		free(m);
		return at == NULL ? EINVAL : ENOMEM;
	}
	*m = (struct mq){.queue = at,
			 .size = st.st_size,
			 .dev = st.st_dev,
			 .ino = st.st_ino,
			 .fd = fd,
			 .access = access,
			 .users = 1};
	if (m->queue->magic != QUEUE_MAGIC || queue_size(m->queue) != m->size) {
		__mq_put(m);
		return EINVAL;
	}
	mq_locks_init(m);
	ilock_lock(&opened_lock);
	opened[fd] = m;
	ilock_unlock(&opened_lock);
	return 0;
}

/* Returns the descriptor of the queue at path, or -1.  Makes the queue if flags say so. */
static int queue_open(const char *path, int flags, mode_t mode, const struct queue *fresh)
{
	int fd, error;

	do { /* another process may create or unlink the name in between */
		fd = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)
			     ? __mq_fails(ENOENT)
			     : open(path, O_RDWR | O_CLOEXEC | (flags & O_NONBLOCK));
		if (fd < 0 && errno == ENOENT && (flags & O_CREAT))
			fd = queue_create(path, flags, mode, fresh);
	} while (fd < 0 && errno == EEXIST && !(flags & O_EXCL));
	if (fd < 0)
		return -1;
	error = queue_map(fd, flags & O_ACCMODE);
	if (error == 0)
		return fd;
	close(fd);
	return __mq_fails(error);
}

/* --- the interface ------------------------------------------------------------------------------ */

/*
 * Opens the queue of that name.  Creates it with `attr` if there is none and flags have O_CREAT.
 * Returns a descriptor.  EEXIST: the queue exists, and flags have O_CREAT and O_EXCL.  ENOENT:
 * there is no such queue.  EINVAL: the name is empty or has a slash, attr is not valid, or the
 * queue needs more than 64 MB.  ENAMETOOLONG: the name.  EACCES, EMFILE, ENFILE, ENOSPC, ENOMEM: as
 * for open, write and mmap.
 */
mqd_t mq_open(const char *name, int flags, ...)
{
	struct mq_attr attr = {.mq_maxmsg = PRESET_MAXMSG, .mq_msgsize = PRESET_MSGSIZE};
	char path[WEFT_PATH_MAX];
	struct queue fresh;
	mode_t mode = 0;
	int fd, state, error = mq_path(name, path);

	if (error != 0)
		return __mq_fails(error);
	if (flags & O_CREAT) {
		const struct mq_attr *wanted;
		va_list ap;

		va_start(ap, flags);
		mode = va_arg(ap, unsigned);
		wanted = va_arg(ap, const struct mq_attr *);
		va_end(ap);
		if (!queue_make(&fresh, wanted != NULL ? wanted : &attr))
			return __mq_fails(EINVAL);
	}
	/*
	 * The calls below are cancellation points.  This function is not, and a cancellation would
	 * leave files behind.
	 */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	fd = queue_open(path, flags, mode, &fresh);
	pthread_setcancelstate(state, NULL);
	return fd;
}

/*
 * Closes the queue.  Ends the registration of the process, if there is one.  Waits of other threads
 * on it end.  EBADF: no open message queue.
 *
 * *Race:* another thread opens a queue, and the kernel gives it this number; *without this:* the
 * closer forgets the new queue; *closed by:* the close comes after `opened` has forgotten the old
 * queue.
 */
int mq_close(mqd_t fd)
{
	struct mq *m = __mq_get(fd, -1);
	bool mine;

	if (m == NULL)
		return __mq_fails(EBADF);
	ilock_lock(&opened_lock);
	mine = opened[fd] == m;
	if (mine)
		opened[fd] = NULL;
	ilock_unlock(&opened_lock);
	if (mine && __mq_lock(m->queue) == 0) {
		m->closed = true;
		__mq_unregister(m);
		for (int i = 0; i < CONDITIONS; i++)
			pthread_cond_broadcast(&m->queue->changed[i]);
		__mq_unlock(m->queue);
	}
	__mq_put(m);
	if (!mine) /* another thread has closed it */
		return __mq_fails(EBADF);
	__mq_put(m);
	__sys_close(fd);
	return 0;
}

/*
 * Removes the name at once.  The queue exists until the last process closes it.  ENOENT: no such
 * name.  ENAMETOOLONG: the name.  EINVAL: the name is empty, or has a slash.
 */
int mq_unlink(const char *name)
{
	char path[WEFT_PATH_MAX];
	int error = mq_path(name, path);

	return error != 0 ? __mq_fails(error) : unlink(path);
}

/* EBADF: no open message queue. */
int mq_getattr(mqd_t fd, struct mq_attr *attr)
{
	struct mq *m = __mq_get(fd, -1);

	if (m == NULL)
		return __mq_fails(EBADF);
	*attr = (struct mq_attr){
		.mq_flags = fcntl(fd, F_GETFL) & O_NONBLOCK,
		.mq_maxmsg = m->queue->maxmsg,
		.mq_msgsize = m->queue->msgsize,
		.mq_curmsgs = __atomic_load_n(&m->queue->count, __ATOMIC_RELAXED),
	};
	__mq_put(m);
	return 0;
}

/*
 * Sets O_NONBLOCK as in attr->mq_flags, for all processes that share the descriptor by fork;
 * ignores the rest of attr.  Stores the attributes from before in *old if old is not NULL.  Errors
 * of mq_getattr.
 */
int mq_setattr(mqd_t fd, const struct mq_attr *attr, struct mq_attr *old)
{
	struct mq_attr before;

	if (mq_getattr(fd, &before) < 0)
		return -1;
	fcntl(fd, F_SETFL, attr->mq_flags & O_NONBLOCK);
	if (old != NULL)
		*old = before;
	return 0;
}
