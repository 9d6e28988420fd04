/*
 * win_threads.c - threads of Win32 (winthread.h): creation and end, suspension, termination,
 * priorities, CPUs, thread-local storage, times.
 *
 *	win_threads [ROUNDS]
 */
#include "wintest.h"
#include <errno.h>
#include <process.h>
#include <pthread.h>
#include <sys/priocntl.h>
#include <sys/processor.h>
#include <sys/procset.h>

static long rounds = 100;

/* --- life ------------------------------------------------------------------------------------- */

static DWORD WINAPI double_it(LPVOID arg)
{
	return 2 * (DWORD)(uintptr_t)arg;
}

static DWORD WINAPI exit_early(LPVOID arg)
{
	ExitThread(0xdeadbeef);
}

static DWORD WINAPI own_id(LPVOID arg)
{
	return GetCurrentThreadId();
}

static HANDLE gate;

static DWORD WINAPI wait_at_gate(LPVOID arg)
{
	WaitForSingleObject(gate, INFINITE);
	return 3;
}

static DWORD WINAPI set_gate(LPVOID arg)
{
	return SetEvent(gate);
}

static volatile int began;

static unsigned __stdcall begin_ex(void *arg)
{
	began = 1;
	_endthreadex((unsigned)(uintptr_t)arg + 1);
}

static void __cdecl begin(void *arg)
{
	began = 2;
	SetEvent(arg);
	_endthread();
}

static void life(void)
{
	DWORD id = 0, code;
	unsigned begin_id = 0;
	HANDLE h[3];

	is("the function's result", join(create(double_it, (LPVOID)21, 0)), 42);
	is("ExitThread", join(create(exit_early, NULL, 0)), 0xdeadbeef);
	h[0] = CreateThread(NULL, 1, own_id, NULL, 0, &id);
	is("id", join(h[0]), id);
	gate = CreateEvent(NULL, TRUE, FALSE, NULL);
	h[0] = create(wait_at_gate, NULL, 0);
	is("it goes on", GetExitCodeThread(h[0], &code) && code == STILL_ACTIVE, TRUE);
	is("... and is not signalled", WaitForSingleObject(h[0], 0), WAIT_TIMEOUT);
	h[1] = create(wait_at_gate, NULL, 0);
	h[2] = gate;
	is("any of threads and an event", WaitForMultipleObjects(3, h, FALSE, 0), WAIT_TIMEOUT);
	SetEvent(gate);
	is("all of them", WaitForMultipleObjects(3, h, TRUE, INFINITE), WAIT_OBJECT_0);
	is("its code", GetExitCodeThread(h[1], &code) && code == 3, TRUE);
	CloseHandle(h[0]);
	CloseHandle(h[1]);
	is("the caller", GetExitCodeThread(GetCurrentThread(), &code) && code == STILL_ACTIVE,
	   TRUE);
	ResetEvent(gate);
	h[0] = (HANDLE)_beginthreadex(NULL, 0, begin_ex, (void *)8, 0, &begin_id);
	ok("_beginthreadex", h[0] != NULL && begin_id != 0);
	is("_endthreadex", join(h[0]), 9);
	is("... began", began, 1);
	h[0] = (HANDLE)_beginthread(begin, 0, gate);
	ok("_beginthread", h[0] != INVALID_HANDLE_VALUE);
	is("... _endthread", WaitForSingleObject(gate, INFINITE), WAIT_OBJECT_0);
	is("... began", began, 2);
	while (WaitForSingleObject(h[0], 0) != WAIT_FAILED)
		Sleep(0);
	is("_beginthread: its handle is closed", GetLastError(), ERROR_INVALID_HANDLE);
	ResetEvent(gate);
	CloseHandle(create(set_gate, NULL, 0));
	is("without a handle it goes on", WaitForSingleObject(gate, INFINITE), WAIT_OBJECT_0);
	CloseHandle(gate);

	FAILS("no function", CreateThread(NULL, 0, NULL, NULL, 0, NULL), ERROR_INVALID_PARAMETER);
	FAILS("unknown flags", CreateThread(NULL, 0, own_id, NULL, 0x100, NULL),
	      ERROR_INVALID_PARAMETER);
	FAILS("a stack beyond all memory", CreateThread(NULL, (SIZE_T)1 << 60, own_id, NULL, 0, 0),
	      ERROR_NOT_ENOUGH_MEMORY);
	errno = 0;
	ok("_beginthreadex: EINVAL",
	   _beginthreadex(NULL, 0, NULL, NULL, 0, NULL) == 0 && errno == EINVAL);
	ok("_beginthread: EINVAL", _beginthread(NULL, 0, NULL) == (uintptr_t)-1);
	FAILS("GetExitCodeThread of none", GetExitCodeThread(NONE, &code), ERROR_INVALID_HANDLE);
	FAILS("... of an event", GetExitCodeThread(gate, &code), ERROR_INVALID_HANDLE);

	for (long i = 0; i < rounds; i++) {
		h[0] = create(double_it, (LPVOID)i, 0);
		h[1] = create(double_it, (LPVOID)i, 0);
		CloseHandle(h[1]); /* no thread waits for h[1] */
		if (join(h[0]) != 2 * (DWORD)i)
			bail("thread %ld", i);
	}
}

