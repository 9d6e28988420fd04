/*
 * crew.h - what the tests of the kernel labs share: some LWPs that play a game, and the main LWP, which waits
 * for their end.
 *
 * The LWPs of the crew are raw (rawlwp.h): no thread of the library is behind them, so that
 * no lock of the library stands between the test and the kernel.  The main LWP sleeps by lwp_sleep.
 * A game that does not end in time is reported with the state of each LWP that has not ended.
 */
#pragma once
#include "labtest.h"
#include "rawlwp.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/start.h>
#include <weft/time.h>

#define CREW 48

static unsigned rounds = 40;
static uint32_t chance = 1; /* the state of the numbers that are drawn */

static struct raw crew[CREW];
static unsigned crew_size;
static volatile uint32_t crew_ended;
static volatile bool crew_over;    /* a fault, or no time is left: loops end */
static int64_t crew_pause = 20000; /* ns between two looks of the main LWP */
static const char *crew_hint = "is a wake-up lost, or does an LWP never stop?";
static bool crew_early; /* each of the crew is unparked before it has run */
static void (*crew_game)(unsigned me);

/* The first thing that went wrong, as a format and three numbers. */
static const char *volatile fault_text;
static volatile long fault_number[3];

/* Of the LWPs of the crew; only the first fault counts. */
static void blame(const char *text, long a, long b, long c)
{
	static volatile uint32_t taken;

	if (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQ_REL) == 0) {
		fault_number[0] = a;
		fault_number[1] = b;
		fault_number[2] = c;
		__atomic_store_n(&fault_text, text, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&crew_over, true, __ATOMIC_RELEASE);
}

/* What must hold.  text: what is wrong if not, with three %ld at most. */
#define EXPECT3(cond, text, a, b, c)                                                               \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			blame(text, a, b, c);                                                      \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define EXPECT(cond, text, a) EXPECT3(cond, text, a, 0, 0)

static struct weft_timespec time_of(int64_t when)
{
	return (struct weft_timespec){when / 1000000000, when % 1000000000};
}

static inline long park(void)
{
	return __sys_lwp_park(NULL, 0);
}

/* Parks with a deadline that have begun and not ended, and a late one of their deadlines: relaxed atomics, which only
 * choose the words of a report. */
static uint32_t timed_parks;
static int64_t timed_until;

static inline long park_until(int64_t when)
{
	struct weft_timespec at = time_of(when);

	if (when > __atomic_load_n(&timed_until, __ATOMIC_RELAXED))
		__atomic_store_n(&timed_until, when, __ATOMIC_RELAXED);
	__atomic_add_fetch(&timed_parks, 1, __ATOMIC_RELAXED);
	long r = __sys_lwp_park(&at, 0);
	__atomic_sub_fetch(&timed_parks, 1, __ATOMIC_RELAXED);
	return r;
}

static inline long park_for(int64_t ns)
{
	return park_until(gethrtime() + ns);
}

static void nap(int64_t ns)
{
	struct weft_timespec at = time_of(ns);

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &at);
}

static inline void compute_until(int64_t when)
{
	while (gethrtime() < when)
		;
}

static inline void turns(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

/* A number below n; each LWP has its own state. */
static inline unsigned draw(uint32_t *state, unsigned n)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % n;
}

static uint32_t state_of(uint32_t id)
{
	struct lwp_info info;

	if (__sys_lwp_info(__sys_getpid(), id, &info) < 0 || info.id != id)
		return LWP_ST_ZOMB;
	return info.state;
}

/* Waits until an LWP of the crew sleeps.  False, with a fault: it does not within 3 ms. */
static inline bool until_asleep(unsigned who)
{
	int64_t limit = gethrtime() + 3000000;
	uint32_t state;

	while ((state = state_of(crew[who].id)) != LWP_ST_SLEEP) {
		if (state == LWP_ST_ZOMB)
			blame("LWP %ld parks without a permit, and goes on before it is unparked",
			      crew[who].id, 0, 0);
		else if (gethrtime() > limit)
			blame("LWP %ld parks without a permit, and is not asleep 3 ms later (its "
			      "state is %ld; 1: waits for a CPU, 2: on a CPU)",
			      crew[who].id, state, 0);
		if (crew_over)
			return false;
		nap(2000);
	}
	return true;
}

