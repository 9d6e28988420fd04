/*
 * labcond.h - what the tests of condition variables share: a mutex, two condition variables, and what goes wrong
 * in any game with them.
 */
#pragma once
#include "players.h"
#include "../../../libthread/sync/mutex.h"

#define GAME_MS 40

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile unsigned flag, went_on, waiting;

static inline void cond_sleep(unsigned me, pthread_cond_t *c)
{
	player[me].doing = "pthread_cond_wait";
	int error = pthread_cond_wait(c, &mutex);
	player[me].doing = "the game";
	EXPECT(error == 0, "pthread_cond_wait returns %ld, not 0", error);
	EXPECT(mutex_owner(&mutex) == thread_self(),
	       "pthread_cond_wait returns to thread %ld, which does not own the mutex", me);
}

static inline int cond_sleep_until(unsigned me, int64_t when)
{
	struct timespec at = time_of(when);

	player[me].doing = "pthread_cond_clockwait";
	int error = pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &at);
	player[me].doing = "the game";
	if (mutex_owner(&mutex) != thread_self())
		blame("pthread_cond_clockwait returns %ld to thread %ld, which does not own the "
		      "mutex",
		      error, me, 0);
	return error;
}

/* Waits until all players except 0 sleep. */
static inline bool all_asleep(void)
{
	for (unsigned i = 1; i < players; i++)
		if (!asleep_within(i, 1000000)) {
			blame("thread %ld waits for a condition that no thread has signalled, and "
			      "does not "
			      "sleep",
			      i, 0, 0);
			return false;
		}
	return true;
}

static inline void waits_once(unsigned me)
{
	pthread_mutex_lock(&mutex);
	cond_sleep(me, &cond);
	went_on++;
	pthread_mutex_unlock(&mutex);
}

/* The variables are 0 at the beginning of the game, and the mutex has no owner at its end. */
static void play_conditions(const char *name, unsigned n, void (*fn)(unsigned me))
{
	went_on = flag = waiting = 0;
	play(name, n, GAME_MS, fn);
	lab_check(mutex_owner(&mutex) == NULL, name,
		  "the game is over, and the mutex has an owner");
}
