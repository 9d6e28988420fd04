/*
 * win_objects.c - Win32's objects (winthread.h): mutexes, events, semaphores, waiting, critical
 * sections, handles, errors, interlocked operations.
 *
 *	win_objects [ROUNDS]
 */
#include "wintest.h"
#include <process.h>

static long rounds = 500;

/* --- one thread ------------------------------------------------------------------------------- */

static void events(void)
{
	HANDLE automatic = CreateEvent(NULL, FALSE, TRUE, NULL),
	       manual = CreateEvent(NULL, TRUE, FALSE, NULL);

	is("auto: set at first", WaitForSingleObject(automatic, 0), WAIT_OBJECT_0);
	is("auto: reset by that", WaitForSingleObject(automatic, 0), WAIT_TIMEOUT);
	is("SetEvent", SetEvent(automatic), TRUE);
	is("ResetEvent", ResetEvent(automatic), TRUE);
	is("auto: reset", WaitForSingleObject(automatic, 0), WAIT_TIMEOUT);
	is("PulseEvent", PulseEvent(automatic), TRUE);
	is("auto: a pulse leaves nothing", WaitForSingleObject(automatic, 0), WAIT_TIMEOUT);
	is("manual: not set", WaitForSingleObject(manual, 0), WAIT_TIMEOUT);
	SetEvent(manual);
	is("manual: set", WaitForSingleObject(manual, 0), WAIT_OBJECT_0);
	is("manual: still", WaitForSingleObjectEx(manual, 0, TRUE), WAIT_OBJECT_0);

	DWORD before = GetTickCount();
	is("time-out", WaitForSingleObject(automatic, 20), WAIT_TIMEOUT);
	ok("... not too early", GetTickCount() - before >= 19);
	FAILS("SetEvent of none", SetEvent(NONE), ERROR_INVALID_HANDLE);
	FAILS("SetEvent of NULL", SetEvent(NULL), ERROR_INVALID_HANDLE);
	FAILS("ResetEvent of none", ResetEvent(NONE), ERROR_INVALID_HANDLE);
	FAILS("PulseEvent of none", PulseEvent(NONE), ERROR_INVALID_HANDLE);
	FAILS("ReleaseMutex of an event", ReleaseMutex(manual), ERROR_INVALID_HANDLE);
	is("CloseHandle", CloseHandle(automatic), TRUE);
	FAILS("CloseHandle again", CloseHandle(automatic), ERROR_INVALID_HANDLE);
	FAILS("CloseHandle of no handle", CloseHandle((HANDLE)7), ERROR_INVALID_HANDLE);
	FAILS("wait for a closed one", WaitForSingleObject(automatic, 0) != WAIT_FAILED,
	      ERROR_INVALID_HANDLE);
	CloseHandle(manual);
}

static void mutexes_and_semaphores(void)
{
	HANDLE m = CreateMutex(NULL, TRUE, NULL), s = CreateSemaphore(NULL, 1, 3, NULL);
	LONG before = -1;

	is("mutex: again by its owner", WaitForSingleObject(m, 0), WAIT_OBJECT_0);
	is("ReleaseMutex", ReleaseMutex(m), TRUE);
	is("ReleaseMutex, for the last time", ReleaseMutex(m), TRUE);
	FAILS("ReleaseMutex of a free one", ReleaseMutex(m), ERROR_NOT_OWNER);
	FAILS("ReleaseMutex of none", ReleaseMutex(NONE), ERROR_INVALID_HANDLE);
	CloseHandle(m);

	is("semaphore: one", WaitForSingleObject(s, 0), WAIT_OBJECT_0);
	is("semaphore: no more", WaitForSingleObject(s, 0), WAIT_TIMEOUT);
	is("ReleaseSemaphore", ReleaseSemaphore(s, 2, &before), TRUE);
	is("... the count before", before, 0);
	FAILS("ReleaseSemaphore: too many", ReleaseSemaphore(s, 2, NULL), ERROR_TOO_MANY_POSTS);
	FAILS("ReleaseSemaphore: none", ReleaseSemaphore(s, 0, NULL), ERROR_INVALID_PARAMETER);
	FAILS("ReleaseSemaphore of none", ReleaseSemaphore(NONE, 1, NULL), ERROR_INVALID_HANDLE);
	is("... nothing has changed", ReleaseSemaphore(s, 1, &before) && before == 2, TRUE);
	CloseHandle(s);
	FAILS("CreateSemaphore: no maximum", CreateSemaphore(NULL, 0, 0, NULL),
	      ERROR_INVALID_PARAMETER);
	FAILS("CreateSemaphore: more than the maximum", CreateSemaphore(NULL, 2, 1, NULL),
	      ERROR_INVALID_PARAMETER);
	FAILS("CreateSemaphore: negative", CreateSemaphore(NULL, -1, 1, NULL),
	      ERROR_INVALID_PARAMETER);
}

