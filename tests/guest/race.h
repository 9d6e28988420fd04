/*
 * race.h - races on purpose: what programs share that bring two or more threads to the same few
 * instructions at the same time, again and again (races_*.c).
 *
 * PROGRAM RACE [ROUNDS]
 *
 * A race has parties, a thread each; the first is the main thread.  It runs in rounds.  The main
 * thread prepares a round and starts it.  Each party draws a random delay, waits that long, and
 * acts.  When all have acted, the main thread checks the result.
 *
 * All parties wait in a loop.  So the program needs as many CPUs as it has parties, and more if the
 * parties create threads.  A round that does not end has lost a wakeup, and fails the run as any
 * other mistake does.
 *
 * It runs in exact timing.  What differs from seed to seed is the order of the parties.
 */
#pragma once
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <thread.h>
#include <time.h>
#include <weft/sys.h>
#include <weft/time.h>
#include "tap.h"

#define PARTIES 4
#define LONG 300000 /* ns of a round after which waiters take naps, which cost nothing */
/* A slice and some ticks: an LWP may wait for a CPU that long.  With few LWPs none waits for a CPU
 * or takes a nap: a tenth of it is enough. */
#define TOO_LONG 50000000

struct race {
	const char *name;
	unsigned spread;                      /* a party comes as many turns late at most */
	void (*begin)(void);                  /* once; may be NULL */
	void (*prepare)(unsigned round);      /* may be NULL */
	void (*act[PARTIES])(unsigned round); /* NULL: no such party */
	void (*check)(unsigned round);        /* may be NULL */
	int lwps; /* of the pool, in the model mxn; fewer than parties: these yield.  0: enough */
};

static const struct race *race;
static volatile unsigned started, finished[PARTIES], over;
static volatile hrtime_t since;
static pthread_t party[PARTIES];

/* What must hold; if not, the run ends. */
#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond))                                                                       \
			bail("%s, round %u: %s", race->name, started, #cond);                      \
	} while (0)

/* One turn of a loop that waits for somebody else in this round. */
static inline void in_time(void)
{
	const struct timespec nap = {.tv_nsec = 100000};
	hrtime_t waited = gethrtime() - since;

	if (waited > (race->lwps != 0 ? TOO_LONG / 10 : TOO_LONG))
		bail("%s, round %u does not end", race->name, started);
	if (race->lwps != 0)
		sched_yield();
	else if (waited > LONG)
		/* In the kernel: a thread that slept in the library would wake its LWP of deadlines. */
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, (const struct weft_timespec *)&nap);
}

#define UNTIL(cond)                                                                                \
	do {                                                                                       \
		while (!(cond))                                                                    \
			in_time();                                                                 \
	} while (0)

static inline void turns(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

static __thread uint32_t drawn = 1;

/* Below n. */
static inline unsigned draw(unsigned n)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 17;
	drawn ^= drawn << 5;
	return drawn % n;
}

static inline void come_late(void)
{
	turns(draw(race->spread + 1));
}

static inline void until(hrtime_t when)
{
	while (gethrtime() < when)
		;
}

static inline struct timespec timespec_of(hrtime_t when)
{
	return (struct timespec){when / 1000000000, when % 1000000000};
}

static void act(unsigned me)
{
	unsigned round = started;

	come_late();
	race->act[me](round);
	__atomic_store_n(&finished[me], round, __ATOMIC_RELEASE);
}

static void *play(void *arg)
{
	unsigned me = (uintptr_t)arg;

	drawn = 77 + 1000 * me;
	for (;;) {
		UNTIL(started != finished[me] || over);
		if (over)
			return NULL;
		act(me);
	}
}

static pthread_t new_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

static int run_races(const struct race *races, unsigned n, int argc, char **argv)
{
	unsigned rounds = argc > 2 ? atoi(argv[2]) : 1000, parties;

	for (race = races; race < races + n && argc > 1; race++)
		if (strcmp(race->name, argv[1]) == 0)
			break;
	if (argc < 2 || race == races + n)
		bail("no such race");
	for (parties = 0; parties < PARTIES && race->act[parties] != NULL;)
		parties++;
	since = gethrtime();
	if (race->begin != NULL)
		race->begin();
	if (parties > 1)
		thr_setconcurrency(race->lwps != 0 ? race->lwps : (int)parties + 1);
	party[0] = pthread_self();
	for (unsigned i = 1; i < parties; i++)
		party[i] = new_thread(play, (void *)(uintptr_t)i);
	for (unsigned round = 1; round <= rounds; round++) {
		since = gethrtime();
		if (race->prepare != NULL)
			race->prepare(round);
		__atomic_store_n(&started, round, __ATOMIC_RELEASE);
		act(0);
		for (unsigned i = 1; i < parties; i++)
			UNTIL(finished[i] == round);
		if (race->check != NULL)
			race->check(round);
	}
	over = 1;
	for (unsigned i = 1; i < parties; i++)
		pthread_join(party[i], NULL);
	ok(race->name, true);
	return tap_done();
}
