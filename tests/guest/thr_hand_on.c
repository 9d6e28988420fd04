/*
 * thr_hand_on.c [handlers|cancel|self] [ROUNDS] - a signal of the process is taken, although the thread that was to take it
 * does not: the thread has been suspended, has suspended itself, or has been cancelled.
 *
 * The main thread blocks the signal, so it sees by sigpending whether the signal is pending.  A signal that some
 * thread may take must be pending for `patience` at most.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include <weft/sys.h>
#include <weft/time.h>
#include "sigtest.h"

#define SIG SIGUSR1

static int rounds = 8;
static int patience = 5000; /* milliseconds */
static sigset_t set;        /* SIG */

static bool pending(void)
{
	sigset_t now;

	sigpending(&now);
	return sigismember(&now, SIG);
}

/* Is the signal taken in time?  The nap is the kernel's, because a nap of the library needs the LWP for deadlines. */
static bool taken(void)
{
	const struct weft_timespec nap = {.nsec = 1000000};

	for (int ms = 0; pending(); ms++) {
		if (ms == patience)
			return false;
		sched_yield();
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &nap);
	}
	return true;
}

static unsigned drawn = 1;

/* Waits for a random number of turns, below n. */
static void come_late(unsigned n)
{
	drawn = drawn * 1103515245 + 12345;
	for (volatile unsigned i = (drawn >> 8) % n; i != 0; i--)
		;
}

/* --- two threads that take the signal; one is suspended ------------------------------------- */

static volatile bool over;
static sem_t never, begun;

static void yields(void)
{
	while (!over)
		thr_yield();
}

static void sleeps(void)
{
	while (!over)
		sem_wait(&never); /* a handler does not end it */
}

static void reads(void)
{
	int ends[2];
	char c;

	if (pipe(ends) != 0)
		bail("pipe");
	while (!over)
		read(ends[0], &c, 1); /* a handler ends it */
	close(ends[0]);
	close(ends[1]);
}

static void waits(void)
{
	int sig;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (!over)
		sigwait(&set, &sig);
}

static const struct kind {
	const char *name;
	void (*spend)(void);
} kinds[] = {{"yields", yields},
	     {"waits for a semaphore", sleeps},
	     {"reads", reads},
	     {"waits for signals", waits}};

static void *takes(void *arg)
{
	const struct kind *k = arg;

	sem_post(&begun);
	if (k->spend != waits)
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	k->spend();
	return NULL;
}

static void thread_begin(thread_t *t, const struct kind *k, long flags)
{
	if (thr_create(NULL, 0, takes, (void *)k, flags, t) != 0)
		bail("thr_create");
	sem_wait(&begun);
	a_turn();
}

static void send(void)
{
	if (kill(getpid(), SIG) != 0)
		bail("kill");
}

/* The signal comes before the thread is suspended, or after it.  Which thread is chosen changes from round to round. */
static bool other_takes(thread_t t, int round)
{
	bool good;

	if (round % 4 == 3)
		thr_suspend(t);
	send();
	come_late(round % 2 ? 50 : 500);
	if (thr_suspend(t) != 0)
		bail("thr_suspend");
	good = taken();
	if (thr_continue(t) != 0)
		bail("thr_continue");
	come_late(500);
	return good;
}

/* Both are suspended: the signal waits until one goes on. */
static bool either_takes(thread_t t[2], int round)
{
	bool waited, good;

	thr_suspend(t[0]);
	thr_suspend(t[1]);
	send();
	come_late(500);
	waited = pending();
	thr_continue(t[round % 2]);
	good = taken();
	thr_continue(t[1 - round % 2]);
	return waited && good;
}

static void threads_end(thread_t t[2])
{
	over = true;
	sem_post(&never);
	sem_post(&never);
	for (int i = 0; i < 2; i++) {
		while (thr_kill(t[i], 0) == 0) { /* until it has ended */
			thr_kill(t[i], SIG);
			a_turn();
		}
	}
	if (!taken())
		bail("a signal of a thread is pending for the process");
}

