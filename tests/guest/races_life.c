/*
 * races_life.c RACE [ROUNDS] - the races that core/ of the library claims to close (race.h):
 * threads that are cancelled, end, are stopped, or take a signal while others count on them.  More of those that are stopped:
 * races_suspend.c.
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

static volatile unsigned ended;

static void *takes(void *arg)
{
	sem_wait(&sem);
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *ends(void *arg);

/* --- cancellation ----------------------------------------------------------------------------- */

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

/* POSIX does not let it call that while it may be cancelled anywhere, but the library does. */
static void *victim_takes_async(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	return victim_takes(arg);
}

static volatile bool next_goes;
static pthread_t next;

static void *next_takes(void *arg)
{
	UNTIL(next_goes);
	return takes(arg);
}

static void async_wait_prepare(unsigned round)
{
	ready = next_goes = false;
	ended = 0;
	next = new_thread(next_takes, NULL);
	victim = new_thread(victim_takes_async, (void *)(uintptr_t)round);
	UNTIL(ready);
}

/* It does not stand in the queue any more: the unit is the next one's. */
static void async_wait_check(unsigned round)
{
	cancel_check(round);
	next_goes = true;
	sem_post(&sem);
	UNTIL(ended == 1);
	pthread_join(next, NULL);
}

/* Error checking: the cleanup handler gives it up if the victim has it, and does nothing if not. */
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *victim_locks_async(void *arg)
{
	drawn = (uintptr_t)arg;
	pthread_cleanup_push(give_up_mutex, &checked);
	ready = true;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_mutex_lock(&checked);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void *next_locks(void *arg)
{
	pthread_mutex_lock(&checked);
	ended = 1;
	pthread_mutex_unlock(&checked);
	return NULL;
}

static void async_lock_prepare(unsigned round)
{
	ready = false;
	ended = 0;
	pthread_mutex_lock(&checked);
	next = new_thread(next_locks, NULL);
	turns(2000); /* both sleep, the victim ahead of the next: near-LIFO */
	victim = new_thread(victim_locks_async, (void *)(uintptr_t)round);
	UNTIL(ready);
	turns(2000);
}

static void async_lock_release(unsigned round)
{
	pthread_mutex_unlock(&checked);
}

/* Whether the victim was woken or not, the wake-up is not lost with it. */
static void async_lock_check(unsigned round)
{
	cancel_check(round);
	UNTIL(ended == 1);
	pthread_join(next, NULL);
}

static void *victim_computes(void *arg)
{
	const struct timespec nap = {.tv_nsec = 1000};

	drawn = (uintptr_t)arg;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	ready = true;
	for (;;) {
		in_time();
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		MUST(nanosleep(&nap, NULL) == 0);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		turns(draw(10));
	}
}

static void async_prepare(unsigned round)
{
	ready = false;
	victim = new_thread(victim_computes, (void *)(uintptr_t)round);
}

static void async_cancel(unsigned round)
{
	UNTIL(ready);
	turns(draw(300));
	pthread_cancel(victim);
}

/* Two threads that nobody could cancel anywhere before.  What catches that is made once in a process. */
static pthread_t first_two[2];
static volatile bool is_async[2];

static void *victim_stays(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	is_async[(uintptr_t)arg] = true;
	until(since + 1000000);
	bail("%s, round %u: not cancelled", race->name, started);
	return NULL;
}

static void async_first_cancel(unsigned round)
{
	for (uintptr_t i = 0; i < 2; i++) {
		is_async[i] = false;
		first_two[i] = new_thread(victim_stays, (void *)i);
	}
	UNTIL(is_async[0] || is_async[1]);
	for (int i = 0, which = is_async[1]; i < 2; i++, which = !which) {
		UNTIL(is_async[which]);
		pthread_cancel(first_two[which]);
		pthread_join(first_two[which], NULL);
	}
}

/* --- threads that have just been made --------------------------------------------------------- */

static volatile unsigned called;

static void count_call(int sig)
{
	__atomic_fetch_add(&called, 1, __ATOMIC_RELAXED);
}

static void begin_begin(void)
{
	signal(SIGUSR1, count_call);
	sem_init(&sem, 0, 0);
}

static void begin_kill_and_stop(unsigned round)
{
	pthread_t t = new_thread(takes, NULL);

	called = 0;
	MUST(pthread_kill(t, SIGUSR1) == 0);
	UNTIL(called == 1);
	sem_post(&sem);
	pthread_join(t, NULL);
	t = new_thread(takes, NULL);
	MUST(thr_suspend(t) == 0);
	MUST(thr_continue(t) == 0);
	sem_post(&sem);
	pthread_join(t, NULL);
}

/* The memory of one that has ended is another's by the time that its creator goes on. */
static void id_detached(unsigned round)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 3; i++)
		MUST(pthread_create(&t, &attr, ends, NULL) == 0);
}

static void id_kill(unsigned round)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		t[i] = new_thread(takes, NULL);
	for (int i = 0; i < 15; i++) {
		turns(50);
		MUST(pthread_kill(t[i % 3], SIGUSR1) == 0);
	}
	for (int i = 0; i < 3; i++)
		sem_post(&sem);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

/* --- a join of any thread, when another thread detaches the last ------------------------------ */

static void *detaches(void *arg)
{
	come_late();
	pthread_detach(victim);
	sem_post(&sem);
	return NULL;
}

static void any_join(unsigned round)
{
	pthread_t other;

	drawn = round;
	victim = new_thread(takes, NULL);
	other = new_thread(detaches, NULL);
	pthread_detach(other);
	come_late();
	MUST(thr_join(0, NULL, NULL) == EDEADLK);
}

/* --- threads that end while others begin ------------------------------------------------------ */

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

static void *has_and_ends(void *arg)
{
	take_mutex(0);
	return ends(arg);
}

static void has_and_ends_create(unsigned round)
{
	for (uintptr_t i = 0; i < 3; i++)
		pthread_detach(new_thread(has_and_ends, (void *)(i * 1000)));
}

static void take_mutex_often(unsigned round)
{
	for (int i = 0; i < 20; i++)
		take_mutex(round);
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

/* --- a thread is stopped, or its handler called, while it wakes another ----------------------- */

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

/* Either the stopped thread has woken the other thread, or it has done nothing yet. */
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
	{.name = "async-wait",
	 .spread = 200,
	 .begin = sem_begin,
	 .prepare = async_wait_prepare,
	 .act = {cancel_victim},
	 .check = async_wait_check},
	{.name = "async-lock",
	 .spread = 50,
	 .prepare = async_lock_prepare,
	 .act = {async_lock_release, cancel_victim},
	 .check = async_lock_check},
	{.name = "async",
	 .spread = 200,
	 .prepare = async_prepare,
	 .act = {async_cancel},
	 .check = cancel_check},
	{.name = "async-first", .act = {async_first_cancel}},
	{.name = "begin", .begin = begin_begin, .act = {begin_kill_and_stop}},
	{.name = "id", .spread = 300, .begin = begin_begin, .act = {id_kill, id_detached}},
	{.name = "any", .spread = 500, .begin = sem_begin, .act = {any_join}},
	{.name = "ends",
	 .spread = 100,
	 .prepare = ends_prepare,
	 .act = {ends_detached, ends_joined},
	 .check = ends_check},
	{.name = "has-and-ends",
	 .spread = 100,
	 .prepare = ends_prepare,
	 .act = {has_and_ends_create, take_mutex_often, has_and_ends_create},
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
