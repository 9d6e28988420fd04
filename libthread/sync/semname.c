/*
 * semname.c - semaphores with names: files of one sem_t each, which processes map shared.
 *
 * *Race:* a thread creates the file, and another thread opens the name before the semaphore is
 * written; *without this:* the second thread finds a file without a semaphore; *closed by:* the
 * file is written under a temporary name and then linked to its own name.  The link fails if
 * another thread has created the name meanwhile.
 *
 * A process that opens a semaphore twice gets the same address, until it has closed the semaphore
 * as often.  `opened` remembers the semaphore by device and inode, under opened_lock.  The mapping
 * keeps the inode, so that a name that was unlinked and created again is another semaphore.  Fork
 * does not take opened_lock, because a handler may fork while its thread owns it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/file.h>
#include "shared.h"

#define DIR "/tmp/"
#define PREFIX ".sem."

static struct opened {
	struct opened *next;
	sem_t *sem;
	dev_t dev;
	ino_t ino;
	unsigned times;
} * opened;
static pthread_mutex_t opened_lock = PTHREAD_MUTEX_INITIALIZER;

static int semname_fail(int error)
{
	errno = error;
	return -1;
}

/* "/name", with no other slash.  EINVAL: it is not of that form; ENAMETOOLONG. */
static int semname_path(const char *name, char path[WEFT_PATH_MAX])
{
	while (*name == '/')
		name++;
	if (*name == '\0' || strchr(name, '/') != NULL)
		return semname_fail(EINVAL);
	if (strlen(name) > WEFT_NAME_MAX - strlen(PREFIX))
		return semname_fail(ENAMETOOLONG);
	snprintf(path, WEFT_PATH_MAX, DIR PREFIX "%s", name);
	return 0;
}

/*
 * Makes the file of a new semaphore.  Returns its descriptor, or -1: EEXIST, errors of open and
 * write.
 */
static int semname_make(const char *path, mode_t mode, unsigned value)
{
	static unsigned count;
	const sem_t fresh = {.__word = value, .__flags = LWP_SEMA_SHARED};
	char whole[WEFT_PATH_MAX];
	int fd, error = 0;

	snprintf(whole, sizeof(whole), DIR ".newsem.%d.%u", (int)getpid(),
		 __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
	fd = open(whole, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -1;
	if (write(fd, &fresh, sizeof(fresh)) != sizeof(fresh) || link(whole, path) < 0) {
		error = errno;
		close(fd);
	}
	unlink(whole);
	return error == 0 ? fd : semname_fail(error);
}

/* Returns the semaphore in the file, or SEM_FAILED.  The caller owns opened_lock. */
static sem_t *semname_map(int fd)
{
	struct opened *o;
	struct stat st;
	void *at;

	if (fstat(fd, &st) < 0)
		return SEM_FAILED;
	for (o = opened; o != NULL; o = o->next) {
		if (o->dev == st.st_dev && o->ino == st.st_ino) {
			o->times++;
			return o->sem;
		}
	}
	if (st.st_size != sizeof(sem_t)) { /* not a file of semname_make */
		errno = EINVAL;
		return SEM_FAILED;
	}
	o = malloc(sizeof(*o));
	if (o == NULL)
		return SEM_FAILED;
	at = mmap(NULL, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		free(o);
		return SEM_FAILED;
	}
	*o = (struct opened){opened, at, st.st_dev, st.st_ino, 1};
	__atomic_store_n(&opened, o, __ATOMIC_RELEASE); /* whole in a child of fork, too */
	return at;
}

/*
 * Called in a child of fork.  Another owner of the lock does not exist here, and the list is whole
 * at any moment.  But the caller itself may own the lock, if it forks in a signal handler.
 */
void __semname_forked(void)
{
	if (!__shared_owned(&opened_lock))
		opened_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* Returns the semaphore in the file at path, or SEM_FAILED.  Makes the file if flags say so. */
static sem_t *semname_open_at(const char *path, int flags, mode_t mode, unsigned value)
{
	sem_t *s;
	int fd;

	do { /* another process may create or unlink the name in between */
		fd = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)
			     ? semname_fail(ENOENT)
			     : open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && (flags & O_CREAT))
			fd = semname_make(path, mode, value);
	} while (fd < 0 && errno == EEXIST && !(flags & O_EXCL));
	if (fd < 0)
		return SEM_FAILED;
	pthread_mutex_lock(&opened_lock);
	s = semname_map(fd);
	pthread_mutex_unlock(&opened_lock);
	close(fd);
	return s;
}

/*
 * Returns the semaphore of that name, or SEM_FAILED.  Creates it with `value` if there is none and
 * flags have O_CREAT.  EEXIST: the semaphore exists, and flags have O_CREAT and O_EXCL.  ENOENT:
 * there is no such semaphore.  EINVAL: the name is empty or has a slash, or value is larger than
 * SEM_VALUE_MAX.  ENAMETOOLONG: the name.  EACCES, EMFILE, ENFILE, ENOSPC, ENOMEM: as for open,
 * write and mmap.
 */
sem_t *sem_open(const char *name, int flags, ...)
{
	char path[WEFT_PATH_MAX];
	unsigned value = 0;
	mode_t mode = 0;
	sem_t *s;
	int state;

	if (semname_path(name, path) < 0)
		return SEM_FAILED;
	if (flags & O_CREAT) {
		va_list ap;

		va_start(ap, flags);
		mode = va_arg(ap, unsigned);
		value = va_arg(ap, unsigned);
		va_end(ap);
		if (value > SEM_VALUE_MAX) {
			errno = EINVAL;
			return SEM_FAILED;
		}
	}
	/*
	 * The calls below are cancellation points.  This function is not, and a cancellation would
	 * leave files behind.
	 */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	s = semname_open_at(path, flags, mode, value);
	pthread_setcancelstate(state, NULL);
	return s;
}

/* EINVAL: s does not come from sem_open, or has been closed as often as it was opened. */
int sem_close(sem_t *s)
{
	struct opened **p, *o;

	pthread_mutex_lock(&opened_lock);
	for (p = &opened; (o = *p) != NULL && o->sem != s;)
		p = &o->next;
	if (o != NULL && --o->times == 0) {
		*p = o->next;
		munmap(s, sizeof(*s));
		free(o);
	}
	pthread_mutex_unlock(&opened_lock);
	return o != NULL ? 0 : semname_fail(EINVAL);
}

/*
 * Removes the name at once.  The semaphore exists until the last process closes it.  ENOENT: no
 * such name.  ENAMETOOLONG: the name.  EINVAL: the name is empty, or has a slash.
 */
int sem_unlink(const char *name)
{
	char path[WEFT_PATH_MAX];

	return semname_path(name, path) < 0 ? -1 : unlink(path);
}