static void handlers_test(const struct kind *first, const struct kind *second, long flags)
{
	bool other = true, either = true;
	char name[120];
	thread_t t[2];

	over = false;
	sem_init(&never, 0, 0);
	thread_begin(&t[0], first, flags | THR_DETACHED);
	thread_begin(&t[1], second, flags | THR_DETACHED);
	for (int i = 0; i < rounds && other; i++)
		other = other_takes(t[i % 2], i);
	for (int i = 0; i < rounds && other && either; i++)
		either = either_takes(t, i);
	snprintf(name, sizeof(name), "%s thread that %s, beside one that %s",
		 flags ? "a bound" : "a", first->name, second->name);
	if (!ok(name, other) || !either) {
		ok("both were suspended", either);
		exit(tap_done());
	}
	threads_end(t);
}

/* --- a thread that waits for the signal is cancelled; another has a handler ------------------ */

static void *is_cancelled(void *arg)
{
	int sig;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	sem_post(&begun);
	for (;;)
		sigwait(&set, &sig);
	return NULL;
}

/* The thread that waits is asked first.  If it takes the signal before it ends, that is good, too. */
static void cancel_test(void)
{
	bool good = true;
	thread_t other;
	pthread_t t;

	over = false;
	sem_init(&never, 0, 0);
	thread_begin(&other, &kinds[1], THR_DETACHED);
	for (int i = 0; i < rounds && good; i++) {
		if (pthread_create(&t, NULL, is_cancelled, NULL) != 0)
			bail("pthread_create");
		sem_wait(&begun);
		a_turn();
		send();
		come_late(i % 2 ? 50 : 500);
		pthread_cancel(t);
		good = taken();
		pthread_join(t, NULL);
	}
	if (!ok("a thread that is cancelled", good))
		exit(tap_done());
	over = true;
	sem_post(&never);
	while (thr_kill(other, 0) == 0)
		a_turn();
}

/* --- a thread that waits for the signal suspends itself in the handler of another signal ------ */

static volatile bool is_suspended;
static thread_t waiter;

static void suspend_self(int sig)
{
	is_suspended = true;
	thr_suspend(thr_self());
	is_suspended = false;
}

static void self_test(void)
{
	bool good = true;
	thread_t other;

	over = false;
	catch (SIGUSR2, suspend_self, 0);
	sem_init(&never, 0, 0);
	thread_begin(&other, &kinds[1], THR_DETACHED);
	thread_begin(&waiter, &kinds[3], THR_DETACHED);
	for (int i = 0; i < rounds && good; i++) {
		send();
		come_late(i % 2 ? 50 : 500);
		thr_kill(waiter, SIGUSR2);
		good = taken();
		UNTIL(is_suspended);
		while (is_suspended) {
			thr_continue(waiter);
			a_turn();
		}
	}
	if (!ok("a thread that suspends itself", good))
		exit(tap_done());
	over = true;
	sem_post(&never);
	while (thr_kill(other, 0) == 0)
		a_turn();
	while (thr_kill(waiter, SIG) == 0)
		a_turn();
}

/* Over one LWP, a thread that reads would keep all others from running. */
static bool tried(const struct kind *k)
{
	return k->spend != reads || strcmp(getenv("LIBTHREAD"), "n1") != 0;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 && argv[1][0] >= 'a' ? argv[1] : "";
	const unsigned n = sizeof(kinds) / sizeof(kinds[0]);

	if (argc > 1 + (*part != 0))
		rounds = atoi(argv[argc - 1]);
	if (*part != 0)
		patience = 200; /* in exact timing */
	set = set_of(SIG);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	catch (SIG, note, 0);
	sem_init(&begun, 0, 0);
	if (*part == 0 || strcmp(part, "handlers") == 0)
		for (unsigned i = 0; i < n; i++)
			for (unsigned k = i; k < n; k++) {
				if (!tried(&kinds[i]) || !tried(&kinds[k]))
					continue;
				/* A thread that waits for the signal is asked first. */
				if ((i == n - 1) == (k == n - 1))
					handlers_test(&kinds[i], &kinds[k], 0);
				if (i == k)
					handlers_test(&kinds[i], &kinds[k], THR_BOUND);
			}
	if (*part == 0 || strcmp(part, "cancel") == 0)
		cancel_test();
	if (*part == 0 || strcmp(part, "self") == 0)
		self_test();
	return tap_done();
}