static void names(void)
{
	SECURITY_ATTRIBUTES inherit = {sizeof(inherit), NULL, TRUE};
	char longest[261];
	HANDLE a, b;

	FAILS("OpenMutex: no such name", OpenMutex(SYNCHRONIZE, FALSE, "m"), ERROR_FILE_NOT_FOUND);
	FAILS("OpenMutex: no name", OpenMutex(SYNCHRONIZE, FALSE, NULL), ERROR_INVALID_PARAMETER);
	FAILS("OpenEvent: no such name", OpenEvent(SYNCHRONIZE, FALSE, "e"), ERROR_FILE_NOT_FOUND);
	FAILS("OpenSemaphore: no such name", OpenSemaphore(SYNCHRONIZE, FALSE, "s"),
	      ERROR_FILE_NOT_FOUND);
	SetLastError(1);
	a = CreateMutex(&inherit, TRUE, "m");
	is("a new name", GetLastError(), ERROR_SUCCESS);
	b = CreateMutex(NULL, FALSE, "m");
	is("one that there is", GetLastError(), ERROR_ALREADY_EXISTS);
	ok("... by another handle", b != NULL && b != a);
	is("... the same mutex", ReleaseMutex(b), TRUE);
	CloseHandle(b);
	b = OpenMutex(MUTEX_ALL_ACCESS, FALSE, "m");
	ok("OpenMutex", b != NULL);
	FAILS("of another kind", CreateEvent(NULL, TRUE, FALSE, "m"), ERROR_INVALID_HANDLE);
	CloseHandle(a);
	CloseHandle(b);
	FAILS("gone with its handles", OpenMutex(SYNCHRONIZE, FALSE, "m"), ERROR_FILE_NOT_FOUND);

	a = CreateEvent(NULL, TRUE, TRUE, "e");
	b = OpenEvent(EVENT_ALL_ACCESS, FALSE, "e");
	is("OpenEvent", WaitForSingleObject(b, 0), WAIT_OBJECT_0);
	CloseHandle(a);
	CloseHandle(b);
	a = CreateSemaphore(NULL, 1, 1, "s");
	b = OpenSemaphore(SEMAPHORE_ALL_ACCESS, FALSE, "s");
	is("OpenSemaphore", WaitForSingleObject(b, 0), WAIT_OBJECT_0);
	CloseHandle(a);
	CloseHandle(b);
	memset(longest, 'x', sizeof(longest));
	longest[260] = '\0';
	FAILS("a name that is too long", CreateMutex(NULL, FALSE, longest),
	      ERROR_FILENAME_EXCED_RANGE);
	longest[259] = '\0';
	a = CreateMutex(NULL, FALSE, longest);
	ok("the longest name", a != NULL);
	SetLastError(1);
	b = CreateMutex(NULL, TRUE, longest);
	is("CreateMutex, owned, of one that there is", GetLastError(), ERROR_ALREADY_EXISTS);
	FAILS("... does not own it", ReleaseMutex(b), ERROR_NOT_OWNER);
	CloseHandle(a);
	CloseHandle(b);
}

static void several(void)
{
	HANDLE h[MAXIMUM_WAIT_OBJECTS + 1];

	for (int i = 0; i <= MAXIMUM_WAIT_OBJECTS; i++)
		h[i] = CreateEvent(NULL, FALSE, FALSE, NULL);
	is("any: none", WaitForMultipleObjects(64, h, FALSE, 0), WAIT_TIMEOUT);
	SetEvent(h[63]);
	SetEvent(h[7]);
	is("any: the lowest", WaitForMultipleObjects(64, h, FALSE, 0), WAIT_OBJECT_0 + 7);
	is("any: the other", WaitForMultipleObjects(64, h, FALSE, INFINITE), WAIT_OBJECT_0 + 63);
	SetEvent(h[0]);
	is("all: not yet", WaitForMultipleObjects(2, h, TRUE, 0), WAIT_TIMEOUT);
	SetEvent(h[1]);
	is("all", WaitForMultipleObjectsEx(2, h, TRUE, 0, FALSE), WAIT_OBJECT_0);
	is("... and they are reset", WaitForMultipleObjects(2, h, FALSE, 0), WAIT_TIMEOUT);
	FAILS("too many", WaitForMultipleObjects(65, h, FALSE, 0) != WAIT_FAILED,
	      ERROR_INVALID_PARAMETER);
	FAILS("none", WaitForMultipleObjects(0, h, FALSE, 0) != WAIT_FAILED,
	      ERROR_INVALID_PARAMETER);
	h[1] = h[0];
	FAILS("one twice", WaitForMultipleObjects(2, h, TRUE, 0) != WAIT_FAILED,
	      ERROR_INVALID_PARAMETER);
	h[1] = NONE;
	FAILS("a bad handle", WaitForMultipleObjects(2, h, FALSE, 0) != WAIT_FAILED,
	      ERROR_INVALID_HANDLE);
	for (int i = 0; i <= MAXIMUM_WAIT_OBJECTS; i++)
		CloseHandle(h[i]);
}

