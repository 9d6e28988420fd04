/*
 * timemutex - how much time do critical sections and mutexes cost, and where does it go?
 *
 * timemutex [-b] [-l] [-n TURNS] [-p] [-r PHASES [-s PART]] [-w]
 *           WHICH [DEPTH [DELAY [THREADS [SLEEPS [ACTIVE]]]]]
 *
 * Written from the description of J. Hart's program in "Thread Performance, Critical Sections, and
 * Mutexes" (1998), with its arguments and defaults, in Win32:
 *
 * WHICH    1 a critical section, 2 two, one inside the other, 3 a mutex; and after D. Poulton
 *          4 a semaphore that counts to one, 5 an auto-reset event; 0 nothing
 * DEPTH    (1) so many calls to enter, then as many to leave; 4 and 5 have no owner, so at
 *          most 1; 0 no calls at all
 * DELAY    (0) turns of a loop inside, which waste the CPU
 * THREADS  (4) that contend, 1 to 64
 * SLEEPS   (0) 1: Sleep(0) inside, 2: outside, 3: both
 * ACTIVE   (THREADS) so many may contend at once; the others wait on a semaphore until one of
 *          these ends
 *
 * -b  in the background: in a child whose process group has not the console
 * -l  another process computes in the foreground all the while
 * -n  turns that each thread makes (10000)
 * -p  each turn raises its thread's priority once inside, and restores it outside
 * -r  measures so often, each time with another phase: main begins after a random part of a slice, each
 *     thread contends as soon as it is made, as in Hart's program, and wastes a random time, DELAY turns
 *     on an average.  Where a slice ends inside decides what comes after, so one phase says little
 * -s  the first, second, ... so many phases (1)
 * -w  sleeps in each turn of the DELAY loop
 *
 * The program runs in the NT class, in the foreground unless -b is given.  It prints one line of
 * results a phase: elapsed time, and the time of its threads in user mode and in the kernel, as Hart's
 * timep does for a process (GetProcessTimes).
 *
 * If two threads are inside at once, or a turn is lost, the program says so and ends with status 1.
 */
#include <windows.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/bench.h"

#define MAX_THREADS MAXIMUM_WAIT_OBJECTS
#define PHASE_INSTRUCTIONS                                                                         \
	200000 /* a few slices, where a CPU has a million instructions a second */

const char bench_name[] = "timemutex";

static int which, depth = 1, delay, threads = 4, sleeps, active;
static long turns = 10000, phases, part = 1;
static bool background, load, raise_priority, sleep_in_loop;

static CRITICAL_SECTION section, inner;
static HANDLE object; /* the mutex, semaphore or event */
static HANDLE gate;   /* semaphore: the threads that may contend */
static long inside;   /* atomic: threads inside, if there is any exclusion */
static long done;     /* turns; guarded by the object that is measured */

static void check(BOOL ok, const char *call)
{
	if (!ok)
		fail("%s: error %u", call, (unsigned)GetLastError());
}

static void wait_for(HANDLE handle)
{
	check(WaitForSingleObject(handle, INFINITE) == WAIT_OBJECT_0, "WaitForSingleObject");
}

static void enter(void)
{
	switch (which) {
	case 1:
		EnterCriticalSection(&section);
		break;
	case 2:
		EnterCriticalSection(&section);
		EnterCriticalSection(&inner);
		break;
	case 3:
	case 4:
	case 5:
		wait_for(object);
		break;
	}
}

static void leave(void)
{
	switch (which) {
	case 1:
		LeaveCriticalSection(&section);
		break;
	case 2:
		LeaveCriticalSection(&inner);
		LeaveCriticalSection(&section);
		break;
	case 3:
		check(ReleaseMutex(object), "ReleaseMutex");
		break;
	case 4:
		check(ReleaseSemaphore(object, 1, NULL), "ReleaseSemaphore");
		break;
	case 5:
		check(SetEvent(object), "SetEvent");
		break;
	}
}

static void priority(int level)
{
	check(SetThreadPriority(GetCurrentThread(), level), "SetThreadPriority");
}

/* 0 to below; state: the caller's own. */
static unsigned draw(uint32_t *state, unsigned below)
{
	*state = *state * 1664525 + 1013904223;
	return (uint64_t)*state * below >> 32;
}

/*
 * The state that begins sequence n.  n itself would not do: the first values drawn from n and from n + 1
 * differ by 1664525 of 2^32, so ten phases would begin at one place.  After two steps they differ by two
 * thirds of the range.
 */
static uint32_t seeded(uint32_t n)
{
	draw(&n, 1);
	draw(&n, 1);
	return n;
}

/* The paper's WasteTime: turns of a loop that a compiler cannot leave out. */
static void waste_time(uint32_t *state)
{
	int n = phases > 0 ? (int)draw(state, 2 * delay + 1) : delay;

	for (int i = 0; i < n; i++) {
		compute(100);
		if (sleep_in_loop)
			Sleep(0);
	}
}

static void turn(bool exclusive, uint32_t *state)
{
	for (int i = 0; i < depth; i++)
		enter();
	if (raise_priority)
		priority(THREAD_PRIORITY_HIGHEST);
	if (exclusive && __atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED) != 1)
		fail("two threads are inside");
	if (sleeps & 1)
		Sleep(0);
	waste_time(state);
	done += exclusive;
	if (exclusive)
		__atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < depth; i++)
		leave();
	if (raise_priority)
		priority(THREAD_PRIORITY_NORMAL);
	if (sleeps & 2)
		Sleep(0);
}

