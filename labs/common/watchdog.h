/*
 * watchdog.h - for tests of the scheduler of a threads library: what ends a test that does not end,
 * with the state of each thread.
 *
 * The watchdog is a bound thread, and waits in the kernel.  So it runs whatever the library does
 * with its unbound threads.  Either the test or the watchdog reports, never both (watchdog_stop).
 */
#pragma once
#include "../../libthread/core/tcb.h"
#include "labtest.h"
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <thread.h>
#include <unistd.h>
#include <weft/start.h>
#include <weft/time.h>

static const char *watchdog_name, *watchdog_hint;
static int64_t watchdog_ms;
static uint32_t watchdog_over; /* atomic: the test or the watchdog reports */

/* A sleep in the kernel: it keeps the caller's LWP. */
__attribute__((unused)) static void nap(int64_t ns)
{
	struct weft_timespec at = {.sec = ns / 1000000000, .nsec = ns % 1000000000};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &at);
}

/* The test's own thread is about to report.  Does not return if the watchdog does already. */
static void watchdog_stop(void)
{
	if (__atomic_exchange_n(&watchdog_over, 1, __ATOMIC_ACQ_REL) != 0)
		for (;;)
			nap(1000000000);
}

/* "2 RunQueue, 1 OnLWP": how many unbound threads of the program are in each state. */
static void threads_tell(char *text, size_t size)
{
	static const char *const name[] = {"Stopped", "Blocked", "RunQueue", "Dispatchable",
					   "OnLWP"};
	unsigned count[5] = {0};
	struct thread *t = __thread_list;
	size_t n = 0;

	text[0] = '\0';
	do {
		if (!t->bound && !t->exited && t->state < 5)
			count[t->state]++;
		t = t->list_next;
	} while (t != __thread_list);
	for (unsigned i = 0; i < 5; i++)
		if (count[i] != 0)
			n += snprintf(text + n, size - n, "%s%u %s", n ? ", " : "", count[i],
				      name[i]);
}

static void *watchdog_main(void *unused)
{
	char text[120];

	nap(watchdog_ms * 1000000);
	watchdog_stop();
	threads_tell(text, sizeof(text));
	lab_check(false, watchdog_name, "not done after %lld ms; the threads are: %s. %s",
		  (long long)watchdog_ms, text, watchdog_hint);
	_exit(lab_end());
}

/* The test `name` ends within ms.  hint: what may be wrong if it does not. */
static void watchdog_start(const char *name, int64_t ms, const char *hint)
{
	watchdog_name = name;
	watchdog_ms = ms;
	watchdog_hint = hint;
	if (thr_create(NULL, 0, watchdog_main, NULL, THR_BOUND | THR_DAEMON, NULL) != 0) {
		fprintf(stderr, "no watchdog\n");
		_exit(2);
	}
}

/* Ends the test: the first fault, or that all is well. */
__attribute__((unused)) static void test_fails(const char *format, long a, long b, long c)
{
	watchdog_stop();
	lab_check(false, watchdog_name, format, a, b, c);
	_exit(lab_end());
}

__attribute__((unused)) static int test_passes(void)
{
	watchdog_stop();
	lab_check(true, watchdog_name, "-");
	return lab_end();
}

/* What must hold.  text: what is wrong if not, with three %ld at most. */
#define EXPECT3(cond, text, a, b, c)                                                               \
	do {                                                                                       \
		if (!(cond))                                                                       \
			test_fails(text, a, b, c);                                                 \
	} while (0)
#define EXPECT(cond, text, a) EXPECT3(cond, text, a, 0, 0)

/* A number below n. */
__attribute__((unused)) static unsigned draw(uint32_t *state, unsigned n)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % n;
}