static HANDLE awaited;
static volatile long went;

static DWORD WINAPI wait_for_awaited(LPVOID arg)
{
	DWORD how = WaitForSingleObject(awaited, INFINITE);

	InterlockedIncrement(&went);
	return how;
}

/* Until n of them have gone on; whether it is so many, and no more, a while later. */
static BOOL only(long n)
{
	while (went < n)
		Sleep(0);
	Sleep(5);
	return went == n;
}

static void waiters(void)
{
	HANDLE h[3];

	for (int manual = 0; manual < 2; manual++) {
		awaited = CreateEvent(NULL, manual, FALSE, NULL);
		h[0] = create(wait_for_awaited, NULL, 0);
		while (WaitForSingleObject(h[0], 1) == WAIT_TIMEOUT)
			PulseEvent(awaited);
		is(manual ? "manual: a pulse lets a waiter go" : "auto: a pulse lets a waiter go",
		   join(h[0]), WAIT_OBJECT_0);
		is("... and the event is not set", WaitForSingleObject(awaited, 0), WAIT_TIMEOUT);
		CloseHandle(awaited);
	}
	went = 0;
	awaited = CreateSemaphore(NULL, 0, 3, NULL);
	for (int i = 0; i < 3; i++)
		h[i] = create(wait_for_awaited, NULL, 0);
	ReleaseSemaphore(awaited, 2, NULL);
	is("two units for three", only(2), TRUE);
	is("... are taken", WaitForSingleObject(awaited, 0), WAIT_TIMEOUT);
	ReleaseSemaphore(awaited, 1, NULL);
	for (int i = 0; i < 3; i++)
		is("a unit for each", join(h[i]), WAIT_OBJECT_0);
	CloseHandle(awaited);
	went = 0;
	awaited = CreateEvent(NULL, FALSE, FALSE, NULL);
	for (int i = 0; i < 2; i++)
		h[i] = create(wait_for_awaited, NULL, 0);
	SetEvent(awaited);
	is("auto: one goes on, the other does not", only(1), TRUE);
	SetEvent(awaited);
	for (int i = 0; i < 2; i++)
		is("auto: until it is set again", join(h[i]), WAIT_OBJECT_0);
	CloseHandle(awaited);
	awaited = CreateEvent(NULL, TRUE, FALSE, NULL);
	for (int i = 0; i < 3; i++)
		h[i] = create(wait_for_awaited, NULL, 0);
	SetEvent(awaited);
	for (int i = 0; i < 3; i++)
		is("manual: all go on", join(h[i]), WAIT_OBJECT_0);
	CloseHandle(awaited);
}

static void duplicates(void)
{
	HANDLE self = GetCurrentProcess(), e = CreateEvent(NULL, TRUE, FALSE, NULL), d = NULL;

	is("DuplicateHandle", DuplicateHandle(self, e, self, &d, 0, FALSE, DUPLICATE_SAME_ACCESS),
	   TRUE);
	SetEvent(d);
	is("... the same event", WaitForSingleObject(e, 0), WAIT_OBJECT_0);
	CloseHandle(d);
	is("DuplicateHandle, and close",
	   DuplicateHandle(self, e, self, &d, 0, FALSE,
			   DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE),
	   TRUE);
	is("... the copy lives", WaitForSingleObject(d, 0), WAIT_OBJECT_0);
	FAILS("... the source does not", SetEvent(e), ERROR_INVALID_HANDLE);
	FAILS("DuplicateHandle of none", DuplicateHandle(self, e, self, &d, 0, FALSE, 0),
	      ERROR_INVALID_HANDLE);
	FAILS("DuplicateHandle, not a process", DuplicateHandle(d, d, self, &e, 0, FALSE, 0),
	      ERROR_INVALID_HANDLE);
	CloseHandle(d);
	is("of the thread itself", DuplicateHandle(self, GetCurrentThread(), self, &d, 0, FALSE, 0),
	   TRUE);
	is("... which has not ended", WaitForSingleObject(d, 0), WAIT_TIMEOUT);
	CloseHandle(d);
	is("of the process itself", DuplicateHandle(self, self, self, &d, 0, FALSE, 0), TRUE);
	is("... nor this", WaitForSingleObject(d, 0), WAIT_TIMEOUT);
	is("... which is one to it", DuplicateHandle(d, d, d, &e, 0, FALSE, 0), TRUE);
	CloseHandle(d);
	CloseHandle(e);
}

