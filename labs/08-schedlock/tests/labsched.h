/*
 * labsched.h - what the tests of the small M:N model with finer locks share.
 *
 * Each part first asks whether there is one lock for all sleep queues, since with one lock the
 * rest is right as it was given.  The pool has an LWP for each CPU, and two at least, unless the part says
 * otherwise.
 */
#pragma once
#include "../../libthread/core/sleepq.h"
#include "labthreads.h"

static unsigned rounds, lwps;
static sem_t turn[THREADS], told;
static volatile unsigned ended;
static volatile bool stop;

/* Waits on the LWP until the count is n.  The bound watchdog ends what takes too long. */
static inline void until(volatile unsigned *count, unsigned n)
{
	while (now_in(count) < n)
		nap(20000);
}

/*
 * *The one lock*: with the lock of one sleep queue held, is the lock of another one free?
 */
static void locks_are_apart(void)
{
	struct sleepq *a = &__sleepq_point[1], *b = &__sleepq_point[2];
	bool apart;

	__ops->lock(a);
	apart = !(sleepq_guard(b)->held & ILOCK_HELD);
	__ops->unlock(a);
	EXPECT(apart,
	       "one lock guards all sleep queues: while a thread holds it for one object, no "
	       "thread can block on another, nor wake (LWPs: %ld)",
	       lwps);
}

/* One of a pair: the partners wake each other, again and again. */
static inline void *comes_and_goes(void *arg)
{
	unsigned me = (uintptr_t)arg, other = me ^ 1;
	uint32_t state = chance + 77 * (me / 2 + 1);

	for (unsigned i = 0; i < rounds; i++) {
		unsigned first = draw(&state, 500), second = draw(&state, 500);

		turns(me % 2 ? first : second);
		sem_post(&turn[other]);
		turns(me % 2 ? second / 4 : first / 4);
		sem_wait(&turn[me]);
	}
	sem_post(&told);
	return NULL;
}

/* PROGRAM PART ROUNDS CHANCE, on so many LWPs; 0: on as many as there are CPUs.  Returns the status. */
static int part_play(const struct part *part, int argc, char **argv, unsigned on)
{
	if (part == NULL)
		return 2;
	rounds = atoi(argv[2]);
	lwps = on != 0 ? on : __ncpu > 1 ? __ncpu : 2;
	watchdog_start(argv[1], part->ms, "Is a wake-up lost, a thread, or a lock?");
	locks_are_apart();
	if (thr_setconcurrency(lwps) != 0)
		return 2;
	part->play();
	return test_passes();
}
