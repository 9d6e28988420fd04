/*
 * races.c RACE [ROUNDS] - the races that sync/ and core/ of the library, and the kernel's
 * queues below them, claim to close (race.h).
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include "race.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static volatile unsigned flag;
static hrtime_t when; /* of a round's deadline */

/* --- a signal, and a wait that has just begun ------------------------------------------------- */

static void signal_wait(unsigned round)
{
	pthread_mutex_lock(&mutex);
	while (flag != round)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void signal_send(unsigned round)
{
	pthread_mutex_lock(&mutex);
	flag = round;
	if (round % 2)
		pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	if (round % 2 == 0)
		pthread_cond_signal(&cond);
}

static void take_mutex(unsigned round)
{
	pthread_mutex_lock(&mutex);
	turns(draw(20));
	pthread_mutex_unlock(&mutex);
}

/* --- time is up while somebody signals, or changes a priority --------------------------------- */

static void deadline_begin(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&cond, &attr);
}

static void deadline_prepare(unsigned round)
{
	when = gethrtime() + 15000;
}

static void deadline_wait(unsigned round)
{
	struct timespec t = timespec_of(when);

	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &t);
	pthread_mutex_unlock(&mutex);
}

static void deadline_signal(unsigned round)
{
	until(when - 1500);
	pthread_mutex_lock(&mutex);
	turns(draw(400));
	pthread_cond_signal(&cond);
	turns(draw(100));
	pthread_mutex_unlock(&mutex);
}

static void deadline_priority(unsigned round)
{
	until(when - 500);
	turns(draw(400));
	thr_setprio(party[0], round % 2);
}

/* --- memory that is used for something else as soon as its object is through ------------------ */

static union {
	unsigned char bytes[64];
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_rwlock_t rwlock;
	sem_t sem;
} object;
static volatile unsigned users;

static void scribble(void)
{
	memset(&object, 0xa5, sizeof(object));
}

static void gone_check(unsigned round)
{
	for (unsigned i = 0; i < sizeof(object); i++)
		MUST(object.bytes[i] == 0xa5);
}

static void gone_mutex_prepare(unsigned round)
{
	pthread_mutex_init(&object.mutex, NULL);
	users = PARTIES;
}

/* The last to have had it frees it; the others may not have come back from their calls. */
static void gone_mutex_use(unsigned round)
{
	unsigned left;

	pthread_mutex_lock(&object.mutex);
	turns(draw(100));
	left = --users;
	pthread_mutex_unlock(&object.mutex);
	if (left == 0)
		scribble();
}

static void gone_rwlock_prepare(unsigned round)
{
	pthread_rwlock_init(&object.rwlock, NULL);
	users = PARTIES;
}

static void gone_rwlock_use(unsigned round)
{
	unsigned left;

	pthread_rwlock_wrlock(&object.rwlock);
	turns(draw(100));
	left = --users;
	pthread_rwlock_unlock(&object.rwlock);
	if (left == 0)
		scribble();
}

static void gone_sem_prepare(unsigned round)
{
	sem_init(&object.sem, 0, 0);
}

static void gone_sem_wait(unsigned round)
{
	sem_wait(&object.sem);
	scribble();
}

static void gone_sem_post(unsigned round)
{
	sem_post(&object.sem);
}

static void gone_cond_prepare(unsigned round)
{
	pthread_cond_init(&object.cond, NULL);
	flag = 0;
}

static void gone_cond_wait(unsigned round)
{
	pthread_mutex_lock(&mutex);
	flag = round;
	pthread_cond_wait(&object.cond, &mutex);
	scribble();
	pthread_mutex_unlock(&mutex);
}

/* Only once the other one waits. */
static void gone_cond_signal(unsigned round)
{
	UNTIL(flag == round);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&object.cond);
}

/* --- units of a semaphore --------------------------------------------------------------------- */

static void units_begin(void)
{
	sem_init(&sem, 0, 0);
}

static void units_take(unsigned round)
{
	for (int i = 0; i < 3; i++)
		sem_wait(&sem);
}

static void units_give_two(unsigned round)
{
	sem_post(&sem);
	sem_post(&sem);
}

static void units_give(unsigned round)
{
	sem_post(&sem);
}

static void units_check(unsigned round)
{
	int value;

	sem_getvalue(&sem, &value);
	MUST(value == 0);
}

/* --- a deadline and a unit at one time ---------------------------------------------------------- */

static volatile bool got;

static void shared_begin(void)
{
	sem_init(&sem, 1, 0);
}

static void unit_wait(unsigned round)
{
	struct timespec t = timespec_of(when);

	got = sem_clockwait(&sem, CLOCK_MONOTONIC, &t) == 0;
}

