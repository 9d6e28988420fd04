/*
 * labqueue.c PART ROUNDS CHANCE - the sleep queues of the small M:N model, each with a lock of its own:
 * what waits in them, and what ends a wait.
 */
#include "labsched.h"
#include <time.h>

/* --- apart: a locked queue ------------------------------------------------------------------- */

static struct sleepq *volatile held;
static volatile unsigned turns_taken, turns_wanted;

/*
 * A bound thread: holds the lock of a sleep queue for which no other thread waits.  It computes until
 * the others have taken their turns.
 */
static void *holds(void *unused)
{
	int64_t limit = gethrtime() + 3 * MS;

	__ops->lock(held);
	while (now_in(&turns_taken) < turns_wanted && gethrtime() < limit)
		;
	unsigned taken = now_in(&turns_taken);
	__ops->unlock(held);
	EXPECT3(taken >= turns_wanted,
		"one sleep queue was locked for 3 ms, and threads that wait for other objects have "
		"taken %ld of %ld turns",
		taken, turns_wanted, 0);
	return NULL;
}

static void *takes_turns(void *arg)
{
	unsigned me = (uintptr_t)arg, other = me ^ 1;

	for (unsigned i = 0; i < rounds; i++) {
		sem_wait(&turn[me]);
		add_one(&turns_taken);
		if (i % 4 == 3)
			sched_yield();
		sem_post(&turn[other]);
	}
	sem_post(&told);
	return NULL;
}

/* A sleep queue that none of the objects of the test is in. */
static struct sleepq *queue_of_none(unsigned n)
{
	for (struct sleepq *q = &__sleepq_point[7];; q++) {
		bool used = q == sleepq_of_point(&told);

		for (unsigned i = 0; i < n; i++)
			used |= q == sleepq_of_point(&turn[i]);
		for (struct thread *t = thread_self()->list_next; t != thread_self();
		     t = t->list_next)
			used |= q == sleepq_of_point(t);
		if (!used)
			return q;
	}
}

static void part_apart(void)
{
	unsigned pairs = lwps;

	turns_wanted = 2 * pairs * rounds;
	for (unsigned i = 0; i < 2 * pairs; i++)
		make(takes_turns, i);
	held = queue_of_none(2 * pairs);
	make_with(holds, 0, THR_BOUND);
	for (unsigned i = 0; i < 2 * pairs; i += 2)
		sem_post(&turn[i]);
	for (unsigned i = 0; i < 2 * pairs; i++)
		sem_wait(&told);
	join_all();
}

/* --- cond: the queue that is held is not the one in which the thread stands ------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static unsigned in_buffer, put, taken;

static void *puts_items(void *arg)
{
	uint32_t state = chance + 99 * (uintptr_t)arg;

	for (unsigned i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (in_buffer == 2)
			pthread_cond_wait(&not_full, &mutex);
		in_buffer++;
		put++;
		turns(draw(&state, 60));
		if (i % 2) {
			pthread_cond_signal(&not_empty);
			pthread_mutex_unlock(&mutex);
		} else {
			pthread_mutex_unlock(&mutex);
			pthread_cond_signal(&not_empty);
		}
		turns(draw(&state, 200));
	}
	return NULL;
}

static void *takes_items(void *arg)
{
	uint32_t state = chance + 33 * (uintptr_t)arg;

	for (unsigned i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (in_buffer == 0)
			pthread_cond_wait(&not_empty, &mutex);
		in_buffer--;
		taken++;
		if (i % 2)
			pthread_cond_broadcast(&not_full);
		pthread_mutex_unlock(&mutex);
		pthread_cond_signal(&not_full);
		turns(draw(&state, 200));
	}
	return NULL;
}

static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static volatile unsigned waits;

static void *waits_for_signal(void *unused)
{
	for (unsigned i = 0; i < 10 * rounds; i++) {
		pthread_mutex_lock(&mutex);
		pthread_cond_wait(&signalled, &mutex);
		pthread_mutex_unlock(&mutex);
		add_one(&waits);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Without the mutex, so that the waiter is woken while it releases the mutex. */
static void *signals(void *unused)
{
	while (!stop)
		pthread_cond_signal(&signalled);
	return NULL;
}

/* Waits for the mutex most of the time, so that the waiter for the signal has a thread to wake. */
static void *wants_the_mutex(void *arg)
{
	uint32_t state = chance + 11 * (uintptr_t)arg;

	while (!stop) {
		pthread_mutex_lock(&mutex);
		turns(5);
		pthread_mutex_unlock(&mutex);
		turns(draw(&state, 60));
	}
	return NULL;
}

