/*
 * thread.c - threads of Win32: bound threads of this library, each with a struct
 * win_thread, which other threads of the library get when they first need one.
 *
 * A thread's object is an event that the kernel sets when its LWP ends, after the mutexes
 * that it owned have been abandoned; so whoever sees the thread ended finds nothing of it
 * still going on.  A thread without an LWP of its own sets the event itself, last of all
 * that it does.
 *
 * Suspending counts, under __win_lock (win.h).  A thread that suspends itself waits for a
 * semaphore: between its decision and its stop somebody may resume it, and a permit waits
 * where thr_continue would be lost.
 */
#include <errno.h>
#include <limits.h>
#include <process.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <thread.h>
#include <time.h>
#include <weft/wait.h>
#include "../core/model.h"
#include "win.h"

#define TERMINATION WEFT_SIGRTMAX /* the signal that ends a thread */

static pthread_key_t thread_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* --- beginning and end ------------------------------------------------------------------- */

/* Nothing of the calling thread is to be seen any more, but that its event is not yet set. */
static void win_thread_ended(void *arg)
{
	struct win_thread *w = arg;
	HANDLE event = w->event;

	__win_lock();
	__win_read_times(0, w->lwpid, &w->times);
	w->times.exited = gethrtime();
	w->lwpid = 0;
	w->event = NULL;
	__win_unlock();
	if (w->closes != NULL)
		CloseHandle(w->closes);
	if (!thread_self()->bound)
		SetEvent(event);
	CloseHandle(event);
}

/* The destructor of the key: the calling thread exits. */
static void win_thread_exits(void *arg)
{
	struct win_thread *w = arg;

	win_thread_ended(w);
	__win_put(&w->object);
}

/*
 * TerminateThread has stopped the thread where it is, outside of the library's own critical
 * sections, and the kernel enters this before another instruction of it is executed.
 */
static void win_thread_terminated(int sig)
{
	struct win_thread *w = pthread_getspecific(thread_key);

	if (w != NULL && w->terminated)
		__thread_terminate(win_thread_ended, w);
}

static void win_thread_make_key(void)
{
	struct sigaction action = {.sa_handler = win_thread_terminated};
	int error = pthread_key_create(&thread_key, win_thread_exits);

	ASSERT(error == 0);
	sigaction(TERMINATION, &action, NULL);
}

/*
 * The calling thread is w from now on.  False: it has been terminated before that, by a signal
 * that found nothing to do; from now on `terminated` sees to it.
 */
static bool win_thread_began(struct win_thread *w)
{
	bool goes_on;
	int error;

	/* First, since once `terminated` knows w it may be the end. */
	if (thread_self()->bound)
		__sys_kobj_at_exit((uintptr_t)w->event, 0);
	error = pthread_setspecific(thread_key, w);
	ASSERT(error == 0); /* the key is one of the first, which need no memory */
	w->id = thread_self()->id;
	__win_lock();
	if (thread_self()->bound) {
		w->lwpid = thread_self()->lwp->id;
		if (w->priority != w->inherited_priority)
			__win_apply_priority(w);
		if (__win_affinity(w) != w->inherited_affinity)
			__win_apply_affinity(w);
	}
	goes_on = !w->terminated;
	__win_unlock();
	return goes_on;
}

/* With one reference, the thread's own. */
static struct win_thread *new_thread(void)
{
	struct win_thread *w = calloc(1, sizeof(*w));

	pthread_once(&once, win_thread_make_key);
	if (w == NULL) {
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	w->object.refs = 1;
	w->object.kind = WIN_THREAD;
	w->times.created = gethrtime();
	w->event = __win_event();
	if (w->event == NULL) {
		free(w);
		return NULL;
	}
	sem_init(&w->go, 0, 0);
	return w;
}

void __win_thread_free(struct win_thread *w)
{
	sem_destroy(&w->go);
	free(w);
}

struct win_thread *__win_self(void)
{
	struct win_thread *w;

