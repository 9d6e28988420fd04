/*
 * players.h - what the tests of the library's labs share: some threads that play a game, and the
 * main thread, which waits for their end.
 *
 * The main thread sleeps in the kernel, by lwp_sleep, so that it depends on nothing of the library
 * that is tested.  The players are detached: no queue of the library is needed to wait for
 * their end.  A game that does not end in time is reported with what each of its players does.
 */
#pragma once
#include "labtest.h"
#include "../../libthread/core/sleepq.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/time.h>

#define PLAYERS 40

struct player {
	struct thread *thread;
	uint32_t lwp;               /* the LWP on which it began */
	uint32_t chance;            /* the state of the numbers that it draws */
	const char *volatile doing; /* what it does, for a report; NULL: it has ended */
};

static struct player player[PLAYERS];
static unsigned players;
static unsigned rounds = 40;
static uint32_t chance = 1;
static volatile uint32_t game_ended;
static volatile bool game_over; /* a fault, or no time is left: loops end */
static void (*game_fn)(unsigned me);

/* The first thing that went wrong, as a format and three numbers. */
static const char *volatile fault_text;
static volatile long fault_number[3];

/* Of any player; only the first fault counts. */
static inline void blame(const char *text, long a, long b, long c)
{
	static volatile uint32_t taken;

	if (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQ_REL) == 0) {
		fault_number[0] = a;
		fault_number[1] = b;
		fault_number[2] = c;
		__atomic_store_n(&fault_text, text, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&game_over, true, __ATOMIC_RELEASE);
}

/* What must hold, in a function without a result.  text: what is wrong if not, with three %ld at
 * most. */
#define EXPECT3(cond, text, a, b, c)                                                               \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			blame(text, a, b, c);                                                      \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define EXPECT(cond, text, a) EXPECT3(cond, text, a, 0, 0)

/* Sleeps in the kernel, on the caller's LWP. */
static void nap(int64_t ns)
{
	struct weft_timespec at = {ns / 1000000000, ns % 1000000000};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &at);
}

static inline struct timespec time_of(int64_t when)
{
	return (struct timespec){when / 1000000000, when % 1000000000};
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

/* A number below n. */
static inline unsigned draw_from(uint32_t *state, unsigned n)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % n;
}

static inline unsigned draw(unsigned me, unsigned n)
{
	return draw_from(&player[me].chance, n);
}

static inline void come_late(unsigned me, unsigned most)
{
	turns(draw(me, most));
}

/* One turn of a loop that waits for another player. */
static inline void wait_a_turn(unsigned *turn)
{
	if (++*turn < 50)
		sched_yield(); /* also to a thread that is on no LWP */
	else
		nap(3000);
}

/* Waits for a condition, or until the game is over. */
#define UNTIL(cond)                                                                                \
	do {                                                                                       \
		for (unsigned turn_ = 0; !(cond) && !game_over;)                                   \
			wait_a_turn(&turn_);                                                       \
	} while (0)

static inline bool lwp_is_asleep(uint32_t id)
{
	struct lwp_info info;

	return __sys_lwp_info(__sys_getpid(), id, &info) >= 0 && info.id == id &&
	       info.state == LWP_ST_SLEEP;
}

/* Is this player blocked?  In a model with a pool the LWP of a blocked thread runs other threads. */
static inline bool is_asleep(unsigned who)
{
	const struct thread *t = player[who].thread;

	if (t == NULL || t->state != TS_BLOCKED)
		return false;
	return t->bound || __one_lock == NULL ? lwp_is_asleep(player[who].lwp)
					      : t->lwp->id == 0 && t->wchan != NULL;
}

/* Waits until a player sleeps.  False: it does not within so many ns, or its game is over. */
static inline bool asleep_within(unsigned who, int64_t ns)
{
	int64_t limit = gethrtime() + ns;

	while (!is_asleep(who)) {
		if (gethrtime() > limit || game_over || player[who].doing == NULL)
			return false;
		nap(2000);
	}
	return true;
}

static void *player_main(void *arg)
{
	unsigned me = (uintptr_t)arg;

	player[me].thread = thread_self();
	player[me].lwp = __sys_lwp_self();
	game_fn(me);
	player[me].doing = NULL;
	__atomic_add_fetch(&game_ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Tells which players have not ended, and ends the process: they may never. */
static inline void game_stuck(const char *name, int64_t ms)
{
	char text[220] = "";
	size_t n = 0;

	for (unsigned i = 0; i < players && n < sizeof(text) - 60; i++)
		if (player[i].doing != NULL)
			n += snprintf(text + n, sizeof(text) - n, "%sthread %u is %s in %s",
				      n ? ", " : "", i, is_asleep(i) ? "asleep" : "awake",
				      player[i].doing);
	lab_check(false, name, "not done after %lld ms; %s: is a wake-up lost?", (long long)ms,
		  text);
	_exit(lab_end());
}

static inline void player_reset(unsigned me)
{
	memset(&player[me], 0, sizeof(player[me]));
	player[me].chance = 77 + 1000 * me + draw_from(&chance, 1000);
	player[me].doing = "its beginning";
}

static inline void player_start(unsigned me)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&t, &attr, player_main, (void *)(uintptr_t)me) != 0) {
		fprintf(stderr, "pthread_create fails\n");
		_exit(2);
	}
}

/*
 * Plays a game with n threads, fn(0) to fn(n - 1), and makes one check of it, which fails if they
 * blame the library or have not ended after ms.  The process ends here then, because they may never
 * end.
 */
static inline void play(const char *name, unsigned n, int64_t ms, void (*fn)(unsigned me))
{
	int64_t limit = gethrtime() + ms * 1000000;

	game_fn = fn;
	players = n;
	game_ended = 0;
	for (unsigned i = 0; i < n; i++)
		player_reset(i); /* before any of them begins: they look at each other */
	for (unsigned i = 0; i < n; i++)
		player_start(i);
	while (__atomic_load_n(&game_ended, __ATOMIC_ACQUIRE) != n && fault_text == NULL) {
		nap(20000);
		if (gethrtime() > limit)
			game_stuck(name, ms);
	}
	if (fault_text != NULL) {
		lab_check(false, name, fault_text, fault_number[0], fault_number[1],
			  fault_number[2]);
		_exit(lab_end());
	}
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