static void part_cond(void)
{
	unsigned n = lwps + 1;

	make(waits_for_signal, 0);
	make(wants_the_mutex, 1);
	make(signals, 0);
	if (lwps > 3)
		make(wants_the_mutex, 2);
	join_all();

	for (unsigned i = 0; i < n; i++) {
		make(puts_items, 2 * i + 1);
		make(takes_items, 2 * i + 2);
	}
	join_all();
	EXPECT3(put == n * rounds && taken == put,
		"%ld items were put into a buffer, and %ld taken, of %ld: two threads were in one "
		"mutex",
		put, taken, n * rounds);
}

/* --- bound: bound threads, and deadlines --------------------------------------------------------------- */

static void *sleeps_until(void *arg)
{
	int64_t when = gethrtime() + 300000, late;
	struct timespec at = {when / 1000000000, when % 1000000000};

	if (sem_clockwait(&turn[(uintptr_t)arg], CLOCK_MONOTONIC, &at) == 0)
		test_fails("a wait with a deadline has ended although no thread has posted", 0, 0,
			   0);
	late = gethrtime() - when;
	EXPECT(errno == ETIMEDOUT && late > -20000 && late < 400000,
	       "a wait of 300,000 ns ended %ld ns late", late);
	sem_post(&turn[(uintptr_t)arg]);
	EXPECT(sem_trywait(&turn[(uintptr_t)arg]) == 0,
	       "thread %ld: its wait has ended at the deadline, and it still stands in the sleep "
	       "queue",
	       (uintptr_t)arg);
	add_one(&ended);
	return NULL;
}

/* Waits with a deadline that comes about when the partner posts. */
static void *meets_by_chance(void *arg)
{
	unsigned me = (uintptr_t)arg, other = me ^ 1;
	uint32_t state = chance + 77 * (me + 1);

	for (unsigned i = 0; i < rounds; i++) {
		int64_t when = gethrtime() + 2000 + draw(&state, 12000);
		struct timespec at = {when / 1000000000, when % 1000000000};

		sem_post(&turn[other]);
		turns(draw(&state, 100));
		if (sem_clockwait(&turn[me], CLOCK_MONOTONIC, &at) != 0)
			sem_wait(&turn[me]);
	}
	add_one(&ended);
	return NULL;
}

static void part_bound(void)
{
	for (unsigned i = 0; i < 8; i++)
		make_with(comes_and_goes, i, i % 4 < 2 && i % 2 == 0 ? THR_BOUND : 0);
	for (unsigned i = 0; i < 8; i++)
		sem_wait(&told);
	join_all();
	for (unsigned i = 0; i < 4; i++)
		make_with(sleeps_until, 10 + i, i % 2 ? THR_BOUND : 0);
	until(&ended, 4);
	join_all();
	ended = 0;
	for (unsigned i = 0; i < 4; i++)
		make_with(meets_by_chance, 20 + i, i % 2 ? THR_BOUND : 0);
	until(&ended, 4);
	join_all();
}

/* --- many: a list of threads ------------------------------------------------------------------------- */

static unsigned generation;

static void *waits_for_all(void *arg)
{
	for (unsigned r = 1; r <= rounds; r++) {
		pthread_mutex_lock(&mutex);
		add_one(&ended);
		while (generation < r)
			pthread_cond_wait(&not_empty, &mutex);
		pthread_mutex_unlock(&mutex);
		if ((uintptr_t)arg % 8 == 0)
			sched_yield();
	}
	sem_post(&told);
	return NULL;
}

static void part_many(void)
{
	unsigned n = 60;

	for (unsigned i = 0; i < n; i++)
		make_with(waits_for_all, i, i % 12 == 5 ? THR_BOUND : 0);
	for (unsigned r = 1; r <= rounds; r++) {
		while (now_in(&ended) < n * r)
			sched_yield();
		pthread_mutex_lock(&mutex);
		generation = r;
		pthread_mutex_unlock(&mutex);
		pthread_cond_broadcast(&not_empty);
	}
	for (unsigned i = 0; i < n; i++)
		sem_wait(&told);
	join_all();
}

/* --- main ---------------------------------------------------------------------------------------------- */

static const struct part parts[] = {
	{"apart", part_apart, 10},
	{"cond", part_cond, 30},
	{"bound", part_bound, 30},
	{"many", part_many, 30},
};

int main(int argc, char **argv)
{
	const struct part *part = part_choose(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);

	return part_play(part, argc, argv, 0);
}
