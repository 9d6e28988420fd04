/*
 * win.h - what the files of win/ share: Win32's threads and objects (winthread.h), a layer
 * over the threads of this library and the kernel's objects with handles (weft/kobj.h).
 *
 * A HANDLE is the kernel's handle, so whatever waits or signals is one system call and has
 * no books here.  To a handle of a thread or a process belongs a struct win_object; its
 * kernel object is an event that the end of the LWP or of the process sets
 * (kobj_at_exit).  __win_handle says which handle has which.
 *
 * __win_lock guards those books, and the fields marked "lock" below.  It is a lock of the
 * plainest kind, held for a few hundred instructions; it has no queue and no preemption
 * control, so that a thread which waits for it can be suspended, while one that holds it
 * cannot, since whoever suspends holds it himself.
 */
#pragma once
#include <semaphore.h>
#include <winthread.h>
#include "../core/core.h"

struct win_object {
	uint32_t refs; /* atomic: handles, and a thread's own */
	enum { WIN_THREAD, WIN_PROCESS } kind;
};

struct win_times { /* nanoseconds; created and exited since boot, exited 0: not yet */
	uint64_t created, exited, user, kernel;
};

struct win_thread {
	struct win_object object;
	HANDLE event;       /* the thread's own handle to its object, until it ends */
	HANDLE closes;      /* of _beginthread: closed at its end */
	DWORD code;         /* exit code; final once the event is set */
	uint32_t id;        /* pthread_t */
	uint32_t lwpid;     /* lock; 0: it has not begun, has ended, or has no LWP of its own */
	int priority;       /* lock: THREAD_PRIORITY_* */
	DWORD_PTR affinity; /* lock; 0: as the process */
	unsigned process_affinity; /* lock: how often the process's was set before that */
	/* What its LWP has from its creator's, where Windows starts afresh. */
	int inherited_priority;
	DWORD_PTR inherited_affinity;
	unsigned suspends; /* lock */
	bool waits_for_go; /* lock: it has suspended itself: `go` and not thr_continue */
	bool terminated;   /* lock: TerminateThread */
	sem_t go;
	struct win_times times;
	LPTHREAD_START_ROUTINE start;
	LPVOID parameter;
};

struct win_process {
	struct win_object object;
	int pid;
	bool reaped; /* lock: the process is gone, status and times are its last */
	int status;
	bool terminated; /* lock: by TerminateProcess, with this code */
	DWORD code;
	struct win_times times;
};

/* --- handle.c ------------------------------------------------------------------------------ */

void __win_lock(void), __win_unlock(void);
/* Says why, and gives FALSE. */
static inline BOOL __win_fails(DWORD error)
{
	SetLastError(error);
	return FALSE;
}
/* The Win32 error for the result of a system call, or for minus an error number. */
DWORD __win_error(long result);
/* The kernel's number of a handle, pseudo handles included; 0, and the last error: none. */
uint32_t __win_number(HANDLE h);
/* A manual-reset event without a name, and the last error as it was; or NULL and the last error. */
HANDLE __win_event(void);
/* A further handle to event, for object, which gets a reference; NULL and the last error. */
HANDLE __win_handle(HANDLE event, struct win_object *object, bool inherit);
/* The thread or process of a handle, with a reference, or NULL and the last error. */
struct win_thread *__win_thread(HANDLE h);
struct win_process *__win_process(HANDLE h);
/* Is it the caller's?  FALSE: ERROR_INVALID_HANDLE; ERROR_NOT_SUPPORTED: another one. */
BOOL __win_own_process(HANDLE h);
void __win_put(struct win_object *o);

/* --- thread.c, process.c -------------------------------------------------------------------- */

#define CURRENT_PROCESS ((HANDLE)(LONG_PTR)-1)
#define CURRENT_THREAD ((HANDLE)(LONG_PTR)-2)

/* The caller's; NULL and the last error: no memory.  A reference that lasts until its end. */
struct win_thread *__win_self(void);
/* The caller's process, and its handle, which is never set. */
struct win_process *__win_this_process(HANDLE *event);
void __win_thread_free(struct win_thread *w);
void __win_process_free(struct win_process *p);

/* --- schedule.c -------------------------------------------------------------------------------- */

/* With the lock held: gives w, which has an LWP, its priority and its CPUs. */
DWORD __win_apply_priority(struct win_thread *w);
DWORD __win_apply_affinity(struct win_thread *w);
/* With the lock: the CPUs that w may use. */
DWORD_PTR __win_affinity(const struct win_thread *w);
/* The base level of a class of processes (weft/priocntl.h), or 0. */
int __win_class_level(DWORD priority_class);
/* That of a child for which no class is given; 0: the caller is not of the NT class. */
int __win_child_level(void);
/* A child may use the CPUs of the caller's process, whatever those of its thread are. */
void __win_child_affinity(int pid);

/* --- time.c -------------------------------------------------------------------------------------- */

/* Of LWP lwpid of process pid, 0: of all of it.  False: there is none. */
bool __win_read_times(int pid, uint32_t lwpid, struct win_times *t);
/* process.c; FALSE and the last error: no such handle. */
BOOL __win_process_times(HANDLE process, struct win_times *t);
