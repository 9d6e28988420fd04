/*
 * newlib.c - what newlib needs of a threads library: the per-thread reent and its locks.
 *
 * All of its locks are recursive mutexes here; zero is unlocked.  They are in one object file
 * because newlib's archive has them in one too.  An archive member that defined only some of them
 * would be linked beside newlib's and clash.
 */
#include <limits.h>
#include <pthread.h>
#include <reent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/lock.h>
#include "../sync/mutex.h"
#include "../malloc/malloc.h"
#include "core.h"
#include "model.h"

struct __lock {
	pthread_mutex_t mutex;
	struct __lock *next; /* while free */
};

/* clang-format off */
#define LOCK(name) struct __lock name = { .mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP }
/* clang-format on */
LOCK(__lock___sinit_recursive_mutex);
LOCK(__lock___sfp_recursive_mutex);
LOCK(__lock___atexit_recursive_mutex);
LOCK(__lock___at_quick_exit_mutex);
LOCK(__lock___malloc_recursive_mutex);
LOCK(__lock___env_recursive_mutex);
LOCK(__lock___tz_mutex);
LOCK(__lock___dd_hash_mutex);
LOCK(__lock___arc4random_mutex);

/* Replaces any lock for which there was no memory.  It is coarse, and correct. */
static LOCK(shared);

static struct ilock pool_lock;
static struct __lock *pool;

/*
 * Most threads that live shortly never need their reent.  A handler that comes in between may do
 * the same, because nothing has been stored by then.  Release, to this thread's handlers: they find
 * the reent made completely, or not at all.
 */
static struct _reent *__attribute__((noinline)) first_use(struct thread *self)
{
	_REENT_INIT_PTR(&self->own_reent);
	__atomic_signal_fence(__ATOMIC_RELEASE);
	return self->reent = &self->own_reent;
}

struct _reent *__getreent(void)
{
	struct thread *self = thread_self();

	return likely(self->reent != NULL) ? self->reent : first_use(self);
}

/* A pool of our own, because malloc would acquire a lock of this kind. */
void __retarget_lock_init_recursive(_LOCK_T *lock)
{
	struct __lock *l, *page;

	ilock_lock(&pool_lock);
	if (pool == NULL) {
		page = __pages_alloc(WEFT_PAGE_SIZE);
		for (unsigned i = 0; page != NULL && i < WEFT_PAGE_SIZE / sizeof(*page); i++) {
			page[i].next = pool;
			pool = &page[i];
		}
	}
	l = pool;
	if (l != NULL)
		pool = l->next;
	ilock_unlock(&pool_lock);
	if (l != NULL)
		*l = (struct __lock){.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
	*lock = l != NULL ? l : &shared;
}

void __retarget_lock_init(_LOCK_T *lock)
{
	__retarget_lock_init_recursive(lock);
}

void __retarget_lock_close_recursive(_LOCK_T lock)
{
	if (lock == &shared)
		return;
	ilock_lock(&pool_lock);
	lock->next = pool;
	pool = lock;
	ilock_unlock(&pool_lock);
}

void __retarget_lock_close(_LOCK_T lock)
{
	__retarget_lock_close_recursive(lock);
}

/*
 * A thread that holds one of these locks is not cancelled, because no thread would release the
 * lock.
 */
void __retarget_lock_acquire_recursive(_LOCK_T lock)
{
	thread_self()->held++;
	pthread_mutex_lock(&lock->mutex);
}

void __retarget_lock_acquire(_LOCK_T lock)
{
	__retarget_lock_acquire_recursive(lock);
}

/* Not 0: acquired. */
int __retarget_lock_try_acquire_recursive(_LOCK_T lock)
{
	int taken = pthread_mutex_trylock(&lock->mutex) == 0;

	thread_self()->held += taken;
	return taken;
}

int __retarget_lock_try_acquire(_LOCK_T lock)
{
	return __retarget_lock_try_acquire_recursive(lock);
}

void __retarget_lock_release_recursive(_LOCK_T lock)
{
	pthread_mutex_unlock(&lock->mutex);
	thread_self()->held--;
}

void __retarget_lock_release(_LOCK_T lock)
{
	__retarget_lock_release_recursive(lock);
}

/*
 * newlib declares these and leaves them to us.  The program's own calls, so they do not defer
 * cancellation.
 */
void flockfile(FILE *file)
{
	pthread_mutex_lock(&file->_lock->mutex);
}

int ftrylockfile(FILE *file)
{
	return pthread_mutex_trylock(&file->_lock->mutex) == 0 ? 0 : -1;
}

void funlockfile(FILE *file)
{
	pthread_mutex_unlock(&file->_lock->mutex);
}

/* --- fork ------------------------------------------------------------------------- */

extern void __malloc_lock(struct _reent *), __malloc_unlock(struct _reent *);
extern void __sfp_lock_acquire(void), __sfp_lock_release(void);
extern int _fwalk(struct _reent *, int (*)(FILE *));

/* The list of streams does not change, and malloc's arena is whole. */
void __newlib_before_fork(void)
{
	__sfp_lock_acquire();
	__malloc_lock(_REENT);
	ilock_lock(&pool_lock);
	if (__options.mt_malloc)
		__mt_before_fork();
}

/*
 * A stream that another thread used at the time of fork belongs to no thread now.  The data in its
 * buffer may be incomplete, and the stream can be used.
 */
static int free_stream(FILE *file)
{
	_LOCK_T l = file->_lock;

	if (l != NULL && mutex_owner(&l->mutex) != thread_self())
		l->mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	return 0;
}

void __newlib_forked(void)
{
	critical_enter(); /* __newlib_after_fork releases what the parent acquired */
	if (__options.mt_malloc)
		__mt_forked();
	_fwalk(_GLOBAL_REENT, free_stream);
}

void __newlib_after_fork(bool child)
{
	if (__options.mt_malloc && !child)
		__mt_after_fork();
	ilock_unlock(&pool_lock);
	__malloc_unlock(_REENT);
	__sfp_lock_release();
}