/* A thread of pthread_create is one of Win32's when it asks. */
static void *posix(void *arg)
{
	HANDLE self = GetCurrentProcess();

	DuplicateHandle(self, GetCurrentThread(), self, arg, 0, FALSE, 0);
	return NULL;
}

static void posix_threads(void)
{
	HANDLE h = NULL;
	pthread_t t;

	if (pthread_create(&t, NULL, posix, &h) != 0)
		bail("pthread_create");
	pthread_join(t, NULL);
	is("a POSIX thread's end", WaitForSingleObject(h, INFINITE), WAIT_OBJECT_0);
	CloseHandle(h);
}

/* --- suspension ------------------------------------------------------------------------------- */

static volatile long turns;
static volatile int stop, stage;

static DWORD WINAPI turn(LPVOID arg)
{
	while (!stop) {
		turns++;
		Sleep(0);
	}
	return 6;
}

static DWORD WINAPI stop_itself(LPVOID arg)
{
	stage = 1;
	DWORD before = SuspendThread(GetCurrentThread());
	stage = 2;
	return before;
}

static void suspension(void)
{
	HANDLE h = create(double_it, (LPVOID)4, CREATE_SUSPENDED);

	is("suspended at first", WaitForSingleObject(h, 5), WAIT_TIMEOUT);
	is("SuspendThread counts", SuspendThread(h), 1);
	is("ResumeThread counts", ResumeThread(h), 2);
	is("... still suspended", WaitForSingleObject(h, 5), WAIT_TIMEOUT);
	is("... and goes", ResumeThread(h), 1);
	is("... to its end", WaitForSingleObject(h, INFINITE), WAIT_OBJECT_0);
	is("ResumeThread of one that runs", ResumeThread(h), 0);
	FAILS("SuspendThread of one that has ended", SuspendThread(h) != (DWORD)-1,
	      ERROR_ACCESS_DENIED);
	CloseHandle(h);
	FAILS("SuspendThread of none", SuspendThread(NONE) != (DWORD)-1, ERROR_INVALID_HANDLE);
	FAILS("ResumeThread of none", ResumeThread(NONE) != (DWORD)-1, ERROR_INVALID_HANDLE);

	stop = 0;
	turns = 0;
	h = create(turn, NULL, 0);
	for (int i = 0; i < 10; i++) {
		while (turns == 0)
			Sleep(0);
		if (SuspendThread(h) != 0)
			bail("suspended already");
		long seen = turns;
		Sleep(2);
		if (turns != seen)
			bail("a suspended thread runs");
		turns = 0;
		ResumeThread(h);
	}
	for (int i = 0; i < MAXIMUM_SUSPEND_COUNT; i++)
		SuspendThread(h);
	FAILS("too often", SuspendThread(h) != (DWORD)-1, ERROR_SIGNAL_REFUSED);
	for (int i = 0; i < MAXIMUM_SUSPEND_COUNT; i++)
		ResumeThread(h);
	stop = 1;
	is("and it ends", join(h), 6);

	h = create(stop_itself, NULL, 0);
	while (stage != 1 || ResumeThread(h) == 0)
		Sleep(0);
	is("by itself", join(h), 0);
	is("... and resumed", stage, 2);
}

