/*
 * thread.c - threads of Win32: bound threads of this library, each with a struct win_thread.  Other
 * threads of the library get a struct win_thread when they first need it.
 *
 * A thread's object is an event that the kernel sets when the thread's LWP ends.  The kernel first
 * abandons the mutexes that the thread owned.  So when another thread sees the end, no action of
 * the thread still goes on.  A thread without an LWP of its own sets the event itself, as its last
 * action.
 *
 * Suspensions are counted under __win_lock (win.h), in which a thread is also stopped or let go on.
 * *Race:* a thread decides to suspend itself, and another thread resumes it before it stops;
 * *without this:* thr_continue comes too early and is lost, and the thread sleeps for ever;
 * *closed by:* a semaphore, for which a thread that suspends itself waits.  The semaphore keeps the
 * unit.
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
static bool key_made;

/* --- beginning and end ------------------------------------------------------------------- */

/* The calling thread's last actions, except that its event is not set yet if it is bound. */
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
 * The handler of TERMINATION.  TerminateThread has stopped the thread outside the library's
 * critical sections.  The kernel enters this handler before the thread executes another
 * instruction.
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
 * Binds w to the calling thread.  False: the thread was terminated before this call, by a signal;
 * its handler found no w.  From now on win_thread_terminated finds w.
 */
