/*
 * handle.c - handles, the objects behind the handles of threads and processes, and errors.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <weft/kobj.h>
#include "win.h"

static struct ilock lock;

/* Indexed by the handle's slot (4, 8, 12 ...); lock. */
static struct win_object *object_of[KOBJ_HANDLES_MAX];
static unsigned objects_end; /* lock: from here on there was never an object */

/*
 * *Race:* a thread holds the lock; another thread suspends it, sends it a signal whose handler wants the lock, or has a
 * higher priority and wants the lock; *without this:* the calls of Win32 stand still until the holder goes on, and in the
 * last two cases it never goes on; *closed by:* the critical section of the lock.
 */
void __win_lock(void)
{
	ilock_lock(&lock);
}

void __win_unlock(void)
{
	ilock_unlock(&lock);
}

/*
 * In a child of fork: the threads and processes behind the handles are the parent's.  A handle that
 * the child has inherited is the handle of an event.  The memory of the objects is not freed.
 */
void __win_forked(void)
{
	lock.held = 0;
	memset(object_of, 0, objects_end * sizeof(*object_of));
	__win_thread_forked();
	__win_process_forked();
}

void __win_once(bool *done, void (*make)(void))
{
	if (__atomic_load_n(done, __ATOMIC_ACQUIRE))
		return;
	__win_lock();
	if (!*done)
		make();
	__atomic_store_n(done, true, __ATOMIC_RELEASE);
	__win_unlock();
}

/* --- errors ------------------------------------------------------------------------------- */

static pthread_key_t error_key;
static bool error_key_made;

static void make_error_key(void)
{
	int error = pthread_key_create(&error_key, NULL);

	ASSERT(error == 0);
}

/* The value of the key is the error itself. */
void SetLastError(DWORD error)
{
	__win_once(&error_key_made, make_error_key);
	pthread_setspecific(error_key, (void *)(uintptr_t)error);
}

DWORD GetLastError(void)
{
	__win_once(&error_key_made, make_error_key);
	return (uintptr_t)pthread_getspecific(error_key);
}

DWORD __win_error(long result)
{
	switch (-result) {
	case EBADF:
		return ERROR_INVALID_HANDLE;
	case ENOMEM:
		return ERROR_NOT_ENOUGH_MEMORY;
	case EMFILE:
	case EAGAIN:
		return ERROR_NO_SYSTEM_RESOURCES;
	case EPERM:
		return ERROR_NOT_OWNER;
	case EOVERFLOW:
		return ERROR_TOO_MANY_POSTS;
	case ENOENT:
		return ERROR_FILE_NOT_FOUND;
	case ENOTDIR:
		return ERROR_PATH_NOT_FOUND;
	case EACCES:
		return ERROR_ACCESS_DENIED;
	case ENOEXEC:
		return ERROR_BAD_EXE_FORMAT;
	case ENAMETOOLONG:
	case E2BIG:
		return ERROR_FILENAME_EXCED_RANGE;
	case EBUSY:
		return ERROR_BUSY;
	default:
		return ERROR_INVALID_PARAMETER;
	}
}

/* --- handles ------------------------------------------------------------------------------ */

uint32_t __win_number(HANDLE h)
{
	if (h == CURRENT_THREAD) {
		struct win_thread *w = __win_self();
		return w != NULL ? (uint32_t)(uintptr_t)w->event : 0;
	}
	if (h == CURRENT_PROCESS) {
		HANDLE event;
		return __win_this_process(&event) != NULL ? (uint32_t)(uintptr_t)event : 0;
	}
	if ((uintptr_t)h > UINT32_MAX || h == NULL) {
		SetLastError(ERROR_INVALID_HANDLE);
		return 0;
	}
	return (uintptr_t)h;
}

HANDLE __win_event(void)
{
	DWORD error = GetLastError();
	HANDLE event = CreateEvent(NULL, TRUE, FALSE, NULL);

	if (event != NULL)
		SetLastError(error);
	return event;
}

static struct win_object **handle_slot_of(HANDLE h)
{
	uintptr_t i = (uintptr_t)h / 4 - 1;

	return (uintptr_t)h % 4 == 0 && i < KOBJ_HANDLES_MAX ? &object_of[i] : NULL;
}

/* Creates another handle, of the object if there is one.  With the lock held. */
static long handle_duplicate(uintptr_t number, struct win_object *object, bool inherit)
{
	long r = __sys_kobj_dup(number, inherit ? KOBJ_INHERIT : 0);
	struct win_object **at;

	if (r >= 0 && object != NULL) {
		__atomic_add_fetch(&object->refs, 1, __ATOMIC_RELAXED);
		at = handle_slot_of((HANDLE)r);
		*at = object;
		if (at >= &object_of[objects_end])
			objects_end = at - object_of + 1;
	}
	return r;
}

