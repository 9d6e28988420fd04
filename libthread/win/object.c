/*
 * object.c - mutexes, events, semaphores, and waiting: the kernel's objects with handles.
 *
 * The kernel identifies the owner of a mutex by its LWP.  So a thread without an LWP of its own
 * (unbound, in a model with unbound threads) must not own a mutex across any call that may change
 * its LWP.  The threads of CreateThread are bound.
 */
#include <errno.h>
#include <weft/kobj.h>
#include <weft/wait.h>
#include "win.h"

/*
 * Last error on success: ERROR_ALREADY_EXISTS if an object of this name existed, otherwise 0.
 * ERROR_INVALID_HANDLE: the name belongs to another kind of object.  ERROR_FILENAME_EXCED_RANGE.
 * ERROR_NOT_ENOUGH_MEMORY.  ERROR_NO_SYSTEM_RESOURCES: too many handles.
 */
static HANDLE object_create(struct kobj_create *c, LPSECURITY_ATTRIBUTES security, LPCSTR name)
{
	long r;

	if (security != NULL && security->bInheritHandle)
		c->flags |= KOBJ_INHERIT;
	c->name = name != NULL && *name != '\0' ? (uintptr_t)name : 0;
	r = __sys_kobj_create(c);
	if (r < 0) { /* the arguments are valid: EINVAL can only mean the name's kind */
		SetLastError(r == -EINVAL ? ERROR_INVALID_HANDLE : __win_error(r));
		return NULL;
	}
	SetLastError(c->existed ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS);
	return (HANDLE)r;
}

