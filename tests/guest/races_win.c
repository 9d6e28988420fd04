/*
 * races_win.c RACE [ROUNDS] - the races that win/ of the library claims to close (race.h): critical
 * sections, handles, fibers, threads that are suspended, terminated or end.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <process.h>
#include <signal.h>
#include <sys/wait.h>
#include <windows.h>
#include "race.h"

/* --- critical sections: new ones, since the first waiter makes the event ---------------------- */

static CRITICAL_SECTION section;
static volatile unsigned inside;

static void section_prepare(unsigned round)
{
	DeleteCriticalSection(&section);
	InitializeCriticalSection(&section);
}

static void section_use(unsigned round)
{
	for (int i = 0; i < 3; i++) {
		EnterCriticalSection(&section);
		EnterCriticalSection(&section);
		MUST(inside++ == 0);
		turns(draw(40));
		inside--;
		LeaveCriticalSection(&section);
		LeaveCriticalSection(&section);
		turns(draw(40));
	}
}

static void section_begin(void)
{
	InitializeCriticalSection(&section);
}

/* --- handles of threads, whose numbers are used again ----------------------------------------- */

static DWORD returns(void *arg)
{
	return 7;
}

static void handles_use(unsigned round)
{
	for (int i = 0; i < 3; i++) {
		HANDLE h = CreateThread(NULL, 0, returns, NULL, 0, NULL);

		MUST(h != NULL);
		turns(draw(300));
		MUST(GetThreadPriority(h) != THREAD_PRIORITY_ERROR_RETURN);
		MUST(CloseHandle(h));
	}
}

/* One thread duplicates a handle, and another thread closes it. */
static HANDLE shared;

/* The library makes handles of its own at first: they must not get the number. */
static void closed_begin(void)
{
	HANDLE self = GetCurrentProcess(), copy;

	MUST(DuplicateHandle(self, GetCurrentThread(), self, &copy, 0, FALSE,
			     DUPLICATE_SAME_ACCESS));
	MUST(DuplicateHandle(self, copy, self, NULL, 0, FALSE, 0));
}

static void closed_prepare(unsigned round)
{
	shared = CreateThread(NULL, 0, returns, NULL, 0, NULL);
	MUST(shared != NULL);
	UNTIL(WaitForSingleObject(shared, 0) == WAIT_OBJECT_0);
}

static void closed_duplicate(unsigned round)
{
	HANDLE self = GetCurrentProcess(), copy;
	DWORD code;

	if (!DuplicateHandle(self, shared, self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS))
		return;
	UNTIL(finished[1] == round);
	free(calloc(1, 100));
	MUST(GetExitCodeThread(copy, &code) && code == 7);
	MUST(CloseHandle(copy));
}

static void closed_close(unsigned round)
{
	MUST(CloseHandle(shared));
}

/* --- suspension ------------------------------------------------------------------------------- */

static HANDLE volatile target;

static void target_makes_itself_known(void)
{
	HANDLE h;

	if (target != NULL)
		return;
	MUST(DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &h, 0,
			     FALSE, DUPLICATE_SAME_ACCESS));
	target = h;
}

static void target_uses_books(unsigned round)
{
	target_makes_itself_known();
	for (int i = 0; i < 10; i++)
		GetThreadPriority(GetCurrentThread());
}

/* No thread is stopped while it holds the lock of the Win32 tables. */
static void suspend(unsigned round)
{
	UNTIL(target != NULL);
	MUST(SuspendThread(target) == 0);
	MUST(GetThreadPriority(GetCurrentThread()) == THREAD_PRIORITY_NORMAL);
	MUST(ResumeThread(target) == 1);
	turns(draw(100));
	MUST(thr_suspend(party[1]) == 0);
	MUST(GetThreadPriority(GetCurrentThread()) == THREAD_PRIORITY_NORMAL);
	MUST(thr_continue(party[1]) == 0);
}

/* In case that the others stand still. */
static void watch(unsigned round)
{
	UNTIL(finished[0] == round);
}

static void target_suspends_itself(unsigned round)
{
	target_makes_itself_known();
	MUST(SuspendThread(GetCurrentThread()) == 0);
}

static void resume(unsigned round)
{
	UNTIL(target != NULL);
	while (ResumeThread(target) == 0)
		in_time();
}

/* --- two threads suspend, and resume, a third -------------------------------------------------- */

static volatile unsigned counted;

static void target_counts(unsigned round)
{
	target_makes_itself_known();
	while (finished[0] != round || finished[1] != round)
		counted++;
}

static void suspend_both(unsigned round)
{
	unsigned seen;

	UNTIL(target != NULL);
	MUST(SuspendThread(target) <= 1);
	seen = counted;
	turns(draw(100));
	MUST(counted == seen);
	MUST((DWORD)(ResumeThread(target) - 1) <= 1);
}

/* --- a handler that uses the Win32 tables, also on top of a thread that does so ------------------ */

static volatile unsigned handled;

