/*
 * solaris.c - the columns of Solaris (column.h): UNIX International's threads.
 *
 * The threads are bound; or unbound, with an LWP a CPU or with as many LWPs as asked for ("cl"); or
 * unbound, with as many LWPs as the library gives them.
 *
 * Only the model mxn distinguishes the columns; in lwp all threads are bound.
 */
#include <errno.h>
#include <synch.h>
#include <thread.h>
#include <time.h>
#include "bench.h"
#include "column.h"

_Static_assert(sizeof(mutex_t) <= sizeof(((struct lock *)0)->object), "");
_Static_assert(sizeof(cond_t) <= sizeof(((struct place *)0)->object), "");
_Static_assert(sizeof(sema_t) <= sizeof(((struct semaphore *)0)->object), "");

static void start_cl(unsigned concurrency)
{
	must(thr_setconcurrency((int)concurrency), "thr_setconcurrency");
}

static void start_plain(unsigned concurrency)
{
}

static void *begin(void *arg)
{
	struct task *task = arg;

	task->run(task);
	return NULL;
}

static bool create(struct task *task, long flags)
{
	thread_t thread;
	int error = thr_create(NULL, 0, begin, task, flags, &thread);

	if (error != 0 && error != EAGAIN && error != ENOMEM)
		must(error, "thr_create");
	task->thread = thread;
	return error == 0;
}

static bool create_bound(struct task *task, bool suspended)
{
	return create(task, THR_BOUND | (suspended ? THR_SUSPENDED : 0));
}

static bool create_unbound(struct task *task, bool suspended)
{
	return create(task, suspended ? THR_SUSPENDED : 0);
}

static void join(struct task *task)
{
	must(thr_join((thread_t)task->thread, NULL, NULL), "thr_join");
}

static void lock_init(struct lock *lock, enum lock_kind kind)
{
	lock->kind = kind;
	must(mutex_init((mutex_t *)lock->object, kind == LOCK_LOCAL ? USYNC_THREAD : USYNC_PROCESS,
			NULL),
	     "mutex_init");
}

static void acquire(struct lock *lock)
{
	must(mutex_lock((mutex_t *)lock->object), "mutex_lock");
}

static void release(struct lock *lock)
{
	must(mutex_unlock((mutex_t *)lock->object), "mutex_unlock");
}

static void place_init(struct place *place)
{
	must(cond_init((cond_t *)place->object, USYNC_THREAD, NULL), "cond_init");
}

static void wait_at(struct place *place, struct lock *lock)
{
	must(cond_wait((cond_t *)place->object, (mutex_t *)lock->object), "cond_wait");
}

static void wake(struct place *place)
{
	must(cond_signal((cond_t *)place->object), "cond_signal");
}

static void semaphore_init(struct semaphore *semaphore, unsigned count)
{
	must(sema_init((sema_t *)semaphore->object, count, USYNC_THREAD, NULL), "sema_init");
}

static void down(struct semaphore *semaphore)
{
	must(sema_wait((sema_t *)semaphore->object), "sema_wait");
}

static void up(struct semaphore *semaphore)
{
	must(sema_post((sema_t *)semaphore->object), "sema_post");
}

/*
 * Waits for a condition variable that no thread signals.  This is the library's way to be idle,
 * because it leaves the LWP to other threads.  (nanosleep() would keep the LWP.)
 */
static void idle(int64_t ns)
{
	mutex_t mutex = DEFAULTMUTEX;
	cond_t never = DEFAULTCV;
	timestruc_t end;
	int error;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += ns / 1000000000;
	end.tv_nsec += ns % 1000000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	must(mutex_lock(&mutex), "mutex_lock");
	while ((error = cond_timedwait(&never, &mutex, &end)) == 0)
		;
	if (error != ETIME)
		must(error, "cond_timedwait");
	must(mutex_unlock(&mutex), "mutex_unlock");
}

#define SOLARIS                                                                                    \
	.join = join, .lock_init = lock_init, .lock = acquire, .unlock = release,                  \
	.place_init = place_init, .wait = wait_at, .wake = wake, .semaphore_init = semaphore_init, \
	.down = down, .up = up, .idle = idle

const struct column column_bound = {
	.name = "bound",
	.start = start_plain,
	.create = create_bound,
	SOLARIS,
};
const struct column column_cl = {
	.name = "cl",
	.start = start_cl,
	.create = create_unbound,
	SOLARIS,
};
const struct column column_unbound = {
	.name = "unbound",
	.start = start_plain,
	.create = create_unbound,
	SOLARIS,
};
