/*
 * races_suspend.c RACE [ROUNDS] - the races of thr_suspend that the library claims to close (race.h).
 * Those of a signal and a suspended thread: thr_hand_on.c.
 */
#include "race.h"

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

static const struct race races[] = {
	{.name = "each-other",
	 .spread = 50,
	 .prepare = pair_prepare,
	 .act = {pair_continue, pair_watch}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