static void uses_books_too(int sig)
{
	MUST(GetThreadPriority(GetCurrentThread()) == THREAD_PRIORITY_NORMAL);
	handled = started;
}

static void handler_begin(void)
{
	signal(SIGUSR1, uses_books_too);
}

static void interrupt(unsigned round)
{
	UNTIL(target != NULL);
	turns(draw(200));
	MUST(pthread_kill(party[1], SIGUSR1) == 0);
	UNTIL(handled == round);
}

/* --- a thread of the highest priority, and a thread that it interrupts, use the tables ------------- */

static volatile unsigned high_done;

/* Mostly with the lock held. */
static void handle_use(void)
{
	HANDLE self = GetCurrentProcess(), h = CreateEvent(NULL, TRUE, FALSE, NULL), copy;

	MUST(h != NULL);
	MUST(DuplicateHandle(self, h, self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS));
	MUST(CloseHandle(copy) && CloseHandle(h));
}

static void too_late(int sig)
{
	bail("%s, round %u does not end", race->name, started);
}

static void high_begin(void)
{
	signal(SIGALRM, too_late);
}

static void *high_uses_books(void *arg)
{
	for (int i = 0; i < 5; i++) {
		struct timespec t = {.tv_nsec = 10000 + draw(5000)};

		nanosleep(&t, NULL);
		MUST(GetThreadPriority(GetCurrentThread()) == THREAD_PRIORITY_NORMAL);
	}
	high_done = started;
	return NULL;
}

static void low_uses_books(unsigned round)
{
	const struct itimerval limit = {.it_value.tv_sec = 1};
	const struct sched_param high = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
	pthread_attr_t attr;
	pthread_t t;

	setitimer(ITIMER_REAL, &limit, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	MUST(pthread_attr_setschedpolicy(&attr, SCHED_FIFO) == 0);
	MUST(pthread_attr_setschedparam(&attr, &high) == 0);
	MUST(pthread_create(&t, &attr, high_uses_books, NULL) == 0);
	while (high_done != round)
		handle_use();
	pthread_join(t, NULL);
}

/* --- a thread is suspended that has yielded in a handler, with the lock of a message queue ---------- */

#define MESSAGE 2000

static mqd_t queue;
static pthread_t sender;
static volatile unsigned suspensions;

static void sender_yields(int sig)
{
	if (gethrtime() - since > TOO_LONG)
		too_late(sig);
	if (pthread_self() == sender)
		sched_yield();
}

static void owning_begin(void)
{
	struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = MESSAGE};

	queue = mq_open("/race", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attr);
	MUST(queue != (mqd_t)-1);
	signal(SIGALRM, sender_yields);
}

static void *sends(void *arg)
{
	static char message[MESSAGE];

	sender = pthread_self();
	target = NULL;
	target_makes_itself_known();
	while (suspensions < 5) {
		mq_send(queue, message, MESSAGE, 0);
		mq_receive(queue, message, MESSAGE, NULL);
		turns(draw(2000)); /* where it can be suspended */
	}
	return NULL;
}

static void suspend_sender(unsigned round)
{
	const long us = 150 + draw(100); /* not in phase with the sender */
	const struct itimerval often = {{.tv_usec = us}, {.tv_usec = us}}, never = {0};
	pthread_t t = new_thread(sends, NULL);

	setitimer(ITIMER_REAL, &often, NULL);
	for (suspensions = 0; suspensions < 5; suspensions++) {
		sched_yield();
		MUST(target != NULL && SuspendThread(target) == 0);
		turns(draw(300));
		MUST(ResumeThread(target) == 1);
	}
	pthread_join(t, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	MUST(CloseHandle(target));
}

/* --- a child of fork uses the tables --------------------------------------------------------------- */

static volatile unsigned at_work, forked; /* in this round */

static void child_make(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		handle_use();
		_exit(0);
	}
	MUST(pid > 0);
	UNTIL(waitpid(pid, &status, WNOHANG) == pid);
	MUST(status == 0);
}

static void handles_fork(unsigned round)
{
	UNTIL(at_work == round);
	come_late();
	child_make();
	forked = round;
}

static void handles_meanwhile(unsigned round)
{
	for (at_work = round; forked != round;)
		handle_use();
}

/* The thread that forks is suspended. */
static void target_forks(unsigned round)
{
	target_makes_itself_known();
	child_make();
	forked = round;
}

static void suspend_forker(unsigned round)
{
	UNTIL(target != NULL);
	while (forked != round) {
		MUST(SuspendThread(target) == 0);
		turns(draw(100));
		MUST(ResumeThread(target) == 1);
		turns(draw(300));
	}
}

/* --- a thread that lowers itself, with another ready to run on its CPU ------------------------ */

static volatile hrtime_t lowered;

/* A lost tick means that the thread has slept for the lock of the Win32 tables. */
static DWORD looks_at_books(void *arg)
{
	MUST(GetThreadPriority(GetCurrentThread()) == THREAD_PRIORITY_NORMAL);
	MUST(lowered == 0 || gethrtime() - lowered < WEFT_TICK_NS / 2);
	return 0;
}