	pthread_once(&once, win_thread_make_key);
	w = pthread_getspecific(thread_key);
	if (w == NULL) { /* the first thread, or one of pthread_create */
		w = new_thread();
		if (w != NULL) {
			__win_lock();
			w->inherited_affinity =
				__win_affinity(w); /* or what POSIX's calls have set */
			__win_unlock();
			win_thread_began(w);
		}
	}
	return w;
}

static void *win_thread_entry(void *arg)
{
	struct win_thread *w = arg;

	ExitThread(win_thread_began(w) ? w->start(w->parameter) : w->code);
}

/*
 * stack 0: the usual size; flags: CREATE_SUSPENDED.  The thread is bound, and begins at
 * THREAD_PRIORITY_NORMAL if its class is NT.  NULL: ERROR_INVALID_PARAMETER: unknown flags,
 * no function; ERROR_NOT_SUPPORTED: the model has no bound threads, and one that waited for
 * an object would stop them all; ERROR_NOT_ENOUGH_MEMORY: or no LWP; ERROR_NO_SYSTEM_RESOURCES:
 * handles.
 */
static struct win_thread *win_thread_create(LPSECURITY_ATTRIBUTES security, SIZE_T stack,
					    void *start, LPVOID parameter, DWORD flags,
					    HANDLE *handle)
{
	struct win_thread *w, *self = __win_self();
	thread_t id;
	int error;

	if (start == NULL || (flags & ~(CREATE_SUSPENDED | STACK_SIZE_PARAM_IS_A_RESERVATION))) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	if (__model->scope == SCOPE_ALL_UNBOUND) {
		SetLastError(ERROR_NOT_SUPPORTED);
		return NULL;
	}
	w = self != NULL ? new_thread() : NULL;
	if (w == NULL)
		return NULL;
	w->start = (LPTHREAD_START_ROUTINE)start;
	w->parameter = parameter;
	w->suspends = (flags & CREATE_SUSPENDED) != 0;
	__win_lock();
	w->inherited_priority = self->priority;
	w->inherited_affinity = __win_affinity(self);
	__win_unlock();
	*handle = __win_handle(w->event, &w->object, security != NULL && security->bInheritHandle);
	if (*handle != NULL) {
		stack = stack == 0 || stack >= PTHREAD_STACK_MIN ? stack : PTHREAD_STACK_MIN;
		/* It begins stopped: it shall not end before _beginthread has said what it closes. */
		error = thr_create(NULL, stack, win_thread_entry, w,
				   THR_BOUND | THR_DETACHED | THR_SUSPENDED, &id);
		if (error == 0) {
			w->id = id;
			return w;
		}
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		CloseHandle(*handle);
	}
	CloseHandle(w->event);
	__win_put(&w->object);
	return NULL;
}

static void set_going(struct win_thread *w, DWORD flags)
{
	if (!(flags & CREATE_SUSPENDED))
		thr_continue(w->id);
}

HANDLE CreateThread(LPSECURITY_ATTRIBUTES security, SIZE_T stack, LPTHREAD_START_ROUTINE start,
		    LPVOID parameter, DWORD flags, LPDWORD id)
{
	HANDLE h;
	struct win_thread *w = win_thread_create(security, stack, start, parameter, flags, &h);

	if (w == NULL)
		return NULL;
	if (id != NULL)
		*id = w->id;
	set_going(w, flags);
	return h;
}

static int errno_of(DWORD error)
{
	return error == ERROR_INVALID_PARAMETER ? EINVAL : EAGAIN;
}

uintptr_t _beginthreadex(void *security, unsigned stack, unsigned (*start)(void *), void *arg,
			 unsigned flags, unsigned *id)
{
	HANDLE h = CreateThread(security, stack, (LPTHREAD_START_ROUTINE)start, arg, flags, id);

	if (h == NULL)
		errno = errno_of(GetLastError());
	return (uintptr_t)h;
}

uintptr_t _beginthread(void (*start)(void *), unsigned stack, void *arg)
{
	HANDLE h;
	struct win_thread *w = win_thread_create(NULL, stack, start, arg, 0, &h);

	if (w == NULL) {
		errno = errno_of(GetLastError());
		return -1;
	}
	w->closes = h;
	set_going(w, 0);
	return (uintptr_t)h;
}

/*
 * The first thread too: the process goes on until all have ended (its exit code is 0 then).
 */
void ExitThread(DWORD code)
{
	struct win_thread *w = __win_self();

	if (w != NULL)
		w->code = code;
	pthread_exit(NULL);
}

void _endthreadex(unsigned code)
{
	ExitThread(code);
}

void _endthread(void)
{
	ExitThread(0);
}

/* STILL_ACTIVE until it has ended.  ERROR_INVALID_HANDLE. */
BOOL GetExitCodeThread(HANDLE thread, LPDWORD code)
{
	struct win_thread *w = __win_thread(thread);

	if (w == NULL)
		return FALSE;
	*code = thread != CURRENT_THREAD && kobj_wait_one((uintptr_t)thread, 0) == 0 ? w->code
										     : STILL_ACTIVE;
	__win_put(&w->object);
	return TRUE;
}

/* --- suspension and termination ------------------------------------------------------------ */

/*
 * Returns how often it was suspended before; -1: ERROR_INVALID_HANDLE; ERROR_ACCESS_DENIED:
 * it has ended; ERROR_SIGNAL_REFUSED: MAXIMUM_SUSPEND_COUNT times already;
 * ERROR_NOT_ENOUGH_MEMORY.  Suspended, a thread may hold any lock of the program, malloc's
 * and stdio's too.  Of the caller itself: blocks.
 */
DWORD SuspendThread(HANDLE thread)
{
	struct win_thread *w = __win_thread(thread);
	bool self = w != NULL && w == __win_self();
	DWORD before;
	int error = 0;

	if (w == NULL)
		return -1;
	__win_lock();
	before = w->suspends;
	if (before == MAXIMUM_SUSPEND_COUNT)
		error = ERROR_SIGNAL_REFUSED;
	else if (!self && w->event == NULL)
		error = ERROR_ACCESS_DENIED;
	else if (!self && before == 0)
		error = thr_suspend(w->id);
	if (error == ESRCH)
		error = ERROR_ACCESS_DENIED;
	else if (error == ENOMEM)
		error = ERROR_NOT_ENOUGH_MEMORY;
	if (error == 0) {
		w->suspends++;
		w->waits_for_go |= self;
	}
	__win_unlock();
	if (error == 0 && self)
		while (sem_wait(&w->go) != 0)
			;
	__win_put(&w->object);
	if (error == 0)
		return before;
	SetLastError(error);
	return -1;
}

/* With the lock held: w goes on. */
static void win_thread_resume(struct win_thread *w)
{
	w->suspends = 0;
	if (w->waits_for_go)
		sem_post(&w->go);
	else
		thr_continue(w->id);
	w->waits_for_go = false;
}

/* Returns how often it was suspended before: 0 or 1: it runs now.  -1: ERROR_INVALID_HANDLE. */
DWORD ResumeThread(HANDLE thread)
{
	struct win_thread *w = __win_thread(thread);
	DWORD before;

	if (w == NULL)
		return -1;
	__win_lock();
	before = w->suspends;
	if (before > 1)
		w->suspends--;
	else if (before == 1)
		win_thread_resume(w);
	__win_unlock();
	__win_put(&w->object);
	return before;
}

/*
 * Ends a thread where it is: its stack and its thread-specific data are forgotten, and what it
 * held of user-space locks stays held, critical sections and malloc's too; mutexes are
 * abandoned.  It is not over when this returns: wait for the thread.  One that has blocked
 * signal WEFT_SIGRTMAX goes on until it no longer does.  ERROR_INVALID_HANDLE;
 * ERROR_ACCESS_DENIED: it has ended.
 */
BOOL TerminateThread(HANDLE thread, DWORD code)
{
	struct win_thread *w = __win_thread(thread);
	int error = 0;

	if (w == NULL)
		return FALSE;
	if (w == __win_self())
		ExitThread(code);
	__win_lock();
	if (w->event == NULL)
		error = ESRCH;
	else if (w->suspends == 0 || w->waits_for_go)
		error = thr_suspend(w->id);
	if (error == 0) {
		w->code = code;
		w->terminated = true;
		error = pthread_kill(w->id, TERMINATION);
		w->waits_for_go = false;
		win_thread_resume(w);
	}
	__win_unlock();
	__win_put(&w->object);
	return error == 0 ? TRUE : __win_fails(ERROR_ACCESS_DENIED);
}

/* --- the caller ------------------------------------------------------------------------------ */

HANDLE GetCurrentThread(void)
{
	return CURRENT_THREAD;
}

DWORD GetCurrentThreadId(void)
{
	return thread_self()->id;
}

/* 0: gives the rest of its slice to another thread of its priority. */
void Sleep(DWORD milliseconds)
{
	if (milliseconds == 0)
		sched_yield();
	do {
		struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000l};

		while (milliseconds != 0 && nanosleep(&t, &t) != 0)
			;
	} while (milliseconds == INFINITE);
}

