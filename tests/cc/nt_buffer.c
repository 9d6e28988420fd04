/*
 * nt_buffer.c - producers and consumers with a bounded buffer: a mutex, two semaphores, a
 * manual-reset event to start, thread-local storage, priorities, and a thread that ends with
 * the mutex in its hand.
 */
#include <windows.h>
#include <process.h>
#include <tchar.h>

#define SLOTS 8
#define PRODUCERS 3
#define CONSUMERS 2
#define ITEMS 300 /* of each producer */
#define LAST (-1)

static struct {
	long item[SLOTS];
	unsigned in, out;
} buffer;
static HANDLE hMutex, hFree, hFull, hStart;
static DWORD dwTls;
static LONG lSum;
static long cConsumed; /* a long, as programs of the time have it */

static void Put(long item)
{
	HANDLE both[2];

	both[0] = hFree;
	both[1] = hMutex;
	WaitForMultipleObjects(2, both, TRUE, INFINITE);
	buffer.item[buffer.in++ % SLOTS] = item;
	ReleaseMutex(hMutex);
	ReleaseSemaphore(hFull, 1, NULL);
}

static long Get(void)
{
	long item;

	WaitForSingleObject(hFull, INFINITE);
	WaitForSingleObject(hMutex, INFINITE);
	item = buffer.item[buffer.out++ % SLOTS];
	ReleaseMutex(hMutex);
	ReleaseSemaphore(hFree, 1, NULL);
	return item;
}

static unsigned __stdcall Producer(void *arg)
{
	long i;

	WaitForSingleObject(hStart, INFINITE);
	for (i = 1; i <= ITEMS; i++)
		Put(i + *(long *)arg);
	_endthreadex(ITEMS);
	return 0;
}

static unsigned __stdcall Consumer(void *arg)
{
	long item;

	TlsSetValue(dwTls, (LPVOID)0);
	WaitForSingleObject(hStart, INFINITE);
	while ((item = Get()) != LAST) {
		InterlockedExchangeAdd(&lSum, (LONG)item);
		InterlockedIncrement(&cConsumed);
		TlsSetValue(dwTls, (LPVOID)((DWORD_PTR)TlsGetValue(dwTls) + 1));
	}
	return (unsigned)(DWORD_PTR)TlsGetValue(dwTls);
}

static void __cdecl Abandon(void *arg)
{
	WaitForSingleObject(hMutex, INFINITE);
	SetEvent(arg);
}

int _tmain(int argc, TCHAR *argv[])
{
	static long base[PRODUCERS] = {0, 300, 600};
	HANDLE hProducer[PRODUCERS], hConsumer[CONSUMERS], hDone;
	DWORD code, dwProduced = 0, dwConsumed = 0, dwAbandoned = 0;
	unsigned id;
	int i;

	hMutex = CreateMutex(NULL, FALSE, TEXT("buffer"));
	hFree = CreateSemaphore(NULL, SLOTS, SLOTS, NULL);
	hFull = CreateSemaphore(NULL, 0, SLOTS, NULL);
	hStart = CreateEvent(NULL, TRUE, FALSE, NULL);
	hDone = CreateEvent(NULL, FALSE, FALSE, NULL);
	dwTls = TlsAlloc();

	for (i = 0; i < PRODUCERS; i++) {
		hProducer[i] =
			(HANDLE)_beginthreadex(NULL, 0, Producer, &base[i], CREATE_SUSPENDED, &id);
		SetThreadPriority(hProducer[i], THREAD_PRIORITY_BELOW_NORMAL);
		ResumeThread(hProducer[i]);
	}
	for (i = 0; i < CONSUMERS; i++)
		hConsumer[i] = (HANDLE)_beginthreadex(NULL, 0, Consumer, NULL, 0, &id);
	SetEvent(hStart);
	WaitForMultipleObjects(PRODUCERS, hProducer, TRUE, INFINITE);
	for (i = 0; i < CONSUMERS; i++)
		Put(LAST);
	WaitForMultipleObjects(CONSUMERS, hConsumer, TRUE, INFINITE);
	for (i = 0; i < PRODUCERS; i++) {
		GetExitCodeThread(hProducer[i], &code);
		dwProduced += code;
		CloseHandle(hProducer[i]);
	}
	for (i = 0; i < CONSUMERS; i++) {
		GetExitCodeThread(hConsumer[i], &code);
		dwConsumed += code;
		CloseHandle(hConsumer[i]);
	}

	_beginthread(Abandon, 0, hDone);
	WaitForSingleObject(hDone, INFINITE);
	if (WaitForSingleObject(hMutex, 10000) == WAIT_ABANDONED)
		dwAbandoned = 1;
	ReleaseMutex(hMutex);
	_tprintf(_T("produced %u, consumed %u, sum %d, abandoned %u\n"), dwProduced, dwConsumed,
		 lSum, dwAbandoned);
	return dwConsumed == (DWORD)cConsumed ? 0 : 1;
}
