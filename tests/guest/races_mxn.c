/*
 * races_mxn.c RACE [ROUNDS] - the races that the model mxn claims to close, (race.h): unbound
 * threads, their signals, deadlines and LWPs.
 */
#include <semaphore.h>
#include <signal.h>
#include "race.h"

static sem_t sem;
static volatile unsigned reached;

static void sem_begin(void)
{
	sem_init(&sem, 0, 0);
}

/* --- stopped while an LWP is on its way to it -------------------------------------------------- */

static void stopped_wait(unsigned round)
{
	sem_wait(&sem);
	reached = round;
}

static void stopped_post(unsigned round)
{
	unsigned before;

	turns(300);
	sem_post(&sem);
	turns(draw(20));
	if (thr_suspend(party[1]) != 0)
		return;
	before = reached;
	turns(1500);
	MUST(reached == before);
	thr_continue(party[1]);
}

/* --- a signal for a thread that goes to sleep -------------------------------------------------- */

static volatile unsigned handled;

static void handler(int sig)
{
	MUST(pthread_self() == party[1]);
	handled = started;
}

static void signal_begin(void)
{
	sem_begin();
	signal(SIGUSR1, handler);
}

static void signal_send(unsigned round)
{
	pthread_kill(party[1], SIGUSR1);
	UNTIL(handled == round);
	sem_post(&sem);
}

/* --- a condition variable with a mutex whose queue is the kernel's ----------------------------- */

static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile unsigned flag;

static void robust_begin(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attr);
}

static void robust_wait(unsigned round)
{
	pthread_mutex_lock(&mutex);
	while (flag != round)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void robust_signal(unsigned round)
{
	pthread_mutex_lock(&mutex);
	flag = round;
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&cond);
}

/* --- deadlines --------------------------------------------------------------------------------- */

static void deadline_wait(unsigned round)
{
	struct timespec t = timespec_of(gethrtime() + 200 + draw(3000));

	MUST(sem_clockwait(&sem, CLOCK_MONOTONIC, &t) == -1);
}

/* --- an LWP that goes idle --------------------------------------------------------------------- */

static sem_t to[2];

static void idle_begin(void)
{
	sem_init(&to[0], 0, 0);
	sem_init(&to[1], 0, 0);
}

static void idle_post(unsigned round)
{
	turns(draw(30));
	sem_post(&to[round % 2]);
	turns(draw(30));
	sem_post(&to[!(round % 2)]);
}

static void idle_first(unsigned round)
{
	sem_wait(&to[0]);
}

static void idle_second(unsigned round)
{
	sem_wait(&to[1]);
}

static void yields(unsigned round)
{
	for (int i = 0; i < 6; i++)
		sched_yield();
}

static const struct race races[] = {
	{.name = "stopped", .spread = 100, .begin = sem_begin, .act = {stopped_post, stopped_wait}},
	{.name = "signal",
	 .spread = 100,
	 .begin = signal_begin,
	 .act = {signal_send, stopped_wait, yields}},
	{.name = "robust",
	 .spread = 200,
	 .begin = robust_begin,
	 .act = {robust_wait, robust_signal}},
	{.name = "deadlines",
	 .spread = 100,
	 .begin = sem_begin,
	 .act = {deadline_wait, deadline_wait, deadline_wait}},
	{.name = "crowd",
	 .spread = 30,
	 .begin = idle_begin,
	 .act = {idle_post, idle_first, idle_second, yields},
	 .lwps = 2},
	{.name = "idle",
	 .spread = 30,
	 .begin = idle_begin,
	 .act = {idle_post, idle_first, idle_second}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