static void unit_post(unsigned round)
{
	until(when - 1000);
	turns(draw(500));
	sem_post(&sem);
}

static void unit_check(unsigned round)
{
	int value;

	sem_getvalue(&sem, &value);
	MUST(got + value == 1);
	sem_trywait(&sem);
}

/* --- the mutex, with waiters whose time is up --------------------------------------------------- */

static void mutex_timed(unsigned round)
{
	struct timespec t = timespec_of(when);

	if (pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &t) == 0)
		pthread_mutex_unlock(&mutex);
}

static void mutex_hold(unsigned round)
{
	pthread_mutex_lock(&mutex);
	until(when - 1000);
	turns(draw(400));
	pthread_mutex_unlock(&mutex);
}

static void mutex_bursts(unsigned round)
{
	for (unsigned i = 0; i < 5; i++) {
		pthread_mutex_lock(&mutex);
		turns(draw(30));
		pthread_mutex_unlock(&mutex);
		turns(draw(30));
	}
}

/* --- a reader-writer lock -------------------------------------------------------------------------- */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void rwlock_use(unsigned round)
{
	if (draw(2))
		pthread_rwlock_rdlock(&rwlock);
	else
		pthread_rwlock_wrlock(&rwlock);
	turns(draw(50));
	pthread_rwlock_unlock(&rwlock);
}

/* --- all are woken, and wait anew -------------------------------------------------------------------- */

static volatile unsigned arrived;
static unsigned cycle;

/* A barrier, whose last one signals without the mutex. */
static void broadcast(unsigned round)
{
	unsigned mine;
	bool last;

	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&mutex);
		mine = cycle;
		last = ++arrived == PARTIES;
		if (last) {
			arrived = 0;
			cycle++;
		}
		while (cycle == mine)
			pthread_cond_wait(&cond, &mutex);
		pthread_mutex_unlock(&mutex);
		if (last)
			pthread_cond_broadcast(&cond);
	}
}

/* --- cancellation --------------------------------------------------------------------------------------- */

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

/* --- threads that end while others begin ------------------------------------------------------------------ */

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

/* --- a thread is stopped, or its handler called, while it wakes another -------------------------------------- */

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

/* --- fork ----------------------------------------------------------------------------------------------------- */

static void fork_child(unsigned round)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_join(new_thread(ends, NULL), NULL);
		_exit(42);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static const struct race races[] = {
	{"signal", 200, NULL, NULL, {signal_wait, signal_send, take_mutex}, NULL},
	{"deadline",
	 0,
	 deadline_begin,
	 deadline_prepare,
	 {deadline_wait, deadline_signal, deadline_priority},
	 NULL},
	{"gone-mutex",
	 50,
	 NULL,
	 gone_mutex_prepare,
	 {gone_mutex_use, gone_mutex_use, gone_mutex_use},
	 gone_check},
	{"gone-rwlock",
	 50,
	 NULL,
	 gone_rwlock_prepare,
	 {gone_rwlock_use, gone_rwlock_use, gone_rwlock_use},
	 gone_check},
	{"gone-sem", 50, NULL, gone_sem_prepare, {gone_sem_wait, gone_sem_post}, gone_check},
	{"gone-cond", 50, NULL, gone_cond_prepare, {gone_cond_wait, gone_cond_signal}, gone_check},
	{"units", 100, units_begin, NULL, {units_take, units_give_two, units_give}, units_check},
	{"unit-in-time", 0, units_begin, deadline_prepare, {unit_wait, unit_post}, unit_check},
	{"shared-unit-in-time",
	 0,
	 shared_begin,
	 deadline_prepare,
	 {unit_wait, unit_post},
	 unit_check},
	{"mutex-in-time", 0, NULL, deadline_prepare, {mutex_hold, mutex_timed, take_mutex}, NULL},
	{"mutex", 50, NULL, NULL, {mutex_bursts, mutex_bursts, mutex_bursts}, NULL},
	{"rwlock", 50, NULL, NULL, {rwlock_use, rwlock_use, rwlock_use}, NULL},
	{"broadcast", 50, NULL, NULL, {broadcast, broadcast, broadcast}, NULL},
	{"cancel", 400, cancel_begin, cancel_prepare, {cancel_victim, take_mutex}, cancel_check},
	{"unit-or-end",
	 200,
	 units_begin,
	 unit_or_end_prepare,
	 {cancel_victim, units_give},
	 unit_or_end_check},
	{"ends", 100, NULL, ends_prepare, {ends_detached, ends_joined}, ends_check},
	{"stop", 300, units_begin, NULL, {stop_take, stop_post, stop}, NULL},
	{"handler", 300, handler_begin, NULL, {stop_take, stop_post, handler_call}, NULL},
	{"fork", 100, NULL, NULL, {fork_child, ends_joined}, NULL},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