static bool win_thread_began(struct win_thread *w)
{
	bool goes_on;
	int error;

	/* First, because the thread may end as soon as win_thread_terminated can find w. */
	if (thread_self()->bound)
		__sys_kobj_at_exit((uintptr_t)w->event, 0);
	error = pthread_setspecific(thread_key, w);
	ASSERT(error == 0); /* the key is one of the first keys, which need no memory */
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

/* Creates a struct win_thread with one reference, for the thread itself. */
static struct win_thread *new_thread(void)
{
	struct win_thread *w = calloc(1, sizeof(*w));

	__win_once(&key_made, win_thread_make_key);
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

void __win_thread_forked(void)
{
	if (key_made)
		pthread_setspecific(thread_key, NULL);
}

struct win_thread *__win_self(void)
{
	struct win_thread *w;

	__win_once(&key_made, win_thread_make_key);
	w = pthread_getspecific(thread_key);
	if (w == NULL) { /* the first thread, or a thread of pthread_create */
		w = new_thread();
		if (w != NULL) {
			__win_lock();
			w->inherited_affinity =
				__win_affinity(w); /* or the CPUs set by POSIX calls */
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
 * stack 0: the usual size.  flags: CREATE_SUSPENDED.  The thread is bound, and begins at
 * THREAD_PRIORITY_NORMAL if its class is NT.  NULL: ERROR_INVALID_PARAMETER: unknown flags, or no
 * function.  ERROR_NOT_SUPPORTED: the model has no bound threads, and a thread that waited for an
 * object would stop them all.  ERROR_NOT_ENOUGH_MEMORY: no memory, or no LWP.
 * ERROR_NO_SYSTEM_RESOURCES: handles.
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
		/*
		 * *Race:* the new thread ends, and _beginthread then sets w->closes; *without
		 * this:* the handle is never closed; *closed by:* THR_SUSPENDED.  The thread begins
		 * after its creator has set w->closes.
		 */
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
 * Ends the calling thread.  If this is the first thread, the process goes on until all threads have
 * ended (its exit code is 0 then).
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

/* *code is STILL_ACTIVE until the thread has ended.  ERROR_INVALID_HANDLE. */
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

static int thread_stop_once(struct thread *t, void *arg)
{
	int error = __ops->suspend(t);

	return error == EAGAIN ? EBUSY : error; /* after EAGAIN __thread_with would try again */
}

/*
 * With the lock held: thr_suspend of a thread that is not the caller, except that it does not wait.
 * EBUSY: the thread cannot be stopped now.
 *
 * *Race:* the thread is in a critical section, and waits for the lock there, because it forks;
 * *without this:* the caller waits for the end of the section, and both wait for ever; *closed by:*
 * EBUSY, after which the caller releases the lock for a moment.
 */
static int win_thread_stop(const struct win_thread *w)
{
	int error = __thread_with(w->id, thread_stop_once, NULL);

	if (error == 0 && __ops->signals_again != NULL)
		__ops->signals_again();
	if (error == 0 && __ops->set_concurrency(0) != 0) {
		thr_continue(w->id);
		error = ENOMEM;
	}
	return error;
}

/*
 * A thread cannot be stopped now.  The caller holds the lock; this releases it for a moment.
 *
 * *Race:* the thread owns the lock of a message queue, and has yielded in a handler; another thread suspends it; *without
 * this:* the caller waits for the thread, and keeps the only LWP of n1; *closed by:* __let_others_run.
 */
static void win_lock_backoff(unsigned *turns)
{
	__win_unlock();
	__let_others_run(turns);
	__win_lock();
}

/* With the lock held.  0, or an error of SuspendThread; ERROR_BUSY: w cannot be stopped now. */
static DWORD win_thread_suspend(struct win_thread *w, bool self)
{
	int error = 0;

	if (w->suspends == MAXIMUM_SUSPEND_COUNT)
		return ERROR_SIGNAL_REFUSED;
	if (!self && w->event == NULL)
		return ERROR_ACCESS_DENIED;
	if (!self && w->suspends == 0)
		error = win_thread_stop(w);
	if (error != 0)
		return error == ESRCH ? ERROR_ACCESS_DENIED : __win_error(-error);
	w->suspends++;
	w->waits_for_go |= self;
	return 0;
}

/*
 * Returns the suspension count before the call.  A suspended thread may own any lock of the
 * program, also locks of malloc and stdio.  Blocks if the thread is the caller.  -1:
 * ERROR_INVALID_HANDLE; ERROR_ACCESS_DENIED: it has ended; ERROR_SIGNAL_REFUSED: it is suspended
 * MAXIMUM_SUSPEND_COUNT times already; ERROR_NOT_ENOUGH_MEMORY.
 */
DWORD SuspendThread(HANDLE thread)
{
	struct win_thread *w = __win_thread(thread);
	bool self = w != NULL && w == __win_self();
	unsigned turns = 0;
	DWORD before, error;

	if (w == NULL)
		return -1;
	__win_lock();
	while ((error = win_thread_suspend(w, self)) == ERROR_BUSY)
		win_lock_backoff(&turns);
	before = w->suspends - 1;
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

/* With the lock held: lets w go on. */
static void win_thread_resume(struct win_thread *w)
{
	w->suspends = 0;
	if (w->waits_for_go)
		sem_post(&w->go);
	else
		thr_continue(w->id);
	w->waits_for_go = false;
}

/*
 * Returns the suspension count before the call; 0 or 1: the thread runs now.  -1:
 * ERROR_INVALID_HANDLE.
 */
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

/* With the lock held.  0, or an error number; EBUSY: w cannot be stopped now. */
static int win_thread_terminate(struct win_thread *w, DWORD code)
{
	int error = 0;

	if (w->event == NULL)
		return ESRCH;
	if (w->suspends == 0 || w->waits_for_go)
		error = win_thread_stop(w);
	if (error != 0)
		return error;
	w->code = code;
	w->terminated = true;
	error = pthread_kill(w->id, TERMINATION);
	w->waits_for_go = false;
	win_thread_resume(w);
	return error;
}

/*
 * Ends a thread where it is.  Its stack is not unwound, and its thread-specific data are dropped
 * without destructors.  Locks in user memory stay held, also critical sections and malloc's locks.
 * If the thread has been woken for such a lock, and has not acquired it yet, the wake-up ends with the thread.
 * Mutexes of Win32 are abandoned.  The end may come after this call returns: wait for the thread.  A thread
 * that blocks signal WEFT_SIGRTMAX goes on until it unblocks the signal.  ERROR_INVALID_HANDLE.
 * ERROR_ACCESS_DENIED: it has ended.
 */
BOOL TerminateThread(HANDLE thread, DWORD code)
{
	struct win_thread *w = __win_thread(thread);
	unsigned turns = 0;
	int error;

	if (w == NULL)
		return FALSE;
	if (w == __win_self())
		ExitThread(code);
	__win_lock();
	while ((error = win_thread_terminate(w, code)) == EBUSY)
		win_lock_backoff(&turns);
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

/* 0: yields the rest of the time slice to another thread of the same priority. */
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

/* Always 0, because there are no asynchronous procedure calls. */
DWORD SleepEx(DWORD milliseconds, BOOL alertable)
{
	Sleep(milliseconds);
	return 0;
}

/*
 * Windows returns whether it has switched to another thread.  The kernel does not report that, so
 * the result is always TRUE.
 */
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

	__win_once(&key_made, win_thread_make_key); /* the library's keys come first */
	SetLastError(GetLastError()); /* the error key needs its value before the keys run out */
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

/*
 * The value is NULL at first.  Clears the last error, because NULL may be a value.  As in Windows,
 * the function does not notice an index that was not allocated, unless the index is out of range.
 */
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