HANDLE __win_handle(HANDLE event, struct win_object *object, bool inherit)
{
	long r;

	__win_lock();
	r = handle_duplicate((uintptr_t)event, object, inherit);
	__win_unlock();
	if (r >= 0)
		return (HANDLE)r;
	SetLastError(__win_error(r));
	return NULL;
}

void __win_put(struct win_object *o)
{
	if (__atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	if (o->kind == WIN_THREAD)
		__win_thread_free((struct win_thread *)o);
	else
		__win_process_free((struct win_process *)o);
}

/*
 * The object of a handle, with a reference.  NULL: no such handle, or the object is of another
 * kind.
 */
static struct win_object *handle_get_object(HANDLE h, int kind)
{
	struct win_object **at = handle_slot_of(h), *o = NULL;

	if (at != NULL) {
		__win_lock();
		o = *at;
		if (o != NULL && (int)o->kind == kind)
			__atomic_add_fetch(&o->refs, 1, __ATOMIC_RELAXED);
		else
			o = NULL;
		__win_unlock();
	}
	if (o == NULL)
		SetLastError(ERROR_INVALID_HANDLE);
	return o;
}

struct win_thread *__win_thread(HANDLE h)
{
	if (h == CURRENT_THREAD) {
		struct win_thread *w = __win_self();

		if (w != NULL)
			__atomic_add_fetch(&w->object.refs, 1, __ATOMIC_RELAXED);
		return w;
	}
	return (struct win_thread *)handle_get_object(h, WIN_THREAD);
}

struct win_process *__win_process(HANDLE h)
{
	if (h == CURRENT_PROCESS) {
		struct win_process *p = __win_this_process(NULL);

		if (p != NULL)
			__atomic_add_fetch(&p->object.refs, 1, __ATOMIC_RELAXED);
		return p;
	}
	return (struct win_process *)handle_get_object(h, WIN_PROCESS);
}

BOOL __win_own_process(HANDLE h)
{
	struct win_process *p = __win_process(h);
	bool own = p != NULL && p == __win_this_process(NULL);

	if (p == NULL)
		return FALSE;
	__win_put(&p->object);
	return own ? TRUE : __win_fails(ERROR_NOT_SUPPORTED);
}

/* ERROR_INVALID_HANDLE.  Closing a pseudo handle does nothing. */
BOOL CloseHandle(HANDLE h)
{
	struct win_object **at = handle_slot_of(h), *o = NULL;
	long r;

	if (h == CURRENT_THREAD || h == CURRENT_PROCESS)
		return TRUE;
	if (at == NULL)
		return __win_fails(ERROR_INVALID_HANDLE);
	__win_lock(); /* no other thread sees a half-closed handle, or gets its number too early */
	o = *at;
	*at = NULL;
	r = __sys_kobj_close((uintptr_t)h);
	__win_unlock();
	if (o != NULL)
		__win_put(o);
	return r == 0 ? TRUE : __win_fails(__win_error(r));
}

/*
 * Duplicates a handle within the caller's process.  Both process handles must be of this process,
 * real handles or the pseudo handle.  A pseudo handle of a thread or process gives a real handle.
 * Access rights are ignored.  ERROR_NOT_SUPPORTED: for another process.  ERROR_INVALID_HANDLE.
 */
BOOL DuplicateHandle(HANDLE from_process, HANDLE h, HANDLE to_process, LPHANDLE copy, DWORD access,
		     BOOL inherit, DWORD options)
{
	HANDLE processes[2] = {from_process, to_process};
	struct win_object *own = NULL, **at = handle_slot_of(h);
	uint32_t number;
	long r;

	for (int i = 0; i < 2; i++)
		if (!__win_own_process(processes[i]))
			return FALSE;
	number = __win_number(h);
	if (number == 0)
		return FALSE;
	if (h == CURRENT_THREAD)
		own = &__win_thread(h)->object;
	else if (h == CURRENT_PROCESS)
		own = &__win_process(h)->object;
	__win_lock(); /* another thread may close h */
	r = handle_duplicate(number, own != NULL || at == NULL ? own : *at, inherit);
	__win_unlock();
	if (own != NULL)
		__win_put(own);
	if (r < 0)
		return __win_fails(__win_error(r));
	if (options & DUPLICATE_CLOSE_SOURCE)
		CloseHandle(h);
	if (copy != NULL)
		*copy = (HANDLE)r;
	else
		CloseHandle((HANDLE)r);
	return TRUE;
}