/* --- several threads ---------------------------------------------------------------------------- */

static HANDLE mutex, ready;

static DWORD WINAPI leave_it(LPVOID arg)
{
	WaitForSingleObject(mutex, INFINITE);
	SetEvent(ready);
	return 1;
}

static DWORD WINAPI not_mine(LPVOID arg)
{
	return ReleaseMutex(mutex) ? 0 : GetLastError();
}

static void abandoned(void)
{
	HANDLE h, both[2];

	mutex = CreateMutex(NULL, TRUE, NULL);
	ready = CreateEvent(NULL, FALSE, FALSE, NULL);
	is("ReleaseMutex by another", join(create(not_mine, NULL, 0)), ERROR_NOT_OWNER);
	ReleaseMutex(mutex);
	h = create(leave_it, NULL, 0);
	WaitForSingleObject(ready, INFINITE);
	is("a thread that ends with a mutex", join(h), 1);
	is("... has abandoned it by then", WaitForSingleObject(mutex, 0), WAIT_ABANDONED);
	is("... which is told once", WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);
	ReleaseMutex(mutex);
	ReleaseMutex(mutex);
	join(create(leave_it, NULL, 0));
	both[0] = ready;
	both[1] = mutex;
	is("abandoned, among several", WaitForMultipleObjects(2, both, TRUE, 0), WAIT_ABANDONED_0);
	ReleaseMutex(mutex);
	CloseHandle(mutex);
	CloseHandle(ready);
}

static CRITICAL_SECTION section;
static volatile long inside, count, clashes;

static DWORD WINAPI enter_often(LPVOID arg)
{
	for (long i = 0; i < rounds; i++) {
		if (i % 7 == 3 && TryEnterCriticalSection(&section))
			LeaveCriticalSection(&section);
		EnterCriticalSection(&section);
		if (i % 5 == 0)
			EnterCriticalSection(&section);
		if (inside++ != 0)
			clashes++;
		count++;
		if (i % 16 == 0)
			Sleep(0);
		inside--;
		if (i % 5 == 0)
			LeaveCriticalSection(&section);
		LeaveCriticalSection(&section);
	}
	return 0;
}

static DWORD WINAPI try_it(LPVOID arg)
{
	if (!TryEnterCriticalSection(&section))
		return 0;
	LeaveCriticalSection(&section);
	return 1;
}

static DWORD WINAPI wait_for_it(LPVOID arg)
{
	EnterCriticalSection(&section);
	LeaveCriticalSection(&section);
	return 0;
}

static void critical_sections(DWORD spins)
{
	HANDLE h[8];

	is("InitializeCriticalSectionAndSpinCount",
	   InitializeCriticalSectionAndSpinCount(&section, spins), TRUE);
	is("free: LockCount", section.LockCount, -1);
	EnterCriticalSection(&section);
	EnterCriticalSection(&section);
	is("entered twice: LockCount", section.LockCount, 1);
	is("... RecursionCount", section.RecursionCount, 2);
	is("... OwningThread", section.OwningThread, GetCurrentThreadId());
	is("... TryEnter by the owner", TryEnterCriticalSection(&section), TRUE);
	is("... TryEnter by another", join(create(try_it, NULL, 0)), 0);
	LeaveCriticalSection(&section);
	LeaveCriticalSection(&section);
	ok("no contention, no kernel object", section.LockSemaphore == NULL);
	h[0] = create(wait_for_it, NULL, 0);
	while (section.LockCount == 0 || section.LockSemaphore == NULL)
		Sleep(0);
	is("one waits: LockCount", section.LockCount, 1);
	is("... RecursionCount", section.RecursionCount, 1);
	LeaveCriticalSection(&section);
	join(h[0]);
	is("left: LockCount", section.LockCount, -1);
	ok("... OwningThread", section.OwningThread == NULL);
	is("TryEnter by another", join(create(try_it, NULL, 0)), 1);

	count = clashes = 0;
	for (int i = 0; i < 8; i++)
		h[i] = create(enter_often, NULL, 0);
	is("8 threads", WaitForMultipleObjects(8, h, TRUE, INFINITE), WAIT_OBJECT_0);
	is("... were never inside together", clashes, 0);
	is("... and each as often as it meant to", count, 8 * rounds);
	is("... LockCount", section.LockCount, -1);
	for (int i = 0; i < 8; i++)
		CloseHandle(h[i]);
	DeleteCriticalSection(&section);
}

