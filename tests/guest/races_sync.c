/*
 * races_sync.c RACE [ROUNDS] - the races that the objects of the library, in sync/ and in the
 * kernel's queues below it, claim to close (race.h).
 */
#include <semaphore.h>
#include <signal.h>
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

/* Signals it as soon as it stands in the queue; somebody else waits for the mutex that it gives up. */
static void signal_at_once_wait(unsigned round)
{
	pthread_mutex_lock(&mutex);
	flag = round;
	turns(draw(300));
	pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void signal_at_once(unsigned round)
{
	while (finished[0] != round) {
		pthread_cond_signal(&cond);
		in_time();
	}
}

static void signal_at_once_take(unsigned round)
{
	UNTIL(flag == round);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
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

/* An LWP needs some 1,500 instructions from its deadline to where it looks. */
static void deadline_wait(unsigned round)
{
	struct timespec t = timespec_of(when);

	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &t);
	pthread_mutex_unlock(&mutex);
}

static void deadline_signal(unsigned round)
{
	until(when - 3000);
	pthread_mutex_lock(&mutex);
	until(when);
	turns(draw(300));
	pthread_cond_signal(&cond);
	turns(draw(100));
	pthread_mutex_unlock(&mutex);
}

static void deadline_priority(unsigned round)
{
	until(when);
	turns(draw(300));
	thr_setprio(party[0], round % 2);
}

/* --- memory that is used for something else as soon as its object is through ------------------ */

static union {
	unsigned char bytes[64];
	pthread_cond_t cond;
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	sem_t sem;
} object;
static volatile unsigned users;
#define USERS 3

static void scribble(void)
{
	memset(&object, 0xa5, sizeof(object));
}

static void gone_check(unsigned round)
{
	for (unsigned i = 0; i < sizeof(object); i++)
		MUST(object.bytes[i] == 0xa5);
}

static void gone_rwlock_prepare(unsigned round)
{
	pthread_rwlock_init(&object.rwlock, NULL);
	users = USERS;
}

/* The last to have had it frees it; the others may not have come back from their calls. */
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

static void gone_mutex_prepare(unsigned round)
{
	pthread_mutex_init(&object.mutex, NULL);
	users = USERS;
}

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

/* Signals only after the waiter waits. */
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

/* All at one time find that somebody waits. */
static void units_give_late(unsigned round)
{
	UNTIL((int)sem.__word < 0);
	turns(draw(20));
	sem_post(&sem);
}

static void units_check(unsigned round)
{
	int value;

	sem_getvalue(&sem, &value);
	MUST(value == 0);
}

/* --- a deadline and a unit at one time -------------------------------------------------------- */

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

/* --- the mutex, with waiters whose time is up ------------------------------------------------- */

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

/* --- many are woken at one time --------------------------------------------------------------- */

static void broadcast_in_time(unsigned round)
{
	until(when - 3000);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	until(when);
	turns(draw(300));
	pthread_cond_broadcast(&cond);
}

static pthread_barrier_t barrier;
static volatile unsigned waiting;

static void broadcast_begin(void)
{
	pthread_barrier_init(&barrier, NULL, 3);
}

static void broadcast_prepare(unsigned round)
{
	waiting = 0;
}

static void broadcast(unsigned round)
{
	UNTIL(waiting == 3);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_cond_broadcast(&cond);
}

/* And then for something else, in another queue. */
static void broadcast_wait(unsigned round)
{
	pthread_mutex_lock(&mutex);
	waiting++;
	pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_barrier_wait(&barrier);
}

/* --- a reader-writer lock --------------------------------------------------------------------- */

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

/* The other reader may wait for the writer; the writer times out before this reader releases the
 * lock. */
static void rwlock_keep(unsigned round)
{
	pthread_rwlock_rdlock(&rwlock);
	UNTIL(finished[2] == round);
	pthread_rwlock_unlock(&rwlock);
}

static void rwlock_write_in_time(unsigned round)
{
	struct timespec t = timespec_of(when);

	if (pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &t) == 0)
		pthread_rwlock_unlock(&rwlock);
}

static void rwlock_read(unsigned round)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

/* --- a shared barrier, and a signal for one of its waiters ------------------------------------ */

static pthread_barrier_t barrier;

static void ignore(int sig)
{
}

static void barrier_begin(void)
{
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&barrier, &attr, 2);
	signal(SIGUSR1, ignore);
}

static void barrier_wait(unsigned round)
{
	pthread_barrier_wait(&barrier);
}

