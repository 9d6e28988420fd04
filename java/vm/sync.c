/*
 * sync.c - Java's monitors and threads over the library's objects, or over Windows NT's (sync.h).
 *
 * NT had no condition variables. A place is a manual-reset event there, which is set as long as threads may go.
 *
 * *Race:* a waiter releases the lock, and the waker sets the event before the waiter waits for it.
 * *Without this:* the wake-up is lost, and the waiter sleeps for ever.
 * *Closed by:* the event stays set. A waiter resets it with the lock held, and only after it has seen that the
 * condition does not hold; the thread that makes the condition hold sets the event after that.
 */

#define _GNU_SOURCE
#include "sync.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <windows.h>

#define MS_NS 1000000

_Static_assert(sizeof(CRITICAL_SECTION) <= sizeof(((struct lock *)0)->section), "");

static bool nt;

static CRITICAL_SECTION *lock_section(struct lock *lock)
{
	return (CRITICAL_SECTION *)lock->section;
}

bool sync_use_nt(void)
{
	nt = SetPriorityClass(GetCurrentProcess(), NORMAL_PRIORITY_CLASS);
	return nt;
}

/* What a thread of NT shall run. */
struct start {
	void *(*run)(void *);
	void *arg;
};

static DWORD WINAPI sync_begin(LPVOID arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	start.run(start.arg);
	return 0;
}

static int sync_nt_thread(void *(*run)(void *), void *arg, size_t stack_size)
{
	struct start *start = malloc(sizeof(*start));
	HANDLE thread;
	DWORD id;

	if (start == NULL)
		return ENOMEM;
	*start = (struct start){run, arg};
	thread = CreateThread(NULL, stack_size, sync_begin, start, 0, &id);
	if (thread == NULL) {
		free(start);
		return EAGAIN;
	}
	CloseHandle(thread);
	return 0;
}

int sync_thread(void *(*run)(void *), void *arg, size_t stack_size)
{
	pthread_attr_t attributes;
	pthread_t id;
	int error;

	if (nt)
		return sync_nt_thread(run, arg, stack_size);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack_size);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&id, &attributes, run, arg);
	pthread_attr_destroy(&attributes);
	return error;
}

/*
 * Priorities are those of SCHED_OTHER, -60 to 60. A thread that is bound to an LWP has them in the kernel, where 0 is
 * usual. For an unbound thread the library's run queue has 0 to 60 alone, and Java's usual priority is in the middle.
 */
#define USUAL 5
#define BOUND_STEP 12
#define UNBOUND_STEP 6

static bool bound;

static int native_priority(int priority)
{
	return bound ? (priority - USUAL) * BOUND_STEP : priority * UNBOUND_STEP;
}

void worker_init(struct worker *worker, bool first)
{
	pthread_attr_t attributes;
	int scope;

	*worker = (struct worker){.id = pthread_self()};
	if (nt && !DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(),
				   &worker->handle, 0, FALSE, DUPLICATE_SAME_ACCESS))
		worker->handle = NULL;
	if (nt || !first || pthread_getattr_np(worker->id, &attributes) != 0)
		return;
	bound = pthread_attr_getscope(&attributes, &scope) == 0 && scope == PTHREAD_SCOPE_SYSTEM;
	pthread_attr_destroy(&attributes);
	if (!bound) /* the threads that it creates inherit it */
		worker_set_priority(worker, USUAL);
}

void worker_destroy(struct worker *worker)
{
	if (worker->handle != NULL)
		CloseHandle(worker->handle);
}

void worker_set_priority(struct worker *worker, int priority)
{
	/* As HotSpot on Windows. */
	static const int of_nt[] = {THREAD_PRIORITY_LOWEST,       THREAD_PRIORITY_LOWEST,
				    THREAD_PRIORITY_BELOW_NORMAL, THREAD_PRIORITY_BELOW_NORMAL,
				    THREAD_PRIORITY_NORMAL,       THREAD_PRIORITY_NORMAL,
				    THREAD_PRIORITY_ABOVE_NORMAL, THREAD_PRIORITY_ABOVE_NORMAL,
				    THREAD_PRIORITY_HIGHEST,      THREAD_PRIORITY_HIGHEST};
	struct sched_param param = {.sched_priority = native_priority(priority)};

	if (!nt)
		pthread_setschedparam(worker->id, SCHED_OTHER, &param);
	else if (worker->handle != NULL)
		SetThreadPriority(worker->handle, of_nt[priority - 1]);
}

void lock_init(struct lock *lock)
{
	if (nt)
		InitializeCriticalSection(lock_section(lock));
	else
		pthread_mutex_init(&lock->mutex, NULL);
}

void lock_destroy(struct lock *lock)
{
	if (nt)
		DeleteCriticalSection(lock_section(lock));
	else
		pthread_mutex_destroy(&lock->mutex);
}

void lock_acquire(struct lock *lock)
{
	if (nt)
		EnterCriticalSection(lock_section(lock));
	else
		pthread_mutex_lock(&lock->mutex);
}

bool lock_try(struct lock *lock)
{
	return nt ? TryEnterCriticalSection(lock_section(lock))
		  : pthread_mutex_trylock(&lock->mutex) == 0;
}

void lock_release(struct lock *lock)
{
	if (nt)
		LeaveCriticalSection(lock_section(lock));
	else
		pthread_mutex_unlock(&lock->mutex);
}

bool place_init(struct place *place)
{
	pthread_condattr_t monotonic;

	if (nt) {
		place->event = CreateEvent(NULL, TRUE, FALSE, NULL);
		return place->event != NULL;
	}
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&place->cond, &monotonic);
	return true;
}

void place_destroy(struct place *place)
{
	if (nt)
		CloseHandle(place->event);
	else
		pthread_cond_destroy(&place->cond);
}

int64_t sync_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool place_wait_nt(struct place *place, struct lock *lock, int64_t end)
{
	int64_t left = end == NEVER ? 0 : end - sync_now();
	bool woken;

	if (left < 0)
		left = 0;
	ResetEvent(place->event);
	LeaveCriticalSection(lock_section(lock));
	woken = WaitForSingleObject(place->event, end == NEVER || left / MS_NS >= INFINITE - 1
							  ? INFINITE
							  : (DWORD)((left + MS_NS - 1) / MS_NS)) ==
		WAIT_OBJECT_0;
	EnterCriticalSection(lock_section(lock));
	return woken;
}

bool place_wait(struct place *place, struct lock *lock, int64_t end)
{
	struct timespec until = {end / 1000000000, end % 1000000000};

	if (nt)
		return place_wait_nt(place, lock, end);
	if (end == NEVER)
		return pthread_cond_wait(&place->cond, &lock->mutex) == 0;
	return pthread_cond_timedwait(&place->cond, &lock->mutex, &until) != ETIMEDOUT;
}

void place_wake(struct place *place)
{
	if (nt)
		SetEvent(place->event);
	else
		pthread_cond_broadcast(&place->cond);
}