static void spin_counts(void)
{
	SYSTEM_INFO info;

	GetSystemInfo(&info);
	InitializeCriticalSection(&section);
	is("SetCriticalSectionSpinCount", SetCriticalSectionSpinCount(&section, 100), 0);
	is("... none on one CPU", section.SpinCount, info.dwNumberOfProcessors > 1 ? 100 : 0);
	DeleteCriticalSection(&section);
}

/* A ring of events: each thread waits for its own and sets the next one. */
static HANDLE ring[4];

static DWORD WINAPI pass_on(LPVOID arg)
{
	int i = (int)(intptr_t)arg;

	for (long n = 0; n < rounds; n++) {
		WaitForSingleObject(ring[i], INFINITE);
		SetEvent(ring[(i + 1) % 4]);
	}
	return i;
}

static void rings(void)
{
	HANDLE h[4];

	for (int i = 0; i < 4; i++)
		ring[i] = CreateEvent(NULL, FALSE, FALSE, NULL);
	for (int i = 0; i < 4; i++)
		h[i] = create(pass_on, (LPVOID)(intptr_t)i, 0);
	SetEvent(ring[0]);
	for (int i = 0; i < 4; i++)
		is("ring", join(h[i]), i);
	is("the last one set the first event", WaitForSingleObject(ring[0], 0), WAIT_OBJECT_0);
	for (int i = 0; i < 4; i++)
		CloseHandle(ring[i]);
}

/* --- interlocked operations ----------------------------------------------------------------------- */

static LONG narrow;
static long wide; /* what a program of Windows calls a long has 32 bits there */

static DWORD WINAPI add(LPVOID arg)
{
	for (long i = 0; i < rounds; i++) {
		InterlockedIncrement(&narrow);
		InterlockedExchangeAdd(&wide, 2);
		InterlockedDecrement(&wide);
	}
	return 0;
}

static void interlocked(void)
{
	int a, b;
	PVOID p = &a;
	HANDLE h[3];

	narrow = 5;
	is("InterlockedIncrement", InterlockedIncrement(&narrow), 6);
	is("InterlockedDecrement", InterlockedDecrement(&narrow), 5);
	is("InterlockedExchange", InterlockedExchange(&narrow, 9), 5);
	is("InterlockedExchangeAdd", InterlockedExchangeAdd(&narrow, -2), 9);
	is("InterlockedCompareExchange", InterlockedCompareExchange(&narrow, 1, 7), 7);
	is("... which differs", InterlockedCompareExchange(&narrow, 2, 7), 1);
	ok("InterlockedExchangePointer", InterlockedExchangePointer(&p, &b) == &a && p == &b);
	ok("InterlockedCompareExchangePointer",
	   InterlockedCompareExchangePointer(&p, &a, &b) == &b && p == &a);
	narrow = wide = 0;
	for (int i = 0; i < 3; i++)
		h[i] = create(add, NULL, 0);
	for (int i = 0; i < 3; i++)
		join(h[i]);
	is("from several threads", narrow, 3 * rounds);
	is("... of a long", wide, 3 * rounds);
}

static DWORD WINAPI own_error(LPVOID arg)
{
	DWORD at_first = GetLastError();

	SetLastError(77);
	return at_first;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atol(argv[1]);
	events();
	mutexes_and_semaphores();
	names();
	several();
	waiters();
	duplicates();
	abandoned();
	critical_sections(0);
	critical_sections(1000);
	spin_counts();
	rings();
	interlocked();
	HANDLE h = create(own_error, NULL, 0);
	SetLastError(55);
	WaitForSingleObject(h, INFINITE);
	is("the last error is each thread's own", GetLastError(), 55);
	is("... and 0 at first", join(h), 0);
	return tap_done();
}
