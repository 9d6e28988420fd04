/*
 * thr_hand_on.c [handlers|cancel|self|nap] [ROUNDS] - a signal of the process is taken, although the thread that was to take it
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

/* A nap of the library would need the LWP for deadlines. */
static void kernel_nap(int ms)
{
	const struct weft_timespec nap = {.nsec = ms * 1000000};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &nap);
}

/* Is the signal taken in time? */
static bool taken(void)
{
	for (int ms = 0; pending(); ms++) {
		if (ms == patience)
			return false;
		sched_yield();
		kernel_nap(1);
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

/* A nap that a signal ends, although the thread has called no handler. */
static volatile bool ended_for_nothing;
static __thread volatile unsigned calls;

static void count_call(int sig)
{
	calls++;
}

static void naps(void)
{
	const struct timespec nap = {.tv_nsec = 100000000};

	while (!over) {
		unsigned before = calls;

		if (nanosleep(&nap, NULL) != 0 && calls == before)
			ended_for_nothing = true;
	}
}

static void waits_for_a_time(void)
{
	const struct timespec time = {.tv_nsec = 1000000};

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (!over)
		sigtimedwait(&set, NULL, &time);
}

static void waits(void)
{
	int sig;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (!over)
		sigwait(&set, &sig);
}

struct kind {
	const char *name;
	void (*spend)(void);
	bool waits;
};

static const struct kind yielder = {"yields", yields, false};
static const struct kind sleeper = {"waits for a semaphore", sleeps, false};
static const struct kind reader = {"reads", reads, false};
static const struct kind napper = {"naps", naps, false};
static const struct kind waiter = {"waits for signals", waits, true};
static const struct kind timed = {"waits for signals for a time", waits_for_a_time, true};

/* A thread that waits for the signal is asked before a thread that has a handler, so these are apart. */
static const struct pair {
	const struct kind *kind[2];
	long flags[2];
} pairs[] = {
	{{&yielder, &yielder}, {0, 0}},
	{{&yielder, &sleeper}, {0, 0}},
	{{&yielder, &reader}, {0, 0}},
	{{&sleeper, &sleeper}, {0, 0}},
	{{&sleeper, &reader}, {0, 0}},
	{{&reader, &reader}, {0, 0}},
	{{&waiter, &waiter}, {0, 0}},
	{{&timed, &timed}, {0, 0}},
	{{&yielder, &yielder}, {THR_BOUND, THR_BOUND}},
	{{&sleeper, &sleeper}, {THR_BOUND, THR_BOUND}},
	{{&reader, &reader}, {THR_BOUND, THR_BOUND}},
	{{&napper, &napper}, {THR_BOUND, THR_BOUND}},
	{{&timed, &timed}, {THR_BOUND, THR_BOUND}},
	{{&sleeper, &sleeper}, {THR_BOUND, 0}},
};

static void *takes(void *arg)
{
	const struct kind *k = arg;

	sem_post(&begun);
	if (!k->waits)
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

/* Both are suspended: the signal waits until one goes on, even if their waits end meanwhile. */
static bool either_takes(thread_t t[2], int round, bool in_time)
{
	bool waited, good;

	thr_suspend(t[0]);
	thr_suspend(t[1]);
	send();
	come_late(500);
	if (in_time)
		kernel_nap(2);
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

static void handlers_test(const struct pair *p)
{
	const struct kind *first = p->kind[0], *second = p->kind[1];
	bool other = true, either = true;
	char name[120];
	thread_t t[2];

	over = ended_for_nothing = false;
	sem_init(&never, 0, 0);
	for (int i = 0; i < 2; i++)
		thread_begin(&t[i], p->kind[i], p->flags[i] | THR_DETACHED);
	for (int i = 0; i < rounds && other; i++)
		other = other_takes(t[i % 2], i);
	for (int i = 0; i < rounds && other && either; i++)
		either = either_takes(t, i, first == &timed);
	snprintf(name, sizeof(name), "%s thread that %s, beside %s that %s",
		 p->flags[0] ? "a bound" : "a", first->name, p->flags[1] ? "a bound one" : "one",
		 second->name);
	if (!ok(name, other && !ended_for_nothing) || !either) {
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
	thread_begin(&other, &sleeper, THR_DETACHED);
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

/* --- a thread that waits for the signal is suspended in the handler of another signal --------- */

static volatile bool in_handler, go_on;

static void suspend_self(int sig)
{
	in_handler = true;
	thr_suspend(thr_self());
	in_handler = false;
}

static void nap_in_handler(int sig)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	in_handler = true;
	while (!go_on)
		nanosleep(&nap, NULL);
	in_handler = false;
}

/* The thread suspends itself in `handler`, or is suspended there. */
static void handler_test(const char *name, void (*handler)(int))
{
	thread_t other, t;
	bool good = true;

	over = false;
	catch (SIGUSR2, handler, 0);
	sem_init(&never, 0, 0);
	thread_begin(&other, &sleeper, THR_DETACHED);
	thread_begin(&t, &waiter, THR_DETACHED);
	for (int i = 0; i < rounds && good; i++) {
		go_on = false;
		send();
		come_late(i % 2 ? 50 : 500);
		thr_kill(t, SIGUSR2);
		if (handler == nap_in_handler) {
			UNTIL(in_handler);
			while (thr_suspend(t) != 0)
				a_turn();
		}
		good = taken();
		go_on = true;
		UNTIL(in_handler);
		while (in_handler) {
			thr_continue(t);
			a_turn();
		}
	}
	if (!ok(name, good))
		exit(tap_done());
	over = true;
	sem_post(&never);
	while (thr_kill(other, 0) == 0)
		a_turn();
	while (thr_kill(t, SIG) == 0)
		a_turn();
}

/* Over one LWP, a thread that reads would keep all others from running. */
static bool tried(const struct pair *p)
{
	return (p->kind[0] != &reader && p->kind[1] != &reader) ||
	       strcmp(getenv("LIBTHREAD"), "n1") != 0;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 && argv[1][0] >= 'a' ? argv[1] : "";

	if (argc > 1 + (*part != 0))
		rounds = atoi(argv[argc - 1]);
	if (*part != 0)
		patience = 200; /* in exact timing */
	set = set_of(SIG);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	catch (SIG, count_call, 0);
	sem_init(&begun, 0, 0);
	if (*part == 0 || strcmp(part, "handlers") == 0)
		for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
			if (tried(&pairs[i]))
				handlers_test(&pairs[i]);
	if (*part == 0 || strcmp(part, "cancel") == 0)
		cancel_test();
	if (*part == 0 || strcmp(part, "self") == 0)
		handler_test("a thread that suspends itself in a handler", suspend_self);
	if (*part == 0 || strcmp(part, "nap") == 0)
		handler_test("a thread that is suspended in a handler", nap_in_handler);
	return tap_done();
}
