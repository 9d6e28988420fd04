/*
 * thr.c - UNIX International threads: the same threads under Solaris's names.
 *
 * It is a file of its own, because a POSIX program may use these names itself.  The file is linked
 * only if the program uses one of its functions.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <thread.h>
#include "attr.h"
#include "ids.h"
#include "model.h"

/*
 * stack NULL: allocated, of size bytes (0: the default) and with a red zone.  EINVAL: a size below
 * thr_min_stack(), unknown flags, no function.  EAGAIN: no memory or no LWP for the thread.
 */
int thr_create(void *stack, size_t size, void *(*start)(void *), void *arg, long flags,
	       thread_t *thread)
{
	struct create_args args = {
		.stack = stack,
		.stack_size = size != 0 ? size : DEFAULT_STACK,
		.guard_size = DEFAULT_GUARD,
		.detached =
			(flags & THR_DETACHED ? DETACHED : 0) | (flags & THR_DAEMON ? DAEMON : 0),
		.bound = flags & THR_BOUND,
		.new_lwp = flags & THR_NEW_LWP,
		.suspended = flags & THR_SUSPENDED,
	};
	unsigned long id;
	int error;

	if ((stack != NULL || size != 0) && size < PTHREAD_STACK_MIN)
		return EINVAL;
	if (flags & ~(THR_DETACHED | THR_BOUND | THR_NEW_LWP | THR_SUSPENDED | THR_DAEMON) ||
	    start == NULL)
		return EINVAL;
	error = __thread_create(&args, start, arg, &id);
	if (error == 0 && thread != NULL)
		*thread = id;
	return error;
}

/*
 * thread 0: any thread.  ESRCH: no such thread, or no thread may join it.  EDEADLK: the call would
 * wait for ever.  Blocks.  A cancellation point.
 */
int thr_join(thread_t thread, thread_t *departed, void **status)
{
	unsigned long id;
	int error = __thread_join(thread, NEVER, &id, status);

	if (error == 0 && departed != NULL)
		*departed = id;
	return error == EINVAL ? ESRCH : error;
}

void thr_exit(void *status)
{
	pthread_exit(status);
}

thread_t thr_self(void)
{
	return thread_self()->id;
}

int thr_main(void)
{
	return thread_self() == __main_thread;
}

void thr_yield(void)
{
	__ops->yield();
}

static int thr_stop(struct thread *t, void *arg)
{
	return __ops->suspend(t);
}

static int thr_resume(struct thread *t, void *arg)
{
	return __ops->resume(t);
}

/* Called without the lock of an id, because the look for a thread acquires locks that come before it. */
static void signals_again(void)
{
	if (__ops->signals_again != NULL)
		__ops->signals_again();
}

/*
 * On return the thread executes nothing, until thr_continue.  To suspend twice is the same as once.
 * The thread may hold any lock of the program, and locks of malloc, stdio, aio and sem_open.  A wake-up that it has received stays with it: if
 * it was woken for a free mutex, the other waiters sleep until it goes on.  Another thread takes the signals of
 * the process that the thread was to take.  ESRCH: no such thread.  ENOMEM: no LWP could take the
 * place of the LWP that stopped with the thread; then the thread goes on.
 *
 * *Race:* the caller has waited for signals, and has been woken for a signal of the process; the handler of another signal
 * suspends the caller before it takes the first signal; *without this:* the signal stays pending, although another thread
 * would take it; *closed by:* leave_signals, by which another thread is made to look.
 */
int thr_suspend(thread_t thread)
{
	struct thread *self = thread_self();
	int error;

	if (thread == self->id) {
		if (waits_here(self))
			__ops->leave_signals(~0ul);
		return __ops->suspend(self);
	}
	error = __thread_with(thread, thr_stop, NULL);
	if (error == 0)
		signals_again();
	if (error == 0 && __ops->set_concurrency(0) != 0) {
		thr_continue(thread);
		error = ENOMEM;
	}
	return error;
}

/* The thread may take signals of the process that no other thread has taken.  ESRCH: no such thread. */
int thr_continue(thread_t thread)
{
	int error = __thread_with(thread, thr_resume, NULL);

	if (error == 0)
		signals_again();
	return error;
}

size_t thr_min_stack(void)
{
	return PTHREAD_STACK_MIN;
}

int thr_getconcurrency(void)
{
	return pthread_getconcurrency();
}

/* Errors of pthread_setconcurrency. */
int thr_setconcurrency(int level)
{
	return pthread_setconcurrency(level);
}

/* ESRCH: no such thread. */
int thr_getprio(thread_t thread, int *priority)
{
	struct ilock *lock = id_lock(thread);
	struct thread *t;

	ilock_lock(lock);
	t = id_find(thread);
	if (t != NULL)
		*priority = t->base_pri;
	ilock_unlock(lock);
	return t == NULL ? ESRCH : 0;
}

/*
 * Sets the thread's priority in the library's queues.  What the kernel does with LWPs does not
 * change.  ESRCH: no such thread; EINVAL: priority out of range.
 */
int thr_setprio(thread_t thread, int priority)
{
	struct ilock *lock = id_lock(thread);
	struct thread *t;

	if (priority < THREAD_MIN_PRIORITY || priority > THREAD_MAX_PRIORITY)
		return EINVAL;
	ilock_lock(lock);
	t = id_find(thread);
	if (t != NULL)
		__thread_set_sched(t, t->policy, priority, false);
	ilock_unlock(lock);
	return t == NULL ? ESRCH : 0;
}

/* Errors of pthread_kill. */
int thr_kill(thread_t thread, int sig)
{
	return pthread_kill(thread, sig);
}

/* Errors of pthread_sigmask. */
int thr_sigsetmask(int how, const sigset_t *set, sigset_t *old)
{
	return pthread_sigmask(how, set, old);
}

/* The caller's stack: ss_sp is its highest address. */
int thr_stksegment(stack_t *stack)
{
	pthread_attr_t attr;
	void *lowest;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return EAGAIN;
	pthread_attr_getstack(&attr, &lowest, &size);
	*stack = (stack_t){.ss_sp = (char *)lowest + size, .ss_size = size};
	return 0;
}

/* Errors of pthread_key_create. */
int thr_keycreate(thread_key_t *key, void (*destructor)(void *))
{
	return pthread_key_create(key, destructor);
}

/* EINVAL: there is no such key. */
int thr_getspecific(thread_key_t key, void **value)
{
	if (!__tsd_exists(key))
		return EINVAL;
	*value = pthread_getspecific(key);
	return 0;
}

/* Errors of pthread_setspecific. */
int thr_setspecific(thread_key_t key, void *value)
{
	return pthread_setspecific(key, value);
}

/* ENOTSUP: the model has no such lock (lwp). */
int thr_schedlock_stats(struct thr_schedlock_stats *stats)
{
	if (__ops->schedlock_stats == NULL)
		return ENOTSUP;
	__ops->schedlock_stats(stats);
	return 0;
}
