/*
 * win.h - declarations for all files of win/: Win32's threads and objects (winthread.h), a layer
 * over the threads of this library and the kernel's objects with handles (weft/kobj.h).
 *
 * A HANDLE is the kernel's handle.  So each wait and each signal is one system call, and no state
 * is kept here.  A handle of a thread or a process also belongs to a struct win_object.  Its kernel
 * object is an event that is set when the LWP or the process ends (kobj_at_exit).  __win_handle
 * records which handle belongs to which object.
 *
 * __win_lock guards these records and the fields marked "lock" below.  It is a lock of the library
 * (core/ilock.h), because a thread may be suspended, and a handler may call Win32, at any time.  A
 * thread that holds the lock is in a critical section.  So it cannot be suspended, and no handler
 * interrupts it.  A thread that waits for the lock can be suspended.
 *
 * A holder makes system calls only by their names (__sys_), because the functions of the C library
 * may be cancellation points, or functions of the program.  It does not wait for another thread,
 * allocate memory, or set the last error.  The lock comes before the locks of threads' ids, which
 * thr_continue and pthread_kill acquire.
 */
#pragma once
#include <semaphore.h>
#include <winthread.h>
#include "../core/core.h"

struct win_object {
	uint32_t refs; /* atomic: handles, and the reference of the thread itself */
	enum { WIN_THREAD, WIN_PROCESS } kind;
};

struct win_times { /* nanoseconds; created and exited since boot; exited 0: not yet */
	uint64_t created, exited, user, kernel;
};

struct win_thread {
	struct win_object object;
	HANDLE event;              /* the thread's own handle to its object, until it ends */
	HANDLE closes;             /* handle from _beginthread, closed when the thread ends */
	DWORD code;                /* exit code; final once the event is set */
	uint32_t id;               /* pthread_t */
	uint32_t lwpid;            /* lock; 0: not begun, ended, or no LWP of its own */
	int priority;              /* lock: THREAD_PRIORITY_* */
	DWORD_PTR affinity;        /* lock; 0: as the process's */
	unsigned process_affinity; /* lock: masks_set when affinity was set */
	/* What the LWP inherits from its creator's LWP; Windows starts with defaults. */
	int inherited_priority;
	DWORD_PTR inherited_affinity;
	unsigned suspends; /* lock */
	bool waits_for_go; /* lock: suspended by itself: resume by `go`, not thr_continue */
	bool terminated;   /* lock: TerminateThread */
	sem_t go;
	struct win_times times;
	LPTHREAD_START_ROUTINE start;
	LPVOID parameter;
};

struct win_process {
	struct win_object object;
	int pid;
	bool reaped; /* lock: the process has ended; status and times are final */
	int status;
	bool terminated; /* lock: by TerminateProcess, with this code */
	DWORD code;
	struct win_times times;
};

/* --- handle.c ------------------------------------------------------------------------------ */

void __win_lock(void), __win_unlock(void), __win_forked(void);
/*
 * Calls make, with the lock held, unless it has been called for this object.
 *
 * *Race:* a thread is in make, and another thread suspends it, or forks, or sends it a signal whose handler calls Win32;
 * *without this:* the other threads, the child, or the handler wait for the end of make, as in pthread_once; *closed by:*
 * the lock.
 */
void __win_once(bool *done, void (*make)(void));
/* Sets the last error and returns FALSE. */
static inline BOOL __win_fails(DWORD error)
{
	SetLastError(error);
	return FALSE;
}
/* The Win32 error for the result of a system call, or for a negative error number. */
DWORD __win_error(long result);
/*
 * The kernel's number of a handle, pseudo handles included.  0 and the last error: no such handle.
 */
uint32_t __win_number(HANDLE h);
/*
 * Creates a manual-reset event without a name; keeps the last error.  NULL and the last error:
 * failed.
 */
HANDLE __win_event(void);
/*
 * Creates another handle of event, for object, which gets a reference.  NULL and the last error:
 * failed.
 */
HANDLE __win_handle(HANDLE event, struct win_object *object, bool inherit);
/* Return the thread or process of a handle, with a reference.  NULL and the last error: failed. */
struct win_thread *__win_thread(HANDLE h);
struct win_process *__win_process(HANDLE h);
/* Is h the caller's process?  FALSE: ERROR_INVALID_HANDLE; ERROR_NOT_SUPPORTED: another process. */
BOOL __win_own_process(HANDLE h);
void __win_put(struct win_object *o);

/* --- thread.c, process.c -------------------------------------------------------------------- */

#define CURRENT_PROCESS ((HANDLE)(LONG_PTR)-1)
#define CURRENT_THREAD ((HANDLE)(LONG_PTR)-2)

/*
 * The caller's thread, with a reference that lasts until the thread ends.  NULL and the last error:
 * no memory.
 */
struct win_thread *__win_self(void);
/* The caller's process, and its handle, whose event is never set. */
struct win_process *__win_this_process(HANDLE *event);
/* In a child of fork: the caller has a new object when it next needs it. */
void __win_thread_forked(void), __win_process_forked(void);
void __win_thread_free(struct win_thread *w);
void __win_process_free(struct win_process *p);

/* --- schedule.c -------------------------------------------------------------------------------- */

/* With the lock held: set the priority and the CPUs of w, which has an LWP. */
DWORD __win_apply_priority(struct win_thread *w);
DWORD __win_apply_affinity(struct win_thread *w);
/* With the lock held: the CPUs that w may use. */
DWORD_PTR __win_affinity(const struct win_thread *w);
/* The base level of a class of processes (weft/priocntl.h), or 0. */
int __win_class_level(DWORD priority_class);
/* The base level of a child for which no class is given.  0: the caller is not in the NT class. */
int __win_child_level(void);
/*
 * Lets a child use the CPUs of the caller's process, whatever the CPUs of the calling thread are.
 */
void __win_child_affinity(int pid);

/* --- time.c -------------------------------------------------------------------------------------- */

/*
 * Reads the times of LWP lwpid of process pid; lwpid 0: of the whole process.  False: there is
 * none.
 */
bool __win_read_times(int pid, uint32_t lwpid, struct win_times *t);
/* process.c; FALSE and the last error: no such handle. */
BOOL __win_process_times(HANDLE process, struct win_times *t);