static void lower(unsigned round)
{
	HANDLE h;

	lowered = 0;
	h = CreateThread(NULL, 0, looks_at_books, NULL, 0, NULL);
	MUST(h != NULL);
	lowered = gethrtime();
	MUST(SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_LOWEST));
	MUST(WaitForSingleObject(h, INFINITE) == WAIT_OBJECT_0);
	MUST(SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_NORMAL));
	MUST(CloseHandle(h));
}

/* --- threads that are terminated, or end ------------------------------------------------------ */

static void terminate(unsigned round)
{
	HANDLE h = CreateThread(NULL, 0, returns, NULL, 0, NULL);
	DWORD code = 0;
	BOOL terminated;

	turns(draw(100));
	terminated = TerminateThread(h, 99);
	UNTIL(WaitForSingleObject(h, 0) == WAIT_OBJECT_0);
	GetExitCodeThread(h, &code);
	MUST(code == (terminated ? 99 : 7));
	CloseHandle(h);
}

/* Two threads terminate each other.  A thread that comes too late ends by itself. */
static HANDLE each[2];
static volatile unsigned both_there;

static DWORD terminates_other(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	drawn = 2 * started + me + 1;
	UNTIL(both_there == started);
	come_late();
	TerminateThread(each[!me], 99);
	return 7;
}

static void terminate_each_other(unsigned round)
{
	DWORD code[2];

	for (uintptr_t i = 0; i < 2; i++) {
		each[i] = CreateThread(NULL, 0, terminates_other, (void *)i, 0, NULL);
		MUST(each[i] != NULL);
	}
	both_there = round;
	for (int i = 0; i < 2; i++)
		UNTIL(WaitForSingleObject(each[i], 0) == WAIT_OBJECT_0);
	for (int i = 0; i < 2; i++) {
		MUST(GetExitCodeThread(each[i], &code[i]) && (code[i] == 7 || code[i] == 99));
		MUST(CloseHandle(each[i]));
	}
	MUST(code[0] == 99 || code[1] == 99);
}

static void ends(void *arg)
{
}

/* It closes the handle itself. */
static void begin_thread(unsigned round)
{
	uintptr_t h = _beginthread(ends, 0, NULL);

	UNTIL(WaitForSingleObject((HANDLE)h, 0) == WAIT_FAILED);
}

/* --- a fiber that another thread takes up as soon as it is told ------------------------------- */

static LPVOID home[2], shuttle;
static volatile unsigned on, told, trips;

static void WINAPI goes_back(void *arg)
{
	for (;;) {
		LPVOID back = home[on];

		trips++;
		told = started;
		SwitchToFiber(back);
	}
}

static void fibers_begin(void)
{
	shuttle = CreateFiber(0, goes_back, NULL);
	MUST(shuttle != NULL);
}

static void take_up(unsigned me)
{
	if (home[me] == NULL)
		home[me] = ConvertThreadToFiber(NULL);
	MUST(home[me] != NULL);
	on = me;
	SwitchToFiber(shuttle);
}

static void fiber_first(unsigned round)
{
	take_up(0);
}

static void fiber_then(unsigned round)
{
	UNTIL(told == round);
	take_up(1);
}

static void fibers_check(unsigned round)
{
	MUST(trips == 2 * round);
}

static const struct race races[] = {
	{.name = "section",
	 .spread = 50,
	 .begin = section_begin,
	 .prepare = section_prepare,
	 .act = {section_use, section_use, section_use}},
	{.name = "handles", .spread = 50, .act = {handles_use, handles_use, handles_use}},
	{.name = "closed",
	 .spread = 100,
	 .begin = closed_begin,
	 .prepare = closed_prepare,
	 .act = {closed_duplicate, closed_close}},
	{.name = "suspend", .spread = 100, .act = {suspend, target_uses_books, watch}},
	{.name = "suspend-both", .spread = 100, .act = {suspend_both, suspend_both, target_counts}},
	{.name = "handler",
	 .spread = 100,
	 .begin = handler_begin,
	 .act = {interrupt, target_uses_books, watch}},
	{.name = "real-time", .begin = high_begin, .act = {low_uses_books}},
	{.name = "owning", .begin = owning_begin, .act = {suspend_sender}},
	{.name = "fork", .spread = 300, .act = {handles_fork, handles_meanwhile}},
	{.name = "fork-suspended", .spread = 100, .act = {suspend_forker, target_forks, watch}},
	{.name = "suspend-self", .spread = 100, .act = {resume, target_suspends_itself}},
	{.name = "lower", .act = {lower}},
	{.name = "terminate", .act = {terminate}},
	{.name = "terminate-each-other", .spread = 100, .act = {terminate_each_other}},
	{.name = "fibers",
	 .begin = fibers_begin,
	 .act = {fiber_first, fiber_then},
	 .check = fibers_check},
	{.name = "begin-thread", .act = {begin_thread}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