static DWORD WINAPI contend(LPVOID arg)
{
	bool exclusive = which != 0 && depth != 0;
	uint32_t state = seeded((uintptr_t)arg);

	wait_for(gate);
	for (long i = 0; i < turns; i++)
		turn(exclusive, &state);
	check(ReleaseSemaphore(gate, 1, NULL), "ReleaseSemaphore");
	return 0;
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: timemutex [-b] [-l] [-n TURNS] [-p] [-r PHASES [-s PART]] [-w] WHICH\n"
	      "                 [DEPTH [DELAY [THREADS [SLEEPS [ACTIVE]]]]]\n"
	      "  WHICH: 0 nothing, 1 critical section, 2 two of them, 3 mutex, 4 semaphore,\n"
	      "         5 event\n",
	      stderr);
	exit(2);
}

/*
 * The measurement runs in a child.  For -b the child's group does not have the console.  The parent
 * ends with the child's status.  With -l the parent computes until then.
 */
static void split(void)
{
	pid_t child = fork(), ended;
	int status;

	must(child < 0 ? errno : 0, "fork");
	if (child == 0) {
		if (background)
			must(setpgid(0, 0) < 0 ? errno : 0, "setpgid");
		return;
	}
	while ((ended = waitpid(child, &status, load ? WNOHANG : 0)) == 0)
		compute(50000);
	must(ended < 0 ? errno : 0, "waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

static void parse(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "bln:pr:s:w")) != -1) {
		switch (option) {
		case 'b':
			background = true;
			break;
		case 'l':
			load = true;
			break;
		case 'n':
			turns = number("-n", optarg, 1, 1000000000);
			break;
		case 'p':
			raise_priority = true;
			break;
		case 'r':
			phases = number("-r", optarg, 1, 1000);
			break;
		case 's':
			part = number("-s", optarg, 1, 1000);
			break;
		case 'w':
			sleep_in_loop = true;
			break;
		default:
			usage();
		}
	}
	argc -= optind;
	argv += optind;
	if (argc < 1 || argc > 6)
		usage();
	which = number("WHICH", argv[0], 0, 5);
	if (argc > 1)
		depth = number("DEPTH", argv[1], 0, which > 3 ? 1 : 1000);
	if (argc > 2)
		delay = number("DELAY", argv[2], 0, 1000000);
	if (argc > 3)
		threads = number("THREADS", argv[3], 1, MAX_THREADS);
	if (argc > 4)
		sleeps = number("SLEEPS", argv[4], 0, 3);
	active = argc > 5 ? number("ACTIVE", argv[5], 1, threads) : threads;
}

static void set_up(void)
{
	check(SetPriorityClass(GetCurrentProcess(), NORMAL_PRIORITY_CLASS), "SetPriorityClass");
	if (background || load)
		split();
	InitializeCriticalSection(&section);
	InitializeCriticalSection(&inner);
	if (which == 3)
		object = CreateMutex(NULL, FALSE, NULL);
	else if (which == 4)
		object = CreateSemaphore(NULL, 1, 1, NULL);
	else if (which == 5)
		object = CreateEvent(NULL, FALSE, TRUE, NULL);
	check(which < 3 || object != NULL, "Create...");
	gate = CreateSemaphore(NULL, 0, threads + active, NULL);
	check(gate != NULL, "CreateSemaphore");
}

static void create_all(HANDLE *thread, long phase)
{
	DWORD id;

	for (int i = 0; i < threads; i++) {
		thread[i] =
			CreateThread(NULL, 0, contend, (LPVOID)(phase * MAX_THREADS + i), 0, &id);
		check(thread[i] != NULL, "CreateThread");
	}
}

/* Each thread, at its end, lets another one contend: so the gate is closed again after a phase. */
static void close_gate(void)
{
	for (int i = 0; i < active; i++)
		wait_for(gate);
}

/* phase: 0 without -r; else from 1. */
static void measure(long phase)
{
	HANDLE thread[MAX_THREADS];
	struct moment start, end;
	uint32_t state = seeded(phase);

	done = 0;
	if (phase > 0) {
		compute(draw(&state, PHASE_INSTRUCTIONS));
		check(ReleaseSemaphore(gate, active, NULL), "ReleaseSemaphore");
		start = moment();
		create_all(thread, phase);
	} else {
		create_all(thread, phase);
		start = moment();
		check(ReleaseSemaphore(gate, active, NULL), "ReleaseSemaphore");
	}
	check(WaitForMultipleObjects(threads, thread, TRUE, INFINITE) != WAIT_FAILED,
	      "WaitForMultipleObjects");
	end = moment();
	printf("result which=%d depth=%d delay=%d threads=%d sleeps=%d active=%d turns=%ld", which,
	       depth, delay, threads, sleeps, active, turns);
	if (phase > 0)
		printf(" phase=%ld", phase);
	print_since(&start, &end);
	if (which != 0 && depth != 0 && done != turns * threads)
		fail("%ld of %ld turns were made", done, turns * threads);
	for (int i = 0; i < threads; i++)
		check(CloseHandle(thread[i]), "CloseHandle");
	close_gate();
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	set_up();
	if (phases == 0)
		measure(0);
	for (long phase = 1; phase <= phases; phase++)
		measure((part - 1) * phases + phase);
	return EXIT_SUCCESS;
}
