/*
 * races_more.c RACE [ROUNDS] - the races that the rest of the library claims to close (race.h):
 * semaphores with names, keys, timers that call functions, rows of lock statistics.
 */
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include "../../libthread/lockstat/lockstat.h"
#include "race.h"

/* --- a semaphore with a name -------------------------------------------------------------------- */

static sem_t *volatile opened[2];

static void name_open(unsigned round, int i)
{
	opened[i] = sem_open("/race", O_CREAT, 0600, 1);
	MUST(opened[i] != SEM_FAILED);
}

static void name_open_0(unsigned round)
{
	name_open(round, 0);
}

static void name_open_1(unsigned round)
{
	name_open(round, 1);
}

static void name_check(unsigned round)
{
	MUST(opened[0] == opened[1]);
	sem_close(opened[0]);
	MUST(sem_close(opened[1]) == 0);
	sem_unlink("/race");
}

/* --- keys --------------------------------------------------------------------------------------- */

static pthread_key_t key[2];

static void key_0(unsigned round)
{
	pthread_key_create(&key[0], NULL);
}

static void key_1(unsigned round)
{
	pthread_key_create(&key[1], NULL);
}

static void key_check(unsigned round)
{
	MUST(key[0] != key[1]);
	pthread_key_delete(key[0]);
	pthread_key_delete(key[1]);
}

/* --- a timer that is gone when its function would be called -------------------------------------- */

static volatile unsigned calls_of_other;

static void expected(union sigval v)
{
}

static void other(union sigval v)
{
	calls_of_other++;
}

static timer_t new_timer(void (*function)(union sigval))
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = function};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		bail("timer_create");
	return timer;
}

static void notify(unsigned round)
{
	const struct itimerspec at_once = {.it_value.tv_nsec = 1};
	timer_t timer = new_timer(expected);

	timer_settime(timer, 0, &at_once, NULL);
	turns(draw(3000));
	timer_delete(timer);
	timer = new_timer(other);
	until(gethrtime() + 30000);
	timer_delete(timer);
	MUST(calls_of_other == 0);
}

/* --- lock statistics: each round a lock of its own, and one caller ------------------------------- */

static pthread_rwlock_t counted[500];

static void row_use(unsigned round)
{
	pthread_rwlock_rdlock(&counted[round % 500]);
	pthread_rwlock_unlock(&counted[round % 500]);
}

static void row_check(unsigned round)
{
	uint64_t key = (uintptr_t)&counted[round % 500] | (uint64_t)LOCK_READ << LOCK_KIND;
	unsigned rows = 0;

	for (unsigned i = 0; i < LOCK_ROWS; i++)
		rows += __lock_rows[i].lock == key && __lock_rows[i].caller != 0;
	MUST(rows == 1);
}

static const struct race races[] = {
	{.name = "name", .spread = 300, .act = {name_open_0, name_open_1}, .check = name_check},
	{.name = "key", .act = {key_0, key_1}, .check = key_check},
	{.name = "notify", .act = {notify}},
	{.name = "row", .act = {row_use, row_use, row_use}, .check = row_check},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
