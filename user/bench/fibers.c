/*
 * fibers - Windows NT's own way of M:N: fibers over as many threads as there are CPUs.
 *
 * fibers fiber|thread create N
 * fibers fiber|thread compute N UNIT
 * fibers fiber|thread yield N TURNS
 *
 * NT schedules threads, and leaves fibers to the program.  This program's scheduler is the plainest that
 * there is: one queue, first in, first out.  Each thread takes the first fiber of the queue and runs it
 * until the fiber ends or yields; then the thread puts a fiber that has yielded at the queue's end, and takes
 * the next.  A critical section guards the queue.  No fiber is preempted by another.  In the column
 * `thread` N threads of NT do the same work.
 *
 * create   N that do nothing
 * compute  N of UNIT instructions each
 * yield    N that yield TURNS times each (threads: Sleep(0))
 *
 * One line of results: create_ns until the last is created, real_ns until all have ended.
 *
 * If a fiber's or a thread's turn is lost, the program says so and ends with status 1.
 */
#include <windows.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "common/bench.h"

#define MAX_CPUS MAXIMUM_WAIT_OBJECTS

const char bench_name[] = "fibers";

struct work {
	LPVOID fiber, scheduler; /* of the thread that runs this fiber; column fiber */
	HANDLE thread;           /* column thread */
	struct work *next;       /* in the queue; guarded by lock */
	long made;               /* turns */
	bool ended;
};

static bool fibers;
static long unit, turns;
static CRITICAL_SECTION lock; /* guards the queue; no other lock is taken under it */
static struct work *head, **tail = &head;

static void check(BOOL ok, const char *call)
{
	if (!ok)
		fail("%s: error %u", call, (unsigned)GetLastError());
}

static void put(struct work *w)
{
	EnterCriticalSection(&lock);
	w->next = NULL;
	*tail = w;
	tail = &w->next;
	LeaveCriticalSection(&lock);
}

/* NULL: the queue is empty. */
static struct work *take(void)
{
	EnterCriticalSection(&lock);
	struct work *w = head;
	if (w != NULL) {
		head = w->next;
		if (head == NULL)
			tail = &head;
	}
	LeaveCriticalSection(&lock);
	return w;
}

static void do_work(struct work *w)
{
	compute(unit);
	for (; w->made < turns; w->made++) {
		if (fibers)
			SwitchToFiber(w->scheduler);
		else
			Sleep(0);
	}
	w->ended = true;
}

static void WINAPI begin_fiber(LPVOID arg)
{
	struct work *w = arg;

	do_work(w);
	SwitchToFiber(w->scheduler); /* which deletes the fiber */
}

static DWORD WINAPI begin_thread(LPVOID arg)
{
	do_work(arg);
	return 0;
}

/* A thread of the fibers' scheduler.  It ends when the queue is empty: a fiber that another thread runs
 * meanwhile may yield, and that thread takes it up again. */
static DWORD WINAPI schedule(LPVOID arg)
{
	LPVOID self = ConvertThreadToFiber(NULL);
	struct work *w;

	check(self != NULL, "ConvertThreadToFiber");
	while ((w = take()) != NULL) {
		w->scheduler = self;
		SwitchToFiber(w->fiber);
		/* The fiber's registers are saved: another thread may take it. */
		if (w->ended)
			DeleteFiber(w->fiber);
		else
			put(w);
	}
	return 0;
}

static void join(HANDLE thread)
{
	check(WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0, "WaitForSingleObject");
	check(CloseHandle(thread), "CloseHandle");
}

static HANDLE make_thread(LPTHREAD_START_ROUTINE run, void *arg)
{
	DWORD id;
	HANDLE thread = CreateThread(NULL, 0, run, arg, 0, &id);

	check(thread != NULL, "CreateThread");
	return thread;
}

static void create(struct work *w)
{
	if (!fibers) {
		w->thread = make_thread(begin_thread, w);
		return;
	}
	w->fiber = CreateFiber(0, begin_fiber, w);
	check(w->fiber != NULL, "CreateFiber");
	put(w);
}

/* Runs the fibers on all CPUs, or awaits the threads. */
static void finish(struct work *work, long n)
{
	HANDLE cpu[MAX_CPUS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!fibers) {
		for (long i = 0; i < n; i++)
			join(work[i].thread);
		return;
	}
	for (long i = 0; i < cpus; i++)
		cpu[i] = make_thread(schedule, NULL);
	for (long i = 0; i < cpus; i++)
		join(cpu[i]);
}

static void measure(const char *test, long n)
{
	struct work *work = allocate(n, sizeof(*work));
	struct moment start = moment(), end;
	int64_t created;

	for (long i = 0; i < n; i++)
		create(&work[i]);
	created = gethrtime();
	finish(work, n);
	end = moment();
	for (long i = 0; i < n; i++)
		if (!work[i].ended || work[i].made != turns)
			fail("number %ld has made %ld of %ld turns", i, work[i].made, turns);
	printf("result test=%s number=%ld create_ns=%lld", test, n,
	       (long long)(created - start.real));
	print_since(&start, &end);
	free(work);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: fibers fiber|thread create N | compute N UNIT | yield N TURNS\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc < 4 || (strcmp(argv[1], "fiber") != 0 && strcmp(argv[1], "thread") != 0))
		usage();
	fibers = argv[1][0] == 'f';
	long n = number("N", argv[3], 1, 100000);
	if (strcmp(argv[2], "compute") == 0 && argc == 5)
		unit = number("UNIT", argv[4], 0, 1000000000000);
	else if (strcmp(argv[2], "yield") == 0 && argc == 5)
		turns = number("TURNS", argv[4], 1, 1000000000);
	else if (strcmp(argv[2], "create") != 0 || argc != 4)
		usage();
	InitializeCriticalSection(&lock);
	check(SetPriorityClass(GetCurrentProcess(), NORMAL_PRIORITY_CLASS), "SetPriorityClass");
	measure(argv[2], n);
	return EXIT_SUCCESS;
}
