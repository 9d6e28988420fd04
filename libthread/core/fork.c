/*
 * fork.c - fork in a process with threads (POSIX: the child has only the calling thread), and
 * pthread_atfork.
 *
 * The child's memory is a snapshot, taken while other threads were at work.  So that the child's
 * data is whole, the caller first acquires some locks: those of the list of threads, malloc,
 * stdio's list of streams, the handles of Win32, and the model.  Other locks need not be acquired.
 * Sleep queues and timers begin empty in the child.  Another thread may be creating a key, or
 * registering handlers of pthread_atfork.  What it has written so far belongs to no thread of the
 * child, and does no harm.
 *
 * In the child all locks are free again, and the state of other threads is forgotten.  The list of
 * threads has one thread, no thread sleeps, and the model has the one LWP that fork left it.  The
 * program's own locks that other threads held stay held for ever, as POSIX says.  Streams are made
 * usable.
 *
 * The memory of the threads that are gone is free for new threads, because those threads are on no
 * CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "core.h"
#include "model.h"
#include "worker.h"

/* --- pthread_atfork -------------------------------------------------------------- */

struct handlers {
	void (*prepare)(void), (*parent)(void), (*child)(void);
	struct handlers *next, *prev;
};
/* Handlers are only added.  A handler in the list stays there, so a walk needs no lock. */
static struct handlers *first, *last;
static struct ilock handlers_lock;

/* Registers handlers around fork (POSIX says in which order).  ENOMEM: for the three. */
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	struct handlers *h = malloc(sizeof(*h));

	if (h == NULL)
		return ENOMEM;
	*h = (struct handlers){.prepare = prepare, .parent = parent, .child = child};
	ilock_lock(&handlers_lock);
	h->prev = last;
	if (last != NULL)
		__atomic_store_n(&last->next, h, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&first, h, __ATOMIC_RELEASE);
	__atomic_store_n(&last, h, __ATOMIC_RELEASE);
	ilock_unlock(&handlers_lock);
	return 0;
}

/* --- fork ------------------------------------------------------------------------- */

/* From notify.c, which is linked if the program calls timer_create. */
__attribute__((weak)) void __notify_forked(void);
__attribute__((weak)) void __semname_forked(void);                   /* linked with sem_open */
__attribute__((weak)) __typeof__(__workers_forked) __workers_forked; /* with users of workers */
__attribute__((weak)) void __aio_forked(void);                       /* with aio_read */
__attribute__((weak)) void __mq_forked(void);                        /* with mq_open */
__attribute__((weak)) void __win_lock(void), __win_unlock(void),
	__win_forked(void); /* with handles of Win32 */

static void fork_child(struct thread *self)
{
	bool had_others = self->list_next != self;

	/*
	 * First of all, because spin locks count in the LWP's record, and the child's LWP has a new
	 * record.
	 */
	__lwp_adopt(self->lwp, (struct schedctl *)__sys_lwp_schedctl());
	handlers_lock.held = 0;
	__threads_forked(self);
	__tsd_forked();
	if (__notify_forked != NULL)
		__notify_forked();
	if (__workers_forked != NULL && __workers_forked())
		had_others = true;
	__ops->forked(had_others);
	__newlib_forked();
	__shared_forked();
	if (__semname_forked != NULL)
		__semname_forked();
	if (__aio_forked != NULL)
		__aio_forked();
	if (__mq_forked != NULL)
		__mq_forked();
	if (__win_forked != NULL)
		__win_forked();
	__lockstat_forked();
	__sampler_forked();
}

/*
 * Handlers that pthread_atfork registers while fork runs are not called.  EAGAIN, ENOMEM: there is
 * no child.
 */
pid_t fork(void)
{
	struct thread *self = thread_self();
	struct handlers *newest = __atomic_load_n(&last, __ATOMIC_ACQUIRE), *h;
	long pid;

	for (h = newest; h != NULL; h = h->prev)
		if (h->prepare != NULL)
			h->prepare();

	__newlib_before_fork();
	if (__win_lock != NULL)
		__win_lock();
	__threads_lock_all();
	__ops->before_fork();
	pid = __sys_fork();
	if (pid == 0) {
		fork_child(self);
	} else {
		__ops->after_fork();
		__threads_unlock_all();
		if (__win_unlock != NULL)
			__win_unlock();
	}
	__newlib_after_fork(pid == 0);

	for (h = newest != NULL ? first : NULL; h != NULL; h = h != newest ? h->next : NULL) {
		void (*handler)(void) = pid == 0 ? h->child : h->parent;

		if (handler != NULL)
			handler();
	}
	if (pid < 0) {
		errno = -pid;
		return -1;
	}
	return pid;
}

/* posix_spawn is the call with a child that shares the parent's memory; copy-on-write is cheap. */
pid_t vfork(void)
{
	return fork();
}
