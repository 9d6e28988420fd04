/*
 * races_lone.c RACE [ROUNDS] - the races that model sa claims to close for threads that wait alone for
 * a semaphore (model/mxn/lone.c, race.h).
 *
 * With fewer LWPs than parties, parties that have nothing to do yield.  So the LWPs' lists have threads, and a thread
 * that waits for a semaphore waits alone.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "race.h"

#define TURNS 10

static sem_t to[PARTIES], sem;
static volatile unsigned handled, woken;

static void sems_begin(void)
{
	for (int i = 0; i < PARTIES; i++)
		sem_init(&to[i], 0, 0);
	sem_init(&sem, 0, 0);
}

static int value_of(sem_t *s)
{
	int value;

	MUST(sem_getvalue(s, &value) == 0);
	return value;
}

static void check_empty(unsigned round)
{
	for (int i = 0; i < PARTIES; i++)
		MUST(value_of(&to[i]) == 0);
	MUST(value_of(&sem) == 0);
}

/* --- two pairs, each of which takes turns ------------------------------------------------------ */

static void first_of(int me, int other)
{
	for (int i = 0; i < TURNS; i++) {
		turns(draw(30));
		sem_post(&to[other]);
		sem_wait(&to[me]);
	}
}

static void second_of(int me, int other)
{
	for (int i = 0; i < TURNS; i++) {
		sem_wait(&to[me]);
		turns(draw(30));
		sem_post(&to[other]);
	}
}

static void pair_0(unsigned round)
{
	first_of(0, 1);
}

static void pair_1(unsigned round)
{
	second_of(1, 0);
}

static void pair_2(unsigned round)
{
	first_of(2, 3);
}

static void pair_3(unsigned round)
{
	second_of(3, 2);
}

/* --- posts by one thread, which leaves its LWP to others meanwhile -------------------------------- */

static void yields(void)
{
	for (int i = 0; i < 6; i++)
		sched_yield();
}

static void taker(unsigned round)
{
	for (int i = 0; i < TURNS; i++)
		sem_wait(&to[1]);
}

static void poster(unsigned round)
{
	for (int i = 0; i < TURNS; i++) {
		turns(draw(60));
		sem_post(&to[1]);
		if (draw(2))
			sched_yield();
	}
}

static void yielder(unsigned round)
{
	yields();
	turns(draw(200));
	yields();
}

/* --- posts by two threads, each of which leaves its LWP to the waiter ------------------------------ */

static void post_and_yield(unsigned round)
{
	for (int i = 0; i < 10 * TURNS; i++) {
		sem_post(&to[1]);
		sched_yield();
		turns(draw(20));
	}
}

static void taker_of_both(unsigned round)
{
	for (int i = 0; i < 20; i++)
		taker(round);
}

/* --- two waiters of one semaphore, and one with a deadline ---------------------------------------- */

static void crowd_wait(unsigned round)
{
	for (int i = 0; i < TURNS; i++)
		sem_wait(&sem);
}

static void crowd_in_time(unsigned round)
{
	for (int i = 0; i < TURNS; i++) {
		struct timespec t = timespec_of(gethrtime() + draw(20000));

		while (sem_clockwait(&sem, CLOCK_MONOTONIC, &t) != 0) {
			MUST(errno == ETIMEDOUT);
			t = timespec_of(gethrtime() + draw(20000));
		}
	}
}

static void crowd_post(unsigned round)
{
	for (int i = 0; i < 3 * TURNS; i++) {
		turns(draw(60));
		sem_post(&sem);
		if (draw(4) == 0)
			sched_yield();
		value_of(&sem);
	}
}

/* --- cancelled ------------------------------------------------------------------------------------ */

static volatile unsigned begun;

static void *waits(void *arg)
{
	begun = started;
	sem_wait(&sem);
	return NULL;
}

/* The new thread is resumed, so it enters the common run queue, and mostly begins on the other LWP. */
static thread_t elsewhere(void *(*start)(void *), void *arg)
{
	thread_t t;

	MUST(thr_create(NULL, 0, start, arg, THR_SUSPENDED, &t) == 0);
	MUST(thr_continue(t) == 0);
	return t;
}

/* t says that it has begun, and then waits until it is cancelled. */
static void cancel_waiter(thread_t t, unsigned round)
{
	void *status;

	for (int i = 0; i < 1000 && begun != round; i++)
		;
	UNTIL(begun == round);
	turns(draw(60));
	pthread_cancel(t);
	MUST(pthread_join(t, &status) == 0);
	MUST(status == PTHREAD_CANCELED);
}

static void cancel_one(unsigned round)
{
	thread_t t = elsewhere(waits, NULL);

	cancel_waiter(t, round);
	MUST(sem_destroy(&sem) == 0);
	sem_init(&sem, 0, 0);
}

/* --- a cancelled joiner ------------------------------------------------------------------------- */

static void *lives(void *arg)
{
	sem_wait(&to[2]);
	return NULL;
}

static void *joins(void *t)
{
	begun = started;
	pthread_join((pthread_t)(uintptr_t)t, NULL);
	return NULL;
}

static void cancel_joiner(unsigned round)
{
	pthread_t living = new_thread(lives, NULL);
	thread_t t = elsewhere(joins, (void *)(uintptr_t)living);

	cancel_waiter(t, round);
	sem_post(&to[2]);
	MUST(pthread_join(living, NULL) == 0);
}

/* --- two threads that join each other ------------------------------------------------------------- */

static thread_t each[2];
static volatile unsigned met;
static volatile int joined[2]; /* an error number + 1 */