/* --- termination ------------------------------------------------------------------------------ */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static HANDLE kept;

static DWORD WINAPI compute(LPVOID arg)
{
	WaitForSingleObject(kept, INFINITE);
	while (turns >= 0)
		turns++;
	return 0;
}

static DWORD WINAPI wait_for_lock(LPVOID arg)
{
	turns = 1;
	pthread_mutex_lock(&held);
	return 0;
}

static DWORD WINAPI wait_for_ever(LPVOID arg)
{
	turns = 1;
	Sleep(INFINITE);
	return 0;
}

static DWORD WINAPI terminate_itself(LPVOID arg)
{
	TerminateThread(GetCurrentThread(), 12);
	return 0;
}

static void terminate(const char *name, LPTHREAD_START_ROUTINE f, DWORD flags)
{
	HANDLE h;

	turns = 0;
	h = create(f, NULL, flags);
	while (turns == 0 && flags == 0)
		Sleep(0);
	is(name, TerminateThread(h, 11), TRUE);
	is("... its code", join(h), 11);
}

static void termination(void)
{
	DWORD code;
	HANDLE h;

	kept = CreateMutex(NULL, FALSE, NULL);
	terminate("one that computes", compute, 0);
	is("... abandoned its mutex", WaitForSingleObject(kept, 0), WAIT_ABANDONED);
	pthread_mutex_lock(&held);
	terminate("one that waits for a lock", wait_for_lock, 0);
	terminate("another", wait_for_lock, 0);
	pthread_mutex_unlock(&held);
	is("... the lock is not theirs", pthread_mutex_trylock(&held), 0);
	pthread_mutex_unlock(&held);
	terminate("one that sleeps", wait_for_ever, 0);
	terminate("one that has not begun", wait_for_ever, CREATE_SUSPENDED);
	is("itself", join(create(terminate_itself, NULL, 0)), 12);
	h = create(double_it, (LPVOID)1, 0);
	WaitForSingleObject(h, INFINITE);
	FAILS("one that has ended", TerminateThread(h, 1), ERROR_ACCESS_DENIED);
	is("... keeps its code", GetExitCodeThread(h, &code) && code == 2, TRUE);
	CloseHandle(h);
	FAILS("TerminateThread of none", TerminateThread(NONE, 1), ERROR_INVALID_HANDLE);
	ReleaseMutex(kept);
	CloseHandle(kept);
}

/* --- scheduling ------------------------------------------------------------------------------- */

static DWORD WINAPI own_priority(LPVOID arg)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_NT};

	if (priocntl(P_LWPID, P_MYID, PC_GETPARMS, &p) < 0)
		return 1000;
	return p.nt.nt_class * 100 + p.nt.nt_relative;
}

/* Asks the kernel. */
static DWORD WINAPI own_cpus(LPVOID arg)
{
	int cpu = 0;

	return processor_bind(P_LWPID, P_MYID, PBIND_QUERY, &cpu) == 0 && cpu == PBIND_NONE;
}

