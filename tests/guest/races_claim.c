/*
 * races_claim.c RACE [ROUNDS] - the races that model sa claims to close for idle LWPs, which wakers claim without
 * _schedlock (model/mxn/claim.c, race.h).  As many LWPs as parties that wait in a loop.
 */
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
#include "race.h"

#define SOON 5000000 /* ns; a slice is twenty times as long */

static sem_t first, second;
static volatile unsigned first_woken, first_waits, second_waits;

static void sems_begin(void)
{
	sem_init(&first, 0, 0);
	sem_init(&second, 0, 0);
}

/* A thread that waits so keeps its LWP. */
static void spin_for_first(unsigned round)
{
	hrtime_t end = gethrtime() + SOON;

	while (first_woken != round && gethrtime() < end)
		;
}

static void first_wait(unsigned round)
{
	first_waits = round;
	sem_wait(&first);
	first_woken = round;
}

/* --- an LWP that becomes idle again while its thread is woken -------------------------------------- */

static void again_post(unsigned round)
{
	sem_post(&first);
	spin_for_first(round);
	MUST(first_woken == round);
}

/* --- an idle LWP that looks for signals while a thread is woken ------------------------------------- */

static sigset_t blocked;

/* All threads block the signal, as the program before exec did: so they are plain. */
static void told_begin(void)
{
	sems_begin();
	sigaddset(&blocked, SIGUSR1);
}

static void told_post(unsigned round)
{
	const struct timespec none = {0};

	turns(draw(500));
	kill(getpid(), SIGUSR1);
	turns(draw(500));
	sem_post(&first);
	spin_for_first(round);
	MUST(first_woken == round);
	sigtimedwait(&blocked, NULL, &none);
}

static void exec_blocking(char **argv)
{
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	if (sigismember(&set, SIGUSR1))
		return;
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	execvp(argv[0], argv);
	bail("execvp");
}

/* --- an LWP that is awake while a waker claims it --------------------------------------------------- */

/* Both have blocked, and their LWP spins. */
static void await_both(unsigned round)
{
	while (first_waits != round || second_waits != round)
		;
	turns(1000 + draw(2000));
}

static void awake_post_first(unsigned round)
{
	await_both(round);
	sem_post(&first);
}

static void awake_post_second(unsigned round)
{
	await_both(round);
	sem_post(&second);
}

/* If the LWP takes this thread, and its partner is the first thread, no other LWP can run its partner. */
static void awake_wait_second(unsigned round)
{
	second_waits = round;
	sem_wait(&second);
	spin_for_first(round);
	MUST(first_woken == round);
}

static const struct race races[] = {
	{.name = "again",
	 .spread = 100,
	 .begin = sems_begin,
	 .act = {again_post, first_wait},
	 .lwps = 2},
	{.name = "told",
	 .spread = 100,
	 .begin = told_begin,
	 .act = {told_post, first_wait},
	 .lwps = 2},
	{.name = "awake",
	 .spread = 20,
	 .begin = sems_begin,
	 .act = {awake_post_first, first_wait, awake_wait_second, awake_post_second},
	 .lwps = 3},
};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "told") == 0)
		exec_blocking(argv);
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