static void crew_main(struct raw *r)
{
	crew_game(r->arg);
	__atomic_add_fetch(&crew_ended, 1, __ATOMIC_RELEASE);
}

static const char *state_name(uint32_t state)
{
	static const char *const name[] = {
		[LWP_ST_IDLE] = "being created", [LWP_ST_RUN] = "waiting for a CPU",
		[LWP_ST_ONPROC] = "on a CPU",    [LWP_ST_SLEEP] = "asleep",
		[LWP_ST_STOP] = "suspended",     [LWP_ST_ZOMB] = "at its end"};

	return state < sizeof(name) / sizeof(name[0]) ? name[state] : "?";
}

/* Tells which LWPs have not ended, and ends the process: they may never. */
static void crew_stuck(const char *name, int64_t ms)
{
	char text[200] = "";
	size_t n = 0;

	for (unsigned i = 0; i < crew_size && n < sizeof(text) - 60; i++) {
		struct lwp_info info;
		if (__sys_lwp_info(__sys_getpid(), crew[i].id, &info) < 0 || info.id != crew[i].id)
			continue;
		n += snprintf(text + n, sizeof(text) - n, "%sLWP %u is %s%s%s", n ? ", " : "",
			      info.id, state_name(info.state), info.wchan[0] ? ": " : "",
			      info.wchan);
	}
	int64_t late = gethrtime() - __atomic_load_n(&timed_until, __ATOMIC_RELAXED);
	if (__atomic_load_n(&timed_parks, __ATOMIC_RELAXED) != 0 && late > 1000000)
		lab_check(
			false, name,
			"not done after %lld ms; %s: a park with a deadline has not ended %lld ns "
			"after it",
			(long long)ms, text, (long long)late);
	else
		lab_check(false, name, "not done after %lld ms; %s: %s", (long long)ms, text,
			  crew_hint);
	_exit(lab_end());
}

/* Starts an LWP of the crew, suspended. */
static void crew_add(unsigned me)
{
	crew[me].id = 0;
	if (raw_start(&crew[me], crew_main, me, LWP_SUSPENDED) != 0) {
		fprintf(stderr, "lwp_create fails\n");
		_exit(2);
	}
}

/*
 * Plays a game with n LWPs, fn(0) to fn(n - 1), and makes one check of it, which fails if they blame
 * the park or have not ended after ms.  The process ends here then, because they may never end.
 */
static void play(const char *name, unsigned n, int64_t ms, void (*fn)(unsigned me))
{
	int64_t limit = gethrtime() + ms * 1000000;

	crew_game = fn;
	crew_size = n;
	crew_ended = 0;
	for (unsigned i = 0; i < n; i++)
		crew_add(i);
	for (unsigned i = 0; i < n; i++) {
		if (crew_early)
			__sys_lwp_unpark(crew[i].id);
		__sys_lwp_continue(crew[i].id);
	}
	while (__atomic_load_n(&crew_ended, __ATOMIC_ACQUIRE) != n && fault_text == NULL) {
		nap(crew_pause);
		if (gethrtime() > limit)
			crew_stuck(name, ms);
	}
	if (fault_text != NULL) {
		lab_check(false, name, fault_text, fault_number[0], fault_number[1],
			  fault_number[2]);
		_exit(lab_end());
	}
	for (unsigned i = 0; i < n; i++)
		__sys_lwp_wait(crew[i].id, NULL);
	lab_check(true, name, "-");
}

/* --- main --------------------------------------------------------------------------------------- */

struct part {
	const char *name;
	void (*play)(void);
};

/* PROGRAM PART [ROUNDS [CHANCE]].  Returns the status. */
static int play_part(const struct part *parts, unsigned n, int argc, char **argv)
{
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		chance += 7919 * atoi(argv[3]);
	for (unsigned i = 0; i < n && argc > 1; i++)
		if (strcmp(parts[i].name, argv[1]) == 0) {
			parts[i].play();
			return lab_end();
		}
	fprintf(stderr, "usage: %s PART [ROUNDS [CHANCE]]\n", argv[0]);
	return 2;
}