static void scheduling(void)
{
	HANDLE h = create(own_priority, NULL, CREATE_SUSPENDED), self = GetCurrentProcess();
	DWORD_PTR mask = 0, all = 0;
	SYSTEM_INFO info;

	GetSystemInfo(&info);
	ok("GetSystemInfo",
	   info.dwNumberOfProcessors == (DWORD)__builtin_popcountll(info.dwActiveProcessorMask) &&
		   info.dwPageSize == 4096);
	is("normal at first", GetThreadPriority(h), THREAD_PRIORITY_NORMAL);
	is("SetThreadPriority", SetThreadPriority(h, THREAD_PRIORITY_HIGHEST), TRUE);
	is("GetThreadPriority", GetThreadPriority(h), THREAD_PRIORITY_HIGHEST);
	ResumeThread(h);
	is("the kernel knows", join(h), NT_NORMAL_CLASS * 100 + 2);
	is("SetThreadPriority of the caller",
	   SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_ABOVE_NORMAL), TRUE);
	is("... a new thread does not inherit it", join(create(own_priority, NULL, 0)),
	   NT_NORMAL_CLASS * 100);
	is("... and back", SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_NORMAL), TRUE);
	is("SetPriorityClass", SetPriorityClass(self, HIGH_PRIORITY_CLASS), TRUE);
	is("GetPriorityClass", GetPriorityClass(self), HIGH_PRIORITY_CLASS);
	is("... of its threads", join(create(own_priority, NULL, 0)), NT_HIGH_CLASS * 100);
	SetPriorityClass(self, NORMAL_PRIORITY_CLASS);
	FAILS("SetThreadPriority: no such priority", SetThreadPriority(GetCurrentThread(), 3),
	      ERROR_INVALID_PARAMETER);
	FAILS("SetThreadPriority of none", SetThreadPriority(NONE, 0), ERROR_INVALID_HANDLE);
	FAILS("GetThreadPriority of none", GetThreadPriority(NONE) != THREAD_PRIORITY_ERROR_RETURN,
	      ERROR_INVALID_HANDLE);
	FAILS("SetPriorityClass: no such class", SetPriorityClass(self, 1),
	      ERROR_INVALID_PARAMETER);
	FAILS("SetPriorityClass of none", SetPriorityClass(NONE, HIGH_PRIORITY_CLASS),
	      ERROR_INVALID_HANDLE);
	FAILS("GetPriorityClass of none", GetPriorityClass(NONE), ERROR_INVALID_HANDLE);

	is("GetProcessAffinityMask", GetProcessAffinityMask(self, &mask, &all), TRUE);
	is("... all CPUs", all, info.dwActiveProcessorMask);
	is("... and all may be used", mask, all);
	is("SetThreadAffinityMask", SetThreadAffinityMask(GetCurrentThread(), 1), all);
	is("... and back", SetThreadAffinityMask(GetCurrentThread(), all), 1);
	is("SetProcessAffinityMask", SetProcessAffinityMask(self, 1), TRUE);
	is("GetProcessAffinityMask sees it", GetProcessAffinityMask(self, &mask, &all) && mask == 1,
	   TRUE);
	is("... and back", SetProcessAffinityMask(self, all), TRUE);
	SetThreadAffinityMask(GetCurrentThread(), 1);
	SetProcessAffinityMask(self, all);
	is("SetProcessAffinityMask frees a thread", SetThreadAffinityMask(GetCurrentThread(), all),
	   all);
	SetThreadAffinityMask(GetCurrentThread(), 1);
	h = create(own_cpus, NULL, CREATE_SUSPENDED);
	SetThreadAffinityMask(GetCurrentThread(), all);
	is("a new thread has the process's CPUs, not its creator's", (ResumeThread(h), join(h)),
	   TRUE);
	FAILS("SetThreadAffinityMask: no CPU", SetThreadAffinityMask(GetCurrentThread(), 0),
	      ERROR_INVALID_PARAMETER);
	FAILS("... one that there is not",
	      SetThreadAffinityMask(GetCurrentThread(), (DWORD_PTR)1 << 63),
	      ERROR_INVALID_PARAMETER);
	FAILS("... of none", SetThreadAffinityMask(NONE, 1), ERROR_INVALID_HANDLE);
	FAILS("SetProcessAffinityMask: no CPU", SetProcessAffinityMask(self, 0),
	      ERROR_INVALID_PARAMETER);
	FAILS("SetProcessAffinityMask of none", SetProcessAffinityMask(NONE, 1),
	      ERROR_INVALID_HANDLE);
	FAILS("GetProcessAffinityMask of none", GetProcessAffinityMask(NONE, &mask, &all),
	      ERROR_INVALID_HANDLE);
	is("SwitchToThread", SwitchToThread(), TRUE);
}

/* What succeeds leaves the last error as it was; what makes objects with names does not. */
static void last_error(void)
{
	DWORD code, index;
	HANDLE h, event = CreateEvent(NULL, TRUE, TRUE, NULL);

	SetLastError(77);
	h = CreateThread(NULL, 0, double_it, NULL, 0, NULL);
	index = TlsAlloc();
	WaitForSingleObject(event, INFINITE);
	join(h);
	GetExitCodeThread(GetCurrentThread(), &code);
	GetPriorityClass(GetCurrentProcess());
	TlsFree(index);
	CloseHandle(event);
	is("success leaves the last error", GetLastError(), 77);
}