static void *joins_other(void *arg)
{
	int me = (uintptr_t)arg;

	__atomic_add_fetch(&met, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 1000 && met != 2; i++)
		;
	turns(draw(20));
	joined[me] = pthread_join(each[1 - me], NULL) + 1;
	return NULL;
}

/* One of the two finds the deadlock, and the other one joins it. */
static void each_other(unsigned round)
{
	int first;

	met = 0;
	joined[0] = joined[1] = 0;
	for (uintptr_t i = 0; i < 2; i++)
		MUST(thr_create(NULL, 0, joins_other, (void *)i, THR_SUSPENDED, &each[i]) == 0);
	for (int i = 0; i < 2; i++)
		MUST(thr_continue(each[i]) == 0);
	UNTIL(joined[0] != 0 || joined[1] != 0);
	first = joined[0] == EDEADLK + 1 ? 0 : 1;
	MUST(joined[first] == EDEADLK + 1);
	MUST(pthread_join(each[1 - first], NULL) == 0);
	MUST(joined[1 - first] == 1);
}

/* --- a signal --------------------------------------------------------------------------------------- */

static void handler(int sig)
{
	handled++;
	if (draw(2))
		yields();
}

static void signal_begin(void)
{
	sems_begin();
	signal(SIGUSR1, handler);
}

static void signal_wait(unsigned round)
{
	sem_wait(&to[1]);
	woken = round;
}

static void signal_send(unsigned round)
{
	unsigned before = handled;

	turns(draw(200));
	MUST(pthread_kill(party[1], SIGUSR1) == 0);
	UNTIL(handled != before);
	turns(draw(100));
	MUST(woken != round);
	sem_post(&to[1]);
}

/* --- stopped ---------------------------------------------------------------------------------------- */

static void stop_post(unsigned round)
{
	turns(draw(200));
	if (thr_suspend(party[1]) != 0) {
		sem_post(&to[1]);
		return;
	}
	sem_post(&to[1]);
	turns(1000);
	MUST(woken != round);
	thr_continue(party[1]);
}

/* --- a new priority ---------------------------------------------------------------------------------- */

static void priority_post(unsigned round)
{
	turns(draw(200));
	MUST(thr_setprio(party[1], 3) == 0);
	turns(draw(100));
	sem_post(&to[1]);
	UNTIL(woken == round);
	MUST(thr_setprio(party[1], 0) == 0);
}

/* --- a new priority and a post at once, while an LWP is idle ------------------------------------------ */

static unsigned delay;

static void settle_priority(unsigned round)
{
	turns(300 + draw(300));
	delay = draw(60);
	sem_post(&to[2]);
	turns(draw(120));
	MUST(thr_setprio(party[1], 1) == 0);
	UNTIL(woken == round);
	MUST(thr_setprio(party[1], 0) == 0);
}

static void settle_post(unsigned round)
{
	sem_wait(&to[2]);
	turns(delay);
	sem_post(&to[1]);
}

/* --- a thread of its own LWP posts ------------------------------------------------------------------ */

static void *posts(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		turns(draw(100));
		sem_post(&to[1]);
	}
	return NULL;
}

static void taker_of_two(unsigned round)
{
	taker(round);
	taker(round);
}

static void bound_post(unsigned round)
{
	thread_t t;

	MUST(thr_create(NULL, 0, posts, NULL, THR_BOUND, &t) == 0);
	MUST(pthread_join((pthread_t)t, NULL) == 0);
}

/* --- fork while a thread waits -------------------------------------------------------------------- */

static void fork_post(unsigned round)
{
	int status;
	pid_t pid;

	turns(draw(200));
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0) {
		int value = value_of(&to[1]);

		sem_post(&to[1]);
		if (value_of(&to[1]) != value + 1 || sem_trywait(&to[1]) != 0 ||
		    sem_destroy(&to[1]) != 0)
			_exit(1);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	sem_post(&to[1]);
}

/* --- an LWP that goes idle while the waiter is woken ------------------------------------------------ */

/* The poster keeps its LWP.  So the waiter runs on the other one, which has no thread. */
static void idle_post(unsigned round)
{
	hrtime_t end;

	yields();
	turns(draw(300));
	sem_post(&to[1]);
	for (end = gethrtime() + 1000000; woken != round;)
		MUST(gethrtime() < end);
	sem_post(&to[2]);
}

static void idle_sleep(unsigned round)
{
	turns(draw(600));
	sem_wait(&to[2]);
}

static const struct race races[] = {
	{.name = "idle",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {idle_post, signal_wait, idle_sleep},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "pairs",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {pair_0, pair_1, pair_2, pair_3},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "posts",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {poster, taker, yielder, yielder},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "two-posters",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {post_and_yield, taker_of_both, post_and_yield},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "crowd",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {crowd_post, crowd_wait, crowd_in_time, crowd_wait},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "cancel",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {cancel_one, yielder, yielder},
	 .lwps = 2},
	{.name = "join",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {cancel_joiner, yielder, yielder},
	 .lwps = 2},
	{.name = "each-other",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {each_other, yielder},
	 .lwps = 2},
	{.name = "signal",
	 .spread = 50,
	 .begin = signal_begin,
	 .act = {signal_send, signal_wait, yielder, yielder},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "stop",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {stop_post, signal_wait, yielder, yielder},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "priority",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {priority_post, signal_wait, yielder, yielder},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "settle",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {settle_priority, signal_wait, settle_post},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "bound",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {bound_post, taker_of_two, poster, yielder},
	 .check = check_empty,
	 .lwps = 2},
	{.name = "fork",
	 .spread = 50,
	 .begin = sems_begin,
	 .act = {fork_post, signal_wait, yielder, yielder},
	 .check = check_empty,
	 .lwps = 2},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