static void barrier_signal(unsigned round)
{
	pthread_kill(party[1], SIGUSR1);
}

/* --- a thread enters a queue while its priority changes ----------------------------------------- */

static pthread_cond_t place[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static pthread_mutex_t place_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned place_waits, place_went, place_first;

static void place_prepare(unsigned round)
{
	place_waits = place_went = 0;
	thr_setprio(party[1], 1);
	thr_setprio(party[2], 5);
}

static void place_wait(unsigned me, unsigned round)
{
	pthread_mutex_lock(&place_lock);
	place_waits++;
	pthread_cond_wait(&place[round % 2], &place_lock);
	if (place_went++ == 0)
		place_first = me;
	pthread_mutex_unlock(&place_lock);
}

static void place_changed(unsigned round)
{
	UNTIL(place_waits == 1);
	place_wait(1, round);
}

static void place_other(unsigned round)
{
	place_wait(2, round);
}

/* In the queue or not, the thread has the highest priority when one of the two is woken. */
static void place_change(unsigned round)
{
	UNTIL(place_waits == 2);
	turns(draw(60));
	thr_setprio(party[1], 10);
	for (unsigned n = 1; n <= 2; n++) {
		pthread_mutex_lock(&place_lock); /* both are in the queue */
		pthread_mutex_unlock(&place_lock);
		pthread_cond_signal(&place[round % 2]);
		UNTIL(place_went == n);
	}
	MUST(place_first == 1);
}

static const struct race races[] = {
	{.name = "barrier",
	 .spread = 300,
	 .begin = barrier_begin,
	 .act = {barrier_wait, barrier_wait, barrier_signal}},
	{.name = "signal", .spread = 200, .act = {signal_wait, signal_send, take_mutex}},
	{.name = "signal-at-once",
	 .act = {signal_at_once_wait, signal_at_once, signal_at_once_take}},
	{.name = "deadline",
	 .begin = deadline_begin,
	 .prepare = deadline_prepare,
	 .act = {deadline_wait, deadline_signal, deadline_priority}},
	{.name = "gone-mutex",
	 .spread = 50,
	 .prepare = gone_mutex_prepare,
	 .act = {gone_mutex_use, gone_mutex_use, gone_mutex_use},
	 .check = gone_check},
	{.name = "rwlock-in-time",
	 .spread = 300,
	 .prepare = deadline_prepare,
	 .act = {rwlock_keep, rwlock_write_in_time, rwlock_read}},
	{.name = "gone-rwlock",
	 .spread = 50,
	 .prepare = gone_rwlock_prepare,
	 .act = {gone_rwlock_use, gone_rwlock_use, gone_rwlock_use},
	 .check = gone_check},
	{.name = "gone-sem",
	 .spread = 50,
	 .prepare = gone_sem_prepare,
	 .act = {gone_sem_wait, gone_sem_post},
	 .check = gone_check},
	{.name = "gone-cond",
	 .spread = 50,
	 .prepare = gone_cond_prepare,
	 .act = {gone_cond_wait, gone_cond_signal},
	 .check = gone_check},
	{.name = "units",
	 .spread = 100,
	 .begin = units_begin,
	 .act = {units_take, units_give_two, units_give},
	 .check = units_check},
	{.name = "units-at-once",
	 .begin = units_begin,
	 .act = {units_give_late, units_take, units_give_late, units_give_late},
	 .check = units_check},
	{.name = "shared-unit-in-time",
	 .begin = shared_begin,
	 .prepare = deadline_prepare,
	 .act = {unit_wait, unit_post},
	 .check = unit_check},
	{.name = "mutex-in-time",
	 .prepare = deadline_prepare,
	 .act = {mutex_hold, mutex_timed, take_mutex}},
	{.name = "mutex", .spread = 50, .act = {mutex_bursts, mutex_bursts, mutex_bursts}},
	{.name = "broadcast-in-time",
	 .begin = deadline_begin,
	 .prepare = deadline_prepare,
	 .act = {broadcast_in_time, deadline_wait, deadline_wait, deadline_wait}},
	{.name = "broadcast",
	 .spread = 100,
	 .begin = broadcast_begin,
	 .prepare = broadcast_prepare,
	 .act = {broadcast, broadcast_wait, broadcast_wait, broadcast_wait}},
	{.name = "rwlock", .spread = 50, .act = {rwlock_use, rwlock_use, rwlock_use}},
	{.name = "place",
	 .prepare = place_prepare,
	 .act = {place_change, place_changed, place_other}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