/* --- thread-local storage and times ----------------------------------------------------------- */

static DWORD tls;

static DWORD WINAPI use_tls(LPVOID arg)
{
	if (TlsGetValue(tls) != NULL || !TlsSetValue(tls, arg))
		return 0;
	Sleep(1);
	return TlsGetValue(tls) == arg;
}

static void local_storage(void)
{
	HANDLE h[4];
	DWORD many[2000];
	int n = 0;

	tls = TlsAlloc();
	ok("TlsAlloc", tls != TLS_OUT_OF_INDEXES);
	is("NULL at first", TlsGetValue(tls) == NULL && GetLastError() == ERROR_SUCCESS, TRUE);
	for (int i = 0; i < 4; i++)
		h[i] = create(use_tls, &h[i], 0);
	for (int i = 0; i < 4; i++)
		is("its own value", join(h[i]), 1);
	is("TlsFree", TlsFree(tls), TRUE);
	FAILS("TlsFree again", TlsFree(tls), ERROR_INVALID_PARAMETER);
	FAILS("TlsSetValue", TlsSetValue(tls, NULL), ERROR_INVALID_PARAMETER);
	FAILS("TlsGetValue", TlsGetValue(100000), ERROR_INVALID_PARAMETER);
	while (n < 2000 && (many[n] = TlsAlloc()) != TLS_OUT_OF_INDEXES)
		n++;
	ok("as many as Windows has", n >= TLS_MINIMUM_AVAILABLE && n < 2000);
	is("TlsAlloc: no more", GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	while (n-- > 0)
		TlsFree(many[n]);
}

static DWORD WINAPI burn(LPVOID arg)
{
	DWORD end = GetTickCount() + 20;

	while ((LONG)(GetTickCount() - end) < 0)
		turns++;
	return 0;
}

static void sleeps(void)
{
	LARGE_INTEGER a, b, second;
	DWORD ticks;

	QueryPerformanceFrequency(&second);
	QueryPerformanceCounter(&a);
	ticks = GetTickCount();
	Sleep(20);
	ticks = GetTickCount() - ticks;
	QueryPerformanceCounter(&b);
	ok("Sleep: not shorter", (b.QuadPart - a.QuadPart) * 1000 >= 20 * second.QuadPart);
	ok("GetTickCount: milliseconds", ticks >= 19);
	QueryPerformanceCounter(&a);
	is("SleepEx", SleepEx(5, TRUE), 0);
	QueryPerformanceCounter(&b);
	ok("SleepEx: not shorter", (b.QuadPart - a.QuadPart) * 1000 >= 5 * second.QuadPart);
}

static void times(void)
{
	FILETIME created, exited, kernel, user, now;
	HANDLE h = create(burn, NULL, 0);

	WaitForSingleObject(h, INFINITE);
	GetSystemTimeAsFileTime(&now);
	is("GetThreadTimes", GetThreadTimes(h, &created, &exited, &kernel, &user), TRUE);
	ok("created, then exited", CompareFileTime(&created, &exited) < 0);
	ok("... before now", CompareFileTime(&exited, &now) <= 0);
	ok("time in user mode", units(user) > 0);
	ok("... not more than it lived",
	   units(user) + units(kernel) <= units(exited) - units(created) + 1);
	CloseHandle(h);
	is("of the caller", GetThreadTimes(GetCurrentThread(), &created, &exited, &kernel, &user),
	   TRUE);
	is("... which has not exited", units(exited), 0);
	is("GetProcessTimes",
	   GetProcessTimes(GetCurrentProcess(), &created, &exited, &kernel, &user), TRUE);
	ok("... with all its threads", units(user) > 0 && units(exited) == 0);
	FAILS("GetThreadTimes of none", GetThreadTimes(NONE, &created, &exited, &kernel, &user),
	      ERROR_INVALID_HANDLE);
	FAILS("GetProcessTimes of none", GetProcessTimes(NONE, &created, &exited, &kernel, &user),
	      ERROR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atol(argv[1]);
	life();
	posix_threads();
	suspension();
	termination();
	scheduling();
	last_error();
	local_storage();
	sleeps();
	times();
	return tap_done();
}