/* Nothing calls back: always 0. */
DWORD SleepEx(DWORD milliseconds, BOOL alertable)
{
	Sleep(milliseconds);
	return 0;
}

/* Windows tells whether another thread was there; the kernel does not say: TRUE. */
BOOL SwitchToThread(void)
{
	sched_yield();
	return TRUE;
}

/* --- thread-local storage ----------------------------------------------------------------------- */

/* TLS_OUT_OF_INDEXES: PTHREAD_KEYS_MAX are in use (ERROR_NOT_ENOUGH_MEMORY). */
DWORD TlsAlloc(void)
{
	pthread_key_t key;

	pthread_once(&once, win_thread_make_key); /* keep the first ones for this library */
	SetLastError(GetLastError()); /* so that it has its value before the keys run out */
	if (pthread_key_create(&key, NULL) == 0)
		return key;
	SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	return TLS_OUT_OF_INDEXES;
}

/* ERROR_INVALID_PARAMETER: no such index. */
BOOL TlsFree(DWORD index)
{
	return pthread_key_delete(index) == 0 ? TRUE : __win_fails(ERROR_INVALID_PARAMETER);
}

/* NULL at first.  Clears the last error, since NULL may be a value; an index that was not
 * allocated is not noticed, as in Windows, but for one that can be none. */
LPVOID TlsGetValue(DWORD index)
{
	SetLastError(index < PTHREAD_KEYS_MAX ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER);
	return pthread_getspecific(index);
}

/* ERROR_INVALID_PARAMETER: no such index; ERROR_NOT_ENOUGH_MEMORY. */
BOOL TlsSetValue(DWORD index, LPVOID value)
{
	int error = pthread_setspecific(index, value);

	return error == 0 ? TRUE : __win_fails(__win_error(-error));
}
