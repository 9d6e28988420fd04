/*
 * races_look.c RACE [ROUNDS] - the races of signals that the model sa claims to close (race.h): an LWP of
 * the pool looks for threads that take signals of the process (libthread/model/mxn/look.c).
 *
 * The main thread blocks all signals and waits in each round, so its LWP is idle.  Bound threads send.  The
 * pool has one LWP that runs threads, and a spare (concurrency=1).
 */
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
#include "race.h"
#include "start.h"

#define SENDERS 2
#define SENT 8 /* signals of each sender in a round */

static const int signals[SENDERS] = {SIGUSR1, SIGUSR2};
static volatile unsigned handled[SENDERS], taking, all; /* all: signals of each sender so far */
static volatile unsigned awake; /* the round in which the taker has been woken */
static sem_t never, wake;

static void note(int sig)
{
	handled[sig == SIGUSR2]++;
}

/* Sleeps, and alone does not block its signal. */
static void *taker(void *arg)
{
	sigset_t mask = ~0ul;

	sigdelset(&mask, signals[(uintptr_t)arg]);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	taking++;
	for (;;)
		sem_wait(&never);
	return NULL;
}

static void takers_make(unsigned n)
{
	const sigset_t mask = ~0ul;

	sem_init(&never, 0, 0);
	sem_init(&wake, 0, 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	for (uintptr_t i = 0; i < n; i++) {
		signal(signals[i], note);
		new_thread(taker, (void *)i);
	}
	while (taking < n)
		sched_yield();
}

/* --- two signals at once, and the next as soon as both are handled ------------------------------ */

/* Keeps the LWP that runs threads.  So the spare is the only LWP that looks. */
static void *yields(void *arg)
{
	for (;;)
		sched_yield();
	return NULL;
}

static void at_once_begin(void)
{
	takers_make(SENDERS);
	new_thread(yields, NULL);
}

static void *sends(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	drawn = 7919 * (2 * started + me + 1);
	for (unsigned i = 1; i <= SENT; i++) {
		come_late();
		kill(getpid(), signals[me]);
		UNTIL(handled[0] >= all + i && handled[1] >= all + i);
	}
	return NULL;
}

static void at_once_send(unsigned round)
{
	pthread_t t[SENDERS];

	for (uintptr_t i = 0; i < SENDERS; i++)
		t[i] = start(sends, (void *)i, PTHREAD_SCOPE_SYSTEM);
	for (unsigned i = 0; i < SENDERS; i++)
		pthread_join(t[i], NULL);
	all += SENT;
}

/* --- an LWP that is to look, and is given a thread that computes ------------------------------- */

static void *computes(void *arg)
{
	for (;;) {
		sem_wait(&wake);
		UNTIL(handled[0] == started);
	}
	return NULL;
}

static void computes_begin(void)
{
	takers_make(1);
	new_thread(computes, NULL);
	for (int i = 0; i < 3; i++)
		sched_yield();
}

static void *sends_and_wakes(void *arg)
{
	drawn = 7919 * started;
	come_late();
	kill(getpid(), SIGUSR1);
	sem_post(&wake);
	UNTIL(handled[0] == started);
	return NULL;
}

static void computes_send(unsigned round)
{
	pthread_join(start(sends_and_wakes, NULL, PTHREAD_SCOPE_SYSTEM), NULL);
}

/* --- an LWP that is chosen while its thread blocks ----------------------------------------------- */

static void *blocks(void *arg)
{
	sigset_t mask = ~0ul;

	sigdelset(&mask, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	taking++;
	for (;;) {
		while (sem_wait(&wake) != 0)
			;
		awake = started;
	}
	return NULL;
}

static void blocks_begin(void)
{
	takers_make(0);
	signal(SIGUSR1, note);
	new_thread(blocks, NULL);
	while (taking == 0)
		sched_yield();
}

static void *sends_as_it_blocks(void *arg)
{
	drawn = 7919 * started;
	sem_post(&wake);
	UNTIL(awake == started);
	come_late();
	kill(getpid(), SIGUSR1);
	UNTIL(handled[0] == started);
	return NULL;
}

static void blocks_send(unsigned round)
{
	pthread_join(start(sends_as_it_blocks, NULL, PTHREAD_SCOPE_SYSTEM), NULL);
}

static const struct race races[] = {
	{.name = "at-once", .spread = 300, .begin = at_once_begin, .act = {at_once_send}},
	{.name = "computes", .spread = 300, .begin = computes_begin, .act = {computes_send}},
	{.name = "blocks", .spread = 60, .begin = blocks_begin, .act = {blocks_send}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
