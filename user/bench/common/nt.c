/*
 * nt.c - the column of Windows NT: its threads under its scheduling class, its critical sections,
 * mutexes, events and semaphores (column.h).
 */
#include <windows.h>
#include "bench.h"
#include "column.h"

_Static_assert(sizeof(CRITICAL_SECTION) <= sizeof(((struct lock *)0)->object), "");

static void check(BOOL done, const char *call)
{
	if (!done)
		fail("%s: error %u", call, (unsigned)GetLastError());
}

/* The first call of this kind puts the process into the NT class. */
static void start(unsigned concurrency)
{
	check(SetPriorityClass(GetCurrentProcess(), NORMAL_PRIORITY_CLASS), "SetPriorityClass");
}

static DWORD WINAPI begin(LPVOID arg)
{
	struct task *task = arg;

	task->run(task);
	return 0;
}

static bool create(struct task *task, bool suspended)
{
	DWORD id;
	HANDLE thread = CreateThread(NULL, 0, begin, task, suspended ? CREATE_SUSPENDED : 0, &id);

	task->thread = (uintptr_t)thread;
	return thread != NULL;
}

static void join(struct task *task)
{
	HANDLE thread = (HANDLE)task->thread;

	check(WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0, "WaitForSingleObject");
	check(CloseHandle(thread), "CloseHandle");
}

static void lock_init(struct lock *lock, enum lock_kind kind)
{
	lock->kind = kind;
	if (kind == LOCK_LOCAL) {
		InitializeCriticalSection((LPCRITICAL_SECTION)lock->object);
	} else {
		lock->object[0] = (uintptr_t)CreateMutex(NULL, FALSE, NULL);
		check(lock->object[0] != 0, "CreateMutex");
	}
}

static void acquire(struct lock *lock)
{
	if (lock->kind == LOCK_LOCAL)
		EnterCriticalSection((LPCRITICAL_SECTION)lock->object);
	else
		check(WaitForSingleObject((HANDLE)lock->object[0], INFINITE) == WAIT_OBJECT_0,
		      "WaitForSingleObject");
}

static void release(struct lock *lock)
{
	if (lock->kind == LOCK_LOCAL)
		LeaveCriticalSection((LPCRITICAL_SECTION)lock->object);
	else
		check(ReleaseMutex((HANDLE)lock->object[0]), "ReleaseMutex");
}

static void place_init(struct place *place)
{
	place->object[0] = (uintptr_t)CreateEvent(NULL, FALSE, FALSE, NULL);
	check(place->object[0] != 0, "CreateEvent");
}

/* An event that is set while no thread waits stays set: no wakeup is lost between the two calls. */
static void wait_at(struct place *place, struct lock *lock)
{
	release(lock);
	check(WaitForSingleObject((HANDLE)place->object[0], INFINITE) == WAIT_OBJECT_0,
	      "WaitForSingleObject");
	acquire(lock);
}

static void wake(struct place *place)
{
	check(SetEvent((HANDLE)place->object[0]), "SetEvent");
}

static void semaphore_init(struct semaphore *semaphore, unsigned count)
{
	semaphore->object[0] = (uintptr_t)CreateSemaphore(NULL, (LONG)count, INT32_MAX, NULL);
	check(semaphore->object[0] != 0, "CreateSemaphore");
}

static void down(struct semaphore *semaphore)
{
	check(WaitForSingleObject((HANDLE)semaphore->object[0], INFINITE) == WAIT_OBJECT_0,
	      "WaitForSingleObject");
}

static void up(struct semaphore *semaphore)
{
	check(ReleaseSemaphore((HANDLE)semaphore->object[0], 1, NULL), "ReleaseSemaphore");
}

static void idle(int64_t ns)
{
	Sleep((DWORD)((ns + 999999) / 1000000));
}

const struct column column_nt = {
	.name = "nt",
	.start = start,
	.create = create,
	.join = join,
	.lock_init = lock_init,
	.lock = acquire,
	.unlock = release,
	.place_init = place_init,
	.wait = wait_at,
	.wake = wake,
	.semaphore_init = semaphore_init,
	.down = down,
	.up = up,
	.idle = idle,
};
