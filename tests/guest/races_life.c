/*
 * races_life.c RACE [ROUNDS] - the races that core/ of the library claims to close (race.h): threads
 * that are cancelled, end, are stopped, or take a signal while others count on them.
 */
#include <semaphore.h>
#include <signal.h>
#include "race.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;

static void sem_begin(void)
{
	sem_init(&sem, 0, 0);
}

static void take_mutex(unsigned round)
{
	pthread_mutex_lock(&mutex);
	turns(draw(20));
	pthread_mutex_unlock(&mutex);
}

static void post(unsigned round)
{
	sem_post(&sem);
}

/* --- cancellation ------------------------------------------------------------------------------ */

static pthread_t victim;
static volatile bool ready;
static int pipe_end[2];

static void give_up_mutex(void *m)
{
	pthread_mutex_unlock(m);
}

static void *victim_waits(void *arg)
{
	unsigned round = (uintptr_t)arg;
	char byte;

	drawn = round;
	ready = true;
	come_late();
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(give_up_mutex, &mutex);
	if (round % 3 == 0)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	if (round % 3 == 1)
		sem_wait(&sem);
	else
		read(pipe_end[0], &byte, 1);
	return NULL;
}

static void cancel_begin(void)
{
	sem_init(&sem, 0, 0);
	if (pipe(pipe_end) != 0)
		bail("pipe");
}

static void cancel_prepare(unsigned round)
{
	ready = false;
	victim = new_thread(victim_waits, (void *)(uintptr_t)round);
	UNTIL(ready);
}

static void cancel_victim(unsigned round)
{
	pthread_cancel(victim);
}

static void cancel_check(unsigned round)
{
	void *status;

	pthread_join(victim, &status);
	MUST(status == PTHREAD_CANCELED);
}

static void *victim_takes(void *arg)
{
	drawn = (uintptr_t)arg;
	ready = true;
	come_late();
	sem_wait(&sem);
	return NULL;
}

static void unit_or_end_prepare(unsigned round)
{
	ready = false;
	victim = new_thread(victim_takes, (void *)(uintptr_t)round);
	UNTIL(ready);
}

static void unit_or_end_check(unsigned round)
{
	void *status;
	int value;

	pthread_join(victim, &status);
	sem_getvalue(&sem, &value);
	MUST(value == (status == PTHREAD_CANCELED));
	sem_trywait(&sem);
}

/* --- threads that end while others begin ------------------------------------------------------- */

static volatile unsigned ended;

static void *ends(void *arg)
{
	volatile uintptr_t deep[16];

	for (unsigned i = 0; i < 16; i++)
		deep[i] = (uintptr_t)arg + i;
	for (unsigned i = 0; i < 16; i++)
		MUST(deep[i] == (uintptr_t)arg + i);
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void ends_prepare(unsigned round)
{
	ended = 0;
}

static void ends_detached(unsigned round)
{
	for (uintptr_t i = 0; i < 3; i++)
		pthread_detach(new_thread(ends, (void *)(i * 1000)));
}

static void ends_joined(unsigned round)
{
	for (uintptr_t i = 0; i < 3; i++)
		pthread_join(new_thread(ends, (void *)(i * 1000)), NULL);
}

static void ends_check(unsigned round)
{
	UNTIL(ended == 6);
}

static char own_stack[16384] __attribute__((aligned(4096)));
static pthread_t on_own_stack;

static void own_stack_prepare(unsigned round)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, own_stack, sizeof(own_stack));
	ended = 0;
	if (pthread_create(&on_own_stack, &attr, ends, NULL) != 0)
		bail("pthread_create");
	UNTIL(ended == 1);
}

/* What has been joined does not touch its stack any more. */
static void own_stack_join(unsigned round)
{
	pthread_join(on_own_stack, NULL);
	memset(own_stack + sizeof(own_stack) - 512, 0xa5, 512);
	turns(200);
}

/* --- a thread is stopped, or its handler called, while it wakes another ------------------------ */

static volatile unsigned posted, taken;

static void stop_take(unsigned round)
{
	sem_wait(&sem);
	taken = round;
}

static void stop_post(unsigned round)
{
	sem_post(&sem);
	posted = round;
}

/* Who is stopped has waked the other one, or has done nothing yet. */
static void other_goes_on(unsigned round)
{
	UNTIL(taken == round || (int)sem.__word < 0);
}

static void stop(unsigned round)
{
	if (thr_suspend(party[1]) != 0)
		return;
	other_goes_on(round);
	thr_continue(party[1]);
}

static void handler(int sig)
{
	other_goes_on(started);
}

static void handler_begin(void)
{
	signal(SIGUSR1, handler);
	sem_init(&sem, 0, 0);
}

static void handler_call(unsigned round)
{
	pthread_kill(party[1], SIGUSR1);
}

static const struct race races[] = {
	{.name = "cancel",
	 .spread = 400,
	 .begin = cancel_begin,
	 .prepare = cancel_prepare,
	 .act = {cancel_victim, take_mutex},
	 .check = cancel_check},
	{.name = "unit-or-end",
	 .spread = 200,
	 .begin = sem_begin,
	 .prepare = unit_or_end_prepare,
	 .act = {cancel_victim, post},
	 .check = unit_or_end_check},
	{.name = "ends",
	 .spread = 100,
	 .prepare = ends_prepare,
	 .act = {ends_detached, ends_joined},
	 .check = ends_check},
	{.name = "own-stack", .spread = 60, .prepare = own_stack_prepare, .act = {own_stack_join}},
	{.name = "stop", .spread = 300, .begin = sem_begin, .act = {stop_take, stop_post, stop}},
	{.name = "handler",
	 .spread = 300,
	 .begin = handler_begin,
	 .act = {stop_take, stop_post, handler_call}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