/* ERROR_FILE_NOT_FOUND.  ERROR_INVALID_PARAMETER: no name.  Otherwise as object_create. */
static HANDLE open_named(uint32_t kind, BOOL inherit, LPCSTR name)
{
	struct kobj_create c = {.kind = kind, .flags = KOBJ_OPEN | (inherit ? KOBJ_INHERIT : 0)};

	if (name == NULL || *name == '\0') {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	return object_create(&c, NULL, name);
}

HANDLE CreateMutex(LPSECURITY_ATTRIBUTES security, BOOL owned, LPCSTR name)
{
	struct kobj_create c = {.kind = KOBJ_MUTEX, .initial = owned != FALSE};

	return object_create(&c, security, name);
}

HANDLE CreateEvent(LPSECURITY_ATTRIBUTES security, BOOL manual_reset, BOOL set, LPCSTR name)
{
	struct kobj_create c = {.kind = KOBJ_EVENT,
				.flags = manual_reset ? KOBJ_MANUAL_RESET : 0,
				.initial = set != FALSE};

	return object_create(&c, security, name);
}

/* ERROR_INVALID_PARAMETER: not 0 <= count <= maximum, or maximum less than 1. */
HANDLE CreateSemaphore(LPSECURITY_ATTRIBUTES security, LONG count, LONG maximum, LPCSTR name)
{
	struct kobj_create c = {.kind = KOBJ_SEMAPHORE, .initial = count, .max = maximum};

	if (maximum < 1 || count < 0 || count > maximum) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	return object_create(&c, security, name);
}

HANDLE OpenMutex(DWORD access, BOOL inherit, LPCSTR name)
{
	return open_named(KOBJ_MUTEX, inherit, name);
}

HANDLE OpenEvent(DWORD access, BOOL inherit, LPCSTR name)
{
	return open_named(KOBJ_EVENT, inherit, name);
}

HANDLE OpenSemaphore(DWORD access, BOOL inherit, LPCSTR name)
{
	return open_named(KOBJ_SEMAPHORE, inherit, name);
}

/*
 * The result of a call on one kind of object.  ERROR_INVALID_HANDLE: the handle is not of that
 * kind.
 */
static BOOL object_result(long r)
{
	if (r >= 0)
		return TRUE;
	return __win_fails(r == -EINVAL ? ERROR_INVALID_HANDLE : __win_error(r));
}

/* Makes a call that needs only the object, and returns its result. */
static BOOL object_call(HANDLE object, long (*call)(uint32_t handle))
{
	uint32_t h = __win_number(object);

	return h != 0 && object_result(call(h));
}

/* ERROR_NOT_OWNER: the caller does not own it. */
BOOL ReleaseMutex(HANDLE mutex)
{
	return object_call(mutex, __sys_kobj_mutex_release);
}

BOOL SetEvent(HANDLE event)
{
	return object_call(event, __sys_kobj_event_set);
}

BOOL ResetEvent(HANDLE event)
{
	return object_call(event, __sys_kobj_event_reset);
}

/* Wakes the current waiters, all of them or one.  The event is not set afterwards. */
BOOL PulseEvent(HANDLE event)
{
	return object_call(event, __sys_kobj_event_pulse);
}

/*
 * *before gets the count as it was before the call.  ERROR_TOO_MANY_POSTS: the count would exceed
 * its maximum.  ERROR_INVALID_PARAMETER: n is less than 1.  On an error nothing has changed.
 */
BOOL ReleaseSemaphore(HANDLE semaphore, LONG n, LPLONG before)
{
	uint32_t h = __win_number(semaphore);
	long r;

	if (h == 0)
		return FALSE;
	if (n < 1)
		return __win_fails(ERROR_INVALID_PARAMETER);
	r = __sys_kobj_sema_release(h, n);
	if (r >= 0 && before != NULL)
		*before = r;
	return object_result(r);
}

/* --- waiting ----------------------------------------------------------------------------------- */

/*
 * Waits until one of the objects is available, or until all are available at one time.  A signal
 * handler does not end the wait.  Results:
 *
 *	WAIT_OBJECT_0 + index: of the acquired object (the lowest index; 0 for all).
 *	WAIT_ABANDONED_0 + index: the same; the owner of an acquired mutex ended as its owner.
 *	WAIT_TIMEOUT: the milliseconds are over (INFINITE: no limit; 0: does not wait).
 *	WAIT_FAILED: ERROR_INVALID_HANDLE; ERROR_INVALID_PARAMETER: n is 0 or more than
 *		MAXIMUM_WAIT_OBJECTS, or an object is there twice; ERROR_NOT_ENOUGH_MEMORY.
 */
DWORD WaitForMultipleObjects(DWORD n, const HANDLE *objects, BOOL all, DWORD milliseconds)
{
	uint32_t handles[KOBJ_WAIT_MAX];
	struct weft_timespec at = {0};
	long r;

	if (n == 0 || n > MAXIMUM_WAIT_OBJECTS) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return WAIT_FAILED;
	}
	for (DWORD i = 0; i < n; i++) {
		handles[i] = __win_number(objects[i]);
		if (handles[i] == 0)
			return WAIT_FAILED;
	}
	if (milliseconds != 0 && milliseconds != INFINITE) {
		int64_t ns = gethrtime() + milliseconds * 1000000ll;

		at.sec = ns / 1000000000;
		at.nsec = ns % 1000000000;
	}
	do
		r = __sys_kobj_wait(handles, n, all ? KOBJ_WAIT_ALL : 0,
				    milliseconds == INFINITE ? NULL : &at);
	while (r == -EINTR);
	if (r >= 0)
		return r;
	if (r == -ETIMEDOUT)
		return WAIT_TIMEOUT;
	SetLastError(__win_error(r));
	return WAIT_FAILED;
}

_Static_assert(KOBJ_WAIT_MAX == MAXIMUM_WAIT_OBJECTS && KOBJ_ABANDONED == WAIT_ABANDONED_0,
	       "results of kobj_wait are those of Win32");

DWORD WaitForSingleObject(HANDLE object, DWORD milliseconds)
{
	return WaitForMultipleObjects(1, &object, FALSE, milliseconds);
}

/* No asynchronous procedure calls exist here, so an alertable wait is like any other. */
DWORD WaitForSingleObjectEx(HANDLE object, DWORD milliseconds, BOOL alertable)
{
	return WaitForMultipleObjects(1, &object, FALSE, milliseconds);
}

DWORD WaitForMultipleObjectsEx(DWORD n, const HANDLE *objects, BOOL all, DWORD milliseconds,
			       BOOL alertable)
{
	return WaitForMultipleObjects(n, objects, all, milliseconds);
}
