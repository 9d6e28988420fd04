/*
 * races_queue.c RACE [ROUNDS] - the races that model sa claims to close for threads that wait in sleep queues, each
 * under its own lock (model/mxn/queue.c, race.h).
 *
 * With fewer LWPs than parties, parties that have nothing to do yield.  So the LWPs' lists have threads, and a thread
 * that blocks leaves its LWP to one of them.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
#include "race.h"

#define TURNS 10

static pthread_mutex_t m[PARTIES];
static pthread_cond_t c[PARTIES];
static unsigned count, ready, added;
static volatile unsigned woken, tired;
static sem_t sleeper;

static void objects_begin(void)
{
	for (int i = 0; i < PARTIES; i++) {
		pthread_mutex_init(&m[i], NULL);
		pthread_cond_init(&c[i], NULL);
	}
	sem_init(&sleeper, 0, 0);
}

static void yields(unsigned n)
{
	while (n-- > 0)
		sched_yield();
}

static void yielder(unsigned round)
{
	yields(6);
	turns(draw(200));
	yields(6);
}

/* --- one mutex, and threads that yield while they own it ---------------------------------------- */

static void count_prepare(unsigned round)
{
	count = 0;
	added = 0;
}

static void count_up(unsigned round)
{
	for (int i = 0; i < TURNS; i++) {
		unsigned before;

		pthread_mutex_lock(&m[0]);
		before = count;
		if (draw(2))
			sched_yield();
		turns(draw(30));
		count = before + 1;
		pthread_mutex_unlock(&m[0]);
		turns(draw(30));
	}
	__atomic_add_fetch(&added, TURNS, __ATOMIC_RELAXED);
}

static void count_check(unsigned round)
{
	MUST(count == added);
}

/* --- a signal while the waiter releases a mutex for which another thread waits ------------------- */

static void signal_wait(unsigned round)
{
	pthread_mutex_lock(&m[0]);
	yields(2);
	turns(draw(60));
	while (ready != round)
		pthread_cond_wait(&c[0], &m[0]);
	pthread_mutex_unlock(&m[0]);
}

static void signal_send(unsigned round)
{
	while (pthread_mutex_trylock(&m[0]) != 0)
		turns(draw(4));
	ready = round;
	pthread_mutex_unlock(&m[0]);
	pthread_cond_signal(&c[0]);
}

static void signal_in_the_way(unsigned round)
{
	turns(draw(60));
	pthread_mutex_lock(&m[0]);
	pthread_mutex_unlock(&m[0]);
}

/* --- a deadline, and a signal at the same moment --------------------------------------------------- */

static void in_time_wait(unsigned round)
{
	pthread_mutex_lock(&m[0]);
	for (int i = 0; i < TURNS; i++) {
		struct timespec t = timespec_of(gethrtime() + draw(20000));
		int error = pthread_cond_clockwait(&c[0], &m[0], CLOCK_MONOTONIC, &t);

		MUST(error == 0 || error == ETIMEDOUT);
	}
	tired++;
	pthread_mutex_unlock(&m[0]);
}

static void in_time_signal(unsigned round)
{
	while (tired != 2) {
		turns(draw(60));
		pthread_cond_signal(&c[0]);
		if (draw(4) == 0)
			sched_yield();
	}
	tired = 0;
}

/* --- a new priority for a thread that goes from queue to queue ------------------------------------- */

static void move_along(unsigned round)
{
	for (int i = 0; i < 3 * TURNS; i++) {
		int at = draw(PARTIES);

		pthread_mutex_lock(&m[at]);
		sched_yield();
		turns(draw(20));
		pthread_mutex_unlock(&m[at]);
	}
	tired++;
}

/* With a priority above theirs, which keeps an LWP. */
static void change_priorities(unsigned round)
{
	MUST(thr_setprio(party[0], 2) == 0);
	while (tired != 2) {
		int at = 1 + draw(2);

		MUST(thr_setprio(party[at], draw(2)) == 0);
		turns(draw(40));
	}
	for (int i = 0; i < 3; i++)
		MUST(thr_setprio(party[i], 0) == 0);
	tired = 0;
}

/* --- a handler in the waiter, and a signal of the condition variable at the same moment -------------- */

static void handler(int sig)
{
}

static void kick_begin(void)
{
	objects_begin();
	signal(SIGUSR1, handler);
}

static void kick_signal(unsigned round)
{
	turns(draw(200));
	pthread_mutex_lock(&m[0]);
	ready = round;
	pthread_mutex_unlock(&m[0]);
	pthread_cond_signal(&c[0]);
}

static void kick(unsigned round)
{
	yields(4);
	turns(draw(300));
	MUST(pthread_kill(party[1], SIGUSR1) == 0);
	if (draw(2))
		sched_yield();
}

/* --- an LWP that goes idle while the waiter is woken ------------------------------------------------ */

static void idle_wait(unsigned round)
{
	pthread_mutex_lock(&m[1]);
	while (ready != round)
		pthread_cond_wait(&c[1], &m[1]);
	pthread_mutex_unlock(&m[1]);
	woken = round;
}

/* The waker keeps its LWP.  So the waiter runs on the other one, which has no thread. */
static void idle_signal(unsigned round)
{
	hrtime_t end;

	yields(6);
	turns(draw(300));
	pthread_mutex_lock(&m[1]);
	ready = round;
	pthread_mutex_unlock(&m[1]);
	pthread_cond_signal(&c[1]);
	for (end = gethrtime() + 1000000; woken != round;)
		MUST(gethrtime() < end);
	sem_post(&sleeper);
}

static void idle_sleep(unsigned round)
{
	turns(draw(600));
	sem_wait(&sleeper);
}

static const struct race races[] = {
	{.name = "mutex",
	 .spread = 50,
	 .begin = objects_begin,
	 .prepare = count_prepare,
	 .act = {count_up, count_up, count_up, count_up},
	 .check = count_check,
	 .lwps = 2},
	{.name = "signal",
	 .spread = 50,
	 .begin = objects_begin,
	 .act = {signal_send, signal_wait, signal_in_the_way, yielder},
	 .lwps = 2},
	{.name = "in-time",
	 .spread = 50,
	 .begin = objects_begin,
	 .act = {in_time_signal, in_time_wait, in_time_wait},
	 .lwps = 2},
	{.name = "priority",
	 .spread = 50,
	 .begin = objects_begin,
	 .act = {change_priorities, move_along, move_along},
	 .lwps = 2},
	{.name = "kick",
	 .spread = 50,
	 .begin = kick_begin,
	 .act = {kick, signal_wait, kick_signal, yielder},
	 .lwps = 3},
	{.name = "idle",
	 .spread = 50,
	 .begin = objects_begin,
	 .act = {idle_signal, idle_wait, idle_sleep},
	 .lwps = 2},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
