/*
 * races_suspend.c RACE [ROUNDS] - the races of thr_suspend that the library claims to close (race.h).
 * Those of a signal and a suspended thread: thr_hand_on.c.
 */
#include <signal.h>
#include "race.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* --- two threads suspend each other ----------------------------------------------------------- */

static volatile thread_t pair[2];
static volatile unsigned suspended, may_end;

static void pair_prepare(unsigned round)
{
	pair[0] = pair[1] = 0;
	suspended = 0;
}

static void *suspends_other(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	drawn = 2 * started + me + 1;
	UNTIL(pair[!me] != 0);
	come_late();
	MUST(thr_suspend(pair[!me]) == 0);
	__atomic_fetch_add(&suspended, 1, __ATOMIC_RELAXED);
	UNTIL(may_end == started);
	return NULL;
}

/* One of the two is suspended first, and then the other in its turn, when it has gone on. */
static void pair_continue(unsigned round)
{
	for (uintptr_t i = 0; i < 2; i++)
		MUST(thr_create(NULL, 0, suspends_other, (void *)i, THR_BOUND,
				(thread_t *)&pair[i]) == 0);
	do {
		for (int i = 0; i < 2; i++)
			MUST(thr_continue(pair[i]) == 0);
		turns(100);
	} while (suspended != 2);
	for (int i = 0; i < 2; i++)
		MUST(thr_continue(pair[i]) == 0);
	may_end = round;
	for (int i = 0; i < 2; i++)
		thr_join(pair[i], NULL, NULL);
}

/* With the bug the first party waits for ever. */
static void pair_watch(unsigned round)
{
	UNTIL(finished[0] == round);
}

/* --- a thread is suspended that is being created ---------------------------------------------- */

static volatile unsigned long newborn, counted, enough;

static void *counts(void *arg)
{
	while (enough != started)
		counted = counted + 1;
	return NULL;
}

static void newborn_prepare(unsigned round)
{
	newborn = 0;
}

static void newborn_create(unsigned round)
{
	MUST(pthread_create((pthread_t *)&newborn, NULL, counts, NULL) == 0);
	UNTIL(enough == round);
	pthread_join(newborn, NULL);
}

static void newborn_suspend(unsigned round)
{
	unsigned long seen;

	UNTIL(newborn != 0);
	MUST(thr_suspend(newborn) == 0);
	seen = counted;
	turns(1000);
	MUST(counted == seen);
	MUST(thr_continue(newborn) == 0);
	enough = round;
}

/* --- a thread is suspended while it wakes many others ------------------------------------------ */

static volatile unsigned waiting, ended;

static void many_prepare(unsigned round)
{
	waiting = ended = 0;
}

static void many_wait(unsigned round)
{
	pthread_mutex_lock(&mutex);
	waiting++;
	pthread_cond_wait(&cond, &mutex);
	ended++;
	pthread_mutex_unlock(&mutex);
}

static void many_wake(unsigned round)
{
	UNTIL(waiting == 2);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_cond_broadcast(&cond);
}

/* If all have left the queue, all go on. */
static void many_stop(unsigned round)
{
	UNTIL(waiting == 2);
	turns(draw(300));
	if (thr_suspend(party[1]) != 0)
		return;
	if (cond.__waiters == 0)
		UNTIL(ended == 2);
	thr_continue(party[1]);
}

/* --- a thread suspends itself in a handler, while it wakes many others -------------------------- */

static volatile bool stops, goes_on;

static void suspends_itself(int sig)
{
	stops = true;
	thr_suspend(thr_self());
	goes_on = true;
}

static void itself_begin(void)
{
	signal(SIGUSR1, suspends_itself);
}

static void itself_prepare(unsigned round)
{
	many_prepare(round);
	stops = goes_on = false;
}

static void itself_stop(unsigned round)
{
	UNTIL(waiting == 2);
	turns(draw(300));
	MUST(pthread_kill(party[1], SIGUSR1) == 0);
	UNTIL(stops);
	turns(500); /* now it has stopped */
	if (cond.__waiters == 0)
		UNTIL(ended == 2);
	do { /* in case that it has not */
		thr_continue(party[1]);
		turns(100);
	} while (!goes_on);
}

/* --- a thread is suspended while it releases a mutex -------------------------------------------- */

static volatile unsigned held;

static void mutex_release(unsigned round)
{
	pthread_mutex_lock(&mutex);
	held = round;
	turns(draw(200));
	pthread_mutex_unlock(&mutex);
}

static void mutex_take(unsigned round)
{
	UNTIL(held == round);
	pthread_mutex_lock(&mutex);
	turns(draw(20));
	pthread_mutex_unlock(&mutex);
}

/* Unless the suspended thread has the mutex, other threads can have it. */
static void mutex_stop(unsigned round)
{
	unsigned long owner;

	UNTIL((owner = mutex.__owner & ~63ul) != 0 || finished[1] == round);
	turns(draw(800));
	if (thr_suspend(party[1]) != 0)
		return;
	if ((mutex.__owner & ~63ul) != owner)
		UNTIL(finished[2] == round && finished[3] == round);
	thr_continue(party[1]);
}

static const struct race races[] = {
	{.name = "newborn", .prepare = newborn_prepare, .act = {newborn_create, newborn_suspend}},
	{.name = "many",
	 .spread = 100,
	 .prepare = many_prepare,
	 .act = {many_stop, many_wake, many_wait, many_wait}},
	{.name = "many-itself",
	 .spread = 100,
	 .begin = itself_begin,
	 .prepare = itself_prepare,
	 .act = {itself_stop, many_wake, many_wait, many_wait}},
	{.name = "mutex",
	 .spread = 100,
	 .act = {mutex_stop, mutex_release, mutex_take, mutex_take}},
	{.name = "each-other",
	 .spread = 50,
	 .prepare = pair_prepare,
	 .act = {pair_continue, pair_watch}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
