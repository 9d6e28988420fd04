/*
 * races_masks.c RACE [ROUNDS] - the races of masks in the records of LWPs (kernel/proc/sigmask.c), which threads of
 * the model sa change without a system call (race.h).
 */
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
#include "race.h"
#include "start.h"

#define CHANGES 20

static volatile unsigned handled, reached, opened;
static sem_t sem;

static void handler(int sig)
{
	handled = started;
}

static void mask(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	if (pthread_sigmask(how, &set, NULL) != 0)
		bail("pthread_sigmask");
}

static void begin(void)
{
	sem_init(&sem, 0, 0);
	signal(SIGUSR1, handler);
	mask(SIG_BLOCK, SIGUSR1);
}

static void send(unsigned round)
{
	if (round % 2)
		pthread_kill(party[1], SIGUSR1);
	else
		kill(getpid(), SIGUSR1);
	UNTIL(handled == round);
}

/* --- a signal, and the thread unblocks it -------------------------------------------------------- */

static void unblock(unsigned round)
{
	mask(SIG_UNBLOCK, SIGUSR1);
	UNTIL(handled == round);
	mask(SIG_BLOCK, SIGUSR1);
}

/* --- a signal, and the thread blocks and unblocks it --------------------------------------------- */

static void change(unsigned round)
{
	for (int i = 0; i < CHANGES; i++) {
		mask(SIG_UNBLOCK, SIGUSR1);
		turns(draw(8));
		mask(SIG_BLOCK, SIGUSR1);
		turns(draw(8));
	}
	unblock(round);
}

/* --- a signal, and the thread blocks it; another thread, which sleeps, would take it ------------- */

static void *taker(void *arg)
{
	mask(SIG_UNBLOCK, SIGUSR1);
	reached = 1;
	for (;;)
		sem_wait(&sem);
	return NULL;
}

static void block_begin(void)
{
	begin();
	new_thread(taker, NULL);
	while (!reached)
		sched_yield();
}

static void block(unsigned round)
{
	mask(SIG_UNBLOCK, SIGUSR1);
	turns(100);
	come_late();
	mask(SIG_BLOCK, SIGUSR1);
	UNTIL(handled == round);
}

static void block_send(unsigned round)
{
	turns(100);
	kill(getpid(), SIGUSR1);
	UNTIL(handled == round);
}

/* --- a signal that ends the process, and an idle LWP that gets a thread which blocks it ---------- */

static void *ends_open(void *arg)
{
	pthread_detach(pthread_self());
	mask(SIG_UNBLOCK, SIGUSR2);
	opened = started + 1;
	return NULL;
}

static void *woken(void *arg)
{
	for (;;) {
		sem_wait(&sem);
		reached = started;
	}
	return NULL;
}

static void idle_begin(void)
{
	begin();
	mask(SIG_BLOCK, SIGUSR2);
	new_thread(woken, NULL);
}

/* The last thread of the LWP that becomes idle does not block the signal. */
static void idle_prepare(unsigned round)
{
	signal(SIGUSR2, SIG_IGN); /* drops the signal of the last round */
	new_thread(ends_open, NULL);
	UNTIL(opened == round); /* on its own LWP, so it does not leave this LWP to the caller */
	turns(500);
	signal(SIGUSR2, SIG_DFL);
}

static void idle_post(unsigned round)
{
	come_late(); /* kill() comes to this LWP late, and the LWP is idle no longer some 500 instructions after the post */
	sem_post(&sem);
	UNTIL(reached == round);
}

static void idle_send(unsigned round)
{
	kill(getpid(), SIGUSR2);
}

static const struct race races[] = {
	{.name = "unblock", .spread = 40, .begin = begin, .act = {send, unblock}},
	{.name = "change", .spread = 200, .begin = begin, .act = {send, change}},
	{.name = "block", .spread = 100, .begin = block_begin, .act = {block_send, block}},
	{.name = "idle",
	 .spread = 300,
	 .begin = idle_begin,
	 .prepare = idle_prepare,
	 .act = {idle_post, idle_send}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
