/*
 * nt_crowd.c - threads that crowd before one resource, after the description of Hart's
 * timemutex: a critical section, two of them, or a mutex.
 *
 *	nt_crowd which [depth [delay [threads [sleeps [active]]]]]
 */
#include <windows.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS MAXIMUM_WAIT_OBJECTS
#define TURNS 200

static int which, depth = 1, delay = 0, threads = 4, sleeps = 0, active;
static CRITICAL_SECTION first, second;
static HANDLE mutex, gate;
static volatile LONG waste;
static LONG counter; /* guarded by the resource */
static LONG inside, clashes;

static void WasteTime(DWORD n)
{
	while (n-- > 0)
		waste = waste * 3 + 1;
}

static void Acquire(void)
{
	switch (which) {
	case 2:
		EnterCriticalSection(&first);
		EnterCriticalSection(&second);
		break;
	case 3:
		WaitForSingleObject(mutex, INFINITE);
		break;
	default:
		EnterCriticalSection(&first);
	}
}

static void Release(void)
{
	switch (which) {
	case 2:
		LeaveCriticalSection(&second);
		LeaveCriticalSection(&first);
		break;
	case 3:
		ReleaseMutex(mutex);
		break;
	default:
		LeaveCriticalSection(&first);
	}
}

static DWORD WINAPI Crowd(LPVOID number)
{
	int turn, d;

	WaitForSingleObject(gate, INFINITE);
	for (turn = 0; turn < TURNS; turn++) {
		for (d = 0; d < depth; d++)
			Acquire();
		if (sleeps & 1)
			Sleep(0);
		if (InterlockedIncrement(&inside) != 1)
			InterlockedIncrement(&clashes);
		counter++;
		WasteTime(delay);
		InterlockedDecrement(&inside);
		for (d = 0; d < depth; d++)
			Release();
		if (sleeps & 2)
			Sleep(0);
	}
	ReleaseSemaphore(gate, 1, NULL);
	return (DWORD)(DWORD_PTR)number;
}

int main(int argc, char *argv[])
{
	static const char *const names[] = {"", "critical section", "two critical sections",
					    "mutex"};
	HANDLE thread[MAX_THREADS];
	DWORD id, code;
	int i;

	which = argc > 1 ? atoi(argv[1]) : 1;
	if (argc > 2)
		depth = atoi(argv[2]);
	if (argc > 3)
		delay = atoi(argv[3]);
	if (argc > 4)
		threads = atoi(argv[4]);
	if (argc > 5)
		sleeps = atoi(argv[5]);
	active = argc > 6 ? atoi(argv[6]) : threads;
	if (which < 1 || which > 3 || threads < 1 || threads > MAX_THREADS)
		return 2;

	InitializeCriticalSection(&first);
	InitializeCriticalSection(&second);
	mutex = CreateMutex(NULL, FALSE, NULL);
	gate = CreateSemaphore(NULL, 0, active + threads, NULL);
	for (i = 0; i < threads; i++) {
		thread[i] = CreateThread(NULL, 0, Crowd, (LPVOID)(DWORD_PTR)i, 0, &id);
		if (thread[i] == NULL) {
			printf("CreateThread: error %u\n", GetLastError());
			return 1;
		}
	}
	ReleaseSemaphore(gate, active, NULL);
	if (WaitForMultipleObjects(threads, thread, TRUE, INFINITE) == WAIT_FAILED)
		return 1;
	for (i = 0; i < threads; i++) {
		if (!GetExitCodeThread(thread[i], &code) || code != (DWORD)i)
			return 1;
		CloseHandle(thread[i]);
	}
	CloseHandle(gate);
	CloseHandle(mutex);
	DeleteCriticalSection(&second);
	DeleteCriticalSection(&first);
	printf("%d threads, %s: %d of %d\n", threads, names[which], counter, threads * TURNS);
	return clashes != 0;
}
